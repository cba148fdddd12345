//! Names and values as the input spells them, and the eight bytes that stand for them inside.
//!
//! Integers up to 2^62 stand for themselves, so that the common file of numbers needs no table at
//! all. Everything else is kept once in [`Atoms`] and referred to by its number.

use rustc_hash::FxHashMap;
use std::fmt;

/// A key, a value or an identifier as it stands in a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Atom {
    /// An integer; wide enough for both `i64` and `u64` files.
    Int(i128),
    /// A string.
    Str(Box<str>),
    /// An EDN keyword, without its colon.
    Keyword(Box<str>),
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Int(number) => write!(f, "{number}"),
            Atom::Str(text) => f.write_str(text),
            Atom::Keyword(text) => write!(f, ":{text}"),
        }
    }
}

const ATOM_TAG: u64 = 1 << 63;
const LIST_TAG: u64 = 1 << 62;

/// What an operation wrote or read, in eight bytes. Two values of one history are equal iff these
/// are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(u64);

/// The variants of a [`Value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// `null` or `nil`: the initial value of the key, written by the initial transaction.
    Null,
    /// An integer that stands for itself.
    Int(u64),
    /// Number of an entry in [`Atoms`].
    Atom(u32),
    /// Number of a list in the history (what a read of an append-only list returned).
    List(u32),
}

impl Value {
    /// The initial value of a key where the input says so explicitly (`null`, `nil`, `?`).
    pub const NULL: Value = Value(u64::MAX);

    /// A small integer; `None` if it needs an entry in [`Atoms`].
    #[inline]
    pub fn small(number: u64) -> Option<Value> {
        (number < LIST_TAG).then_some(Value(number))
    }

    /// Refers to entry `index` of the history's atoms.
    #[inline]
    pub fn atom(index: u32) -> Value {
        Value(ATOM_TAG | u64::from(index))
    }

    /// Refers to list `index` of the history.
    #[inline]
    pub fn list(index: u32) -> Value {
        Value(LIST_TAG | u64::from(index))
    }

    /// What this value is.
    pub fn kind(self) -> ValueKind {
        match self.0 {
            u64::MAX => ValueKind::Null,
            raw if raw & ATOM_TAG != 0 => ValueKind::Atom(raw as u32),
            raw if raw & LIST_TAG != 0 => ValueKind::List(raw as u32),
            raw => ValueKind::Int(raw),
        }
    }

    /// The value of these eight bytes, which [`Value::raw`] gave.
    #[inline]
    pub fn from_raw(raw: u64) -> Value {
        Value(raw)
    }

    /// The eight bytes, for hashing.
    #[inline]
    pub fn raw(self) -> u64 {
        self.0
    }
}

/// The table of all atoms that do not fit into a [`Value`] by themselves.
#[derive(Clone, Default, Debug)]
pub struct Atoms {
    entries: Vec<Atom>,
    numbers: FxHashMap<Atom, u32>,
}

impl Atoms {
    /// The value that stands for `atom`, which is added if it is new.
    pub fn value(&mut self, atom: Atom) -> Value {
        if let Atom::Int(number) = atom
            && let Some(value) = u64::try_from(number).ok().and_then(Value::small)
        {
            return value;
        }
        Value::atom(self.intern(atom))
    }

    /// The number of `atom`, which is added if it is new.
    pub fn intern(&mut self, atom: Atom) -> u32 {
        if let Some(&number) = self.numbers.get(&atom) {
            return number;
        }
        let number = self.entries.len() as u32;
        self.entries.push(atom.clone());
        self.numbers.insert(atom, number);
        number
    }

    /// A new number for `atom`, whether or not it has one already.
    pub(crate) fn push_copy(&mut self, atom: Atom) -> u32 {
        self.entries.push(atom);
        self.entries.len() as u32 - 1
    }

    /// Entry `number`.
    pub fn get(&self, number: u32) -> &Atom {
        &self.entries[number as usize]
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integers_stand_for_themselves_and_others_are_interned_once() {
        let mut atoms = Atoms::default();
        assert_eq!(atoms.value(Atom::Int(7)).kind(), ValueKind::Int(7));
        let negative = atoms.value(Atom::Int(-7));
        assert_eq!(negative.kind(), ValueKind::Atom(0));
        assert_eq!(atoms.value(Atom::Int(-7)), negative);
        let huge = atoms.value(Atom::Int(i128::from(u64::MAX)));
        assert_eq!(huge.kind(), ValueKind::Atom(1));
        assert_eq!(atoms.get(1), &Atom::Int(i128::from(u64::MAX)));
    }
}
