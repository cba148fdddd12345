//! A database for one run: a copy of the state that the set-up left, on a store and a port of its
//! own.

use crate::error::TrialError;
use seriatim_isolation::{Level, Order};
use seriatim_server::cells::{self, StoreCells};
use seriatim_server::holding::{HOLD_MAX, Holder, Holding};
use seriatim_server::mysql::MysqlConfig;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{Config, Server, Stopper};
use seriatim_sql::cells::{CellStore, TxnLevel};
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_store::{Chooser, Node};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

/// How long a transaction waits for its turn: a test that needs two at a time waits in vain.
const TURN_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(2);
/// Any free port of this machine.
const ANY_PORT: &str = "127.0.0.1:0";

/// Which protocol a command is told of.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Protocol {
    /// PostgreSQL's.
    #[default]
    Postgres,
    /// MySQL's.
    Mysql,
}

/// Which database a command meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Any database that keeps a level.
    Level {
        /// The level.
        level: Level,
        /// Which transactions a later one must see.
        order: Order,
    },
    /// One node of a server, on which only timing is free. Transactions have the level that they
    /// ask for, or else this one.
    Node(Node, Level),
    /// One that is serializable and returns the latest versions.
    Serializable,
    /// One that runs transactions one at a time: nobody is refused.
    Serial,
}

impl Family {
    /// The protocol that its clients speak, unless they are told otherwise.
    pub fn protocol(self) -> Protocol {
        match self {
            Family::Node(Node::Mysql, _) => Protocol::Mysql,
            _ => Protocol::Postgres,
        }
    }

    /// The level of transactions of MySQL that ask for none.
    fn mysql_level(self) -> Option<TxnLevel> {
        match self {
            Family::Node(Node::Mysql, Level::Serializable) => Some(TxnLevel::Serializable),
            Family::Node(Node::Mysql, Level::ReadCommitted) => Some(TxnLevel::ReadCommitted),
            Family::Node(Node::Mysql, _) => Some(TxnLevel::RepeatableRead),
            _ => None,
        }
    }

    /// What to tell people that it is.
    pub fn text(self) -> String {
        match self {
            Family::Level { level, .. } => format!("any database that keeps {level}"),
            Family::Node(Node::Postgres, level) => {
                format!("{} on one PostgreSQL server", setting(level))
            }
            Family::Node(Node::Mysql, level) => format!("{} on one MySQL server", setting(level)),
            Family::Node(_, level) => format!("{} on one server", setting(level)),
            Family::Serializable | Family::Serial => "a serializable database".to_owned(),
        }
    }

    /// What a level is called there.
    pub fn level_name(self, level: Level) -> String {
        match self {
            Family::Node(..) => setting(level).to_owned(),
            _ => level.to_string(),
        }
    }

    fn config(self) -> Config {
        let (level, order, node) = match self {
            Family::Level { level, order } => (level, order, None),
            Family::Node(node, level) => (level, Order::default(), Some(node)),
            Family::Serializable | Family::Serial => (Level::Serializable, Order::RealTime, None),
        };
        let (serial, turn_wait_max) = (self == Family::Serial, TURN_WAIT_MAX);
        Config { level, order, node, serial, turn_wait_max, ..Config::default() }
    }

    /// Whether transactions get its level whatever they ask for.
    fn is_forced(self) -> bool {
        matches!(self, Family::Serializable | Family::Serial)
    }
}

/// What servers call a level.
fn setting(level: Level) -> &'static str {
    match level {
        Level::SnapshotIsolation => "REPEATABLE READ",
        Level::Serializable => "SERIALIZABLE",
        _ => "READ COMMITTED",
    }
}

/// What the set-up left behind.
#[derive(Debug)]
pub struct State(Cluster);

impl State {
    /// Nothing.
    pub fn empty() -> State {
        State(Cluster::new(Arc::new(Memory::default())))
    }

    /// What is committed in a cluster, from now on the initial state.
    pub(crate) fn of(mut cluster: Cluster) -> Result<State, TrialError> {
        let settled = cluster.settle(Arc::new(Memory::default()));
        settled.map_err(|error| TrialError::State(error.to_string()))?;
        Ok(State(cluster))
    }

    pub(crate) fn copy(&self, store: Arc<dyn CellStore>) -> Cluster {
        self.0.copy(store)
    }
}

/// Something that is added to statements, to see what that would change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addition {
    /// Statements of this shape, see [`seriatim_sql::parse::shape`].
    pub shape: String,
    /// What is added.
    pub text: String,
}

/// What is added to a statement that is to lock what it reads.
pub(crate) const FOR_UPDATE: &str = "FOR UPDATE";

impl Addition {
    /// A lock on what statements like this one read.
    pub fn for_update(statement: &str) -> Addition {
        Addition { shape: seriatim_sql::parse::shape(statement), text: FOR_UPDATE.to_owned() }
    }
}

/// Who decides what is free in a run: which versions reads return, and which statements are held.
pub struct Deciders {
    /// Picks versions.
    pub chooser: Box<dyn Chooser>,
    /// Holds statements, if they are to be held.
    pub holder: Option<Box<dyn Holder>>,
}

impl Deciders {
    /// Nothing is held.
    pub fn choosing(chooser: impl Chooser + 'static) -> Deciders {
        Deciders { chooser: Box::new(chooser), holder: None }
    }
}

impl std::fmt::Debug for Deciders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deciders").field("holds", &self.holder.is_some()).finish_non_exhaustive()
    }
}

/// A server that runs.
pub(crate) struct Place {
    address: SocketAddr,
    mysql_address: SocketAddr,
    pub cluster: Arc<Cluster>,
    /// Holds its statements.
    pub holding: Option<Arc<Holding>>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Place {
    fn open(
        cluster: Cluster,
        config: Config,
        default_level: Option<TxnLevel>,
        additions: &[Addition],
        holder: Option<Box<dyn Holder>>,
    ) -> Result<Place, TrialError> {
        let cluster = Arc::new(cluster);
        let additions: Vec<(String, String)> =
            additions.iter().map(|it| (it.shape.clone(), it.text.clone())).collect();
        let holding = holder.map(|holder| Arc::new(Holding::new(holder, HOLD_MAX)));
        let mysql = MysqlConfig {
            additions: additions.clone(),
            holding: holding.clone(),
            default_level,
            ..MysqlConfig::default()
        };
        let postgres =
            PostgresConfig { additions, holding: holding.clone(), ..PostgresConfig::default() };
        let server = Server::new(config)?
            .with_postgres(ANY_PORT, Arc::clone(&cluster), postgres)?
            .with_mysql(ANY_PORT, Arc::clone(&cluster), mysql)?;
        let unknown = || TrialError::State("the server does not know where it listens".to_owned());
        let address = server.postgres_address().ok_or_else(unknown)?;
        let mysql_address = server.mysql_address().ok_or_else(unknown)?;
        let stopper = server.stopper();
        let thread = std::thread::Builder::new().spawn(move || {
            server.run();
        })?;
        Ok(Place { address, mysql_address, cluster, holding, stopper, thread: Some(thread) })
    }

    /// A database that remembers what is done, for the set-up.
    pub fn for_set_up() -> Result<Place, TrialError> {
        let cluster = Cluster::new(Arc::new(Memory::default()));
        Place::open(cluster, Config::default(), None, &[], None)
    }

    /// A copy of a state, of a family, with those who decide what is free.
    pub fn of(
        state: &State,
        family: Family,
        deciders: Deciders,
        additions: &[Addition],
    ) -> Result<(Place, Arc<StoreCells>), TrialError> {
        let config = family.config();
        let store = cells::with_chooser(&config, deciders.chooser, family.is_forced())?;
        let store = Arc::new(store);
        let cluster = state.copy(Arc::clone(&store) as Arc<dyn CellStore>);
        let level = family.mysql_level();
        Ok((Place::open(cluster, config, level, additions, deciders.holder)?, store))
    }

    /// Where it is, for commands: the variables of both protocols, and URLs of the one that is
    /// meant.
    pub fn variables(&self, protocol: Protocol) -> Vec<(String, String)> {
        let (host, port) = (self.address.ip(), self.address.port());
        let mysql_port = self.mysql_address.port();
        let url = match protocol {
            Protocol::Postgres => format!("postgresql://postgres@{host}:{port}/postgres"),
            Protocol::Mysql => format!("mysql://root:root@{host}:{mysql_port}/test"),
        };
        let all = [
            ("DATABASE_URL", url.clone()),
            ("SERIATIM_URL", url),
            ("PGHOST", host.to_string()),
            ("PGHOSTADDR", host.to_string()),
            ("PGPORT", port.to_string()),
            ("PGUSER", "postgres".to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
            ("PGPASSWORD", "postgres".to_owned()),
            ("PGSSLMODE", "disable".to_owned()),
            ("MYSQL_HOST", host.to_string()),
            ("MYSQL_TCP_PORT", mysql_port.to_string()),
            ("MYSQL_PORT", mysql_port.to_string()),
            ("MYSQL_USER", "root".to_owned()),
            ("MYSQL_PASSWORD", "root".to_owned()),
            ("MYSQL_PWD", "root".to_owned()),
            ("MYSQL_DATABASE", "test".to_owned()),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Ends it; what it served.
    pub fn close(mut self) -> Result<Cluster, TrialError> {
        self.end();
        let cluster = Arc::clone(&self.cluster);
        drop(self);
        let shared = || TrialError::State("a session has not ended".to_owned());
        // The threads of sessions let go of it a moment after they have ended.
        let mut cluster = cluster;
        for _ in 0..CLOSE_LOOKS {
            cluster = match Arc::try_unwrap(cluster) {
                Ok(cluster) => return Ok(cluster),
                Err(shared) => shared,
            };
            std::thread::sleep(CLOSE_PAUSE);
        }
        Err(shared())
    }

    fn end(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How often, and how long, to wait for the last threads of a server.
const CLOSE_LOOKS: u32 = 500;
const CLOSE_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

impl Drop for Place {
    fn drop(&mut self) {
        self.end();
    }
}
