//! What `explore` came to, as a page: the answer, how much was covered, the counterexample session
//! by session, and what the checker says of it.

use super::check::{CheckedInput, class, input};
use super::frame;
use crate::explored::{
    Behaviour, Cycle, Explored, Txn, again, headline, numbers, operation_text, remarks,
    told_aborted,
};
use crate::prose::clean;
use crate::text::grouped;
use maud::{Markup, html};
use seriatim_check::Answer;

/// Transactions and operations of each that a page shows, and sessions beside each other.
const TXNS_MAX: usize = 60;
const OPERATIONS_MAX: usize = 60;
const SESSIONS_MAX: usize = 24;
/// Groups of counterexamples that a page shows.
const GROUPS_MAX: usize = 200;

/// The page.
pub fn explored(explored: &Explored) -> String {
    let content = html! {
        article {
            h1 { (clean(&explored.input)) }
            p.verdict.(class(explored.outcome)) { (headline(explored)) }
            p.soft { (numbers(explored)) }
            @for line in remarks(explored) { p { (line) } }
            h2 { "What was covered" }
            (coverage(explored))
            @if let Some(behaviour) = &explored.behaviour { (story(explored, behaviour)) }
            @if !explored.groups.is_empty() { (groups(explored)) }
        }
        @if let Some(behaviour) = &explored.behaviour {
            (input(&CheckedInput { checked: &behaviour.checked, overview: None }))
        }
    };
    frame::page(&explored.input, &content)
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
        div.table {
            table.counts {
                thead { tr { th { "ends of branches" } th { "how many" } th { "of all" } } }
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

fn story(explored: &Explored, behaviour: &Behaviour) -> Markup {
    let sessions = || behaviour.sessions.iter().take(SESSIONS_MAX);
    html! {
        h2 { @if behaviour.reason.is_some() { "Counterexample" } @else { "The behaviour" } }
        @if let Some(reason) = &behaviour.reason { p { (clean(reason)) "." } }
        div.table tabindex="0" {
            table.grid {
                thead {
                    tr { @for it in sessions() { th scope="col" { (clean(&it.session)) } } }
                }
                tbody {
                    tr {
                        @for it in sessions() {
                            td {
                                @for txn in it.transactions.iter().take(TXNS_MAX) {
                                    (transaction(txn))
                                }
                                @if it.transactions.len() > TXNS_MAX {
                                    p.soft { "… and " (it.transactions.len() - TXNS_MAX) " more" }
                                }
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
        @if let Some(aborted) = told_aborted(behaviour) { p { (aborted) } }
        p { "See it again: " code { (again(explored, behaviour)) } }
    }
}

fn transaction(txn: &Txn) -> Markup {
    html! {
        div.txn {
            strong { (clean(&txn.name)) }
            @if !txn.committed { span.open { " aborted" } }
            @for operation in txn.operations.iter().take(OPERATIONS_MAX) {
                div { code { (operation_text(operation)) } }
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
    found.map(|(_, local)| clean(local)).unwrap_or_default()
}

fn groups(explored: &Explored) -> Markup {
    let row = |group: &Cycle| {
        html! {
            tr {
                td.number { (grouped(group.count)) }
                td { (clean(&group.cycle)) }
                td { (clean(&group.reason)) }
                td { code { (clean(&group.token)) } }
            }
        }
    };
    html! {
        h2 { "Counterexamples by the cycle that they show" }
        p.soft {
            "See the first of each again with " code { (explored.command) " --replay TOKEN" } "."
        }
        label { "Only with " input type="search" data-filters="groups" placeholder="a word"; }
        div.table tabindex="0" {
            table id="groups" {
                thead { tr { th { "how many" } th { "cycle" } th { "why" } th { "token" } } }
                tbody { @for group in explored.groups.iter().take(GROUPS_MAX) { (row(group)) } }
            }
        }
        @if explored.groups.len() > GROUPS_MAX {
            p.soft { "… and " (explored.groups.len() - GROUPS_MAX) " more." }
        }
    }
}
