//! The ready programs, one for each anomaly that a program can show; they are part of the command.

use seriatim_isolation::Level;

macro_rules! examples {
    ($($name:literal),+ $(,)?) => {
        [$((
            $name,
            include_str!(concat!("../../../../../examples/programs/", $name, ".tx")),
        )),+]
    };
}

/// Their names and texts, in the order in which a lecture may have them: from what the weakest
/// level allows to what only serializability forbids.
pub const EXAMPLES: [(&str, &str); 15] = examples![
    "non-monotonic-read",
    "non-monotonic-read-commit",
    "non-repeatable-read",
    "fractured-read",
    "fractured-read-commit",
    "causality-violation",
    "conflicting-commit-order",
    "long-fork",
    "dirty-write",
    "lost-update",
    "bookings",
    "read-skew",
    "non-adjacent",
    "write-skew",
    "anti-dependency-cycle",
];

/// The level at which a program shows what it is about, if it says so: `# shows: lost-update at pc,
/// not at si`.
pub fn shown_at(text: &str) -> Option<Level> {
    let line = text.lines().find_map(|line| line.strip_prefix("# shows:"))?;
    let (_, level) = line.split(',').next()?.split_once(" at ")?;
    level.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_isolation::Anomaly;
    use seriatim_report::page::play::NOT_PLAYED;
    use std::collections::BTreeSet;

    #[test]
    fn every_program_of_the_examples_is_offered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/programs");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let there: BTreeSet<String> =
            files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        let offered: BTreeSet<String> = EXAMPLES.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(offered, there);
    }

    #[test]
    fn every_anomaly_has_a_ready_program_or_a_reason_why_not() {
        let shown = EXAMPLES.iter().filter_map(|(_, text)| {
            let line = text.lines().find_map(|line| line.strip_prefix("# shows: "))?;
            Some(line.split_once(" at ")?.0)
        });
        let others = NOT_PLAYED.iter().flat_map(|(anomalies, _)| *anomalies);
        let mut all: Vec<&str> = shown.chain(others.map(|anomaly| anomaly.info().code)).collect();
        all.sort_unstable();
        // Bookings are a second program with a lost update or the like.
        all.dedup();
        let mut expected = Anomaly::ALL.map(|anomaly| anomaly.info().code);
        expected.sort_unstable();
        assert_eq!(all, expected);
    }

    #[test]
    fn every_ready_program_says_at_which_level_it_breaks() {
        for (name, text) in EXAMPLES {
            assert!(shown_at(text).is_some(), "{name}");
        }
    }
}
