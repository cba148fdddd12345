use super::*;
use crate::{OpId, SessionId, TxnId};

fn parse(text: &str) -> History {
    read(text.as_bytes(), &Source::new("h"), 2, None).unwrap()
}

fn error(text: &str) -> String {
    read(text.as_bytes(), &Source::new("h"), 2, None).unwrap_err().to_string()
}

#[test]
fn transactions_of_a_session_stand_in_order_of_first_appearance() {
    let history = parse(
        "w(0,4,1,20)\nr(0,4,2,3)\n\n# note\nw(1,5,1,10)\r\n w( 2 , 6 , 1 , 20 ) // \
         late\nr(1,5,2,3)",
    );
    assert_eq!(history.session_count(), 2);
    assert_eq!(history.txn_name(TxnId(0)), Atom::Int(20));
    assert_eq!(history.ops_of(TxnId(0)), 0..2);
    assert_eq!(history.place(OpId(1)).unwrap().to_string(), "h:6");
    assert_eq!(history.place(OpId(4)).unwrap().to_string(), "h:7");
    assert_eq!(history.session_name(SessionId(1)), Atom::Int(2));
    assert_eq!(history.value_text(history.op(OpId(1)).value), "6");
    assert!(matches!(history.key_names(), KeyNames::Numbers { count: 3 }));
}

#[test]
fn runs_of_minus_one_are_aborted_transactions_without_their_reads() {
    let history =
        parse("w(1,1,0,-1)\nr(1,1,0,-1)\nw(2,1,0,-1)\nw(3,1,1,-1)\nw(1,2,0,5)\nw(1,3,0,-1)\n");
    assert_eq!(history.txn_count(), 4);
    assert_eq!(history.status(TxnId(0)), Status::Aborted);
    assert_eq!(history.ops_of(TxnId(0)), 0..2);
    assert_eq!(history.txn_name(TxnId(1)), Atom::Int(5));
    assert_eq!(history.place(OpId(1)).unwrap().number, 3);
}

#[test]
fn a_first_transaction_of_zeros_is_the_initial_one() {
    let history = parse("w(7,0,0,0)\nw(8,0,0,0)\nr(7,0,1,1)\nw(9,0,1,2)\n");
    assert_eq!(history.txn_count(), 2);
    assert_eq!(history.session_count(), 1);
    assert_eq!(history.session_name(SessionId(0)), Atom::Int(1));
    assert_eq!(history.initial().values.len(), 2);
    assert_eq!(history.place(OpId(0)).unwrap().number, 3);
    let history = parse("w(7,0,0,0)\nw(8,1,0,0)\nr(7,0,1,1)\n");
    assert_eq!(history.txn_count(), 2);
}

#[test]
fn numbers_are_opaque_and_may_have_64_bits() {
    let history = parse(
        "w(-3,18446744073709551615,9223372036854775808,18446744073709551614)\nr(-3,-7,5,6)\n",
    );
    assert_eq!(history.key_name(KeyId(0)), Atom::Int(-3));
    assert_eq!(history.value_text(history.op(OpId(0)).value), "18446744073709551615");
    assert_eq!(history.value_text(history.op(OpId(1)).value), "-7");
    assert_eq!(history.session_name(SessionId(0)), Atom::Int(1 << 63));
    assert_eq!(history.txn_name(TxnId(0)), Atom::Int(18446744073709551614));
    let history = parse("w(5,1,0,0)\nw(4000000000000,2,0,0)\nw(5,3,0,1)\n");
    assert_eq!(history.key_count(), 2);
    assert_eq!(history.op(OpId(0)).key, history.op(OpId(2)).key);
}

#[test]
fn errors_name_line_column_and_the_other_line() {
    assert_eq!(error("w(1,1,0,0)\nr(1,1,0\n"), "h:2:8: expected `,`, found the end of the line");
    let message = error("w(1,1,0,7)\n#\nw(1,2,1,8)\nr(1,1,1,7)\n");
    assert!(
        message
            .starts_with("h:4:1: transaction 7 is of session 1 here, but of session 0 in line 1"),
        "{message}"
    );
    assert!(error("\n# nothing\n").contains("no transactions"));
}

/// Pieces, cut anywhere, say the same as the whole.
#[test]
fn many_pieces_make_the_same_history_as_one() {
    let mut text = String::new();
    for i in 0..60_000u64 {
        let txn = if i % 97 < 4 { -1 } else { i as i64 / 10 };
        let value = if i % 1000 == 0 { u64::MAX - i } else { i + 1 };
        text += &format!(
            "{}({},{value},{},{txn})\n",
            if i % 3 == 0 { 'r' } else { 'w' },
            i * 7 % 1009,
            i / 10 % 7
        );
        if i % 5003 == 0 {
            text += "# comment\n";
        }
    }
    assert!(piece_starts(text.as_bytes(), 8).len() > 3);
    let (one, many) = (Piece::parse(text.as_bytes(), 0, text.len()), parse(&text));
    assert_eq!(many.op_count(), one.ops.kind.len());
    let lines: Vec<&str> = text.lines().collect();
    for op in (0..many.op_count() as u32).map(OpId) {
        let content = many.op(op);
        let letter = if content.kind == OpKind::Read { 'r' } else { 'w' };
        let txn = many.txn_of(op);
        let (key, value) = (many.key_name(content.key), many.value_text(content.value));
        let (session, name) = (many.session_name(many.session_of(txn)), many.txn_name(txn));
        let line = lines[many.place(op).unwrap().number as usize - 1];
        assert_eq!(format!("{letter}({key},{value},{session},{name})"), line);
    }
}
