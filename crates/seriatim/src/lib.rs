//! Seriatim as a library.
