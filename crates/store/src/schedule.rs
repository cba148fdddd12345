//! Takes turns: clients on threads of their own, of which only one runs at a time, so that a seed
//! fixes the whole run.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Which client runs.
struct Turns {
    state: Mutex<State>,
    /// One for each client, so that a turn wakes no other client.
    wake: Vec<Condvar>,
}

/// Says which of the clients that are left goes on, as an index of the list; the last one if it is
/// too large.
pub type Schedule = Box<dyn FnMut(&[usize]) -> usize + Send>;

struct State {
    schedule: Schedule,
    /// The client that got each turn so far.
    turns: Vec<u32>,
    /// Clients that have not finished.
    alive: Vec<usize>,
    running: Option<usize>,
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn to one of the clients that are left.
    fn pass(&self, state: &mut State) {
        state.running = state.alive.len().checked_sub(1).map(|last| {
            let State { schedule, alive, .. } = state;
            alive[schedule(alive).min(last)]
        });
        if let Some(next) = state.running {
            state.turns.push(next as u32);
            self.wake[next].notify_one();
        }
    }
}

/// A client's place in the round.
#[derive(Clone)]
pub struct Turn {
    turns: Arc<Turns>,
    client: usize,
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turn(of client {})", self.client)
    }
}

impl Turn {
    /// Lets another client go on, perhaps, and waits for the next turn.
    pub fn next(&self) {
        let mut state = self.turns.lock();
        self.turns.pass(&mut state);
        self.wait(state);
    }

    fn wait(&self, mut state: MutexGuard<'_, State>) {
        while state.running != Some(self.client) {
            state =
                self.turns.wake[self.client].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Leaves the round, also if the client panics: the others must not wait for it.
struct Leave(Turn);

impl Drop for Leave {
    fn drop(&mut self) {
        let mut state = self.0.turns.lock();
        state.alive.retain(|&client| client != self.0.client);
        self.0.turns.pass(&mut state);
    }
}

/// Runs all clients, one at a time; at each [`Turn::next`] chance decides which client goes on. The
/// same seed gives the same interleaving if the clients depend on nothing else.
///
/// ```
/// use std::sync::Mutex;
/// let order = Mutex::new(Vec::new());
/// let steps = |client: char| {
///     let order = &order;
///     move |turn: seriatim_store::Turn| {
///         for _ in 0..2 {
///             order.lock().unwrap().push(client);
///             turn.next();
///         }
///     }
/// };
/// seriatim_store::interleave(7, vec![steps('a'), steps('b')]);
/// assert_eq!(order.into_inner().unwrap().len(), 4);
/// ```
pub fn interleave<R: Send, C: FnOnce(Turn) -> R + Send>(seed: u64, clients: Vec<C>) -> Vec<R> {
    interleave_by(by_chance(seed), clients).0
}

/// Every client that is left is as likely to go on as the others.
pub fn by_chance(seed: u64) -> Schedule {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    Box::new(move |alive| random.random_range(0..alive.len()))
}

/// The same turns again, as [`interleave_by`] gave them back; the first client that is left if they
/// do not fit.
pub fn by_turns(turns: Vec<u32>) -> Schedule {
    let mut turns = turns.into_iter();
    Box::new(move |alive| {
        let wanted = turns.next();
        alive.iter().position(|&client| Some(client as u32) == wanted).unwrap_or(0)
    })
}

/// Runs all clients, one at a time; at each [`Turn::next`] the schedule decides which client goes
/// on. Returns what the clients returned, and which client got each turn.
pub fn interleave_by<R: Send, C: FnOnce(Turn) -> R + Send>(
    schedule: Schedule,
    clients: Vec<C>,
) -> (Vec<R>, Vec<u32>) {
    let count = clients.len();
    let state = State { schedule, turns: Vec::new(), alive: (0..count).collect(), running: None };
    let turns = Arc::new(Turns {
        state: Mutex::new(state),
        wake: (0..count).map(|_| Condvar::new()).collect(),
    });
    let results = std::thread::scope(|scope| {
        let start = |(number, client): (usize, C)| {
            let turn = Turn { turns: Arc::clone(&turns), client: number };
            scope.spawn(move || {
                let leave = Leave(turn.clone());
                turn.wait(turn.turns.lock());
                let result = client(turn.clone());
                drop(leave);
                result
            })
        };
        let threads: Vec<_> = clients.into_iter().enumerate().map(start).collect();
        turns.pass(&mut turns.lock());
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let taken = std::mem::take(&mut turns.lock().turns);
    (results, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64) -> Vec<usize> {
        let order = Mutex::new(Vec::new());
        let client = |number: usize| {
            let order = &order;
            move |turn: Turn| {
                for _ in 0..5 {
                    order.lock().unwrap().push(number);
                    turn.next();
                }
            }
        };
        interleave(seed, (0..3).map(client).collect());
        order.into_inner().unwrap()
    }

    #[test]
    fn a_seed_fixes_the_interleaving_and_seeds_differ() {
        assert_eq!(run(1), run(1));
        let all: std::collections::HashSet<Vec<usize>> = (0..20).map(run).collect();
        assert!(all.len() > 15, "{} different interleavings", all.len());
        assert!(run(3).len() == 15);
    }

    #[test]
    fn recorded_turns_can_be_taken_again() {
        let run = |schedule: Schedule| {
            let order = Mutex::new(Vec::new());
            let client = |number: usize| {
                let order = &order;
                move |turn: Turn| {
                    for _ in 0..4 {
                        order.lock().unwrap().push(number);
                        turn.next();
                    }
                }
            };
            let turns = interleave_by(schedule, (0..3).map(client).collect()).1;
            (order.into_inner().unwrap(), turns)
        };
        let (order, turns) = run(by_chance(5));
        assert_eq!(run(by_turns(turns.clone())), (order, turns));
    }

    #[test]
    fn a_client_that_panics_does_not_stop_the_others() {
        let done = Mutex::new(0);
        let clients: Vec<Box<dyn FnOnce(Turn) + Send + '_>> = vec![
            Box::new(|_| panic!("on purpose")),
            Box::new(|turn: Turn| {
                (0..10).for_each(|_| turn.next());
                *done.lock().unwrap() += 1;
            }),
        ];
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| interleave(1, clients)));
        assert!(result.is_err());
        assert_eq!(*done.lock().unwrap(), 1);
    }
}
