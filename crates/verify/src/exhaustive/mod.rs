//! Do points exist that show a strong level? A plain search through what a store could have done.
//!
//! The state is what a store would hold: how far each session has come, and the current version of
//! each key (the frontiers of Biswas & Enea, "On the complexity of checking transactional
//! consistency", OOPSLA 2019, section 4). Transactions begin and commit one after the other in all
//! orders; states that were seen are not looked at again. Reads match by value, so that values that
//! were written twice need no choice of a writer. Exponential in the number of sessions; the
//! certificates that it is for have a handful of transactions.
//!
//! - SER, SSER: a transaction begins and commits at once, at SSER in real time.
//! - SI: a writer that has begun keeps other writers of its keys from beginning.
//! - PC: nothing but the order of begin and commit.
//! - In real time a transaction begins only after those that ended before it began have committed.
//!
//! Two things are not tried: a step that can come first in any solution has no alternative
//! ([`Store::is_harmless`]), and a version is not replaced for good while a read waits for it.
//!
//! The search of `seriatim-check` has a procedure of the same kind, with more cuts; this one shares
//! nothing with it but the idea.

mod store;
mod tables;

use crate::certificate::Point;
use rustc_hash::FxHashSet;
use seriatim_history::History;
use seriatim_isolation::Guarantee;
use std::time::Instant;
use store::{Step, Store};
use tables::Tables;

/// How much the memory of seen states may take: 256 MiB. States beyond are looked at again.
const SEEN_WORDS_MAX: usize = 1 << 26;
/// How many states are looked at between two looks at the clock.
const STATES_PER_TICK: u64 = 64;

/// How far the search may go.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub states_max: u64,
    pub deadline: Instant,
}

/// What is known about the points of a history.
pub(crate) enum Existence {
    /// These may be points. They are if no element was appended twice to a list.
    Found(Vec<Point>),
    /// There are none.
    Impossible,
    /// A limit was reached.
    GivenUp,
}

/// Looks for points of `history`, with its sessions, at one of the strong levels.
pub(crate) fn points_exist(history: &History, asked: Guarantee, limits: Limits) -> Existence {
    match Tables::of(history) {
        Some(tables) => PointSearch::new(&tables, asked, limits).run(),
        None => Existence::Impossible,
    }
}

/// A state on the path from the first one, with the steps that lead on.
struct Frame {
    steps: Vec<Step>,
    /// The next of `steps` to be tried.
    next: usize,
}

struct PointSearch<'t> {
    store: Store<'t>,
    seen: FxHashSet<Box<[u32]>>,
    seen_words: usize,
    states: u64,
    limits: Limits,
}

impl<'t> PointSearch<'t> {
    fn new(tables: &'t Tables, asked: Guarantee, limits: Limits) -> PointSearch<'t> {
        let store = Store::new(tables, asked);
        PointSearch { store, seen: FxHashSet::default(), seen_words: 0, states: 0, limits }
    }

    fn run(mut self) -> Existence {
        let mut path = vec![Frame { steps: self.store.steps(), next: 0 }];
        while let Some(frame) = path.last_mut() {
            if self.store.is_done() {
                return Existence::Found(self.store.into_points());
            }
            let Some(&step) = frame.steps.get(frame.next) else {
                // Nothing leads on from here: back to the state before.
                path.pop();
                self.store.undo();
                continue;
            };
            frame.next += 1;
            if !self.store.take(step) || !self.is_new() {
                self.store.undo();
                continue;
            }
            if self.is_over() {
                return Existence::GivenUp;
            }
            path.push(Frame { steps: self.store.steps(), next: 0 });
        }
        Existence::Impossible
    }

    /// Whether the present state was not seen before; it is from now on.
    fn is_new(&mut self) -> bool {
        let state = self.store.snapshot();
        if self.seen_words >= SEEN_WORDS_MAX {
            return !self.seen.contains(&state);
        }
        let words = state.len();
        let is_new = self.seen.insert(state);
        self.seen_words += if is_new { words } else { 0 };
        is_new
    }

    fn is_over(&mut self) -> bool {
        let tick = self.states.is_multiple_of(STATES_PER_TICK);
        self.states += 1;
        self.states > self.limits.states_max || (tick && Instant::now() >= self.limits.deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::verify_points;
    use crate::random::numbers;
    use seriatim_history::notation;
    use seriatim_isolation::{Level, Order, oracle};
    use std::time::Duration;

    /// Random transactions in three sessions over two keys. Values are written once if `distinct`,
    /// and otherwise one of three is; some abort, some outcomes are unknown, all have times.
    fn random_text(seed: u64, distinct: bool) -> String {
        let mut random = numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut written = 0;
        let sessions = ["a", "b", "c"].map(|session| {
            let txns: Vec<String> = (0..1 + random(2))
                .map(|_| {
                    let ops: Vec<String> = (0..1 + random(3))
                        .map(|_| {
                            let key = ["x", "y"][random(2) as usize];
                            if random(2) == 0 {
                                return format!(
                                    "r({key},{})",
                                    random(if distinct { 6 } else { 4 })
                                );
                            }
                            written += 1;
                            let value = if distinct { written } else { 1 + random(3) };
                            format!("w({key},{value})")
                        })
                        .collect();
                    let mark = ["?", "!", "", "", "", "", ""][random(7) as usize];
                    let begin = random(9);
                    format!("{}{mark} @{begin}-{}", ops.join(" "), begin + random(9))
                })
                .collect();
            format!("{session}: {}", txns.join(" | "))
        });
        sessions.join("\n")
    }

    #[test]
    fn the_search_says_what_the_definition_says() {
        let limits =
            || Limits { states_max: 1_000_000, deadline: Instant::now() + Duration::from_secs(60) };
        let all = [Order::Sessions, Order::RealTime]
            .map(|order| Level::STRONG.map(|level| Guarantee::new(level, order)))
            .concat();
        let mut counts = [[0; 2]; 8];
        for seed in 0..6_000 {
            let text = random_text(seed, seed % 2 == 0);
            let history = notation::parse(&text).unwrap();
            for (place, &asked) in all.iter().enumerate() {
                let holds = oracle::satisfies(&history, asked);
                counts[place][usize::from(holds)] += 1;
                match points_exist(&history, asked, limits()) {
                    Existence::Impossible => assert!(!holds, "{asked}:\n{text}"),
                    Existence::GivenUp => panic!("{asked}:\n{text}"),
                    Existence::Found(points) => {
                        assert!(holds, "{asked}: {points:?}\n{text}");
                        verify_points(&history, asked, &points).unwrap();
                    }
                }
            }
        }
        assert!(counts.iter().flatten().all(|&count| count > 300), "{counts:?}");
    }
}
