//! `seriatim serve --postgres` and `--mysql`: the part of `serve` that speaks SQL.

use crate::exit::Failure;
use crate::quantities::duration;
use seriatim_server::Config;
use seriatim_server::cells::{self, StoreCells};
use seriatim_server::holding::{ByChance, Holding};
use seriatim_server::mysql::{MysqlConfig, NativePassword};
use seriatim_server::postgres::{Password, PostgresConfig, STACK_BYTES, Tls};
use seriatim_sql::SqlError;
use seriatim_sql::cells::{CellStore, TxnLevel};
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_sql::session::Session;
use seriatim_store::Node;
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where the password comes from if no file is named: arguments are seen by everybody.
const PASSWORD_VARIABLE: &str = "SERIATIM_PASSWORD";
/// Which database a file of statements is for, and who runs it.
const DATABASE: &str = "postgres";
const USER: &str = "postgres";

/// Whether statements lock rows and tables.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locks {
    /// As in every database
    On,
    /// As in the paper
    Off,
}

/// Servers of which one node can be simulated.
///
/// MySQL and MariaDB do the same, as far as isolation goes.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Like {
    /// PostgreSQL
    Postgres,
    /// MySQL and MariaDB, with InnoDB
    #[value(alias = "mariadb")]
    Mysql,
}

/// The flags of SQL.
#[derive(clap::Args, Debug)]
pub struct SqlArgs {
    /// Where to listen for clients of PostgreSQL, a host and a port; port 0 is any free port
    #[arg(long, value_name = "ADDR", group = "sql")]
    pub postgres: Option<String>,
    /// Where to listen for clients of MySQL and MariaDB, a host and a port; port 0 is any free
    /// port. Their database is called test
    #[arg(long, value_name = "ADDR", group = "sql")]
    pub mysql: Option<String>,
    /// Statements, in PostgreSQL's words, to run in the database postgres before anybody connects;
    /// what they do is the initial state, which is seen at every level and no part of the history
    #[arg(long, value_name = "FILE.sql", requires = "postgres")]
    init: Option<PathBuf>,
    /// Answer only what one node of this server could answer, where nothing but timing is free, and
    /// not all that a level allows; transactions get the level that they ask for, which is read
    /// committed by default, and repeatable read with mysql
    #[arg(long, value_enum, value_name = "SERVER", requires = "sql")]
    pub like: Option<Like>,
    /// With --like, hold some statements before they run, and some answers, for at most this long
    /// for one statement, so that clients overlap; a client is not held when all others wait or
    /// are idle. 20ms is long enough for most applications
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        default_value = "0s",
        requires = "like"
    )]
    hold: Duration,
    /// With --like mysql: `innodb_snapshot_isolation` is ON for all sessions, as from MariaDB 11.6
    /// on: at REPEATABLE READ a row that has changed since the snapshot is error 1020
    #[arg(long, requires = "mysql")]
    innodb_snapshot_isolation: bool,
    /// Every transaction of SQL is at --level, whatever it asks for
    #[arg(long, requires = "sql")]
    pub force_level: bool,
    /// Whether statements of SQL lock rows and tables; off is the semantics of MonkeyDB's paper
    #[arg(long, value_enum, value_name = "on|off", default_value = "on", requires = "sql")]
    locks: Locks,
    /// A file whose first line is the password of every user of SQL; without it the variable
    /// SERIATIM_PASSWORD is looked at, and without that everybody is trusted
    #[arg(long, value_name = "FILE", requires = "sql")]
    password_file: Option<PathBuf>,
    /// The certificates (PEM) for clients of PostgreSQL that ask for an encrypted connection
    #[arg(long, value_name = "FILE", requires_all = ["sql", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// The private key (PEM) of the first certificate
    #[arg(long, value_name = "FILE", requires_all = ["sql", "tls_cert"])]
    tls_key: Option<PathBuf>,
}

impl SqlArgs {
    /// What there is to connect to, with what the file of statements made of it, and the store that
    /// remembers what happens.
    pub fn cluster(&self, config: &Config) -> Result<(Arc<Cluster>, Arc<StoreCells>), Failure> {
        let store = cells::open(config, self.force_level)
            .map_err(|error| Failure::Message(error.to_string()))?;
        let store = Arc::new(store);
        let Some(path) = &self.init else {
            let cluster = Cluster::new(Arc::clone(&store) as Arc<dyn CellStore>);
            return Ok((Arc::new(cluster), store));
        };
        // What the file does is the initial state, which every session sees at every level.
        let set_up = Arc::new(Cluster::new(Arc::new(Memory::default())));
        initialize(&set_up, path)?;
        let mut cluster = Arc::into_inner(set_up)
            .ok_or_else(|| Failure::Message("the set-up is still connected".to_owned()))?;
        cluster
            .settle(Arc::clone(&store) as Arc<dyn CellStore>)
            .map_err(|error| Failure::about(path.display(), error))?;
        Ok((Arc::new(cluster), store))
    }

    /// How it is to be served.
    pub fn config(&self, connections_max: usize, seed: u64) -> Result<PostgresConfig, Failure> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(
                Tls::new(&contents(certificate)?, &contents(key)?)
                    .map_err(|error| Failure::about("cannot encrypt connections", error))?,
            ),
            _ => None,
        };
        let password = self.password()?.map(|text| Password::new(&text));
        let uses_locks = self.locks == Locks::On;
        Ok(PostgresConfig {
            connections_max,
            password,
            tls,
            uses_locks,
            holding: (!self.hold.is_zero())
                .then(|| Arc::new(Holding::new(ByChance::new(seed), self.hold))),
            ..PostgresConfig::default()
        })
    }

    /// The node that is simulated.
    pub fn node(&self) -> Result<Option<Node>, Failure> {
        let Some(like) = self.like else { return Ok(None) };
        let (node, speaks) = match like {
            Like::Postgres => (Node::Postgres, self.postgres.is_some()),
            Like::Mysql => (Node::Mysql, self.mysql.is_some()),
        };
        if !speaks {
            let what = "--like names a server of another protocol than --postgres or --mysql";
            return Err(Failure::Message(what.to_owned()));
        }
        if self.locks == Locks::Off {
            let what = "--like needs locks: without them it would show what no server shows";
            return Err(Failure::Message(what.to_owned()));
        }
        Ok(Some(node))
    }

    /// How it is to be served to clients of MySQL.
    pub fn mysql_config(
        &self,
        connections_max: usize,
        seed: u64,
        level: TxnLevel,
    ) -> Result<MysqlConfig, Failure> {
        let PostgresConfig { tls, uses_locks, holding, .. } = self.config(connections_max, seed)?;
        Ok(MysqlConfig {
            connections_max,
            uses_locks,
            password: self.password()?.map(|text| NativePassword::new(&text)),
            tls,
            holding,
            default_level: (self.like == Some(Like::Mysql)).then_some(level),
            is_level_forced: self.force_level,
            snapshot_isolation: self.innodb_snapshot_isolation,
            ..MysqlConfig::default()
        })
    }

    fn password(&self) -> Result<Option<String>, Failure> {
        let text = match &self.password_file {
            Some(path) => {
                let text = String::from_utf8(contents(path)?);
                let text = text.map_err(|_| Failure::about(path.display(), "it is no UTF-8"))?;
                text.lines().next().unwrap_or_default().to_owned()
            }
            None => match std::env::var(PASSWORD_VARIABLE) {
                Ok(text) => text,
                Err(_) => return Ok(None),
            },
        };
        if text.is_empty() {
            let what = "the password is empty; without one, name no file and no variable";
            return Err(Failure::Message(what.to_owned()));
        }
        Ok(Some(text))
    }

    /// What a user should know who lets everybody in.
    pub fn note(&self, has_password: bool) -> Option<&'static str> {
        let is_open = |address: &String| {
            let found = address.to_socket_addrs().into_iter().flatten();
            found.into_iter().any(|address| !address.ip().is_loopback())
        };
        let address = self.postgres.as_ref().or(self.mysql.as_ref());
        let is_trusting = !has_password && address.is_some_and(is_open);
        is_trusting.then_some(
            "note: anybody who reaches this address can connect; --password-file changes that\n",
        )
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::about(path.display(), error))
}

/// Runs the statements of a file, all or none.
fn initialize(cluster: &Arc<Cluster>, path: &Path) -> Result<(), Failure> {
    let text = String::from_utf8(contents(path)?)
        .map_err(|_| Failure::about(path.display(), "it is no UTF-8"))?;
    match on_a_large_stack(|| run(cluster, &text))? {
        Some(error) => Err(Failure::Message(located(path, &text, &error))),
        None => Ok(()),
    }
}

fn run(cluster: &Arc<Cluster>, text: &str) -> Option<SqlError> {
    match Session::connect(cluster, DATABASE, USER) {
        Ok(mut session) => session.simple(text).1,
        Err(error) => Some(error),
    }
}

/// Statements get the stack that they have when a client sends them.
fn on_a_large_stack<T: Send>(act: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, act);
        let thread = thread.map_err(|error| Failure::about("cannot start a thread", error))?;
        thread.join().map_err(|_| Failure::Message("a statement ended by a panic".to_owned()))
    })
}

/// An error with the line that it is about.
fn located(path: &Path, text: &str, error: &SqlError) -> String {
    let fields = error.fields();
    let line = fields.position.map_or(String::new(), |position| {
        let before = text.chars().take(position.saturating_sub(1) as usize);
        format!(":{}", before.filter(|&c| c == '\n').count() + 1)
    });
    let detail = fields.detail.as_ref().map_or(String::new(), |detail| format!(" ({detail})"));
    let (code, message) = (fields.code, &fields.message);
    format!("{}{line}: {message}{detail} [{code}]", path.display())
}
