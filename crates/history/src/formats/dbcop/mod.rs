//! dbcop's three formats: binary ([`bincode`]), text ([`hist`]) and JSON ([`json`]).

pub(super) mod bincode;
pub(super) mod hist;
pub(super) mod json;
