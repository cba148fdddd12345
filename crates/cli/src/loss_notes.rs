//! Notes on standard error about what was lost on the way: even a quiet run must not hide that.

use seriatim_history::History;
use seriatim_history::formats::{Format, losses};
use seriatim_report::text::plural;
use seriatim_report::{clean, left_out};

/// About what of an input is no part of its history: lines that the format does not know, or what
/// Jepsen's nemesis did; `None` if there was nothing.
pub fn skipped_note(input: &str, format: &str, skipped: u64) -> Option<String> {
    let input = clean(input);
    let note = match format {
        "elle" | "elle-json" => format!(
            "passed over {} of the nemesis, which breaks things for the test and is no client",
            plural(skipped, "event"),
        ),
        _ => {
            let lines = plural(skipped, "line");
            format!("skipped {lines} that the {format} format does not know")
        }
    };
    (skipped > 0).then(|| format!("note: {input}: {note}\n"))
}

/// About what a history lacks because its reader did not understand it; `None` if it lacks nothing.
pub fn unknown_note(input: &str, history: &History) -> Option<String> {
    let count = history.unknown_content();
    let (input, txns) = (clean(input), plural(count, "transaction"));
    let about = format!("passed over {txns} of unknown content: nothing is said to hold");
    let notes = [about].into_iter().chain(left_out(history.repairs()));
    (count > 0).then(|| notes.map(|note| format!("note: {input}: {note}\n")).collect())
}

/// About what of a history a format does not carry; `None` if it carries everything.
pub fn lost_note(history: &History, format: Format) -> Option<String> {
    let lost: Vec<String> = losses(history, format).iter().map(ToString::to_string).collect();
    (!lost.is_empty()).then(|| {
        format!("note: not everything fits into the {format} format: {}\n", lost.join("; "))
    })
}
