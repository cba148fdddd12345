//! How the values of flags are parsed: levels, anomalies, choosers, formats, in many spellings.

use crate::output::below_error;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, ValueEnum};
use seriatim_history::formats::Format;
use seriatim_isolation::{Level, Order};
use seriatim_report::clean;
use seriatim_report::knowledge::{self, Subject};
use seriatim_store::ChooserKind;
use std::ffi::OsStr;

/// What to do with what a reader does not understand.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct Unknown {
    /// Pass over what clients did that the reader does not understand, instead of refusing the
    /// input: such transactions may have done anything, so that no level is said to hold
    #[arg(long = "skip-unknown")]
    pub is_skipped: bool,
}

/// How results are written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text for people
    Human,
    /// One JSON object for each input, one a line
    Json,
}

/// A level, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelArg {
    /// Every level.
    All,
    /// This one.
    One(Level),
}

impl LevelArg {
    /// The levels that `args` name, in the order of reports; all if there are none.
    pub fn levels(args: &[LevelArg]) -> Vec<Level> {
        if args.is_empty() || args.contains(&LevelArg::All) {
            return Level::ALL.to_vec();
        }
        Level::ALL.into_iter().filter(|&level| args.contains(&LevelArg::One(level))).collect()
    }
}

/// Parses one of several names, in any of its usual spellings: `rc`, `read-committed`, `Read
/// Committed`, `READ_COMMITTED`.
#[derive(Clone, Debug)]
pub struct Spelled<T> {
    /// What the names are of.
    what: &'static str,
    /// Each with its names: the one in commands, the one for people, others.
    choices: Vec<(T, Vec<&'static str>)>,
}

impl<T: Clone> Spelled<T> {
    /// Each choice has a name in commands and a name for people, and may have others.
    pub fn new(
        what: &'static str,
        choices: impl IntoIterator<Item = (T, Vec<&'static str>)>,
    ) -> Self {
        Spelled { what, choices: choices.into_iter().collect() }
    }

    fn find(&self, text: &str) -> Option<T> {
        let wanted = plain(text);
        let found =
            self.choices.iter().find(|(_, names)| names.iter().any(|name| plain(name) == wanted));
        found.map(|(value, _)| value.clone())
    }

    fn list(&self) -> String {
        let names: Vec<String> =
            self.choices.iter().map(|(_, names)| names[..2].join(" (") + ")").collect();
        names.join(", ")
    }
}

/// A name without what people spell differently: case, blanks, hyphens and underscores.
pub fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Spelled<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &Command, _: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_string_lossy();
        self.find(&text).ok_or_else(|| {
            let message =
                format!("unknown {} `{}`; known are {}", self.what, clean(&text), self.list());
            clap::Error::raw(ErrorKind::InvalidValue, below_error(&message)).with_cmd(cmd)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            self.choices.iter().map(|(_, names)| PossibleValue::new(names[0]).help(names[1])),
        ))
    }
}

/// Parses a level, or `all`.
pub fn level_parser() -> Spelled<LevelArg> {
    let levels = Level::ALL.into_iter().map(|level| {
        let names = [&[level.code(), level.name()], other_names(level)].concat();
        (LevelArg::One(level), names)
    });
    Spelled::new("isolation level", levels.chain([(LevelArg::All, vec!["all", "every level"])]))
}

/// Parses the order that levels are meant with.
pub fn order_parser() -> Spelled<Order> {
    let choices = [
        (Order::None, vec!["none", "plain levels: sessions do not count"]),
        (Order::Sessions, vec!["sessions", "strong session levels: sessions count", "session"]),
        (
            Order::RealTime,
            vec!["real-time", "strong levels: what ended before a transaction began is seen"],
        ),
    ];
    Spelled::new("order", choices)
}

/// Parses a level that a store can work at.
pub fn store_level_parser() -> Spelled<Level> {
    one_of("level of a store", seriatim_store::LEVELS)
}

/// Parses a level that a history can be generated at.
pub fn generate_level_parser() -> Spelled<Level> {
    one_of("level", seriatim_generate::LEVELS)
}

/// Parses a level that programs can be explored at, or `true`.
pub fn explore_level_parser() -> Spelled<Level> {
    one_of("level of an exploration", seriatim_explore::LEVELS)
}

/// Parses a level that histories can be kept consistent with on the way.
pub fn base_parser() -> Spelled<Level> {
    let bases = seriatim_explore::LEVELS.into_iter().filter(|level| level.is_causally_extensible());
    one_of("base of an exploration", bases)
}

/// Parses a level that histories can be predicted at.
pub fn predict_level_parser() -> Spelled<Level> {
    one_of("level to predict at", seriatim_predict::LEVELS)
}

fn one_of(what: &'static str, levels: impl IntoIterator<Item = Level>) -> Spelled<Level> {
    let names = |level: Level| match level {
        Level::Unconstrained => (level, vec!["true", "any committed version", "none"]),
        _ => (level, [&[level.code(), level.name()], other_names(level)].concat()),
    };
    Spelled::new(what, levels.into_iter().map(names))
}

/// Parses the name of a chooser of a store.
pub fn chooser_parser() -> Spelled<ChooserKind> {
    Spelled::new(
        "chooser",
        ChooserKind::ALL.map(|kind| (kind, vec![kind.code(), kind.description()])),
    )
}

/// Who picks what reads of a server return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picker {
    /// A chooser of a store.
    Chooser(ChooserKind),
    /// A person at a page.
    Person,
}

/// Parses the name of a chooser, or that a person is asked.
pub fn picker_parser() -> Spelled<Picker> {
    let kinds =
        ChooserKind::ALL.map(|kind| (Picker::Chooser(kind), vec![kind.code(), kind.description()]));
    let person = (Picker::Person, vec!["ask", "what a person picks on the page /live"]);
    Spelled::new("chooser", kinds.into_iter().chain([person]))
}

/// Further names of a level: those that `explain` knows.
fn other_names(level: Level) -> &'static [&'static str] {
    let entry = knowledge::entries().find(|entry| entry.subject == Subject::Level(level));
    entry.map_or(&[], |entry| entry.aliases)
}

/// Parses the name of a file format.
pub fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL
        .iter()
        .map(|format| PossibleValue::new(format.code()).help(format.description()));
    PossibleValuesParser::new(names).try_map(|name| {
        let known = Format::ALL.iter().copied().find(|format| format.code() == name);
        known.ok_or_else(|| format!("unknown format {name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_many_spellings() {
        let parser = level_parser();
        for name in [
            "rc",
            "RC",
            "read-committed",
            "read committed",
            "Read_Committed",
            "ReadCommitted",
            " read committed",
        ] {
            assert_eq!(parser.find(name), Some(LevelArg::One(Level::ReadCommitted)), "{name}");
        }
        for level in Level::ALL {
            assert_eq!(parser.find(level.code()), Some(LevelArg::One(level)));
            assert_eq!(parser.find(level.name()), Some(LevelArg::One(level)));
        }
        assert_eq!(parser.find("All"), Some(LevelArg::All));
        assert_eq!(parser.find("chaos"), None);
    }
}
