//! Window functions.

use super::keys::row_key;
use super::rows::compare_by;
use super::{Exec, Row, window_order};
use crate::error::{Result, SqlError, code};
use crate::ir::{
    Expr, ExprKind, Frame, FrameBound, FrameExclusion, FrameUnit, FunctionCall, SortKey, WindowCall,
};
use crate::types::{Datum, HashKey, Interval, Oid, compare_as};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// A partition: its rows in order, with what they are ordered by.
struct Partition {
    rows: Vec<usize>,
    order: Vec<Row>,
    /// The group of rows that are alike in the order, for each row.
    peers: Vec<usize>,
}

impl Exec<'_> {
    /// Appends the results of window functions to the rows, which end in the order in which
    /// PostgreSQL leaves them: it sorts them for one window after the other.
    pub(super) fn add_windows(&mut self, calls: &[WindowCall], rows: &mut Vec<Row>) -> Result<()> {
        if calls.is_empty() {
            return Ok(());
        }
        // Arguments are over the row as it was before.
        let mut results: Vec<Vec<Datum>> = vec![Vec::new(); calls.len()];
        let mut places: Vec<usize> = (0..rows.len()).collect();
        let mut sorted_by: Vec<(Expr, SortKey)> = Vec::new();
        for at in window_order::of(calls) {
            let wanted = window_order::keys(&calls[at]);
            if !sorted_by.starts_with(&wanted) {
                self.sort_places(&wanted, rows, &mut places)?;
                sorted_by = wanted;
            }
            results[at] = self.window(&calls[at], rows, &places)?;
        }
        for (place, row) in rows.iter_mut().enumerate() {
            row.extend(results.iter().map(|result| result[place].clone()));
        }
        *rows = places.into_iter().map(|place| std::mem::take(&mut rows[place])).collect();
        Ok(())
    }

    fn sort_places(
        &mut self,
        keys: &[(Expr, SortKey)],
        rows: &[Row],
        places: &mut [usize],
    ) -> Result<()> {
        let mut values: Vec<Row> = Vec::with_capacity(rows.len());
        for row in rows {
            let value = keys.iter().map(|(expr, _)| self.eval(expr, row));
            values.push(value.collect::<Result<Row>>()?);
        }
        places.sort_by(|&left, &right| compare_keys(keys, &values[left], &values[right]));
        Ok(())
    }

    fn window(&mut self, call: &WindowCall, rows: &[Row], places: &[usize]) -> Result<Vec<Datum>> {
        let mut result = vec![Datum::Null; rows.len()];
        let mut args = Vec::with_capacity(rows.len());
        for row in rows {
            self.tick()?;
            args.push(self.eval_all(&call.args, row)?);
        }
        for partition in self.partitions(call, rows, places)? {
            let values = self.partition_values(call, &partition, rows, &args)?;
            for (&row, value) in partition.rows.iter().zip(values) {
                result[row] = value;
            }
        }
        Ok(result)
    }

    fn partitions(
        &mut self,
        call: &WindowCall,
        rows: &[Row],
        places: &[usize],
    ) -> Result<Vec<Partition>> {
        let types: Vec<Oid> = call.partition.iter().map(|expr| expr.ty).collect();
        let mut numbers: FxHashMap<Vec<HashKey>, usize> = FxHashMap::default();
        let mut lists: Vec<Vec<usize>> = Vec::new();
        let mut orders: Vec<Row> = vec![Row::new(); rows.len()];
        for &place in places {
            let values = self.eval_all(&call.partition, &rows[place])?;
            let next = lists.len();
            let list = *numbers.entry(row_key(&values, &types)).or_insert(next);
            if list == next {
                lists.push(Vec::new());
            }
            lists[list].push(place);
            let order = call.order.iter().map(|(expr, _)| self.eval(expr, &rows[place]));
            orders[place] = order.collect::<Result<Row>>()?;
        }
        let compare = |left: &Row, right: &Row| compare_keys(&call.order, left, right);
        let mut partitions = Vec::new();
        for mut list in lists {
            list.sort_by(|&left, &right| compare(&orders[left], &orders[right]));
            let order: Vec<Row> = list.iter().map(|&row| orders[row].clone()).collect();
            let mut peers = Vec::with_capacity(list.len());
            for place in 0..list.len() {
                let group: usize = match place {
                    0 => 0,
                    _ => {
                        let same = compare(&order[place - 1], &order[place]) == Ordering::Equal;
                        peers[place - 1] + usize::from(!same)
                    }
                };
                peers.push(group);
            }
            partitions.push(Partition { rows: list, order, peers });
        }
        Ok(partitions)
    }

    fn partition_values(
        &mut self,
        call: &WindowCall,
        partition: &Partition,
        rows: &[Row],
        args: &[Row],
    ) -> Result<Vec<Datum>> {
        match &call.function {
            FunctionCall::Window(name) => self.ranked(name, call, partition, rows, args),
            FunctionCall::Aggregate(_) => self.aggregated(call, partition, rows, args),
        }
    }

    /// row_number, rank and the like.
    fn ranked(
        &mut self,
        name: &str,
        call: &WindowCall,
        partition: &Partition,
        rows: &[Row],
        args: &[Row],
    ) -> Result<Vec<Datum>> {
        let count = partition.rows.len();
        let first_peer = |place: usize| {
            let group = partition.peers[place];
            partition.peers.partition_point(|&it| it < group)
        };
        let behind_peers = |place: usize| {
            let group = partition.peers[place];
            partition.peers.partition_point(|&it| it <= group)
        };
        let mut values = Vec::with_capacity(count);
        for place in 0..count {
            self.tick()?;
            let own = &args[partition.rows[place]];
            let arg_of = |row: usize| args[partition.rows[row]][0].clone();
            values.push(match name {
                "window_row_number" => Datum::Int8(place as i64 + 1),
                "window_rank" => Datum::Int8(first_peer(place) as i64 + 1),
                "window_dense_rank" => Datum::Int8(partition.peers[place] as i64 + 1),
                "window_percent_rank" => Datum::Float8(if count > 1 {
                    first_peer(place) as f64 / (count - 1) as f64
                } else {
                    0.0
                }),
                "window_cume_dist" => Datum::Float8(behind_peers(place) as f64 / count as f64),
                "window_ntile" => match own.first() {
                    Some(Datum::Int4(buckets)) if *buckets > 0 => {
                        Datum::Int4(ntile(place, count, *buckets as usize))
                    }
                    Some(Datum::Int4(_)) => {
                        return Err(SqlError::new(
                            "22014",
                            "argument of ntile must be greater than zero",
                        ));
                    }
                    _ => Datum::Null,
                },
                "window_lag" | "window_lag_with_offset" | "window_lag_with_offset_and_default" => {
                    shifted(own, place, count, -1, &arg_of)
                }
                "window_lead"
                | "window_lead_with_offset"
                | "window_lead_with_offset_and_default" => shifted(own, place, count, 1, &arg_of),
                "window_first_value" | "window_last_value" | "window_nth_value" => {
                    let frame = self.frame_of(&call.frame, call, partition, place, rows)?;
                    let kept = kept(call.frame.exclusion, partition, place, frame);
                    framed(name, own, (0, kept.len()), &|row| arg_of(kept[row]))?
                }
                other => return Err(SqlError::unsupported(format!("window function {other}"))),
            });
        }
        Ok(values)
    }

    fn aggregated(
        &mut self,
        call: &WindowCall,
        partition: &Partition,
        rows: &[Row],
        args: &[Row],
    ) -> Result<Vec<Datum>> {
        let FunctionCall::Aggregate(kind) = &call.function else {
            return Err(SqlError::internal("an aggregate"));
        };
        let start = |exec: &Self| (kind.start)(&exec.call(&call.arg_types, call.ty));
        let mut state = start(self);
        let mut covered = (0, 0);
        let mut values: Vec<Datum> = Vec::with_capacity(partition.rows.len());
        let mut last: Option<((usize, usize), Datum)> = None;
        for place in 0..partition.rows.len() {
            self.tick()?;
            let frame = self.frame_of(&call.frame, call, partition, place, rows)?;
            if let Some((same, value)) = &last
                && *same == frame
                && call.frame.exclusion == FrameExclusion::None
            {
                values.push(value.clone());
                continue;
            }
            // A frame that only grows is added to; any other one is gone through anew.
            let exclusion = call.frame.exclusion;
            let excludes = exclusion != FrameExclusion::None;
            if excludes || frame.0 != covered.0 || frame.1 < covered.1 {
                state = start(self);
                covered = (frame.0, frame.0);
            }
            for row in kept(exclusion, partition, place, (covered.1, frame.1)) {
                let row = partition.rows[row];
                if let Some(filter) = &call.filter
                    && !self.holds(filter, &rows[row])?
                {
                    continue;
                }
                if kind.skips_nulls && args[row].iter().any(Datum::is_null) {
                    continue;
                }
                self.tick()?;
                state.add(&self.call(&call.arg_types, call.ty), &args[row])?;
            }
            covered = (frame.0, frame.1.max(covered.1));
            let value = state.finish(&self.call(&call.arg_types, call.ty))?;
            values.push(value.clone());
            last = Some((frame, value));
        }
        Ok(values)
    }

    /// The frame of a row: from, and up to but without.
    fn frame_of(
        &mut self,
        frame: &Frame,
        call: &WindowCall,
        partition: &Partition,
        place: usize,
        rows: &[Row],
    ) -> Result<(usize, usize)> {
        let start = self.bound_of(frame, &frame.start, call, partition, place, rows, true)?;
        let end = self.bound_of(frame, &frame.end, call, partition, place, rows, false)?;
        Ok((start, end.max(start)))
    }

    #[allow(clippy::too_many_arguments)]
    fn bound_of(
        &mut self,
        frame: &Frame,
        bound: &FrameBound,
        call: &WindowCall,
        partition: &Partition,
        place: usize,
        rows: &[Row],
        is_start: bool,
    ) -> Result<usize> {
        let count = partition.rows.len();
        let group = partition.peers[place];
        let first_of = |group: usize| partition.peers.partition_point(|&it| it < group);
        let behind = |group: usize| partition.peers.partition_point(|&it| it <= group);
        let (offset, following) = match bound {
            FrameBound::UnboundedPreceding => return Ok(0),
            FrameBound::UnboundedFollowing => return Ok(count),
            FrameBound::CurrentRow => {
                return Ok(match (frame.unit, is_start) {
                    (FrameUnit::Rows, true) => place,
                    (FrameUnit::Rows, false) => place + 1,
                    (_, true) => first_of(group),
                    (_, false) => behind(group),
                });
            }
            FrameBound::Preceding(offset) => (offset, false),
            FrameBound::Following(offset) => (offset, true),
        };
        if frame.unit == FrameUnit::Range {
            return self.range_bound(offset, call, partition, place, is_start);
        }
        let offset = self.eval(offset, &rows[partition.rows[place]])?;
        let Datum::Int8(offset) = offset else {
            return Err(null_offset(is_start));
        };
        if offset < 0 {
            let which = if is_start { "starting" } else { "ending" };
            return Err(SqlError::new(
                code::INVALID_PRECEDING_OR_FOLLOWING_SIZE,
                format!("frame {which} offset must not be negative"),
            ));
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let here = if frame.unit == FrameUnit::Rows { place } else { group };
        let there = if following {
            here.saturating_add(offset)
        } else if let Some(there) = here.checked_sub(offset) {
            there
        } else {
            return Ok(0);
        };
        Ok(match (frame.unit, is_start) {
            (FrameUnit::Rows, true) => there.min(count),
            (FrameUnit::Rows, false) => there.saturating_add(1).min(count),
            (_, true) => first_of(there),
            (_, false) => behind(there),
        })
    }

    /// RANGE with an offset: the bound is a value, and rows are compared with it.
    fn range_bound(
        &mut self,
        offset: &Expr,
        call: &WindowCall,
        partition: &Partition,
        place: usize,
        is_start: bool,
    ) -> Result<usize> {
        let (expr, key) = &call.order[0];
        let group = partition.peers[place];
        let own = &partition.order[place][0];
        if own.is_null() {
            return Ok(if is_start {
                partition.peers.partition_point(|&it| it < group)
            } else {
                partition.peers.partition_point(|&it| it <= group)
            });
        }
        let order = &partition.order;
        let bound = match self.range_end(offset, own, is_start)? {
            RangeEnd::Value(bound) => bound,
            RangeEnd::All => {
                let is_number = |row: &Row| !row[0].is_null() && !is_nan(&row[0]);
                let found = if is_start {
                    order.iter().position(is_number)
                } else {
                    order.iter().rposition(is_number).map(|last| last + 1)
                };
                return Ok(found.unwrap_or(0));
            }
            RangeEnd::Beyond { upwards } => {
                let is_null = |row: &Row| row[0].is_null();
                let nulls = order.iter().filter(|row| is_null(row)).count();
                let (first, behind) =
                    if key.nulls_first { (nulls, order.len()) } else { (0, order.len() - nulls) };
                return Ok(if upwards != key.descending { behind } else { first });
            }
        };
        let compare = |value: &Datum| {
            if value.is_null() {
                return if key.nulls_first { Ordering::Less } else { Ordering::Greater };
            }
            let order = compare_as(expr.ty, value, &bound);
            if key.descending { order.reverse() } else { order }
        };
        Ok(if is_start {
            order.partition_point(|row| compare(&row[0]) == Ordering::Less)
        } else {
            order.partition_point(|row| compare(&row[0]) != Ordering::Greater)
        })
    }

    /// The value of a row with the offset of RANGE added or taken away.
    fn range_end(&mut self, offset: &Expr, own: &Datum, is_start: bool) -> Result<RangeEnd> {
        let ExprKind::Call { args, callee, .. } = &offset.kind else {
            return Err(SqlError::internal("an offset that is not added"));
        };
        let by = match args.get(1) {
            Some(by) => self.eval(by, &[])?,
            None => Datum::Null,
        };
        if by.is_null() {
            return Err(null_offset(is_start));
        }
        if is_negative(&by) {
            let message = "invalid preceding or following size in window function";
            return Err(SqlError::new(code::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message));
        }
        match self.with_placeholder(own.clone(), offset) {
            // Infinity less infinity is as near as wanted.
            Ok(sum) if is_nan(&sum) && !is_nan(own) => Ok(RangeEnd::All),
            Ok(value) => Ok(RangeEnd::Value(value)),
            // Beyond the largest integer there is none.
            Err(error)
                if error.code() == code::NUMERIC_VALUE_OUT_OF_RANGE
                    && matches!(own, Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_)) =>
            {
                Ok(RangeEnd::Beyond { upwards: callee.proc.source.ends_with("pl") })
            }
            Err(error) => Err(error),
        }
    }
}

fn null_offset(is_start: bool) -> SqlError {
    let which = if is_start { "starting" } else { "ending" };
    SqlError::new(code::NULL_VALUE_NOT_ALLOWED, format!("frame {which} offset must not be null"))
}

/// Where a frame of RANGE ends.
enum RangeEnd {
    Value(Datum),
    /// Nowhere: all numbers are in it.
    All,
    /// Behind all values, or before them.
    Beyond {
        upwards: bool,
    },
}

fn is_nan(value: &Datum) -> bool {
    match value {
        Datum::Float4(value) => value.is_nan(),
        Datum::Float8(value) => value.is_nan(),
        Datum::Numeric(value) => value.is_nan(),
        _ => false,
    }
}

/// Whether an offset goes the wrong way.
fn is_negative(by: &Datum) -> bool {
    match by {
        Datum::Int2(by) => *by < 0,
        Datum::Int4(by) => *by < 0,
        Datum::Int8(by) => *by < 0,
        Datum::Float8(by) => *by < 0.0 || by.is_nan(),
        Datum::Numeric(by) => by.is_negative() || by.is_nan(),
        Datum::Interval(by) => {
            compare_as(Oid::INTERVAL, &Datum::Interval(*by), &Datum::Interval(Interval::default()))
                == Ordering::Less
        }
        _ => false,
    }
}

/// The order of the values of keys.
fn compare_keys(keys: &[(Expr, SortKey)], left: &Row, right: &Row) -> Ordering {
    let pairs = keys.iter().zip(left.iter().zip(right));
    let mut found = pairs.map(|((expr, key), (left, right))| compare_by(key, expr.ty, left, right));
    found.find(|&order| order != Ordering::Equal).unwrap_or(Ordering::Equal)
}

/// The rows of a frame without those that EXCLUDE names.
fn kept(
    exclusion: FrameExclusion,
    partition: &Partition,
    place: usize,
    (start, end): (usize, usize),
) -> Vec<usize> {
    let is_peer = |row: usize| partition.peers[row] == partition.peers[place];
    let is_kept = |row: &usize| match exclusion {
        FrameExclusion::None => true,
        FrameExclusion::CurrentRow => *row != place,
        FrameExclusion::Group => !is_peer(*row),
        FrameExclusion::Ties => *row == place || !is_peer(*row),
    };
    (start..end).filter(is_kept).collect()
}

fn ntile(place: usize, count: usize, buckets: usize) -> i32 {
    let (size, larger) = (count / buckets, count % buckets);
    let in_larger = larger * (size + 1);
    let bucket = if place < in_larger {
        place / (size + 1)
    } else {
        larger + (place - in_larger) / size.max(1)
    };
    bucket as i32 + 1
}

fn shifted(
    own: &Row,
    place: usize,
    count: usize,
    direction: i64,
    arg_of: &dyn Fn(usize) -> Datum,
) -> Datum {
    let offset = match own.get(1) {
        None => 1,
        Some(Datum::Int4(offset)) => i64::from(*offset),
        Some(_) => return Datum::Null,
    };
    let there = place as i64 + direction * offset;
    if there < 0 || there >= count as i64 {
        return own.get(2).cloned().unwrap_or(Datum::Null);
    }
    arg_of(there as usize)
}

fn framed(
    name: &str,
    own: &Row,
    (start, end): (usize, usize),
    arg_of: &dyn Fn(usize) -> Datum,
) -> Result<Datum> {
    if start >= end {
        return Ok(Datum::Null);
    }
    Ok(match name {
        "window_first_value" => arg_of(start),
        "window_last_value" => arg_of(end - 1),
        _ => match own.get(1) {
            Some(Datum::Int4(nth)) if *nth > 0 => {
                let there = start + *nth as usize - 1;
                if there < end { arg_of(there) } else { Datum::Null }
            }
            Some(Datum::Int4(_)) => {
                return Err(SqlError::new(
                    "22016",
                    "argument of nth_value must be greater than zero",
                ));
            }
            _ => Datum::Null,
        },
    })
}
