//! A server from its first breath to its last.

use crate::config::Config;
use crate::http;
use crate::hub::Hub;
use seriatim_history::History;
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
    listener: TcpListener,
    address: SocketAddr,
    hub: Arc<Hub>,
    stop: watch::Sender<bool>,
}

/// Tells a server to stop, from any thread and at any time.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// From now on no connection is accepted; requests that have arrived are answered.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens on `address`, a host and a port; port 0 is any free port.
    pub fn bind(address: &str, config: Config) -> Result<Server, ServeError> {
        let hub = Arc::new(Hub::new(&config)?);
        let runtime =
            Builder::new_multi_thread().enable_all().build().map_err(ServeError::Threads)?;
        let bound = runtime.block_on(TcpListener::bind(address));
        let bound =
            bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
        let (listener, address) =
            bound.map_err(|source| ServeError::Bind { address: address.to_owned(), source })?;
        Ok(Server { runtime, listener, address, hub, stop: watch::Sender::new(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped. Transactions that are open then abort. Returns what happened:
    /// every commit that a client was told of is in it, unless it lies behind the horizon.
    pub fn run(self) -> History {
        let Server { runtime, listener, hub, stop, .. } = self;
        runtime.spawn(end_idle_sessions(Arc::clone(&hub)));
        runtime.spawn(stop_waiting(Arc::clone(&hub), stop.subscribe()));
        let router = http::router(Arc::clone(&hub));
        let left = runtime.block_on(http::accept(listener, router, stop.subscribe()));
        // In this order: a client that is still connected must not commit something that the
        // history does not have.
        hub.close();
        drop(left);
        runtime.shutdown_background();
        hub.history()
    }
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
