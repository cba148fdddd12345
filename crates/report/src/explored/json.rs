//! An exploration as JSON for machines.

use super::{Behaviour, Cycle, Explored, Operation, Question, Story, Txn};
use crate::prose::summary;
use serde::Serialize;

#[derive(Serialize)]
struct Object<'a> {
    input: &'a str,
    level: &'a str,
    base: &'a str,
    algorithm: &'a str,
    question: Question,
    verdict: &'a str,
    histories: u64,
    end_states: u64,
    blocked: u64,
    cut: u64,
    counterexamples: u64,
    share: f64,
    complete: bool,
    part: usize,
    parts: usize,
    time_ms: f64,
    behaviour: Option<BehaviourObject<'a>>,
    groups: &'a [Cycle],
}

#[derive(Serialize)]
struct BehaviourObject<'a> {
    reason: Option<&'a str>,
    locals: Vec<LocalObject<'a>>,
    sessions: Vec<StoryObject<'a>>,
    strongest: Option<&'a str>,
    anomalies: Vec<AnomalyObject<'a>>,
    token: &'a str,
}

#[derive(Serialize)]
struct LocalObject<'a> {
    session: &'a str,
    state: &'a str,
}

#[derive(Serialize)]
struct StoryObject<'a> {
    session: &'a str,
    transactions: Vec<TxnObject<'a>>,
}

#[derive(Serialize)]
struct TxnObject<'a> {
    name: &'a str,
    committed: bool,
    operations: Vec<(char, &'a str, String)>,
}

#[derive(Serialize)]
struct AnomalyObject<'a> {
    kind: &'a str,
    summary: String,
}

/// The line, without a line end, as [`crate::schema::EXPLORE`] describes it.
pub fn json(explored: &Explored) -> String {
    let object = Object {
        input: &explored.input,
        level: explored.level_code,
        base: explored.base_code,
        algorithm: explored.algorithm,
        question: explored.question,
        verdict: explored.outcome.word(),
        histories: explored.histories,
        end_states: explored.ends,
        blocked: explored.blocked,
        cut: explored.cut,
        counterexamples: explored.counterexamples,
        // The shares of the children of a node may not add up to its own exactly.
        share: if explored.is_complete && explored.part.1 == 1 {
            1.0
        } else {
            explored.share.min(1.0)
        },
        complete: explored.is_complete,
        part: explored.part.0,
        parts: explored.part.1,
        time_ms: explored.elapsed.as_secs_f64() * 1e3,
        behaviour: explored.behaviour.as_ref().map(behaviour_object),
        groups: &explored.groups,
    };
    // Structs of strings and numbers always serialise; no error can occur.
    serde_json::to_string(&object).unwrap_or_default()
}

fn behaviour_object(behaviour: &Behaviour) -> BehaviourObject<'_> {
    let report = &behaviour.checked.report;
    let anomaly = |group: &seriatim_check::AnomalyGroup| AnomalyObject {
        kind: group.kind.info().code,
        summary: summary(&group.exemplar),
    };
    BehaviourObject {
        reason: behaviour.reason.as_deref(),
        locals: behaviour
            .locals
            .iter()
            .map(|(session, state)| LocalObject { session, state })
            .collect(),
        sessions: behaviour.sessions.iter().map(story_object).collect(),
        strongest: report.strongest().map(|level| level.code()),
        anomalies: report.anomalies.iter().map(anomaly).collect(),
        token: &behaviour.token,
    }
}

fn story_object(story: &Story) -> StoryObject<'_> {
    StoryObject {
        session: &story.session,
        transactions: story.transactions.iter().map(txn_object).collect(),
    }
}

fn txn_object(txn: &Txn) -> TxnObject<'_> {
    TxnObject {
        name: &txn.name,
        committed: txn.committed,
        operations: txn.operations.iter().map(operation_object).collect(),
    }
}

fn operation_object(operation: &Operation) -> (char, &str, String) {
    (operation.letter(), &operation.key, operation.value.to_string())
}
