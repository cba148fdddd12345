//! Violations that only a search finds. Two keys with two writers each, and each of the four ways
//! to order them closes a cycle, though each order by itself is possible: nothing is forced, so
//! saturation sees nothing. Such gadgets lie hidden in larger valid histories here.

use seriatim_check::{Answer, Checker, Effort, Report, check};
use seriatim_history::{History, notation};
use seriatim_isolation::Level;
use seriatim_verify::{Proof, verify_proof};

/// A generator of numbers that needs nothing.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// The transactions of a gadget, in any order. Key i has writers p and q, and each version has a
/// reader, which comes before the other writer if that one is second. Each reader has read from
/// both writers of the key before (around the corner). Without one of these reads, number `missing`
/// of them, one way to order the writers is left.
fn gadget(random: &mut Random, name: &str, choices: usize, missing: Option<usize>) -> Vec<String> {
    let mut txns = Vec::new();
    let mut links = 0;
    for i in 0..choices {
        let before = (i + choices - 1) % choices;
        for side in ["p", "q"] {
            txns.push(vec![format!("w({name}x{i},{side})"), format!("w({name}{side}{i},1)")]);
            let mut reader = vec![format!("r({name}x{i},{side})")];
            for writer in ["p", "q"] {
                if missing != Some(links) {
                    reader.push(format!("r({name}{writer}{before},1)"));
                }
                links += 1;
            }
            txns.push(reader);
        }
    }
    txns.iter_mut().for_each(|ops| random.shuffle(ops));
    random.shuffle(&mut txns);
    txns.into_iter().map(|ops| ops.join(" ")).collect()
}

/// Transactions that ran one after the other, each in one of the sessions.
fn serial(random: &mut Random, sessions: &mut [Vec<String>], txns: usize) {
    const KEYS: usize = 12;
    let mut current = [0; KEYS];
    let mut next = 0;
    for _ in 0..txns {
        let mut ops = Vec::new();
        for _ in 0..1 + random.below(5) {
            let key = random.below(KEYS);
            if random.below(2) == 0 {
                next += 1;
                current[key] = next;
                ops.push(format!("w(k{key},{next})"));
            } else {
                ops.push(format!("r(k{key},{})", current[key]));
            }
        }
        let session = random.below(sessions.len());
        sessions[session].push(ops.join(" "));
    }
}

/// How a gadget is hidden.
#[derive(Clone, Copy)]
struct Hidden {
    copies: usize,
    choices: usize,
    /// Transactions of the valid part.
    around: usize,
    /// Whether one read of each gadget is left out, so that the history is valid.
    valid: bool,
}

/// A valid history; the transactions of each gadget are the first ones of sessions of their own, or
/// the last ones, so that sessions lead either out of a gadget or into it, and no path joins two of
/// its transactions.
fn hide(seed: u64, hidden: Hidden) -> (String, History) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
    let size = 4 * hidden.choices;
    let mut sessions = vec![Vec::new(); hidden.copies * size + 2];
    serial(&mut random, &mut sessions, hidden.around);
    random.shuffle(&mut sessions);
    for copy in 0..hidden.copies {
        let missing = hidden.valid.then(|| random.below(size));
        let first = random.below(2) == 0;
        let txns = gadget(&mut random, &format!("g{copy}"), hidden.choices, missing);
        for (session, txn) in sessions[copy * size..].iter_mut().zip(txns) {
            let place = if first { 0 } else { session.len() };
            session.insert(place, txn);
        }
    }
    random.shuffle(&mut sessions);
    let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    let text: String = lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join(" | "))).collect();
    let history = notation::parse(&text).unwrap();
    (text, history)
}

fn outcome(report: &Report, level: Level) -> Answer {
    report.verdict(level).unwrap().answer()
}

fn effort(report: &Report, level: Level) -> &Effort {
    &report.timings.efforts.iter().find(|(at, _)| *at == level).unwrap().1
}

/// The gadget is found by the search and nothing but it is shown.
fn assert_found(seed: u64, hidden: Hidden) {
    let (text, history) = hide(seed, hidden);
    let report = Checker::new().check(&history);
    assert_eq!(outcome(&report, Level::Causal), Answer::Holds, "seed {seed}\n{text}");
    for level in [Level::PrefixConsistency, Level::SnapshotIsolation, Level::Serializable] {
        assert_eq!(outcome(&report, level), Answer::Violated, "seed {seed} at {level}\n{text}");
        let effort = effort(&report, level);
        assert!(
            effort.conflicts > 0 && effort.choices > 1,
            "seed {seed} at {level}: {effort:?}\n{text}"
        );
    }
    assert!(!report.anomalies.is_empty(), "seed {seed}: nothing is explained\n{text}");
    for group in &report.anomalies {
        assert!(
            group.count <= hidden.copies as u64,
            "seed {seed}: {} of {:?}",
            group.count,
            group.kind
        );
        let shown = &group.exemplar;
        assert!(
            shown.txn_count() <= 4 * hidden.choices,
            "seed {seed}: {} transactions\n{text}",
            shown.txn_count()
        );
        assert!(
            shown.ops.iter().all(|op| op.key.starts_with('g')),
            "seed {seed}: {:?}\n{text}",
            shown.ops
        );
    }
}

/// With a read left out of each gadget every level holds, and the points show it.
fn assert_valid(seed: u64, hidden: Hidden) -> bool {
    let (text, history) = hide(seed, Hidden { valid: true, ..hidden });
    let report = Checker::new().check(&history);
    for verdict in &report.verdicts {
        assert_eq!(verdict.answer(), Answer::Holds, "seed {seed} at {}\n{text}", verdict.level);
    }
    let proof = report.verdict(Level::Serializable).unwrap().proof().unwrap();
    assert!(matches!(proof, Proof::Points(_)));
    verify_proof(&history, Level::Serializable, proof)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    assert!(report.anomalies.is_empty());
    effort(&report, Level::Serializable).choices > 0
}

const ALONE: Hidden = Hidden { copies: 1, choices: 2, around: 0, valid: false };

#[test]
fn alone() {
    for seed in 0..20 {
        assert_found(seed, ALONE);
        assert_found(seed, Hidden { choices: 3, ..ALONE });
    }
}

#[test]
fn one_in_a_valid_history() {
    for seed in 0..20 {
        assert_found(seed, Hidden { around: 20 + 20 * seed as usize, ..ALONE });
    }
    assert_found(100, Hidden { around: 5000, ..ALONE });
}

#[test]
fn several_in_a_valid_history() {
    for seed in 0..8 {
        let copies = 2 + seed as usize % 3;
        assert_found(seed, Hidden { copies, around: 300, ..ALONE });
        assert_found(seed, Hidden { copies, choices: 3, around: 300, ..ALONE });
    }
}

#[test]
fn without_one_of_its_reads_a_gadget_is_harmless() {
    let mut searched = 0;
    for seed in 0..60 {
        let hidden =
            Hidden { copies: 1 + seed as usize % 3, around: 10 * (seed as usize % 7), ..ALONE };
        searched += usize::from(assert_valid(seed, hidden));
        searched += usize::from(assert_valid(seed, Hidden { choices: 3, ..hidden }));
    }
    println!("{searched} of 120 valid histories went to the solver");
}

/// Gadgets that share nothing are parts that are searched by themselves, on several threads: each
/// must be right, and their orders fit together.
#[test]
fn many_that_share_nothing() {
    for seed in 0..6 {
        let copies = 2 + 9 * seed as usize;
        let hidden = Hidden { copies, choices: 2 + seed as usize % 2, ..ALONE };
        assert_valid(seed, hidden);
        let one_is_whole = mixed(seed, hidden);
        let report = check(&one_is_whole, Level::Serializable);
        assert_eq!(outcome(&report, Level::Serializable), Answer::Violated, "seed {seed}");
        for group in &report.anomalies {
            assert_eq!(group.count, 1, "seed {seed}");
            assert!(
                group.exemplar.ops.iter().all(|op| op.key.starts_with("g0_")),
                "seed {seed}: {:?}",
                group.exemplar.ops
            );
        }
    }
}

/// Harmless gadgets, but for the first.
fn mixed(seed: u64, hidden: Hidden) -> History {
    let mut random = Random(seed ^ 0x9E37_79B9);
    let mut txns = Vec::new();
    for copy in 0..hidden.copies {
        let missing = (copy > 0).then(|| random.below(4 * hidden.choices));
        txns.extend(gadget(&mut random, &format!("g{copy}_"), hidden.choices, missing));
    }
    random.shuffle(&mut txns);
    let text: String = txns.iter().enumerate().map(|(i, txn)| format!("s{i}: {txn}\n")).collect();
    notation::parse(&text).unwrap()
}
