//! The search against the definition, on random serializable runs: found if and only if something exists, at every level, within both
//! boundaries, in both modes; and every prediction passes the independent checker.

use proptest::prelude::*;
use seriatim_history::{History, notation};
use seriatim_predict::{Answer, Boundary, LEVELS, Mode, Options, confirm, oracle, predict};

/// A transaction: its session, and reads (true) and writes of keys.
type Txn = (usize, Vec<(bool, usize)>);

/// The run in which these transactions come one after the other.
fn run(txns: &[Txn], sessions: usize) -> History {
    let mut lines = vec![Vec::new(); sessions];
    let mut latest = [0u32; 4];
    let mut next = 0;
    for (session, ops) in txns {
        let mut text = String::new();
        for &(is_read, key) in ops {
            if is_read {
                let value = if latest[key] == 0 { "nil".to_owned() } else { latest[key].to_string() };
                text += &format!("r(k{key},{value}) ");
            } else {
                next += 1;
                latest[key] = next;
                text += &format!("w(k{key},{next}) ");
            }
        }
        lines[*session].push(text);
    }
    let lines = lines.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    let text: Vec<String> = lines.map(|(session, txns)| format!("s{session}: {}", txns.join("| "))).collect();
    notation::parse(&text.join("\n")).unwrap()
}

fn txns(sessions: usize, keys: usize, most: usize) -> impl Strategy<Value = Vec<Txn>> {
    let ops = proptest::collection::vec((any::<bool>(), 0..keys), 1..4);
    proptest::collection::vec((0..sessions, ops), 2..=most)
}

fn compare(history: &History) {
    for level in LEVELS {
        for boundary in [Boundary::Strict, Boundary::Relaxed] {
            let expected = oracle::exists(history, level, boundary);
            for mode in [Mode::Exact, Mode::Approx] {
                let options = Options { boundary, mode, ..Options::new(level) };
                let found = match predict(history, &options).unwrap() {
                    Answer::Found(prediction) => {
                        confirm::confirm(history, &prediction.history, level, boundary).unwrap();
                        true
                    }
                    Answer::NoneExists(_) => false,
                    other => panic!("{other:?}"),
                };
                // Histories that mode approx misses need more transactions than these.
                assert_eq!(found, expected, "{level} {boundary:?} {mode:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn two_sessions(txns in txns(2, 2, 5)) {
        compare(&run(&txns, 2));
    }

    #[test]
    fn three_sessions(txns in txns(3, 2, 4)) {
        compare(&run(&txns, 3));
    }

    #[test]
    fn three_keys(txns in txns(3, 3, 4)) {
        compare(&run(&txns, 3));
    }
}
