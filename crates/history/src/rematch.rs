//! The same history with values made distinct, for callers that ask what follows if a read comes
//! from this write and not from that one.

use crate::atom::{Atom, Value, ValueKind};
use crate::ids::OpId;
use crate::model::History;
use std::sync::Arc;

impl History {
    /// This history, in which each of `writes` wrote a value of its own (that looks like the old
    /// one), and each of `reads` returned the value of the write beside it, or what it returned
    /// before if there is none.
    #[must_use]
    pub fn rematched(&self, writes: &[OpId], reads: &[(OpId, Option<OpId>)]) -> History {
        let mut history = self.clone();
        for write in writes {
            let shown = match self.op_value[write.index()].kind() {
                ValueKind::Int(number) => Atom::Int(i128::from(number)),
                ValueKind::Atom(number) => self.atoms.get(number).clone(),
                ValueKind::Null => Atom::Keyword("nil".into()),
                ValueKind::List(_) => continue,
            };
            history.op_value[write.index()] = Value::atom(history.atoms.push_copy(shown));
        }
        for (read, write) in reads {
            if let Some(write) = write {
                history.op_value[read.index()] = history.op_value[write.index()];
            }
        }
        history
    }

    /// This history, in which each of `reads` returned the list beside it.
    #[must_use]
    pub fn relisted(&self, reads: &[(OpId, Vec<Value>)]) -> History {
        let mut history = self.clone();
        for (read, items) in reads {
            history.op_value[read.index()] = match items.is_empty() {
                true => Value::NULL,
                false => {
                    history.lists.push(items.clone().into());
                    Value::list(history.lists.len() as u32 - 1)
                }
            };
        }
        history
    }

    /// This history, in which it is not known what the statements of these reads returned: what
    /// they return if the reads return something else, nobody can say.
    #[must_use]
    pub fn without_answers(mut self, reads: &[OpId]) -> History {
        let Some(statements) = &mut self.statements else { return self };
        for statement in &mut Arc::make_mut(statements).0 {
            if reads.iter().any(|read| statement.ops.contains(&read.0)) {
                Arc::make_mut(&mut statement.content).returned = None;
            }
        }
        self
    }

    /// As [`History::rematched`], where a read without a write beside it returns the initial value.
    #[must_use]
    pub fn rewired(&self, writes: &[OpId], reads: &[(OpId, Option<OpId>)]) -> History {
        let mut history = self.rematched(writes, reads);
        for (read, _) in reads.iter().filter(|(_, write)| write.is_none()) {
            let initial = self.initial.values.get(&self.op_key[read.index()]);
            history.op_value[read.index()] = initial.copied().unwrap_or(Value::NULL);
        }
        history
    }
}

#[cfg(test)]
mod tests {
    use crate::atom::Value;
    use crate::ids::OpId;
    use crate::notation;

    #[test]
    fn values_become_distinct_and_look_the_same() {
        let history = notation::parse("a: w(x,1)\nb: w(x,1)\nc: r(x,1)").unwrap();
        let other = history.rematched(&[OpId(0), OpId(1)], &[(OpId(2), Some(OpId(1)))]);
        let values = other.values();
        assert!(values[0] != values[1] && values[2] == values[1]);
        assert_eq!(other.value_text(values[0]), "1");
        assert_eq!(other.value_text(values[2]), "1");
    }

    #[test]
    fn reads_return_other_lists() {
        let history = notation::parse("a: a(l,1) | a(l,2)\nb: r(l,[1 2]) r(l,[1 2])").unwrap();
        let first = history.values()[0];
        let other = history.relisted(&[(OpId(2), vec![first]), (OpId(3), Vec::new())]);
        assert_eq!(other.value_text(other.values()[2]), "[1]");
        assert_eq!(other.values()[3], Value::NULL);
        assert_eq!(history.value_text(history.values()[2]), "[1 2]");
    }

    #[test]
    fn a_read_without_a_write_returns_the_initial_value() {
        let history = notation::parse("initial x=7\na: w(x,1) w(y,1)\nb: r(x,1) r(y,1)").unwrap();
        let other = history.rewired(&[], &[(OpId(2), None), (OpId(3), None)]);
        let texts: Vec<String> =
            other.values().iter().map(|&value| other.value_text(value)).collect();
        assert_eq!(texts, ["1", "1", "7", "nil"]);
    }
}
