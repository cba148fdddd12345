//! SQL over the network, as MySQL speaks it, or rather MariaDB: clients of both connect to this
//! server.
//!
//! `auth.rs` comes first, then `connection.rs` with the commands. `frontend.rs` reads what clients
//! send and trusts nothing; `answer.rs` writes what they are told. `session.rs` is a session with
//! its variables and transactions, and `dialect/` translates MySQL's SQL to that of
//! `seriatim-sql`. Databases are schemas of one database there.

mod answer;
mod auth;
mod binary;
mod config;
mod connection;
mod dialect;
mod error;
pub mod frontend;
mod packet;
mod session;
mod show;
mod statements;
mod variables;

pub use auth::NativePassword;
pub use config::MysqlConfig;

use crate::postgres::{Admitted, Registry, STACK_BYTES};
use seriatim_sql::SqlError;
use seriatim_sql::catalog::{Object, Schema};
use seriatim_sql::database::Cluster;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use variables::Globals;

/// The version that clients are told.
pub(crate) const VERSION: &str = "10.11.6-MariaDB-seriatim";
/// How long sessions may take to end when the server stops.
const END_WAIT_MAX: Duration = Duration::from_secs(5);
/// When accepting fails (no file is left, say): how long until it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What connections share.
pub(crate) struct Shared {
    cluster: Arc<Cluster>,
    config: MysqlConfig,
    registry: Arc<Registry>,
    globals: Arc<Globals>,
}

/// A listener for clients of MySQL.
pub(crate) struct Mysql {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// Makes the database that clients find, without a session: the history has none of ours.
fn prepare(cluster: &Cluster, name: &str) -> Result<(), SqlError> {
    let database = cluster.database(connection::DATABASE)?;
    if database.catalog().schema(name).is_none() {
        let oid = database.new_oid();
        let made = Object::Schema(Arc::new(Schema { oid, name: name.into() }));
        database.change_catalog(|catalog| catalog.put(oid, made));
    }
    Ok(())
}

impl Mysql {
    pub async fn bind(
        address: &str,
        cluster: Arc<Cluster>,
        config: MysqlConfig,
    ) -> io::Result<Mysql> {
        prepare(&cluster, &config.database).map_err(io::Error::other)?;
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let registry = Arc::new(Registry::new(config.connections_max, config.startup_wait_max));
        let globals = Arc::new(Globals::default());
        if let Some(level) = config.default_level {
            globals.set("transaction_isolation", session::level_name(level).to_owned());
        }
        if config.snapshot_isolation {
            globals.set("innodb_snapshot_isolation", "ON".to_owned());
        }
        let shared = Arc::new(Shared { cluster, config, registry, globals });
        Ok(Mysql { listener, address, shared })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.shared.registry)
    }

    /// Serves connections until `stop` is true; sessions that are open then end with 1053.
    pub async fn accept(self, mut stop: watch::Receiver<bool>) {
        let Mysql { listener, shared, .. } = self;
        let registry = Arc::clone(&shared.registry);
        // Without the thread nobody notices clients that leave while a statement runs.
        let watched = Arc::clone(&registry);
        let _ =
            thread::Builder::new().name("mysql watch".to_owned()).spawn(move || watched.watch());
        loop {
            tokio::select! {
                () = stopped(&mut stop) => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => serve(stream, &shared),
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                }
            }
        }
        drop(listener);
        let _ = tokio::task::spawn_blocking(move || registry.stop(END_WAIT_MAX)).await;
    }
}

/// Ends also if the sender that could say stop is gone: that says it, too.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|&stop| stop).await;
}

/// Gives a connection its thread. If there is none, or there are far too many connections, it is
/// closed: there is nothing to answer with.
fn serve(stream: TcpStream, shared: &Arc<Shared>) {
    let Ok(stream) = stream.into_std() else { return };
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    let Some(admitted) = shared.registry.admit(stream) else { return };
    let shared = Arc::clone(shared);
    let _ = thread::Builder::new()
        .name("mysql session".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || run(&admitted, &shared));
}

fn run(admitted: &Admitted, shared: &Shared) {
    connection::converse(admitted, shared);
}
