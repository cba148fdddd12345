//! Numbers of versions, and what a read came from: types of four bytes that cost nothing at run
//! time, so that no sentinel is taken for a transaction and no version for its writer.

use seriatim_history::TxnId;

/// A version: a visible write of a transaction that counts, by its number in
/// [`super::tables::Versions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub(crate) struct VersionId(pub u32);

impl VersionId {
    /// The place in an array with one item for each.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

macro_rules! source {
    ($(#[$doc:meta])* $name:ident, $id:ident, $get:ident) => {
        $(#[$doc])*
        // A number with two sentinels, not an `Option`, which would take eight bytes for each
        // operation of the history.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub(crate) struct $name(u32);

        impl $name {
            /// The initial transaction.
            pub const INITIAL: $name = $name(u32::MAX - 1);

            /// `None` for the initial transaction, and where there is no source.
            #[inline]
            pub fn $get(self) -> Option<$id> {
                (self < $name::INITIAL).then_some($id(self.0))
            }

            /// The number that [`Self::from_raw`] takes, for columns that threads fill.
            #[inline]
            pub fn raw(self) -> u32 {
                self.0
            }

            #[inline]
            pub fn from_raw(raw: u32) -> $name {
                $name(raw)
            }
        }

        impl From<$id> for $name {
            #[inline]
            fn from(id: $id) -> $name {
                debug_assert!(id.0 < $name::INITIAL.0);
                $name(id.0)
            }
        }
    };
}

source! {
    /// The transaction that an operation read from.
    Source, TxnId, txn
}

source! {
    /// The version that a read returned.
    SourceVersion, VersionId, version
}

impl Source {
    /// No source: a write, an internal read, or a read that is reported as a fault or as ambiguous.
    pub const NONE: Source = Source(u32::MAX);

    #[inline]
    pub fn is_initial(self) -> bool {
        self == Source::INITIAL
    }

    #[inline]
    pub fn is_none(self) -> bool {
        self == Source::NONE
    }
}
