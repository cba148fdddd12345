//! What `seriatim audit` found: whether a database keeps what it promises.

use crate::checked::Checked;
use crate::json;
use crate::prose::clean;
use crate::runs::explained;
use crate::style::{BAD, BOLD, GOOD, OPEN, paint};
use crate::text::{grouped, plural};
use crate::wrap::wrap;
use seriatim_isolation::Level;

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
    /// A round that shows what is wrong, with the workload of its sessions.
    pub exemplar: Option<(&'static str, Checked)>,
}

impl Audited {
    /// Whether the database keeps its promise.
    pub fn keeps_promise(&self) -> Option<bool> {
        let found = self.levels.iter().find(|(level, _)| *level == self.promise);
        found.map_or(Some(true), |(_, kept)| *kept)
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
    if let Some((workload, checked)) = &audited.exemplar {
        let text = format!("The first round that shows it (workload {workload}):");
        page += &format!("\n{}", wrap(&text, "", width));
        page += &explained(checked, width);
    }
    page
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
        Some(false) => (BAD, format!("breaks its promise of {promise}")),
        None => (OPEN, format!("whether it keeps {promise} is undecided{below}")),
    }
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

/// A table of several settings: which levels were seen violated.
pub fn matrix(all: &[Audited]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let names: Vec<&str> = first.levels.iter().map(|(level, _)| level.code()).collect();
    let widest = all.iter().map(|it| it.setting.chars().count()).max().unwrap_or(0).max(8);
    let mut page = format!("\n{}\n  {:widest$}", paint(BOLD, &clean(&first.product)), "");
    names.iter().for_each(|name| page += &format!("  {name:>4}"));
    page += "  promises\n";
    for audited in all {
        page += &format!("  {:widest$}", audited.setting);
        for (_, kept) in &audited.levels {
            page += match kept {
                Some(true) => "     ·",
                Some(false) => "     x",
                None => "     ?",
            };
        }
        page += &format!("  {}\n", audited.promise);
    }
    page + "  x violated, · not seen violated, ? undecided\n"
}

/// The same as Markdown.
pub fn markdown(all: &[Audited]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let mut page = format!("| {} |", clean(&first.product));
    first.levels.iter().for_each(|(level, _)| page += &format!(" {level} |"));
    page += " promises | seen |\n|---|";
    first.levels.iter().for_each(|_| page += "---|");
    page += "---|---|\n";
    for audited in all {
        page += &format!("| {} |", audited.setting);
        for (_, kept) in &audited.levels {
            page += match kept {
                Some(true) => " · |",
                Some(false) => " x |",
                None => " ? |",
            };
        }
        let seen: Vec<String> = audited
            .anomalies
            .iter()
            .map(|(name, count)| format!("{name} {}", grouped(*count)))
            .collect();
        page += &format!(" {} | {} |\n", audited.promise, seen.join(", "));
    }
    page
}

/// The line, without a line end, as [`crate::schema::AUDIT`] describes it.
pub fn json(audited: &Audited) -> String {
    let levels: serde_json::Map<String, serde_json::Value> = audited
        .levels
        .iter()
        .map(|(level, kept)| {
            let word = match kept {
                Some(true) => "not-seen-violated",
                Some(false) => "violated",
                None => "undecided",
            };
            (level.code().to_owned(), word.into())
        })
        .collect();
    let anomalies: serde_json::Map<String, serde_json::Value> =
        audited.anomalies.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
    serde_json::json!({
        "database": audited.product,
        "isolation": audited.setting,
        "promise": audited.promise.code(),
        "keeps_promise": audited.keeps_promise(),
        "levels": levels,
        "anomalies": anomalies,
        "committed": audited.committed,
        "aborted": audited.aborted,
        "unknown": audited.unknown,
        "sessions": audited.sessions,
        "seconds": audited.seconds,
        "seed": audited.seed,
        "check": audited.exemplar.as_ref().map(|(_, checked)| json::object(checked)),
    })
    .to_string()
}
