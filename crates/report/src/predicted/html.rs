//! A page to look at: one file that needs nothing else.

use super::svg::escape;
use super::{CUT_SHORT, Predicted, ending, fate, observed, predicted, svg, text};
use crate::prose::{self, txn};
use crate::style::strip;
use crate::text::Layout;
use seriatim_predict::{Outlook, Prediction};
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem \
                     auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.25rem \
                     .6rem;text-align:left;vertical-align:top}\
td{font-family:monospace}.changed{color:#c0392b;font-weight:bold}\
.cut{color:#999;text-decoration:line-through}\
.txn td{background:#f4f4f4;font-weight:bold}figure{overflow:auto;margin:1rem 0}";

/// The page about all predictions of one input.
pub fn render(found: &Predicted) -> String {
    let title = escape(&format!("{}: prediction at {}", found.input, found.options.level));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta \
         charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\n<body>\n"
    );
    let plain = strip(&text::render(found, &Layout::default()));
    let first = plain.lines().next().unwrap_or_default();
    let _ = writeln!(page, "<h1>{title}</h1>\n<p>{}</p>", escape(first));
    if found.predictions.is_empty() {
        let lines: Vec<String> = plain.lines().map(escape).collect();
        let _ = writeln!(page, "<pre>{}</pre>", lines.join("\n"));
    }
    for (number, prediction) in found.predictions.iter().enumerate() {
        page += &one(number, prediction);
    }
    page + "</body></html>\n"
}

fn one(number: usize, prediction: &Prediction) -> String {
    let kind = prediction
        .violation
        .as_ref()
        .map_or("not serializable", |violation| violation.kind.info().name);
    let mut page = format!("<h2>{}. {}</h2>\n", number + 1, escape(kind));
    if let Some(violation) = &prediction.violation {
        let _ = writeln!(page, "<p>{}</p>\n<ol>", escape(&prose::summary(violation)));
        for step in prose::steps(violation) {
            let _ = writeln!(page, "<li>{}</li>", escape(&step));
        }
        page += "</ol>\n";
    }
    let _ = writeln!(page, "<figure>{}</figure>", svg::render(prediction));
    page + &table(prediction) + &ends(prediction)
}

fn table(prediction: &Prediction) -> String {
    let mut page =
        String::from("<table>\n<tr><th>session</th><th>observed</th><th>predicted</th></tr>\n");
    for shown in &prediction.shown {
        let name = escape(&txn(&shown.txn));
        let session = escape(&shown.txn.session);
        let _ = writeln!(
            page,
            "<tr class=\"txn\"><td>{session}</td><td>{name}</td><td>{name} {}</td></tr>",
            fate(shown.fate)
        );
        for event in &shown.events {
            let (class, right) = match predicted(event) {
                Some(text) if event.is_changed() => ("changed", text),
                Some(text) => ("", text),
                None => ("cut", observed(event)),
            };
            let left = escape(&observed(event));
            let _ = writeln!(
                page,
                "<tr><td></td><td>{left}</td><td class=\"{class}\">{}</td></tr>",
                escape(&right)
            );
        }
    }
    page + "</table>\n"
}

fn ends(prediction: &Prediction) -> String {
    let mut page = String::from("<ul>\n");
    for session in &prediction.sessions {
        let names: Vec<String> = session.cut_off.iter().map(txn).collect();
        let cut_off = if names.is_empty() {
            String::new()
        } else {
            format!("; cut off: {}", names.join(", "))
        };
        let line = format!("session {} {}{cut_off}", session.session, ending(session.cut.as_ref()));
        let _ = writeln!(page, "<li>{}</li>", escape(&line));
    }
    page += "</ul>\n";
    if prediction.outlook == Outlook::CutShort {
        let _ = writeln!(page, "<p>{}</p>", escape(CUT_SHORT));
    }
    page
}
