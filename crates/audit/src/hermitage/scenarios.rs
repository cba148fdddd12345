//! The scenarios of Hermitage (Kleppmann, "Hermitage: Testing the 'I' in ACID", 2014), as data:
//! sessions of statements on a table of two rows, the order that shows the anomaly, and how to
//! tell from the answers whether it happened. What happened is asked in a way that does not depend
//! on the order, so that the steps of the sessions may be interleaved in any way.

/// Makes the table.
pub const CREATE: &str = "CREATE TABLE test (id int PRIMARY KEY, value int)";
/// Puts it back to its beginning.
pub const RESET: &str = "DELETE FROM test; INSERT INTO test (id, value) VALUES (1, 10), (2, 20)";
/// What is there in the end.
pub const FINAL: &str = "SELECT id, value FROM test ORDER BY id";

/// What came of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Rows of numbers.
    Rows(Vec<Vec<i64>>),
    /// What was done, and to how many rows.
    Done(String),
    /// An SQLSTATE.
    Failed(String),
}

/// The answers of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Run {
    /// Of each session, in its order, without its BEGIN.
    pub sessions: Vec<Vec<Outcome>>,
    /// The rows in the end.
    pub left: Vec<Vec<i64>>,
}

impl Run {
    fn step(&self, session: usize, step: usize) -> Option<&Outcome> {
        self.sessions.get(session)?.get(step)
    }

    /// Whether a session has committed.
    pub fn committed(&self, session: usize) -> bool {
        let last = self.sessions.get(session).and_then(|steps| steps.last());
        last == Some(&Outcome::Done("COMMIT".to_owned()))
    }

    /// The rows of a step; none if it failed.
    pub fn rows(&self, session: usize, step: usize) -> Option<&Vec<Vec<i64>>> {
        match self.step(session, step)? {
            Outcome::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    /// The value of a row in what a step returned.
    pub fn value(&self, session: usize, step: usize, id: i64) -> Option<i64> {
        value_of(self.rows(session, step)?, id)
    }

    fn is_done(&self, session: usize, step: usize, what: &str) -> bool {
        self.step(session, step) == Some(&Outcome::Done(what.to_owned()))
    }

    fn is_empty(&self, session: usize, step: usize) -> bool {
        self.rows(session, step).is_some_and(Vec::is_empty)
    }

    fn finally(&self, id: i64) -> Option<i64> {
        value_of(&self.left, id)
    }
}

/// The value of a row.
fn value_of(rows: &[Vec<i64>], id: i64) -> Option<i64> {
    rows.iter().find(|row| row.first() == Some(&id)).and_then(|row| row.get(1).copied())
}

/// A scenario.
#[derive(Debug)]
pub struct Scenario {
    /// What it is called.
    pub name: &'static str,
    /// The session of each step, and its statement. All sessions have begun before.
    pub steps: &'static [(usize, &'static str)],
    /// Whether the anomaly happened.
    pub happened: fn(&Run) -> bool,
}

impl Scenario {
    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.steps.iter().map(|(session, _)| session + 1).max().unwrap_or(0)
    }
}

/// All of them.
pub const SCENARIOS: [Scenario; 15] = [
    Scenario {
        name: "G0 dirty write",
        steps: &[
            (0, "UPDATE test SET value = 11 WHERE id = 1"),
            (1, "UPDATE test SET value = 12 WHERE id = 1"),
            (0, "UPDATE test SET value = 21 WHERE id = 2"),
            (0, "COMMIT"),
            (1, "UPDATE test SET value = 22 WHERE id = 2"),
            (1, "COMMIT"),
        ],
        happened: |run| {
            let left = (run.finally(1), run.finally(2));
            left == (Some(11), Some(22)) || left == (Some(12), Some(21))
        },
    },
    Scenario {
        name: "G1a aborted read",
        steps: &[
            (0, "UPDATE test SET value = 101 WHERE id = 1"),
            (1, "SELECT id, value FROM test"),
            (0, "ROLLBACK"),
            (1, "SELECT id, value FROM test"),
            (1, "COMMIT"),
        ],
        happened: |run| (0..2).any(|step| run.value(1, step, 1) == Some(101)),
    },
    Scenario {
        name: "G1b intermediate read",
        steps: &[
            (0, "UPDATE test SET value = 101 WHERE id = 1"),
            (1, "SELECT id, value FROM test"),
            (0, "UPDATE test SET value = 11 WHERE id = 1"),
            (0, "COMMIT"),
            (1, "SELECT id, value FROM test"),
            (1, "COMMIT"),
        ],
        happened: |run| (0..2).any(|step| run.value(1, step, 1) == Some(101)),
    },
    Scenario {
        name: "G1c circular information flow",
        steps: &[
            (0, "UPDATE test SET value = 11 WHERE id = 1"),
            (1, "UPDATE test SET value = 22 WHERE id = 2"),
            (0, "SELECT id, value FROM test WHERE id = 2"),
            (1, "SELECT id, value FROM test WHERE id = 1"),
            (0, "COMMIT"),
            (1, "COMMIT"),
        ],
        happened: |run| run.value(0, 1, 2) == Some(22) && run.value(1, 1, 1) == Some(11),
    },
    Scenario {
        name: "OTV observed transaction vanishes",
        steps: &[
            (0, "UPDATE test SET value = 11 WHERE id = 1"),
            (0, "UPDATE test SET value = 19 WHERE id = 2"),
            (1, "UPDATE test SET value = 12 WHERE id = 1"),
            (0, "COMMIT"),
            (2, "SELECT id, value FROM test WHERE id = 1"),
            (2, "SELECT id, value FROM test WHERE id = 2"),
            (1, "UPDATE test SET value = 18 WHERE id = 2"),
            (1, "COMMIT"),
            (2, "SELECT id, value FROM test WHERE id = 2"),
            (2, "SELECT id, value FROM test WHERE id = 1"),
            (2, "COMMIT"),
        ],
        happened: vanishes,
    },
    Scenario {
        name: "PMP predicate many preceders, read",
        steps: &[
            (0, "SELECT id, value FROM test WHERE value = 30"),
            (1, "INSERT INTO test (id, value) VALUES (3, 30)"),
            (1, "COMMIT"),
            (0, "SELECT id, value FROM test WHERE value % 3 = 0"),
            (0, "COMMIT"),
        ],
        happened: |run| run.is_empty(0, 0) && run.value(0, 1, 3) == Some(30),
    },
    Scenario {
        name: "PMP, write predicate",
        steps: &[
            (0, "UPDATE test SET value = value + 10"),
            (1, "SELECT id, value FROM test WHERE value = 20"),
            (1, "DELETE FROM test WHERE value = 20"),
            (0, "COMMIT"),
            (1, "SELECT id, value FROM test WHERE value = 20"),
            (1, "COMMIT"),
        ],
        // It has deleted other rows than it saw.
        happened: |run| {
            let gone: Vec<i64> =
                [1, 2].into_iter().filter(|&id| run.finally(id).is_none()).collect();
            let ids =
                |rows: &Vec<Vec<i64>>| rows.iter().filter_map(|row| row.first().copied()).collect();
            let seen = run.rows(1, 0).map(ids);
            run.committed(1) && seen != Some(gone)
        },
    },
    Scenario {
        name: "P4 lost update",
        steps: &[
            (0, "SELECT id, value FROM test WHERE id = 1"),
            (1, "SELECT id, value FROM test WHERE id = 1"),
            (0, "UPDATE test SET value = 11 WHERE id = 1"),
            (1, "UPDATE test SET value = 11 WHERE id = 1"),
            (0, "COMMIT"),
            (1, "COMMIT"),
        ],
        happened: |run| {
            (0..2).all(|session| run.committed(session) && run.value(session, 0, 1) == Some(10))
        },
    },
    Scenario {
        name: "G-single read skew",
        steps: &[
            (0, "SELECT id, value FROM test WHERE id = 1"),
            (1, "SELECT id, value FROM test WHERE id = 1"),
            (1, "SELECT id, value FROM test WHERE id = 2"),
            (1, "UPDATE test SET value = 12 WHERE id = 1"),
            (1, "UPDATE test SET value = 18 WHERE id = 2"),
            (1, "COMMIT"),
            (0, "SELECT id, value FROM test WHERE id = 2"),
            (0, "COMMIT"),
        ],
        happened: |run| run.value(0, 0, 1) == Some(10) && run.value(0, 1, 2) == Some(18),
    },
    Scenario {
        name: "G-single, predicate",
        steps: &[
            (0, "SELECT id, value FROM test WHERE value % 5 = 0"),
            (1, "UPDATE test SET value = 12 WHERE value = 10"),
            (1, "COMMIT"),
            (0, "SELECT id, value FROM test WHERE value % 3 = 0"),
            (0, "COMMIT"),
        ],
        happened: |run| run.value(0, 0, 1) == Some(10) && run.value(0, 1, 1) == Some(12),
    },
    Scenario {
        name: "G-single, write predicate",
        steps: &[
            (0, "SELECT id, value FROM test WHERE id = 1"),
            (1, "SELECT id, value FROM test"),
            (1, "UPDATE test SET value = 12 WHERE id = 1"),
            (1, "UPDATE test SET value = 18 WHERE id = 2"),
            (1, "COMMIT"),
            (0, "DELETE FROM test WHERE value = 20"),
            (0, "SELECT id, value FROM test WHERE id = 2"),
            (0, "COMMIT"),
        ],
        happened: |run| run.value(0, 0, 1) == Some(10) && run.is_done(0, 1, "DELETE 0"),
    },
    Scenario {
        name: "snapshot, then UPDATE sees a newer row",
        steps: &[
            (0, "SELECT id, value FROM test WHERE id = 1"),
            (1, "UPDATE test SET value = 12 WHERE id = 1"),
            (1, "COMMIT"),
            (0, "UPDATE test SET value = value + 1 WHERE id = 1"),
            (0, "SELECT id, value FROM test WHERE id = 1"),
            (0, "COMMIT"),
        ],
        happened: |run| run.value(0, 0, 1) == Some(10) && run.value(0, 2, 1) == Some(13),
    },
    Scenario {
        name: "G2-item write skew",
        steps: &[
            (0, "SELECT id, value FROM test WHERE id IN (1, 2)"),
            (1, "SELECT id, value FROM test WHERE id IN (1, 2)"),
            (0, "UPDATE test SET value = 11 WHERE id = 1"),
            (1, "UPDATE test SET value = 21 WHERE id = 2"),
            (0, "COMMIT"),
            (1, "COMMIT"),
        ],
        happened: |run| {
            let both = (run.value(0, 0, 2), run.value(1, 0, 1)) == (Some(20), Some(10));
            both && run.committed(0) && run.committed(1)
        },
    },
    Scenario {
        name: "G2 predicate write skew",
        steps: &[
            (0, "SELECT id, value FROM test WHERE value % 3 = 0"),
            (1, "SELECT id, value FROM test WHERE value % 3 = 0"),
            (0, "INSERT INTO test (id, value) VALUES (3, 30)"),
            (1, "INSERT INTO test (id, value) VALUES (4, 42)"),
            (0, "COMMIT"),
            (1, "COMMIT"),
        ],
        happened: |run| (0..2).all(|session| run.committed(session) && run.is_empty(session, 0)),
    },
    Scenario {
        name: "G2 read-only transaction (three)",
        steps: &[
            (0, "SELECT id, value FROM test"),
            (1, "UPDATE test SET value = value + 5 WHERE id = 2"),
            (1, "COMMIT"),
            (2, "SELECT id, value FROM test"),
            (2, "COMMIT"),
            (0, "UPDATE test SET value = 0 WHERE id = 1"),
            (0, "COMMIT"),
        ],
        happened: |run| {
            let seen = (run.value(0, 0, 2), run.value(2, 0, 1), run.value(2, 0, 2));
            let all = (0..3).all(|session| run.committed(session));
            all && seen == (Some(20), Some(10), Some(25))
        },
    },
];

/// Whether the third session of OTV saw something of a transaction, and then something older.
fn vanishes(run: &Run) -> bool {
    let second_is_last = run.committed(1) && run.finally(1) == Some(12);
    let rank = |value: i64| match value {
        10 | 20 => 0,
        12 | 18 => 1 + i32::from(second_is_last),
        _ => 1 + i32::from(!second_is_last),
    };
    let reads = [(0, 1), (1, 2), (2, 2), (3, 1)];
    let seen: Vec<i32> =
        reads.iter().filter_map(|&(step, id)| run.value(2, step, id).map(rank)).collect();
    seen.windows(2).any(|pair| pair[1] < pair[0])
}
