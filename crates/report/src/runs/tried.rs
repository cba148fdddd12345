//! What `seriatim fuzz -- CMD` found: a command of the user, run against the mock database.

use super::explained;
use super::fuzzed::{Kept, Stop};
use crate::checked::Checked;
use crate::json;
use crate::prose::clean;
use crate::style::{BAD, BOLD, GOOD, OPEN, paint};
use crate::text::{grouped, plural};
use crate::wrap::wrap;
use serde::Serialize;

/// What was done, and what came of it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The command.
    pub command: String,
    /// Which database it met, as a phrase: "any database that keeps causal consistency".
    pub database: String,
    /// Whether that is one server, as people run it.
    pub is_one_server: bool,
    /// What decided everything that is random.
    pub seed: u64,
    /// How many runs were asked for.
    pub runs_max: u64,
    /// What was seen.
    pub seen: Seen,
    /// What came of it.
    pub ending: TrialEnding,
}

/// What was seen in all runs. The fields are the interface of `--format json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// How many runs came to their end.
    pub runs: u64,
    /// How many were unlike all others.
    pub histories: u64,
    /// Who read what from whom, in all of them.
    pub pairs: u64,
    /// Whether two transactions of a run ever overlapped.
    pub overlap: bool,
    /// The most connections of a run.
    pub connections: u32,
    /// How many processes runs left behind.
    pub left_processes: usize,
    /// In how many runs the database refused a transaction that was not tried again.
    pub refused: u64,
}

/// How a search for a failure ended.
#[derive(Clone, Debug)]
pub enum TrialEnding {
    /// The command failed.
    Failed(Box<FailedCommand>),
    /// It passed in all runs.
    Passed,
    /// It passed until the search was stopped.
    Stopped(Stop),
}

/// A run that failed, with only the weak reads that the failure needs.
#[derive(Clone, Debug)]
pub struct FailedCommand {
    /// The number of the run, from 1.
    pub run: u64,
    /// The command that failed.
    pub command: String,
    /// How, as a clause.
    pub what: String,
    /// The end of what it wrote.
    pub output: String,
    /// What the failure needs; `None` if it was not seen again.
    pub blame: Option<Blamed>,
    /// Whether one server shows it, too, if it was found with another database.
    pub on_one_server: Option<OneServer>,
    /// Whether somebody asked for an end before it was confirmed.
    pub is_interrupted: bool,
    /// Where the run is kept.
    pub kept: Kept,
}

/// What came of the same command on one server. The fields are the interface of `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneServer {
    /// Which server, as a phrase.
    pub database: String,
    /// How many runs were done.
    pub runs: u64,
    /// The number of the first that failed, from 1.
    pub failed: Option<u64>,
}

/// What a failure needs.
#[derive(Clone, Debug)]
pub struct Blamed {
    /// The statements.
    pub statements: Vec<BlamedStatement>,
    /// Whether it needs no weak read: transactions that overlap are enough.
    pub is_overlap: bool,
    /// How many runs with these weak reads were done, and how many failed.
    pub replays: (u32, u32),
    /// What was tried against it.
    pub fixes: Vec<TriedFix>,
    /// What may help and is a change of code, which was not tried: sentences.
    pub untried: Vec<String>,
    /// Whether no lock on what single statements read helps.
    pub no_lock_helps: bool,
    /// What the checker says of the history.
    pub checked: Checked,
}

/// A statement that is to blame. The fields are the interface of `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlamedStatement {
    /// The connection, from 0.
    pub session: u32,
    /// The number of the transaction on it, from 0.
    pub transaction: u32,
    /// The transaction in the report, if it is in the history.
    pub id: Option<String>,
    /// The statement.
    pub statement: String,
    /// Its parameters.
    pub parameters: Vec<Option<String>>,
    /// What it returned.
    pub returned: Option<String>,
    /// What it returns on a database that is not weak.
    pub otherwise: Option<String>,
    /// Where in the application it was sent, as far as the client says so.
    pub sent_by: Option<String>,
    /// What the application calls its connection.
    pub application: Option<String>,
    /// What it read that was not the latest: the key, and whose version it was.
    pub saw: Vec<(String, Option<String>)>,
}

/// Something that may mend the application. The fields are the interface of `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedFix {
    /// What: "FOR UPDATE on SELECT …".
    pub what: String,
    /// How many runs were done with it.
    pub runs: u64,
    /// How it failed even so, if it did.
    pub failed: Option<String>,
    /// What is known of it.
    pub outcome: Outcome,
    /// In how many runs the database refused a transaction that was not tried again; they say
    /// nothing.
    pub refused: u64,
}

/// What is known of something that was tried. The names are the interface of `--format json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing failed.
    Helps,
    /// Nothing failed but for transactions that the database refused, and wants to be tried again.
    HelpsWithRetries,
    /// A run failed.
    Fails,
    /// Too few runs say anything, because the database refused transactions or time was short.
    Unclear,
}

/// The page.
pub fn render(tried: &Tried, width: usize) -> String {
    match &tried.ending {
        TrialEnding::Failed(failed) => broke(tried, failed, width),
        TrialEnding::Passed => passed(tried, width),
        TrialEnding::Stopped(stop) => stopped(tried, *stop, width),
    }
}

fn broke(tried: &Tried, failed: &FailedCommand, width: usize) -> String {
    let (command, database) = (clean(&tried.command), &tried.database);
    let run = grouped(failed.run);
    let verdict = format!("{command}: failed in run {run} with {database} (seed {})", tried.seed);
    let mut page = format!("{}\n", paint(BAD, wrap(&verdict, "", width).trim_end()));
    let wrote = if failed.output.is_empty() { "." } else { "; the end of what it wrote:" };
    page += &wrap(&format!("{} {}{wrote}", clean(&failed.command), failed.what), "  ", width);
    for line in failed.output.lines() {
        page += &format!("    {}\n", shortened(&clean(line)));
    }
    match &failed.blame {
        Some(blame) => {
            page += &blamed(blame, width);
            page += &explained(&blame.checked, width);
            page += &fixes(blame, width);
            page += &failed.on_one_server.as_ref().map_or(String::new(), |it| one(it, width));
            let (done, again) = blame.replays;
            let replays =
                format!("Seen again in {again} of {}.", plural(u64::from(done), "replay"));
            page += &format!("\n{}", wrap(&replays, "", width));
            page += &wrap(&next_step(&failed.kept, &command), "", width);
        }
        None if failed.is_interrupted => {
            let text = "Interrupted: it was not tried again, and nothing is left out of it.";
            page += &format!("\n{}", wrap(text, "", width));
            page += &wrap(&next_step(&failed.kept, &command), "", width);
        }
        None => {
            let text = "It was not seen again with the same choices: it depends on how clients \
                        run at the same time, or on something else that changes. More runs may \
                        find a failure that repeats.";
            page += &format!("\n{}", wrap(text, "", width));
        }
    }
    page
}

/// The longest line of an output that is shown in full.
const LINE_CHARS_MAX: usize = 400;

fn shortened(line: &str) -> String {
    if line.chars().count() <= LINE_CHARS_MAX {
        return line.to_owned();
    }
    line.chars().take(LINE_CHARS_MAX).chain(['…']).collect()
}

fn next_step(kept: &Kept, command: &str) -> String {
    match kept {
        Kept::StandardOutput => "The run is on standard output, for `seriatim replay`.".to_owned(),
        Kept::File(path) => {
            format!("See it again with `seriatim replay {} -- {command}`.", clean(path))
        }
        Kept::Nowhere => format!(
            "Keep the run with --output RUN, and see it again with `seriatim replay RUN -- \
             {command}`."
        ),
    }
}

fn blamed(blame: &Blamed, width: usize) -> String {
    let title = match (blame.is_overlap, blame.statements.is_empty()) {
        (true, true) => {
            let text = "It fails even if every read returns the latest version: what the \
                        transactions do at the same time is enough.";
            return format!("\n{}", wrap(text, "  ", width));
        }
        (true, false) => "To blame; that transactions overlap is enough, no read need be old:",
        (false, _) => "To blame; all other statements saw the latest versions:",
    };
    let title = wrap(title, "", width);
    let mut page = format!("\n{}\n", paint(BOLD, title.trim_end()));
    for statement in &blame.statements {
        page += &told(statement, width);
    }
    page
}

fn told(blamed: &BlamedStatement, width: usize) -> String {
    let txn = blamed.id.as_deref().unwrap_or("?");
    let application = blamed.application.as_deref().map(clean);
    let application = application.map_or_else(String::new, |name| format!(" ({name})"));
    let (session, statement) = (blamed.session, one_line(&blamed.statement));
    let head = format!("{txn} on connection {session}{application}: {statement}");
    let mut page = wrap(&head, "  ", width);
    if !blamed.parameters.is_empty() {
        let value = |value: &Option<String>| value.clone().unwrap_or("NULL".to_owned());
        let values: Vec<String> = blamed.parameters.iter().map(value).collect();
        page += &wrap(&format!("with {}", clean(&values.join(", "))), "      ", width);
    }
    let returned = blamed.returned.as_deref().unwrap_or("nothing");
    let otherwise = match &blamed.otherwise {
        Some(otherwise) if Some(otherwise) != blamed.returned.as_ref() => {
            format!("; a serializable database would have returned {}", clean(otherwise))
        }
        _ => String::new(),
    };
    page += &wrap(&format!("returned {}{otherwise}", clean(returned)), "      ", width);
    if let Some(place) = &blamed.sent_by {
        page += &wrap(&format!("sent by {}", clean(place)), "      ", width);
    }
    for (key, writer) in &blamed.saw {
        let from = match writer {
            Some(writer) => format!("as {} had left it", clean(writer)),
            None => "as it was in the beginning".to_owned(),
        };
        page += &wrap(&format!("saw {} {from}", clean(key)), "      ", width);
    }
    page
}

/// The difference between "fix this now" and "fix this before you add a replica".
fn one(server: &OneServer, width: usize) -> String {
    let database = &server.database;
    let text = match server.failed {
        Some(run) => format!("Fix it now: {database} shows it, too (in run {}).", grouped(run)),
        None => format!(
            "Fix it before you add a replica or change the database: {database} did not show it in \
             {}.",
            plural(server.runs, "run")
        ),
    };
    format!("\n{}", wrap(&text, "", width))
}

/// What helps where rows that could be locked are not there.
const NO_LOCK: &str = "No lock on these rows helps, or they cannot be locked: where rows are \
                       counted, or are not there yet, lock a row that stands for all of them \
                       first, or let \
                       a UNIQUE or EXCLUDE constraint refuse the second transaction.";

fn fixes(blamed: &Blamed, width: usize) -> String {
    let mut page = String::new();
    if !blamed.fixes.is_empty() {
        page += &format!("\n{}\n", paint(BOLD, "What was tried against it:"));
    }
    for fix in &blamed.fixes {
        page += &wrap(&fix_line(fix), "  ", width);
    }
    if blamed.no_lock_helps && !blamed.fixes.is_empty() {
        page += &wrap(NO_LOCK, "  ", width);
    }
    if !blamed.untried.is_empty() {
        page +=
            &format!("\n{}\n", paint(BOLD, "What was not tried, because it is a change of code:"));
    }
    for suggestion in &blamed.untried {
        page += &wrap(&clean(suggestion), "  ", width);
    }
    page
}

fn fix_line(fix: &TriedFix) -> String {
    let (what, runs) = (clean(&fix.what), plural(fix.runs, "run"));
    let refused = match fix.refused {
        0 => "the database refused transactions with 40001, 40P01 or 1213".to_owned(),
        refused => format!(
            "{} ended because the database refused a transaction with 40001, 40P01 or 1213 that \
             was not tried again",
            grouped(refused)
        ),
    };
    let failed = fix.failed.as_deref().unwrap_or("a run failed");
    match fix.outcome {
        Outcome::Helps => format!("helps: {what} ({runs}, none failed)"),
        Outcome::HelpsWithRetries => format!(
            "helps if refused transactions are tried again: {what} ({runs}, none failed otherwise; \
             {refused})"
        ),
        Outcome::Fails => format!("does not help: {what} ({failed})"),
        Outcome::Unclear if fix.refused == 0 => {
            format!("not clear: {what} ({runs}, none failed; there was no time for more)")
        }
        Outcome::Unclear => format!(
            "not clear: {what} ({runs}, none failed otherwise, but {refused}; try again what is \
             refused, then it can be told)"
        ),
    }
}

fn passed(tried: &Tried, width: usize) -> String {
    let (command, database) = (clean(&tried.command), &tried.database);
    let runs = plural(tried.seen.runs, "run");
    let verdict = format!("{command}: passed in {runs} with {database}");
    let mut page = format!("{}\n", paint(GOOD, wrap(&verdict, "", width).trim_end()));
    page += &seen(&tried.seen, width);
    if tried.is_one_server {
        let text = "With replicas, or a database that promises less, more can happen: try --level \
                    causal, or --level rc, which is the least that is promised.";
        page += &wrap(text, "  ", width);
    }
    page
}

fn stopped(tried: &Tried, stop: Stop, width: usize) -> String {
    let (command, database) = (clean(&tried.command), &tried.database);
    let (runs, all) = (grouped(tried.seen.runs), plural(tried.runs_max, "run"));
    let verdict = format!("{command}: passed in the first {runs} of {all} with {database}");
    let why = match stop {
        Stop::Budget => "The budget is spent.",
        Stop::Interrupted => "Interrupted.",
    };
    let mut page = format!("{}\n", paint(OPEN, wrap(&verdict, "", width).trim_end()));
    page += &wrap(why, "  ", width);
    page += &seen(&tried.seen, width);
    page
}

/// What all runs came to, and what to do if they could not come to anything.
fn seen(seen: &Seen, width: usize) -> String {
    let (histories, pairs) = (plural(seen.histories, "distinct history"), grouped(seen.pairs));
    let histories = histories.replace("historys", "histories");
    let text = format!("{histories}, {pairs} pairs of a write and a read of it.");
    let mut page = wrap(&text, "  ", width);
    if seen.runs > 0 && !seen.overlap {
        let text = "Nothing could go wrong that comes of overlapping transactions: no two of them \
                    were open at once; your test has one client at a time. Run several with \
                    --clients, or record one run with `seriatim observe` and ask `seriatim \
                    predict` what could have happened.";
        page += &wrap(text, "  ", width);
    }
    if seen.refused > 0 {
        let text = format!(
            "In {} the command wrote that the database refused a transaction (40001, 40P01 \
             or 1213): try again what is refused.",
            plural(seen.refused, "run")
        );
        page += &wrap(&text, "  ", width);
    }
    if seen.left_processes > 0 {
        let left = plural(seen.left_processes as u64, "process").replace("processs", "processes");
        page += &wrap(&format!("The command left {left} behind, which were ended."), "  ", width);
    }
    page
}

#[derive(Serialize)]
struct Line<'a> {
    command: &'a str,
    database: &'a str,
    seed: u64,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
    seen: Seen,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureObject<'a>>,
}

#[derive(Serialize)]
struct FailureObject<'a> {
    run: u64,
    command: &'a str,
    what: &'a str,
    output: &'a str,
    confirmed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replays: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<&'a [BlamedStatement]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<&'a [TriedFix]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    untried: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_one_server: Option<&'a OneServer>,
    /// The run as `check --format json` tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<serde_json::Value>,
}

/// A statement on one line, as it would be typed.
fn one_line(statement: &str) -> String {
    clean(&statement.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The line, without a line end, as [`crate::schema::TRIAL`] describes it.
pub fn json(tried: &Tried) -> String {
    let (outcome, stopped, failed) = match &tried.ending {
        TrialEnding::Failed(failed) => ("failed", None, Some(failed)),
        TrialEnding::Passed => ("passed", None, None),
        TrialEnding::Stopped(Stop::Budget) => ("undecided", Some("budget"), None),
        TrialEnding::Stopped(Stop::Interrupted) => ("undecided", Some("interrupted"), None),
    };
    let failure = failed.map(|failed| FailureObject {
        run: failed.run,
        command: &failed.command,
        what: &failed.what,
        output: &failed.output,
        confirmed: failed.blame.is_some(),
        replays: failed.blame.as_ref().map(|blame| blame.replays),
        blame: failed.blame.as_ref().map(|blame| &blame.statements[..]),
        fixes: failed.blame.as_ref().map(|blame| &blame.fixes[..]),
        untried: failed.blame.as_ref().map(|blame| &blame.untried[..]),
        on_one_server: failed.on_one_server.as_ref(),
        check: failed.blame.as_ref().map(|blame| json::object(&blame.checked)),
    });
    let line = Line {
        command: &tried.command,
        database: &tried.database,
        seed: tried.seed,
        outcome,
        stopped,
        seen: tried.seen,
        failure,
    };
    // Strings, numbers and lists always serialise; no error can occur.
    serde_json::to_string(&line).unwrap_or_default()
}

/// A suite of one test for tools that read JUnit's XML; `page` is the text without colours.
pub fn junit(tried: &Tried, page: &str, seconds: f64) -> String {
    let failure = match &tried.ending {
        TrialEnding::Failed(failed) => {
            format!("<failure message=\"{}\">{}</failure>", xml(&failed.what), xml(page))
        }
        TrialEnding::Passed => String::new(),
        TrialEnding::Stopped(_) => "<skipped message=\"not all runs were done\"/>".to_owned(),
    };
    let failures = u32::from(matches!(tried.ending, TrialEnding::Failed(_)));
    let skipped = u32::from(matches!(tried.ending, TrialEnding::Stopped(_)));
    let name = xml(&tried.command);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"seriatim fuzz\" \
         tests=\"1\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{seconds:.3}\">\n  \
         <testcase classname=\"seriatim.fuzz\" name=\"{name}\" time=\"{seconds:.3}\">{failure}\
         </testcase>\n</testsuite>\n"
    )
}

fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(c),
            // XML 1.0 has no way to say these.
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
