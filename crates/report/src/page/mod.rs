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
pub mod diagram;
pub(crate) mod draw;
mod explored;
pub(crate) mod frame;
#[cfg(feature = "json")]
pub mod live;
mod overview;
#[cfg(feature = "json")]
pub mod play;
mod told;

#[cfg(feature = "json")]
pub use audited::audited;
pub(crate) use check::violation;
pub use check::{CheckedInput, render};
pub use explored::explored;
pub use overview::{Neighbour, Overview, Strip, Window};
pub use told::{Asked, Sequence, Told, told};

use crate::checked::Checked;
use crate::prose::clean;

/// The pictures of all anomalies of `inputs`, as one file.
pub fn svg<'c>(inputs: impl IntoIterator<Item = &'c Checked>) -> String {
    let pictures: Vec<_> = inputs
        .into_iter()
        .flat_map(|checked| checked.report.anomalies.iter().map(move |group| (checked, group)))
        .map(|(checked, group)| {
            let title = format!("{}: {}", clean(&checked.input), group.kind.info().name);
            let has_room = group.exemplar.txn_count() <= check::BOXES_MAX;
            (title, has_room.then(|| diagram::diagram(&group.exemplar)))
        })
        .collect();
    draw::file(&pictures)
}
