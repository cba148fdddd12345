//! Abbreviations of time zones, by PostgreSQL's default list (`data/zone_abbreviations.tsv`).

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// What an abbreviation stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Seconds east of UTC, and whether that is daylight saving time.
    Fixed(i32, bool),
    /// What the zone of this name called so.
    Zone(&'static str),
}

static TABLE: LazyLock<FxHashMap<String, Meaning>> = LazyLock::new(|| {
    include_str!("../../../data/zone_abbreviations.tsv").lines().filter_map(read_line).collect()
});

fn read_line(line: &'static str) -> Option<(String, Meaning)> {
    let mut columns = line.split('\t');
    let (name, value) = (columns.next()?, columns.next()?);
    let meaning = match value.parse() {
        Ok(seconds) => Meaning::Fixed(seconds, columns.next() == Some("D")),
        Err(_) => Meaning::Zone(value),
    };
    Some((name.to_ascii_lowercase(), meaning))
}

/// What an abbreviation in small letters stands for.
pub fn find(lowercase: &str) -> Option<Meaning> {
    TABLE.get(lowercase).copied()
}
