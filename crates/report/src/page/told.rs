//! What other commands say, as a page: what the terminal shows, what the clients and the database
//! said to each other, and the anomalies of the run with their pictures.

use super::check::{CheckedInput, class, input};
use super::diagram::cut;
use super::frame;
use crate::prose::clean;
use crate::style;
use maud::{Markup, html};
use seriatim_check::Answer;

/// Statements of a run that a page shows, with so many characters each and of so many clients.
const ROWS_MAX: usize = 400;
const CHARS_MAX: usize = 300;
const CLIENTS_MAX: usize = 40;
/// Characters of what the terminal shows.
const TEXT_MAX: usize = 200_000;

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
    /// The number of the transaction among those of the client, from 0.
    pub number: u32,
    /// The number of the statement in the transaction, from 0.
    pub statement: u32,
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
    let text: String = lines.iter().map(|line| clean(line) + "\n").collect();
    let text = text.trim_end();
    match text.char_indices().nth(TEXT_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn shown_of(sequence: &Sequence) -> impl Iterator<Item = &Asked> {
    sequence.asked.iter().filter(|asked| asked.client < CLIENTS_MAX).take(ROWS_MAX)
}

fn grid(sequence: &Sequence) -> Markup {
    html! {
        h2 { "The run, statement by statement" }
        p.soft {
            "Time goes down, in the order in which statements began; each client has a column."
        }
        label { "Only with " input type="search" data-filters="sequence"
            placeholder="a table, a value"; }
        div.table tabindex="0" {
            table.grid id="sequence" {
                thead {
                    tr {
                        @for client in sequence.clients.iter().take(CLIENTS_MAX) {
                            th scope="col" { (clean(client)) }
                        }
                    }
                }
                tbody {
                    @for asked in shown_of(sequence) {
                        tr {
                            @for client in 0..sequence.clients.len().min(CLIENTS_MAX) {
                                @if client == asked.client { (cell(asked)) } @else { td {} }
                            }
                        }
                    }
                }
            }
        }
        @if sequence.asked.len() > shown_of(sequence).count() {
            p.soft { "… and " (sequence.asked.len() - shown_of(sequence).count()) " more." }
        }
    }
}

fn short(text: &str) -> String {
    cut(&clean(text), CHARS_MAX)
}

fn cell(asked: &Asked) -> Markup {
    html! {
        td.blamed[asked.is_blamed] {
            div.soft { (clean(&asked.txn)) }
            code { (short(&asked.text)) }
            @if let Some(returned) = &asked.returned { div { "→ " code { (short(returned)) } } }
            @if asked.is_blamed { strong.bad { "to blame" } }
            @if let Some(otherwise) = &asked.otherwise {
                div.bad { "a serializable database: " code { (short(otherwise)) } }
            }
        }
    }
}
