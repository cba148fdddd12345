//! Notes on standard error about what was lost on the way: even a quiet run must not hide that.

use seriatim_report::clean;
use seriatim_report::text::plural;

/// About lines of an input that the format does not know; `None` if there were none.
pub fn skipped_note(input: &str, format: &str, skipped: u64) -> Option<String> {
    let (input, lines) = (clean(input), plural(skipped, "line"));
    (skipped > 0).then(|| format!("note: {input}: skipped {lines} that the {format} format does not know\n"))
}
