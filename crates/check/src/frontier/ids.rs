//! Dense numbers of what the search speaks of, one type each. They are numbers of this module
//! alone: keys and versions are counted anew, as its neighbours know nothing of them.

macro_rules! dense {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(transparent)]
        pub(super) struct $name(pub u32);

        impl $name {
            /// The place in an array with one item for each.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

dense! {
    /// A key that the history mentions.
    Key
}

dense! {
    /// A key with a value. The initial versions come first, one for each key.
    Version
}

dense! {
    /// A list: the longest one of its key.
    ListNumber
}

dense! {
    /// A value that is appended to a key with a list.
    Element
}

impl Key {
    /// The version that the key has at first.
    #[inline]
    pub fn initial(self) -> Version {
        Version(self.0)
    }
}

impl Version {
    /// No version.
    pub const NONE: Version = Version(u32::MAX);
}
