//! A page to look at: one file that needs nothing else.

use super::{CUT_SHORT, Predicted, ending, fate, observed, predicted, text};
use crate::page::{draw, frame, violation};
use crate::prose::{clean, txn};
use crate::style::strip;
use crate::text::Layout;
use maud::{Markup, html};
use seriatim_predict::{Outlook, Prediction, SessionEnd};

/// The page about all predictions of one input.
pub fn render(found: &Predicted) -> String {
    let title = format!("{}: prediction at {}", clean(&found.input), found.options.level);
    let plain = strip(&text::render(found, &Layout::default()));
    let content = html! {
        article {
            h1 { (title) }
            p.verdict { (plain.lines().next().unwrap_or_default()) }
            @if found.predictions.is_empty() { pre { (plain) } }
            @for (number, prediction) in found.predictions.iter().enumerate() {
                (one(number, prediction))
            }
        }
    };
    frame::page(&title, &content)
}

/// The picture of a prediction by itself; nothing if no cycle explains it.
pub fn svg(prediction: &Prediction) -> Option<String> {
    let violation = prediction.violation.as_ref()?;
    let title = format!("predicted: {}", violation.kind.info().name);
    Some(draw::file(&[(title, Some(crate::page::diagram::diagram(violation)))]))
}

fn one(number: usize, prediction: &Prediction) -> Markup {
    let kind = prediction.violation.as_ref().map(|violation| violation.kind.info().name);
    let kind = kind.unwrap_or("not serializable");
    html! {
        section.anomaly id=(format!("p{number}")) {
            h2 { (number + 1) ". " (kind) }
            h3 { "What would be otherwise" }
            (table(prediction))
            (ends(prediction))
            @if let Some(found) = &prediction.violation {
                h3 { "Why that is not serializable" }
                (violation(found, kind, number))
            }
        }
    }
}

fn table(prediction: &Prediction) -> Markup {
    html! {
        div.table tabindex="0" {
            table {
                thead { tr { th { "session" } th { "observed" } th { "predicted" } } }
                tbody {
                    @for shown in &prediction.shown {
                        tr {
                            th { (clean(&shown.txn.session)) }
                            th { (txn(&shown.txn)) }
                            th { (txn(&shown.txn)) " " (fate(shown.fate)) }
                        }
                        @for event in &shown.events {
                            tr {
                                td {}
                                td.act { (observed(event)) }
                                @match predicted(event) {
                                    Some(text) => td.act.changed[event.is_changed()] { (text) },
                                    None => td.act.cut { (observed(event)) },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn ends(prediction: &Prediction) -> Markup {
    html! {
        ul {
            @for session in &prediction.sessions { li { (end(session)) } }
        }
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
