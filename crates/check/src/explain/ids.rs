//! Dense numbers inside an instance, one type each: those of the history are others.

/// A transaction of an instance, by its number in [`super::instance::Instance::txns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(super) struct LocalTxn(pub usize);

/// An external read, by its number in [`super::instance::Instance::reads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(super) struct LocalRead(pub usize);

/// What a list shows, by its number in [`super::instance::Instance::listed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(super) struct ListedId(pub usize);
