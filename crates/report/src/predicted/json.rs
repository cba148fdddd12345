//! For machines: one object. The shape is documented by [`crate::schema::PREDICT`]; `seriatim
//! replay` reads it.

use super::{Predicted, circle};
use crate::prose;
use serde_json::{Value, json};
use seriatim_check::TxnRef;
use seriatim_predict::{
    Answer, Cut, Effort, Open, Outlook, Planned, PlannedTxn, Prediction, SessionEnd, TxnPlace,
};

/// The object about one input, on one line without a line end.
pub fn render(found: &Predicted) -> String {
    let (word, undecided, effort) = match &found.answer {
        _ if !found.predictions.is_empty() => ("found", open(&found.answer), None),
        Answer::Found(_) => ("found", None, None),
        Answer::NoneExists(effort) => ("none", None, Some(effort)),
        Answer::Undecided(_, effort) => ("undecided", open(&found.answer), Some(effort)),
        Answer::AlreadyUnserializable { .. } => ("already-unserializable", None, None),
    };
    let violates = match found.answer {
        Answer::AlreadyUnserializable { violates_level } => Some(violates_level),
        _ => None,
    };
    let extra: Option<Value> =
        found.extra.as_ref().and_then(|extra| serde_json::from_str(extra).ok());
    json!({
        "input": found.input,
        "format": found.format,
        "level": found.options.level.code(),
        "boundary": found.options.boundary.word(),
        "mode": found.options.mode.word(),
        "answer": word,
        "undecided": undecided,
        "violates_level": violates,
        "observed": extra,
        "predictions": found.predictions.iter().map(prediction).collect::<Vec<_>>(),
        "relaxed": found.relaxed.as_ref().map(relaxed),
        "effort": effort.map(effort_object),
    })
    .to_string()
}

/// What the relaxed boundary has to offer, in short.
fn relaxed(answer: &Answer) -> Value {
    let (word, prediction) = match answer {
        Answer::Found(prediction) => ("found", Some(prediction)),
        Answer::NoneExists(_) => ("none", None),
        Answer::Undecided(..) | Answer::AlreadyUnserializable { .. } => ("undecided", None),
    };
    let violation = prediction.and_then(|prediction| prediction.violation.as_ref());
    json!({
        "answer": word,
        "anomaly": violation.map(|violation| violation.kind.info().code),
        "circle": prediction.and_then(|prediction| circle(prediction)),
    })
}

fn open(answer: &Answer) -> Option<&'static str> {
    match answer {
        Answer::Undecided(Open::Budget, _) => Some("budget"),
        Answer::Undecided(Open::Size, _) => Some("size"),
        Answer::Undecided(Open::Observed, _) => Some("observed"),
        Answer::Undecided(Open::UnknownContent, _) => Some("unknown-content"),
        _ => None,
    }
}

fn effort_object(effort: &Effort) -> Value {
    json!({
        "transactions": effort.transactions,
        "reads": effort.reads,
        "parts": effort.parts,
        "variables": effort.variables,
        "clauses": effort.clauses,
        "conflicts": effort.conflicts,
        "proposals": effort.proposals,
        "version_orders": effort.version_orders,
        "time_ms": effort.time.as_secs_f64() * 1000.0,
    })
}

fn prediction(prediction: &Prediction) -> Value {
    let violation = prediction.violation.as_ref();
    let cycle = violation
        .map(|violation| violation.cycle.iter().map(edge).collect::<Vec<_>>())
        .unwrap_or_default();
    json!({
        "anomaly": violation.map(|violation| violation.kind.info().code),
        "summary": violation.map(prose::summary),
        "steps": violation.map(prose::steps).unwrap_or_default(),
        "circle": circle(prediction),
        "cycle": cycle,
        "changed": prediction.changed.iter().map(|changed| json!({
            "transaction": changed.read.txn.name,
            "session": changed.read.txn.session,
            "key": changed.read.key,
            "place": changed.read.place.as_ref().map(ToString::to_string),
            "observed_from": name(&changed.observed),
            "observed_value": changed.read.value.to_string(),
            "predicted_from": name(&changed.predicted),
            "predicted_value": changed.value.to_string(),
        })).collect::<Vec<_>>(),
        "cut_short": prediction.outlook == Outlook::CutShort,
        "sessions": prediction.sessions.iter().map(session).collect::<Vec<_>>(),
        "transactions": prediction.plan.iter().map(planned).collect::<Vec<_>>(),
    })
}

fn edge(edge: &seriatim_check::Edge) -> Value {
    json!({ "from": edge.from.name, "to": edge.to.name, "because": prose::because(edge) })
}

/// The name of a transaction; null for the initial one.
fn name(txn: &TxnRef) -> Option<&str> {
    txn.id.map(|_| txn.name.as_str())
}

fn session(end: &SessionEnd) -> Value {
    let (kind, transaction, key) = match &end.cut {
        None => ("complete", None, None),
        Some(Cut::AtRead(read)) => ("read", Some(read.txn.name.as_str()), Some(read.key.as_str())),
        Some(Cut::Short(read)) => ("short", Some(read.txn.name.as_str()), Some(read.key.as_str())),
        Some(Cut::AtTxn(txn)) => ("transaction", Some(txn.name.as_str()), None),
        Some(Cut::After(last)) => ("cut", last.as_ref().map(|txn| txn.name.as_str()), None),
    };
    json!({
        "session": end.session,
        "whole": end.whole,
        "boundary": kind,
        "transaction": transaction,
        "key": key,
        "cut_off": end.cut_off.iter().map(|txn| &txn.name).collect::<Vec<_>>(),
    })
}

fn planned(txn: &PlannedTxn) -> Value {
    let event = |event: &Planned| match event {
        Planned::Read { key, from } => json!({ "read": key, "from": from.map(place) }),
        Planned::Write { key } => json!({ "write": key }),
    };
    json!({
        "session": txn.txn.session,
        "index": txn.txn.index,
        "name": txn.name,
        "begun": txn.begun,
        "whole": txn.whole,
        "needed": txn.needed,
        "aborted": txn.aborted,
        "events": txn.events.iter().map(event).collect::<Vec<_>>(),
    })
}

fn place(place: TxnPlace) -> Value {
    json!({ "session": place.session, "index": place.index })
}
