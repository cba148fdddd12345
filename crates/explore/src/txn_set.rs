//! Sets of transactions as the bits of a number: the programs that can be explored have few, and
//! every step asks about sets.

/// The most transactions that the histories of one program may have between them.
pub(crate) const TXNS_MAX: usize = 128;

/// A transaction by its dense number, below [`TXNS_MAX`].
pub(crate) type Id = u8;

/// Stands for the initial transaction where a source is meant.
pub(crate) const INITIAL: Id = Id::MAX;

/// A set of transactions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct TxnSet(pub u128);

impl TxnSet {
    pub const NONE: TxnSet = TxnSet(0);

    #[inline]
    pub fn one(id: Id) -> TxnSet {
        TxnSet(1 << id)
    }

    #[inline]
    pub fn has(self, id: Id) -> bool {
        id != INITIAL && self.0 >> id & 1 == 1
    }

    #[inline]
    pub fn with(self, id: Id) -> TxnSet {
        TxnSet(self.0 | 1 << id)
    }

    #[inline]
    pub fn without(self, id: Id) -> TxnSet {
        TxnSet(self.0 & !(1 << id))
    }

    #[inline]
    pub fn union(self, other: TxnSet) -> TxnSet {
        TxnSet(self.0 | other.0)
    }

    #[inline]
    pub fn intersection(self, other: TxnSet) -> TxnSet {
        TxnSet(self.0 & other.0)
    }

    #[inline]
    pub fn difference(self, other: TxnSet) -> TxnSet {
        TxnSet(self.0 & !other.0)
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in it.
    #[inline]
    pub fn has_all(self, other: TxnSet) -> bool {
        other.0 & !self.0 == 0
    }

    /// The members, smallest number first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Id> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (next < u128::BITS).then_some(next as Id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let set = TxnSet::one(0).with(5).with(127);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 5, 127]);
        assert!(set.has(127) && !set.has(1) && !set.has(INITIAL));
        assert!(set.has_all(TxnSet::one(5)) && !set.has_all(TxnSet::one(6)));
        assert_eq!(set.without(5).difference(TxnSet::one(0)), TxnSet::one(127));
        assert_eq!(set.intersection(TxnSet::one(5).with(6)), TxnSet::one(5));
        assert!(TxnSet::NONE.is_empty() && TxnSet::NONE.union(set) == set);
    }
}
