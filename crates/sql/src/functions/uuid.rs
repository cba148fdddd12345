//! uuid: comparison by bytes.

use super::arguments::Entry;
use super::bytea::difference;

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("uuid_"; a: [u8; 16], b: [u8; 16] => a.cmp(&b)),
    functions! {
        "uuid_cmp", (a: [u8; 16], b: [u8; 16]) => difference(&a, &b);
    },
];
