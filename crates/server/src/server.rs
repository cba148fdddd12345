//! A server from its first breath to its last.

use crate::cells::StoreCells;
use crate::config::Config;
use crate::http::{self, Guard};
use crate::hub::Hub;
use crate::mysql::{Mysql, MysqlConfig};
use crate::postgres::{Postgres, PostgresConfig, Registry};
use seriatim_history::History;
use seriatim_sql::database::Cluster;
use seriatim_store::StoreError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be used.
    #[error(
        "cannot listen on {address}: {source}; name a free address like 127.0.0.1:8080, or port 0 \
         for any free port"
    )]
    Bind {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives us no threads.
    #[error("cannot start threads for the server: {0}")]
    Threads(io::Error),
    /// A store cannot work like that.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that listens. What comes before [`Server::run`] waits.
pub struct Server {
    runtime: Runtime,
    http: Option<(TcpListener, SocketAddr)>,
    postgres: Option<Postgres>,
    mysql: Option<Mysql>,
    hub: Arc<Hub>,
    stop: watch::Sender<bool>,
}

/// Tells a server to stop, from any thread and at any time.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    pub(crate) fn new(stop: watch::Sender<bool>) -> Stopper {
        Stopper(stop)
    }

    /// From now on no connection is accepted; requests that have arrived are answered.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Counts the clients of a protocol.
#[derive(Clone)]
pub struct Visitors(Arc<Registry>);

impl Visitors {
    /// How many have had a session since the server began.
    pub fn count(&self) -> u64 {
        self.0.served()
    }
}

impl fmt::Debug for Visitors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Visitors({})", self.count())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("http", &self.http_address())
            .field("postgres", &self.postgres_address())
            .field("mysql", &self.mysql_address())
            .finish_non_exhaustive()
    }
}

impl Server {
    /// A server that listens for HTTP on `address`, a host and a port; port 0 is any free port.
    pub fn bind(address: &str, config: Config) -> Result<Server, ServeError> {
        Server::new(config)?.with_http(address)
    }

    /// A server that does not listen yet.
    pub fn new(config: Config) -> Result<Server, ServeError> {
        let hub = Arc::new(Hub::new(&config)?);
        let runtime =
            Builder::new_multi_thread().enable_all().build().map_err(ServeError::Threads)?;
        let (http, postgres, mysql) = (None, None, None);
        Ok(Server { runtime, http, postgres, mysql, hub, stop: watch::Sender::new(false) })
    }

    /// Listens for HTTP.
    pub fn with_http(mut self, address: &str) -> Result<Server, ServeError> {
        let bound = self.runtime.block_on(TcpListener::bind(address));
        let bound =
            bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
        self.http = Some(bound.map_err(|source| unusable(address, source))?);
        Ok(self)
    }

    /// Listens for clients of PostgreSQL, which get what is in `cluster`.
    pub fn with_postgres(
        mut self,
        address: &str,
        cluster: Arc<Cluster>,
        config: PostgresConfig,
    ) -> Result<Server, ServeError> {
        let bound = self.runtime.block_on(Postgres::bind(address, cluster, config));
        self.postgres = Some(bound.map_err(|source| unusable(address, source))?);
        Ok(self)
    }

    /// Listens for clients of MySQL, which get what is in `cluster`.
    pub fn with_mysql(
        mut self,
        address: &str,
        cluster: Arc<Cluster>,
        config: MysqlConfig,
    ) -> Result<Server, ServeError> {
        let bound = self.runtime.block_on(Mysql::bind(address, cluster, config));
        self.mysql = Some(bound.map_err(|source| unusable(address, source))?);
        Ok(self)
    }

    /// Shows the store of SQL on the page, and not that of HTTP.
    pub fn watching(self, cells: Arc<StoreCells>) -> Server {
        self.hub.watch(cells);
        self
    }

    /// Where it listens for clients of MySQL.
    pub fn mysql_address(&self) -> Option<SocketAddr> {
        self.mysql.as_ref().map(Mysql::address)
    }

    /// Who counts the clients of MySQL.
    pub fn mysql_visitors(&self) -> Option<Visitors> {
        self.mysql.as_ref().map(|mysql| Visitors(mysql.registry()))
    }

    /// Where it listens for HTTP.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(|(_, address)| *address)
    }

    /// Where it listens for clients of PostgreSQL.
    pub fn postgres_address(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().map(Postgres::address)
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped. Transactions that are open then abort. Returns what happened:
    /// every commit that a client was told of is in it, unless it lies behind the horizon.
    pub fn run(self) -> History {
        let Server { runtime, http, postgres, mysql, hub, stop } = self;
        runtime.spawn(end_idle_sessions(Arc::clone(&hub)));
        runtime.spawn(stop_waiting(Arc::clone(&hub), stop.subscribe()));
        let postgres = postgres.map(|postgres| runtime.spawn(postgres.accept(stop.subscribe())));
        let mysql = mysql.map(|mysql| runtime.spawn(mysql.accept(stop.subscribe())));
        let left = runtime.block_on(async {
            let left = match http {
                Some((listener, address)) => {
                    let may_ask = Guard { is_local: address.ip().is_loopback() };
                    let router = http::router(Arc::clone(&hub), may_ask);
                    Some(http::accept(listener, router, stop.subscribe()).await)
                }
                None => None,
            };
            for sessions in [postgres, mysql].into_iter().flatten() {
                // It ends by itself when the server is told to stop.
                let _ = sessions.await;
            }
            left
        });
        // In this order: a client that is still connected must not commit something that the
        // history does not have.
        hub.close();
        drop(left);
        runtime.shutdown_background();
        hub.history()
    }
}

pub(crate) fn unusable(address: &str, source: io::Error) -> ServeError {
    ServeError::Bind { address: address.to_owned(), source }
}

/// When the server is told to stop, the clients that wait for their turn must not wait for it any
/// more.
async fn stop_waiting(hub: Arc<Hub>, mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|&stop| stop).await.is_ok() {
        hub.stop_waiting();
    }
}

/// Goes on until the runtime ends.
async fn end_idle_sessions(hub: Arc<Hub>) {
    loop {
        tokio::time::sleep(hub.idle_rounds()).await;
        hub.end_idle();
    }
}
