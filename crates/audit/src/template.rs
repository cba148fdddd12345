//! Transactions of the user's own, as a file of SQL with a word behind each statement that says
//! what it does:
//!
//! ```sql
//! -- transaction withdraw weight 3
//! SELECT value FROM {register} WHERE id = {a};         -- reads a
//! UPDATE {register} SET value = {new} WHERE id = {a};  -- writes a
//! ```
//!
//! `{register}` and `{list}` are the tables of the audit, `{a}`, `{b}` and other letters are
//! registers (or lists) that chance picks, all different, and `{new}` is a value that nothing else
//! writes. A statement that reads returns one value.

use crate::driver::Answer;
use crate::workload::REGISTERS;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How much more often than another a transaction may come.
const WEIGHT_MAX: u32 = 1000;

/// What a statement does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing that is recorded.
    Nothing,
    /// Reads the register of a letter.
    Reads(char),
    /// Writes the register of a letter.
    Writes(char),
    /// Reads the list of a letter.
    ReadsList(char),
    /// Appends to the list of a letter.
    Appends(char),
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    text: String,
    pub effect: Effect,
}

/// A kind of transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Kind {
    weight: u32,
    lines: Vec<Line>,
}

/// The transactions of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    kinds: Vec<Kind>,
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct NoTemplate {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl Template {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Template, NoTemplate> {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut open = String::new();
        for (number, line) in text.lines().enumerate() {
            let wrong =
                |problem: &str| NoTemplate { line: number + 1, problem: problem.to_owned() };
            let (code, comment) = match line.split_once("--") {
                Some((code, comment)) => (code.trim(), comment.trim()),
                None => (line.trim(), ""),
            };
            if code.is_empty() && open.is_empty() {
                if let Some(words) = comment.strip_prefix("transaction") {
                    let weight =
                        weight(words).ok_or_else(|| wrong("write `weight 3`, at most 1000"))?;
                    kinds.push(Kind { weight, lines: Vec::new() });
                }
                continue;
            }
            if !open.is_empty() && !code.is_empty() {
                open.push(' ');
            }
            open.push_str(code);
            if let Some(whole) = open.strip_suffix(';') {
                let Some(kind) = kinds.last_mut() else {
                    return Err(wrong("a statement needs `-- transaction` before it"));
                };
                let effect = effect(comment).ok_or_else(|| {
                    wrong("write `-- reads a`, `-- writes a`, `-- reads list a` or `-- appends a`")
                })?;
                let line = Line { text: whole.trim().to_owned(), effect };
                line.check().map_err(|problem| wrong(&problem))?;
                kind.lines.push(line);
                open.clear();
            }
        }
        let line = text.lines().count();
        if !open.is_empty() {
            let problem = "the last statement has no semicolon at the end of its line".to_owned();
            return Err(NoTemplate { line, problem });
        }
        kinds.retain(|kind| !kind.lines.is_empty());
        if kinds.is_empty() {
            let problem = "there is no `-- transaction` with statements".to_owned();
            return Err(NoTemplate { line, problem });
        }
        Ok(Template { kinds })
    }

    /// Whether any of them is about lists.
    pub(crate) fn uses_lists(&self) -> bool {
        let mut lines = self.kinds.iter().flat_map(|kind| &kind.lines);
        lines.any(|line| matches!(line.effect, Effect::ReadsList(_) | Effect::Appends(_)))
    }

    /// The statements of a transaction as they may be sent, decided by a seed.
    pub fn example(&self, seed: u64) -> Vec<String> {
        let mut dice = Pcg64Mcg::seed_from_u64(seed);
        let (lines, letters) = self.next(0, REGISTERS, &mut dice);
        lines.iter().map(|line| line.filled("seriatim", letters, 1)).collect()
    }

    /// The next transaction, with its letters.
    pub(crate) fn next(&self, first: u64, keys: u64, dice: &mut Pcg64Mcg) -> (&[Line], Letters) {
        let all: u64 = self.kinds.iter().map(|kind| u64::from(kind.weight)).sum();
        let mut place = dice.random_range(0..all.max(1));
        let mut chosen = &self.kinds[0];
        for kind in &self.kinds {
            chosen = kind;
            match place.checked_sub(u64::from(kind.weight)) {
                Some(left) => place = left,
                None => break,
            }
        }
        let letters = Letters { first, turn: dice.random_range(0..keys), keys };
        (&chosen.lines, letters)
    }
}

fn weight(words: &str) -> Option<u32> {
    match words.split_once("weight") {
        Some((_, number)) => number.trim().parse().ok().filter(|it| (1..=WEIGHT_MAX).contains(it)),
        None => Some(1),
    }
}

fn effect(comment: &str) -> Option<Effect> {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let letter = |text: &str| {
        let mut letters = text.chars();
        letters.next().filter(|c| c.is_ascii_lowercase() && letters.next().is_none())
    };
    match words[..] {
        [] => Some(Effect::Nothing),
        ["reads", name] => letter(name).map(Effect::Reads),
        ["writes", name] => letter(name).map(Effect::Writes),
        ["reads", "list", name] => letter(name).map(Effect::ReadsList),
        ["appends", name] => letter(name).map(Effect::Appends),
        _ => None,
    }
}

/// Which registers the letters of a transaction stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters {
    first: u64,
    turn: u64,
    keys: u64,
}

impl Letters {
    /// The register of a letter: neighbours, so that the letters of a transaction differ.
    pub fn register(self, letter: char) -> u64 {
        let place = u64::from(u32::from(letter).saturating_sub(u32::from('a')));
        self.first + (self.turn + place) % self.keys.clamp(1, REGISTERS)
    }
}

/// Statements that say how many rows they have changed.
const CHANGES: [&str; 5] = ["insert", "update", "delete", "merge", "replace"];

impl Line {
    /// Whether it would have changed a row, and none was as it asked for. Of functions and
    /// procedures nobody knows.
    pub fn has_changed_nothing(&self, answer: &Answer) -> bool {
        let word = self.text.split_whitespace().next().unwrap_or_default();
        let is_change = CHANGES.iter().any(|change| word.eq_ignore_ascii_case(change));
        is_change && answer.changed == 0 && answer.rows.as_ref().is_none_or(Vec::is_empty)
    }

    /// The statement, with its values.
    pub fn filled(&self, prefix: &str, letters: Letters, new: i64) -> String {
        let mut text = self.text.replace("{register}", &format!("{prefix}_register"));
        text = text.replace("{list}", &format!("{prefix}_list"));
        text = text.replace("{new}", &new.to_string());
        for letter in 'a'..='z' {
            text = text.replace(&format!("{{{letter}}}"), &letters.register(letter).to_string());
        }
        text
    }

    /// Words in braces that stand for nothing.
    fn check(&self) -> Result<(), String> {
        for part in self.text.split('{').skip(1) {
            let word = part.split('}').next().unwrap_or_default();
            let is_letter = word.len() == 1 && word.bytes().all(|c| c.is_ascii_lowercase());
            if !is_letter && !["register", "list", "new"].contains(&word) {
                return Err(format!(
                    "`{{{word}}}` stands for nothing; there are {{register}}, {{list}}, {{new}} \
                     and letters like {{a}}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "-- transaction withdraw weight 3\n\
                         SELECT value FROM {register}\n  WHERE id = {a}; -- reads a\n\
                         UPDATE {register} SET value = {new} WHERE id = {b}; -- writes b\n";

    #[test]
    fn a_template_is_read_and_filled() {
        let template = Template::parse(SHORT).unwrap();
        let mut dice = Pcg64Mcg::seed_from_u64(7);
        let (lines, letters) = template.next(40, 5, &mut dice);
        assert_eq!(lines.len(), 2);
        let (a, b) = (letters.register('a'), letters.register('b'));
        assert_ne!(a, b);
        assert_eq!(
            lines[0].filled("x", letters, 9),
            format!("SELECT value FROM x_register WHERE id = {a}")
        );
        assert_eq!(lines[0].effect, Effect::Reads('a'));
        let expected = format!("UPDATE x_register SET value = 9 WHERE id = {b}");
        assert_eq!(lines[1].filled("x", letters, 9), expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let problem = |text: &str| Template::parse(text).unwrap_err().to_string();
        assert!(problem("SELECT 1;").starts_with("line 1: a statement needs"));
        assert!(problem("-- transaction\nSELECT 1; -- looks at a").starts_with("line 2: write"));
        assert!(problem("-- transaction\nSELECT {x1};").contains("`{x1}` stands for nothing"));
        assert!(problem("-- transaction\nSELECT 1").contains("no semicolon"));
        assert!(problem("-- transaction weight none\n").contains("weight 3"));
        // So many that all of them together would be no number any more.
        assert!(problem("-- transaction weight 4294967295\n").contains("at most 1000"));
        assert!(problem("").contains("no `-- transaction`"));
    }

    #[test]
    fn a_change_of_no_row_is_told_from_what_does_not_say() {
        let nothing = |text: &str, changed, rows| {
            let line = Line { text: text.to_owned(), effect: Effect::Writes('a') };
            line.has_changed_nothing(&Answer { rows, changed })
        };
        assert!(nothing("UPDATE x SET a = 1", 0, None));
        assert!(nothing("update x set a = 1 returning a", 0, Some(vec![])));
        assert!(!nothing("UPDATE x SET a = 1 RETURNING a", 0, Some(vec![vec![None]])));
        assert!(!nothing("UPDATE x SET a = 1", 1, None));
        assert!(!nothing("CALL change(1)", 0, None));
    }

    /// What templates are made of, and what is almost that.
    const PIECES: [&str; 14] = [
        "-- transaction",
        " withdraw",
        " weight ",
        "3",
        "99999999999",
        "\n",
        "SELECT",
        " {a}",
        "{register}",
        "{new}",
        "{",
        ";",
        " -- reads a",
        " -- appends b",
    ];

    proptest::proptest! {
        #[test]
        fn any_text_is_refused_or_can_be_sent(
            pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40),
            seed in 0_u64..9,
        ) {
            if let Ok(template) = Template::parse(&pieces.concat()) {
                let statements = template.example(seed);
                proptest::prop_assert!(!statements.is_empty());
                let is_filled = |text: &String| !text.contains('{');
                proptest::prop_assert!(statements.iter().all(is_filled), "{:?}", statements);
            }
        }
    }
}
