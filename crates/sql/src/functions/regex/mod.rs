//! Functions of regular expressions: `~` and those around it, and SIMILAR TO, which is rewritten
//! to them.

mod functions;
mod replace;
mod sets;
mod similar;

pub(super) use functions::TABLES;
pub(super) use sets::TABLE as SETS;

use crate::error::{Result, SqlError, code};
use crate::regex::{Match, Matches, Options, Regex, Text};

/// The flags of a function's last argument.
#[derive(Clone, Copy, Debug)]
struct Flags {
    options: Options,
    /// All matches and not only the first one.
    global: bool,
}

fn flags(text: &str) -> Result<Flags> {
    let mut flags = Flags { options: Options::PLAIN, global: false };
    for flag in text.chars() {
        match flag {
            'g' => flags.global = true,
            'b' => return Err(SqlError::unsupported("a basic regular expression")),
            flag if flags.options.set(flag) => {}
            flag => {
                let message = format!("invalid regular expression option: \"{flag}\"");
                return Err(invalid_parameter(message));
            }
        }
    }
    Ok(flags)
}

fn invalid_parameter(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// Flags of a function that looks at one match, or at all, by itself.
fn flags_without_global(text: &str, function: &str) -> Result<Options> {
    let flags = flags(text)?;
    if flags.global {
        let message = format!("{function}() does not support the \"global\" option");
        return Err(invalid_parameter(message));
    }
    Ok(flags.options)
}

/// All matches, or those that can separate fields: not empty ones at the end of the text or
/// directly behind another match.
fn all_matches(regex: &Regex, text: &Text<'_>, separators: bool) -> Result<Vec<Match>> {
    let mut matches = Matches { regex, text, from: 0 };
    let mut found = Vec::new();
    let mut last_end = 0;
    while let Some(next) = matches.next()? {
        let (start, end) = next.whole();
        if !separators || (start < text.length() && end > last_end) {
            found.push(next);
        }
        last_end = end;
    }
    Ok(found)
}
