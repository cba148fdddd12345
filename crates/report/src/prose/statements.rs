//! The same stories told by what clients asked: statements with what they returned, instead of the
//! cells that they read and wrote.

use super::{and, clean, did, edge_clause, item, key, read_from, txn, who};
use seriatim_check::{Edge, OpRef, Reason, ValueRef, Violation};
use seriatim_history::{Returned, StatementContent};
use seriatim_isolation::Anomaly;
use std::sync::Arc;

/// The longest statement that is quoted in full.
const SQL_CHARS_MAX: usize = 240;
/// The longest result that is quoted in full.
const RETURNED_CHARS_MAX: usize = 120;
/// The longest circle that is told by statements.
const CIRCLE_MAX: usize = 6;

/// A statement on one line, with its parameters in place, cut if it is very long.
pub(crate) fn sql(statement: &StatementContent) -> String {
    let text = filled(&statement.text, &statement.params);
    let text: Vec<&str> = text.split_whitespace().collect();
    cut(clean(text.join(" ").trim_end_matches([';', ' '])), SQL_CHARS_MAX)
}

fn cut(text: String, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text;
    }
    text.chars().take(chars_max).chain(['…']).collect()
}

/// The text with `$1`, `$2`, … replaced, except in literals, quoted names and comments.
fn filled(text: &str, params: &[Option<Box<str>>]) -> String {
    if params.is_empty() {
        return text.to_owned();
    }
    let mut page = String::new();
    let mut rest = text;
    let mut quote: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        let number: String = match (c, quote) {
            ('$', None) => rest[1..].chars().take_while(char::is_ascii_digit).collect(),
            _ => String::new(),
        };
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(value) = place.and_then(|place| params.get(place)) {
            page += &literal(value.as_deref());
            rest = &rest[1 + number.len()..];
            continue;
        }
        quote = match quote {
            None if c == '\'' || c == '"' => Some(c),
            Some(open) if open == c => None,
            other => other,
        };
        page.push(c);
        rest = &rest[c.len_utf8()..];
    }
    page
}

/// A parameter as it would stand in the text: numbers as they are, everything else quoted.
fn literal(value: Option<&str>) -> String {
    let Some(text) = value else { return "NULL".to_owned() };
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => text.to_owned(),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

/// `SELECT stock FROM item WHERE id = 7 returned 3`.
pub(crate) fn result(statement: &StatementContent) -> String {
    let returned = match &statement.returned {
        Some(rows @ Returned::Rows { .. }) => {
            format!(" returned {}", cut(clean(&rows.to_string()), RETURNED_CHARS_MAX))
        }
        _ => String::new(),
    };
    sql(statement) + &returned
}

/// ` by INSERT …`, if the statement is known.
fn by(op: &OpRef) -> String {
    op.statement.as_ref().map(|statement| format!(" by {}", sql(statement))).unwrap_or_default()
}

/// Whether a scan found a key as it was before anybody wrote it.
fn is_initial(read: &OpRef) -> bool {
    read.scan.is_some() && read.value == ValueRef::Null
}

/// Whether a write says that a row is gone.
fn is_deletion(write: &OpRef) -> bool {
    matches!(&write.value, ValueRef::Scalar(value) if value.starts_with("false"))
}

/// Whether a scan read whether a row is there: the group has its name from the rows.
fn is_row(read: &OpRef) -> bool {
    let rest = |group: &Arc<str>| read.key.strip_prefix(&**group);
    let rest = read.scan.as_ref().and_then(rest);
    rest.is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
}

/// An operation by its statement: `SELECT … returned 0 (booking[5] as it was initially)`.
pub(crate) fn act(op: &OpRef) -> Option<String> {
    let statement = op.statement.as_ref()?;
    Some(match op.kind.is_write() {
        true => format!("{} ({})", sql(statement), did(op)),
        false if is_initial(op) => {
            format!("{} ({} as it was initially)", result(statement), key(&op.key))
        }
        false => format!("{} ({})", result(statement), item(op)),
    })
}

/// `SELECT … returned 0 and did not see the row booking[5] that t2 inserted by INSERT …`.
pub(crate) fn missed(read: &OpRef, overwrite: &OpRef) -> Option<String> {
    let statement = read.statement.as_ref()?;
    let (writer, by) = (txn(&overwrite.txn), by(overwrite));
    let what = match is_row(read) {
        true if is_deletion(overwrite) => {
            format!("that {writer} deleted the row {}{by}", key(&read.key))
        }
        true if is_initial(read) => {
            format!("the row {} that {writer} inserted{by}", key(&read.key))
        }
        _ => format!("{} that {writer} wrote{by}", item(overwrite)),
    };
    Some(not_seeing(statement, &what))
}

/// A statement of a predicted run has returned nothing yet.
fn not_seeing(statement: &StatementContent, what: &str) -> String {
    let and = match statement.returned {
        Some(Returned::Rows { .. }) => " and",
        _ => "",
    };
    format!("{}{and} did not see {what}", result(statement))
}

/// `SELECT … returned 3 (stock=3, which t2 wrote by UPDATE …)`.
pub(crate) fn saw(read: &OpRef, write: &OpRef) -> Option<String> {
    let statement = read.statement.as_ref()?;
    let (result, item, writer) = (result(statement), item(read), txn(&write.txn));
    Some(format!("{result} ({item}, which {writer} wrote{})", by(write)))
}

/// What an edge says, by statements, as a clause after `in t1`.
fn clause(edge: &Edge) -> Option<String> {
    match &edge.reason {
        Reason::ReadWrite { read, overwrite, .. } => {
            Some(format!("in {}, {}", who(&read.txn), missed(read, overwrite)?))
        }
        Reason::WriteRead { write, read, .. } => {
            Some(format!("in {}, {}", who(&read.txn), saw(read, write)?))
        }
        Reason::WriteWrite { earlier, later, .. } => {
            let statement = later.statement.as_ref()?;
            let (sql, old, writer) = (sql(statement), item(earlier), txn(&earlier.txn));
            let wrote = format!("{old}, which {writer} wrote{}", by(earlier));
            Some(format!("in {}, {sql} overwrote {wrote}", who(&later.txn)))
        }
        Reason::Overwritten { read, source, other, visible } => {
            let statement = read.statement.as_ref()?;
            let seen: Vec<String> = visible.iter().map(edge_clause).collect();
            Some(format!(
                "in {}, {} ({}), although it sees {} ({}), which {}{}",
                who(&read.txn),
                result(statement),
                read_from(read, source),
                txn(&edge.from),
                and(&seen),
                did(other),
                by(other),
            ))
        }
        _ => None,
    }
}

/// What happened, told by statements; `None` if they are not known, or the circle is long.
pub(super) fn story(violation: &Violation) -> Option<String> {
    if !violation.ops.iter().any(|op| op.statement.is_some()) {
        return None;
    }
    let seen_and_missed = super::seen_and_missed(&violation.cycle);
    let cycle = seen_and_missed.as_ref().unwrap_or(&violation.cycle);
    if cycle.is_empty() || cycle.len() > CIRCLE_MAX {
        return None;
    }
    let told = cycle.iter().map(|edge| clause(edge).unwrap_or_else(|| edge_clause(edge)));
    let told: Vec<String> = told.map(|clause| capital(&clause)).collect();
    Some(format!("{}. {}.", told.join(". "), end(violation.kind, cycle)))
}

fn capital(text: &str) -> String {
    text.strip_prefix("in ").map_or_else(|| text.to_owned(), |rest| format!("In {rest}"))
}

fn end(kind: Anomaly, cycle: &[Edge]) -> String {
    let order = |edge: &Edge| format!("{} before {}", txn(&edge.from), txn(&edge.to));
    let orders: Vec<String> = cycle.iter().map(order).collect();
    match (kind, cycle) {
        (Anomaly::WriteSkew, _) => "Each missed what the other wrote, so each would have to come \
                                    before the other: a write skew"
            .to_owned(),
        (Anomaly::LostUpdate, _) => "Whichever committed second overwrote an update that it had \
                                     not seen: one of the updates is lost"
            .to_owned(),
        _ => format!("That puts {}: no order of commits agrees with all of it", and(&orders)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, params: &[Option<&str>]) -> String {
        let params = params.iter().map(|param| param.map(Into::into)).collect();
        sql(&StatementContent { text: text.into(), params, ..StatementContent::default() })
    }

    #[test]
    fn parameters_stand_in_their_places() {
        assert_eq!(shown("SELECT $1,\n  $2 ;", &[Some("7"), Some("it's")]), "SELECT 7, 'it''s'");
        assert_eq!(shown("SELECT '$1', $1, $3", &[None]), "SELECT '$1', NULL, $3");
        assert_eq!(
            shown("SELECT \"$1\" WHERE a = $10", &[Some("x")]),
            "SELECT \"$1\" WHERE a = $10"
        );
        assert_eq!(shown("ä = $1 AND $", &[Some("NaN")]), "ä = 'NaN' AND $");
    }

    #[test]
    fn what_a_statement_would_return_is_left_out_of_the_sentence() {
        let mut look = StatementContent { text: "SELECT 1".into(), ..StatementContent::default() };
        assert_eq!(not_seeing(&look, "x=2"), "SELECT 1 did not see x=2");
        let first = vec![vec![Some("1".into())]];
        look.returned = Some(Returned::Rows { count: 1, first });
        assert_eq!(not_seeing(&look, "x=2"), "SELECT 1 returned 1 and did not see x=2");
    }

    #[test]
    fn long_statements_are_cut_and_cannot_steer_the_terminal() {
        let long = shown(&"x".repeat(1000), &[]);
        assert_eq!(long.chars().count(), SQL_CHARS_MAX + 1);
        assert_eq!(shown("a\u{1b}[1m", &[]), "a\\u{1b}[1m");
    }
}
