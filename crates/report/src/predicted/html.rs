//! A page to look at: one file that needs nothing else.

use super::{CUT_SHORT, Predicted, ending, fate, observed, predicted, text};
use crate::page::diagram::{cut, short};
use crate::page::frame::{self, Room};
use crate::page::{draw, drawn, proof};
use crate::prose::{clean, txn};
use crate::style::strip;
use crate::text::Layout;
use maud::{Markup, html};
use seriatim_predict::{Outlook, Prediction, SessionEnd, ShownEvent, ShownTxn};

/// The page about all predictions of one input.
pub fn render(found: &Predicted) -> String {
    let title = format!("{}: prediction at {}", frame::title(&found.input), found.options.level);
    let mut room = Room::of_a_page();
    let verdict = strip(&text::headline(found, &Layout { width: usize::MAX, ..Layout::default() }));
    // All that there is to say if nothing was found.
    let plain = || strip(&text::render(found, &Layout::default()));
    let content = html! {
        article {
            h1 { (title) }
            p.verdict { (cut(verdict.lines().next().unwrap_or_default(), TEXT_MAX)) }
            @if found.predictions.is_empty() { pre tabindex="0" { (cut(&plain(), TEXT_MAX)) } }
            @let all = found.predictions.len();
            @for (number, prediction) in found.predictions.iter().enumerate() {
                // What one does not use is for those that follow.
                (room.share((all - number).min(4), |room| one(number, prediction, room)))
            }
        }
    };
    frame::page(&title, &content)
}

/// Characters of a text, and of a cell.
const TEXT_MAX: usize = 20_000;
const CELL_MAX: usize = 500;

fn cell(text: &str) -> String {
    short(text, CELL_MAX)
}

/// The pictures of predictions by themselves; nothing if no cycle explains any.
pub fn svg(predictions: &[Prediction]) -> Option<String> {
    let all = predictions.iter().filter_map(|it| it.violation.as_ref()).enumerate();
    let pictures: Vec<_> = all
        .flat_map(|(place, it)| {
            let number =
                if predictions.len() > 1 { format!(" {}", place + 1) } else { String::new() };
            drawn(&format!("predicted{number}: {}", it.kind.info().name), it)
        })
        .collect();
    (!pictures.is_empty()).then(|| draw::file(&pictures))
}

fn one(number: usize, prediction: &Prediction, room: &mut Room) -> Markup {
    if room.is_full() {
        return html! {};
    }
    let kind = prediction.violation.as_ref().map(|violation| violation.kind.info().name);
    let kind = kind.unwrap_or("not serializable");
    let head = html! { h2 { (number + 1) ". " (kind) } };
    let Some(head) = room.fit(head) else { return html! {} };
    html! {
        section.anomaly id=(format!("p{number}")) {
            (head)
            h3 { "What would be otherwise" }
            (room.share(2, |room| table(prediction, room)))
            (room.share(4, |room| ends(prediction, room)))
            @if let Some(found) = &prediction.violation {
                h3 { "Why that is not serializable" }
                (proof::violation(found, kind, &number.to_string(), room))
            }
        }
    }
}

/// The transactions, then their events.
enum Row<'p> {
    Txn(&'p ShownTxn),
    Event(&'p ShownEvent),
}

fn table(prediction: &Prediction, room: &mut Room) -> Markup {
    let rows = prediction.shown.iter().flat_map(|shown| {
        std::iter::once(Row::Txn(shown)).chain(shown.events.iter().map(Row::Event))
    });
    let (rows, more) = room.rows(rows, |row| match row {
        Row::Txn(shown) => html! {
            tr {
                th scope="rowgroup" { (cell(&shown.txn.session)) }
                th { (cell(&txn(&shown.txn))) }
                th { (cell(&txn(&shown.txn))) " " (fate(shown.fate)) }
            }
        },
        Row::Event(event) => html! {
            tr {
                td {}
                td.act { (cell(&observed(event))) }
                @match predicted(event) {
                    Some(text) => td.act.changed[event.is_changed()] { (cell(&text)) },
                    None => td.act.cut { (cell(&observed(event))) },
                }
            }
        },
    });
    html! {
        div.table tabindex="0" {
            table {
                thead {
                    tr {
                        @for name in ["session", "observed", "predicted"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
        @if more > 0 { p.soft { "… and " (more) " rows more." } }
    }
}

fn ends(prediction: &Prediction, room: &mut Room) -> Markup {
    let line = |session| html! { li { (cut(&end(session), CELL_MAX)) } };
    let (lines, more) = room.rows(&prediction.sessions, line);
    html! {
        ul { (lines) }
        @if more > 0 { p.soft { "… and " (more) " more." } }
        @if prediction.outlook == Outlook::CutShort { p { (CUT_SHORT) } }
    }
}

fn end(session: &SessionEnd) -> String {
    let names: Vec<String> = session.cut_off.iter().map(txn).collect();
    let cut_off = match names.is_empty() {
        true => String::new(),
        false => format!("; cut off: {}", names.join(", ")),
    };
    clean(&format!("session {} {}{cut_off}", session.session, ending(session.cut.as_ref())))
}
