//! LISTEN and NOTIFY over the network: who listens is told without asking for anything.

#[path = "common/frames.rs"]
mod frames;
#[path = "common/serving.rs"]
mod serving;

use frames::{Frame, Frames, error_field, kinds};
use rustls::pki_types::ServerName;
use seriatim_server::postgres::{PostgresConfig, Tls};
use serving::Serving;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// Channel and payload of a notification.
fn told(frame: &Frame) -> (String, String) {
    assert_eq!(frame.0, 'A', "{frame:?}");
    let mut parts = frame.1[4..].split(|&byte| byte == 0);
    let mut next = || String::from_utf8(parts.next().unwrap().to_vec()).unwrap();
    (next(), next())
}

fn pair(channel: &str, payload: &str) -> (String, String) {
    (channel.to_owned(), payload.to_owned())
}

#[test]
fn a_silent_client_is_told_what_others_commit_and_nothing_else() {
    let server = Serving::plain();
    let (mut listener, mut teller) = (Frames::ready(server.address), Frames::ready(server.address));
    assert_eq!(kinds(&listener.query("LISTEN news")), "CZ");
    teller.query("BEGIN; NOTIFY news, 'taken back'; ROLLBACK");
    teller.query("BEGIN; NOTIFY news, 'a'; NOTIFY news, 'a'; SELECT pg_notify('news', 'b')");
    teller.query("SAVEPOINT s; NOTIFY news, 'never'; ROLLBACK TO s; NOTIFY other, 'c'; COMMIT");
    assert_eq!(told(&listener.next().unwrap()), pair("news", "a"));
    assert_eq!(told(&listener.next().unwrap()), pair("news", "b"));
    teller.query("NOTIFY news");
    assert_eq!(told(&listener.next().unwrap()), pair("news", ""));
    // What one tells oneself comes before one may go on.
    let got = listener.query("NOTIFY news, 'own'");
    assert_eq!(kinds(&got), "CAZ");
    assert_eq!(told(&got[1]), pair("news", "own"));
    listener.query("UNLISTEN *");
    teller.query("NOTIFY news, 'too late'");
    assert_eq!(kinds(&listener.query("SELECT 1")), "TDCZ");
}

#[test]
fn who_is_in_a_transaction_is_told_when_it_ends() {
    let server = Serving::plain();
    let (mut listener, mut teller) = (Frames::ready(server.address), Frames::ready(server.address));
    listener.query("LISTEN news");
    assert_eq!(kinds(&listener.query("BEGIN; SELECT 1")), "CTDCZ");
    teller.query("NOTIFY news, 'x'");
    assert_eq!(kinds(&listener.query("SELECT 1")), "TDCZ");
    let got = listener.query("COMMIT");
    assert_eq!((kinds(&got).as_str(), told(&got[1])), ("CAZ", pair("news", "x")));
    // Who has begun to listen in a transaction that is taken back does not.
    teller.query("BEGIN; LISTEN news; ROLLBACK; NOTIFY news, 'y'");
    assert_eq!(told(&listener.next().unwrap()), pair("news", "y"));
    assert_eq!(kinds(&teller.query("SELECT pg_listening_channels()")), "TCZ");
    assert_eq!(kinds(&listener.query("SELECT pg_listening_channels()")), "TDCZ");
    let refused = teller.query("SELECT pg_notify('', 'x')");
    assert_eq!(error_field(&refused, 'C').as_deref(), Some("22023"));
}

#[test]
fn a_session_that_listens_still_ends_for_being_idle() {
    let server = Serving::plain();
    let mut listener = Frames::ready(server.address);
    listener.query("LISTEN news; SET idle_session_timeout = 200");
    let got = listener.rest();
    assert_eq!(error_field(&got, 'C').as_deref(), Some("57P05"));
    server.wait_for_no_session();
}

#[test]
fn listeners_are_told_through_tls_too() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let tls = Tls::new(made.cert.pem().as_bytes(), made.signing_key.serialize_pem().as_bytes());
    let config = PostgresConfig { tls: Some(tls.unwrap()), ..PostgresConfig::default() };
    let server = Serving::new(config);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let Frames(mut socket) = Frames::silent(server.address);
    let request = [8_i32.to_be_bytes(), 80_877_103_i32.to_be_bytes()].concat();
    socket.write_all(&request).unwrap();
    socket.read_exact(&mut [0]).unwrap();
    let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, socket);
    let user = [("user", "postgres"), ("database", "postgres")];
    // Two questions in one record: the second one must not be waited for.
    let said = [
        frames::startup(3 << 16, &user),
        frames::frame(b'Q', b"LISTEN news\0"),
        frames::frame(b'Q', b"SELECT 42\0"),
    ];
    stream.write_all(&said.concat()).unwrap();
    let mut heard = Vec::new();
    let mut wait_for = |wanted: &[u8], stream: &mut dyn Read| {
        while !heard.windows(wanted.len()).any(|window| window == wanted) {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "{}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&bytes[..count]);
        }
    };
    wait_for(b"SELECT 1\0Z\0\0\0\x05I", &mut stream);
    stream.sock.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    Frames::ready(server.address).query("NOTIFY news, 'secret'");
    wait_for(b"news\0secret\0", &mut stream);
}
