//! How a server of the PostgreSQL protocol is to work.

use super::password::Password;
use super::tls::Tls;
use crate::holding::Holding;
use crate::refusals::Refusals;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// How a server of the PostgreSQL protocol is to work; the defaults suit a test on one machine.
#[derive(Clone, Debug)]
pub struct PostgresConfig {
    /// How many sessions may be open.
    pub connections_max: usize,
    /// Whether statements lock rows and tables, as in every database; without that the semantics is
    /// that of MonkeyDB's paper.
    pub uses_locks: bool,
    /// The largest message of a client, in bytes: a statement, or its parameters.
    pub message_bytes_max: usize,
    /// How long a client may take until it has a session.
    pub startup_wait_max: Duration,
    /// How long a client may read nothing of its answer.
    pub write_wait_max: Duration,
    /// The password of every user; without one everybody is trusted.
    pub password: Option<Password>,
    /// What it takes to encrypt connections, if clients ask for it.
    pub tls: Option<Tls>,
    /// Holds statements so that clients overlap; without it none is held.
    pub holding: Option<Arc<Holding>>,
    /// What is added to statements of certain shapes (see [`seriatim_sql::parse::shape`]), to see
    /// what that would change: `FOR UPDATE`.
    pub additions: Vec<(String, String)>,
    /// Counts how often clients have to try a transaction again.
    pub refusals: Refusals,
}

impl PostgresConfig {
    /// What is run for what was sent.
    pub(super) fn completed<'s>(&self, sent: &'s str) -> Cow<'s, str> {
        completed(&self.additions, sent)
    }
}

/// A statement with what is to be added to those of its shape.
pub(crate) fn completed<'s>(additions: &[(String, String)], sent: &'s str) -> Cow<'s, str> {
    if additions.is_empty() {
        return Cow::Borrowed(sent);
    }
    let shape = seriatim_sql::parse::shape(sent);
    match additions.iter().find(|(of, _)| *of == shape) {
        Some((_, addition)) => {
            // A comment at the end would swallow it, or be in its way.
            let text = seriatim_sql::parse::without_end(sent);
            Cow::Owned(format!("{text} {addition}"))
        }
        None => Cow::Borrowed(sent),
    }
}

impl Default for PostgresConfig {
    fn default() -> PostgresConfig {
        PostgresConfig {
            connections_max: 500,
            uses_locks: true,
            message_bytes_max: 256 << 20,
            startup_wait_max: Duration::from_secs(60),
            write_wait_max: Duration::from_secs(30),
            password: None,
            tls: None,
            holding: None,
            additions: Vec::new(),
            refusals: Refusals::default(),
        }
    }
}
