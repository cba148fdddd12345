//! Sub-histories: some operations of a history, everything else removed.

use crate::atom::{Value, ValueKind};
use crate::columns::{Columns, Mark, StatementMeta, TxnMeta};
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, Names, OpKind, Status};
use crate::place::Places;
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl History {
    /// The history that consists of `ops` alone: their transactions, in the same sessions, the same
    /// order and at the same times, and with their places in the input.
    ///
    /// Elements of lists whose append is removed are removed from the lists too, so that what is
    /// left is what a store would have shown without the removed operations. Transactions of
    /// unknown outcome become committed: that they matter was known from operations that may be
    /// removed.
    #[must_use]
    pub fn restricted_to(&self, ops: &[OpId]) -> History {
        let known = |txn| {
            if self.status(txn) == Status::Aborted { Status::Aborted } else { Status::Committed }
        };
        self.restricted_with(ops, known)
    }

    /// The same, where `status` says how each transaction ended.
    #[must_use]
    pub fn restricted_with(&self, ops: &[OpId], status: impl Fn(TxnId) -> Status) -> History {
        let mut ops = ops.to_vec();
        ops.sort_unstable();
        ops.dedup();
        let removed = self.removed_appends(&ops);
        let mut columns = self.empty_copy();
        columns.op_places = self.places_of(&ops);
        let mut names = Vec::new();
        let mut times = Vec::new();
        let mut last: Option<TxnId> = None;
        let mut kept = Vec::new();
        for op in ops {
            let txn = self.txn_of(op);
            if last != Some(txn) {
                last = Some(txn);
                kept.push(txn);
                columns.txns.push(TxnMeta { session: self.session_of(txn).0, status: status(txn) });
                names.push(self.txn_name(txn));
                times.extend(self.times(txn));
            }
            self.keep_statement(op, columns.txns.len() as u32 - 1, &mut columns);
            let operation = self.op(op);
            let value = self.without(operation.key, operation.value, &removed, &mut columns);
            columns.push_op(columns.txns.len() as u32 - 1, operation.kind, operation.key, value);
        }
        columns.txn_names = Names::Table(names);
        columns.txn_times = self.has_times().then_some(times);
        match columns.finish() {
            Ok(mut history) => {
                history.txn_file_order = self.ranks(&kept);
                history
            }
            Err(_) => unreachable!("a part of a history is not larger than the history"),
        }
    }

    /// Notes that the next operation belongs to the statement of `op`.
    fn keep_statement(&self, op: OpId, txn: u32, columns: &mut Columns) {
        let Some(statement) = self.statement_of(op) else { return };
        let from = columns.mark();
        let to = Mark { ops: from.ops + 1, ..from };
        match columns.statements.last_mut() {
            Some(last)
                if last.txn == txn
                    && last.to == from
                    && Arc::ptr_eq(&last.content, &statement.content) =>
            {
                last.to = to;
            }
            _ => {
                let content = Arc::clone(&statement.content);
                columns.statements.push(StatementMeta { txn, from, to, content });
            }
        }
    }

    pub(crate) fn empty_copy(&self) -> Columns {
        Columns {
            session_count: self.session_count() as u32,
            session_names: self.session_names.clone(),
            key_names: self.key_names.clone(),
            atoms: self.atoms.clone(),
            initial: self.initial.clone(),
            place_unit: self.place_unit,
            files: self.files.clone(),
            time_unit: self.time_unit,
            ..Columns::default()
        }
    }

    /// The places of `ops`; none if one is too large to be kept for each.
    fn places_of(&self, ops: &[OpId]) -> Places {
        let number = |&op: &OpId| u32::try_from(self.place(op)?.number).ok();
        ops.iter().map(number).collect::<Option<Vec<u32>>>().map_or(Places::None, Places::Each)
    }

    /// The place of each of `txns` among them in the order of the input.
    fn ranks(&self, txns: &[TxnId]) -> Vec<u32> {
        let mut by_place: Vec<u32> = (0..txns.len() as u32).collect();
        by_place.sort_unstable_by_key(|&txn| self.txn_file_order[txns[txn as usize].index()]);
        let mut ranks = vec![0; txns.len()];
        for (rank, txn) in by_place.into_iter().enumerate() {
            ranks[txn as usize] = rank as u32;
        }
        ranks
    }

    fn removed_appends(&self, kept: &[OpId]) -> FxHashSet<(KeyId, Value)> {
        let appends =
            |op: &OpId| (self.op_kind[op.index()] == OpKind::Append).then(|| self.op(*op));
        let kept: FxHashSet<_> =
            kept.iter().filter_map(appends).map(|op| (op.key, op.value)).collect();
        let all = (0..self.op_count()).map(OpId::from);
        all.filter_map(|op| appends(&op))
            .map(|op| (op.key, op.value))
            .filter(|append| !kept.contains(append))
            .collect()
    }

    fn without(
        &self,
        key: KeyId,
        value: Value,
        removed: &FxHashSet<(KeyId, Value)>,
        columns: &mut Columns,
    ) -> Value {
        let ValueKind::List(number) = value.kind() else { return value };
        let items: Vec<Value> = self
            .list(number)
            .iter()
            .copied()
            .filter(|&item| !removed.contains(&(key, item)))
            .collect();
        if items.is_empty() {
            return Value::NULL;
        }
        columns.lists.push(items.into());
        Value::list(columns.lists.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::{ReadOptions, read_bytes};
    use crate::{History, OpId, notation};

    #[test]
    fn a_sub_history_keeps_the_places_of_its_operations() {
        let text = b"w(0,1,0,0)\nr(0,1,1,1)\nw(1,1,1,1)\nr(1,1,0,2)\n";
        let (history, _) = read_bytes(text, "four.txt", &ReadOptions::default()).unwrap();
        let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        let place = |history: &History, op: usize| {
            history.place(OpId::from(op)).map(|place| place.to_string())
        };
        let part = history.restricted_to(&[all[1], all[3]]);
        assert_eq!(place(&part, 0), place(&history, 1));
        assert_eq!(place(&part, 1), place(&history, 3));
        assert!(place(&part, 0).is_some_and(|place| place.starts_with("four.txt:")));
    }

    #[test]
    fn a_sub_history_keeps_sessions_order_and_names() {
        let history =
            notation::parse("a: w(x,1) w(y,2) | a(l,1)\nb: a(l,2) | r(l,[1 2]) r(x,1)").unwrap();
        let part = history.restricted_to(&[OpId(0), OpId(3), OpId(4)]);
        assert_eq!(part.txn_count(), 3);
        assert_eq!(part.op_count(), 3);
        let last = part.txns().last().unwrap();
        assert_eq!(part.txn_name(last).to_string(), "t4");
        assert_eq!(part.value_text(part.op(OpId(2)).value), "[2]");
    }
}
