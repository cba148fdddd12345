//! Registers as Jepsen records them: strict serializability of their operations, each of which is a
//! transaction, is linearizability.
//!
//! The examples are those that checkers of linearizability publish: two of Porcupine's, and the
//! cases that Knossos is about (compare-and-set, operations that crash). The initial value is `nil`
//! here. A property test compares with the definition of Herlihy and Wing: some order of the
//! operations keeps real time and is what a register does.

use proptest::prelude::*;
use seriatim_check::check;
use seriatim_history::History;
use seriatim_history::formats::{Format, ReadOptions, read_bytes};
use seriatim_isolation::Level;

fn read(edn: &str) -> History {
    let options = ReadOptions { format: Some(Format::ElleEdn), ..ReadOptions::default() };
    read_bytes(edn.as_bytes(), "h", &options).unwrap_or_else(|error| panic!("{edn}\n{error}")).0
}

/// Whether the events, each `process type f value`, are linearizable.
fn is_linearizable(events: &str) -> bool {
    let map = |event: &str| {
        let mut words = event.trim().splitn(4, ' ');
        let mut word = || words.next().unwrap();
        let (process, kind, f, value) = (word(), word(), word(), word());
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    let edn: String = events.lines().filter(|line| !line.trim().is_empty()).map(map).collect();
    let report = check(&read(&edn), Level::StrictSerializable);
    assert_ne!(
        report.holds(Level::StrictSerializable),
        report.violates(Level::StrictSerializable),
        "{events}"
    );
    report.holds(Level::StrictSerializable)
}

#[test]
fn overlapping_reads_may_be_on_both_sides_of_a_write() {
    let porcupine = "
        0 invoke write 100
        1 invoke read nil
        2 invoke read nil
        2 ok read nil
        1 ok read 100
        0 ok write 100";
    assert!(is_linearizable(porcupine));
}

#[test]
fn a_read_after_a_read_of_the_new_value_does_not_return_the_old_one() {
    let porcupine = "
        0 invoke write 200
        1 invoke read nil
        1 ok read 200
        2 invoke read nil
        2 ok read nil
        0 ok write 200";
    assert!(!is_linearizable(porcupine));
}

#[test]
fn a_write_that_crashed_may_take_effect_at_any_later_time_but_only_once() {
    let late = "
        0 invoke write 1
        0 ok write 1
        1 invoke write 2
        1 info write 2
        0 invoke read nil
        0 ok read 1
        0 invoke read nil
        0 ok read 2";
    assert!(is_linearizable(late));
    let undone = format!(
        "{late}
        0 invoke read nil
        0 ok read 1"
    );
    assert!(!is_linearizable(&undone));
}

#[test]
fn a_compare_and_set_reads_what_it_expects() {
    let good = "
        0 invoke write 1
        0 ok write 1
        1 invoke cas [1 2]
        2 invoke cas [2 3]
        2 ok cas [2 3]
        1 ok cas [1 2]
        0 invoke read nil
        0 ok read 3";
    assert!(is_linearizable(good));
    let both = "
        0 invoke write 1
        0 ok write 1
        1 invoke cas [1 2]
        2 invoke cas [1 3]
        1 ok cas [1 2]
        2 ok cas [1 3]";
    assert!(!is_linearizable(both));
}

#[test]
fn a_compare_and_set_that_failed_changed_nothing_and_says_nothing() {
    let failed = "
        0 invoke write 1
        0 ok write 1
        0 invoke cas [1 2]
        0 fail cas [1 2]
        0 invoke read nil
        0 ok read 1";
    assert!(is_linearizable(failed));
    assert!(!is_linearizable(&failed.replace("ok read 1", "ok read 2")));
}

#[test]
fn a_compare_and_set_that_crashed_needs_what_it_expects_if_it_took_effect() {
    let crashed = "
        0 invoke write 1
        0 ok write 1
        1 invoke cas [1 2]
        1 info cas [1 2]
        0 invoke read nil
        0 ok read 2";
    assert!(is_linearizable(crashed));
    assert!(!is_linearizable(&crashed.replace("[1 2]", "[3 2]")));
}

#[test]
fn the_same_value_may_be_written_again() {
    let twice = "
        0 invoke write 1
        0 ok write 1
        0 invoke write 2
        0 ok write 2
        0 invoke write 1
        0 ok write 1
        1 invoke read nil
        1 ok read 1";
    assert!(is_linearizable(twice));
    assert!(!is_linearizable(&twice.replace("ok read 1", "ok read 2")));
}

#[test]
fn independent_registers_are_judged_together() {
    let one_is_stale = "
        0 invoke write [:x 1]
        0 ok write [:x 1]
        0 invoke write [:y 1]
        0 ok write [:y 1]
        1 invoke read [:x nil]
        1 ok read [:x 1]
        1 invoke read [:y nil]
        1 ok read [:y nil]";
    assert!(!is_linearizable(one_is_stale));
    assert!(is_linearizable(&one_is_stale.replace("ok read [:y nil]", "ok read [:y 1]")));
}

/// An operation of a register; 0 is the initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Read(u8),
    Write(u8),
    Cas(u8, u8),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Ok,
    Fail,
    Info,
}

/// When it began and ended, in steps.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    operation: Operation,
    ending: Ending,
    begin: usize,
    end: usize,
}

/// What the operation makes of a register, if it can be done.
fn applied(operation: Operation, register: u8) -> Option<u8> {
    match operation {
        Operation::Read(value) => (value == register).then_some(register),
        Operation::Write(value) => Some(value),
        Operation::Cas(old, new) => (old == register).then_some(new),
    }
}

/// The definition, literally: some operation that may be next can be, and the rest goes on. What
/// crashed may be left out.
fn has_linearization(rest: &[Recorded], register: u8) -> bool {
    let must = rest.iter().filter(|recorded| recorded.ending == Ending::Ok);
    let Some(first_end) = must.map(|recorded| recorded.end).min() else { return true };
    rest.iter().enumerate().any(|(place, next)| {
        let mut others = rest.to_vec();
        others.remove(place);
        let register = applied(next.operation, register).filter(|_| next.begin < first_end);
        register.is_some_and(|register| has_linearization(&others, register))
    })
}

fn operations() -> impl Strategy<Value = Operation> {
    let value = 0u8..3;
    prop_oneof![
        value.clone().prop_map(Operation::Read),
        (1u8..3).prop_map(Operation::Write),
        (value, 1u8..3).prop_map(|(old, new)| Operation::Cas(old, new)),
    ]
}

fn endings() -> impl Strategy<Value = Ending> {
    prop_oneof![6 => Just(Ending::Ok), 1 => Just(Ending::Fail), 1 => Just(Ending::Info)]
}

/// Up to six operations of three clients; a client that crashes goes on as another process.
fn histories() -> impl Strategy<Value = Vec<(usize, Operation, Ending, usize)>> {
    prop::collection::vec((0usize..3, operations(), endings(), 1usize..5), 1..7)
}

/// The operations with their times, and the file that tells of them.
fn recorded(plan: &[(usize, Operation, Ending, usize)]) -> (Vec<Recorded>, String) {
    let mut free = [0usize; 3];
    let mut process = [0usize, 1, 2];
    let mut events: Vec<(usize, String)> = Vec::new();
    let mut all = Vec::new();
    for (number, &(client, operation, ending, length)) in plan.iter().enumerate() {
        let begin = free[client].max(number * 2);
        let end = begin + 2 * length + 1;
        free[client] = end + 1;
        all.push(Recorded { operation, ending, begin, end });
        let shown = |value: u8| if value == 0 { "nil".to_owned() } else { value.to_string() };
        let (f, invoked, completed) = match operation {
            Operation::Read(value) => ("read", "nil".to_owned(), shown(value)),
            Operation::Write(value) => ("write", shown(value), shown(value)),
            Operation::Cas(old, new) => {
                let pair = format!("[{} {}]", shown(old), shown(new));
                ("cas", pair.clone(), pair)
            }
        };
        let kind = match ending {
            Ending::Ok => "ok",
            Ending::Fail => "fail",
            Ending::Info => "info",
        };
        let id = process[client];
        let map = |kind: &str, time: usize, value: &str| {
            let text =
                format!("{{:process {id} :type :{kind} :f :{f} :time {time} :value {value}}}\n");
            (time, text)
        };
        events.push(map("invoke", begin, &invoked));
        events.push(map(kind, end, &completed));
        if ending == Ending::Info {
            process[client] += 3;
        }
    }
    events.sort_by_key(|event| event.0);
    all.retain(|recorded| recorded.ending != Ending::Fail);
    (all, events.into_iter().map(|event| event.1).collect())
}

proptest! {
    #[test]
    fn strict_serializability_of_a_register_is_linearizability(plan in histories()) {
        let (all, edn) = recorded(&plan);
        let report = check(&read(&edn), Level::StrictSerializable);
        let expected = has_linearization(&all, 0);
        prop_assert_eq!(report.holds(Level::StrictSerializable), expected, "{}", edn);
        prop_assert_eq!(report.violates(Level::StrictSerializable), !expected, "{}", edn);
    }
}
