//! For people: the answer first, then the observed and the predicted run side by side, then why it
//! is not serializable.

use super::{CUT_SHORT, Predicted, circle, ending, fate, observed, predicted};
use crate::prose::{clean, statements, txn};
use crate::style::{BAD, BOLD, DIM, GOOD, OPEN, paint};
use crate::text::{self, Layout, grouped, plural};
use crate::wrap::wrap;
use seriatim_check::TxnRef;
use seriatim_history::StatementContent;
use seriatim_predict::{
    Answer, Effort, Fate, Mode, Open, Outlook, Prediction, ShownEvent, ShownTxn,
};
use std::fmt::Write as _;
use std::sync::Arc;

/// How many changed reads of a transaction, and how many names of transactions, are shown.
const SHOWN_MAX: usize = 8;
/// The narrowest page that has room for two columns.
const COLUMNS_MIN: usize = 70;

/// The page about one input.
pub fn render(found: &Predicted, layout: &Layout) -> String {
    let mut page = headline(found, layout);
    for (number, prediction) in found.predictions.iter().enumerate() {
        page.push('\n');
        page += &one(found, prediction, number, layout);
    }
    page += &ended(found, layout);
    page
}

pub(super) fn headline(found: &Predicted, layout: &Layout) -> String {
    let what = format!(
        "{}, {} boundary, {}",
        found.options.level,
        found.options.boundary.word(),
        found.options.mode.word()
    );
    let (style, verdict) = match (&found.answer, found.predictions.len()) {
        (_, 1) => (BAD, format!("could have gone wrong at {what}")),
        (_, count) if count > 1 => (
            BAD,
            format!(
                "could have gone wrong at {what}, in {} ways that differ in their cycle",
                grouped(count as u64)
            ),
        ),
        (Answer::NoneExists(_), _) if found.options.mode == Mode::Approx => {
            (GOOD, format!("no prediction of the kind that mode approx looks for at {what}"))
        }
        (Answer::NoneExists(_), _) => {
            (GOOD, format!("no unserializable history exists within the boundary ({what})"))
        }
        (Answer::AlreadyUnserializable { .. }, _) => {
            (BAD, "is not serializable itself; nothing needs predicting".to_owned())
        }
        _ => (OPEN, format!("undecided ({what})")),
    };
    text::titled(&found.input, &verdict, style, layout)
}

fn one(found: &Predicted, prediction: &Prediction, number: usize, layout: &Layout) -> String {
    let mut page = String::new();
    if found.predictions.len() > 1 {
        let _ = writeln!(page, "{}", paint(BOLD, &format!("prediction {}", number + 1)));
    }
    page += &match layout.width < COLUMNS_MIN {
        true => one_below_the_other(prediction, layout.width),
        false => side_by_side(prediction, layout.width),
    };
    page.push('\n');
    page += &ends(prediction, layout.width);
    if prediction.outlook == Outlook::CutShort {
        page += &wrap(CUT_SHORT, "  ", layout.width);
    }
    page.push('\n');
    if let Some(violation) = &prediction.violation {
        let name = violation.kind.info().name;
        let _ = writeln!(page, "{}", paint(BAD, &format!("not serializable: {name}")));
        if let Some(circle) = circle(prediction) {
            page += &wrap(&circle, "  ", layout.width);
        }
        page += &text::violation(violation, layout);
    } else {
        page += "  It is not serializable; why is too hard to explain.\n";
    }
    page
}

/// Two columns: as it was, and as it could have been.
fn side_by_side(prediction: &Prediction, width: usize) -> String {
    let column = width.saturating_sub(7) / 2;
    let mut page = format!(
        "  {} {}\n",
        paint(BOLD, &pad("observed", column + 2)),
        paint(BOLD, "predicted (* reads from another writer)")
    );
    let mut session = None;
    for shown in &prediction.shown {
        if session != Some(&shown.txn.session) {
            session = Some(&shown.txn.session);
            let _ = writeln!(page, "  session {}", clean(&shown.txn.session));
        }
        page += &rows(shown, column);
    }
    page
}

/// As it was, and below each read that would have been another one that, for narrow pages.
fn one_below_the_other(prediction: &Prediction, width: usize) -> String {
    let mut page = wrap("observed, and predicted where it differs (*)", "  ", width);
    let mut session = None;
    for shown in &prediction.shown {
        if session != Some(&shown.txn.session) {
            session = Some(&shown.txn.session);
            page += &wrap(&format!("session {}", clean(&shown.txn.session)), "  ", width);
        }
        page += &wrap(&after(&shown.txn, shown.fate), "    ", width);
        page += &events(shown, width);
    }
    page
}

fn events(shown: &ShownTxn, width: usize) -> String {
    let mut page = String::new();
    let (mut changed, mut left_out) = (0, 0);
    let mut statement = None;
    for event in &shown.events {
        changed += usize::from(event.is_changed());
        if event.is_changed() && changed > SHOWN_MAX {
            left_out += 1;
            continue;
        }
        page += &asked(event, &mut statement, width);
        page += &wrap(&observed(event), "      ", width);
        match predicted(event) {
            None => page += &paint(DIM, &wrap("not there", "      * ", width)),
            Some(text) if event.is_changed() => {
                page += &paint(BAD, &wrap(&text, "      * ", width));
            }
            Some(_) => {}
        }
    }
    if left_out > 0 {
        let more = format!("… and {} more", plural(left_out, "changed read"));
        page += &wrap(&more, "      ", width);
    }
    page
}

fn rows(shown: &ShownTxn, column: usize) -> String {
    let mut page = row(
        &format!("  {}", txn(&shown.txn)),
        &format!("  {}", after(&shown.txn, shown.fate)),
        column,
    );
    let (mut changed, mut left_out) = (0, 0);
    let mut statement = None;
    for event in &shown.events {
        changed += usize::from(event.is_changed());
        if event.is_changed() && changed > SHOWN_MAX {
            left_out += 1;
            continue;
        }
        page += &asked(event, &mut statement, 2 * column + 5);
        page += &row(&format!("    {}", observed(event)), &format!("  {}", right(event)), column);
    }
    if left_out > 0 {
        page += &row("", &format!("    … and {} more", plural(left_out, "changed read")), column);
    }
    page
}

/// The statement that an event is of, before the first of its events, with what it returned.
fn asked<'s>(
    event: &'s ShownEvent,
    last: &mut Option<&'s Arc<StatementContent>>,
    width: usize,
) -> String {
    let statement = event.observed.statement.as_ref();
    let is_known = match (statement, *last) {
        (Some(statement), Some(last)) => Arc::ptr_eq(statement, last),
        (statement, _) => statement.is_none(),
    };
    *last = statement;
    match statement.filter(|_| !is_known) {
        Some(statement) => wrap(&statements::result(statement), "      ", width),
        None => String::new(),
    }
}

fn after(txn_ref: &TxnRef, left: Fate) -> String {
    match fate(left) {
        "" => txn(txn_ref),
        word => format!("{} ({word})", txn(txn_ref)),
    }
}

fn right(event: &ShownEvent) -> String {
    match predicted(event) {
        None => paint(DIM, "  –"),
        Some(text) if event.is_changed() => paint(BAD, &format!("* {text}")),
        Some(text) => format!("  {text}"),
    }
}

fn row(left: &str, right: &str, column: usize) -> String {
    format!("  {} │{right}\n", pad(left, column))
}

/// `text` cut or filled to `width` characters.
fn pad(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count > width {
        return text.chars().take(width.saturating_sub(1)).chain(['…']).collect();
    }
    format!("{text}{}", " ".repeat(width - count))
}

fn ends(prediction: &Prediction, width: usize) -> String {
    let mut page = String::new();
    for session in &prediction.sessions {
        let mut line =
            format!("session {} {}", clean(&session.session), ending(session.cut.as_ref()));
        if !session.cut_off.is_empty() {
            let names: Vec<String> = session.cut_off.iter().take(SHOWN_MAX).map(txn).collect();
            let more = session.cut_off.len().saturating_sub(SHOWN_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = write!(line, "; cut off: {}{more}", names.join(", "));
        }
        page += &wrap(&line, "  ", width);
    }
    page
}

fn ended(found: &Predicted, layout: &Layout) -> String {
    let note = match &found.answer {
        Answer::Found(_) => return String::new(),
        Answer::NoneExists(effort) if found.predictions.is_empty() => {
            searched(effort) + &relaxed(found.relaxed.as_ref())
        }
        Answer::NoneExists(_) => "There are no others.".to_owned(),
        Answer::Undecided(Open::Stopped, _) => return String::new(),
        Answer::Undecided(open, effort) => format!("{} {}", reason(*open), searched(effort)),
        Answer::AlreadyUnserializable { violates_level: true } => {
            format!("It violates {}; `seriatim check` says why.", found.options.level)
        }
        Answer::AlreadyUnserializable { .. } => "`seriatim check` says why.".to_owned(),
    };
    wrap(&note, "  ", layout.width)
}

/// What the relaxed boundary has to offer where the strict one has nothing.
fn relaxed(answer: Option<&Answer>) -> String {
    match answer {
        None => String::new(),
        Some(Answer::Found(prediction)) => {
            let why = prediction.violation.as_ref().map(|violation| violation.kind.info().name);
            let circle = circle(prediction).map(|circle| format!(", {circle}")).unwrap_or_default();
            format!(
                " With --boundary relaxed there is one ({}{circle}): a transaction then writes \
                 what it was observed to write, although it reads something else.",
                why.unwrap_or("not serializable")
            )
        }
        Some(Answer::NoneExists(_)) => " With --boundary relaxed none exists either.".to_owned(),
        Some(Answer::Undecided(..) | Answer::AlreadyUnserializable { .. }) => {
            " With --boundary relaxed none was found in the rest of the budget, but one may exist."
                .to_owned()
        }
    }
}

fn reason(open: Open) -> &'static str {
    match open {
        Open::Budget => "The budget is used up: there may be (other) predictions.",
        Open::Size => {
            "The run has too many conflicting transactions to be searched as a whole; what its \
             parts have to offer was found."
        }
        Open::Stopped => "The search was stopped.",
        Open::Observed => {
            "Whether the run itself is serializable is not known: its check used up the budget."
        }
        Open::UnknownContent => {
            "Whether the run itself is serializable is not known: it has transactions whose \
             content was not understood."
        }
    }
}

fn searched(effort: &Effort) -> String {
    format!(
        "Searched {} with {} that could have had another writer, in {:.3} s ({}, {}, {}).",
        plural(effort.transactions, "conflicting transaction"),
        plural(effort.reads, "read"),
        effort.time.as_secs_f64(),
        plural(effort.clauses, "clause"),
        plural(effort.conflicts, "conflict"),
        plural(effort.proposals, "proposal"),
    )
}
