//! DFS(I), the baseline of the paper's evaluation (Section 7.3): every order in which whole
//! transactions can run, and every valid source of every read, without any reduction. It comes to
//! the same history many times.

use crate::engine::Engine;
use crate::error::ExploreError;
use crate::program::{Local, Value};
use crate::trail::Choice;

impl<V: Value, L: Local> Engine<'_, V, L> {
    /// A session that has another transaction; which one is a choice.
    pub(crate) fn next_of_any(&mut self) -> Result<Option<u32>, ExploreError> {
        let sessions: Vec<u32> =
            (0..self.history.sessions() as u32).filter(|&session| self.has_next(session)).collect();
        match sessions[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            _ => {
                let len = self.history.len();
                let child = self.fork(Choice::Session { len, sessions: sessions.clone() })?;
                Ok(Some(sessions[child]))
            }
        }
    }
}
