//! The one definition of commands and flags, from which the parser, the help, the man pages and the completions come.

use crate::commands::{check, completions, convert, demo, explain, generate, man, schema, stats};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use seriatim_check::Level;
use seriatim_history::formats::Format;
use seriatim_report::knowledge::{self, Subject};

const AFTER_HELP: &str = "\
Exit codes: 0 every level asked for holds, 1 one is violated, 2 undecided, 3 bad input or usage, 4 internal error, \
130 interrupted, 141 output closed by its reader. Over several inputs 3 wins over 1, 1 over 2, 2 over 0.

Try `seriatim demo` first.";

/// Checks recorded histories of databases against isolation levels and explains every anomaly.
#[derive(Parser, Debug)]
#[command(name = "seriatim", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands, one file each.
#[derive(Subcommand, Debug)]
pub enum Command {
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

impl ValueEnum for LevelArg {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [LevelArg; Level::ALL.len() + 1] = {
            let mut variants = [LevelArg::All; Level::ALL.len() + 1];
            let mut i = 0;
            while i < Level::ALL.len() {
                variants[i] = LevelArg::One(Level::ALL[i]);
                i += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            LevelArg::All => PossibleValue::new("all").help("every level"),
            LevelArg::One(level) => PossibleValue::new(level.code()).aliases(other_names(*level)).help(level.name()),
        })
    }
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
