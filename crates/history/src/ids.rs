//! Dense identifiers: everything inside Seriatim is numbered from zero, names live at the edges.

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index of an array.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// Panics in debug builds if the number does not fit: [`crate::Columns`] refuses larger
            /// histories.
            #[inline]
            fn from(index: usize) -> Self {
                debug_assert!(index <= u32::MAX as usize);
                Self(index as u32)
            }
        }
    };
}

dense_id!(
    /// A session, numbered in order of first appearance in the input.
    SessionId
);
dense_id!(
    /// A transaction, numbered session by session and inside a session in session order.
    TxnId
);
dense_id!(
    /// An operation, numbered transaction by transaction and inside a transaction in program order.
    OpId
);
dense_id!(
    /// A key.
    KeyId
);
