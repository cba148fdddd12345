//! What `seriatim predict` found, one file an output. Everything is rendered from the data of a
//! [`Prediction`].

pub mod dot;
pub mod html;
pub mod json;
pub mod text;

pub use html::svg;

use crate::prose::{clean, key, txn, value};
use seriatim_check::{OpRef, TxnRef, ValueRef};
use seriatim_predict::{Answer, Cut, Fate, Options, Prediction, ShownEvent};

/// An input with what was predicted from it.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The input as the user named it.
    pub input: String,
    /// Its format.
    pub format: &'static str,
    /// What was asked for.
    pub options: Options,
    /// What was found, small cycles first.
    pub predictions: Vec<Prediction>,
    /// How the search ended.
    pub answer: Answer,
    /// If nothing exists within the strict boundary: how a search within the relaxed one ended.
    pub relaxed: Option<Answer>,
    /// Fields of the input that mean nothing to prediction, as a JSON object: `observe` says there
    /// how to run the application again.
    pub extra: Option<String>,
}

/// An event as it was.
fn observed(event: &ShownEvent) -> String {
    act(&event.observed, &event.observed.value, event.observed_from.as_ref())
}

/// An event as it is predicted; `None` if it is cut off.
fn predicted(event: &ShownEvent) -> Option<String> {
    let value = event.predicted_value.as_ref()?;
    Some(act(&event.observed, value, event.predicted_from.as_ref()))
}

fn act(op: &OpRef, content: &ValueRef, from: Option<&TxnRef>) -> String {
    let action = format!("{} {}", op.action(), key(&op.key));
    let item = format!("{action}={}", value(content));
    // Traces without values name each version after its writer: saying it once is enough.
    let is_named_after =
        |txn: &TxnRef| matches!(content, ValueRef::Scalar(text) if *text == txn.name);
    match from {
        Some(from) if from.id.is_none() => format!("{item} (initial)"),
        Some(from) if is_named_after(from) => format!("{action} from {}", txn(from)),
        Some(from) => format!("{item} from {}", txn(from)),
        None if is_named_after(&op.txn) => action,
        None => item,
    }
}

/// What is left of a transaction, in a word or two.
fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Whole => "",
        Fate::Partial => "cut in the middle",
        Fate::CutOff => "cut off",
    }
}

/// Where a session ends, as a clause.
fn ending(cut: Option<&Cut>) -> String {
    match cut {
        None => "runs to its end".to_owned(),
        Some(Cut::AtRead(read)) => {
            format!(
                "ends with the read of {} in {}: what it does next is not known",
                key(&read.key),
                txn(&read.txn)
            )
        }
        Some(Cut::Short(read)) => format!(
            "ends with the read of {} in {}, although that is as observed and it would go on",
            key(&read.key),
            txn(&read.txn)
        ),
        Some(Cut::AtTxn(last)) => format!("ends with {}: what follows is not known", txn(last)),
        Some(Cut::After(None)) => "is left out".to_owned(),
        Some(Cut::After(Some(last))) => {
            format!("is cut after {}: what follows would not fit", txn(last))
        }
    }
}

/// What to say about a prediction that cannot go on.
const CUT_SHORT: &str = "A transaction is cut although it would go on: the level may not allow \
                         this together with what it was observed to \
                         do next. The application may not get there.";

/// The cycle in one line: `a -rw(x)-> b -so-> a`.
fn circle(prediction: &Prediction) -> Option<String> {
    let cycle = &prediction.violation.as_ref()?.cycle;
    let first = cycle.first()?;
    let steps = cycle.iter().map(|edge| format!(" -{}-> {}", short_label(edge), txn(&edge.to)));
    Some(clean(&(txn(&first.from) + &steps.collect::<String>())))
}

/// An edge in a word.
fn short_label(edge: &seriatim_check::Edge) -> String {
    match &edge.reason {
        seriatim_check::Reason::Overwritten { read, .. } => format!("ww({})", read.key),
        _ => crate::dot::edge_label(edge),
    }
}
