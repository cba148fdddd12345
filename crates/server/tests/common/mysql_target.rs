//! What statements of MySQL are asked of: the mock, in this process, or a real MariaDB, whose
//! address is in a variable of the environment; and a small client for both.

#![allow(dead_code)]

use seriatim_server::mysql::MysqlConfig;
use seriatim_server::{Config, Server, Stopper};
use seriatim_sql::cells::CellStore;
use seriatim_sql::database::Cluster;
use sha1::{Digest, Sha1};
use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The URL of a real server, in which databases may be made and dropped:
/// `mysql://user:password@host:port`.
pub const REAL: &str = "SERIATIM_TEST_MYSQL";

/// A server.
pub struct Target {
    /// `seriatim` or `mariadb`: what `skipif` and `onlyif` name.
    pub engine: &'static str,
    address: SocketAddr,
    user: String,
    password: String,
    running: Option<(Stopper, JoinHandle<()>)>,
}

impl Target {
    /// A mock with this store.
    pub fn mock(store: Arc<dyn CellStore>, config: MysqlConfig) -> (Target, Arc<Cluster>) {
        let cluster = Arc::new(Cluster::new(store));
        let server = Server::new(Config::default()).unwrap();
        let server = server.with_mysql("127.0.0.1:0", Arc::clone(&cluster), config).unwrap();
        let (address, stopper) = (server.mysql_address().unwrap(), server.stopper());
        let running = std::thread::spawn(move || {
            server.run();
        });
        let (user, password) = ("test".to_owned(), "test".to_owned());
        let running = Some((stopper, running));
        (Target { engine: "seriatim", address, user, password, running }, cluster)
    }

    /// The real server, if one is named.
    pub fn real() -> Option<Target> {
        let Ok(url) = std::env::var(REAL) else {
            println!("skipped: {REAL} names no MariaDB");
            return None;
        };
        let rest = url.strip_prefix("mysql://").expect("a URL of MySQL");
        let (who, place) = rest.split_once('@').unwrap_or(("root", rest));
        let (user, password) = who.split_once(':').unwrap_or((who, ""));
        let place = place.split('/').next().unwrap();
        let address = place.to_socket_addrs().unwrap().next().unwrap();
        let (user, password) = (user.to_owned(), password.to_owned());
        Some(Target { engine: "mariadb", address, user, password, running: None })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A session in a database.
    pub fn connect(&self, database: Option<&str>) -> Client {
        self.try_connect(database, &self.password).expect("a session")
    }

    pub fn try_connect(&self, database: Option<&str>, password: &str) -> Result<Client, Refusal> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Client { stream, sequence: 0 };
        client.greet(&self.user, password, database)?;
        Ok(client)
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
    pub number: u16,
    pub state: String,
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} {}] {}", self.number, self.state, self.message)
    }
}

impl std::error::Error for Refusal {}

/// What a statement gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Names and types; `None` if the statement has no result.
    pub columns: Option<Vec<(String, u8)>>,
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    pub affected: u64,
    pub insert_id: u64,
    pub status: u16,
    pub info: String,
}

impl Answer {
    /// The values of a row as texts.
    pub fn texts(&self) -> Vec<Vec<Option<String>>> {
        let text = |value: &Option<Vec<u8>>| {
            value.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        self.rows.iter().map(|row| row.iter().map(text).collect()).collect()
    }
}

/// A session. All it knows is what tests need: no TLS, and bodies of less than 16 MB.
pub struct Client {
    stream: TcpStream,
    sequence: u8,
}

const CAPABILITIES: u32 =
    1 | 1 << 2 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 16 | 1 << 17 | 1 << 19;

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn proof(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = sha1(&[password.as_bytes()]);
    let mask = sha1(&[nonce, &sha1(&[&once])]);
    once.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

impl Client {
    fn next(&mut self) -> Result<Vec<u8>, Refusal> {
        let lost = |error: std::io::Error| Refusal {
            number: 2013,
            state: "08S01".to_owned(),
            message: error.to_string(),
        };
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).map_err(lost)?;
        let length = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
        self.sequence = head[3].wrapping_add(1);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).map_err(lost)?;
        Ok(body)
    }

    fn send(&mut self, body: &[u8]) {
        let mut packet = (body.len() as u32).to_le_bytes()[..3].to_vec();
        packet.push(self.sequence);
        packet.extend_from_slice(body);
        let _ = self.stream.write_all(&packet);
    }

    fn greet(&mut self, user: &str, password: &str, database: Option<&str>) -> Result<(), Refusal> {
        let hello = self.next()?;
        if hello[0] == 0xff {
            return Err(refused(&hello));
        }
        let end = 1 + hello[1..].iter().position(|&byte| byte == 0).unwrap();
        let mut nonce = hello[end + 5..end + 13].to_vec();
        nonce.extend_from_slice(&hello[end + 32..end + 44]);
        let mut body = CAPABILITIES.to_le_bytes().to_vec();
        if database.is_none() {
            body[0] &= !(1 << 3);
        }
        body.extend_from_slice(&(1_u32 << 24).to_le_bytes());
        body.push(46);
        body.extend_from_slice(&[0; 23]);
        body.extend_from_slice(user.as_bytes());
        body.push(0);
        let shown = proof(password, &nonce);
        body.push(shown.len() as u8);
        body.extend_from_slice(&shown);
        if let Some(database) = database {
            body.extend_from_slice(database.as_bytes());
            body.push(0);
        }
        body.extend_from_slice(b"mysql_native_password\0");
        self.send(&body);
        let answer = self.next()?;
        match answer[0] {
            0x00 => Ok(()),
            _ => Err(refused(&answer)),
        }
    }

    /// Runs statements; the last result.
    pub fn run(&mut self, sql: &str) -> Result<Answer, Refusal> {
        self.sequence = 0;
        self.send(&[b"\x03", sql.as_bytes()].concat());
        loop {
            let answer = self.answer(false)?;
            if answer.status & 8 == 0 {
                return Ok(answer);
            }
        }
    }

    /// Prepares a statement and executes it with texts as parameters.
    pub fn execute(&mut self, sql: &str, params: &[Option<&str>]) -> Result<Answer, Refusal> {
        self.sequence = 0;
        self.send(&[b"\x16", sql.as_bytes()].concat());
        let head = self.next()?;
        if head[0] == 0xff {
            return Err(refused(&head));
        }
        let number = &head[1..5];
        let count = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
        for list in [count(7), count(5)].into_iter().filter(|&count| count > 0) {
            for _ in 0..=list {
                self.next()?;
            }
        }
        let mut body = vec![0x17];
        body.extend_from_slice(number);
        body.extend_from_slice(&[0, 1, 0, 0, 0]);
        if !params.is_empty() {
            let mut nulls = vec![0; params.len().div_ceil(8)];
            for (place, _) in params.iter().enumerate().filter(|(_, it)| it.is_none()) {
                nulls[place / 8] |= 1 << (place % 8);
            }
            body.extend_from_slice(&nulls);
            body.push(1);
            params.iter().for_each(|_| body.extend_from_slice(&[0xfd, 0]));
            for text in params.iter().flatten() {
                body.push(text.len() as u8);
                body.extend_from_slice(text.as_bytes());
            }
        }
        self.sequence = 0;
        self.send(&body);
        self.answer(true)
    }

    /// A command without text: its number and its body.
    pub fn command(&mut self, number: u8, rest: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.sequence = 0;
        self.send(&[&[number], rest].concat());
        let body = self.next()?;
        if body[0] == 0xff { Err(refused(&body)) } else { Ok(body) }
    }

    fn answer(&mut self, is_binary: bool) -> Result<Answer, Refusal> {
        let head = self.next()?;
        match head[0] {
            0xff => return Err(refused(&head)),
            0x00 => return Ok(done(&head)),
            _ => {}
        }
        let count = Bytes(&head).length().unwrap();
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(column(&self.next()?));
        }
        self.next()?;
        let mut answer = Answer { columns: Some(columns.clone()), ..Answer::default() };
        loop {
            let body = self.next()?;
            match body[0] {
                0xff => return Err(refused(&body)),
                0xfe if body.len() < 9 => {
                    answer.status = u16::from_le_bytes([body[3], body[4]]);
                    return Ok(answer);
                }
                _ if is_binary => answer.rows.push(binary_row(&body, &columns)),
                _ => answer.rows.push(text_row(&body, columns.len())),
            }
        }
    }
}

struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }

    fn length(&mut self) -> Option<u64> {
        match self.number(1) {
            0xfb => None,
            0xfc => Some(self.number(2)),
            0xfd => Some(self.number(3)),
            0xfe => Some(self.number(8)),
            small => Some(small),
        }
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = self.length()?;
        Some(self.take(length as usize))
    }
}

fn done(body: &[u8]) -> Answer {
    let mut rest = Bytes(&body[1..]);
    let (affected, insert_id) = (rest.length().unwrap(), rest.length().unwrap());
    let status = rest.number(2) as u16;
    rest.number(2);
    let info = String::from_utf8_lossy(rest.0).into_owned();
    Answer { affected, insert_id, status, info, ..Answer::default() }
}

fn refused(body: &[u8]) -> Refusal {
    let number = u16::from_le_bytes([body[1], body[2]]);
    let rest = String::from_utf8_lossy(&body[3..]).into_owned();
    match rest.strip_prefix('#') {
        Some(rest) => {
            let (state, message) = rest.split_at(5);
            Refusal { number, state: state.to_owned(), message: message.to_owned() }
        }
        None => Refusal { number, state: "HY000".to_owned(), message: rest },
    }
}

fn column(body: &[u8]) -> (String, u8) {
    let mut rest = Bytes(body);
    for _ in 0..4 {
        rest.bytes();
    }
    let name = String::from_utf8_lossy(rest.bytes().unwrap()).into_owned();
    rest.bytes();
    rest.take(1 + 2 + 4);
    (name, rest.number(1) as u8)
}

fn text_row(body: &[u8], count: usize) -> Vec<Option<Vec<u8>>> {
    let mut rest = Bytes(body);
    (0..count).map(|_| rest.bytes().map(<[u8]>::to_vec)).collect()
}

/// Whole numbers as texts, what has its length as it is; other types are not asked for.
fn binary_row(body: &[u8], columns: &[(String, u8)]) -> Vec<Option<Vec<u8>>> {
    let mut rest = Bytes(&body[1..]);
    let nulls = rest.take((columns.len() + 9) / 8);
    let mut row = Vec::new();
    for (place, (_, ty)) in columns.iter().enumerate() {
        let bit = place + 2;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            row.push(None);
            continue;
        }
        let mut whole = |bytes: usize| {
            let shift = 64 - 8 * bytes as u32;
            ((rest.number(bytes) << shift) as i64 >> shift).to_string().into_bytes()
        };
        row.push(Some(match ty {
            1 => whole(1),
            2 | 13 => whole(2),
            3 | 9 => whole(4),
            8 => whole(8),
            _ => rest.bytes().unwrap().to_vec(),
        }));
    }
    row
}
