//! From what a person types to an entry.

use super::{Entry, Subject, entries};

/// How many suggestions an unknown name gets.
const SUGGESTIONS_MAX: usize = 3;

/// There is no entry of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name.
    pub name: String,
    /// Known names that look like it, the most alike first.
    pub suggestions: Vec<String>,
}

/// The entries called `name`: a code, a name, a letter (`h`, `tap-h`), a name of Adya or Elle, in
/// any case. Several anomalies may share one (`G1c`).
pub fn find(name: &str) -> Result<Vec<&'static Entry>, Unknown> {
    let wanted = normal(name);
    // A code means exactly one entry, even where another entry has it as a second name. A phrase is
    // what people say, who may mean another entry that has just this phrase.
    let said = name.trim().to_ascii_lowercase();
    let is_phrase = |alias: &&str| alias.contains(' ') && **alias == said;
    let is_exact = |entry: &&Entry| entry.code() == wanted || entry.aliases.iter().any(is_phrase);
    let exact: Vec<&Entry> = entries().filter(is_exact).collect();
    let found = if exact.is_empty() {
        entries().filter(|entry| names(entry).contains(&wanted)).collect()
    } else {
        exact
    };
    if found.is_empty() {
        Err(Unknown { name: name.to_owned(), suggestions: suggestions(&wanted) })
    } else {
        Ok(found)
    }
}

/// All names of an entry, in the form of [`normal`].
fn names(entry: &Entry) -> Vec<String> {
    let mut names = vec![normal(entry.code()), normal(entry.name())];
    names.extend(entry.aliases.iter().map(|alias| normal(alias)));
    if let Subject::Anomaly(kind) = entry.subject {
        let info = kind.info();
        names.extend(
            info.tap.iter().flat_map(|letter| [letter.to_string(), format!("tap-{letter}")]),
        );
        names.extend(info.adya.iter().flat_map(|names| names.split('/')).map(normal));
    }
    names
}

fn normal(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace([' ', '_'], "-")
}

fn suggestions(wanted: &str) -> Vec<String> {
    alike(wanted, entries().flat_map(names).filter(|name| name.len() > 1))
}

/// Those of `all` names that look like `wanted`, the most alike first.
pub fn alike(wanted: &str, all: impl Iterator<Item = String>) -> Vec<String> {
    let limit = (wanted.chars().count() / 2).max(1);
    let mut near: Vec<(usize, String)> = all.map(|name| (distance(wanted, &name), name)).collect();
    near.retain(|(distance, name)| *distance <= limit || name.contains(wanted));
    near.sort();
    near.dedup();
    near.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect()
}

/// The edit distance of two words (Levenshtein), in one row.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(name: &str) -> Vec<&'static str> {
        find(name)
            .map(|entries| entries.iter().map(|entry| entry.code()).collect())
            .unwrap_or_default()
    }

    #[test]
    fn anomalies_are_found_by_every_name() {
        for name in ["h", "tap-h", "TAP-H", "non-monotonic-read", "Non monotonic read"] {
            assert_eq!(codes(name), ["non-monotonic-read"], "{name}");
        }
        assert_eq!(codes("G1a"), ["aborted-read"]);
        assert_eq!(codes("G0"), ["write-cycle", "dirty-write"]);
        assert_eq!(codes("G1c"), ["cyclic-causality", "write-cycle"]);
        assert_eq!(codes("dirty write"), ["dirty-write"]);
        assert_eq!(codes("write skew"), ["write-skew"]);
        assert_eq!(codes("read-committed"), ["rc"]);
    }

    #[test]
    fn a_general_pattern_has_the_pages_of_all_its_cases() {
        let g_single = [
            "non-monotonic-read",
            "non-repeatable-read",
            "fractured-read",
            "causality-violation",
            "read-skew",
        ];
        assert_eq!(codes("G-single"), g_single);
        assert_eq!(codes("read-skew"), ["read-skew"]);
        assert_eq!(codes("G1"), ["aborted-read", "intermediate-read", "cyclic-causality"]);
        assert_eq!(codes("G-nonadjacent"), ["long-fork", "non-adjacent"]);
        assert_eq!(codes("G2-item"), ["write-skew", "anti-dependency-cycle"]);
    }

    #[test]
    fn names_of_berenson_lead_to_what_they_mean() {
        assert_eq!(codes("A5A"), ["fractured-read"]);
        assert_eq!(codes("read skew"), ["fractured-read", "read-skew"]);
        assert_eq!(codes("Read Skew"), codes("read skew"));
        for (name, code) in
            [("P1", "aborted-read"), ("A1", "aborted-read"), ("A2", "non-repeatable-read")]
        {
            assert_eq!(codes(name), [code], "{name}");
        }
        for (name, code) in
            [("A3", "phantom"), ("P3", "phantom"), ("P4", "lost-update"), ("A5B", "write-skew")]
        {
            assert_eq!(codes(name), [code], "{name}");
        }
    }

    #[test]
    fn every_code_means_one_entry() {
        for entry in entries() {
            assert_eq!(codes(entry.code()), [entry.code()]);
        }
    }

    #[test]
    fn a_mistyped_name_gets_suggestions() {
        let unknown = find("fractred-read").unwrap_err();
        assert_eq!(unknown.suggestions.first().map(String::as_str), Some("fractured-read"));
        assert!(find("zzzzzzzzzz").unwrap_err().suggestions.is_empty());
        assert!(
            find("qq").unwrap_err().suggestions.is_empty(),
            "two letters are not like every two others"
        );
        assert_eq!(find("p9").unwrap_err().suggestions, ["p0", "p1", "p2"]);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
