//! What `seriatim audit` found, for machines.

use super::{Audited, Fault, Moment};

/// The line, without a line end, as [`crate::schema::AUDIT`] describes it.
pub fn json(audited: &Audited) -> String {
    let levels: serde_json::Map<String, serde_json::Value> = audited
        .levels
        .iter()
        .map(|(level, kept)| {
            let word = match kept {
                Some(true) => "not-seen-violated",
                Some(false) => "violated",
                None => "undecided",
            };
            (level.code().to_owned(), word.into())
        })
        .collect();
    let anomalies: serde_json::Map<String, serde_json::Value> =
        audited.anomalies.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
    serde_json::json!({
        "database": audited.product,
        "isolation": audited.setting,
        "promise": audited.promise.code(),
        "keeps_promise": audited.keeps_promise(),
        "levels": levels,
        "anomalies": anomalies,
        "committed": audited.committed,
        "aborted": audited.aborted,
        "unknown": audited.unknown,
        "sessions": audited.sessions,
        "seconds": audited.seconds,
        "rounds": {
            "checked_online": audited.decided.0,
            "checked_at_the_end": audited.decided.1,
            "undecided": audited.decided.2,
        },
        "first_violation": audited.first_violation,
        "stale_reads": audited.stale.map(|stale| serde_json::json!({
            "count": stale.reads,
            "age_median_ns": stale.age_median,
            "age_max_ns": stale.age_max,
        })),
        "lost_writes": audited.lost_count,
        "lost_writes_undecided": audited.unread_ends,
        "totals": { "read": audited.totals.0, "wrong": audited.totals.1 },
        "faults": audited.faults.iter().map(fault).collect::<Vec<_>>(),
        "timeline": audited.timeline.iter().map(moment).collect::<Vec<_>>(),
        "seed": audited.seed,
        "check": audited.exemplar.as_ref().map(|(_, checked)| crate::json::object(checked)),
    })
    .to_string()
}

fn fault(fault: &Fault) -> serde_json::Value {
    serde_json::json!({
        "at": fault.at,
        "seconds": fault.seconds,
        "what": fault.what,
        "problem": fault.problem,
    })
}

fn moment(moment: &Moment) -> serde_json::Value {
    serde_json::json!({
        "at": moment.at,
        "workload": moment.workload,
        "committed": moment.committed,
        "anomalies": moment.anomalies,
        "forbidden": moment.forbidden,
    })
}
