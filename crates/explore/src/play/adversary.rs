//! An adversary at a program that is led by hand: does what was done so far go on to something bad?
//!
//! First some ways to the end are drawn at random, because most programs that can break do so soon.
//! Then all are tried. Transactions run to their end one after the other from here: a history
//! depends on who reads from whom and not on how operations interleave, and no read needs a
//! transaction that is still open. Of the orders of transactions that give the same history the
//! smallest is taken, by the number of the session: a transaction may come behind one of a later
//! session only if something between the two leads to it. Transactions that are open already go on
//! with what they have read; if the level refuses their commit, they begin again.
//!
//! The time is limited by the caller, and what is not found in it is left undecided.

use super::{Happened, Mark, Misfit, Next, Play, Step};
use crate::end::End;
use crate::program::{Local, Value};
use crate::txn_set::INITIAL;
use std::fmt;
use std::time::Instant;

/// Ways to the end that are drawn at random, at most, and the steps of each.
const DRAWS: usize = 100;
const STEPS_MAX: usize = 2_000;

/// What the adversary wants.
pub struct Goal<'g, V, L> {
    /// Whether it is reached when a transaction has left its session in this state.
    pub is_failed: &'g dyn Fn(&L) -> bool,
    /// Whether it is reached at the end.
    pub is_broken: &'g dyn Fn(&End<'_, V, L>) -> bool,
}

impl<V, L> Clone for Goal<'_, V, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, L> Copy for Goal<'_, V, L> {}

/// How much the adversary may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// When it gives up.
    pub deadline: Instant,
    /// What it draws from.
    pub seed: u64,
}

/// What the adversary found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// Steps from here to the goal.
    Way(Vec<Step>),
    /// There is no way to it.
    NoWay,
    /// There was too little time to tell.
    Undecided,
}

/// A state with the ways to go on from it.
struct Frame<V, L> {
    mark: Mark<V, L>,
    /// How many steps lead to it.
    steps: usize,
    /// The sessions that are still in the transaction that was open at the beginning.
    inherited: Vec<bool>,
    options: Vec<Step>,
    /// How many of them have been tried.
    tried: usize,
}

struct Adversary<'a, 'p, 'g, V, L> {
    play: &'a mut Play<'p, V, L>,
    goal: Goal<'g, V, L>,
    search: Search,
    /// How many transactions had ended at the beginning.
    base: usize,
    steps: Vec<Step>,
    random: Random,
    /// Whether something was left undecided on the way.
    is_unsure: bool,
}

impl<V: Value, L: Local> Play<'_, V, L> {
    /// Looks for a way from here to a goal. It stands where it stood afterwards.
    pub fn attack(&mut self, goal: Goal<'_, V, L>, search: Search) -> Result<Found, Misfit> {
        let start = self.mark();
        let base = self.engine.history.len();
        let random = Random(search.seed);
        let (steps, is_unsure) = (Vec::new(), false);
        let mut adversary = Adversary { play: self, goal, search, base, steps, random, is_unsure };
        let drawn = adversary.draw(&start);
        let found = match drawn {
            Ok(None) => adversary.try_all(&start),
            Ok(Some(found)) => Ok(found),
            Err(misfit) => Err(misfit),
        };
        self.rewind(&start);
        found
    }
}

impl<V: Value, L: Local> Adversary<'_, '_, '_, V, L> {
    fn is_late(&self) -> bool {
        Instant::now() >= self.search.deadline
    }

    /// Draws ways at random, for half of the time; nothing if none of them leads there.
    fn draw(&mut self, start: &Mark<V, L>) -> Result<Option<Found>, Misfit> {
        let half = Instant::now() + self.search.deadline.duration_since(Instant::now()) / 2;
        for _ in 0..DRAWS {
            self.play.rewind(start);
            self.steps.clear();
            let mut active = None;
            while self.steps.len() < STEPS_MAX {
                if Instant::now() >= half {
                    return Ok(None);
                }
                let options = self.options(active)?;
                if options.is_empty() {
                    break;
                }
                let step = options[self.random.below(options.len())];
                match self.play.step(step) {
                    Ok(Happened::AsSaid) => {}
                    Ok(Happened::Refused) | Err(Misfit::Undecided) => break,
                    Err(misfit) => return Err(misfit),
                }
                self.steps.push(step);
                active = self.play.is_open(step.session()).then_some(step.session());
                if self.is_there(step.session(), active) {
                    return Ok(Some(Found::Way(std::mem::take(&mut self.steps))));
                }
            }
        }
        Ok(None)
    }

    fn try_all(&mut self, start: &Mark<V, L>) -> Result<Found, Misfit> {
        self.play.rewind(start);
        self.steps.clear();
        let inherited = (0..self.play.sessions()).map(|it| self.play.is_open(it)).collect();
        let mut stack = vec![self.frame(None, inherited)?];
        while let Some(frame) = stack.last_mut() {
            let Some(&step) = frame.options.get(frame.tried) else {
                stack.pop();
                continue;
            };
            if self.is_late() {
                return Ok(Found::Undecided);
            }
            frame.tried += 1;
            self.play.rewind(&frame.mark);
            self.steps.truncate(frame.steps);
            let (session, mut inherited) = (step.session(), frame.inherited.clone());
            let happened = match self.play.step(step) {
                Err(Misfit::Undecided) => {
                    self.is_unsure = true;
                    continue;
                }
                happened => happened?,
            };
            self.steps.push(step);
            let active = self.play.is_open(session).then_some(session);
            let was_inherited = inherited[session as usize];
            if active.is_none() {
                inherited[session as usize] = false;
            }
            if happened == Happened::Refused {
                // One that began in this search may as well not have begun.
                if !was_inherited {
                    continue;
                }
            } else if self.is_there(session, active) {
                return Ok(Found::Way(std::mem::take(&mut self.steps)));
            } else if active.is_none() && !self.is_smallest_order() {
                continue;
            }
            if self.steps.len() < STEPS_MAX {
                stack.push(self.frame(active, inherited)?);
            } else {
                self.is_unsure = true;
            }
        }
        Ok(if self.is_unsure { Found::Undecided } else { Found::NoWay })
    }

    fn frame(&mut self, active: Option<u32>, inherited: Vec<bool>) -> Result<Frame<V, L>, Misfit> {
        let options = self.options(active)?;
        Ok(Frame { mark: self.play.mark(), steps: self.steps.len(), inherited, options, tried: 0 })
    }

    /// The steps that may come next: of the session whose transaction runs, or of any.
    fn options(&mut self, active: Option<u32>) -> Result<Vec<Step>, Misfit> {
        let mut options = Vec::new();
        let all = 0..self.play.sessions();
        for session in all.filter(|session| active.is_none_or(|active| active == *session)) {
            match self.play.next(session)? {
                Next::Over => {}
                Next::Read { .. } => {
                    for candidate in self.play.candidates(session)? {
                        match candidate.is_allowed {
                            Some(true) => options.push(Step::Pick(session, candidate.writer)),
                            Some(false) => {}
                            None => self.is_unsure = true,
                        }
                    }
                }
                _ => options.push(Step::Go(session)),
            }
        }
        Ok(options)
    }

    /// Whether the goal is reached now that a session has taken a step.
    fn is_there(&mut self, session: u32, active: Option<u32>) -> bool {
        if active.is_some() {
            return false;
        }
        if (self.goal.is_failed)(&self.play.settled(session)) {
            return true;
        }
        if !self.play.is_over() {
            return false;
        }
        let answer = self.play.at_end(self.goal.is_broken);
        self.is_unsure |= answer.is_none();
        answer == Some(true)
    }

    /// Whether the transaction that has ended last stands where it does in the smallest order.
    fn is_smallest_order(&self) -> bool {
        let history = &self.play.engine.history;
        let Some(last) = history.order().last() else { return true };
        let sources = last.reads.iter().map(|read| read.source).filter(|&it| it != INITIAL);
        let before = sources.chain(history.previous(last.id)).map(|id| history.place(id) + 1);
        let first = before.max().unwrap_or(0).max(self.base);
        let between = &history.order()[first..history.len() - 1];
        between.iter().all(|record| record.session < last.session)
    }
}

/// A linear congruential generator: nothing here needs a better one.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

impl<V, L> fmt::Debug for Goal<'_, V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Goal")
    }
}
