//! Lists that a transaction reads before and after its own appends.

use crate::atom::{Value, ValueKind};
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, OpKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// What a transaction did with one key so far.
#[derive(Default)]
struct Seen<'h> {
    /// The first list that it read before it appended anything, with the read.
    first: Option<(OpId, &'h [Value])>,
    /// What it appended itself.
    own: Vec<Value>,
}

/// A list without the elements `own`, which usually stand at its end: of each the last one that is
/// equal, if there is one.
pub fn list_of_others<'l>(list: &'l [Value], own: &[Value]) -> Cow<'l, [Value]> {
    if let Some(others) = list.strip_suffix(own) {
        return Cow::Borrowed(others);
    }
    let mut left: FxHashMap<Value, usize> = FxHashMap::default();
    own.iter().for_each(|&mine| *left.entry(mine).or_default() += 1);
    let is_of_others = |element: &&Value| match left.get_mut(element) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let mut others: Vec<Value> = list.iter().rev().filter(is_of_others).copied().collect();
    others.reverse();
    Cow::Owned(others)
}

impl History {
    /// Two reads of one list in `txn`, one before and one after its own appends, of which the
    /// second has elements of others that the first has not, or lacks some.
    pub fn unrepeated_list(&self, txn: TxnId) -> Option<(OpId, OpId)> {
        if !self.ops_of(txn).any(|op| self.op(OpId(op)).kind == OpKind::Append) {
            return None;
        }
        let mut seen: FxHashMap<KeyId, Seen<'_>> = FxHashMap::default();
        self.ops_of(txn).map(OpId).find_map(|id| {
            let op = self.op(id);
            let seen = seen.entry(op.key).or_default();
            if op.kind != OpKind::Read {
                seen.own.extend((op.kind == OpKind::Append).then_some(op.value));
                return None;
            }
            let list = self.elements(op.key, op.value)?;
            if seen.own.is_empty() {
                seen.first.get_or_insert((id, list));
                return None;
            }
            let others = list_of_others(list, &seen.own);
            seen.first.filter(|first| first.1 != &*others).map(|first| (first.0, id))
        })
    }

    /// The elements of a list; none of no value and of the initial one; `None` for other values.
    fn elements(&self, key: KeyId, value: Value) -> Option<&[Value]> {
        let is_initial = value == Value::NULL || self.initial().value_of(key) == Some(value);
        match value.kind() {
            ValueKind::List(number) => Some(self.list(number)),
            _ if is_initial => Some(&[]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::TxnId;
    use crate::notation;

    fn is_unrepeated(text: &str) -> bool {
        notation::parse(text).unwrap().unrepeated_list(TxnId(0)).is_some()
    }

    #[test]
    fn own_appends_come_to_what_was_read_before() {
        assert!(!is_unrepeated("a: r(x,[1]) a(x,2) r(x,[1 2]) a(x,3) r(x,[1 2 3])"));
        assert!(!is_unrepeated("a: r(x,nil) a(x,2) r(x,[2])"));
        assert!(!is_unrepeated("a: r(x,0) a(x,2) r(x,[2])"));
        assert!(is_unrepeated("a: r(x,0) a(x,2) r(x,[3 2])"));
        assert!(!is_unrepeated("a: a(x,2) r(x,[1 2])"));
        assert!(is_unrepeated("a: r(x,[1]) a(x,2) r(x,[1 3 2])"));
        assert!(is_unrepeated("a: r(x,nil) a(x,2) r(x,[3 2])"));
        assert!(is_unrepeated("a: r(x,[1]) a(x,2) r(x,[2])"));
        // Own appends that are not where they belong are another matter.
        assert!(!is_unrepeated("a: r(x,[1]) a(x,2) r(x,[1])"));
        assert!(!is_unrepeated("a: r(x,[1]) a(x,2) r(x,[2 1])"));
    }
}
