//! What `seriatim audit` found: whether a database keeps what it promises.

mod hermitage;
mod json;
mod matrix;

pub use hermitage::{Hermitage, Scenario};
pub use json::json;
pub use matrix::{markdown, matrix};

use crate::checked::Checked;
use crate::prose::clean;
use crate::runs::explained;
use crate::style::{BAD, BOLD, GOOD, OPEN, paint};
use crate::text::{grouped, plural};
use crate::wrap::wrap;
use seriatim_isolation::{Anomaly, Level};

/// A database at one of its isolation levels.
#[derive(Clone, Debug)]
pub struct Audited {
    /// The database with its version.
    pub product: String,
    /// What transactions asked for: "REPEATABLE READ".
    pub setting: String,
    /// What the database promises at that.
    pub promise: Level,
    /// Whether each level was kept, weakest first; `None` if that is undecided.
    pub levels: Vec<(Level, Option<bool>)>,
    /// How often each anomaly was seen.
    pub anomalies: Vec<(String, u64)>,
    /// How many transactions committed.
    pub committed: u64,
    /// How many the database refused.
    pub aborted: u64,
    /// Of how many nobody knows whether they committed.
    pub unknown: u64,
    /// How many sessions there were.
    pub sessions: u32,
    /// What decided what they did.
    pub seed: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Reads that missed what was acknowledged before their transactions began.
    pub stale: Option<Stale>,
    /// How many writes were acknowledged and are gone.
    pub lost_count: u64,
    /// The first of them: the key and what was written to it.
    pub lost: Vec<(String, i64)>,
    /// After how many rounds it was open whether a write is lost.
    pub unread_ends: u64,
    /// How many transactions counted the money of all accounts, and how many found a wrong sum.
    pub totals: (u64, u64),
    /// What was done to the servers.
    pub faults: Vec<Fault>,
    /// What each round showed.
    pub timeline: Vec<Moment>,
    /// After how many seconds something was seen that is not promised.
    pub first_violation: Option<f64>,
    /// How many rounds were decided while it ran, in the end, and not at all.
    pub decided: (u64, u64, u64),
    /// A round that shows what is wrong, with the workload of its sessions.
    pub exemplar: Option<(&'static str, Checked)>,
}

/// Stale reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stale {
    /// How many there are.
    pub reads: u64,
    /// How old they are at the median, in nanoseconds.
    pub age_median: u64,
    /// How old the oldest is.
    pub age_max: u64,
}

/// Something that was done to the servers.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// When, in seconds from the beginning.
    pub at: f64,
    /// For how long.
    pub seconds: f64,
    /// What.
    pub what: String,
    /// What went wrong with it.
    pub problem: Option<String>,
}

/// A round in numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moment {
    /// When it ended, in seconds from the beginning.
    pub at: f64,
    /// What its sessions did.
    pub workload: &'static str,
    /// How many transactions committed.
    pub committed: u64,
    /// How many anomalies it shows.
    pub anomalies: u64,
    /// How many of them the database promises not to show.
    pub forbidden: u64,
}

impl Audited {
    /// Whether the database keeps its promise. A write that was acknowledged and is gone breaks
    /// every promise.
    pub fn keeps_promise(&self) -> Option<bool> {
        if self.lost_count > 0 {
            return Some(false);
        }
        let found = self.levels.iter().find(|(level, _)| *level == self.promise);
        let kept = found.map_or(Some(true), |(_, kept)| *kept);
        kept.filter(|kept| !kept || self.unread_ends == 0)
    }

    fn weakest_broken(&self) -> Option<Level> {
        self.levels.iter().find(|(_, kept)| *kept == Some(false)).map(|(level, _)| *level)
    }

    /// How many anomalies there are in a thousand transactions.
    fn rate(&self, count: u64) -> f64 {
        count as f64 * 1000.0 / (self.committed.max(1) as f64)
    }
}

/// The page about one setting.
pub fn render(audited: &Audited, width: usize) -> String {
    let mut page = found(audited, width);
    if let Some((workload, checked)) = &audited.exemplar {
        let text = format!("The first round that shows it (workload {workload}):");
        page += &format!("\n{}", wrap(&text, "", width));
        page += &explained(checked, width);
    }
    page
}

/// The same without what explains it.
pub(crate) fn found(audited: &Audited, width: usize) -> String {
    let (style, verdict) = verdict(audited);
    let title = format!("{} {}: {verdict}", clean(&audited.product), audited.setting);
    let mut page = format!("{}\n", paint(style, wrap(&title, "", width).trim_end()));
    page += &wrap(&size(audited), "  ", width);
    page.push('\n');
    for (level, kept) in &audited.levels {
        let (style, word) = match kept {
            Some(true) => (GOOD, "not seen violated"),
            Some(false) => (BAD, "violated"),
            None => (OPEN, "undecided"),
        };
        page += &format!("  {:<20}{}\n", level.to_string(), paint(style, word));
    }
    if !audited.anomalies.is_empty() {
        page += &format!("\n{}\n", paint(BOLD, "seen"));
        for (name, count) in &audited.anomalies {
            let rate = audited.rate(*count);
            page += &format!("  {name}: {} ({rate:.1} of 1,000 commits)\n", grouped(*count));
        }
    }
    page + &beside(audited, width)
}

/// What is wrong beside isolation, and what was done to the servers.
fn beside(audited: &Audited, width: usize) -> String {
    let mut lines = Vec::new();
    if audited.lost_count > 0 {
        let named: Vec<String> =
            audited.lost.iter().take(3).map(|(key, value)| format!("{key}={value}")).collect();
        let more = if audited.lost_count > 3 { ", …" } else { "" };
        lines.push(format!(
            "lost write: {} that had been acknowledged (forbidden by every promise): {}{more}",
            plural(audited.lost_count, "write"),
            clean(&named.join(", "))
        ));
    }
    if audited.unread_ends > 0 {
        lines.push(format!(
            "whether a write is lost is undecided after {}: not every node could be asked, or they \
             did not agree",
            plural(audited.unread_ends, "round")
        ));
    }
    if let Some(stale) = audited.stale {
        lines.push(format!(
            "stale reads: {}, {} old at the median, {} at most (they missed what had been \
             acknowledged before their transactions began; forbidden with real time: --order \
             real-time)",
            grouped(stale.reads),
            age(stale.age_median),
            age(stale.age_max)
        ));
    }
    let (read, wrong) = audited.totals;
    if wrong > 0 {
        lines.push(format!(
            "bank: {} of {} that counted all accounts found a wrong sum",
            grouped(wrong),
            plural(read, "transaction")
        ));
    }
    for fault in &audited.faults {
        let problem = fault.problem.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
        let (at, what) = (fault.at, &fault.what);
        lines.push(format!("fault at {at:.1} s: {}", clean(&format!("{what}{problem}"))));
    }
    let (_, late, open) = audited.decided;
    if late + open > 0 {
        let why = if open > 0 { " (for want of time, or of a part of the recording)" } else { "" };
        lines.push(format!(
            "{} could not be decided at once: {} decided at the end from the recording, {} \
             undecided{why}",
            plural(late + open, "round"),
            grouped(late),
            grouped(open)
        ));
    }
    let told = lines.iter().map(|line| wrap(line, "  ", width));
    let told: String = told.collect();
    if told.is_empty() { told } else { format!("\n{told}") }
}

/// A time in nanoseconds, for people.
fn age(nanoseconds: u64) -> String {
    crate::prose::age(seriatim_check::Age {
        amount: nanoseconds,
        unit: seriatim_history::TimeUnit::Nanoseconds,
    })
}

fn verdict(audited: &Audited) -> (anstyle::Style, String) {
    let promise = audited.promise;
    let below = match audited.weakest_broken() {
        Some(level) => format!("; below {level}"),
        None => "; nothing was seen that serializability forbids".to_owned(),
    };
    match audited.keeps_promise() {
        Some(true) if promise == Level::Unconstrained => (GOOD, format!("promises nothing{below}")),
        Some(true) => (GOOD, format!("keeps {promise}, as it promises{below}")),
        Some(false) => (BAD, broken(audited)),
        None => (OPEN, format!("whether it keeps {promise} is undecided{below}")),
    }
}

/// What is broken, how often, and what is kept.
fn broken(audited: &Audited) -> String {
    let promise = audited.promise;
    if audited.lost_count > 0 {
        let lost = plural(audited.lost_count, "acknowledged write");
        return format!("breaks its promise of {promise}: {lost} lost");
    }
    let most = |is_meant: &dyn Fn(&str) -> bool| {
        let meant = audited.anomalies.iter().filter(|(name, _)| is_meant(name));
        meant.max_by_key(|(_, count)| *count)
    };
    // With real time a level forbids more than by itself.
    let most = most(&|name| is_against(name, promise)).or_else(|| most(&|_| true));
    let seen = most.map(|(name, count)| {
        let transactions = plural(audited.committed, "transaction");
        format!(": {name} {} times in {transactions}", grouped(*count))
    });
    let ladder = audited.levels.iter().filter(|(level, _)| *level != Level::CutIsolation);
    let kept = ladder.take_while(|(_, kept)| *kept == Some(true)).last();
    let kept = kept.map_or(String::new(), |(level, _)| format!("; {level} was not seen violated"));
    format!("breaks its promise of {promise}{}{kept}", seen.unwrap_or_default())
}

/// Whether a level forbids an anomaly.
fn is_against(name: &str, promise: Level) -> bool {
    let mut all = Anomaly::ALL.into_iter().map(Anomaly::info);
    let found = all.find(|info| info.name == name);
    found.is_some_and(|info| info.forbidden_by.contains(&promise))
}

fn size(audited: &Audited) -> String {
    let Audited { committed, aborted, unknown, sessions, seconds, seed, .. } = audited;
    let mut line = format!("{} committed", plural(*committed, "transaction"));
    if *aborted > 0 {
        line += &format!(", {} refused", grouped(*aborted));
    }
    if *unknown > 0 {
        line += &format!(", {} of unknown outcome", grouped(*unknown));
    }
    line + &format!(
        ", of {}, in {seconds:.1} s (seed {seed})",
        plural(u64::from(*sessions), "session")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audited(anomalies: &[(&str, u64)], violated: &[Level]) -> Audited {
        let promise = Level::SnapshotIsolation;
        let levels = [promise, Level::Serializable];
        Audited {
            product: "a database".to_owned(),
            setting: "REPEATABLE READ".to_owned(),
            promise,
            levels: levels.map(|level| (level, Some(!violated.contains(&level)))).to_vec(),
            anomalies: anomalies.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            committed: 5000,
            aborted: 0,
            unknown: 0,
            sessions: 8,
            seed: 0,
            seconds: 1.0,
            stale: None,
            lost_count: 0,
            lost: Vec::new(),
            unread_ends: 0,
            totals: (0, 0),
            faults: Vec::new(),
            timeline: Vec::new(),
            first_violation: None,
            decided: (1, 0, 0),
            exemplar: None,
        }
    }

    #[test]
    fn the_verdict_names_what_the_promise_forbids() {
        let both = [Level::SnapshotIsolation, Level::Serializable];
        let found = audited(&[("lost update", 3), ("write skew", 700)], &both);
        let (_, verdict) = verdict(&found);
        let expected = "breaks its promise of snapshot isolation: lost update 3 times in 5,000";
        assert!(verdict.starts_with(expected), "{verdict}");
    }

    #[test]
    fn what_nobody_could_ask_is_undecided() {
        let mut found = audited(&[], &[]);
        assert_eq!(found.keeps_promise(), Some(true));
        found.unread_ends = 2;
        assert_eq!(found.keeps_promise(), None);
        assert!(render(&found, 200).contains("undecided after 2 rounds"));
        found.levels[0].1 = Some(false);
        assert_eq!(found.keeps_promise(), Some(false));
    }
}
