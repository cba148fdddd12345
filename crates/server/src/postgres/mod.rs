//! SQL over the network, as PostgreSQL speaks it: clients of PostgreSQL connect to this server and
//! cannot tell it from one.
//!
//! `startup.rs` comes first (encryption, password, parameters), then `connection.rs` with the
//! simple protocol, `extended.rs` with prepared statements and `copy.rs`. The messages that are
//! sent are those of `pgwire`; those that arrive are read by `frontend.rs`, which trusts nothing.
//! `registry.rs` knows all connections: it cancels statements and ends sessions.

mod bell;
mod config;
mod connection;
mod copy;
mod extended;
pub mod frontend;
mod password;
mod registry;
mod report;
mod rows;
mod startup;
mod stream;
mod tls;
mod wire;

pub use config::PostgresConfig;
pub(crate) use config::completed;
pub use password::Password;
pub use tls::{Tls, TlsError};

pub(crate) use registry::{Admitted, Registry, Seat};
pub(crate) use stream::{Socket, Stream};

use seriatim_sql::database::Cluster;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a session may take of the stack, of which only what is used costs memory: statements are
/// nested as deep as their limits allow.
pub const STACK_BYTES: usize = 64 << 20;
/// How long sessions may take to end when the server stops.
const END_WAIT_MAX: Duration = Duration::from_secs(5);
/// When accepting fails (no file is left, say): how long until it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What connections share.
pub(crate) struct Shared {
    cluster: Arc<Cluster>,
    config: PostgresConfig,
    registry: Arc<Registry>,
}

/// A listener for clients of PostgreSQL.
pub(crate) struct Postgres {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Postgres {
    pub async fn bind(
        address: &str,
        cluster: Arc<Cluster>,
        config: PostgresConfig,
    ) -> io::Result<Postgres> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let registry = Arc::new(Registry::new(config.connections_max, config.startup_wait_max));
        Ok(Postgres { listener, address, shared: Arc::new(Shared { cluster, config, registry }) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves connections until `stop` is true; sessions that are open then end with 57P01.
    pub async fn accept(self, mut stop: watch::Receiver<bool>) {
        let Postgres { listener, shared, .. } = self;
        let registry = Arc::clone(&shared.registry);
        // Without the thread nobody notices clients that leave while a statement runs.
        let watched = Arc::clone(&registry);
        let _ =
            thread::Builder::new().name("postgres watch".to_owned()).spawn(move || watched.watch());
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
        .name("postgres session".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || run(admitted, &shared));
}

fn run(admitted: Admitted, shared: &Shared) {
    connection::converse(&admitted, shared);
}
