//! Clauses for the SAT solver, and the few shapes of constraints that the encodings are made of.

use batsat::{Callbacks, Lit, Solver, SolverInterface, lbool};
use std::time::Instant;

/// Ends the search when the time is up.
struct Watch(Option<Instant>);

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        self.0.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// How many clauses are given to the solver between two looks at the clock.
const CLAUSES_A_LOOK: u64 = 1024;

/// A formula that grows, and its models.
pub(crate) struct Formula {
    solver: Solver<Watch>,
    deadline: Option<Instant>,
    /// Whether the time was up before all clauses were there. No more are taken then, and there is
    /// no answer.
    late: bool,
    clauses: u64,
    /// Clauses wait until the model has been looked at.
    pending: Vec<Vec<Lit>>,
}

/// What the solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solved {
    Model,
    None,
    OutOfTime,
}

impl Formula {
    pub fn new(deadline: Option<Instant>) -> Formula {
        let solver = Solver::new(batsat::SolverOpts::default(), Watch(deadline));
        Formula { solver, deadline, late: false, clauses: 0, pending: Vec::new() }
    }

    /// A new literal that the solver first tries to make false.
    pub fn unlikely(&mut self) -> Lit {
        Lit::new(self.solver.new_var(lbool::UNDEF, true), true)
    }

    /// A new literal that the solver first tries to make true.
    pub fn likely(&mut self) -> Lit {
        !self.unlikely()
    }

    /// Looks at the clock: whether the time is up, so that no more clauses are worth making.
    pub fn is_late(&mut self) -> bool {
        self.late |= self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.late
    }

    /// One of `literals` is true.
    pub fn clause(&mut self, literals: &[Lit]) {
        if !self.late {
            self.pending.push(literals.to_vec());
        }
    }

    /// If all of `premises` are true, so is one of `conclusions`.
    pub fn implies(&mut self, premises: &[Lit], conclusions: &[Lit]) {
        let clause = || {
            premises.iter().map(|&premise| !premise).chain(conclusions.iter().copied()).collect()
        };
        if !self.late {
            self.pending.push(clause());
        }
    }

    /// At most one of `literals` is true.
    pub fn at_most_one(&mut self, literals: &[Lit]) {
        for (i, &one) in literals.iter().enumerate() {
            for &other in &literals[i + 1..] {
                self.clause(&[!one, !other]);
            }
        }
    }

    /// Literals of which number `k` is true if more than `k` of `literals` are (Sinz's sequential
    /// counter, in one direction), for `k` below `limit`.
    pub fn count(&mut self, literals: &[Lit], limit: usize) -> Vec<Lit> {
        let mut before: Vec<Lit> = Vec::new();
        for &literal in literals {
            let now: Vec<Lit> = (0..limit.min(before.len() + 1)).map(|_| self.unlikely()).collect();
            for (k, &more) in now.iter().enumerate() {
                if let Some(&already) = before.get(k) {
                    self.implies(&[already], &[more]);
                }
                let carried: Vec<Lit> =
                    if k == 0 { vec![literal] } else { vec![literal, before[k - 1]] };
                self.implies(&carried, &[more]);
            }
            before = now;
        }
        before
    }

    /// Looks for a model in which `assumptions` are true.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Solved {
        for mut clause in std::mem::take(&mut self.pending) {
            if self.clauses.is_multiple_of(CLAUSES_A_LOOK) && self.is_late() {
                return Solved::OutOfTime;
            }
            self.clauses += 1;
            self.solver.add_clause_reuse(&mut clause);
        }
        if self.late {
            return Solved::OutOfTime;
        }
        match self.solver.solve_limited(assumptions) {
            answer if answer == lbool::TRUE => Solved::Model,
            answer if answer == lbool::FALSE => Solved::None,
            _ => Solved::OutOfTime,
        }
    }

    /// Whether `literal` is true in the model.
    pub fn is_true(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE
    }

    /// How many clauses were given to the solver.
    pub fn clauses(&self) -> u64 {
        self.clauses
    }

    /// How many variables there are, and how many conflicts there were.
    pub fn effort(&self) -> (u64, u64) {
        (u64::from(self.solver.num_vars()), self.solver.num_conflicts())
    }
}
