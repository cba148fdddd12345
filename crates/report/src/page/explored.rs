//! What `explore` came to, as a page: the answer, how much was covered, the counterexample session
//! by session, and what the checker says of it.

use super::check::{CheckedInput, class, input};
use super::diagram::short;
use super::frame::{self, Room};
use super::tree::tree;
use crate::explored::{
    Behaviour, Cycle, Explored, Txn, again, headline, numbers, operation_text, remarks,
    told_aborted,
};
use crate::text::grouped;
use maud::{Markup, html};
use seriatim_check::Answer;

/// Transactions and operations of each that a page shows, and sessions beside each other.
const TXNS_MAX: usize = 60;
const OPERATIONS_MAX: usize = 60;
const SESSIONS_MAX: usize = 24;
/// Characters of a word and of a sentence.
const WORD_MAX: usize = 200;
const SENTENCE_MAX: usize = 2_000;
/// Groups of counterexamples that a page shows.
const GROUPS_MAX: usize = 200;

/// The page.
pub fn explored(explored: &Explored) -> String {
    let mut room = Room::of_a_page();
    let content = html! {
        article {
            h1 { (frame::title(&explored.input)) }
            p.verdict.(class(explored.outcome)) { (sentence(&headline(explored))) }
            p.soft { (sentence(&numbers(explored))) }
            @for line in remarks(explored) { p { (sentence(&line)) } }
            h2 { "What was covered" }
            (coverage(explored))
            (explored.tree.as_ref().and_then(tree).and_then(|it| room.fit(it)).unwrap_or_default())
            @if let Some(behaviour) = &explored.behaviour {
                (room.share(3, |room| story(explored, behaviour, room)))
            }
            @if !explored.groups.is_empty() { (room.share(3, |room| groups(explored, room))) }
        }
        @if let Some(behaviour) = &explored.behaviour {
            (input(&CheckedInput { checked: &behaviour.checked, overview: None }, &mut room))
        }
    };
    frame::page(&explored.input, &content)
}

fn word(text: &str) -> String {
    short(text, WORD_MAX)
}

fn sentence(text: &str) -> String {
    short(text, SENTENCE_MAX)
}

/// The tree of behaviours by where its branches ended.
fn coverage(explored: &Explored) -> Markup {
    let good = explored.histories.saturating_sub(explored.counterexamples);
    let below = explored.ends.saturating_sub(explored.histories);
    let is_asked = explored.outcome != Answer::Undecided || explored.counterexamples > 0;
    let parts = [
        (good, "good", if is_asked { "as they should be" } else { "visited" }),
        (explored.counterexamples, "bad", "counterexamples"),
        (below, "below", "allowed only by the weaker level that was searched"),
        (explored.blocked, "blocked", "led to nothing new"),
        (explored.cut, "open", "cut: they need too many transactions"),
    ];
    let all: u64 = parts.iter().map(|(count, ..)| count).sum();
    let of_all = |count: u64| format!("{:.1} %", count as f64 * 100.0 / all.max(1) as f64);
    html! {
        div.table tabindex="0" {
            table.counts {
                thead {
                    tr {
                        @for name in ["ends of branches", "how many", "of all"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for (count, class, name) in parts.iter().filter(|(count, ..)| *count > 0) {
                        tr {
                            th scope="row" { (name) }
                            td.number.(class) { (grouped(*count)) }
                            td.number { (of_all(*count)) }
                        }
                    }
                }
            }
        }
        @if !explored.is_complete && !explored.is_replay {
            @let share = format!("{:.1} %", explored.share * 100.0);
            p.open {
                @if explored.counterexamples > 0 && explored.stopped.is_none() {
                    "The search ended with the first counterexample, after " (share)
                } @else {
                    "The search has seen " (share)
                }
                " of the tree, if all its branches are alike."
            }
        }
    }
}

fn story(explored: &Explored, behaviour: &Behaviour, room: &mut Room) -> Markup {
    let sessions = || behaviour.sessions.iter().take(SESSIONS_MAX);
    let names = html! { @for it in sessions() { th scope="col" { (word(&it.session)) } } };
    let Some(names) = room.fit(names) else { return html! {} };
    html! {
        h2 { @if behaviour.reason.is_some() { "Counterexample" } @else { "The behaviour" } }
        @if let Some(reason) = &behaviour.reason { p { (sentence(reason)) "." } }
        div.table tabindex="0" {
            table.grid {
                thead {
                    tr { (names) }
                }
                tbody {
                    tr {
                        @for it in sessions() {
                            @let shown = it.transactions.iter().take(TXNS_MAX);
                            @let part = |room: &mut Room| room.rows(shown, transaction);
                            @let (txns, left_out) = room.share(2, part);
                            @let more = left_out + it.transactions.len().saturating_sub(TXNS_MAX);
                            td {
                                (txns)
                                @if more > 0 { p.soft { "… and " (more) " more" } }
                            }
                        }
                    }
                    @if behaviour.locals.iter().any(|(_, local)| !local.is_empty()) {
                        tr {
                            @for it in sessions() { td.soft { (local(behaviour, &it.session)) } }
                        }
                    }
                }
            }
        }
        @if behaviour.sessions.len() > SESSIONS_MAX {
            p.soft { "… and " (behaviour.sessions.len() - SESSIONS_MAX) " more sessions." }
        }
        @if let Some(aborted) = told_aborted(behaviour) { p { (sentence(&aborted)) } }
        p { "See it again: " code { (sentence(&again(explored, behaviour))) } }
    }
}

fn transaction(txn: &Txn) -> Markup {
    html! {
        div.txn {
            strong { (word(&txn.name)) }
            @if !txn.committed { span.open { " aborted" } }
            @for operation in txn.operations.iter().take(OPERATIONS_MAX) {
                div { code { (word(&operation_text(operation))) } }
            }
            @if txn.operations.len() > OPERATIONS_MAX {
                div.soft { "… and " (txn.operations.len() - OPERATIONS_MAX) " more" }
            }
        }
    }
}

/// What a session knows in the end.
fn local(behaviour: &Behaviour, session: &str) -> String {
    let found = behaviour.locals.iter().find(|(name, _)| name == session);
    found.map(|(_, local)| sentence(local)).unwrap_or_default()
}

fn groups(explored: &Explored, room: &mut Room) -> Markup {
    let row = |group: &Cycle| {
        html! {
            tr {
                td.number { (grouped(group.count)) }
                td { (sentence(&group.cycle)) }
                td { (sentence(&group.reason)) }
                td { code { (sentence(&group.token)) } }
            }
        }
    };
    let (rows, left_out) = room.rows(explored.groups.iter().take(GROUPS_MAX), row);
    let more = left_out + explored.groups.len().saturating_sub(GROUPS_MAX);
    html! {
        h2 { "Counterexamples by the cycle that they show" }
        p.soft {
            "See the first of each again with "
            code { (sentence(&explored.command)) " --replay TOKEN" } "."
        }
        label { "Only with " input type="search" data-filters="groups" placeholder="a word"; }
        div.table tabindex="0" {
            table id="groups" {
                thead {
                    tr {
                        @for name in ["how many", "cycle", "why", "token"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
        @if more > 0 { p.soft { "… and " (more) " more." } }
    }
}
