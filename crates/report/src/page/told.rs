//! What other commands say, as a page: what the terminal shows, what the clients and the database
//! said to each other, and the anomalies of the run with their pictures.

use super::check::{CheckedInput, class, input};
use super::diagram::short;
use super::frame::{self, Room};
use super::sequence::{Asked, Piece, Sequence, clients, exchange, pieces};
use crate::style;
use maud::{Markup, html};
use seriatim_check::Answer;

/// How many statements of a run a page shows, with so many characters each and of so many clients.
const ROWS_TRIED: [usize; 4] = [400, 100, 25, 5];
const CHARS_MAX: usize = 300;
const CLIENTS_MAX: usize = 40;
/// Characters of a verdict, and of a line of what the terminal shows.
const VERDICT_MAX: usize = 1_000;
const LINE_MAX: usize = 2_000;

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

/// The page.
pub fn told(told: &Told<'_>) -> String {
    let plain = style::strip(told.text);
    let mut lines = plain.lines();
    let verdict = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let mut room = Room::of_a_page();
    let content = html! {
        article {
            h1 { (frame::title(told.title)) }
            p.verdict.(class(told.answer)) { (short(verdict, VERDICT_MAX)) }
            @if let Some(sequence) = told.sequence {
                (room.share(2, |room| run(sequence, room)))
            }
            h2 { "What was found" }
            (room.share(3, |room| found(&rest, room)))
        }
        @if let Some(checked) = &told.checked { (input(checked, &mut room)) }
    };
    frame::page(told.title, &content)
}

/// What the terminal shows, as many lines as there is room for.
fn found(lines: &[&str], room: &mut Room) -> Markup {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let line = |line: &&str| html! { (short(line, LINE_MAX)) "\n" };
    let (shown, more) = room.rows(&lines[..end], line);
    html! {
        pre tabindex="0" { (shown) }
        @if more > 0 { p.soft { "… and " (more) " lines more." } }
    }
}

/// A run as a diagram, and statement by statement.
fn run(sequence: &Sequence, room: &mut Room) -> Markup {
    let drawn = exchange(sequence).and_then(|drawn| room.fit(drawn));
    html! {
        h2 { "The run, statement by statement" }
        @if let Some(drawn) = drawn { (drawn) }
        (grid(sequence, room))
    }
}

fn grid(sequence: &Sequence, room: &mut Room) -> Markup {
    let clients = clients(sequence, CLIENTS_MAX);
    let names = clients.iter().map(|&client| sequence.clients[client].as_str());
    let Some(head) = room.fit(html! {
        tr { @for name in names { th scope="col" { (brief(name)) } } }
    }) else {
        return html! {};
    };
    let row = |piece: Piece| match piece {
        Piece::LeftOut(count) => html! {
            tr.left { td.soft colspan=(clients.len()) { "… " (count) " rows left out" } }
        },
        Piece::Shown(at) => {
            let asked = &sequence.asked[at];
            html! {
                tr {
                    @for &client in &clients {
                        @if client == asked.client { (cell(asked)) } @else { td {} }
                    }
                }
            }
        }
    };
    let is_shown = |client| clients.contains(&client);
    let rows = |rows_max: usize| {
        let mut part = room.clone();
        let (rows, left_out) = part.rows(pieces(sequence, rows_max, is_shown), row);
        (rows, left_out, part)
    };
    // Long statements: rather fewer around those that are to blame than only the first ones.
    let tried = ROWS_TRIED.iter().map(|&rows_max| rows(rows_max)).find(|(_, more, _)| *more == 0);
    let (rows, left_out, used) = tried.unwrap_or_else(|| rows(1));
    *room = used;
    html! {
        p.soft { "Time goes down, " (sequence.order) "; each client has a column." }
        label { "Only with " input type="search" data-filters="sequence"
            placeholder="a table, a value"; }
        div.table tabindex="0" {
            table.grid id="sequence" {
                thead { (head) }
                tbody { (rows) }
            }
        }
        @if left_out > 0 { p.soft { "… and " (left_out) " rows more." } }
        @if sequence.clients.len() > clients.len() {
            @let others = sequence.clients.len() - clients.len();
            p.soft { "Of " (others) " other clients nothing is shown." }
        }
    }
}

fn brief(text: &str) -> String {
    short(text, CHARS_MAX)
}

fn cell(asked: &Asked) -> Markup {
    html! {
        td.blamed[asked.is_blamed] {
            div.soft { (brief(&asked.txn)) }
            code { (brief(&asked.text)) }
            @if let Some(returned) = &asked.returned { div { "→ " code { (brief(returned)) } } }
            @if asked.is_blamed { strong.bad { "to blame" } }
            @if let Some(otherwise) = &asked.otherwise {
                div.bad { "a serializable database: " code { (brief(otherwise)) } }
            }
        }
    }
}
