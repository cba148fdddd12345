//! Notes on standard error about what was lost on the way: even a quiet run must not hide that.

use seriatim_history::History;
use seriatim_history::formats::{Format, losses};
use seriatim_report::clean;
use seriatim_report::text::plural;

/// About lines of an input that the format does not know; `None` if there were none.
pub fn skipped_note(input: &str, format: &str, skipped: u64) -> Option<String> {
    let (input, lines) = (clean(input), plural(skipped, "line"));
    (skipped > 0)
        .then(|| format!("note: {input}: skipped {lines} that the {format} format does not know\n"))
}

/// About what a history lacks because its reader did not understand it; `None` if it lacks nothing.
pub fn unknown_note(input: &str, history: &History) -> Option<String> {
    let count = history.unknown_content();
    let (input, txns) = (clean(input), plural(count, "transaction"));
    (count > 0).then(|| {
        format!("note: {input}: passed over {txns} of unknown content: nothing is said to hold\n")
    })
}

/// About what of a history a format does not carry; `None` if it carries everything.
pub fn lost_note(history: &History, format: Format) -> Option<String> {
    let lost: Vec<String> = losses(history, format).iter().map(ToString::to_string).collect();
    (!lost.is_empty()).then(|| {
        format!("note: not everything fits into the {format} format: {}\n", lost.join("; "))
    })
}
