//! The one definition of commands and flags, from which the parser, the help, the man pages and the completions come.

use crate::commands::{check, completions, convert, demo, explain, generate, man, schema, stats};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Parser, Subcommand, ValueEnum};
use seriatim_check::Level;
use seriatim_history::formats::Format;
use seriatim_report::clean;
use seriatim_report::knowledge::{self, Subject};
use std::ffi::OsStr;

const AFTER_HELP: &str = "\
Exit codes: 0 every level asked for holds, 1 one is violated, 2 undecided, 3 bad input or usage, 4 internal error, \
130 interrupted, 141 output closed by its reader, 143 terminated. Over several inputs 3 wins over 1, 1 over 2, 2 over 0.

Try `seriatim demo` first.";

/// Checks recorded histories of databases against isolation levels and explains every anomaly.
#[derive(Parser, Debug)]
#[command(name = "seriatim", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Task,
}

/// The subcommands, one file each.
#[derive(Subcommand, Debug)]
pub enum Task {
    /// Check histories against isolation levels
    Check(check::Args),
    /// Explain an anomaly or a level
    Explain(explain::Args),
    /// Convert a history to another format
    Convert(convert::Args),
    /// Make a history, valid at a level or with anomalies planted
    Generate(generate::Args),
    /// Count what is in histories
    Stats(stats::Args),
    /// Show the tool on examples
    Demo(demo::Args),
    /// Print the JSON Schema of an output or of our JSON Lines
    Schema(schema::Args),
    /// Print the man page, or write all man pages into a directory
    Man(man::Args),
    /// Print completions for a shell
    Completions(completions::Args),
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

/// Parses the name of a level in any of its usual spellings: `rc`, `read-committed`, `Read Committed`, `READ_COMMITTED`.
#[derive(Clone, Debug)]
pub struct LevelParser;

impl TypedValueParser for LevelParser {
    type Value = LevelArg;

    fn parse_ref(&self, cmd: &Command, _: Option<&Arg>, value: &OsStr) -> Result<LevelArg, clap::Error> {
        let text = value.to_string_lossy();
        find_level(&text).ok_or_else(|| {
            let message = format!("unknown isolation level `{}`; the levels are {}", clean(&text), level_list());
            clap::Error::raw(ErrorKind::InvalidValue, message + "\n").with_cmd(cmd)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let levels = Level::ALL.into_iter().map(|level| PossibleValue::new(level.code()).help(level.name()));
        Some(Box::new(levels.chain([PossibleValue::new("all").help("every level")])))
    }
}

fn find_level(text: &str) -> Option<LevelArg> {
    let wanted = plain(text);
    if wanted == "all" {
        return Some(LevelArg::All);
    }
    let is_meant = |level: &Level| {
        [level.code(), level.name()].iter().chain(other_names(*level)).any(|name| plain(name) == wanted)
    };
    Level::ALL.into_iter().find(is_meant).or_else(|| text.trim().parse().ok()).map(LevelArg::One)
}

/// A name without what people spell differently: case, blanks, hyphens and underscores.
pub fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}

fn level_list() -> String {
    let levels: Vec<String> = Level::ALL.iter().map(|level| format!("{} ({level})", level.code())).collect();
    format!("{}, and all", levels.join(", "))
}

/// Further names of a level: those that `explain` knows.
fn other_names(level: Level) -> &'static [&'static str] {
    let entry = knowledge::entries().find(|entry| entry.subject == Subject::Level(level));
    entry.map_or(&[], |entry| entry.aliases)
}

/// Parses the name of a file format.
pub fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.iter().map(|format| PossibleValue::new(format.code()).help(format.description()));
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
        for name in
            ["rc", "RC", "read-committed", "read committed", "Read_Committed", "ReadCommitted", " read committed"]
        {
            assert_eq!(find_level(name), Some(LevelArg::One(Level::ReadCommitted)), "{name}");
        }
        for level in Level::ALL {
            assert_eq!(find_level(level.code()), Some(LevelArg::One(level)));
            assert_eq!(find_level(level.name()), Some(LevelArg::One(level)));
        }
        assert_eq!(find_level("All"), Some(LevelArg::All));
        assert_eq!(find_level("chaos"), None);
    }
}
