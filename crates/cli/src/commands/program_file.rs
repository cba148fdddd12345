//! Reading the file of a program, and showing where a mistake in it is.

use crate::exit::Failure;
use seriatim_apps::clients;
use seriatim_apps::{APPS, BENCHMARK_APPS};
use seriatim_explore::lang::LangError;
use seriatim_report::knowledge::alike;
use std::fs::File;
use std::io::Read;

/// A program that people write is much smaller; a device has no end.
const PROGRAM_BYTES_MAX: u64 = 64 << 20;
/// How much of a line with a mistake is shown.
const EXCERPT_CHARS: usize = 100;

/// The text of a program.
pub fn read(path: &str) -> Result<String, Failure> {
    let bytes = read_bytes(path).map_err(|error| {
        let apps: Vec<String> =
            APPS.into_iter().chain(BENCHMARK_APPS).map(|app| app.name().to_owned()).collect();
        let random: Vec<String> = clients::names().map(|name| format!("{name}:1")).collect();
        let is_name = !path.contains(['/', '.']) && error.kind() == std::io::ErrorKind::NotFound;
        let near = alike(path, apps.iter().chain(&random).filter(|_| is_name).cloned());
        if !near.is_empty() {
            return Failure::about(
                path,
                format!("no such file or application; did you mean {}?", near.join(", ")),
            );
        }
        let expected = format!(
            "expected a program file, one of the applications {}, or random clients",
            apps.join(", ")
        );
        Failure::Message(format!("{path}: {error}; {expected} like {}", random.join(", ")))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let (line, last) =
            (valid.matches('\n').count() + 1, valid.rsplit('\n').next().unwrap_or_default());
        let column = last.chars().count() + 1;
        Failure::Message(format!(
            "{path}:{line}:{column}: this is no text in UTF-8; save the program as UTF-8"
        ))
    })?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

fn read_bytes(path: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = match path {
        "-" => Box::new(std::io::stdin()),
        _ => Box::new(File::open(path)?),
    };
    source.take(PROGRAM_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PROGRAM_BYTES_MAX {
        return Err(std::io::Error::other("larger than any program, 64 MB"));
    }
    Ok(bytes)
}

/// The error with its line, and a mark below the column; of a long line what is around the column.
pub fn located(path: &str, text: &str, error: &LangError) -> Failure {
    let LangError { spot, problem, hint } = error;
    let first = (spot.column - 1).saturating_sub(EXCERPT_CHARS / 2);
    let line =
        text.lines().nth(spot.line - 1).unwrap_or_default().chars().skip(first).take(EXCERPT_CHARS);
    let line: String = line.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let lead = if first > 0 { "… " } else { "" };
    let mark = " ".repeat(lead.chars().count() + spot.column - 1 - first);
    Failure::Message(format!(
        "{path}:{}:{}: {problem}; {hint}\n  {lead}{line}\n  {mark}^",
        spot.line, spot.column
    ))
}
