//! Dense numbers of the things that the strong levels speak of: one type each, so that none is
//! taken for another. They cost nothing at run time.

use seriatim_history::TxnId;

/// A dense number, from 0.
pub(crate) trait Dense: Copy {
    fn index(self) -> usize;
}

macro_rules! dense {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub(crate) struct $name(pub u32);

        impl $name {
            /// The place in an array with one item for each.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Dense for $name {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

dense! {
    /// A point in time: the begin or the commit of a transaction (both are one at SER and SSER), or
    /// a moment of real time.
    PointId
}

dense! {
    /// An ambiguous read, by its number in [`super::facts::Facts::ambiguous`].
    AmbiguousId
}

dense! {
    /// A slot: a version of a key, or the initial value of a key. Versions come first, by their
    /// numbers in the index, then the initial values of all keys.
    SlotId
}

impl SlotId {
    /// No slot: it is not known which.
    pub const NONE: SlotId = SlotId(u32::MAX);
}

impl Dense for TxnId {
    #[inline]
    fn index(self) -> usize {
        self.index()
    }
}

/// Sorts points by their places in an order.
pub(super) fn sort_by_position(points: &mut [PointId], position: &[u32]) {
    points.sort_unstable_by_key(|point| position[point.index()]);
}
