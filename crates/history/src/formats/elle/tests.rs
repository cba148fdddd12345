use super::*;
use crate::{OpId, SessionId, TxnId};

fn edn(text: &str) -> History {
    read_edn(text.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap()
}

fn error(text: &str) -> String {
    read_edn(text.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap_err().to_string()
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
        let history =
            read_json(text.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap();
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

fn json_error(text: &str) -> String {
    read_json(text.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap_err().to_string()
}

/// The history without what is not understood.
fn skipping(text: &str) -> History {
    let options = ReadOptions { skip_unknown: true, ..ReadOptions::default() };
    read_edn(text.as_bytes(), &Source::new("h"), &options).unwrap()
}

/// Each transaction with its operations, in the notation of tests, and how it ended.
fn transactions(history: &History) -> Vec<String> {
    let op = |op: u32| {
        let op = history.op(OpId(op));
        let name = ["r", "w", "a"][op.kind as usize];
        format!("{name}({},{})", history.key_name(op.key), history.value_text(op.value))
    };
    let txn = |txn: TxnId| {
        let ops: Vec<String> = history.ops_of(txn).map(op).collect();
        let status = ["", "!", "?"][history.status(txn) as usize];
        format!("{}: {}{status}", history.session_name(history.session_of(txn)), ops.join(" "))
    };
    history.txns_in_file_order().into_iter().map(txn).collect()
}

#[test]
fn a_process_may_be_written_as_a_string() {
    let json = "{\"type\":\"ok\",\"process\":\"0\",\"f\":\"txn\",\"value\":[[\"r\",5,7]]}\n\
                {\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",5,null]]}\n\
                {\"type\":\"ok\",\"process\":\"anna\",\"f\":\"txn\",\"value\":[[\"w\",5,1]]}\n\
                {\"type\":\"info\",\"process\":\"nemesis\",\"f\":\"kill\",\"value\":null}\n";
    let history = read_json(json.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap();
    assert_eq!(transactions(&history), ["0: r(5,7)", "0: r(5,nil)", "anna: w(5,1)"]);
    assert_eq!(history.skipped(), 1);
    let named = edn("{:type :ok :process :worker :value [[:w 1 2]]}");
    assert_eq!(transactions(&named), [":worker: w(1,2)"]);
    assert!(error("{:type :ok :process nil :value [[:w 1 2]]}").contains("no :process"));
    assert!(error("{:type :ok :process [1] :value [[:w 1 2]]}").contains("expected a :process"));
}

#[test]
fn a_vector_of_micro_operations_is_a_transaction_whatever_it_is_called() {
    let history = edn("{:type :invoke :process 0 :f :transaction :value [[:r 1 nil]]}\n\
                       {:type :ok :process 0 :f :transaction :value [[:r 1 9]]}\n\
                       {:type :invoke :process 0 :f :read :value [[:r 1 nil] [:r 2 nil]]}\n\
                       {:type :fail :process 0 :f :read :value nil}\n");
    assert_eq!(transactions(&history), ["0: r(1,9)", "0: !"]);
}

#[test]
fn what_a_client_did_and_is_not_understood_is_an_error() {
    let bank = "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n\
                {:type :invoke :process 1 :f :transfer :value {:from 0 :to 1 :amount 5}}\n";
    insta::assert_snapshot!(error(bank));
    let strange = "{\"type\":\"ok\",\"process\":0,\"f\":\"shrug\",\"value\":[1]}\n";
    insta::assert_snapshot!(json_error(strange));
}

#[test]
fn other_workloads_are_named() {
    let named = |f: &str, value: &str| {
        let error = error(&format!("{{:type :ok, :process 0, :f :{f}, :value {value}}}"));
        error.split([';', '(', ',']).next().unwrap().to_owned()
    };
    assert_eq!(named("add", "3"), "h:1:1: this is a set or counter workload ");
    assert_eq!(named("enqueue", "3"), "h:1:1: this is a queue workload ");
    assert_eq!(named("acquire", "nil"), "h:1:1: this is a lock workload ");
    assert_eq!(named("read", "{0 10, 1 20}"), "h:1:1: this is a bank workload");
    assert_eq!(named("read", "#{1 2}"), "h:1:1: this is a set workload");
    assert_eq!(named("read", "[1 2 3]"), "h:1:1: this is a set workload");
    assert_eq!(named("poll", "[[:poll]]"), "h:1:1: this is a Kafka workload ");
}

const HALF_UNDERSTOOD: &str = "{:type :invoke :process 0 :f :txn :value [[:append 1 1]]}
{:type :invoke :process 1 :f :transfer :value {:from 0}}
{:type :ok :process 0 :f :txn :value [[:append 1 1]]}
{:type :ok :process 1 :f :transfer :value {:from 0}}
{:type :invoke :process 2 :f :txn :value [[:r 1 nil] [:r 2 nil] [:r 3 nil] [:r 1 nil] [:w 2 5]]}
{:type :ok :process 2 :f :txn :value [[:r 1 [7 1]] [:r 2 4] [:r 3 nil] [:r 1 [1 7]] [:w 2 5]]}
{:type :invoke :process 3 :f :scan :value 1}
";

#[test]
fn what_is_passed_over_counts_as_transactions_of_unknown_content() {
    assert!(error(HALF_UNDERSTOOD).starts_with("h:2:1: this is a bank workload"));
    let history = skipping(HALF_UNDERSTOOD);
    assert_eq!(history.unknown_content(), 2);
    assert_eq!(history.skipped(), 0);
}

/// Of a list that ends with an element of unknown origin it is not known from whom it was read.
#[test]
fn reads_of_values_that_only_unknown_transactions_can_have_written_are_left_out() {
    let history = skipping(HALF_UNDERSTOOD);
    assert_eq!(transactions(&history), ["0: a(1,1)", "2: r(1,[1]) r(3,nil) w(2,5)"]);
    assert_eq!(history.place(OpId(1)).unwrap().to_string(), "h:6");
}

#[test]
fn a_completion_fits_its_invocation_or_both_lines_are_named() {
    let pair = |invoked: &str, completed: &str| {
        error(&format!(
            "{{:type :invoke, :process 0, :f :txn, :value {invoked}}}\n\
             {{:type :ok, :process 0, :f :txn, :value {completed}}}\n"
        ))
    };
    let cases = [
        pair("[[:r 1 nil]]", "[[:r 2 [1]]]"),
        pair("[[:r 1 nil] [:append 1 1]]", "[[:r 1 [1]] [:append 1 2]]"),
        pair("[[:w 1 1]]", "[[:append 1 1]]"),
        pair("[[:w 1 1]]", "[[:w 1 1] [:r 2 nil]]"),
        error(
            "{:type :invoke :process 0 :f :cas :value [1 2]}\n\n\
             {:type :ok :process 0 :f :cas :value [1 3]}",
        ),
        error(
            "{:type :invoke :process 0 :f :cas :value [7 [1 2]]}\n\
             {:type :ok :process 0 :f :cas :value [7 [3 2]]}",
        ),
    ];
    insta::assert_snapshot!(cases.join("\n"));
}

#[test]
fn a_process_does_one_thing_at_a_time() {
    let invoke = "{:type :invoke, :process 0, :f :txn, :value [[:w 1 1]]}";
    let ok = "{:type :ok, :process 0, :f :txn, :value [[:w 1 1]]}";
    let other = "{:type :ok, :process 1, :f :txn, :value [[:w 1 1]]}";
    let cases = [
        error(&format!("{invoke}\n\n{invoke}")),
        error(&format!("{invoke}\n{ok}\n{ok}")),
        error(&format!("{invoke}\n{other}")),
        error(&format!("{other}\n{invoke}\n{ok}")),
    ];
    insta::assert_snapshot!(cases.join("\n"));
}

#[test]
fn a_process_that_goes_on_after_info_is_the_same_session() {
    let history = edn("{:type :invoke :process 0 :f :txn :value [[:w 1 1]]}\n\
                       {:type :info :process 0 :f :txn :value [[:w 1 1]]}\n\
                       {:type :invoke :process 0 :f :txn :value [[:w 1 2]]}\n\
                       {:type :ok :process 0 :f :txn :value [[:w 1 2]]}\n");
    assert_eq!(transactions(&history), ["0: w(1,1)?", "0: w(1,2)"]);
}

#[test]
fn an_operation_of_a_register_is_a_transaction() {
    let history = edn("{:type :invoke :process 0 :f :read :value nil}\n\
                       {:type :ok :process 0 :f :read :value nil}\n\
                       {:type :invoke :process 0 :f :write :value 3}\n\
                       {:type :ok :process 0 :f :write :value 3}\n\
                       {:type :invoke :process 0 :f :cas :value [3 4]}\n\
                       {:type :ok :process 0 :f :cas :value nil}\n\
                       {:type :invoke :process 0 :f :cas :value [3 5]}\n\
                       {:type :fail :process 0 :f :cas :value [3 5]}\n\
                       {:type :invoke :process 0 :f :read :value nil}\n\
                       {:type :fail :process 0 :f :read :value nil}\n\
                       {:type :invoke :process 0 :f :cas :value [4 6]}\n\
                       {:type :info :process 0 :f :cas :value [4 6] :error :timeout}\n");
    let expected = [
        "0: r(register,nil)",
        "0: w(register,3)",
        "0: r(register,3) w(register,4)",
        "0: w(register,5)!",
        "0: !",
        "0: r(register,4) w(register,6)?",
    ];
    assert_eq!(transactions(&history), expected);
}

#[test]
fn independent_registers_have_a_key_each() {
    let history = edn("{:type :ok :process 0 :f :read :value [7 nil]}\n\
                       {:type :ok :process 0 :f :write :value #jepsen.independent/tuple [7 1]}\n\
                       {:type :ok :process 0 :f :cas \
                       :value #clojure.lang.MapEntry[\"k\" [1 2]]}\n");
    assert_eq!(transactions(&history), ["0: r(7,nil)", "0: w(7,1)", "0: r(k,1) w(k,2)"]);
    let mixed = error(
        "{:type :ok :process 0 :f :write :value [7 1]}\n\
         {:type :ok :process 0 :f :cas :value [1 2]}\n",
    );
    assert_eq!(
        mixed,
        "h:2:1: values of one register here, but [key value] of several registers in line 1; a \
         file has one register, or several whose values are all [key value]"
    );
    assert!(error("{:type :ok :process 0 :f :write :value nil}").contains("needs a :value"));
    assert!(error("{:type :ok :process 0 :f :cas :value 3}").contains("[old new]"));
}

#[test]
fn all_of_the_syntax_of_edn_may_stand_in_a_history() {
    let history = edn("; a note, and #_ what does not count\n\
                       #_{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n\
                       ^{:line 1} #jepsen.history.Op{:type :ok, :process 0x1, :f :txn, \
                       :time nil, :n ##NaN, :ratio 1/2, :char \\], :when #inst \"2020\", #_ #_ a b \
                       :re #\"a\\\"b\", :set #{1 2.5M}, :value #v [[:w 017 5N] #_[:w 1 2]]}\n\
                       #:jepsen{:type :ok, :process 2, :value ([:r 15 5])} #_ end\n");
    assert_eq!(transactions(&history), ["1: w(15,5)", "2: r(15,5)"]);
    let bad = "{:type :ok, :process 0, :value #v [[:w 1 1]\n #_[:x] ^:m [:w 1]]}";
    assert!(error(bad).starts_with("h:2:13: expected an operation"), "{}", error(bad));
}

#[test]
fn times_that_are_no_numbers_and_names_that_stand_twice_are_errors() {
    let event = |fields: &str| format!("{{:type :ok, :process 0, :value [[:w 1 1]], {fields}}}\n");
    let found = |fields: &str| error(&event(fields));
    assert_eq!(found(":time 5.5"), "h:1:1: expected a :time that is a whole number, found `5.5`");
    assert!(found(":index \"a\"").contains("a :index that is a whole number, found `a`"));
    assert_eq!(found(":type :fail"), "h:1:1: :type stands here twice");
}

#[test]
fn a_process_is_called_as_it_is_spelled() {
    let text = "{\"type\":\"ok\",\"process\":\"0\",\"value\":[]}\n\
                {\"type\":\"ok\",\"process\":\"00\",\"value\":[]}\n\
                {\"type\":\"ok\",\"process\":0,\"value\":[]}\n";
    let history = read_json(text.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap();
    assert_eq!((history.session_count(), history.txn_count()), (2, 3));
}

#[test]
fn times_that_go_back_or_are_missing_are_told() {
    let event = |kind: &str, time: &str| {
        format!("{{:type :{kind}, :process 0, :value [[:w :x 1]]{time}}}\n")
    };
    let read = |text: String| {
        read_edn(text.as_bytes(), &Source::new("h"), &ReadOptions::default()).unwrap()
    };
    let history = read(event("invoke", ", :time 9") + &event("ok", ", :time 3"));
    assert_eq!(history.repairs().ends_before_begin, Tally { count: 1, first_line: 2 });
    let history = read(event("invoke", "") + &event("ok", ", :time 3"));
    assert_eq!(history.repairs().events_without_time, Tally { count: 1, first_line: 1 });
    let history = read(event("invoke", "") + &event("ok", ""));
    assert_eq!(*history.repairs(), Default::default());
}

#[test]
fn reads_of_what_is_not_understood_are_counted_where_they_are_left_out() {
    let text = "{:type :ok, :process 0, :f :txn, :value [[:append :x 1]]}\n\
                {:type :ok, :process 1, :f :mystery, :value 5}\n\
                {:type :ok, :process 2, :f :txn, :value [[:r :x [1 7]]]}\n\
                {:type :ok, :process 3, :f :txn, :value [[:r :x [7 1]]]}\n";
    let options = ReadOptions { skip_unknown: true, ..ReadOptions::default() };
    let history = read_edn(text.as_bytes(), &Source::new("h"), &options).unwrap();
    assert_eq!(history.repairs().reads_left_out, Tally { count: 1, first_line: 3 });
    assert_eq!(history.repairs().lists_shortened, Tally { count: 1, first_line: 4 });
}

/// Elle's own examples have no processes; such files were refused.
#[test]
fn without_any_process_each_transaction_is_a_session_of_its_own() {
    let history = edn("{:type :ok, :value [[:append :x 1] [:r :y [1]]]}\n\
                       {:type :ok, :value [[:append :x 2] [:append :y 1]]}\n\
                       {:type :fail, :value [[:append :x 9]]}\n\
                       {:type :ok, :value [[:r :x [1 2]]]}\n");
    assert_eq!((history.session_count(), history.txn_count()), (4, 4));
    assert!(!history.has_times());
    let told = crate::repairs::Tally { count: 4, first_line: 1 };
    assert_eq!(history.counts().repairs.without_process, told);
    let named = edn("{:type :ok, :process 1, :value [[:append :x 1]]}");
    assert_eq!(named.counts().repairs.without_process.count, 0);
}

#[test]
fn some_maps_with_a_process_and_some_without_are_refused_with_both_lines() {
    let with = "{:type :ok, :process 0, :value [[:append :x 1]]}";
    let without = "{:type :ok, :value [[:append :x 2]]}";
    let message = error(&format!("{with}\n  {without}\n"));
    assert!(message.contains("2:3"), "{message}");
    assert!(message.contains("has no :process, but that in line 1 has one"), "{message}");
    let message = error(&format!("{without}\n{with}\n"));
    assert!(message.contains("2:1"), "{message}");
    assert!(message.contains("has a :process, but that in line 1 has none"), "{message}");
    let message = error("{:type :invoke, :value [[:append :x 2]]}\n");
    assert!(message.contains("so that its completion is not known"), "{message}");
}
