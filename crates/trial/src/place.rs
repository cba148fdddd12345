//! A database for one run: a copy of the state that the set-up left, on a store and a port of its
//! own.

use crate::error::TrialError;
use seriatim_isolation::{Level, Order};
use seriatim_server::cells::{self, StoreCells};
use seriatim_server::holding::{Holder, Holding, OnSwitch, Step, StepScript};
use seriatim_server::mysql::MysqlConfig;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{Config, Refusals, Server, Stopper, Visitors};
use seriatim_sql::cells::{CellStore, TxnLevel};
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_store::{Chooser, Node, TxnName};
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

    /// Whether transactions always get its level.
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
    pub added: Added,
}

/// What is added to statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Added {
    /// Words at the end.
    Words(String),
    /// A level, of the transactions that begin with such a statement.
    Level(TxnLevel),
}

/// What is added to a statement that is to lock what it reads.
const FOR_UPDATE: &str = "FOR UPDATE";

impl Addition {
    /// A lock on what statements like this one read.
    pub fn for_update(statement: &str) -> Addition {
        let added = Added::Words(FOR_UPDATE.to_owned());
        Addition { shape: seriatim_sql::parse::shape(statement), added }
    }

    /// SERIALIZABLE for transactions that begin with statements like this one.
    pub fn serializable(statement: &str) -> Addition {
        let added = Added::Level(TxnLevel::Serializable);
        Addition { shape: seriatim_sql::parse::shape(statement), added }
    }

    fn words(&self) -> Option<(String, String)> {
        match &self.added {
            Added::Words(text) => Some((self.shape.clone(), text.clone())),
            Added::Level(_) => None,
        }
    }

    fn level(&self) -> Option<(String, TxnLevel)> {
        match self.added {
            Added::Words(_) => None,
            Added::Level(level) => Some((self.shape.clone(), level)),
        }
    }
}

/// Who decides what is free in a run: which versions reads return, and when statements run.
pub struct Deciders {
    /// Picks versions.
    pub chooser: Box<dyn Chooser>,
    /// When statements run.
    pub timing: Timing,
    /// The number of the run, which the command is told: it may decide what the command does.
    pub number: u64,
}

/// When the statements of a run run.
pub enum Timing {
    /// As they arrive.
    Free,
    /// One at a time, and some are held.
    Held(Box<dyn Holder>),
    /// In this order.
    Kept(Vec<Step>),
    /// In this order, with a pause before each client that goes on where another one was.
    Paused(Vec<Step>, OnSwitch),
    /// One transaction at a time, in this order.
    InTurn(Vec<TxnName>),
}

impl std::fmt::Debug for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Timing::Free => "Free",
            Timing::Held(_) => "Held",
            Timing::Kept(_) => "Kept",
            Timing::Paused(..) => "Paused",
            Timing::InTurn(_) => "InTurn",
        })
    }
}

impl Timing {
    fn holding(self, clients: usize) -> Option<Holding> {
        match self {
            Timing::Free | Timing::InTurn(_) => None,
            Timing::Held(holder) => {
                let most = holder.most();
                Some(Holding::new(holder, most).gathering(clients))
            }
            Timing::Kept(steps) => Some(Holding::following(StepScript::new(steps))),
            Timing::Paused(steps, on_switch) => {
                Some(Holding::following(StepScript::new(steps)).pausing(on_switch))
            }
        }
    }
}

impl Deciders {
    /// Nothing is held.
    pub fn choosing(chooser: impl Chooser + 'static) -> Deciders {
        Deciders { chooser: Box::new(chooser), timing: Timing::Free, number: 0 }
    }

    /// The same for the run of this number.
    pub fn of_run(self, number: u64) -> Deciders {
        Deciders { number, ..self }
    }
}

impl std::fmt::Debug for Deciders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deciders").field("timing", &self.timing).finish_non_exhaustive()
    }
}

/// What a run is given, beside those who decide.
pub(crate) struct Terms<'a> {
    pub family: Family,
    /// What is added to statements.
    pub additions: &'a [Addition],
    /// How many processes there are at once.
    pub clients: u32,
    /// Whether statements lock rows and tables; in the paper they do not.
    pub uses_locks: bool,
    /// Whether transactions have the level of the family whatever they ask for.
    pub forces_level: bool,
    /// Whether InnoDB refuses to change what has changed since the snapshot.
    pub innodb_snapshot_isolation: bool,
}

/// A server that runs.
pub(crate) struct Place {
    address: SocketAddr,
    mysql_address: SocketAddr,
    mysql_visitors: Visitors,
    refusals: Refusals,
    pub cluster: Arc<Cluster>,
    /// When its statements run.
    pub holding: Option<Arc<Holding>>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Place {
    fn open(
        cluster: Cluster,
        config: Config,
        terms: &Terms<'_>,
        holding: Option<Holding>,
    ) -> Result<Place, TrialError> {
        let cluster = Arc::new(cluster);
        let (uses_locks, refusals) = (terms.uses_locks, Refusals::default());
        let additions: Vec<(String, String)> =
            terms.additions.iter().filter_map(Addition::words).collect();
        let holding = holding.map(Arc::new);
        let mysql = MysqlConfig {
            additions: additions.clone(),
            holding: holding.clone(),
            default_level: terms.family.mysql_level(),
            is_level_forced: terms.forces_level,
            snapshot_isolation: terms.innodb_snapshot_isolation,
            refusals: refusals.clone(),
            uses_locks,
            ..MysqlConfig::default()
        };
        let postgres = PostgresConfig {
            additions,
            holding: holding.clone(),
            uses_locks,
            refusals: refusals.clone(),
            ..PostgresConfig::default()
        };
        let server = Server::new(config)?
            .with_postgres(ANY_PORT, Arc::clone(&cluster), postgres)?
            .with_mysql(ANY_PORT, Arc::clone(&cluster), mysql)?;
        let unknown = || TrialError::State("the server does not know where it listens".to_owned());
        let address = server.postgres_address().ok_or_else(unknown)?;
        let mysql_address = server.mysql_address().ok_or_else(unknown)?;
        let mysql_visitors = server.mysql_visitors().ok_or_else(unknown)?;
        let stopper = server.stopper();
        let thread = std::thread::Builder::new().spawn(move || {
            server.run();
        })?;
        Ok(Place {
            address,
            mysql_address,
            mysql_visitors,
            refusals,
            cluster,
            holding,
            stopper,
            thread: Some(thread),
        })
    }

    /// A database that remembers what is done, for the set-up.
    pub fn for_set_up() -> Result<Place, TrialError> {
        let cluster = Cluster::new(Arc::new(Memory::default()));
        let terms = Terms {
            family: Family::Serial,
            additions: &[],
            clients: 1,
            uses_locks: true,
            forces_level: false,
            innodb_snapshot_isolation: false,
        };
        Place::open(cluster, Config::default(), &terms, None)
    }

    /// A copy of a state, with those who decide what is free.
    pub fn of(
        state: &State,
        terms: &Terms<'_>,
        deciders: Deciders,
    ) -> Result<(Place, Arc<StoreCells>), TrialError> {
        let mut config = terms.family.config();
        if let Timing::InTurn(order) = &deciders.timing {
            config.turns = Some(order.clone());
        }
        let is_forced = terms.forces_level || terms.family.is_forced();
        let store = cells::with_chooser(&config, deciders.chooser, is_forced)?;
        let store = Arc::new(store);
        let mut cluster = state.copy(Arc::clone(&store) as Arc<dyn CellStore>);
        cluster.raised = terms.additions.iter().filter_map(Addition::level).collect();
        let holding = deciders.timing.holding(terms.clients as usize);
        Ok((Place::open(cluster, config, terms, holding)?, store))
    }

    /// How often clients were told to try again.
    pub fn refusals(&self) -> u64 {
        self.refusals.count()
    }

    /// How many clients of MySQL there have been.
    pub fn mysql_sessions(&self) -> u64 {
        self.mysql_visitors.count()
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
