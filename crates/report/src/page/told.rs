//! What other commands say, as a page: what the terminal shows, what the clients and the database
//! said to each other, and the anomalies of the run with their pictures.

use super::check::{CheckedInput, class, input};
use super::frame;
use crate::prose::clean;
use crate::style;
use maud::{Markup, html};
use seriatim_check::Answer;

/// Statements of a run that a page shows.
const ROWS_MAX: usize = 400;

/// A result of a command.
#[derive(Clone, Debug)]
pub struct Told<'t> {
    /// What it is about.
    pub title: &'t str,
    /// Whether that is good.
    pub answer: Answer,
    /// What the terminal shows, the verdict first.
    pub text: &'t str,
    /// What was said in the run, if it was one with statements.
    pub sequence: Option<&'t Sequence>,
    /// What the checker says of its history.
    pub checked: Option<CheckedInput<'t>>,
}

/// Statements of clients and their answers, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The clients.
    pub clients: Vec<String>,
    /// What was asked.
    pub asked: Vec<Asked>,
}

/// A statement.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The client, by its place.
    pub client: usize,
    /// Its transaction.
    pub txn: String,
    /// The statement.
    pub text: String,
    /// What was answered.
    pub returned: Option<String>,
    /// Whether it is to blame.
    pub is_blamed: bool,
    /// What a serializable database would have answered, if that is something else.
    pub otherwise: Option<String>,
}

/// The page.
pub fn told(told: &Told<'_>) -> String {
    let plain = style::strip(told.text);
    let mut lines = plain.lines();
    let verdict = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let content = html! {
        article {
            h1 { (clean(told.title)) }
            p.verdict.(class(told.answer)) { (clean(verdict)) }
            @if let Some(sequence) = told.sequence { (grid(sequence)) }
            h2 { "What was found" }
            pre tabindex="0" { (shown(&rest)) }
        }
        @if let Some(checked) = &told.checked { (input(checked)) }
    };
    frame::page(told.title, &content)
}

fn shown(lines: &[&str]) -> String {
    lines.iter().map(|line| clean(line) + "\n").collect::<String>().trim_end().to_owned()
}

fn grid(sequence: &Sequence) -> Markup {
    html! {
        h2 { "The run, statement by statement" }
        p.soft { "Time goes down, in the order in which statements began; each client has a column." }
        label { "Only with " input type="search" data-filters="sequence"
            placeholder="a table, a value"; }
        div.table tabindex="0" {
            table.grid id="sequence" {
                thead { tr { @for client in &sequence.clients { th scope="col" { (clean(client)) } } } }
                tbody {
                    @for asked in sequence.asked.iter().take(ROWS_MAX) {
                        tr {
                            @for client in 0..sequence.clients.len() {
                                @if client == asked.client { (cell(asked)) } @else { td {} }
                            }
                        }
                    }
                }
            }
        }
        @if sequence.asked.len() > ROWS_MAX {
            p.soft { "… and " (sequence.asked.len() - ROWS_MAX) " more." }
        }
    }
}

fn cell(asked: &Asked) -> Markup {
    html! {
        td.blamed[asked.is_blamed] {
            div.soft { (clean(&asked.txn)) }
            code { (clean(&asked.text)) }
            @if let Some(returned) = &asked.returned { div { "→ " code { (clean(returned)) } } }
            @if asked.is_blamed { strong.bad { "to blame" } }
            @if let Some(otherwise) = &asked.otherwise {
                div.bad { "a serializable database: " code { (clean(otherwise)) } }
            }
        }
    }
}
