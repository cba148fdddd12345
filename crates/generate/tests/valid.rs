//! Generated histories are what they claim to be, and the checker agrees at every size and shape.

use proptest::prelude::*;
use seriatim_check::{AnomalyGroup, Answer, Checker, Counted};
use seriatim_generate::{KeyChoice, LEVELS, Workload, can_be_planted, generate};
use seriatim_history::{OpId, Status, TxnId};
use seriatim_isolation::{Anomaly, Guarantee, Level, Order, oracle};
use seriatim_verify::{verify_order, verify_proof};

fn workloads() -> impl Strategy<Value = Workload> {
    let choice = prop_oneof![
        Just(KeyChoice::Uniform),
        Just(KeyChoice::Zipfian { exponent: 0.99 }),
        Just(KeyChoice::Hotspot { keys: 0.2, operations: 0.8 }),
    ];
    let level = proptest::sample::select(LEVELS.to_vec());
    (1..6u32, 0..30u32, 0..7u32, 1..12u32, 0.0..1.0f64, choice, level, 0.0..0.3f64, any::<u64>())
        .prop_map(
            |(
                sessions,
                txns_per_session,
                ops_per_txn,
                keys,
                reads,
                key_choice,
                level,
                aborts,
                seed,
            )| Workload {
                sessions,
                txns_per_session,
                ops_per_txn,
                keys,
                reads,
                key_choice,
                level,
                order: Order::Sessions,
                aborts,
                plant: Vec::new(),
                committed_only: false,
                initial_writes: false,
                seed,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The promised level holds with a commit order that the verifier accepts.
    #[test]
    fn the_promise_is_kept(workload in workloads()) {
        let history = generate(&workload).unwrap();
        let level = workload.level;
        let checker = Checker::new().levels([level]);
        let verdict = checker.check(&history).verdicts.remove(0);
        prop_assert_eq!(verdict.answer(), Answer::Holds);
        verify_proof(&history, level, verdict.proof().unwrap()).unwrap();
        verify_order(&history, level, &verdict.commit_order().unwrap()).unwrap();
    }

    /// So is that of another order; with real time no read is stale.
    #[test]
    fn the_promise_is_kept_with_every_order(mut workload in workloads(), initial_writes: bool) {
        workload.initial_writes = initial_writes;
        for order in [Order::None, Order::RealTime] {
            workload.order = order;
            let history = generate(&workload).unwrap();
            prop_assert!(history.has_times() == (order == Order::RealTime));
            let checker = Checker::new().levels([workload.level]).order(order);
            let verdict = checker.check(&history).verdicts.remove(0);
            prop_assert_eq!(verdict.answer(), Answer::Holds);
            let asked = Guarantee::new(workload.level, order);
            verify_proof(&history, asked, verdict.proof().unwrap()).unwrap();
        }
    }

    /// On small ones all levels agree with the definitions, also those that the store does not
    /// promise.
    #[test]
    fn small_ones_agree_with_the_oracle(mut workload in workloads(), per_session in 1..3u32) {
        workload.sessions = workload.sessions.min(3);
        workload.txns_per_session = per_session;
        workload.keys = workload.keys.min(4);
        let history = generate(&workload).unwrap();
        for verdict in Checker::new().check(&history).verdicts {
            let satisfies = oracle::satisfies(&history, verdict.level);
            prop_assert_eq!(verdict.answer() == Answer::Holds, satisfies);
        }
    }
}

/// The histories of an order are not simply those of sessions.
#[test]
fn orders_make_a_difference() {
    for level in LEVELS.into_iter().filter(|&level| level != Level::Serializable) {
        let plain = Workload { level, keys: 20, ..Workload::default() };
        let violates = |order, asked| {
            let history = generate(&Workload { order, ..plain.clone() }).unwrap();
            Checker::new().levels([level]).order(asked).check(&history).violates(level)
        };
        if level != Level::ReadCommitted {
            assert!(violates(Order::None, Order::Sessions), "{level} without sessions");
        }
        assert!(!violates(Order::RealTime, Order::RealTime), "{level} with real time");
    }
}

#[test]
fn each_kind_can_be_planted_and_is_found_as_that_kind() {
    for kind in Anomaly::ALL.into_iter().filter(|kind| kind.info().tap.is_some()) {
        for level in LEVELS {
            let workload = Workload { plant: vec![kind], level, seed: 7, ..Workload::default() };
            let report = Checker::new().check(&generate(&workload).unwrap());
            let planted = report.anomalies.iter().find(|group| group.kind == kind);
            assert!(planted.is_some(), "{kind:?} in {level}");
            if level >= Level::Causal {
                // The store may show anomalies of stronger levels than it promises.
                let forbids =
                    |group: &&AnomalyGroup| group.kind.info().forbidden_by.contains(&level);
                let forbidden = report.anomalies.iter().filter(forbids).map(|group| group.kind);
                assert_eq!(forbidden.collect::<Vec<_>>(), [kind], "in {level}");
                for level in Level::WEAK.into_iter().chain([Level::CutIsolation]) {
                    let violated = report.verdict(level).unwrap().answer() == Answer::Violated;
                    assert_eq!(
                        violated,
                        kind.info().forbidden_by.contains(&level),
                        "{kind:?} at {level}"
                    );
                }
            }
        }
    }
}

#[test]
fn each_kind_of_the_strong_levels_can_be_planted_and_is_named() {
    let strong =
        Anomaly::ALL.into_iter().filter(|&kind| kind.info().tap.is_none() && can_be_planted(kind));
    for kind in strong {
        let workload = Workload {
            plant: vec![kind],
            level: Level::Serializable,
            seed: 7,
            ..Workload::default()
        };
        let report = Checker::new().check(&generate(&workload).unwrap());
        let kinds: Vec<Anomaly> = report.anomalies.iter().map(|group| group.kind).collect();
        assert_eq!(kinds, [kind]);
        assert!(report.anomalies[0].exemplar.txn_count() <= 8, "{kind:?}");
        for verdict in report.verdicts {
            let forbidden = kind.info().forbidden_by.contains(&verdict.level);
            assert_eq!(
                verdict.answer() == Answer::Violated,
                forbidden,
                "{kind:?} at {}",
                verdict.level
            );
        }
    }
}

#[test]
fn the_weak_stores_are_weak() {
    let big = |level| Workload { level, keys: 20, txns_per_session: 200, ..Workload::default() };
    let strongest = |level| Checker::new().check(&generate(&big(level)).unwrap()).strongest();
    assert_eq!(strongest(Level::ReadCommitted), Some(Level::ReadCommitted));
    assert_eq!(strongest(Level::ReadAtomic), Some(Level::ReadAtomic));
    assert_eq!(strongest(Level::Causal), Some(Level::Causal));
}

#[test]
fn the_seed_decides() {
    let texts: Vec<String> = [1, 1, 2]
        .iter()
        .map(|&seed| {
            let history = generate(&Workload { seed, ..Workload::default() }).unwrap();
            format!("{:?} {:?}", history.values(), history.keys())
        })
        .collect();
    assert_eq!(texts[0], texts[1]);
    assert_ne!(texts[0], texts[2]);
}

#[test]
fn impossible_workloads_are_refused() {
    assert!(generate(&Workload { sessions: 0, ..Workload::default() }).is_err());
    assert!(generate(&Workload { reads: 1.5, ..Workload::default() }).is_err());
    assert!(generate(&Workload { reads: f64::NAN, ..Workload::default() }).is_err());
    assert!(
        generate(&Workload {
            key_choice: KeyChoice::Zipfian { exponent: -1.0 },
            ..Workload::default()
        })
        .is_err()
    );
    assert!(
        generate(&Workload { plant: vec![Anomaly::IncompatibleOrder], ..Workload::default() })
            .is_err()
    );
    let huge = Workload { sessions: u32::MAX, txns_per_session: u32::MAX, ..Workload::default() };
    assert!(generate(&huge).unwrap_err().to_string().contains("operations"));
}

#[test]
fn what_is_too_large_is_refused_before_it_takes_memory() {
    let cases = [
        ("keys", Workload { keys: u32::MAX, ..Workload::default() }),
        ("sessions", Workload { sessions: u32::MAX, txns_per_session: 0, ..Workload::default() }),
        (
            "sessions of a causal store",
            Workload { sessions: 16_385, level: Level::Causal, ..Workload::default() },
        ),
        (
            "transactions",
            Workload {
                sessions: 1 << 16,
                txns_per_session: 1 << 15,
                ops_per_txn: 0,
                ..Workload::default()
            },
        ),
        ("operations", Workload { ops_per_txn: u32::MAX, ..Workload::default() }),
    ];
    for (what, workload) in cases {
        let error = generate(&workload).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{what}: ")) && error.contains("can be generated"),
            "{error}"
        );
    }
}

#[test]
fn initial_values_can_be_writes_and_aborted_transactions_can_be_left_out() {
    for level in LEVELS {
        let plain = Workload { level, keys: 50, ..Workload::default() };
        let workload = Workload { initial_writes: true, committed_only: true, ..plain.clone() };
        let (before, after) = (generate(&plain).unwrap(), generate(&workload).unwrap());
        assert_eq!(after.session_count(), before.session_count() + 1);
        assert!(after.txns().all(|txn| after.status(txn) == Status::Committed));
        let zero = after.initial().default.unwrap();
        let reads = after
            .kinds()
            .iter()
            .zip(after.keys())
            .zip(after.values())
            .filter(|((kind, _), _)| !kind.is_write());
        let first: Vec<_> = after.ops_of(TxnId(0)).map(|op| after.op(OpId(op)).key).collect();
        assert!(
            reads.filter(|(_, value)| **value == zero).all(|((_, key), _)| first.contains(key))
        );
        let strongest = |history| Checker::new().check(history).strongest();
        assert!(strongest(&after) >= strongest(&before), "{level}");
    }
}

/// Ten kinds from read committed to serializability, in places that share nothing.
const TEN_KINDS: [Anomaly; 10] = [
    Anomaly::ThinAirRead,
    Anomaly::AbortedRead,
    Anomaly::NonMonotonicReadCausal,
    Anomaly::FracturedReadCausal,
    Anomaly::CausalityViolation,
    Anomaly::DirtyWrite,
    Anomaly::ReadSkew,
    Anomaly::LongFork,
    Anomaly::LostUpdate,
    Anomaly::WriteSkew,
];

/// A thin-air read used to hide all the others: the strong levels were not looked at.
#[test]
fn ten_kinds_in_disjoint_places_are_all_found_in_one_run() {
    for txns_per_session in [0, 20, 2000] {
        let workload = Workload {
            plant: TEN_KINDS.to_vec(),
            sessions: 10,
            txns_per_session,
            ops_per_txn: 10,
            keys: 2000,
            level: Level::Serializable,
            ..Workload::default()
        };
        let report = Checker::new().check(&generate(&workload).unwrap());
        let found: Vec<(Anomaly, u64)> =
            report.anomalies.iter().map(|group| (group.kind, group.count)).collect();
        assert_eq!(found, TEN_KINDS.map(|kind| (kind, 1)), "{txns_per_session} transactions each");
        assert!(!report.search_ended_early);
    }
}

#[test]
fn what_two_transactions_do_to_each_other_is_counted_exactly() {
    for (kind, count) in [(Anomaly::LostUpdate, 50), (Anomaly::WriteSkew, 70)] {
        let plant = vec![kind; count];
        let workload = Workload { plant, level: Level::Serializable, ..Workload::default() };
        let report = Checker::new().check(&generate(&workload).unwrap());
        let found: Vec<_> =
            report.anomalies.iter().map(|group| (group.kind, group.count, group.counted)).collect();
        assert_eq!(found, [(kind, count as u64, Counted::Exactly)]);
    }
}
