//! What statements are asked of: the mock, in this process, at serializability and with the latest
//! versions, or a real PostgreSQL, whose address is in a variable of the environment.

#![allow(dead_code)]

use crate::frames::{Frame, Frames, error_field, frame};
use seriatim_isolation::Level;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{ChooserKind, Config, Server, Stopper, cells};
use seriatim_sql::database::Cluster;
use std::fmt;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The URL of a real server, in which databases may be made and dropped.
pub const REAL: &str = "SERIATIM_TEST_PG";

/// The SQLSTATE of a connection that has ended.
pub const LOST: &str = "08006";

/// A server.
pub struct Target {
    /// `seriatim` or `postgresql`: what `skipif` and `onlyif` name.
    pub engine: &'static str,
    address: SocketAddr,
    user: String,
    running: Option<(Stopper, JoinHandle<()>)>,
}

impl Target {
    /// The mock as `serve --postgres --level ser --chooser latest` starts it.
    pub fn mock() -> Target {
        let level = Level::Serializable;
        let config = Config { level, chooser: ChooserKind::Latest, ..Config::default() };
        let store = cells::open(&config, false).unwrap();
        let cluster = Arc::new(Cluster::new(Arc::new(store)));
        let server = Server::new(config).unwrap();
        let server =
            server.with_postgres("127.0.0.1:0", cluster, PostgresConfig::default()).unwrap();
        let (address, stopper) = (server.postgres_address().unwrap(), server.stopper());
        let running = std::thread::spawn(move || {
            server.run();
        });
        Target::running(address, (stopper, running))
    }

    /// A mock that was started elsewhere, and ends with this.
    pub fn running(address: SocketAddr, running: (Stopper, JoinHandle<()>)) -> Target {
        let running = Some(running);
        Target { engine: "seriatim", address, user: "postgres".to_owned(), running }
    }

    /// The real server, if one is named. It must trust its user: passwords are not sent.
    pub fn real() -> Option<Target> {
        let Ok(url) = std::env::var(REAL) else {
            println!("skipped: {REAL} names no PostgreSQL");
            return None;
        };
        let config: tokio_postgres::Config = url.parse().expect("a URL of PostgreSQL");
        let [tokio_postgres::config::Host::Tcp(host)] = config.get_hosts() else {
            panic!("{REAL}: expected one host");
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let address = (host.as_str(), port).to_socket_addrs().unwrap().next().unwrap();
        let user = config.get_user().unwrap_or("postgres").to_owned();
        Some(Target { engine: "postgresql", address, user, running: None })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A session in a database.
    pub fn connect(&self, database: &str) -> Client {
        let parameters = [("user", self.user.as_str()), ("database", database)];
        let mut frames = Frames::asking(self.address, 3 << 16, &parameters);
        frames.until('Z');
        Client(frames)
    }

    /// A new database with the order of bytes as its order of texts.
    pub fn create_database(&self, name: &str) {
        let mut admin = self.connect("postgres");
        admin.run(&format!("DROP DATABASE IF EXISTS {name}")).unwrap();
        let like = "TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'";
        admin.run(&format!("CREATE DATABASE {name} {like}")).unwrap();
    }

    /// Drops a database whose sessions are about to end.
    pub fn drop_database(&self, name: &str) {
        let mut admin = self.connect("postgres");
        let _ = admin.run(&format!("DROP DATABASE {name} WITH (FORCE)"));
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((stopper, running)) = self.running.take() {
            stopper.stop();
            running.join().unwrap();
        }
    }
}

/// An error as a server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: String,
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}

/// What a statement gives: the last result, if there are several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Names and types; `None` if the statement has no result.
    pub columns: Option<Vec<(String, u32)>>,
    pub rows: Vec<Vec<Option<String>>>,
    pub tag: String,
    /// The types of parameters, if they were asked for.
    pub parameters: Vec<u32>,
}

/// A session.
pub struct Client(Frames);

impl Client {
    /// Runs a statement with the simple protocol.
    pub fn run(&mut self, sql: &str) -> Result<Answer, Refusal> {
        self.exchange(&frame(b'Q', &[sql.as_bytes(), b"\0"].concat()))
    }

    /// Sends messages that end with a sync; what comes back.
    pub fn exchange(&mut self, messages: &[u8]) -> Result<Answer, Refusal> {
        self.0.0.write_all(messages).map_err(lost)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer, Refusal> {
        let mut answer = Answer::default();
        let mut refusal = None;
        loop {
            let message = self.0.next().map_err(lost)?;
            match message.0 {
                't' => answer.parameters = parameters(&message.1),
                'T' => {
                    let parameters = std::mem::take(&mut answer.parameters);
                    let columns = Some(columns(&message.1));
                    answer = Answer { columns, parameters, ..Answer::default() };
                }
                'D' => answer.rows.push(row(&message.1)),
                'C' => {
                    let tag = String::from_utf8_lossy(&message.1[..message.1.len() - 1]);
                    if !tag.starts_with(answer.tag.as_str()) && answer.columns.is_some() {
                        answer = Answer::default();
                    }
                    answer.tag = tag.into_owned();
                }
                'E' => refusal = Some(refused(message)),
                'Z' => return refusal.map_or(Ok(answer), Err),
                _ => {}
            }
        }
    }
}

/// The session has ended.
fn lost(error: std::io::Error) -> Refusal {
    Refusal { code: LOST.to_owned(), message: error.to_string() }
}

fn refused(message: Frame) -> Refusal {
    let frames = [message];
    let field = |name| error_field(&frames, name).unwrap_or_default();
    Refusal { code: field('C'), message: field('M') }
}

/// The parts of a body that has a length before each of them.
struct Parts<'a>(&'a [u8]);

impl Parts<'_> {
    fn number<const BYTES: usize>(&mut self) -> i32 {
        let (bytes, rest) = self.0.split_at(BYTES);
        self.0 = rest;
        bytes.iter().fold(0, |sum, &byte| (sum << 8) | i32::from(byte))
    }

    fn text(&mut self, length: usize) -> String {
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

fn parameters(body: &[u8]) -> Vec<u32> {
    let mut parts = Parts(body);
    (0..parts.number::<2>()).map(|_| parts.number::<4>() as u32).collect()
}

fn columns(body: &[u8]) -> Vec<(String, u32)> {
    let mut parts = Parts(body);
    let column = |parts: &mut Parts<'_>| {
        let name = parts.text(parts.0.iter().position(|&byte| byte == 0).unwrap());
        // The end of the name, table, number of the column; then size, modifier and format.
        parts.0 = &parts.0[7..];
        let ty = parts.number::<4>();
        parts.0 = &parts.0[8..];
        (name, ty as u32)
    };
    (0..parts.number::<2>()).map(|_| column(&mut parts)).collect()
}

fn row(body: &[u8]) -> Vec<Option<String>> {
    let mut parts = Parts(body);
    let value = |parts: &mut Parts<'_>| match parts.number::<4>() {
        -1 => None,
        length => Some(parts.text(length as usize)),
    };
    (0..parts.number::<2>()).map(|_| value(&mut parts)).collect()
}
