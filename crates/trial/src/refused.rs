//! Transactions that the database refused because it could not serialize them, and whether the
//! application tried them again, as everybody should.

use seriatim_history::{History, Status, TxnId};
use std::collections::{BTreeSet, HashMap};

/// What applications write when a database refuses to serialize their transactions.
const REFUSALS: [&str; 5] = [
    "could not serialize access",
    "deadlock detected",
    "Deadlock found when trying to get lock",
    "Lock wait timeout exceeded",
    "Record has changed since last read",
];
/// The SQLSTATE of it, which some clients write alone.
const REFUSED: &str = "40001";

/// Whether an output tells of a refusal, for which there may be other reasons, too: an order may
/// have the number of the SQLSTATE.
pub(crate) fn tells_of_refusal(output: &str) -> bool {
    let mut words = output.split(|c: char| !c.is_ascii_alphanumeric());
    REFUSALS.iter().any(|text| output.contains(text)) || words.any(|word| word == REFUSED)
}

/// Whether one of so many refused transactions was not tried again.
pub(crate) fn is_given_up(history: &History, refusals: u64) -> bool {
    refusals > 0 && tried_again(history) < refusals
}

/// How many transactions were tried again: they were rolled back, and a later one begins with the
/// same statement. Each is the second try of one other.
fn tried_again(history: &History) -> u64 {
    let mut begun: HashMap<First<'_>, BTreeSet<(i64, TxnId)>> = HashMap::new();
    let mut aborted = Vec::new();
    for txn in history.txns() {
        let (Some((from, to)), Some(first)) = (history.times(txn), first(history, txn)) else {
            continue;
        };
        begun.entry(first).or_default().insert((from, txn));
        if history.status(txn) == Status::Aborted {
            aborted.push((to, first));
        }
    }
    aborted.sort_unstable_by_key(|(ended, _)| *ended);
    let mut count = 0;
    for (ended, first) in aborted {
        let Some(others) = begun.get_mut(&first) else { continue };
        let later = others.range((ended, TxnId(0))..).next().copied();
        count += u64::from(later.is_some_and(|it| others.remove(&it)));
    }
    count
}

/// A statement and its parameters.
type First<'h> = (&'h str, &'h [Option<Box<str>>]);

fn first(history: &History, txn: TxnId) -> Option<First<'_>> {
    let content = &history.statements_of(txn).first()?.content;
    Some((&content.text, &content.params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::formats::{ReadOptions, read_bytes};

    /// Transactions of one statement each: session, statement, begun, ended, and how it ended.
    fn history(all: &[(&str, &str, i64, i64, &str)]) -> History {
        let mut text = "{\"seriatim\":1}\n".to_owned();
        for (number, (session, sql, from, to, status)) in all.iter().enumerate() {
            let statement = format!("{{\"sql\":\"{sql}\",\"first\":0,\"ops\":1}}");
            text += &format!(
                "{{\"session\":\"{session}\",\"status\":\"{status}\",\"begin\":{from},\
                 \"end\":{to},\"ops\":[[\"w\",\"x\",{number}]],\"statements\":[{statement}]}}\n"
            );
        }
        read_bytes(text.as_bytes(), "the run", &ReadOptions::default()).unwrap().0
    }

    #[test]
    fn what_is_tried_again_is_not_given_up() {
        let refused = ("a", "SELECT 1", 0, 10, "aborted");
        let other = ("b", "SELECT 1", 5, 20, "committed");
        let again = ("c", "SELECT 1", 11, 30, "committed");
        assert!(is_given_up(&history(&[refused, other]), 1));
        assert!(!is_given_up(&history(&[refused, other, again]), 1));
        assert!(!is_given_up(&history(&[refused, other]), 0));
        // One try cannot be that of two.
        let too = ("b", "SELECT 1", 0, 9, "aborted");
        assert!(is_given_up(&history(&[refused, too, again]), 2));
        assert!(is_given_up(&history(&[refused, ("c", "SELECT 2", 11, 30, "committed")]), 1));
    }

    #[test]
    fn numbers_that_have_the_code_in_them_tell_nothing() {
        assert!(tells_of_refusal("ERROR 40001 (40001)"));
        assert!(tells_of_refusal("psycopg.errors.DeadlockDetected: deadlock detected"));
        assert!(!tells_of_refusal("order 140001 and 4000 more"));
    }
}
