use super::*;
use crate::{OpId, SessionId, TxnId};

fn edn(text: &str) -> History {
    read_edn(text.as_bytes(), &Source::new("h")).unwrap()
}

fn error(text: &str) -> String {
    read_edn(text.as_bytes(), &Source::new("h")).unwrap_err().to_string()
}

const LIST_APPEND: &str =
    "{:index 0, :type :invoke, :process 0, :time 10, :f :txn, :value [[:append 5 1] [:r 5 nil]]}
{:index 1 :type :info :process :nemesis :f :kill :value nil}
{:index 2, :type :invoke, :process 1, :time 20, :f :txn, :value [[:append 5 2] [:r 5 nil]]}
{:index 3, :type :ok, :process 0, :time 30, :f :txn, :value [[:append 5 1] [:r 5 [1]]]}
{:index 4, :type :info, :process 1, :time 40, :f :txn, :value [[:append 5 2] [:r 5 nil]]}
{:index 5, :type :invoke, :process 2, :time 50, :f :txn, :value [[:append 5 3]]}
{:index 6, :type :invoke, :process 0, :time 60, :f :txn, :value [[:r 6 nil]]}
{:index 7, :type :ok, :process 0, :time 70, :f :txn, :value [[:r 6 []]]}
";

#[test]
fn invocations_and_completions_make_transactions_with_times() {
    let history = edn(LIST_APPEND);
    assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (3, 4, 5));
    assert_eq!(history.skipped(), 1);
    assert_eq!(history.times(TxnId(0)), Some((10, 30)));
    assert_eq!(history.txn_name(TxnId(0)), Atom::Int(3));
    assert_eq!(history.value_text(history.op(OpId(1)).value), "[1]");
    assert_eq!(history.op(OpId(2)).value, Value::NULL);
    assert_eq!(history.place(OpId(1)).unwrap().to_string(), "h:4");
    let unknown = history.txns_of(SessionId(1)).start;
    assert_eq!(history.status(TxnId(unknown)), Status::Unknown);
    assert_eq!(history.ops_of(TxnId(unknown)).len(), 1);
    assert_eq!(history.times(TxnId(unknown)), Some((20, i64::MAX)));
    assert_eq!(history.status(TxnId(history.txns_of(SessionId(2)).start)), Status::Unknown);
}

#[test]
fn without_invocations_there_are_no_times() {
    let history = edn(
        "[{:type :ok :process 1 :value [[:w :x \"a\"] [:r \"y\" nil]]}\n{:type :fail, :process 1, \
         :value [[:w :x 2]]}]",
    );
    assert!(!history.has_times());
    assert_eq!(history.status(TxnId(1)), Status::Aborted);
    assert_eq!(history.key_name(history.op(OpId(0)).key), Atom::Keyword("x".into()));
}

#[test]
fn json_says_the_same() {
    let json =
        "{\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"append\",5,1],[\"r\",5,[1]]]}";
    for text in [format!("{json}\n{json}\n"), format!("[{json},\n{json}]")] {
        let history = read_json(text.as_bytes(), &Source::new("h")).unwrap();
        assert_eq!((history.txn_count(), history.op_count()), (2, 4));
    }
}

#[test]
fn mistakes_have_a_place() {
    assert!(
        error("{:type :ok, :process 0, :value [[:x 1 2]]}")
            .starts_with("h:1:33: expected an operation like")
    );
    assert!(error("{:type :ok, :process 0}").contains("needs a :value"));
    assert!(error("{:type :huh, :process 0, :value []}").contains("expected a :type"));
    assert!(
        error("\n{:type :ok, :process 0, :value [[:w 99999999999999999999 1]]}")
            .starts_with("h:2:33: a key")
    );
    assert!(error("7").contains("expected a map"));
}
