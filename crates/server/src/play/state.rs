//! Where a list of steps leads: all that the page shows, worked out from the beginning for each
//! request, so that the server keeps nothing.

use super::kind::Kind;
use serde::Serialize;
use seriatim_check::{Checker, Violation};
use seriatim_explore::play::{Candidate, Happened, Misfit, Named, Next, Play, Step, steps_text};
use seriatim_explore::{LEVELS, Local, Value};
use seriatim_history::History;
use seriatim_isolation::Level;
use seriatim_report::clean;
use seriatim_report::page::play::{self as pictures, Fragment};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many versions that are not allowed are told with the reason, in one answer; the reasons of
/// others are asked for one by one.
const REASONS_MAX: usize = 12;
/// The same for commits that were refused: the last ones.
const REFUSALS_MAX: usize = 4;
/// The time that is left for what comes after the steps.
const REST: Duration = Duration::from_secs(1);
/// The number of the picture of a reason that was asked for: no other one on the page has it.
const ASKED_PICTURE: usize = 90;
/// So many anomalies of the history so far are told.
const ANOMALIES_MAX: usize = 3;
/// What one check may take.
const CHECK_MAX: Duration = Duration::from_millis(500);
/// Characters of a value, or of a local state, that are shown.
const CHARS_MAX: usize = 200;

/// A question about a game.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub level: Level,
    pub steps: Vec<Step>,
    /// When the answer must be there.
    pub deadline: Instant,
    /// The session whose read the adversary is asked about, if it is one read.
    pub read_of: Option<u32>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// The program itself cannot be played.
    Program(String),
    /// There was too little time.
    TooLong,
}

impl From<Misfit> for Problem {
    fn from(misfit: Misfit) -> Problem {
        match misfit {
            Misfit::Undecided => Problem::TooLong,
            misfit => Problem::Program(misfit.to_string()),
        }
    }
}

/// What the page shows.
#[derive(Serialize, Debug)]
pub(super) struct State {
    /// The level, by its code.
    level: &'static str,
    /// The steps that were taken.
    steps: String,
    taken: usize,
    /// Why the next step of those that were asked for cannot be taken, if one cannot.
    stopped: Option<Stopped>,
    sessions: Vec<Lane>,
    rows: Vec<Row>,
    levels: Vec<Standing>,
    assertion: Assertion,
    anomalies: Vec<Fragment>,
    /// Of the explorer, when all sessions are through.
    token: Option<String>,
    /// What shows the same behaviour again.
    command: Option<String>,
    is_over: bool,
}

#[derive(Serialize, Debug)]
struct Stopped {
    step: String,
    session: String,
    why: String,
    reason: Option<Fragment>,
}

/// A session.
#[derive(Serialize, Debug)]
struct Lane {
    name: String,
    /// The transaction that it is in or comes to.
    txn: Option<String>,
    /// The level of that, if it is not the one of the game.
    own_level: Option<&'static str>,
    is_open: bool,
    locals: String,
    next: Ahead,
}

/// What a session does next.
#[derive(Serialize, Debug, Default)]
struct Ahead {
    kind: &'static str,
    key: String,
    value: String,
    versions: Vec<Version>,
}

/// A version of a key.
#[derive(Serialize, Debug)]
struct Version {
    /// The step that picks it.
    step: String,
    value: String,
    writer: String,
    /// `null` if that is too much work to tell.
    is_allowed: Option<bool>,
    /// Whether the read returned this one when the history was recorded.
    is_observed: bool,
    /// The strongest level that would allow it, if all transactions were at that level.
    up_to: Option<&'static str>,
    reason: Option<Fragment>,
}

/// A step that was taken.
#[derive(Serialize, Debug, Clone)]
struct Row {
    session: usize,
    txn: String,
    kind: &'static str,
    key: String,
    value: String,
    writer: String,
    /// Whether it begins its transaction.
    begins: bool,
    /// Whether it came to nothing, because the level refused the commit.
    is_lost: bool,
    /// Why the level refused the commit, if this is one.
    reason: Option<Fragment>,
}

/// Whether a level holds for the history so far.
#[derive(Serialize, Debug)]
struct Standing {
    code: &'static str,
    name: &'static str,
    holds: Option<bool>,
}

/// What is asked of the program.
#[derive(Serialize, Debug, PartialEq, Eq)]
struct Assertion {
    /// none, open, holds, broken or undecided
    state: &'static str,
    said: String,
}

/// What an adversary answers.
#[derive(Serialize, Debug)]
pub(super) struct Attacked {
    /// All steps, with those that it adds.
    pub steps: String,
    /// assertion or serializability: what it breaks; otherwise no-way or undecided.
    pub found: &'static str,
    pub said: String,
}

/// Works out where `asked.steps` lead.
pub(super) fn state<V: Value, L: Local>(
    kind: &Kind<V, L>,
    asked: &Asked,
    input: Option<&str>,
) -> Result<State, Problem> {
    let mut table = Table::new(kind, asked)?;
    let stopped = table.take_all(&asked.steps)?;
    let sessions = table.lanes()?;
    table.explain_refusals();
    let is_over = table.play.is_over();
    let token = table.play.token();
    let command = input.zip(token.as_ref()).map(|(input, token)| {
        let input = shell_word(input);
        format!("seriatim explore {input} --level {} --replay {token}", asked.level.code())
    });
    Ok(State {
        level: asked.level.code(),
        steps: steps_text(&asked.steps[..table.rows.len()]),
        taken: table.rows.len(),
        stopped,
        sessions,
        levels: table.standings(),
        assertion: table.assertion(),
        anomalies: table.anomalies(),
        rows: table.rows,
        token,
        command,
        is_over,
    })
}

/// Why a step behind `asked.steps` is not allowed: a read, or the commit that is next.
pub(super) fn reason<V: Value, L: Local>(
    kind: &Kind<V, L>,
    asked: &Asked,
    step: Step,
) -> Result<Option<Fragment>, Problem> {
    let mut table = Table::new(kind, asked)?;
    table.pictures = ASKED_PICTURE - 1;
    for &step in &asked.steps {
        table.play.step(step)?;
    }
    let session = step.session();
    let Some(txn) = table.play.current(session) else { return Ok(None) };
    match step {
        Step::Pick(_, writer) => table.reason_of(session, writer),
        Step::Go(_) if table.play.next(session)? == Next::Commit => {
            let history = table.play.history_with_commit(session)?;
            Ok(table.explained(&history, txn))
        }
        Step::Go(_) => Ok(None),
    }
}

/// A commit that was refused.
struct Refusal {
    /// The number of its row.
    row: usize,
    txn: Named,
    /// What the level does not allow.
    history: History,
}

/// A game while it is played.
pub(super) struct Table<'k, V, L> {
    kind: &'k Kind<V, L>,
    pub play: Play<'k, V, L>,
    names: Vec<String>,
    level: Level,
    deadline: Instant,
    rows: Vec<Row>,
    /// The last of them that are told with the reason.
    refusals: VecDeque<Refusal>,
    /// Pictures so far: each has its number, for what is named in it.
    pictures: usize,
    reasons: usize,
}

impl<'k, V: Value, L: Local> Table<'k, V, L> {
    pub fn new(kind: &'k Kind<V, L>, asked: &Asked) -> Result<Self, Problem> {
        let play =
            Play::new(&kind.program, asked.level).map_err(Misfit::from)?.until(asked.deadline);
        let names = kind.program.session_names().map(clean).collect();
        let (level, deadline) = (asked.level, asked.deadline);
        let (rows, refusals) = (Vec::new(), VecDeque::new());
        let (pictures, reasons) = (0, 0);
        Ok(Table { kind, play, names, level, deadline, rows, refusals, pictures, reasons })
    }

    pub fn kind(&self) -> &'k Kind<V, L> {
        self.kind
    }

    /// How much time is left.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Takes steps as long as they fit and there is time; says why not if one does not.
    fn take_all(&mut self, steps: &[Step]) -> Result<Option<Stopped>, Problem> {
        for &step in steps {
            if self.left() < REST {
                return self.stopped(step, &Misfit::Undecided).map(Some);
            }
            if let Err(misfit) = self.take(step)? {
                return self.stopped(step, &misfit).map(Some);
            }
        }
        Ok(None)
    }

    fn stopped(&mut self, step: Step, misfit: &Misfit) -> Result<Stopped, Problem> {
        let session = step.session();
        let reason = match (misfit, step) {
            (Misfit::Forbidden, Step::Pick(session, writer)) => self.reason_of(session, writer)?,
            _ => None,
        };
        let name = self.names.get(session as usize).cloned().unwrap_or_default();
        let why = match misfit {
            Misfit::Forbidden => format!("{} does not allow this version", self.level),
            other => other.to_string(),
        };
        Ok(Stopped { step: step.to_string(), session: name, why, reason })
    }

    /// Takes a step, and keeps a row of it.
    fn take(&mut self, step: Step) -> Result<Result<(), Misfit>, Problem> {
        let session = step.session();
        let next = match self.play.next(session) {
            Err(misfit @ Misfit::NoSession(_)) => return Ok(Err(misfit)),
            next => next?,
        };
        let Some(txn) = self.play.current(session) else { return Ok(Err(Misfit::Over)) };
        let mut row = self.row(txn, &next);
        if let (Step::Pick(_, writer), Next::Read { .. }) = (step, &next) {
            row.writer = self.writer(writer);
        }
        let mark = self.play.mark();
        match self.play.step(step) {
            Err(Misfit::Program(error)) => return Err(Misfit::Program(error).into()),
            Err(misfit) => return Ok(Err(misfit)),
            Ok(Happened::AsSaid) => {}
            Ok(Happened::Refused) => {
                row.kind = "refused";
                self.play.rewind(&mark);
                let history = self.play.history_with_commit(session)?;
                self.refused(Refusal { row: self.rows.len(), txn, history });
                self.play.step(step)?;
                self.lose(session as usize, &row.txn);
                row.is_lost = true;
            }
        }
        if row.kind == "read" {
            row.value = self.value_read(session);
        }
        self.rows.push(row);
        Ok(Ok(()))
    }

    fn refused(&mut self, refusal: Refusal) {
        if self.refusals.len() == REFUSALS_MAX {
            self.refusals.pop_front();
        }
        self.refusals.push_back(refusal);
    }

    /// Says why the last commits were refused, if there is time.
    fn explain_refusals(&mut self) {
        for Refusal { row, txn, history } in std::mem::take(&mut self.refusals) {
            let reason = self.explained(&history, txn);
            self.rows[row].reason = reason;
        }
    }

    /// The rows of the transaction of a session that was refused.
    fn lose(&mut self, session: usize, txn: &str) {
        let of_it = |row: &&mut Row| row.session == session && row.txn == txn;
        self.rows.iter_mut().filter(of_it).for_each(|row| row.is_lost = true);
    }

    fn row(&self, txn: Named, next: &Next<V>) -> Row {
        let ahead = ahead(next);
        Row {
            session: txn.session as usize,
            txn: self.txn(txn),
            kind: ahead.kind,
            key: ahead.key,
            value: ahead.value,
            writer: String::new(),
            begins: !self.play.is_open(txn.session),
            is_lost: false,
            reason: None,
        }
    }

    /// What the last read of a session returned.
    fn value_read(&self, session: u32) -> String {
        self.play.last_read(session).map(|value| short(&value.to_string())).unwrap_or_default()
    }

    fn txn(&self, txn: Named) -> String {
        let name = self.names.get(txn.session as usize).map_or("", String::as_str);
        format!("{name}-{}", txn.txn + 1)
    }

    fn writer(&self, writer: Option<Named>) -> String {
        writer.map_or_else(|| "initial".to_owned(), |writer| self.txn(writer))
    }

    fn lanes(&mut self) -> Result<Vec<Lane>, Problem> {
        (0..self.play.sessions()).map(|session| self.lane(session)).collect()
    }

    fn lane(&mut self, session: u32) -> Result<Lane, Problem> {
        let next = self.play.next(session)?;
        let current = self.play.current(session);
        let mut ahead = ahead(&next);
        for candidate in self.play.candidates(session)? {
            ahead.versions.push(self.version(session, candidate)?);
        }
        let own_level = current.map(|txn| self.play.level_of(txn));
        let shown = (self.kind.shown)(session as usize, &self.play.local(session));
        Ok(Lane {
            name: self.names[session as usize].clone(),
            txn: current.map(|txn| self.txn(txn)),
            own_level: own_level.filter(|level| *level != self.level).map(Level::code),
            is_open: self.play.is_open(session),
            locals: short(&shown),
            next: ahead,
        })
    }

    /// What there is no time for is left out, or undecided.
    fn version(&mut self, session: u32, candidate: Candidate<V>) -> Result<Version, Problem> {
        let Candidate { writer, value, is_allowed } = candidate;
        let is_told = is_allowed == Some(false) && self.reasons < REASONS_MAX;
        let reason = if is_told { self.reason_of(session, writer)? } else { None };
        Ok(Version {
            step: Step::Pick(session, writer).to_string(),
            value: short(&value.to_string()),
            writer: self.writer(writer),
            is_allowed,
            is_observed: self.is_observed(session, writer),
            up_to: self.play.up_to(session, writer)?.map(Level::code),
            reason,
        })
    }

    fn is_observed(&self, session: u32, writer: Option<Named>) -> bool {
        let at = self.play.current(session).map(|txn| (txn, self.play.reads_done(session)));
        let observed = self.kind.observed.as_ref().zip(at);
        observed.and_then(|(observed, at)| observed.get(&at)) == Some(&writer)
    }

    /// Why a session may not read the version of `writer`.
    fn reason_of(
        &mut self,
        session: u32,
        writer: Option<Named>,
    ) -> Result<Option<Fragment>, Problem> {
        let Some(txn) = self.play.current(session) else { return Ok(None) };
        let history = self.play.history_with_read(session, writer)?;
        self.reasons += 1;
        Ok(self.explained(&history, txn))
    }

    /// What is wrong with a history that the level of a transaction does not allow. If other
    /// transactions have other levels that one may not be to blame alone; what a mix of levels
    /// forbids, all of them forbid at the strongest of these.
    fn explained(&mut self, history: &History, txn: Named) -> Option<Fragment> {
        let own = self.play.level_of(txn);
        let all = self.kind.program.own_levels().into_iter().map(|(level, _)| level);
        let strongest = all.chain([self.level]).max()?;
        let violation =
            self.violated(history, own).or_else(|| self.violated(history, strongest))?;
        self.pictures += 1;
        Some(pictures::reason(&violation, self.pictures))
    }

    fn checker(&self, levels: &[Level]) -> Option<Checker> {
        let left = self.left().min(CHECK_MAX);
        let checker = Checker::new().levels(levels.iter().copied()).threads(1);
        (!left.is_zero()).then(|| checker.budget(left))
    }

    fn violated(&self, history: &History, level: Level) -> Option<Violation> {
        let report = self.checker(&[level])?.check(history);
        let first = || report.anomalies.first().map(|group| group.exemplar.clone());
        report.violates(level).then(|| report.exemplar(level).cloned().or_else(first)).flatten()
    }

    fn standings(&mut self) -> Vec<Standing> {
        let standing = |level: Level| Standing {
            code: level.code(),
            name: level.name(),
            holds: self.play.holds(level),
        };
        LEVELS.into_iter().map(standing).collect()
    }

    fn anomalies(&mut self) -> Vec<Fragment> {
        if self.play.holds(Level::Serializable) == Some(true) {
            return Vec::new();
        }
        let Some(checker) = self.checker(&LEVELS[1..]) else { return Vec::new() };
        let report = checker.check(&self.play.history());
        self.pictures += 1;
        pictures::anomalies(&report, ANOMALIES_MAX, 100 + self.pictures)
    }

    fn assertion(&mut self) -> Assertion {
        let failed = |session| (self.kind.failed)(&self.play.settled(session));
        if let Some(said) = (0..self.play.sessions()).find_map(failed) {
            return Assertion { state: "broken", said: clean(&said) };
        }
        let told = |state, said: &str| Assertion { state, said: said.to_owned() };
        let Some(broken) = &self.kind.broken else { return told("none", "") };
        if !self.play.is_over() {
            return told("open", "");
        }
        match self.play.at_end(broken) {
            Some(Ok(())) => told("holds", ""),
            Some(Err(said)) => told("broken", &clean(&said)),
            None if self.play.is_cut() => {
                told("undecided", "a client would go on, and there is no room for that")
            }
            None => told("undecided", "too much work to tell"),
        }
    }
}

fn ahead<V: Value>(next: &Next<V>) -> Ahead {
    let (kind, key, value) = match next {
        Next::Read { key } => ("read", key.as_str(), None),
        Next::OwnRead { key, value } => ("own-read", key.as_str(), Some(value)),
        Next::Write { key, value } => ("write", key.as_str(), Some(value)),
        Next::Commit => ("commit", "", None),
        Next::Abort => ("abort", "", None),
        Next::Over => ("over", "", None),
    };
    let value = value.map(|value| short(&value.to_string())).unwrap_or_default();
    Ahead { kind, key: short(key), value, versions: Vec::new() }
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => clean(&format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// What is shown of a text.
fn short(text: &str) -> String {
    let text = clean(text);
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::Game;
    use seriatim_explore::play::parse_steps;

    /// Sessions that all read and write all keys.
    fn heavy() -> Game {
        let session = |n: usize| {
            let each = |key| format!("a := read({key}); write({key}, a + {n}) ");
            let body: String = ["x", "y", "z", "u", "v"].map(each).concat();
            format!("session s{n} {{ begin {body} commit begin {body} commit }} ")
        };
        Game::program("heavy", None, &(1..9).map(session).collect::<String>()).unwrap()
    }

    fn asked(steps: &str, left: Duration) -> Asked {
        let steps = parse_steps(steps, 1_000).unwrap();
        let deadline = Instant::now() + left;
        Asked { level: Level::Serializable, steps, deadline, read_of: None }
    }

    #[test]
    fn steps_that_come_too_late_are_undecided_and_the_rest_is_told() {
        let state = heavy().state(&asked("0:i,0,0:i", Duration::ZERO)).unwrap();
        let state = serde_json::to_value(&state).unwrap();
        assert_eq!(state["taken"], 0);
        assert_eq!(state["stopped"]["why"], Misfit::Undecided.to_string());
        assert_eq!(state["sessions"].as_array().unwrap().len(), 8);
    }

    #[test]
    fn a_token_is_followed_only_as_long_as_there_is_time() {
        let token = (0..16).map(|n| format!("{}:0.0.0.0.0", n / 2)).collect::<Vec<_>>().join(",");
        let late = heavy().steps_of(&asked("", Duration::ZERO), &token);
        assert_eq!(late, Err(Problem::TooLong));
        let in_time = heavy().steps_of(&asked("", Duration::from_secs(60)), "0:0.0.0.0.0");
        assert_eq!(in_time.unwrap().len(), 11);
    }
}
