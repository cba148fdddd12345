//! The store as its users see it.

use seriatim_check::{Answer, Checker, check};
use seriatim_isolation::{Level, Order};
use seriatim_store::{
    Adversary, Asker, Choice, Chooser, Clock, Divergence, Group, LEVELS, Latest, Question, Random,
    Script, Stale, Store, StoreError, TxnName,
};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn small_random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// What threads do to a store, all at once, checks at its level; and nothing ever blocks.
#[test]
fn threads_leave_a_history_that_satisfies_the_level() {
    for level in LEVELS {
        let store: Store<u64> =
            Store::<u64>::builder(level).chooser(Random::new(5)).build().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let session = store.session();
                scope.spawn(move || {
                    let mut state = thread + 1;
                    for number in 0..60 {
                        let mut txn = session.begin().unwrap();
                        let mut failed = false;
                        for _ in 0..3 {
                            let key = format!("k{}", small_random(&mut state, 5));
                            let result = match small_random(&mut state, 2) {
                                0 => txn.read(&key).map(drop),
                                _ => txn.write(&key, thread * 1000 + number),
                            };
                            failed |= result == Err(StoreError::SerializationFailure(level));
                        }
                        assert!(!failed || level.is_strong());
                        if small_random(&mut state, 10) == 0 {
                            txn.abort();
                        } else {
                            let committed = txn.commit();
                            assert!(committed.is_ok() || level.is_strong());
                        }
                    }
                });
            }
        });
        let report = check(&store.history(), level);
        assert_eq!(report.verdict(level).unwrap().answer(), Answer::Holds, "{level}");
    }
}

#[test]
fn own_writes_are_read_and_aborted_ones_are_not() {
    let store: Store<i64> = Store::new(Level::ReadCommitted).unwrap();
    let session = store.session();
    let mut txn = session.begin().unwrap();
    txn.write("x", 1).unwrap();
    assert_eq!(txn.read("x"), Ok(Some(1)));
    txn.remove("x").unwrap();
    assert_eq!(txn.read("x"), Ok(None));
    drop(txn);
    let mut txn = session.begin().unwrap();
    assert_eq!(txn.read("x"), Ok(None));
    assert!(matches!(session.begin(), Err(StoreError::TransactionOpen)));
    assert_eq!(txn.compare_and_set("x", None, 5), Ok(true));
    assert_eq!(txn.compare_and_set("x", Some(&4), 6), Ok(false));
    txn.write("xy", 7).unwrap();
    txn.write("z", 8).unwrap();
    assert_eq!(txn.scan("x"), Ok(vec![("x".to_owned(), 5), ("xy".to_owned(), 7)]));
    assert_eq!(txn.commit(), Ok(()));
}

#[test]
fn what_was_read_before_writes_were_taken_back_goes_on_to_count() {
    for (withdraws, again) in [(true, vec![Some(1)]), (false, vec![None, Some(1)])] {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..20 {
            let store: Store<i64> =
                Store::<i64>::builder(Level::Causal).chooser(Latest).build().unwrap();
            let (writer, reader) = (store.session(), store.session());
            let mut txn = writer.begin().unwrap();
            txn.write("x", 1).unwrap();
            txn.commit().unwrap();
            let mut txn = reader.begin().unwrap();
            assert_eq!(txn.read("x"), Ok(Some(1)));
            txn.write("y", 2).unwrap();
            if withdraws {
                txn.withdraw().unwrap()
            } else {
                txn.abort()
            }
            store.set_chooser(Random::new(seed));
            let mut txn = reader.begin().unwrap();
            assert_eq!(txn.read("y"), Ok(None));
            seen.insert(txn.read("x").unwrap());
            txn.commit().unwrap();
            let history = store.history();
            let aborted = history
                .txns()
                .filter(|&txn| history.status(txn) == seriatim_history::Status::Aborted);
            assert_eq!((aborted.count(), history.txn_count()), (1, 3));
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), again);
    }
}

#[test]
fn what_cannot_have_been_read_any_more_cannot_be_kept() {
    let store: Store<i64> =
        Store::<i64>::builder(Level::Serializable).chooser(Latest).build().unwrap();
    let (one, two, three) = (store.session(), store.session(), store.session());
    let mut write = three.begin().unwrap();
    write.write("y", 1).unwrap();
    write.commit().unwrap();
    // The one that is open comes behind the writer of y and before that of x, which comes before
    // the writer of y.
    let mut open = one.begin().unwrap();
    assert_eq!((open.read("y"), open.read("x")), (Ok(Some(1)), Ok(None)));
    store.set_chooser(Script::new([Choice {
        reader: TxnName { session: 1, txn: 0 },
        read: 0,
        key: "y".to_owned(),
        writer: None,
        latest: false,
    }]));
    let mut other = two.begin().unwrap();
    assert_eq!(other.read("y"), Ok(None));
    other.write("x", 1).unwrap();
    other.commit().unwrap();
    assert_eq!(open.withdraw(), Err(StoreError::SerializationFailure(Level::Serializable)));
}

#[test]
fn a_lost_update_is_refused_at_snapshot_isolation_and_allowed_below() {
    for level in LEVELS {
        let store: Store<i64> = Store::<i64>::builder(level).chooser(Latest).build().unwrap();
        store.load("n", 0);
        let sessions = [store.session(), store.session()];
        let mut txns: Vec<_> = sessions.iter().map(|session| session.begin().unwrap()).collect();
        for txn in &mut txns {
            let n = txn.read("n").unwrap().unwrap();
            txn.write("n", n + 1).unwrap();
        }
        let results: Vec<bool> = txns.into_iter().map(|txn| txn.commit().is_ok()).collect();
        assert_eq!(results, [true, level < Level::SnapshotIsolation], "{level}");
    }
}

#[test]
fn a_script_makes_the_same_choices_and_says_where_it_is_left() {
    let run = |store: &Store<i64>, keys: &[&str]| {
        let (writer, reader) = (store.session(), store.session());
        for value in 1..=3 {
            let mut txn = writer.begin().unwrap();
            txn.write("x", value).unwrap();
            txn.write("y", value).unwrap();
            txn.commit().unwrap();
        }
        let mut txn = reader.begin().unwrap();
        keys.iter().map(|key| txn.read(key).unwrap()).collect::<Vec<_>>()
    };
    let store: Store<i64> =
        Store::<i64>::builder(Level::ReadCommitted).chooser(Stale::new(1)).build().unwrap();
    let values = run(&store, &["x", "y"]);
    let script = || Script::new(store.choices());
    let (same, track) = (script(), script().track());
    let again: Store<i64> =
        Store::<i64>::builder(Level::ReadCommitted).chooser(same).build().unwrap();
    assert_eq!(run(&again, &["x", "y"]), values);
    assert_eq!((again.choices(), track.divergence()), (store.choices(), None));
    let other = script();
    let track = other.track();
    let again: Store<i64> =
        Store::<i64>::builder(Level::ReadCommitted).chooser(other).build().unwrap();
    run(&again, &["y"]);
    let reader = TxnName { session: 1, txn: 0 };
    let expected = Divergence::OtherKey { reader, key: "y".to_owned(), expected: "x".to_owned() };
    assert_eq!(track.divergence(), Some(expected));
    let choice = Choice {
        reader,
        read: 0,
        key: "x".to_owned(),
        writer: Some(TxnName { session: 0, txn: 9 }),
        latest: true,
    };
    let impossible = Script::new([choice]);
    let track = impossible.track();
    let again: Store<i64> =
        Store::<i64>::builder(Level::ReadCommitted).chooser(impossible).build().unwrap();
    run(&again, &["x"]);
    assert!(matches!(track.divergence(), Some(Divergence::NotAdmissible { .. })));
}

#[test]
fn one_transaction_at_a_time_waits_but_not_forever() {
    let patience = Duration::from_millis(50);
    let store: Store<i64> = Store::<i64>::builder(Level::Causal).serial(patience).build().unwrap();
    let (one, two) = (store.session(), store.session());
    let txn = one.begin().unwrap();
    assert_eq!(two.begin().err(), Some(StoreError::WaitedTooLong(patience)));
    drop(txn);
    assert!(two.begin().is_ok());
}

#[test]
fn levels_that_a_store_cannot_keep_are_refused() {
    for level in [Level::Unconstrained, Level::CutIsolation, Level::StrictSerializable] {
        let refused = StoreError::UnsupportedLevel(level);
        assert_eq!(Store::<i64>::builder(level).build::<i64>().err(), Some(refused.clone()));
        assert_eq!(Store::<i64>::new(level).err(), Some(refused));
    }
    let store: Store<i64> = Store::new(Level::Causal).unwrap();
    assert!(matches!(
        store.session().begin_at(Level::StrictSerializable),
        Err(StoreError::UnsupportedLevel(_))
    ));
}

#[test]
fn values_that_were_written_twice_are_told_apart() {
    let store: Store<String> =
        Store::<String>::builder(Level::Causal).chooser(Latest).build().unwrap();
    store.load("x", "same".to_owned());
    let session = store.session();
    for _ in 0..3 {
        let mut txn = session.begin().unwrap();
        assert_eq!(txn.read("x"), Ok(Some("same".to_owned())));
        txn.write("x", "same".to_owned()).unwrap();
        txn.commit().unwrap();
    }
    let report = Checker::new().check(&store.history());
    assert_eq!(report.strongest(), Some(Level::Serializable));
}

/// Sessions that take turns at random. What happened, as seen from outside, in the notation of
/// histories, and the store.
fn run_with_horizon(
    levels: &[Level],
    seed: u64,
    horizon: u32,
    txns: usize,
) -> (String, Store<u64>) {
    let horizon = std::num::NonZeroU32::new(horizon).unwrap();
    let chooser: Box<dyn Chooser> = if seed.is_multiple_of(2) {
        Box::new(Random::new(seed))
    } else {
        Adversary::new(seed).run(0).chooser
    };
    let store: Store<u64> =
        Store::<u64>::builder(levels[0]).chooser(chooser).horizon(horizon).build().unwrap();
    (run_clients(&store, levels, seed, txns), store)
}

/// Four sessions take turns at random. What happened, as seen from outside.
fn run_clients(store: &Store<u64>, levels: &[Level], seed: u64, txns: usize) -> String {
    let sessions: Vec<_> = (0..4).map(|_| store.session()).collect();
    let mut open: Vec<Option<(seriatim_store::Txn<u64>, Vec<String>)>> =
        (0..4).map(|_| None).collect();
    let mut told: Vec<Vec<String>> = vec![Vec::new(); 4];
    let (mut state, mut done, mut value) = (seed, 0, 0);
    while done < txns {
        let client = small_random(&mut state, 4) as usize;
        let Some((txn, ops)) = open[client].as_mut() else {
            let level = levels[small_random(&mut state, levels.len() as u64) as usize];
            open[client] = Some((sessions[client].begin_at(level).unwrap(), Vec::new()));
            continue;
        };
        let key = format!("k{}", small_random(&mut state, 4));
        match small_random(&mut state, 8) {
            0..=2 => {
                let Ok(found) = txn.read(&key) else {
                    open[client] = None;
                    continue;
                };
                ops.push(format!(
                    "r({key},{})",
                    found.map_or("nil".to_owned(), |found| found.to_string())
                ));
            }
            3..=5 => {
                value += 1;
                txn.write(&key, value).unwrap();
                ops.push(format!("w({key},{value})"));
            }
            6 => {
                let (txn, mut ops) = open[client].take().unwrap();
                if value % 3 == 0 {
                    // To others it has read what it read before it wrote.
                    if txn.withdraw().is_err() {
                        continue;
                    }
                    let (mut written, mut own) = (Vec::new(), Vec::new());
                    for (place, op) in ops.iter().enumerate() {
                        let key = op[2..].split(',').next().unwrap_or_default().to_owned();
                        if op.starts_with('w') {
                            written.push(key);
                        } else if written.contains(&key) {
                            own.push(place);
                        }
                    }
                    let mut place = 0;
                    ops.retain(|op| {
                        place += 1;
                        op.starts_with('r') && !own.contains(&(place - 1))
                    });
                } else if txn.commit().is_err() {
                    continue;
                }
                told[client].push(ops.join(" "));
                done += 1;
            }
            _ => drop(open[client].take_if(|_| small_random(&mut state, 4) == 0)),
        }
    }
    let lines =
        told.iter().enumerate().map(|(client, txns)| format!("s{client}: {}\n", txns.join(" | ")));
    lines.collect()
}

fn assert_holds(level: Level, history: &seriatim_history::History, about: &str) {
    let report = check(history, level);
    assert_eq!(report.verdict(level).unwrap().answer(), Answer::Holds, "{level}, {about}");
}

const WEAK: [Level; 3] = [Level::ReadCommitted, Level::ReadAtomic, Level::Causal];

#[test]
fn with_a_horizon_everything_that_happened_satisfies_the_level_and_so_does_what_is_remembered() {
    let strong = |place: usize| &LEVELS[place..=place];
    let alone = [&WEAK[..1], &WEAK[1..2], &WEAK[2..], strong(3), strong(4), strong(5)];
    // A mix is checked at its weakest level, which comes first.
    for levels in alone.into_iter().chain([&WEAK, &LEVELS[..], &LEVELS[3..]]) {
        // At strong levels a sequence is searched for again and again.
        let seeds = if levels.iter().all(|level| !level.is_strong()) { 150 } else { 30 };
        for seed in 0..seeds {
            let (text, store) = run_with_horizon(levels, seed, 1 + seed as u32 % 9, 60);
            let whole = seriatim_history::notation::parse(&text).unwrap();
            assert_holds(levels[0], &whole, &format!("seed {seed}:\n{text}"));
            assert_holds(levels[0], &store.history(), &format!("seed {seed}, what is remembered"));
        }
        for txns in [300, 3000] {
            let store = run_with_horizon(levels, 4, 10, txns).1;
            let count = store.history().txn_count();
            assert!(count < 200, "{levels:?}: {count} transactions are remembered of {txns}");
            assert!(store.choices().len() < 500, "{levels:?}");
        }
    }
}

#[test]
fn a_horizon_forgets_what_was_aborted_and_sessions_that_come_and_go() {
    let horizon = std::num::NonZeroU32::new(5).unwrap();
    let store: Store<u64> = Store::<u64>::builder(Level::Causal).horizon(horizon).build().unwrap();
    for number in 0..500 {
        let mut txn = store.session().begin().unwrap();
        txn.read("x").unwrap();
        txn.write("x", number).unwrap();
        if number % 7 == 0 { txn.commit().unwrap() } else { txn.abort() }
    }
    let count = store.history().txn_count();
    assert!(count < 30, "{count} transactions are remembered");
}

#[test]
fn a_transaction_that_failed_has_ended() {
    let store: Store<i64> =
        Store::<i64>::builder(Level::Serializable).chooser(Latest).build().unwrap();
    let (one, two) = (store.session(), store.session());
    let (mut first, mut second) = (one.begin().unwrap(), two.begin().unwrap());
    for txn in [&mut first, &mut second] {
        txn.read("x").unwrap();
        txn.write("x", 1).unwrap();
    }
    first.commit().unwrap();
    let failed = second.read("y").err().or_else(|| second.commit().err());
    assert_eq!(failed, Some(StoreError::SerializationFailure(Level::Serializable)));

    // At a read: what it must have read before and after cannot both be.
    let mut reader = two.begin().unwrap();
    reader.write("z", 1).unwrap();
    let mut failing = None;
    let script = ["a", "b", "c"];
    for round in 0..50 {
        let mut writer = one.begin().unwrap();
        script.iter().for_each(|key| writer.write(key, round).unwrap());
        writer.commit().unwrap();
        store.set_chooser(if round % 2 == 0 {
            Box::new(Latest) as Box<dyn Chooser>
        } else {
            Box::new(Stale::new(round as u64))
        });
        if let Err(error) = reader.read(script[round as usize % 3]) {
            failing = Some(error);
            break;
        }
    }
    if failing.is_some() {
        assert_eq!(reader.read("a"), Err(StoreError::Ended));
        assert_eq!(reader.write("a", 1), Err(StoreError::Ended));
        let next = two.begin().unwrap();
        assert_eq!(reader.read("a"), Err(StoreError::Ended));
        assert_eq!(two.begin().err(), Some(StoreError::TransactionOpen));
        next.commit().unwrap();
    }
}

#[test]
fn behind_the_horizon_only_the_last_version_is_read() {
    let horizon = std::num::NonZeroU32::new(6).unwrap();
    let store: Store<i64> = Store::<i64>::builder(Level::Causal)
        .chooser(Stale::new(1))
        .horizon(horizon)
        .build()
        .unwrap();
    let (writer, reader) = (store.session(), store.session());
    let mut seen = Vec::new();
    for value in 1..=7 {
        let mut txn = writer.begin().unwrap();
        txn.write("x", value).unwrap();
        txn.commit().unwrap();
        let mut txn = reader.begin().unwrap();
        let found = txn.read("x").unwrap();
        txn.abort();
        // The store settles after every third round, which ends two transactions.
        let settled = (value - 1) / 3 * 3;
        assert!(found.unwrap_or(0) >= settled, "{found:?} after {value}");
        seen.push(found.unwrap_or(0) < value);
    }
    assert!(seen.contains(&true), "an old version is still read sometimes");
}

/// With every order each level holds; with less order some histories show that there was less.
#[test]
fn levels_hold_with_the_order_that_was_asked_for() {
    for order in Order::ALL {
        let mut violated = 0;
        for level in LEVELS {
            for seed in 0..40 {
                let store: Store<u64> = Store::<u64>::builder(level)
                    .chooser(Random::new(seed))
                    .clock(Clock::Steps)
                    .order(order)
                    .build()
                    .unwrap();
                let text = run_clients(&store, &[level], seed, 12);
                let answer = |order: Order| {
                    let report = Checker::new().order(order).check(&store.history());
                    report.verdict(level).unwrap().answer()
                };
                assert_eq!(answer(order), Answer::Holds, "{level} {order:?} seed {seed}:\n{text}");
                violated += u32::from(answer(Order::RealTime) == Answer::Violated);
            }
        }
        assert_eq!(violated > 100, order != Order::RealTime, "{order:?}: {violated}");
    }
}

/// Tables of a hundred members, changed and read at random; what is read is compared with versions
/// that were ever written, and at strong levels one at a time with the last one.
#[test]
fn members_that_are_forgotten_are_found_in_the_base() {
    use std::collections::HashMap;
    type Kept = HashMap<(Group, u32), Option<u64>>;
    for (place, level) in LEVELS.into_iter().enumerate() {
        let horizon = std::num::NonZeroU32::new(7).unwrap();
        let store: Store<u64> =
            Store::<u64>::builder(level).chooser(Latest).horizon(horizon).build().unwrap();
        let base: Arc<Mutex<Kept>> = Arc::default();
        let keeper = Arc::clone(&base);
        store.set_base(move |cells| {
            let mut base = keeper.lock().unwrap();
            base.extend(cells.into_iter().map(|cell| ((cell.group, cell.member), cell.value)));
        });
        let mut expected: HashMap<(Group, u32), u64> = HashMap::new();
        let (mut state, session) = (place as u64, store.session());
        for number in 0..2000 {
            let group = Group(small_random(&mut state, 3));
            let member = small_random(&mut state, 100) as u32;
            let mut txn = session.begin().unwrap();
            txn.begin_statement(Default::default());
            let initial = |member: u32| base.lock().unwrap().get(&(group, member)).copied();
            let found: HashMap<u32, Option<u64>> =
                txn.read_group(group, None).unwrap().into_iter().collect();
            for member in 0..100 {
                let kept = || initial(member).flatten();
                let value = found.get(&member).copied().flatten().or_else(kept);
                assert_eq!(value, expected.get(&(group, member)).copied(), "{level} {number}");
            }
            txn.write_member(group, member, number).unwrap();
            txn.commit().unwrap();
            expected.insert((group, member), number);
        }
        let left = store.history().key_count();
        assert!(left < 40 && base.lock().unwrap().len() > 150, "{level}: {left}");
    }
}

/// Statements read all members of a group, or many of them one by one, and their reads are told as
/// scans: at read committed the order counts in which they read.
#[test]
fn histories_with_scans_satisfy_the_level() {
    const ROWS: Group = Group(0);
    for level in LEVELS {
        for seed in 0..40 {
            let store: Store<u64> =
                Store::<u64>::builder(level).chooser(Random::new(seed)).build().unwrap();
            let sessions = [store.session(), store.session(), store.session()];
            let mut state = seed;
            for number in 0..60 {
                let mut txn = sessions[small_random(&mut state, 3) as usize].begin().unwrap();
                txn.begin_statement(Default::default());
                if small_random(&mut state, 2) == 0 {
                    txn.read_group(ROWS, None).unwrap();
                } else {
                    let from = small_random(&mut state, 20) as u32;
                    for place in 0..20 {
                        txn.read_member(ROWS, (from + 7 * place) % 20).unwrap();
                    }
                }
                txn.begin_statement(Default::default());
                let count = small_random(&mut state, 4);
                let members = (0..count).map(|_| small_random(&mut state, 20) as u32);
                let members: Vec<u32> = members.collect();
                // What the level refuses is aborted.
                let mut write = |member: u32| txn.write_member(ROWS, member, number);
                if members.into_iter().all(|member| write(member).is_ok()) {
                    let _ = txn.commit();
                }
            }
            let answer = check(&store.history(), level).verdict(level).unwrap().answer();
            assert_eq!(answer, Answer::Holds, "{level} {seed}");
        }
    }
}

#[cfg(feature = "async")]
#[test]
fn asynchronous_code_waits_for_its_turn_and_not_for_ever() {
    use futures_executor::block_on;
    let patience = Duration::from_millis(50);
    let store: Store<i64> = Store::<i64>::builder(Level::Causal).serial(patience).build().unwrap();
    let (one, two) = (store.session(), store.session());
    let txn = block_on(one.begin_async()).unwrap();
    assert_eq!(block_on(two.begin_async()).err(), Some(StoreError::WaitedTooLong(patience)));
    assert_eq!(block_on(one.begin_async()).err(), Some(StoreError::TransactionOpen));
    drop(txn);
    let store: Store<i64> =
        Store::<i64>::builder(Level::Causal).serial(Duration::from_secs(60)).build().unwrap();
    let (one, two) = (store.session(), store.session());
    let txn = one.begin().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(5));
            txn.commit().unwrap();
        });
        block_on(two.begin_at_async(Level::ReadCommitted)).unwrap().commit().unwrap();
    });
    let delayed: Store<i64> =
        Store::<i64>::builder(Level::Causal).delay(Duration::from_millis(4), 1).build().unwrap();
    let start = std::time::Instant::now();
    for _ in 0..10 {
        block_on(delayed.session().begin_async()).unwrap().commit().unwrap();
        delayed.session().begin().unwrap().commit().unwrap();
    }
    assert!(start.elapsed() > Duration::from_millis(8), "twenty waits of up to 4 ms");
}

#[test]
fn times_say_what_ended_before_what_began() {
    for clock in [Clock::Steps, Clock::Monotonic] {
        let store: Store<i64> =
            Store::<i64>::builder(Level::ReadCommitted).clock(clock).build().unwrap();
        let (one, two, three) = (store.session(), store.session(), store.session());
        let (first, second) = (one.begin().unwrap(), two.begin().unwrap());
        first.commit().unwrap();
        let third = three.begin().unwrap();
        second.abort();
        let open = one.begin().unwrap();
        third.withdraw().unwrap();
        let history = store.history();
        // By session: the first and the one that is open; the second; the third.
        let times: Vec<(i64, i64)> =
            history.txns().map(|txn| history.times(txn).unwrap()).collect();
        let [first, last, second, third] = times[..] else { panic!("{times:?}") };
        assert!(first.1 < third.0 && first.1 < last.0 && second.1 < last.0, "{times:?}");
        assert!(second.0 < first.1 && third.0 < second.1 && last.0 < third.1, "{times:?}");
        assert_eq!(last.1, i64::MAX);
        drop(open);
    }
    assert!(!Store::<i64>::new(Level::ReadCommitted).unwrap().history().has_times());
}

#[test]
fn what_is_forgotten_takes_its_times_along() {
    let store: Store<i64> = Store::<i64>::builder(Level::Causal)
        .clock(Clock::Steps)
        .horizon(NonZeroU32::new(4).unwrap())
        .build()
        .unwrap();
    let session = store.session();
    for value in 0..50 {
        let mut txn = session.begin().unwrap();
        txn.write("x", value).unwrap();
        txn.commit().unwrap();
    }
    let history = store.history();
    let times: Vec<(i64, i64)> = history.txns().filter_map(|txn| history.times(txn)).collect();
    assert!(times.len() < 20 && times.len() == history.txn_count(), "{times:?}");
    assert_eq!(times.last(), Some(&(98, 99)));
}

/// Somebody who does something at the first question, and has no opinion.
struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Asker for Meanwhile {
    fn ask(&self, _: Question) -> Option<Option<TxnName>> {
        let act = self.0.lock().unwrap().take();
        act.into_iter().for_each(|act| act());
        None
    }
}

/// A group of rows that each have two versions, and another key; while the reader of the group is
/// asked about the first row, another session inserts a row and changes the last one and the key.
/// Returns what the reader saw: the rows, and the key.
fn read_while_others_insert(store: &Store<u64>) -> (Vec<(u32, Option<u64>)>, Option<u64>) {
    const ROWS: Group = Group(1);
    let write = |rows: &[(u32, u64)], key: u64| {
        let mut txn = store.session().begin().unwrap();
        rows.iter().for_each(|&(row, value)| txn.write_member(ROWS, row, value).unwrap());
        txn.write("u", key).unwrap();
        txn.commit().unwrap();
    };
    let rows: Vec<(u32, u64)> = (0..12).map(|row| (row, 1)).collect();
    write(&rows, 1);
    let other = store.session();
    let insert = move || {
        let mut txn = other.begin().unwrap();
        for row in [11, 12] {
            txn.write_member(ROWS, row, 2).unwrap();
        }
        txn.write("u", 2).unwrap();
        txn.commit().unwrap();
    };
    store.set_asker(Arc::new(Meanwhile(Mutex::new(Some(Box::new(insert))))));
    let reader = store.session();
    let mut txn = reader.begin().unwrap();
    txn.begin_statement(Default::default());
    let found = txn.read_group(ROWS, None).unwrap();
    // A second look is the same statement: what came since then is absent.
    assert_eq!(txn.read_group(ROWS, None).unwrap(), found);
    txn.begin_statement(Default::default());
    let key = txn.read("u").unwrap();
    txn.commit().unwrap();
    (found, key)
}

#[test]
fn rows_that_come_while_a_person_is_asked_are_absent_for_the_reader() {
    for level in LEVELS {
        let store: Store<u64> = Store::<u64>::builder(level).chooser(Latest).build().unwrap();
        let (rows, key) = read_while_others_insert(&store);
        assert!(rows.iter().all(|&(row, _)| row != 12), "{level}: {rows:?}");
        // Only read committed may see the one who inserted and miss the row.
        let sees = key == Some(2) || rows.contains(&(11, Some(2)));
        assert_eq!(sees, level == Level::ReadCommitted, "{level}: {rows:?} {key:?}");
        let history = store.history();
        let report = check(&history, level);
        assert_eq!(report.verdict(level).unwrap().answer(), Answer::Holds, "{level}");
    }
}

#[test]
fn rows_that_are_forgotten_while_a_person_is_asked_are_left_to_the_base() {
    for level in LEVELS {
        let store: Store<u64> = Store::<u64>::builder(level)
            .chooser(Latest)
            .horizon(NonZeroU32::new(1).unwrap())
            .build()
            .unwrap();
        let forgotten: Arc<Mutex<Vec<u32>>> = Arc::default();
        let keeper = Arc::clone(&forgotten);
        store.set_base(move |cells| {
            keeper.lock().unwrap().extend(cells.into_iter().map(|cell| cell.member));
        });
        let write = |session: &seriatim_store::Session<u64>, row: u32, value: u64| {
            let mut txn = session.begin().unwrap();
            txn.write_member(Group(1), row, value).unwrap();
            txn.commit().unwrap();
        };
        let (one, other, reader) = (store.session(), store.session(), store.session());
        let mut txn = reader.begin().unwrap();
        txn.begin_statement(Default::default());
        (0..8).for_each(|row| write(&one, row, 1));
        let many = move || (0..40).for_each(|row| write(&other, 100 + row, 2));
        store.set_asker(Arc::new(Meanwhile(Mutex::new(Some(Box::new(many))))));
        let found = txn.read_group(Group(1), None).unwrap();
        assert!(found.iter().all(|&(row, value)| row < 8 && value != Some(2)), "{level}");
        txn.commit().unwrap();
    }
}

#[test]
fn a_glance_has_the_sessions_that_are_there_and_first_those_that_do_something() {
    let store: Store<u64> = Store::<u64>::new(Level::Causal).unwrap();
    let gone = store.session();
    gone.begin().unwrap().commit().unwrap();
    drop(gone);
    let all: Vec<_> = (0..40).map(|_| store.session()).collect();
    let open = all[35].begin().unwrap();
    all[38].begin().unwrap().commit().unwrap();
    let seen = store.glance(10, 10);
    assert_eq!((seen.sessions, seen.present.len(), seen.others), (41, 24, 16));
    let of = |number: u32| seen.present.iter().find(|session| session.number == number);
    assert!(of(0).is_none());
    assert_eq!(of(36).unwrap().open, Some(open.name()));
    assert_eq!(of(39).map(|session| (session.begun, session.open)), Some((1, None)));
    open.commit().unwrap();
    drop(all);
    assert!(store.glance(10, 10).present.is_empty());
}
