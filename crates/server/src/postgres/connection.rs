//! One connection from its first byte to its last: the simple protocol, and what both share.
//!
//! A connection has a thread of its own, as in PostgreSQL a process: the session blocks (it waits
//! for locks, it computes), the socket limits every wait for the client, and nothing is handed from
//! one thread to another between a question and its answer. A stack of its own bounds what deeply
//! nested statements may take.

use super::bell::{Bell, Woken};
use super::frontend::Frontend;
use super::registry::{Admitted, Seat};
use super::report::{self, Reported, Severity};
use super::rows::{Formats, Writer, description};
use super::startup::{Greeting, Wish, authenticate, greet};
use super::wire::{End, Wire, Wired};
use super::{Shared, copy};
use crate::contained::{Panicked, contained};
use pgwire::api::auth::sasl::scram::random_nonce;
use pgwire::messages::response::{
    CommandComplete, EmptyQueryResponse, NotificationResponse, ReadyForQuery, TransactionStatus,
};
use pgwire::messages::startup::{BackendKeyData, SecretKey};
use seriatim_sql::SqlError;
use seriatim_sql::error::code;
use seriatim_sql::execute::Row;
use seriatim_sql::ir::OutColumn;
use seriatim_sql::parse;
use seriatim_sql::session::{Reply, Session, Status};
use std::collections::HashMap;
use std::io::Read;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a client that was refused may go on sending before it is cut off; without that the
/// reason would be lost together with what it sends.
const REFUSED_WAIT_MAX: Duration = Duration::from_secs(2);

/// Talks with a client until one of the two has enough.
pub(super) fn converse(admitted: &Admitted, shared: &Shared) {
    let socket = &admitted.socket;
    // Answers are small and waited for; if the options cannot be set they are merely late.
    let _ = socket.0.set_nodelay(true);
    let _ = socket2::SockRef::from(&*socket.0).set_keepalive(true);
    if socket.0.set_write_timeout(Some(shared.config.write_wait_max)).is_err() {
        return;
    }
    let mut wire = Wire::new(socket.clone(), shared.config.message_bytes_max);
    let result = contained(|| talk(&mut wire, admitted, shared));
    let end = match result {
        Ok(Ok(())) => None,
        Ok(Err(End::Gone)) if shared.registry.is_stopping() => Some(report::shutdown()),
        Ok(Err(End::Gone | End::Late)) => None,
        Ok(Err(End::Fatal(error))) => Some(error),
        // A mistake of ours, which is not to end the server.
        Err(Panicked) => Some(SqlError::internal("the session has ended by an internal error")),
    };
    if let Some(error) = end {
        let told = wire.put(&report::error(&error, Severity::Fatal)).and_then(|()| wire.flush());
        if told.is_ok() && error.code() == code::PROTOCOL_VIOLATION {
            wire.close();
            let_go(admitted);
        }
    }
    wire.close();
}

/// Reads what a client that was refused still sends, for a while.
fn let_go(admitted: &Admitted) {
    let (mut socket, until) = (admitted.socket.clone(), Instant::now() + REFUSED_WAIT_MAX);
    let _ = socket.0.shutdown(Shutdown::Write);
    let mut ignored = vec![0; 1 << 16];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || socket.0.set_read_timeout(Some(left)).is_err() {
            return;
        }
        if !matches!(socket.read(&mut ignored), Ok(1..)) {
            return;
        }
    }
}

fn talk(wire: &mut Wire, admitted: &Admitted, shared: &Shared) -> Wired<()> {
    let until = Instant::now() + shared.config.startup_wait_max;
    let greeting = match greet(wire, &shared.config, until)? {
        Wish::Session(greeting) => greeting,
        Wish::Cancel { number, secret } => {
            shared.registry.cancel(number, secret);
            return Ok(());
        }
    };
    if !admitted.take_place() {
        let message = "sorry, too many clients already";
        return Err(End::Fatal(SqlError::new(code::TOO_MANY_CONNECTIONS, message)));
    }
    authenticate(wire, &shared.config, &greeting.user, until)?;
    let session = open(&greeting, shared).map_err(End::Fatal)?;
    let mut connection = Connection {
        wire,
        is_busy: Arc::new(AtomicBool::new(true)),
        reported: Reported::default(),
        formats: HashMap::new(),
        is_skipping: false,
        bell: None,
        session,
        shared,
    };
    if let Some(holding) = &shared.config.holding {
        holding.joins(connection.session.number(), connection.session.number_in_store());
    }
    connection.welcome(admitted)?;
    connection.run()
}

/// A client that has left overlaps with nobody.
impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if let Some(holding) = &self.shared.config.holding {
            holding.leaves(self.session.number());
        }
    }
}

fn open(greeting: &Greeting, shared: &Shared) -> Result<Session, SqlError> {
    let mut session = Session::connect(&shared.cluster, &greeting.database, &greeting.user)?;
    if !shared.config.uses_locks {
        session.without_locks();
    }
    for (name, value) in &greeting.settings {
        session.set(name, value)?;
    }
    session.remember_settings();
    Ok(session)
}

/// A client that has a session.
pub(super) struct Connection<'w> {
    pub wire: &'w mut Wire,
    pub session: Session,
    pub shared: &'w Shared,
    /// Whether it works, and does not wait for its client.
    is_busy: Arc<AtomicBool>,
    reported: Reported,
    /// The formats that results of portals are to have.
    pub formats: HashMap<String, Formats>,
    /// After an error in the extended protocol: whatever comes before Sync is skipped.
    pub is_skipping: bool,
    /// What wakes it while it waits for its client, once it listens.
    bell: Option<Bell>,
}

impl Connection<'_> {
    /// What the client has to know before its first statement.
    fn welcome(&mut self, admitted: &Admitted) -> Wired<()> {
        let number = self.session.number();
        let secret = secret();
        admitted.sit(Seat {
            number,
            secret,
            interrupt: self.session.interrupt(),
            is_busy: Arc::clone(&self.is_busy),
        });
        self.report_settings()?;
        self.wire.put(&BackendKeyData::new(number as i32, SecretKey::I32(secret)))?;
        self.ready()
    }

    fn run(&mut self) -> Wired<()> {
        loop {
            let (kind, body) = self.next_message()?;
            if kind == b'X' {
                return Ok(());
            }
            if self.is_skipping && kind != b'S' {
                continue;
            }
            match Frontend::decode(kind, body) {
                Ok(message) => self.answer(message)?,
                Err(error) if Frontend::is_extended(kind) => self.refuse(error)?,
                Err(error) => {
                    self.session.failed();
                    self.tell(&error)?;
                    self.is_skipping = false;
                    self.ready()?;
                }
            }
        }
    }

    /// The next message, for which the settings of the session limit the wait.
    pub fn next_message(&mut self) -> Wired<(u8, bytes::Bytes)> {
        if self.wire.has_input() {
            return self.wire.message(None);
        }
        let (limit, error) = self.idle_limit();
        self.is_busy.store(false, Ordering::Relaxed);
        let holding = self.shared.config.holding.as_ref();
        holding.iter().for_each(|holding| holding.idles(self.session.number()));
        let until = limit.map(|limit| Instant::now() + limit);
        let message = self.tell_while_silent(until).and_then(|()| self.wire.message(until));
        holding.iter().for_each(|holding| holding.works(self.session.number()));
        self.is_busy.store(true, Ordering::Relaxed);
        match message {
            Err(End::Late) => Err(End::Fatal(error)),
            Err(End::Gone) if self.session.interrupt().is_terminated() => {
                Err(End::Fatal(report::shutdown()))
            }
            other => other,
        }
    }

    /// While the client is silent: what other sessions tell it.
    fn tell_while_silent(&mut self, until: Option<Instant>) -> Wired<()> {
        while self.session.hears() {
            // Without a bell the client is told when it asks something next.
            let Some(bell) = self.bell.take().or_else(|| self.hang_bell()) else { return Ok(()) };
            self.tell_notifications()?;
            self.wire.flush()?;
            let woken = match self.wire.silent_socket() {
                Some(socket) => bell.wait(&socket.0, until).map_err(|_| End::Gone)?,
                None => Woken::ByClient,
            };
            self.bell = Some(bell);
            match woken {
                Woken::ByClient => return Ok(()),
                Woken::Late => return Err(End::Late),
                Woken::ByBell => {}
            }
        }
        Ok(())
    }

    fn hang_bell(&self) -> Option<Bell> {
        let (bell, ring) = Bell::new().ok()?;
        self.session.set_alarm(ring);
        Some(bell)
    }

    fn tell_notifications(&mut self) -> Wired<()> {
        for it in self.session.take_notifications() {
            let (channel, payload) = (it.channel.to_string(), it.payload.to_string());
            self.wire.put(&NotificationResponse::new(it.sender as i32, channel, payload))?;
        }
        Ok(())
    }

    fn idle_limit(&self) -> (Option<Duration>, SqlError) {
        let settings = self.session.settings();
        let (name, code, what) = match self.session.status() {
            Status::Idle => ("idle_session_timeout", "57P05", "idle-session"),
            _ => ("idle_in_transaction_session_timeout", "25P03", "idle-in-transaction"),
        };
        let message = format!("terminating connection due to {what} timeout");
        (settings.time(name), SqlError::new(code, message))
    }

    fn answer(&mut self, message: Frontend) -> Wired<()> {
        match message {
            Frontend::Query(text) => self.query(&text),
            Frontend::Sync => self.sync(),
            Frontend::Flush => self.wire.flush(),
            Frontend::FunctionCall => {
                self.session.failed();
                self.tell(&SqlError::unsupported("the function call protocol"))?;
                self.ready()
            }
            // What is left of a COPY that has failed.
            Frontend::CopyData(_) | Frontend::CopyDone | Frontend::CopyFail(_) => Ok(()),
            Frontend::Terminate => Err(End::Gone),
            message => match self.extended(message)? {
                Ok(()) => self.tell_notices(),
                Err(error) => self.refuse(error),
            },
        }
    }

    /// The simple protocol.
    fn query(&mut self, text: &str) -> Wired<()> {
        self.session.close_statement("");
        self.session.close_portal("");
        let mut rest = Some(self.shared.config.completed(text).into_owned());
        while let Some(text) = rest.take() {
            rest = match self.statements(&text)? {
                Ok(rest) => rest,
                Err(error) => {
                    self.session.failed();
                    self.tell(&error)?;
                    None
                }
            };
        }
        self.ready()
    }

    /// A statement has arrived. It may be held before it runs.
    pub fn arrive(&mut self, text: &str) {
        self.session.arrived();
        let cluster = &self.shared.cluster;
        if let Some(holding) = &self.shared.config.holding {
            let called = self.session.settings().find("application_name");
            holding.calls(self.session.number(), called.unwrap_or_default());
            let waits = |other| cluster.waits_for_lock(other);
            holding.begin_statement(self.session.number(), text, &waits);
        }
    }

    /// A statement has run. Its answer may be held; then others must see what it tells.
    pub fn depart(&mut self) {
        let cluster = &self.shared.cluster;
        if let Some(holding) = &self.shared.config.holding {
            holding.end_statement(self.session.number(), &|other| cluster.waits_for_lock(other));
        }
        self.session.answered();
    }

    /// Runs statements up to the first for which the client has to send rows; what is left then.
    fn statements(&mut self, text: &str) -> Wired<Result<Option<String>, SqlError>> {
        self.arrive(text);
        let (replies, error) = self.session.simple(text);
        self.depart();
        self.tell_notices()?;
        let (count, mut is_copy) = (replies.len(), false);
        for reply in replies {
            is_copy = matches!(reply, Reply::CopyIn(_));
            if let Err(error) = self.simple_reply(reply)? {
                return Ok(Err(error));
            }
        }
        match error {
            Some(error) => Ok(Err(error)),
            None if is_copy => Ok(self.after_copy(text, count)),
            None => Ok(Ok(None)),
        }
    }

    /// The statements behind the first `count`; if there are none, the transaction ends that the
    /// others were in.
    fn after_copy(&mut self, text: &str, count: usize) -> Result<Option<String>, SqlError> {
        let parsed = parse::statements(text)?;
        let rest: Vec<&str> = parsed.iter().skip(count).map(|it| it.text.as_str()).collect();
        if rest.is_empty() {
            return self.session.finish_implicit().map(|()| None);
        }
        Ok(Some(rest.join(";")))
    }

    fn simple_reply(&mut self, reply: Reply) -> Wired<Result<(), SqlError>> {
        let Reply::Rows { columns, rows, tag } = reply else { return self.plain_reply(reply) };
        let (formats, env) = (Formats::default(), self.session.env());
        self.wire.put(&description(&columns, &formats, &env))?;
        self.send_rows(&columns, &rows, &formats)?;
        self.wire.put(&CommandComplete::new(tag)).map(Ok)
    }

    /// What is answered alike in both protocols.
    pub fn plain_reply(&mut self, reply: Reply) -> Wired<Result<(), SqlError>> {
        match reply {
            Reply::Done(tag) => self.wire.put(&CommandComplete::new(tag))?,
            Reply::Empty => self.wire.put(&EmptyQueryResponse::new())?,
            Reply::CopyIn(what) => return copy::from_client(self, what),
            Reply::CopyOut(what) => return copy::to_client(self, what),
            Reply::Rows { .. } => return Ok(Err(SqlError::internal("rows are no plain reply"))),
        }
        Ok(Ok(()))
    }

    pub fn send_rows(
        &mut self,
        columns: &[OutColumn],
        rows: &[Row],
        formats: &Formats,
    ) -> Wired<()> {
        let env = self.session.env();
        let mut writer = Writer::new(columns, formats, &env);
        rows.iter().try_for_each(|row| self.wire.put(writer.row(row)))
    }

    /// Tells of an error, or ends the session with it.
    pub fn tell(&mut self, error: &SqlError) -> Wired<()> {
        self.tell_notices()?;
        if report::is_fatal(error) {
            return Err(End::Fatal(error.clone()));
        }
        self.shared.config.refusals.note(error);
        self.wire.put(&report::error(error, Severity::Error))
    }

    fn tell_notices(&mut self) -> Wired<()> {
        let notices = self.session.take_notices();
        if notices.is_empty() {
            return Ok(());
        }
        let least = Severity::least(self.session.settings());
        let with_severity = notices.iter().map(|notice| (notice, Severity::of_notice(notice)));
        for (notice, severity) in with_severity.filter(|(_, severity)| *severity >= least) {
            self.wire.put(&report::notice(notice, severity))?;
        }
        Ok(())
    }

    fn report_settings(&mut self) -> Wired<()> {
        let changes = self.reported.changes(self.session.settings());
        changes.iter().try_for_each(|change| self.wire.put(change))
    }

    /// The client may go on.
    pub fn ready(&mut self) -> Wired<()> {
        let status = match self.session.status() {
            Status::Idle => TransactionStatus::Idle,
            Status::InTransaction => TransactionStatus::Transaction,
            Status::Failed => TransactionStatus::Error,
        };
        // Portals end with their transaction.
        if status == TransactionStatus::Idle {
            self.formats.clear();
        }
        self.tell_notices()?;
        self.tell_notifications()?;
        self.report_settings()?;
        self.wire.put(&ReadyForQuery::new(status))?;
        self.session.answered();
        self.wire.flush()
    }
}

/// A number that cannot be guessed.
fn secret() -> i32 {
    let nonce = random_nonce().into_bytes();
    let fold = |sum: u64, &byte: &u8| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte);
    let sum = nonce.iter().fold(0xcbf2_9ce4_8422_2325, fold);
    (sum ^ (sum >> 32)) as u32 as i32
}
