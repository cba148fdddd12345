//! The PostgreSQL protocol: what real clients and impossible ones get from it.

#[path = "common/frames.rs"]
mod frames;
#[path = "common/serving.rs"]
mod serving;

use frames::{Frames, bind, describe, error_field, execute, frame, kinds, parse, startup, sync};
use rustls::pki_types::ServerName;
use seriatim_server::postgres::{Password, PostgresConfig, Tls};
use serving::{Serving, run};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{NoTls, SimpleQueryMessage};

const VERSION: i32 = 3 << 16;
const USER: [(&str, &str); 2] = [("user", "postgres"), ("database", "postgres")];

/// The bytes of a value of any type.
struct Raw(Option<Vec<u8>>);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Raw, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Raw(Some(raw.to_vec())))
    }

    fn from_sql_null(_: &Type) -> Result<Raw, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Raw(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `data/types.tsv` is what PostgreSQL 15 answered: statement, name of the column, type, size,
/// modifier, text, binary.
#[test]
fn values_of_every_type_are_as_postgresql_sends_them() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    for line in include_str!("data/types.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [statement, name, ty, size, typmod, text, binary] = fields[..] else {
            panic!("{line}");
        };
        for (format, expected) in [(0, text), (1, binary)] {
            let steps = [
                parse("", statement),
                bind("", "", &[], format),
                describe(b'P', ""),
                execute("", 0),
                sync(),
            ];
            frames.send(&steps.concat());
            let got = frames.until('Z');
            assert_eq!(kinds(&got), "12TDCZ", "{statement}: {:?}", error_field(&got, 'M'));
            let column = [
                [name.as_bytes(), &[0; 7]].concat(),
                ty.parse::<u32>().unwrap().to_be_bytes().to_vec(),
                size.parse::<i16>().unwrap().to_be_bytes().to_vec(),
                typmod.parse::<i32>().unwrap().to_be_bytes().to_vec(),
                vec![0, format],
            ];
            assert_eq!(got[2].1[2..], column.concat(), "{statement}");
            let value = match &got[3].1[2..] {
                [0xff, 0xff, 0xff, 0xff] => "\\N".to_owned(),
                [_, _, _, _, bytes @ ..] if format == 1 => hex(bytes),
                [_, _, _, _, bytes @ ..] => String::from_utf8(bytes.to_vec()).unwrap(),
                other => panic!("{statement}: {other:?}"),
            };
            assert_eq!(value, expected, "{statement}");
        }
    }
}

#[test]
fn a_real_client_prepares_and_binds() {
    let server = Serving::plain();
    server.with_client(async |client| {
        let statement = client.prepare("SELECT $1::int4 + 1, $2 || 'x', $3::int8[]").await.unwrap();
        assert_eq!(statement.params(), [Type::INT4, Type::TEXT, Type::INT8_ARRAY]);
        let row = client.query_one(&statement, &[&41, &"a", &vec![1_i64, 2]]).await.unwrap();
        assert_eq!((row.get::<_, i32>(0), row.get::<_, String>(1)), (42, "ax".to_owned()));
        assert_eq!(row.get::<_, Vec<i64>>(2), [1, 2]);
        let (number, text, list) = (None::<i32>, None::<String>, vec![0_i64]);
        let row = client.query_one(&statement, &[&number, &text, &list]).await.unwrap();
        assert_eq!(row.get::<_, Option<i32>>(0), None);
        let Raw(bytes) = client.query_one("SELECT 258::int2", &[]).await.unwrap().get(0);
        assert_eq!(bytes, Some(vec![1, 2]));
    });
}

#[test]
fn a_portal_gives_its_rows_in_parts() {
    let server = Serving::plain();
    server.with_client(async |client| {
        let transaction = client.transaction().await.unwrap();
        let rows = "SELECT x FROM generate_series(1, 5) AS x";
        let portal = transaction.bind(rows, &[]).await.unwrap();
        let mut parts = Vec::new();
        for _ in 0..4 {
            let part = transaction.query_portal(&portal, 2).await.unwrap();
            parts.push(part.iter().map(|row| row.get(0)).collect::<Vec<i32>>());
        }
        assert_eq!(parts, [vec![1, 2], vec![3, 4], vec![5], vec![]]);
        transaction.commit().await.unwrap();
    });
    let mut frames = Frames::ready(server.address);
    let rows = "SELECT x FROM generate_series(1, 3) AS x";
    let steps = [
        parse("s", rows),
        bind("p", "s", &[], 0),
        execute("p", 2),
        execute("p", 2),
        bind("p", "s", &[], 0),
        sync(),
        execute("p", 0),
        sync(),
    ];
    frames.send(&steps.concat());
    let got = frames.until('Z');
    // The portal has a name that is taken.
    assert_eq!(kinds(&got), "12DDsDCEZ");
    assert_eq!(error_field(&got, 'C').as_deref(), Some("42P03"));
    // Portals end with their transaction.
    let got = frames.until('Z');
    assert_eq!(error_field(&got, 'C').as_deref(), Some("34000"));
}

#[test]
fn statements_are_described_with_and_without_rows() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let steps = [
        parse("rows", "SELECT $1::int4 AS a"),
        describe(b'S', "rows"),
        parse("none", "BEGIN"),
        describe(b'S', "none"),
        parse("empty", ""),
        bind("", "empty", &[], 0),
        describe(b'P', ""),
        execute("", 0),
        frame(b'C', b"Sempty\0"),
        frame(b'H', b""),
    ];
    frames.send(&steps.concat());
    let got = frames.until('3');
    assert_eq!(kinds(&got), "1tT1tn12nI3");
    assert_eq!(got[1].1, [0, 1, 0, 0, 0, 23]);
    frames.send(&[describe(b'S', "empty"), sync()].concat());
    let got = frames.until('Z');
    assert_eq!(error_field(&got, 'C').as_deref(), Some("26000"));
}

#[test]
fn an_error_lets_the_rest_be_skipped_until_sync() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let one = |text| [parse("", text), bind("", "", &[], 0), execute("", 0)].concat();
    let steps = [one("SELECT 1"), one("SELECT 1 / 0"), one("SELECT 2"), sync()];
    frames.send(&[steps.concat(), one("SELECT 3"), sync()].concat());
    let got = frames.until('Z');
    assert_eq!(kinds(&got), "12DC12EZ");
    assert_eq!(error_field(&got, 'C').as_deref(), Some("22012"));
    assert_eq!(kinds(&frames.until('Z')), "12DCZ");
    // Malformed inside of its frame: told, skipped, and the session goes on.
    frames.send(&[frame(b'B', b"\0\0\0\x09"), one("SELECT 2"), sync()].concat());
    let got = frames.until('Z');
    assert_eq!((kinds(&got).as_str(), error_field(&got, 'C').as_deref()), ("EZ", Some("08P01")));
    let got = frames.query("SELECT '\u{1}'");
    assert_eq!(kinds(&got), "TDCZ");
    frames.send(&frame(b'Q', b"SELECT '\xff'\0"));
    let got = frames.until('Z');
    assert_eq!(error_field(&got, 'C').as_deref(), Some("22021"));
}

#[test]
fn the_status_of_the_transaction_is_told() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let mut status = |text: &str| {
        let got = frames.query(text);
        format!("{}{}", kinds(&got), got.last().unwrap().1[0] as char)
    };
    assert_eq!(status(""), "IZI");
    assert_eq!(status("BEGIN"), "CZT");
    assert_eq!(status("BEGIN"), "NCZT");
    assert_eq!(status("SELECT 1; SELECT 2"), "TDCTDCZT");
    assert_eq!(status("SELECT nothing"), "EZE");
    assert_eq!(status("SELECT 1"), "EZE");
    assert_eq!(status("ROLLBACK"), "CZI");
    assert_eq!(status("COMMIT"), "NCZI");
    assert_eq!(status("SELECT 1; SELECT 1 / 0; SELECT 2"), "TDCEZI");
    frames.send(&frame(b'F', b"whatever"));
    let got = frames.until('Z');
    assert_eq!((kinds(&got).as_str(), error_field(&got, 'C').as_deref()), ("EZ", Some("0A000")));
}

#[test]
fn errors_have_their_fields() {
    let server = Serving::plain();
    server.with_client(async |client| {
        let error = client.simple_query("SELECT  nothing").await.unwrap_err();
        let error = error.as_db_error().unwrap();
        assert_eq!((error.severity(), error.code().code()), ("ERROR", "42703"));
        assert_eq!(error.message(), "column \"nothing\" does not exist");
        let position = tokio_postgres::error::ErrorPosition::Original(9);
        assert_eq!(error.position(), Some(&position));
        let rows = client.simple_query("SELECT 1; SELECT 'a' AS b").await.unwrap();
        let count = rows.iter().filter(|it| matches!(it, SimpleQueryMessage::Row(_))).count();
        assert_eq!(count, 2);
    });
}

#[test]
fn plans_are_explained_in_every_format() {
    let server = Serving::plain();
    server.with_client(async |client| {
        client.batch_execute("CREATE TABLE t (a int)").await.unwrap();
        for (format, ty, kinds) in [
            (
                "text",
                Type::TEXT,
                vec!["HashAggregate", "  ->  Append", "        ->  Seq Scan on t"],
            ),
            ("json", Type::JSON, vec!["\"Node Type\": \"Append\"", "\"Relation Name\": \"t\""]),
            ("yaml", Type::TEXT, vec!["      - Node Type: \"Append\"", "Alias: \"t\""]),
            ("xml", Type::XML, vec!["<Node-Type>Append</Node-Type>", "</Query>\n</explain>"]),
        ] {
            let text =
                format!("EXPLAIN (FORMAT {format}, COSTS OFF) SELECT a FROM t UNION SELECT 1");
            let prepared = client.prepare(&text).await.unwrap();
            assert_eq!(prepared.columns()[0].type_(), &ty);
            let rows = client.simple_query(&text).await.unwrap();
            let lines = rows.iter().filter_map(|it| match it {
                SimpleQueryMessage::Row(row) => row.get(0),
                _ => None,
            });
            let all = lines.collect::<Vec<&str>>().join("\n");
            kinds.iter().for_each(|kind| assert!(all.contains(kind), "{kind} in {all}"));
        }
        let error = client.simple_query("EXPLAIN (FORMAT html) SELECT 1").await.unwrap_err();
        assert_eq!(error.as_db_error().unwrap().code().code(), "22023");
    });
}

#[test]
fn drivers_learn_that_a_statement_must_be_prepared_again() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    frames.query("CREATE TABLE t (v int)");
    frames.send(&[parse("s", "SELECT v FROM t"), sync()].concat());
    assert_eq!(kinds(&frames.until('Z')), "1Z");
    frames.query("DROP TABLE t; CREATE TABLE t (v text); INSERT INTO t VALUES ('a')");
    let again = [bind("", "s", &[], 0), execute("", 0), sync()].concat();
    frames.send(&again);
    let got = frames.until('Z');
    assert_eq!(error_field(&got, 'C').as_deref(), Some("0A000"));
    // JDBC's driver goes by this field: it closes the statement and prepares it anew.
    assert_eq!(error_field(&got, 'R').as_deref(), Some("RevalidateCachedQuery"));
    frames.send(&[frame(b'C', b"Ss\0"), parse("s", "SELECT v FROM t"), again].concat());
    assert_eq!(kinds(&frames.until('Z')), "312DCZ");
}

#[test]
fn a_statement_that_never_ends_can_be_cancelled() {
    let server = Serving::plain();
    let endless = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000)";
    server.with_client(async |client| {
        let token = client.cancel_token();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            token.cancel_query(NoTls).await.unwrap();
        };
        let (result, ()) = tokio::join!(client.simple_query(endless), cancel);
        let error = result.unwrap_err();
        assert_eq!(error.as_db_error().unwrap().code().code(), "57014");
        client.simple_query("SELECT 1").await.unwrap();
    });
    // Nobody without the secret can do that, and no answer says so.
    let mut frames = Frames::silent(server.address);
    let request = [0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 1];
    frames.send(&request);
    assert_eq!(frames.rest(), []);
}

#[test]
fn a_client_that_leaves_ends_its_statement() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let endless = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000)";
    frames.send(&frame(b'Q', format!("{endless}\0").as_bytes()));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(server.sessions(), 1);
    drop(frames);
    server.wait_for_no_session();
}

#[test]
fn a_session_begins_with_what_clients_rely_on() {
    let server = Serving::plain();
    let parameters =
        [USER.as_slice(), &[("application_name", "test"), ("options", "-c DateStyle=German")]];
    let mut frames = Frames::asking(server.address, VERSION, &parameters.concat());
    let got = frames.until('Z');
    assert_eq!(got[0], ('R', vec![0, 0, 0, 0]));
    let reported: Vec<String> = got
        .iter()
        .filter(|frame| frame.0 == 'S')
        .map(|frame| String::from_utf8(frame.1.clone()).unwrap().replace('\0', " "))
        .collect();
    for expected in [
        "application_name test ",
        "client_encoding UTF8 ",
        "DateStyle German, DMY ",
        "integer_datetimes on ",
        "is_superuser on ",
        "server_encoding UTF8 ",
        "session_authorization postgres ",
        "standard_conforming_strings on ",
        "TimeZone UTC ",
    ] {
        assert!(reported.iter().any(|it| it == expected), "{expected}: {reported:?}");
    }
    assert!(kinds(&got).ends_with("SKZ"), "{}", kinds(&got));
}

#[test]
fn what_a_client_says_by_itself_is_said_after_its_options() {
    let server = Serving::plain();
    let own = [("application_name", "own"), ("options", "-c application_name=optional")];
    let parameters = [USER.as_slice(), own.as_slice()];
    let mut frames = Frames::asking(server.address, VERSION, &parameters.concat());
    let got = frames.until('Z');
    assert!(got.contains(&('S', b"application_name\0own\0".to_vec())), "{}", kinds(&got));
}

#[test]
fn who_ends_its_own_session_or_statement_gets_no_answer() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let got = frames.query("SELECT pg_cancel_backend(pg_backend_pid())");
    assert!(!kinds(&got).contains('D'), "{}", kinds(&got));
    assert_eq!(error_field(&got, 'C').as_deref(), Some("57014"));
    let got = frames.query("SELECT 1");
    assert!(kinds(&got).contains('D'), "{}", kinds(&got));
    frames.send(&frame(b'Q', b"SELECT pg_terminate_backend(pg_backend_pid())\0"));
    let got = frames.rest();
    assert!(!kinds(&got).contains('D'), "{}", kinds(&got));
    assert_eq!(error_field(&got, 'C').as_deref(), Some("57P01"));
    assert_eq!(error_field(&got, 'S').as_deref(), Some("FATAL"));
}

#[test]
fn a_statement_that_is_explained_has_its_parameters() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let steps = [
        parse("", "EXPLAIN SELECT relname FROM pg_class WHERE relname LIKE $1 AND oid = $2"),
        describe(b'S', ""),
        sync(),
    ];
    frames.send(&steps.concat());
    let got = frames.until('Z');
    assert_eq!(kinds(&got), "1tTZ", "{:?}", error_field(&got, 'M'));
    // Of the types text and oid.
    assert_eq!(got[1].1, [0, 2, 0, 0, 0, 25, 0, 0, 0, 26]);
}

#[test]
fn a_copy_may_force_quotes_as_older_clients_say_it() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let mut copied = |options: &str| {
        let query = "COPY (SELECT 1 AS a, 'x' AS b) TO STDOUT WITH ";
        let got = frames.query(&format!("{query}{options}"));
        assert_eq!(kinds(&got), "HddcCZ", "{:?}", error_field(&got, 'M'));
        String::from_utf8(got[1..3].iter().flat_map(|it| it.1.clone()).collect()).unwrap()
    };
    let options = "DELIMITER ';' CSV HEADER QUOTE AS '|' FORCE QUOTE a";
    assert_eq!(copied(options), "a;b\n|1|;x\n");
    assert_eq!(copied("CSV FORCE QUOTE a, b HEADER"), "a,b\n\"1\",\"x\"\n");
    assert_eq!(copied("CSV HEADER FORCE QUOTE *"), "a,b\n\"1\",\"x\"\n");
}

#[test]
fn settings_that_change_are_reported() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let mut reported = |text: &str| -> Vec<String> {
        let got = frames.query(text);
        assert!(got.iter().all(|frame| frame.0 != 'E'), "{text}: {:?}", error_field(&got, 'M'));
        let got = got.into_iter().filter(|frame| frame.0 == 'S');
        got.map(|frame| String::from_utf8(frame.1).unwrap().replace('\0', " ")).collect()
    };
    assert_eq!(reported("SET application_name = 'abc'"), ["application_name abc "]);
    assert_eq!(reported("SET application_name = 'abc'"), [] as [&str; 0]);
    assert_eq!(reported("BEGIN; SET TimeZone = 'Asia/Tokyo'"), ["TimeZone Asia/Tokyo "]);
    assert_eq!(reported("ROLLBACK"), ["TimeZone UTC "]);
    assert_eq!(reported("SET DateStyle = German"), ["DateStyle German, DMY "]);
}

#[test]
fn rows_are_copied_in_and_out() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let got = frames.query("CREATE TABLE t (a int PRIMARY KEY, b text)");
    assert_eq!(kinds(&got), "CZ", "{:?}", error_field(&got, 'M'));
    let copy_in = |frames: &mut Frames, text: &str, last: Vec<u8>| {
        frames.send(&frame(b'Q', b"COPY t FROM STDIN\0"));
        assert_eq!(frames.next().unwrap(), ('G', vec![0, 0, 2, 0, 0, 0, 0]));
        for piece in text.as_bytes().chunks(3) {
            frames.send(&frame(b'd', piece));
        }
        frames.send(&last);
        frames.until('Z')
    };
    let got = copy_in(&mut frames, "1\tone\n2\t\\N\n", frame(b'c', b""));
    assert_eq!(got[0], ('C', b"COPY 2\0".to_vec()), "{:?}", error_field(&got, 'M'));
    let got = copy_in(&mut frames, "3\tthree\n1\tagain\n", frame(b'c', b""));
    assert_eq!(error_field(&got, 'C').as_deref(), Some("23505"));
    let got = copy_in(&mut frames, "4\tfour\n", frame(b'f', b"enough\0"));
    assert_eq!(error_field(&got, 'M').as_deref(), Some("COPY from stdin failed: enough"));
    let got = frames.query("COPY (SELECT * FROM t ORDER BY a) TO STDOUT");
    assert_eq!(kinds(&got), "HddcCZ");
    assert_eq!((&got[1].1[..], &got[2].1[..]), (&b"1\tone\n"[..], &b"2\t\\N\n"[..]));
    // In the extended protocol clients send a Sync along with the Execute.
    let steps = [parse("", "COPY t FROM STDIN"), bind("", "", &[], 0), execute("", 0), sync()];
    frames.send(&steps.concat());
    frames.until('G');
    frames.send(&[frame(b'd', b"5\tfive\n"), frame(b'c', b""), sync()].concat());
    assert_eq!(kinds(&frames.until('Z')), "CZ");
    // What comes behind a COPY is done when the rows have come.
    frames.send(&frame(b'Q', b"COPY t FROM STDIN; SELECT count(*) FROM t\0"));
    frames.send(&[frame(b'd', b"6\tsix\n"), frame(b'c', b"")].concat());
    let got = frames.until('Z');
    assert_eq!(kinds(&got), "GCTDCZ", "{:?}", error_field(&got, 'M'));
    assert_eq!(got[3].1, b"\0\x01\0\0\0\x014");
}

#[test]
fn violations_name_what_was_violated() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let got = frames.query("CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL)");
    assert_eq!(kinds(&got), "CZ", "{:?}", error_field(&got, 'M'));
    frames.query("INSERT INTO t VALUES (1, 1)");
    let got = frames.query("INSERT INTO t VALUES (1, 2)");
    let fields = |got: &[frames::Frame], keys: &str| -> Vec<String> {
        keys.chars().map(|key| error_field(got, key).unwrap_or_default()).collect()
    };
    assert_eq!(
        fields(&got, "CDstn"),
        ["23505", "Key (a)=(1) already exists.", "public", "t", "t_pkey"]
    );
    let got = frames.query("INSERT INTO t VALUES (2, NULL)");
    assert_eq!(fields(&got, "Cstc"), ["23502", "public", "t", "b"]);
    let got = frames.query("DROP TABLE IF EXISTS nothing");
    assert_eq!(kinds(&got), "NCZ");
}

#[test]
fn who_cannot_have_a_session_is_told_why() {
    let server = Serving::new(PostgresConfig { connections_max: 2, ..PostgresConfig::default() });
    let refused = |version, parameters: &[(&str, &str)]| {
        let got = Frames::asking(server.address, version, parameters).rest();
        assert_eq!(error_field(&got, 'S').as_deref(), Some("FATAL"), "{got:?}");
        (error_field(&got, 'C').unwrap(), error_field(&got, 'M').unwrap())
    };
    let is = |code: &str, message: &str| (code.to_owned(), message.to_owned());
    assert_eq!(
        refused(VERSION, &[("user", "x"), ("database", "nowhere")]),
        is("3D000", "database \"nowhere\" does not exist")
    );
    assert_eq!(refused(VERSION, &[("database", "postgres")]).0, "28000");
    assert_eq!(
        refused(2 << 16, &USER),
        is("0A000", "unsupported frontend protocol 2.0: server supports 3.0 to 3.0")
    );
    let unknown = [USER.as_slice(), &[("no_such_setting", "1")]].concat();
    assert_eq!(refused(VERSION, &unknown).0, "42704");
    let held = [Frames::ready(server.address), Frames::ready(server.address)];
    assert_eq!(refused(VERSION, &USER), is("53300", "sorry, too many clients already"));
    drop(held);
    server.wait_for_no_session();
    Frames::ready(server.address);
}

#[test]
fn encryption_and_newer_protocols_are_declined_politely() {
    let server = Serving::plain();
    let mut frames = Frames::silent(server.address);
    for request in [80_877_103_i32, 80_877_104] {
        frames.send(&[8_i32.to_be_bytes(), request.to_be_bytes()].concat());
        let mut answer = [0];
        frames.0.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [b'N']);
    }
    let asked = [USER.as_slice(), &[("_pq_.magic", "1")]].concat();
    frames.send(&startup(VERSION + 2, &asked));
    let got = frames.until('Z');
    assert_eq!(got[0], ('v', b"\0\x03\0\0\0\0\0\x01_pq_.magic\0".to_vec()));
}

#[test]
fn a_password_has_to_be_known() {
    let password = Some(Password::new("sécret"));
    let server = Serving::new(PostgresConfig { password, ..PostgresConfig::default() });
    let connect = |password: &str| {
        let port = server.address.port();
        let settings = format!("host=127.0.0.1 port={port} user=postgres password='{password}'");
        run(async move {
            let (client, connection) = tokio_postgres::connect(&settings, NoTls).await?;
            tokio::spawn(connection);
            client.simple_query("SELECT 1").await
        })
    };
    assert!(connect("sécret").is_ok());
    let error = connect("wrong").unwrap_err();
    let error = error.as_db_error().unwrap();
    assert_eq!(error.code().code(), "28P01");
    assert_eq!(error.message(), "password authentication failed for user \"postgres\"");
    // No statement runs before that.
    let mut frames = Frames::asking(server.address, VERSION, &USER);
    assert_eq!(frames.next().unwrap().0, 'R');
    frames.send(&frame(b'Q', b"SELECT 1\0"));
    assert_eq!(error_field(&frames.rest(), 'C').as_deref(), Some("08P01"));
    for body in [&b""[..], b"SCRAM-SHA-256\0\x7f\xff\xff\xff", b"SCRAM-SHA-256\0\0\0\0\x03n,,"] {
        let mut frames = Frames::asking(server.address, VERSION, &USER);
        frames.send(&frame(b'p', body));
        let got = frames.rest();
        assert_eq!(error_field(&got, 'C').as_deref(), Some("08P01"), "{got:?}");
    }
}

#[test]
fn connections_are_encrypted_if_clients_ask_for_it() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let tls = Tls::new(made.cert.pem().as_bytes(), made.signing_key.serialize_pem().as_bytes());
    let config = PostgresConfig { tls: Some(tls.unwrap()), ..PostgresConfig::default() };
    let server = Serving::new(config);
    assert_eq!(kinds(&Frames::ready(server.address).query("SELECT 1")), "TDCZ");

    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let request = [8_i32.to_be_bytes(), 80_877_103_i32.to_be_bytes()].concat();

    let Frames(mut stream) = Frames::silent(server.address);
    stream.write_all(&request).unwrap();
    let mut answer = [0];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [b'S']);
    let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, stream);
    let said = [startup(VERSION, &USER), frame(b'Q', b"SELECT 42\0"), frame(b'X', b"")];
    stream.write_all(&said.concat()).unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    let expected = b"D\0\0\0\x0c\0\x01\0\0\0\x0242C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
    assert!(heard.ends_with(expected), "{}", String::from_utf8_lossy(&heard));

    // What is sent along with the request could come from somebody in the middle.
    let mut frames = Frames::silent(server.address);
    frames.send(&[request, startup(VERSION, &USER)].concat());
    let mut answer = [0];
    frames.0.read_exact(&mut answer).unwrap();
    assert_eq!(error_field(&frames.rest(), 'C').as_deref(), Some("08P01"));
}

#[test]
fn who_says_nothing_is_not_waited_for() {
    let startup_wait_max = Duration::from_millis(300);
    let server = Serving::new(PostgresConfig { startup_wait_max, ..PostgresConfig::default() });
    let begun = Instant::now();
    for bytes in [&b""[..], b"\0\0", &startup(VERSION, &USER)[..20]] {
        let mut frames = Frames::silent(server.address);
        frames.send(bytes);
        assert_eq!(frames.rest(), []);
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn sessions_are_told_that_the_server_stops() {
    let server = Serving::plain();
    let (mut idle, mut busy) = (Frames::ready(server.address), Frames::ready(server.address));
    let endless = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000)";
    busy.send(&frame(b'Q', format!("{endless}\0").as_bytes()));
    let _half_open = Frames::silent(server.address);
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    server.stopper.stop();
    for frames in [&mut idle, &mut busy] {
        let got = frames.rest();
        assert_eq!(error_field(&got, 'S').as_deref(), Some("FATAL"));
        assert_eq!(error_field(&got, 'C').as_deref(), Some("57P01"));
    }
    drop(server);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}
