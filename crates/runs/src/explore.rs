//! Applications as programs to explore: their clients run as they are, against what the explorer
//! lets them read.
//!
//! A client is run again for each of its transactions, with what it read before; at the begin of
//! the next one its connection fails, which ends the run.

use seriatim_apps::clients::{After, ClientProgram, LAYOUT, Phase, Step};
use seriatim_apps::{App, Db, DbError, Layout, Value};
use seriatim_explore::{Client, End, Program, Stop, Tx};

/// What an application's users see.
pub type Seen = Vec<Value>;

/// The clients of `app` as sessions; the local state of each is what its user saw.
pub fn program(app: &'static dyn App) -> Program<Value, Seen> {
    let mut program = Program::new();
    for (key, value) in app.load() {
        program.initial(&key, value);
    }
    for client in 0..app.clients() {
        program.client(&format!("client{client}"), move |connection, seen: &mut Seen| {
            let mut db = Connection { client: connection };
            // A failure is the end of the run, or the client's own affair: it does nothing more
            // either way.
            let _ = app.run(client, &mut db, &mut |value| seen.push(value));
            Ok(())
        });
    }
    program
}

/// Whether the assertion of `app` holds at the end of a behaviour, whichever of the possible latest
/// values the database holds; otherwise why not.
pub fn verify(app: &dyn App, end: &End<'_, Value, Seen>) -> Result<(), String> {
    end.finally(|read| match app.verify(end.locals(), &mut Finally { read }) {
        Ok(verdict) => verdict,
        Err(error) => Err(format!("the assertion failed: {error}")),
    })
}

/// A connection to the explorer.
struct Connection<'c, 'a> {
    client: &'c mut Client<'a, Value>,
}

fn ended(_: Stop) -> DbError {
    DbError::Closed
}

impl Db for Connection<'_, '_> {
    fn begin(&mut self) -> Result<(), DbError> {
        self.client.begin().map_err(ended)
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        self.client.read(key).map_err(ended)
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        self.client.write(key, value).map_err(ended)
    }

    fn commit(&mut self) -> Result<(), DbError> {
        self.client.commit().map_err(ended)
    }

    fn abort(&mut self) {
        self.client.abort();
    }

    fn withdraw(&mut self) -> Result<(), DbError> {
        self.client.abort();
        Ok(())
    }
}

/// What is in the database in the end, for assertions.
struct Finally<'r> {
    read: &'r mut dyn FnMut(&str) -> Value,
}

impl Db for Finally<'_> {
    fn begin(&mut self) -> Result<(), DbError> {
        Ok(())
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        Ok((self.read)(key))
    }

    fn write(&mut self, _: &str, _: Value) -> Result<(), DbError> {
        Err(DbError::Failed("an assertion does not write".to_owned()))
    }

    fn commit(&mut self) -> Result<(), DbError> {
        Ok(())
    }

    fn abort(&mut self) {}

    fn withdraw(&mut self) -> Result<(), DbError> {
        Ok(())
    }
}

/// A client program, to be explored.
pub fn client_program(clients: ClientProgram) -> Program<Value, Progress> {
    let mut program = Program::new();
    for (key, value) in clients.load {
        program.initial(&key, value);
    }
    for (number, steps) in clients.sessions.into_iter().enumerate() {
        let count = steps.len();
        program.steps(
            &format!("s{}", number + 1),
            move |progress: &Progress| progress.done < count,
            move |tx, progress| next_transaction(&steps, tx, progress),
        );
    }
    program
}

/// How far a session has come.
#[derive(Clone, Default, Debug)]
pub struct Progress {
    /// What its transactions returned.
    pub seen: Vec<Value>,
    /// How many steps are over.
    done: usize,
    /// Of the next one, if it has several.
    phase: Phase,
}

impl Progress {
    fn end_step(&mut self) {
        self.done += 1;
        self.phase = Phase::default();
    }
}

fn next_transaction(
    steps: &[Step],
    tx: &mut Tx<'_, Value>,
    progress: &mut Progress,
) -> Result<(), Stop> {
    let mut inside = Inside { tx, stop: None };
    let after = steps[progress.done].transaction(&mut inside, &progress.phase);
    if let Some(stop) = inside.stop {
        return Err(stop);
    }
    match after {
        Ok(After::Next(phase)) => {
            progress.phase = phase;
            return Ok(());
        }
        Ok(After::Done(value)) => progress.seen.push(value),
        Ok(After::Aborted) | Err(_) => {
            progress.end_step();
            return tx.abort();
        }
    }
    progress.end_step();
    Ok(())
}

/// The database as the body of a transaction sees it.
struct Inside<'i, 't> {
    tx: &'i mut Tx<'t, Value>,
    stop: Option<Stop>,
}

impl Inside<'_, '_> {
    fn stopped(&mut self, stop: Stop) -> DbError {
        self.stop = Some(stop);
        DbError::Closed
    }
}

impl Db for Inside<'_, '_> {
    fn begin(&mut self) -> Result<(), DbError> {
        Err(DbError::Failed("a transaction is open already".to_owned()))
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        let value = self.tx.read(key);
        value.map_err(|stop| self.stopped(stop))
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        let written = self.tx.write(key, value);
        written.map_err(|stop| self.stopped(stop))
    }

    fn commit(&mut self) -> Result<(), DbError> {
        Err(DbError::Failed("the transaction commits when its body ends".to_owned()))
    }

    fn abort(&mut self) {}

    fn withdraw(&mut self) -> Result<(), DbError> {
        Err(DbError::Failed(
            "the body of a transaction says in the end whether it is taken back".to_owned(),
        ))
    }

    fn layout(&self) -> Layout {
        LAYOUT
    }
}
