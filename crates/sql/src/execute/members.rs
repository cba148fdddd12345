//! Whether a value is among the rows of a query, by a hash: `x IN (SELECT …)`, and `NOT IN`, whose
//! rows are the same for every `x` cost one pass over them, and not one for each `x`. The same for
//! the elements of an array: `x IN (1, 2, …)`.

use super::Exec;
use crate::error::Result;
use crate::ir::{Expr, ExprKind, Quantified};
use crate::plan;
use crate::types::{Array, Datum, HashKey, Row};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Fewer rows are compared one by one.
const ROWS_MIN: usize = 8;
/// So many arrays are remembered at once.
const ARRAYS_MAX: usize = 32;

/// The rows of a query as a set.
pub(super) struct Members {
    /// What the set was made of: another run of the query has other rows.
    rows: Arc<Vec<Row>>,
    /// The set; nothing if hashes cannot decide the comparison.
    set: Option<Set>,
}

/// The elements of an array as a set.
pub(super) struct Elements {
    /// The array: as long as it is kept, its address is no other one's.
    array: Arc<Array>,
    /// What its elements are compared by.
    test: Expr,
    /// The set, once the array was asked for again; nothing in it if hashes cannot decide the
    /// comparison.
    set: Option<Option<Set>>,
}

struct Set {
    keys: FxHashSet<Vec<HashKey>>,
    /// What is looked for, over the values on the left side of IN.
    wanted: Vec<Expr>,
    /// Whether a row has a null in it: what is not found is then unknown.
    has_null: bool,
}

impl Exec<'_> {
    /// Whether `values` are among the rows of the query with this number, as `test` compares them;
    /// nothing if only comparing them one by one can tell.
    pub(super) fn is_member(
        &mut self,
        number: usize,
        test: &Expr,
        values: &[Datum],
        rows: &Arc<Vec<Row>>,
    ) -> Result<Option<Datum>> {
        if rows.len() < ROWS_MIN {
            return Ok(None);
        }
        let known = self.members.remove(&number).filter(|it| Arc::ptr_eq(&it.rows, rows));
        let members = match known {
            Some(members) => members,
            None => {
                let set = self.set_of(test, values.len(), rows)?;
                Members { rows: Arc::clone(rows), set }
            }
        };
        let answer = match &members.set {
            Some(set) => self.look_up(set, values),
            None => Ok(None),
        };
        self.members.insert(number, members);
        answer
    }

    fn set_of(&mut self, test: &Expr, count: usize, rows: &[Row]) -> Result<Option<Set>> {
        let Some(pairs) = plan::equal_pairs(test, count) else { return Ok(None) };
        let mut set = Set { keys: FxHashSet::default(), wanted: Vec::new(), has_null: false };
        let mut values: Row = vec![Datum::Null; count];
        for row in rows {
            self.tick()?;
            values.truncate(count);
            values.extend_from_slice(row);
            match self.key_of(pairs.iter().map(|(_, found)| found), &values)? {
                Some(key) => drop(set.keys.insert(key)),
                None => set.has_null = true,
            }
        }
        set.wanted = pairs.into_iter().map(|(wanted, _)| wanted).collect();
        Ok(Some(set))
    }

    fn look_up(&mut self, set: &Set, values: &[Datum]) -> Result<Option<Datum>> {
        let key = self.key_of(set.wanted.iter(), values)?;
        Ok(match key {
            Some(key) if set.keys.contains(&key) => Some(Datum::Bool(true)),
            Some(_) if !set.has_null => Some(Datum::Bool(false)),
            // One value is equal to no other, or to an unknown one.
            _ if set.wanted.len() == 1 => Some(Datum::Null),
            // Of several values others may differ, so that it is not unknown.
            _ => None,
        })
    }

    /// Whether ANY or ALL is so of a value and the elements of an array that is the same for all
    /// rows; nothing if only comparing them one by one can tell.
    pub(super) fn is_element(
        &mut self,
        value: &[Datum],
        test: &Expr,
        quantified: Quantified,
        array: &Arc<Array>,
    ) -> Result<Option<Datum>> {
        if array.elements.len() < ROWS_MIN {
            return Ok(None);
        }
        let place = (Arc::as_ptr(array) as usize, quantified);
        let known = self.elements.remove(&place).filter(|it| it.test == *test);
        let Some(mut elements) = known else {
            // A set is worth making for an array that is asked for again.
            if self.elements.len() >= ARRAYS_MAX {
                self.elements.clear();
            }
            let (array, test) = (Arc::clone(array), test.clone());
            self.elements.insert(place, Elements { array, test, set: None });
            return Ok(None);
        };
        debug_assert!(Arc::ptr_eq(&elements.array, array));
        if elements.set.is_none() {
            elements.set = Some(self.element_set(test, quantified, array)?);
        }
        let answer = match elements.set.as_ref().and_then(Option::as_ref) {
            Some(set) => self.look_up(set, value),
            None => Ok(None),
        };
        self.elements.insert(place, elements);
        Ok(answer?.map(|found| match (quantified, found) {
            (Quantified::All, Datum::Bool(found)) => Datum::Bool(!found),
            (_, found) => found,
        }))
    }

    fn element_set(
        &mut self,
        test: &Expr,
        quantified: Quantified,
        array: &Array,
    ) -> Result<Option<Set>> {
        let Some((wanted, found)) = plan::element_pair(test, quantified) else { return Ok(None) };
        let wanted = vec![wanted.clone()];
        let mut set = Set { keys: FxHashSet::default(), wanted, has_null: false };
        let mut pair = [Datum::Null, Datum::Null];
        for element in &array.elements {
            self.tick()?;
            pair[1] = element.clone();
            match self.key_of(std::iter::once(found), &pair)? {
                Some(key) => drop(set.keys.insert(key)),
                None => set.has_null = true,
            }
        }
        Ok(Some(set))
    }

    /// Makes the arrays of a condition that are the same for all rows, so that it is not done for
    /// each row. One that cannot be made stays, for the row that asks for it.
    pub(super) fn make_arrays(&mut self, condition: &mut Expr) {
        condition.walk(0, &mut |expr, level| {
            if let ExprKind::QuantifiedArray { array, .. } = &mut expr.kind
                && level == 0
                && is_list(array)
                && let Ok(made) = self.eval(array, &[])
            {
                array.kind = ExprKind::Const(made);
            }
            level == 0
        });
    }
}

/// Whether it is an array of many elements that are written or given.
fn is_list(array: &Expr) -> bool {
    let ExprKind::Array { elements, .. } = &array.kind else { return false };
    elements.len() >= ROWS_MIN && elements.iter().all(is_given)
}

/// Whether it is a value that is written or given, perhaps as another type.
fn is_given(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param(_) => true,
        ExprKind::Relabel(arg) | ExprKind::Typmod { arg, .. } => is_given(arg),
        ExprKind::Call { callee, args, .. } => {
            callee.proc.volatility == b'i' && args.iter().all(is_given)
        }
        _ => false,
    }
}
