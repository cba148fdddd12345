//! LISTEN, UNLISTEN and NOTIFY, which take effect when the transaction commits; what a session is
//! told then.

use super::done;
use crate::channels::{Letter, Notification};
use crate::error::Result;
use crate::session::{Reply, Session, Status};
use std::collections::VecDeque;

impl Session {
    pub(super) fn listen(&mut self, channel: &str) -> Result<Reply> {
        self.post(Letter::Listen(channel.into()))?;
        Ok(done("LISTEN"))
    }

    pub(super) fn unlisten(&mut self, channel: Option<&str>) -> Result<Reply> {
        self.post(Letter::Unlisten(channel.map(Into::into)))?;
        Ok(done("UNLISTEN"))
    }

    pub(super) fn notify(&mut self, channel: &str, payload: &str) -> Result<Reply> {
        self.post(Letter::notify(channel, payload)?)?;
        Ok(done("NOTIFY"))
    }

    pub(super) fn post(&mut self, letter: Letter) -> Result<()> {
        match &mut self.txn {
            Some(txn) => crate::channels::add(&mut txn.letters, letter),
            None => Ok(()),
        }
    }

    /// Whether it may be told something without asking: it listens, and no transaction is open.
    pub fn hears(&self) -> bool {
        self.status == Status::Idle && self.database.channels.has_listener(self.number)
    }

    /// What it is to be told; nothing while a transaction is open.
    pub fn take_notifications(&mut self) -> VecDeque<Notification> {
        match self.status {
            Status::Idle => self.database.channels.take(self.number),
            _ => VecDeque::new(),
        }
    }

    /// From now on the alarm is called whenever there is something to tell.
    pub fn set_alarm(&self, alarm: impl Fn() + Send + Sync + 'static) {
        self.database.channels.set_alarm(self.number, alarm);
    }
}
