//! Pages and pictures to look at: one file that needs no network, says everything without a script,
//! and more with it.
//!
//! `diagram.rs` decides where things stand, from a `Violation` alone; `draw.rs` makes SVG of that,
//! for pages and for files by themselves. `overview.rs` has the whole history in a strip, and what
//! is around an anomaly. `frame.rs` is what all pages have.
//!
//! **Invariant:** whatever comes from a file goes through the template, which escapes it; nothing
//! here puts text together to markup.

#[cfg(feature = "json")]
mod audited;
mod check;
mod counted;
pub mod diagram;
pub(crate) mod draw;
mod explored;
pub(crate) mod frame;
#[cfg(feature = "json")]
pub mod live;
mod overview;
#[cfg(feature = "json")]
pub mod play;
pub(crate) mod proof;
pub mod sequence;
pub mod timeline;
mod told;
pub mod tree;

#[cfg(feature = "json")]
pub use audited::{RateBar, audited, rates};
pub use check::{CheckedInput, Unchecked, render};
pub use counted::{Lasting, Mark, Neighbour, Overview, Strip, Window};
pub use explored::explored;
pub use sequence::{Asked, Sequence};
pub use told::{Told, told};

use crate::checked::Checked;
use crate::prose::clean;
use seriatim_check::Violation;

/// The pictures of all anomalies of `inputs`, as one file.
pub fn svg<'c>(inputs: impl IntoIterator<Item = &'c Checked>) -> String {
    let pictures: Vec<_> = inputs
        .into_iter()
        .flat_map(|checked| checked.report.anomalies.iter().map(move |group| (checked, group)))
        .flat_map(|(checked, group)| {
            let title = format!("{}: {}", clean(&checked.input), group.kind.info().name);
            drawn(&title, &group.exemplar)
        })
        .collect();
    draw::file(&pictures)
}

/// The picture of a violation with its title, or one for each choice; none for what is too large.
pub(crate) fn drawn(title: &str, violation: &Violation) -> Vec<(String, Option<diagram::Diagram>)> {
    let one = |title: String, it: &Violation| {
        (title, proof::has_picture(it).then(|| diagram::diagram(it)))
    };
    if violation.alternatives.is_empty() {
        return vec![one(title.to_owned(), violation)];
    }
    let choices = violation.alternatives.iter().take(proof::CHOICES_MAX).enumerate();
    choices
        .map(|(place, choice)| one(format!("{title}, choice {}", place + 1), &choice.violation))
        .collect()
}
