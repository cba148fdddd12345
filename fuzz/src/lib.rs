//! What the fuzz targets do with their bytes.

use flate2::read::GzEncoder;
use seriatim::certificate::{confirm, subject};
use seriatim_explore::lang::Source;
use seriatim_explore::{Explorer, replay};
use seriatim_history::formats::{Format, ReadOptions, read_bytes, write};
use seriatim_history::{History, OpId, notation};
use seriatim_isolation::{Guarantee, Level, Order, oracle};
use seriatim_report::certificate::{Claim, parse};
use seriatim_runs::{Predicted, Recording, run_directed};
use std::io::Read;
use std::sync::LazyLock;
use std::time::Duration;

/// Reads bytes as a history; what comes out must be consistent, and our own format must hold it.
pub fn read_and_walk(bytes: &[u8], format: Option<Format>) {
    for skip_unknown in [false, true] {
        let options = ReadOptions { format, threads: 2, skip_unknown, ..ReadOptions::default() };
        read_with(bytes, options);
    }
}

fn read_with(bytes: &[u8], options: ReadOptions) {
    let Ok((history, format)) = read_bytes(bytes, "fuzz", &options) else { return };
    walk(&history);
    let mut jsonl = Vec::new();
    write(&history, Format::Jsonl, &mut jsonl).expect("our own format holds everything");
    let again = ReadOptions { format: Some(Format::Jsonl), threads: 1, ..ReadOptions::default() };
    let (copy, _) = read_bytes(&jsonl, "copy", &again).expect("we read what we write");
    assert_eq!((copy.txn_count(), copy.op_count()), (history.txn_count(), history.op_count()));
    assert_eq!(copy.scanned_reads(), history.scanned_reads());
    assert_eq!(copy.statements().len(), history.statements().len());
    // It may refuse, but not panic, and what it writes it must read.
    let mut same = Vec::new();
    if !format.is_directory_format()
        && write(&history, format, &mut same).is_ok()
        && !same.is_empty()
    {
        let again = ReadOptions { format: Some(format), threads: 1, ..ReadOptions::default() };
        if let Err(error) = read_bytes(&same, "same", &again) {
            assert!(error.to_string().contains("no transactions"), "{error}");
        }
    }
}

fn walk(history: &History) {
    assert!(history.txn_count() > 0);
    for txn in history.txns() {
        let session = history.session_of(txn);
        assert!(history.txns_of(session).contains(&txn.0));
        history.txn_name(txn).to_string();
        history.session_name(session).to_string();
        for op in history.ops_of(txn).map(OpId) {
            let content = history.op(op);
            history.key_name(content.key).to_string();
            history.value_text(content.value);
            history.place(op).expect("everything comes from a file").to_string();
            assert!(history.scan_of(op).is_none_or(|scan| scan.txn == txn));
            assert!(history.statement_of(op).is_none_or(|statement| statement.txn == txn));
        }
    }
}

/// The bytes as a damaged compressed file, and as the content of a good one.
pub fn compressed(bytes: &[u8]) {
    for magic in [&[0x1f, 0x8b, 8, 0][..], &[0x28, 0xb5, 0x2f, 0xfd]] {
        read_and_walk(&[magic, bytes].concat(), None);
    }
    let mut gzip = Vec::new();
    GzEncoder::new(bytes, flate2::Compression::fast())
        .read_to_end(&mut gzip)
        .expect("memory does not fail");
    read_and_walk(&gzip, None);
    let zstd = zstd::encode_all(bytes, 1).expect("memory does not fail");
    read_and_walk(&zstd, None);
}

/// Histories that certificates may be about: a write skew, a lost update, values that were written
/// twice, times, lists.
const HISTORIES: [&str; 5] = [
    "a: r(x,0) w(y,1)\nb: r(y,0) w(x,1)",
    "a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)\nc: r(x,1)",
    "a: w(z,1)\nb: w(z,1)? | r(z,1)\nc: r(z,1) w(y,2) | r(y,nil)!",
    "a: w(x,1) @1-2 | w(x,2) @3-4\nb: r(x,1) @5-6",
    "a: a(l,1) | a(l,2)\nb: r(l,[1 2])\nc: r(l,[])",
];

/// For each history what the definition says of each level with each order.
static TRUTH: LazyLock<Vec<(History, Vec<(Guarantee, bool)>)>> = LazyLock::new(|| {
    let judge = |text: &str| {
        let history = notation::parse(text).expect("these are histories");
        let all = Order::ALL.into_iter().flat_map(|order| {
            Level::ALL.into_iter().map(move |level| Guarantee::new(level, order))
        });
        let truth = all.map(|asked| (asked, oracle::satisfies(&history, asked))).collect();
        (history, truth)
    };
    HISTORIES.into_iter().map(judge).collect()
});

/// Reads bytes as a certificate and asks whether it is true of each history: what is confirmed must
/// be.
pub fn certificate(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(certificate) = parse(text) else { return };
    for (history, truth) in TRUTH.iter() {
        let _ = certificate.subject.difference(&subject(history));
        let numbers = history.numbering();
        for (level, claim) in &certificate.claims {
            let asked = Guarantee::new(*level, certificate.order);
            let Some(Ok(())) = confirm(history, &numbers, asked, claim) else { continue };
            let claimed = matches!(claim, Claim::Holds(_));
            assert!(truth.contains(&(asked, claimed)), "{asked}: {claim:?}");
        }
    }
}

/// Reads bytes as a program and explores it for a moment: tokens rerun what they name, and no step
/// is in vain.
pub fn program(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(source) = Source::parse(text) else { return };
    let program = source.program();
    for level in [Level::ReadCommitted, Level::Causal, Level::SnapshotIsolation] {
        let explorer = Explorer::new(&program, level).budget(Duration::from_millis(5));
        let explored = explorer.run(&|end| {
            let token = end.token();
            let again = replay(&program, level, &token, |end| (end.token(), end.locals().to_vec()));
            assert_eq!(again.expect("it was explored"), (token, end.locals().to_vec()));
            source.check(end)
        });
        if let Ok(explored) = explored {
            assert_eq!(explored.tally.blocked, 0);
        }
    }
}

/// The most transactions of a benchmark application that is run for a moment.
const ATTEMPTS_MAX: usize = 12;

/// Reads bytes as a run that was kept and as predictions, and runs what can be run.
pub fn kept_or_predicted(bytes: &[u8]) {
    if let Ok(recording) = serde_json::from_slice::<Recording>(bytes)
        && let Ok(replayed) = recording.replay()
    {
        let _ = replayed.departure.map(|departure| departure.to_string());
    }
    let Ok(predicted) = serde_json::from_slice::<Predicted>(bytes) else { return };
    let (Ok(level), Some(observed)) = (predicted.level.parse::<Level>(), predicted.application())
    else {
        return;
    };
    if observed.sessions.unwrap_or(1).saturating_mul(observed.transactions.unwrap_or(1))
        > ATTEMPTS_MAX
    {
        return;
    }
    let Ok(runnable) = observed.runnable() else { return };
    for plan in predicted.predictions.iter().take(2).filter_map(|prediction| prediction.plan()) {
        if let Ok(directed) = run_directed(runnable.app(), level, &plan) {
            let _ = directed.departure.map(|departure| departure.to_string());
        }
    }
}
