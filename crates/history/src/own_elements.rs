//! The same history with an element of its own for each append.

use crate::atom::Value;
use crate::ids::OpId;
use crate::model::{History, OpKind};

impl History {
    /// This history, in which no two appends append the same. `lists` has reads of lists, each with
    /// the appends that its elements are: they return the elements of these. Everything keeps its
    /// number, name and place.
    #[must_use]
    pub fn with_own_elements(&self, lists: &[(OpId, Vec<OpId>)]) -> History {
        let mut history = self.clone();
        for op in (0..self.op_count()).filter(|&op| self.op_kind[op] == OpKind::Append) {
            history.op_value[op] = own_element(OpId::from(op));
        }
        for (read, appends) in lists {
            let list = Value::list(history.lists.len() as u32);
            history.lists.push(appends.iter().copied().map(own_element).collect());
            history.op_value[read.index()] = list;
        }
        history
    }
}

/// The first number that is an element: lists that stay as they are should show none of these.
const FIRST: u64 = 1 << 40;

fn own_element(append: OpId) -> Value {
    Value::small(FIRST + u64::from(append.0)).unwrap_or(Value::NULL)
}

#[cfg(test)]
mod tests {
    use crate::{OpId, notation};

    #[test]
    fn lists_name_their_appends() {
        let history = notation::parse("a: a(x,7)\nb: a(x,7) r(x,[7 7])").unwrap();
        let apart = history.with_own_elements(&[(OpId(2), vec![OpId(1), OpId(0)])]);
        let shown = |op: u32| apart.value_text(apart.op(OpId(op)).value);
        assert_ne!(shown(0), shown(1));
        assert_eq!(shown(2), format!("[{} {}]", shown(1), shown(0)));
        assert_eq!(history.value_text(history.op(OpId(2)).value), "[7 7]");
    }
}
