//! Rows of the initial state, packed: a table that was loaded once, or that only grows, costs
//! little more than its values.
//!
//! Rows stand in blocks of [`BLOCK`]. A block is one piece of memory with the rows one after the
//! other, so that a change moves a few kilobytes and leaves no hole. Values are numbers of variable
//! length and short texts; what is neither (documents, arrays, long texts) is kept beside the
//! bytes as it is.

use crate::types::numeric::Numeric;
use crate::types::{Datum, Interval};
use std::sync::Arc;

/// The rows of a block.
const BLOCK: usize = 64;
/// The longest text that is packed: reading one makes a copy of it.
const TEXT_MAX: usize = 256;

/// Rows by number.
#[derive(Clone, Default, Debug)]
pub(super) struct PackedRows {
    blocks: Vec<Block>,
    count: usize,
}

/// Up to [`BLOCK`] rows.
#[derive(Clone, Default, Debug)]
struct Block {
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<u32>,
    /// Values that are not packed; null where a place is free.
    others: Vec<Datum>,
}

/// What a row is initially: whether it exists, and what its columns hold as far as they are
/// initial.
pub(super) struct BaseRow {
    pub exists: bool,
    pub values: Vec<Option<Datum>>,
}

impl PackedRows {
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a row that does not exist and holds nothing.
    pub fn push_absent(&mut self) {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push(Block::default());
        }
        if let Some(last) = self.blocks.last_mut() {
            last.ends.push(last.bytes.len() as u32);
        }
        self.count += 1;
    }

    fn row(&self, row: usize) -> Option<(&Block, &[u8])> {
        let block = self.blocks.get(row / BLOCK)?;
        Some((block, block.row(row % BLOCK)?))
    }

    /// Whether a row exists.
    pub fn exists(&self, row: usize) -> bool {
        self.row(row).is_some_and(|(_, bytes)| bytes.first() == Some(&EXISTS))
    }

    /// Whether a row does not exist and holds nothing.
    pub fn is_empty(&self, row: usize) -> bool {
        self.row(row).is_some_and(|(_, bytes)| bytes.is_empty())
    }

    /// What a row holds in a column, from 0; none if that is not initial.
    pub fn value(&self, row: usize, column: usize) -> Option<Datum> {
        let (block, bytes) = self.row(row)?;
        let mut values = Values { bytes: bytes.get(1..)?, others: &block.others };
        for _ in 0..column {
            values.pass()?;
        }
        values.next()?
    }

    /// All of a row.
    pub fn get(&self, row: usize) -> BaseRow {
        let Some((block, bytes)) = self.row(row) else {
            return BaseRow { exists: false, values: Vec::new() };
        };
        let values = Values { bytes: bytes.get(1..).unwrap_or_default(), others: &block.others };
        BaseRow { exists: bytes.first() == Some(&EXISTS), values: values.collect() }
    }

    /// Changes a row that there is.
    pub fn set(&mut self, row: usize, values: &BaseRow) {
        if let Some(block) = self.blocks.get_mut(row / BLOCK) {
            block.set(row % BLOCK, values);
        }
    }
}

impl Block {
    fn start(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    fn row(&self, row: usize) -> Option<&[u8]> {
        let end = *self.ends.get(row)? as usize;
        self.bytes.get(self.start(row)..end)
    }

    fn set(&mut self, row: usize, values: &BaseRow) {
        let (start, end) = (self.start(row), self.ends[row] as usize);
        self.free_others(start..end);
        let mut packed = Vec::new();
        if values.exists || !values.values.is_empty() {
            packed.push(if values.exists { EXISTS } else { ABSENT });
            for value in &values.values {
                pack(value.as_ref(), &mut packed, &mut self.others);
            }
        }
        // Most blocks are filled once and never change: no room is left for growth.
        self.bytes.reserve_exact(packed.len().saturating_sub(end - start));
        let length = packed.len();
        self.bytes.splice(start..end, packed);
        for end_of_row in &mut self.ends[row..] {
            *end_of_row = (*end_of_row as usize + length - (end - start)) as u32;
        }
    }

    fn free_others(&mut self, bytes: std::ops::Range<usize>) {
        if self.others.is_empty() {
            return;
        }
        let packed = self.bytes[bytes].to_vec();
        let mut values =
            Values { bytes: packed.get(1..).unwrap_or_default(), others: &self.others };
        let mut freed = Vec::new();
        while let Some(&tag) = values.bytes.first() {
            if tag == OTHER {
                freed.extend(read_number(&values.bytes[1..]).map(|(place, _)| place as usize));
            }
            if values.pass().is_none() {
                break;
            }
        }
        for place in freed {
            self.others[place] = Datum::Null;
        }
    }
}

const ABSENT: u8 = 0;
const EXISTS: u8 = 1;

const NOTHING: u8 = 0;
const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const INT2: u8 = 4;
const INT4: u8 = 5;
const INT8: u8 = 6;
const OID: u8 = 7;
const FLOAT4: u8 = 8;
const FLOAT8: u8 = 9;
const TEXT: u8 = 10;
const BYTEA: u8 = 11;
const DATE: u8 = 12;
const TIME: u8 = 13;
const TIME_TZ: u8 = 14;
const TIMESTAMP: u8 = 15;
const INTERVAL: u8 = 16;
const UUID: u8 = 17;
const JSON: u8 = 18;
const BITS: u8 = 19;
const NUMERIC: u8 = 20;
const OTHER: u8 = 21;

fn pack(value: Option<&Datum>, out: &mut Vec<u8>, others: &mut Vec<Datum>) {
    let Some(value) = value else { return out.push(NOTHING) };
    match value {
        Datum::Null => out.push(NULL),
        Datum::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
        Datum::Int2(value) => tagged(out, INT2, zigzag((*value).into())),
        Datum::Int4(value) => tagged(out, INT4, zigzag((*value).into())),
        Datum::Int8(value) => tagged(out, INT8, zigzag(*value)),
        Datum::Oid(value) => tagged(out, OID, (*value).into()),
        Datum::Date(value) => tagged(out, DATE, zigzag((*value).into())),
        Datum::Time(value) => tagged(out, TIME, zigzag(*value)),
        Datum::Float4(value) => fixed(out, FLOAT4, &value.to_bits().to_le_bytes()),
        Datum::Float8(value) => fixed(out, FLOAT8, &value.to_bits().to_le_bytes()),
        Datum::Timestamp(value) => fixed(out, TIMESTAMP, &value.to_le_bytes()),
        Datum::Uuid(value) => fixed(out, UUID, value),
        Datum::TimeTz(time, zone) => {
            tagged(out, TIME_TZ, zigzag(*time));
            number(out, zigzag((*zone).into()));
        }
        Datum::Interval(value) => {
            tagged(out, INTERVAL, zigzag(value.months.into()));
            number(out, zigzag(value.days.into()));
            number(out, zigzag(value.micros));
        }
        Datum::Text(value) if value.len() <= TEXT_MAX => long(out, TEXT, value.as_bytes()),
        Datum::Json(value) if value.len() <= TEXT_MAX => long(out, JSON, value.as_bytes()),
        Datum::Bits(value) if value.len() <= TEXT_MAX => long(out, BITS, value.as_bytes()),
        Datum::Bytea(value) if value.len() <= TEXT_MAX => long(out, BYTEA, value),
        Datum::Numeric(decimal) => match decimal.to_scaled() {
            Some((unscaled, scale)) => {
                tagged(out, NUMERIC, zigzag(unscaled));
                number(out, scale.into());
            }
            None => beside(value, out, others),
        },
        _ => beside(value, out, others),
    }
}

/// Keeps a value as it is.
fn beside(value: &Datum, out: &mut Vec<u8>, others: &mut Vec<Datum>) {
    let place = others.iter().position(Datum::is_null).unwrap_or(others.len());
    match others.get_mut(place) {
        Some(free) => *free = value.clone(),
        None => others.push(value.clone()),
    }
    tagged(out, OTHER, place as u64);
}

fn tagged(out: &mut Vec<u8>, tag: u8, value: u64) {
    out.push(tag);
    number(out, value);
}

fn fixed(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend_from_slice(bytes);
}

fn long(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    tagged(out, tag, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Small numbers of either sign become small ones without.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Seven bits a byte, the lowest first; the uppermost bit says that there are more.
fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A number and how many bytes it takes.
fn read_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((value, place + 1));
        }
    }
    None
}

/// The values of a row, one after the other.
struct Values<'b> {
    bytes: &'b [u8],
    others: &'b [Datum],
}

impl<'b> Values<'b> {
    fn number(&mut self) -> Option<u64> {
        let (value, length) = read_number(self.bytes)?;
        self.bytes = &self.bytes[length..];
        Some(value)
    }

    fn signed(&mut self) -> Option<i64> {
        self.number().map(unzigzag)
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn long(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        self.take(length as usize)
    }

    fn text(&mut self) -> Option<Arc<str>> {
        std::str::from_utf8(self.long()?).ok().map(Arc::from)
    }

    /// Passes over a value.
    fn pass(&mut self) -> Option<()> {
        let tag = self.take(1)?[0];
        match tag {
            INT2 | INT4 | INT8 | OID | DATE | TIME | OTHER => drop(self.number()?),
            FLOAT4 => drop(self.take(4)?),
            FLOAT8 | TIMESTAMP => drop(self.take(8)?),
            UUID => drop(self.take(16)?),
            TIME_TZ | NUMERIC => drop((self.number()?, self.number()?)),
            INTERVAL => drop((self.number()?, self.number()?, self.number()?)),
            TEXT | JSON | BITS | BYTEA => drop(self.long()?),
            _ => {}
        }
        Some(())
    }

    fn datum(&mut self, tag: u8) -> Option<Datum> {
        Some(match tag {
            FALSE | TRUE => Datum::Bool(tag == TRUE),
            INT2 => Datum::Int2(self.signed()? as i16),
            INT4 => Datum::Int4(self.signed()? as i32),
            INT8 => Datum::Int8(self.signed()?),
            OID => Datum::Oid(self.number()? as u32),
            DATE => Datum::Date(self.signed()? as i32),
            TIME => Datum::Time(self.signed()?),
            FLOAT4 => Datum::Float4(f32::from_bits(u32::from_le_bytes(self.array()?))),
            FLOAT8 => Datum::Float8(f64::from_bits(u64::from_le_bytes(self.array()?))),
            TIMESTAMP => Datum::Timestamp(i64::from_le_bytes(self.array()?)),
            UUID => Datum::Uuid(self.array()?),
            TIME_TZ => Datum::TimeTz(self.signed()?, self.signed()? as i32),
            INTERVAL => Datum::Interval(Interval {
                months: self.signed()? as i32,
                days: self.signed()? as i32,
                micros: self.signed()?,
            }),
            TEXT => Datum::Text(self.text()?),
            JSON => Datum::Json(self.text()?),
            BITS => Datum::Bits(self.text()?),
            BYTEA => Datum::Bytea(self.long()?.into()),
            NUMERIC => {
                let (unscaled, scale) = (self.signed()?, self.number()? as u32);
                Datum::Numeric(Arc::new(Numeric::from_scaled(unscaled, scale)))
            }
            OTHER => self.others.get(self.number()? as usize)?.clone(),
            _ => Datum::Null,
        })
    }
}

impl Iterator for Values<'_> {
    type Item = Option<Datum>;

    fn next(&mut self) -> Option<Option<Datum>> {
        match self.take(1)?[0] {
            NOTHING => Some(None),
            tag => Some(Some(self.datum(tag)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Array, Oid};

    fn samples() -> Vec<Option<Datum>> {
        let long = "x".repeat(TEXT_MAX + 1);
        let array = Array::of(Oid::INT4, vec![Datum::Int4(1), Datum::Null]);
        let all = [
            Datum::Null,
            Datum::Bool(true),
            Datum::Bool(false),
            Datum::Int2(i16::MIN),
            Datum::Int4(i32::MAX),
            Datum::Int8(i64::MIN),
            Datum::Oid(u32::MAX),
            Datum::Float4(-0.0),
            Datum::Float8(f64::NAN),
            Datum::Date(i32::MIN),
            Datum::Time(86_399_999_999),
            Datum::TimeTz(1, -3600),
            Datum::Timestamp(i64::MAX),
            Datum::Interval(Interval { months: -1, days: 2, micros: i64::MIN }),
            Datum::Uuid([7; 16]),
            Datum::text(""),
            Datum::text("Zürich"),
            Datum::text(long.as_str()),
            Datum::Json("[1]".into()),
            Datum::Bits("010".into()),
            Datum::Bytea(Arc::from([0, 255])),
            Datum::Numeric(Arc::new(Numeric::from_scaled(-150, 2))),
            Datum::Numeric(Arc::new(Numeric::NaN)),
            Datum::Array(Arc::new(array)),
        ];
        [None].into_iter().chain(all.into_iter().map(Some)).collect()
    }

    fn shown(values: &[Option<Datum>]) -> String {
        format!("{values:?}")
    }

    #[test]
    fn every_value_comes_back_as_it_was() {
        let mut rows = PackedRows::default();
        let values = samples();
        for number in 0..200 {
            rows.push_absent();
            assert!(!rows.exists(number) && rows.value(number, 0).is_none());
            rows.set(number, &BaseRow { exists: number % 3 == 0, values: values.clone() });
        }
        for number in 0..200 {
            assert_eq!(rows.exists(number), number % 3 == 0);
            assert_eq!(shown(&rows.get(number).values), shown(&values));
            let single: Vec<_> = (0..values.len()).map(|it| rows.value(number, it)).collect();
            assert_eq!(shown(&single), shown(&values));
            assert!(rows.value(number, values.len()).is_none());
        }
        assert!(!rows.exists(200) && rows.get(200).values.is_empty());
    }

    #[test]
    fn a_changed_row_leaves_the_others_as_they_are_and_nothing_behind() {
        let (mut rows, values) = (PackedRows::default(), samples());
        for number in 0..BLOCK {
            rows.push_absent();
            rows.set(number, &BaseRow { exists: true, values: values.clone() });
        }
        let (size, beside) = (rows.blocks[0].bytes.len(), rows.blocks[0].others.len());
        for round in 0..values.len() {
            for number in (0..BLOCK).step_by(5) {
                let mut changed = values.clone();
                changed.rotate_left(round);
                rows.set(number, &BaseRow { exists: true, values: changed.clone() });
                assert_eq!(shown(&rows.get(number).values), shown(&changed));
                assert_eq!(shown(&rows.get(number + 1).values), shown(&values));
            }
        }
        assert_eq!(rows.blocks[0].bytes.len(), size);
        assert_eq!(rows.blocks[0].others.len(), beside);
        for number in 0..BLOCK {
            rows.set(number, &BaseRow { exists: false, values: Vec::new() });
        }
        assert!(rows.blocks[0].bytes.is_empty());
        assert!(rows.blocks[0].others.iter().all(Datum::is_null));
    }
}
