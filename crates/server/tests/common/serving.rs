//! A PostgreSQL server inside of a test.

#![allow(dead_code)]

use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{Config, Server, Stopper};
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};

/// A server that ends with the test.
pub struct Serving {
    pub address: SocketAddr,
    pub cluster: Arc<Cluster>,
    pub stopper: Stopper,
    running: Option<JoinHandle<()>>,
}

impl Serving {
    /// On tables in memory.
    pub fn new(config: PostgresConfig) -> Serving {
        Serving::on(Cluster::new(Arc::new(Memory::default())), config)
    }

    pub fn on(cluster: Cluster, config: PostgresConfig) -> Serving {
        let cluster = Arc::new(cluster);
        let server = Server::new(Config::default()).unwrap();
        let server = server.with_postgres("127.0.0.1:0", Arc::clone(&cluster), config).unwrap();
        let (address, stopper) = (server.postgres_address().unwrap(), server.stopper());
        let running = std::thread::spawn(move || {
            server.run();
        });
        Serving { address, cluster, stopper, running: Some(running) }
    }

    pub fn plain() -> Serving {
        Serving::new(PostgresConfig::default())
    }

    pub fn sessions(&self) -> u32 {
        self.cluster.database("postgres").unwrap().connections.load(Ordering::SeqCst)
    }

    /// Waits until all sessions have ended.
    pub fn wait_for_no_session(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.sessions() > 0 {
            assert!(Instant::now() < until, "{} sessions are left", self.sessions());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Does something with a real client.
    pub fn with_client<T>(&self, act: impl AsyncFnOnce(&mut Client) -> T) -> T {
        run(async {
            let settings = format!("host=127.0.0.1 port={} user=postgres", self.address.port());
            let (mut client, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            let result = act(&mut client).await;
            drop(client);
            connection.await.unwrap().unwrap();
            result
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(running) = self.running.take() {
            running.join().unwrap();
        }
    }
}

pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}
