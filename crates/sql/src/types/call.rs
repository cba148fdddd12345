//! What is known where a value is read, written or computed.

use super::{Oid, Style, TypeLookup};

/// What a function may know besides its arguments.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// The types of the arguments.
    pub args: &'c [Oid],
    /// The type of the result, resolved if the declared one is polymorphic.
    pub result: Oid,
    /// What decides how values are read and written.
    pub style: &'c Style,
    /// User-defined types.
    pub types: &'c dyn TypeLookup,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Call({:?} -> {:?})", self.args, self.result)
    }
}
