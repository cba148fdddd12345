//! Scans and statements in our own format, and what becomes of them in others.

use seriatim_history::formats::{Format, ReadOptions, losses, read_bytes, write};
use seriatim_history::{History, OpId, Returned, TxnId};

const HEADER: &str = r#"{"seriatim":1,"groups":{"log":["l1"],"room":["r1","r2","r3","r4"]}}"#;

/// Set-up writes two rows, one of which changes; then two clients count before they insert.
const BOOKINGS: &str = concat!(
    r#"{"session":0,"txn":"setup","status":"committed","ops":[["w","r1",1],["w","r2",1]]}"#,
    "\n",
    r#"{"session":0,"txn":"change","status":"committed","ops":[["r","r2",1],["w","r2",2]]}"#,
    "\n",
    r#"{"session":1,"txn":"a","status":"committed","statements":[{"count":1,"first":0,"ops":2,"#,
    r#""rows":[["2"]],"sql":"SELECT count(*) FROM room WHERE floor = $1","params":["1"]},"#,
    r#"{"done":"INSERT 0 1","first":2,"ops":1,"sql":"INSERT INTO room VALUES (3)"}],"#,
    r#""ops":[["r","r2",2],["scan","room",{"seen":[1],"unchanged":[0]}],["w","r3",1]]}"#,
    "\n",
    r#"{"session":2,"txn":"b","status":"committed","statements":["#,
    r#"{"first":0,"ops":0,"sql":"BEGIN"},{"first":0,"ops":1,"sql":"SELECT"},"#,
    r#"{"count":0,"first":1,"ops":1,"rows":[],"sql":"TABLE log"}],"ops":["#,
    r#"["scan","room",{"members":[[0,1],3]}],["scan","log",{}],["w","r4",1]]}"#,
    "\n",
);

fn read(text: &str) -> Result<History, String> {
    let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
    read_bytes(text.as_bytes(), "h", &options).map(|read| read.0).map_err(|error| error.to_string())
}

fn bookings() -> History {
    read(&format!("{HEADER}\n{BOOKINGS}")).unwrap()
}

fn shown(history: &History, txn: u32) -> Vec<String> {
    let op = |op| {
        let op = history.op(OpId(op));
        format!("{:?} {} {}", op.kind, history.key_name(op.key), history.value_text(op.value))
    };
    history.ops_of(TxnId(txn)).map(op).collect()
}

#[test]
fn a_scan_has_the_reads_that_matter() {
    let history = bookings();
    let a = ["Read r2 2", "Read r1 1", "Read r4 nil", "Write r3 1"];
    assert_eq!(shown(&history, 2), a);
    // It missed r1 and r2, of which set-up wrote the first; r4 is its own.
    assert_eq!(shown(&history, 3), ["Read r1 nil", "Read r2 nil", "Write r4 1"]);
    assert!(!history.scans_need_sessions());
    let scan = history.scan_of(OpId(history.ops_of(TxnId(2)).start + 1)).unwrap();
    assert_eq!(&*history.groups()[scan.content.group as usize].name, "room");
    assert!(history.scan_of(OpId(history.ops_of(TxnId(2)).start)).is_none());
    let line = history.place(OpId(scan.ops.start)).unwrap();
    assert_eq!(line.to_string(), "h:4");
}

#[test]
fn operations_know_their_statements() {
    let history = bookings();
    let first = history.ops_of(TxnId(2)).start;
    let text = |op| history.statement_of(OpId(op)).map(|statement| &*statement.content.text);
    assert_eq!(text(first), Some("SELECT count(*) FROM room WHERE floor = $1"));
    assert_eq!(text(first + 2), text(first));
    assert_eq!(text(first + 3), Some("INSERT INTO room VALUES (3)"));
    assert_eq!(text(0), None);
    let statements = history.statements_of(TxnId(3));
    assert_eq!(statements[2].scans, 1..2);
    let returned = statements[2].content.returned.as_ref().map(Returned::to_string);
    assert_eq!(returned.as_deref(), Some("no rows"));
    let part = history.restricted_to(&[OpId(first + 2), OpId(first + 3)]);
    assert_eq!(part.statements().len(), 2);
    assert_eq!(part.statement_of(OpId(0)).unwrap().content.params, [Some("1".into())]);
}

#[test]
fn what_a_statement_returned_is_forgotten_with_its_reads() {
    let history = bookings();
    let first = history.ops_of(TxnId(2)).start;
    let other = history.clone().without_answers(&[OpId(first + 1)]);
    let answers = |history: &History| {
        let all = history.statements_of(TxnId(2)).iter();
        all.map(|statement| statement.content.returned.is_some()).collect::<Vec<_>>()
    };
    assert_eq!((answers(&history), answers(&other)), (vec![true, true], vec![false, true]));
}

#[test]
fn everything_survives_a_round_trip() {
    let history = bookings();
    let mut written = Vec::new();
    write(&history, Format::Jsonl, &mut written).unwrap();
    let copy = read(&String::from_utf8(written.clone()).unwrap()).unwrap();
    assert_eq!(copy.scans(), history.scans());
    assert_eq!(copy.statements(), history.statements());
    assert_eq!(copy.fingerprint(), history.fingerprint());
    let mut again = Vec::new();
    write(&copy, Format::Jsonl, &mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(written).unwrap());
}

#[test]
fn other_formats_have_all_reads() {
    let history = bookings();
    let all = history.written_out(100).unwrap();
    let a = ["Read r2 2", "Read r1 1", "Read r3 nil", "Read r4 nil", "Write r3 1"];
    assert_eq!(shown(&all, 2), a);
    let b = ["Read r1 nil", "Read r2 nil", "Read r4 nil", "Read l1 nil", "Write r4 1"];
    assert_eq!(shown(&all, 3), b);
    let mut elle = Vec::new();
    write(&history, Format::ElleEdn, &mut elle).unwrap();
    let (copy, _) = read_bytes(&elle, "h", &ReadOptions::default()).unwrap();
    assert_eq!(copy.op_count(), all.op_count());
    let lost: Vec<String> =
        losses(&history, Format::ElleEdn).iter().map(ToString::to_string).collect();
    assert!(lost.contains(&"3 scans written out as reads".to_owned()), "{lost:?}");
    assert!(lost.contains(&"5 statements left out".to_owned()), "{lost:?}");
    let refused = history.written_out(6).unwrap_err().to_string();
    assert_eq!(refused, "3 scans that stand for 7 reads, more than 6");
}

#[test]
fn a_thousand_scans_of_a_hundred_thousand_rows_are_few_reads() {
    let rows = 100_000;
    let keys: Vec<String> = (0..rows).map(|row| format!("{row}")).collect();
    let mut text = format!("{{\"seriatim\":1,\"groups\":{{\"t\":[{}]}}}}\n", keys.join(","));
    for scan in 0..1000 {
        let found = if scan < 500 { "{}" } else { r#"{"unchanged":[[0,49999]]}"# };
        text += &format!("{{\"session\":{},\"ops\":[[\"scan\",\"t\",{found}]]}}\n", scan % 8);
    }
    // The first half in one transaction, the second one by one in eight sessions.
    let writes: Vec<String> = (0..rows / 2).map(|row| format!("[\"w\",{row},1]")).collect();
    text += &format!("{{\"session\":\"load\",\"ops\":[{}]}}\n", writes.join(","));
    for row in rows / 2..rows {
        text += &format!("{{\"session\":\"w{}\",\"ops\":[[\"w\",{row},1]]}}\n", row % 8);
    }
    let history = read(&text).unwrap();
    assert!(history.scans_need_sessions());
    assert_eq!(history.scanned_reads(), 1000 * rows);
    // Eight writers for each scan, and the load, missed or found.
    assert_eq!(history.op_count(), rows as usize + 1000 * 9);
    let mut sink = std::io::sink();
    let refused = write(&history, Format::Plume, &mut sink).unwrap_err().to_string();
    assert!(refused.contains("1000 scans that stand for 100000000 reads"), "{refused}");
    assert!(refused.ends_with("write jsonl instead"), "{refused}");
}

#[test]
fn mistakes_have_a_place_and_a_cause() {
    let fails =
        |op: &str| read(&format!("{HEADER}\n{{\"session\":1,\"ops\":[{op}]}}")).unwrap_err();
    let cases = [
        (r#"["scan","nowhere",{}]"#, "no group of the header is called `nowhere`"),
        (r#"["scan","room",[1]]"#, "expected a scan like"),
        (r#"["scan","room",{"seen":[4]}]"#, "`seen` must be ascending positions below 4"),
        (r#"["scan","room",{"members":[[2,1]]}]"#, "`members` must be ascending"),
        (r#"["scan","room",{"members":[2,0]}]"#, "`members` must be ascending"),
        (r#"["scan","room",{"seen":[0],"unchanged":[0]}]"#, "both seen and unchanged"),
        (r#"["scan","room",{"members":[1],"seen":[0]}]"#, "not among the members"),
        (r#"["scan","room",{"rows":[0]}]"#, "not `rows`"),
    ];
    for (op, problem) in cases {
        let error = fails(op);
        assert!(error.starts_with("h:2:21: ") && error.contains(problem), "{error}");
    }
    let unchanged = fails(r#"["scan","room",{"unchanged":[1]}]"#);
    assert!(unchanged.starts_with("h:2: a scan cannot have found the key r2"), "{unchanged}");
    let twice = read(r#"{"seriatim":1,"groups":{"a":["k"],"b":["k"]}}"#).unwrap_err();
    assert!(twice.contains("the key k is in the group `a` already"), "{twice}");
}

#[test]
fn mistakes_in_statements_have_a_cause() {
    let fails = |statement: &str| {
        read(&format!("{{\"session\":1,\"ops\":[],\"statements\":[{statement}]}}")).unwrap_err()
    };
    let cases = [
        ("7", "statement 0 must be an object"),
        ("{}", "expected its text, \"sql\""),
        (r#"{"sql":"x","ops":1}"#, "the transaction has 0 operations, and not 1 from 0"),
        (r#"{"sql":"x","params":[1]}"#, "`params` must be texts or null, found [1]"),
        (r#"{"sql":"x","rows":[["1"]]}"#, "expected \"rows\" with their \"count\""),
        (r#"{"sql":"x","rows":[["1"]],"count":0}"#, "expected \"rows\" with their \"count\""),
        (r#"{"sql":"x","answer":1}"#, "`answer` is not known"),
    ];
    for (statement, problem) in cases {
        let error = fails(statement);
        assert!(error.starts_with("h:1:1: ") && error.contains(problem), "{error}");
    }
}
