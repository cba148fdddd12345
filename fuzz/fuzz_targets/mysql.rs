//! Any bytes to a server of MySQL's protocol, before or after a session has begun: the connection
//! ends, the server goes on, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seriatim_server::mysql::MysqlConfig;
use seriatim_server::{Config, Server};
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};

/// A client with the database `test` and no password.
const GREETING: &[u8] =
    b"\x2b\0\0\x01\x08\x82\0\0\0\0\0\x01\x2e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
      root\0\0test\0";

static SERVER: OnceLock<SocketAddr> = OnceLock::new();

/// One server for all inputs.
fn start() -> SocketAddr {
    // A panic in a session ends only that session: here it has to end the run.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
    let cluster = Arc::new(Cluster::new(Arc::new(Memory::default())));
    let server = Server::new(Config::default()).expect("a server");
    let server =
        server.with_mysql("127.0.0.1:0", cluster, MysqlConfig::default()).expect("a free port");
    let address = server.mysql_address().expect("an address");
    std::thread::spawn(move || server.run());
    address
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let Ok(mut stream) = TcpStream::connect(SERVER.get_or_init(start)) else { return };
    let begin: &[u8] = if first % 2 == 1 { GREETING } else { b"" };
    let _ = stream.write_all(&[begin, bytes].concat());
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
});
