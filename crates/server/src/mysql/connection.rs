//! One connection from its first byte to its last. It has a thread of its own, as those of
//! PostgreSQL: a session blocks, and the socket limits every wait for the client.

use super::answer::{Column, Done, Form, Manner, error_body, status};
use super::dialect::{self, Piece};
use super::error::MysqlError;
use super::frontend::{Command, Param, ParamTypes, capability, parameters};
use super::packet::{End, Wire, Wired};
use super::session::{MysqlSession, Outcome};
use super::{Shared, auth, binary};
use crate::contained::{Panicked, contained};
use crate::postgres::{Admitted, Seat, completed};
use seriatim_sql::session::Session;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many statements a session may have prepared, and how much of parameters is kept apart.
const PREPARED_MAX: usize = 16_382;
const LONG_DATA_MAX: usize = 256 << 20;
/// So many columns, and so many parameters, can be told.
const COUNT_MAX: usize = 0xffff;
/// The database of SQL whose schemas are the databases of MySQL.
pub(super) const DATABASE: &str = "postgres";

pub(super) fn converse(admitted: &Admitted, shared: &Shared) {
    let socket = &admitted.socket;
    // Answers are small and waited for; if the options cannot be set they are merely late.
    let _ = socket.0.set_nodelay(true);
    let _ = socket2::SockRef::from(&*socket.0).set_keepalive(true);
    if socket.0.set_write_timeout(Some(shared.config.write_wait_max)).is_err() {
        return;
    }
    let mut wire = Wire::new(socket.clone(), shared.config.packet_bytes_max);
    let result = contained(|| talk(&mut wire, admitted, shared));
    let end = match result {
        Ok(Ok(())) => None,
        Ok(Err(End::Gone)) if shared.registry.is_stopping() => Some(MysqlError::shutdown()),
        Ok(Err(End::Gone | End::Late)) => None,
        Ok(Err(End::Fatal(error))) => Some(error),
        // A mistake of ours, which is not to end the server.
        Err(Panicked) => Some(MysqlError::internal()),
    };
    if let Some(error) = end {
        let _ = wire.put(&error_body(&error)).and_then(|()| wire.flush());
    }
    wire.close();
}

fn talk(wire: &mut Wire, admitted: &Admitted, shared: &Shared) -> Wired<()> {
    let until = Instant::now() + shared.config.startup_wait_max;
    if !admitted.take_place() {
        return Err(End::Fatal(MysqlError::too_many_connections()));
    }
    let mut sql = Session::connect(&shared.cluster, DATABASE, "root")
        .map_err(|error| End::Fatal(MysqlError::of(&error, "")))?;
    if !shared.config.uses_locks {
        sql.without_locks();
    }
    let greeting = auth::welcome(wire, &shared.config, sql.number(), until)?;
    let globals = Arc::clone(&shared.globals);
    let mut session = MysqlSession::new(sql, globals, &shared.config);
    session.user = greeting.user;
    session.counts_found = greeting.capabilities & capability::FOUND_ROWS != 0;
    if let Some(database) = &greeting.database {
        session.select_database(database).map_err(End::Fatal)?;
    }
    let mut connection = Connection {
        wire,
        session,
        shared,
        is_busy: Arc::new(AtomicBool::new(true)),
        capabilities: greeting.capabilities,
        prepared: BTreeMap::new(),
        next_statement: 1,
    };
    admitted.sit(Seat {
        number: connection.session.sql.number(),
        secret: 0,
        interrupt: connection.session.sql.interrupt(),
        is_busy: Arc::clone(&connection.is_busy),
    });
    if let Some(holding) = &shared.config.holding {
        let session = &connection.session.sql;
        holding.joins(session.number(), session.number_in_store());
    }
    connection.ok()?;
    connection.wire.flush()?;
    connection.run()
}

/// A statement that was prepared.
struct Prepared {
    piece: Piece,
    types: ParamTypes,
    /// Values that were sent apart.
    long: BTreeMap<usize, Vec<u8>>,
    /// Whether they were too long to be kept.
    is_too_long: bool,
}

/// A client that has a session.
struct Connection<'w> {
    wire: &'w mut Wire,
    session: MysqlSession,
    shared: &'w Shared,
    /// Whether it works, and does not wait for its client.
    is_busy: Arc<AtomicBool>,
    capabilities: u32,
    prepared: BTreeMap<u32, Prepared>,
    next_statement: u32,
}

/// A client that has left overlaps with nobody.
impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if let Some(holding) = &self.shared.config.holding {
            holding.leaves(self.session.sql.number());
        }
    }
}

impl Connection<'_> {
    fn run(&mut self) -> Wired<()> {
        loop {
            let body = self.next_body()?;
            let Some(command) = Command::read(&body) else {
                self.refuse(&MysqlError::malformed())?;
                continue;
            };
            if command == Command::Quit {
                return Ok(());
            }
            self.answer(command)?;
            self.session.sql.answered();
            self.wire.flush()?;
        }
    }

    /// The next command, for which the session limits the wait.
    fn next_body(&mut self) -> Wired<bytes::Bytes> {
        let wait = self.session.variables.get("wait_timeout");
        let seconds: u64 = wait.and_then(|text| text.parse().ok()).unwrap_or(28_800);
        let until = Instant::now() + Duration::from_secs(seconds.clamp(1, 31_536_000));
        self.is_busy.store(false, Ordering::Relaxed);
        let number = self.session.sql.number();
        let holding = self.shared.config.holding.as_ref();
        holding.iter().for_each(|holding| holding.idles(number));
        let body = self.wire.body(Some(until));
        holding.iter().for_each(|holding| holding.works(number));
        self.is_busy.store(true, Ordering::Relaxed);
        match body {
            Err(End::Gone) if self.session.sql.interrupt().is_terminated() => {
                Err(End::Fatal(MysqlError::shutdown()))
            }
            other => other,
        }
    }

    fn manner(&self, form: Form, more: u16) -> Manner {
        let in_transaction =
            if self.session.is_in_transaction() { status::IN_TRANSACTION } else { 0 };
        let autocommit = if self.session.is_autocommit() { status::AUTOCOMMIT } else { 0 };
        let status = in_transaction | autocommit | more;
        Manner { capabilities: self.capabilities, status, form }
    }

    fn ok(&mut self) -> Wired<()> {
        self.manner(Form::Text, 0).ok(self.wire, &Done::default())
    }

    fn refuse(&mut self, error: &MysqlError) -> Wired<()> {
        self.shared.config.refusals.note_of_mysql(error.number);
        self.wire.put(&error_body(error))?;
        self.wire.flush()
    }

    fn answer(&mut self, command: Command<'_>) -> Wired<()> {
        match command {
            Command::Query(text) => self.query(text),
            Command::Prepare(text) => self.prepare(text),
            Command::Execute(number, rest) => self.execute(number, rest),
            Command::LongData(number, place, bytes) => {
                self.long_data(number, place, bytes);
                Ok(())
            }
            Command::CloseStatement(number) => {
                self.prepared.remove(&number);
                Ok(())
            }
            Command::ResetStatement(number) => {
                self.prepared
                    .entry(number)
                    .and_modify(|it| (it.long, it.is_too_long) = (BTreeMap::new(), false));
                self.ok()
            }
            Command::UseDatabase(name) => match self.session.select_database(&name) {
                Ok(()) => self.ok(),
                Err(error) => self.refuse(&error),
            },
            Command::FieldList(_) => self.manner(Form::Text, 0).end_of_rows(self.wire, 0),
            Command::Ping | Command::SetOption(_) => self.ok(),
            Command::Statistics => self.wire.put(b"Uptime: 1"),
            Command::ResetConnection => {
                self.session.reset(&self.shared.config);
                self.prepared.clear();
                self.ok()
            }
            Command::ChangeUser(_) | Command::Kill(_) => {
                self.refuse(&MysqlError::unknown_command())
            }
            Command::Quit | Command::Unknown(_) => self.refuse(&MysqlError::unknown_command()),
        }
    }

    /// A statement has arrived. It may be held before it runs.
    fn arrive(&mut self, text: &str) {
        self.session.sql.arrived();
        let (cluster, number) = (&self.shared.cluster, self.session.sql.number());
        if let Some(holding) = &self.shared.config.holding {
            holding.begin_statement(number, text, &|other| cluster.waits_for_lock(other));
        }
    }

    /// A statement has run. Its answer may be held; then others must see what it tells.
    fn depart(&mut self) {
        let (cluster, number) = (&self.shared.cluster, self.session.sql.number());
        if let Some(holding) = &self.shared.config.holding {
            holding.end_statement(number, &|other| cluster.waits_for_lock(other));
        }
        self.session.sql.answered();
    }

    /// The text of statements, with what is to be added to it.
    fn text(&self, bytes: &[u8]) -> Result<String, MysqlError> {
        let text = String::from_utf8(binary::written_as_hex(bytes)).map_err(|_| {
            MysqlError::new(1300, "HY000", "Invalid utf8mb4 character string in the statement")
        })?;
        Ok(completed(&self.shared.config.additions, &text).into_owned())
    }

    fn query(&mut self, text: &[u8]) -> Wired<()> {
        let pieces = self.text(text).and_then(|text| dialect::pieces(&text));
        let pieces = match pieces {
            Ok(pieces) if pieces.is_empty() => {
                return self.refuse(&MysqlError::new(1065, "42000", "Query was empty"));
            }
            Ok(pieces) => pieces,
            Err(error) => return self.refuse(&error),
        };
        let is_multiple = pieces.len() > 1;
        if is_multiple && self.capabilities & capability::MULTI_STATEMENTS == 0 {
            let near = pieces.get(1).map_or("", |piece| piece.text.as_str());
            return self.refuse(&MysqlError::syntax(near, 1));
        }
        let last = pieces.len() - 1;
        for (place, piece) in pieces.iter().enumerate() {
            let more = if place < last { status::MORE_RESULTS } else { 0 };
            if !self.run_one(piece, None, Form::Text, more)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs a statement and answers; whether it went well.
    fn run_one(
        &mut self,
        piece: &Piece,
        params: Option<&[Param]>,
        form: Form,
        more: u16,
    ) -> Wired<bool> {
        self.arrive(&piece.text);
        let outcome = self.session.run(piece, params);
        self.depart();
        match outcome {
            Ok(Outcome::Rows(columns, rows)) => {
                let (manner, env) = (self.manner(form, more), self.session.env());
                let warnings = self.session.warnings.len() as u16;
                manner.rows(self.wire, &columns, &rows, &env, warnings)?;
                Ok(true)
            }
            Ok(Outcome::Done(done)) => {
                self.manner(form, more).ok(self.wire, &done)?;
                Ok(true)
            }
            Err(error) => {
                if error.number == 1053 {
                    return Err(End::Fatal(error));
                }
                self.refuse(&error)?;
                Ok(false)
            }
        }
    }

    fn prepare(&mut self, text: &[u8]) -> Wired<()> {
        let pieces = self.text(text).and_then(|text| dialect::pieces(&text));
        let prepared = pieces.and_then(|mut pieces| match (pieces.pop(), pieces.is_empty()) {
            (Some(piece), true) if piece.params > COUNT_MAX => {
                let message = "Prepared statement contains too many placeholders";
                Err(MysqlError::new(1390, "HY000", message))
            }
            (Some(piece), true) if self.prepared.len() < PREPARED_MAX => {
                let columns = self.session.columns(&piece)?;
                match columns.len() <= COUNT_MAX {
                    true => Ok((piece, columns)),
                    false => Err(MysqlError::new(1117, "HY000", "Too many columns")),
                }
            }
            (Some(_), true) => {
                let message = "Can't create more than max_prepared_stmt_count statements";
                Err(MysqlError::new(1461, "42000", message))
            }
            (None, _) => Err(MysqlError::new(1065, "42000", "Query was empty")),
            (Some(piece), false) => Err(MysqlError::syntax(&piece.text, 1)),
        });
        let (piece, columns) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.refuse(&error),
        };
        let (number, params) = (self.next_statement, piece.params);
        self.next_statement = self.next_statement.wrapping_add(1).max(1);
        let (types, long) = (Vec::new(), BTreeMap::new());
        let made = Prepared { piece, types, long, is_too_long: false };
        self.prepared.insert(number, made);
        self.prepared_answer(number, params, &columns)
    }

    fn prepared_answer(&mut self, number: u32, params: usize, columns: &[Column]) -> Wired<()> {
        let mut body = vec![0];
        body.extend_from_slice(&number.to_le_bytes());
        body.extend_from_slice(&(columns.len() as u16).to_le_bytes());
        body.extend_from_slice(&(params as u16).to_le_bytes());
        body.extend_from_slice(&[0, 0, 0]);
        self.wire.put(&body)?;
        let (manner, database) = (self.manner(Form::Text, 0), self.session.database());
        if params > 0 {
            let all: Vec<Column> = (0..params).map(|_| Column::of_text("?")).collect();
            manner.columns(self.wire, &all, &database)?;
            manner.end_of_columns(self.wire)?;
        }
        if !columns.is_empty() {
            manner.columns(self.wire, columns, &database)?;
            manner.end_of_columns(self.wire)?;
        }
        Ok(())
    }

    fn execute(&mut self, number: u32, rest: &[u8]) -> Wired<()> {
        let Some(prepared) = self.prepared.get_mut(&number) else {
            let message = format!("Unknown prepared statement handler ({number}) given to EXECUTE");
            return self.refuse(&MysqlError::new(1243, "HY000", message));
        };
        let piece = prepared.piece.clone();
        let long = std::mem::take(&mut prepared.long);
        if std::mem::take(&mut prepared.is_too_long) {
            let message = "Parameter of prepared statement which is set through \
                           mysql_send_long_data() is longer than 'max_long_data_size' bytes";
            return self.refuse(&MysqlError::new(1105, "HY000", message));
        }
        let sent_apart = |place: usize| long.get(&place).cloned();
        let params = parameters(rest, piece.params, &mut prepared.types, sent_apart);
        let Some(params) = params else { return self.refuse(&MysqlError::malformed()) };
        self.run_one(&piece, Some(&params), Form::Binary, 0).map(|_| ())
    }

    /// A part of a parameter, to which nothing is answered. What is too much for the connection,
    /// all its statements together, is refused when the statement is executed.
    fn long_data(&mut self, number: u32, place: u16, bytes: &[u8]) {
        let held: usize =
            self.prepared.values().flat_map(|it| it.long.values()).map(Vec::len).sum();
        let Some(prepared) = self.prepared.get_mut(&number) else { return };
        let place = usize::from(place);
        if place >= prepared.piece.params {
            return;
        }
        if held + bytes.len() > LONG_DATA_MAX {
            prepared.is_too_long = true;
            prepared.long.clear();
        } else if !prepared.is_too_long {
            prepared.long.entry(place).or_default().extend_from_slice(bytes);
        }
    }
}
