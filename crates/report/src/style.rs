//! The few colours of the terminal. Text is always rendered with them; the caller that writes it to
//! something that is not a terminal strips them.

use anstyle::{AnsiColor, Style};
use seriatim_check::Answer;

/// Headings.
pub const BOLD: Style = Style::new().bold();
/// What is secondary: places, times.
pub const DIM: Style = Style::new().dimmed();
/// A level that holds.
pub const GOOD: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// A level that is violated; an error.
pub const BAD: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
/// A level that is undecided; a warning.
pub const OPEN: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

/// The style of a verdict.
pub fn of(outcome: Answer) -> Style {
    match outcome {
        Answer::Holds => GOOD,
        Answer::Violated => BAD,
        Answer::Undecided => OPEN,
    }
}

/// `text` in `style`.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// `text` without colours.
pub fn strip(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    // Each colour is `ESC [ … m`; names from files cannot contain ESC, because the prose makes it
    // visible.
    parts.fold(first, |page, part| page + part.split_once('m').map_or("", |(_, rest)| rest))
}
