//! A database for one run: a copy of the state that the set-up left, on a store and a port of its
//! own.

use crate::error::TrialError;
use seriatim_isolation::{Level, Order};
use seriatim_server::cells::{self, StoreCells};
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{Config, Server, Stopper};
use seriatim_sql::cells::CellStore;
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_store::Chooser;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Any free port of this machine.
const ANY_PORT: &str = "127.0.0.1:0";

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
    /// One that is serializable and returns the latest versions.
    Serializable,
}

impl Family {
    /// What to tell people that it is.
    pub fn text(self) -> String {
        match self {
            Family::Level { level, .. } => format!("any database that keeps {level}"),
            Family::Serializable => "a serializable database".to_owned(),
        }
    }

    fn config(self) -> Config {
        let (level, order) = match self {
            Family::Level { level, order } => (level, order),
            Family::Serializable => (Level::Serializable, Order::RealTime),
        };
        Config { level, order, ..Config::default() }
    }

    /// Whether transactions get its level whatever they ask for.
    fn is_forced(self) -> bool {
        self == Family::Serializable
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

/// A server that runs.
pub(crate) struct Place {
    pub address: SocketAddr,
    pub cluster: Arc<Cluster>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Place {
    fn open(cluster: Cluster, config: Config, additions: &[Addition]) -> Result<Place, TrialError> {
        let cluster = Arc::new(cluster);
        let additions = additions.iter().map(|it| (it.shape.clone(), it.text.clone())).collect();
        let postgres = PostgresConfig { additions, ..PostgresConfig::default() };
        let server =
            Server::new(config)?.with_postgres(ANY_PORT, Arc::clone(&cluster), postgres)?;
        let address = server.postgres_address().ok_or_else(|| {
            TrialError::State("the server does not know where it listens".to_owned())
        })?;
        let stopper = server.stopper();
        let thread = std::thread::Builder::new().spawn(move || {
            server.run();
        })?;
        Ok(Place { address, cluster, stopper, thread: Some(thread) })
    }

    /// A database that remembers what is done, for the set-up.
    pub fn for_set_up() -> Result<Place, TrialError> {
        let cluster = Cluster::new(Arc::new(Memory::default()));
        Place::open(cluster, Config::default(), &[])
    }

    /// A copy of a state, of a family, with somebody who picks versions.
    pub fn of(
        state: &State,
        family: Family,
        chooser: impl Chooser + 'static,
        additions: &[Addition],
    ) -> Result<(Place, Arc<StoreCells>), TrialError> {
        let config = family.config();
        let store = cells::with_chooser(&config, Box::new(chooser), family.is_forced())?;
        let store = Arc::new(store);
        let cluster = state.copy(Arc::clone(&store) as Arc<dyn CellStore>);
        Ok((Place::open(cluster, config, additions)?, store))
    }

    /// Where it is, for commands.
    pub fn variables(&self) -> Vec<(String, String)> {
        let (host, port) = (self.address.ip(), self.address.port());
        let url = format!("postgresql://postgres@{host}:{port}/postgres");
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
