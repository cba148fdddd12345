//! `seriatim explain`: what an anomaly or a level is, and the language of programs.

use crate::exit::{Exit, Failure};
use crate::{language, output};
use seriatim_report::knowledge::{self, Unknown};
use seriatim_report::wrap;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// An anomaly or a level: a code (fractured-read), a letter (k, tap-k), a name of Adya or Elle
    /// (G1a), a level (rc); without it, all are listed. `language` is that of programs for
    /// `seriatim explore`
    name: Option<String>,
}

/// Prints the entries of the name, or the list of all.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let width = output::width();
    let Some(name) = &args.name else {
        let language = "`seriatim explain language`: how to write programs for `seriatim explore`.";
        output::text(&format!("{}\n{}", knowledge::index(width), wrap(language, "", width)))?;
        return Ok(Exit::Holds);
    };
    if language::NAMES.contains(&name.trim().to_ascii_lowercase().as_str()) {
        output::text(&language::page(width))?;
        return Ok(Exit::Holds);
    }
    let entries = knowledge::find(name).map_err(|unknown| Failure::Message(not_found(&unknown)))?;
    let pages: Vec<String> = entries.iter().map(|entry| knowledge::render(entry, width)).collect();
    output::text(&pages.join("\n"))?;
    Ok(Exit::Holds)
}

fn not_found(unknown: &Unknown) -> String {
    let name = &unknown.name;
    if unknown.suggestions.is_empty() {
        return format!("no anomaly or level is called `{name}`; `seriatim explain` lists all");
    }
    format!(
        "no anomaly or level is called `{name}`; did you mean {}?",
        unknown.suggestions.join(", ")
    )
}
