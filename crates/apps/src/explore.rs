//! Applications as programs to explore: their clients run as they are, against what the explorer
//! lets them read.
//!
//! A client is run again for each of its transactions, with what it read before; at the begin of
//! the next one its connection fails, which ends the run.

use crate::app::App;
use crate::db::{Db, DbError};
use crate::value::Value;
use seriatim_explore::{Client, End, Program, Stop};

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
    DbError::Failed("the run ends here".to_owned())
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
