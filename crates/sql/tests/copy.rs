//! COPY from and to the client.

mod common;

use common::{run, session};
use seriatim_sql::session::{Reply, Session};

/// Sends data in small pieces: the tag, or the error with its context.
fn load(session: &mut Session, sql: &str, data: &[u8]) -> String {
    let (mut replies, error) = session.simple(sql);
    if let Some(error) = error {
        return format!("ERROR {}: {}", error.code(), error.message());
    }
    let Some(Reply::CopyIn(mut copy)) = replies.pop() else { return "no COPY".to_owned() };
    let fed = data.chunks(7).try_for_each(|piece| copy.feed(session, piece));
    match fed.and_then(|()| copy.finish(session)) {
        Ok(tag) => {
            session.finish_implicit().expect("commits");
            tag
        }
        Err(error) => {
            session.failed();
            let context = error.fields().context.clone().unwrap_or_default();
            format!("ERROR {}: {} [{context}]", error.code(), error.message())
        }
    }
}

#[test]
fn text_comes_in_and_goes_out() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a int PRIMARY KEY, b text, c date DEFAULT '2020-01-01')");
    let data = b"1\tx\\ty\\nz\t2024-05-06\n2\t\\N\t\\N\n3\t\\\\N\t2021-01-01\n\\.\n";
    assert_eq!(load(&mut session, "COPY t FROM STDIN", data), "COPY 3");
    assert_eq!(load(&mut session, "COPY t (a, b) FROM STDIN", b"4\tlast"), "COPY 1");
    assert_eq!(
        run(&mut session, "COPY t TO STDOUT"),
        "1\tx\\ty\\nz\t2024-05-06\n2\t\\N\t\\N\n3\t\\\\N\t2021-01-01\n4\tlast\t2020-01-01"
    );
    assert_eq!(
        run(
            &mut session,
            "COPY (SELECT a, b FROM t ORDER BY a DESC) TO STDOUT WITH (FORMAT csv, HEADER)"
        ),
        "a,b\n4,last\n3,\\N\n2,\n1,\"x\ty\nz\""
    );
}

#[test]
fn csv_has_quotes_and_nulls() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a int, b text, c text)");
    let data = b"a,b,c\r\n1,\"x, \"\"y\"\"\nz\",\r\n2,\"\",plain\r\n";
    assert_eq!(load(&mut session, "COPY t FROM STDIN (FORMAT csv, HEADER true)", data), "COPY 2");
    assert_eq!(
        run(&mut session, "SELECT a, b, c IS NULL, b = '' FROM t ORDER BY a"),
        "1|x, \"y\"\nz|t|f\n2||f|t"
    );
    assert_eq!(run(&mut session, "COPY t TO STDOUT CSV"), "1,\"x, \"\"y\"\"\nz\",\n2,\"\",plain");
}

#[test]
fn errors_say_where() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL CHECK (b > 0))");
    let mut error = |data: &[u8]| load(&mut session, "COPY t FROM STDIN", data);
    assert_eq!(
        error(b"1\t1\nx\t2\n"),
        "ERROR 22P02: invalid input syntax for type integer: \"x\" \
         [COPY t, line 2, column a: \"x\"]"
    );
    assert_eq!(error(b"1\n"), "ERROR 22P04: missing data for column \"b\" [COPY t, line 1: \"1\"]");
    assert_eq!(
        error(b"1\t1\t1\n"),
        "ERROR 22P04: extra data after last expected column [COPY t, line 1: \"1\t1\t1\"]"
    );
    assert_eq!(
        error(b"1\t1\n1\t2\n"),
        "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\" [COPY t, line 2]"
    );
    assert_eq!(
        error(b"1\t\\N\n"),
        "ERROR 23502: null value in column \"b\" of relation \"t\" violates not-null constraint \
         [COPY t, line 1: \"1\t\\N\"]"
    );
    assert_eq!(run(&mut session, "SELECT count(*) FROM t"), "0");
}

#[test]
fn binary_goes_out_and_comes_in_again() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'x'), (2, NULL)");
    let (replies, error) = session.simple("COPY t TO STDOUT (FORMAT binary)");
    assert!(error.is_none());
    let Some(Reply::CopyOut(out)) = replies.last() else { panic!("rows") };
    let env = session.env();
    let data: Vec<u8> = out.chunks(&env).flatten().collect();
    drop(env);
    assert_eq!(load(&mut session, "COPY t FROM STDIN (FORMAT binary)", &data), "COPY 2");
    assert_eq!(run(&mut session, "SELECT a, b FROM t ORDER BY a"), "1|x\n1|x\n2|\n2|");
}
