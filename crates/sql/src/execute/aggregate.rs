//! GROUP BY and aggregates.

use super::keys::row_key;
use super::rows::{Seen, compare_by};
use super::{Exec, Row};
use crate::error::Result;
use crate::functions::Accumulator;
use crate::ir::{AggCall, Grouping, Select};
use crate::plan::Node;
use crate::types::{Datum, HashKey, Oid};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// One group.
struct Group {
    keys: Row,
    states: Vec<State>,
    dependent: Row,
}

/// What an aggregate has of one group.
struct State {
    accumulator: Box<dyn Accumulator>,
    /// Rows that are to be put in order first: arguments and what they are ordered by.
    rows: Vec<(Row, Row)>,
    seen: Seen,
}

impl Exec<'_> {
    /// The rows after grouping.
    pub(super) fn group(
        &mut self,
        select: &Select,
        grouping: &Grouping,
        node: &Node,
    ) -> Result<Vec<Row>> {
        let mut groups: Vec<Vec<Group>> = grouping.sets.iter().map(|_| Vec::new()).collect();
        let mut places: Vec<FxHashMap<Vec<HashKey>, usize>> =
            grouping.sets.iter().map(|_| FxHashMap::default()).collect();
        // Without keys there is one group even if there are no rows.
        for (set, groups) in grouping.sets.iter().zip(&mut groups) {
            if set.is_empty() {
                groups.push(self.new_group(grouping, Vec::new())?);
            }
        }
        // Only HAVING, or an empty set of keys, makes this a group: no row can matter to it.
        if grouping.aggregates.is_empty() && grouping.sets.iter().all(Vec::is_empty) {
            return self.finish_groups(grouping, groups);
        }
        let mut row: Row = vec![Datum::Null; from_width(select, node).max(grouping.start)];
        self.each(node, &mut row, &mut |exec, row| {
            if grouping.expanded.is_empty() {
                exec.add_row(grouping, row, &mut groups, &mut places)?;
                return Ok(true);
            }
            for row in exec.multiply(&grouping.expanded, grouping.start, row)? {
                exec.add_row(grouping, &row, &mut groups, &mut places)?;
            }
            Ok(true)
        })?;
        self.finish_groups(grouping, groups)
    }

    /// Adds a row to its group of each set.
    fn add_row(
        &mut self,
        grouping: &Grouping,
        row: &Row,
        groups: &mut [Vec<Group>],
        places: &mut [FxHashMap<Vec<HashKey>, usize>],
    ) -> Result<()> {
        let keys = self.eval_all(&grouping.keys, row)?;
        for (place, set) in grouping.sets.iter().enumerate() {
            let group = if set.is_empty() {
                0
            } else {
                let values: Row = set.iter().map(|&it| keys[it].clone()).collect();
                let kinds: Vec<Oid> = set.iter().map(|&it| grouping.keys[it].ty).collect();
                let key = row_key(&values, &kinds);
                match places[place].get(&key) {
                    Some(&group) => group,
                    None => {
                        let mut all = vec![Datum::Null; keys.len()];
                        set.iter().for_each(|&it| all[it] = keys[it].clone());
                        let mut group = self.new_group(grouping, all)?;
                        group.dependent = self.eval_all(&grouping.dependent, row)?;
                        groups[place].push(group);
                        let width = keys.len() + grouping.aggregates.len();
                        self.bound(groups[place].len(), width)?;
                        places[place].insert(key, groups[place].len() - 1);
                        groups[place].len() - 1
                    }
                }
            };
            let states = &mut groups[place][group].states;
            for (call, state) in grouping.aggregates.iter().zip(states) {
                self.aggregate_row(call, state, row)?;
            }
        }
        Ok(())
    }

    fn new_group(&mut self, grouping: &Grouping, keys: Row) -> Result<Group> {
        let keys = if keys.is_empty() { vec![Datum::Null; grouping.keys.len()] } else { keys };
        let states = grouping
            .aggregates
            .iter()
            .map(|call| State {
                accumulator: (call.kind.start)(&self.call(&call.arg_types, call.ty)),
                rows: Vec::new(),
                seen: Seen::default(),
            })
            .collect();
        let dependent = vec![Datum::Null; grouping.dependent.len()];
        Ok(Group { keys, states, dependent })
    }

    fn aggregate_row(&mut self, call: &AggCall, state: &mut State, row: &Row) -> Result<()> {
        if let Some(filter) = &call.filter
            && !self.holds(filter, row)?
        {
            return Ok(());
        }
        let args = self.eval_all(&call.args, row)?;
        if call.kind.skips_nulls && args.iter().any(Datum::is_null) {
            return Ok(());
        }
        if !call.order.is_empty() || call.distinct {
            let order = call.order.iter().map(|(expr, _)| self.eval(expr, row));
            let order = order.collect::<Result<Row>>()?;
            if !call.distinct || state.seen.add(&args, &call.arg_types) {
                let width = args.len() + order.len();
                state.rows.push((args, order));
                self.bound(state.rows.len(), width)?;
            }
            return Ok(());
        }
        state.accumulator.add(&self.call(&call.arg_types, call.ty), &args)
    }

    fn finish_groups(&mut self, grouping: &Grouping, groups: Vec<Vec<Group>>) -> Result<Vec<Row>> {
        let sets = grouping.sets.iter().zip(groups);
        let mut all: Vec<(&[usize], Group)> = sets
            .flat_map(|(set, groups)| groups.into_iter().map(|group| (&set[..], group)))
            .collect();
        let is_sorted = |call: &AggCall| call.distinct || !call.order.is_empty();
        if grouping.aggregates.iter().any(is_sorted) && is_chain(&grouping.sets) {
            all.sort_by(|left, right| compare_groups(grouping, left, right));
        }
        let mut rows = Vec::with_capacity(all.len());
        for (set, group) in all {
            let absent = (0..grouping.keys.len()).filter(|key| !set.contains(key));
            let bits = absent.fold(0i64, |bits, key| bits | (1 << key.min(62)));
            let mut row = group.keys;
            for (call, state) in grouping.aggregates.iter().zip(group.states) {
                row.push(self.finish_aggregate(call, state)?);
            }
            row.push(Datum::Int8(bits));
            row.extend(group.dependent);
            rows.push(row);
        }
        Ok(rows)
    }

    fn finish_aggregate(&mut self, call: &AggCall, mut state: State) -> Result<Datum> {
        if call.order.is_empty() && call.distinct {
            // Values that are alike are found by sorting, so that they come in order.
            let types = &call.arg_types;
            state.rows.sort_by(|(left, _), (right, _)| {
                let pairs = left.iter().zip(right).zip(types);
                let mut orders =
                    pairs.map(|((left, right), &ty)| crate::types::compare_as(ty, left, right));
                orders.find(|&order| order != Ordering::Equal).unwrap_or(Ordering::Equal)
            });
        }
        state.rows.sort_by(|(_, left), (_, right)| {
            let keys = call.order.iter().zip(left.iter().zip(right));
            let mut orders =
                keys.map(|((expr, key), (left, right))| compare_by(key, expr.ty, left, right));
            orders.find(|&order| order != Ordering::Equal).unwrap_or(Ordering::Equal)
        });
        // An ordered-set aggregate has the types of its direct arguments first.
        let direct_types = call.direct.iter().map(|expr| expr.ty);
        let types: Vec<Oid> = direct_types.chain(call.arg_types.iter().copied()).collect();
        if let Some(start) = call.kind.direct {
            let direct = self.eval_all(&call.direct, &[])?;
            state.accumulator = start(&self.call(&types, call.ty), &direct)?;
        }
        for (args, _) in &state.rows {
            self.tick()?;
            state.accumulator.add(&self.call(&types, call.ty), args)?;
        }
        state.accumulator.finish(&self.call(&types, call.ty))
    }
}

/// Whether each set is part of the one before, as those of ROLLUP are.
fn is_chain(sets: &[Vec<usize>]) -> bool {
    sets.windows(2).all(|pair| pair[1].iter().all(|key| pair[0].contains(key)))
}

/// The order in which PostgreSQL ends groups if aggregates need their values in order: it sorts the
/// rows by the keys, and a group ends behind those that are parts of it. Which of several errors
/// is told depends on it.
fn compare_groups(
    grouping: &Grouping,
    (left_set, left): &(&[usize], Group),
    (right_set, right): &(&[usize], Group),
) -> Ordering {
    let finest = grouping.sets.first().map(Vec::as_slice).unwrap_or_default();
    for &key in finest {
        match (left_set.contains(&key), right_set.contains(&key)) {
            (true, true) => {}
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => continue,
        }
        let (one, other) = (&left.keys[key], &right.keys[key]);
        let order = match (one.is_null(), other.is_null()) {
            (false, false) => crate::types::compare_as(grouping.keys[key].ty, one, other),
            (one, other) => one.cmp(&other),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// How many places the row of FROM has.
fn from_width(select: &Select, node: &Node) -> usize {
    let mut width = node.end;
    if let Some(from) = &select.from {
        width = width.max(crate::plan::width(from));
    }
    width
}
