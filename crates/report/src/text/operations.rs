//! The operations of a violation as a table, with their places.

use crate::prose::{self, clean};
use crate::style::{DIM, paint};
use crate::wrap::wrap;
use seriatim_check::OpRef;

const TABLE_INDENT: &str = "    ";

const TABLE_GAP: &str = "  ";

/// The operations as a table; if that is too wide, each place stands on a line of its own.
pub(super) fn operations(ops: &[OpRef], width: usize) -> String {
    let rows = rows(ops);
    let widest =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    let table =
        TABLE_INDENT.len() + widths.iter().map(|width| width + TABLE_GAP.len()).sum::<usize>();
    if table - TABLE_GAP.len() > width {
        return rows.iter().map(|row| stacked(row, width)).collect();
    }
    let gap = if table + widest(3) > width {
        format!("\n{TABLE_INDENT}  ")
    } else {
        TABLE_GAP.to_owned()
    };
    let mut page = String::new();
    for [txn, session, act, place] in &rows {
        let row = format!(
            "{TABLE_INDENT}{txn:<0$}{TABLE_GAP}{session:<1$}{TABLE_GAP}{act}",
            widths[0], widths[1]
        );
        page += &row;
        if !place.is_empty() {
            let filling = if gap == TABLE_GAP { widths[2] - act.chars().count() } else { 0 };
            page += &format!("{}{gap}{}", " ".repeat(filling), paint(DIM, place));
        }
        page.push('\n');
    }
    page
}

/// The operations in program order: transaction, session, what it does, place.
pub(super) fn rows(ops: &[OpRef]) -> Vec<[String; 4]> {
    in_program_order(ops).into_iter().map(operation_row).collect()
}

/// The operations session by session and as they were done there, which is how they are numbered: a
/// list that follows the story would have to contradict that.
pub(super) fn in_program_order(ops: &[OpRef]) -> Vec<&OpRef> {
    let mut real: Vec<&OpRef> = ops.iter().filter(|op| op.id.is_some()).collect();
    real.sort_by_key(|op| op.id);
    real
}

/// An operation where there is no room for a table: its transaction, what it does, its place, a
/// line each.
fn stacked([txn, session, act, place]: &[String; 4], width: usize) -> String {
    let indent = format!("{TABLE_INDENT}  ");
    let place =
        if place.is_empty() { String::new() } else { format!("{indent}{}\n", paint(DIM, place)) };
    wrap(&format!("{txn}, {session}:"), TABLE_INDENT, width) + &wrap(act, &indent, width) + &place
}

fn operation_row(op: &OpRef) -> [String; 4] {
    let session = format!("session {}", clean(&op.txn.session));
    [prose::txn(&op.txn), session, prose::act(op), place(op).unwrap_or_default()]
}

pub(super) fn place(op: &OpRef) -> Option<String> {
    op.place.as_ref().map(|place| clean(&place.to_string()))
}
