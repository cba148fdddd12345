//! Is the certificate of a verdict true?
//!
//! [`verify`] believes nothing that a [`Certificate`] says, and this crate has nothing that a
//! search for verdicts uses: it knows histories and the definition of the levels, and the compiler
//! keeps everything else away.
//!
//! - A level that holds is shown by a commit order ([`verify_order`]) or by begin and commit points
//!   ([`verify_points`]). Both are walks along what is shown. Cut isolation needs no proof
//!   ([`verify_cut_isolation`]).
//! - Everything is judged with the order of the certificate. Without sessions that is the history
//!   in which each transaction is a session of its own.
//! - A level that is violated is shown by operations that violate it when everything else is
//!   removed ([`verify_violation`]). At the strong levels a plain search with a limit decides, and
//!   the definition itself where the search does not and the set is small. At the other levels the
//!   definition decides small sets and plain saturation larger ones (cut isolation is seen
//!   directly). A set that is too hard for these is not confirmed ([`Doubt::TooHard`]).
//!
//! ```
//! use seriatim_history::{notation, TxnId};
//! use seriatim_isolation::Level;
//! use seriatim_verify::{verify, Certificate, Doubt, Proof};
//!
//! let history = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
//! let order = |order: [u32; 2]| Proof::order(order.map(TxnId).to_vec());
//! assert_eq!(verify(&history, &Certificate::holds(Level::Causal, order([0, 1]))), Ok(()));
//! let rejected = verify(&history, &Certificate::holds(Level::Causal, order([1, 0])));
//! assert!(matches!(rejected, Err(Doubt::Rejected(_))));
//! ```

mod alone;
mod certificate;
mod completion;
mod cut;
mod doubt;
mod exhaustive;
mod labels;
mod order;
mod pasts;
mod points;
mod proof;
#[cfg(test)]
mod random;
mod reads;
mod rejection;
mod saturate;
mod sources;
mod violation;
mod writers;

pub use certificate::{Certificate, Claim, Point, Proof, ReadSource, commit_order};
pub use completion::completed;
pub use cut::verify_cut_isolation;
pub use doubt::Doubt;
pub use order::verify_order;
pub use points::verify_points;
pub use proof::verify_proof;
pub use rejection::Rejection;
pub use violation::verify_violation;
pub use writers::known_to_have_committed;

use seriatim_history::History;

/// Accepts `certificate` iff it shows what it claims about `history`.
pub fn verify(history: &History, certificate: &Certificate) -> Result<(), Doubt> {
    match &certificate.claim {
        Claim::Holds(proof) => verify_proof(history, certificate.guarantee(), proof),
        Claim::Violated(ops) => verify_violation(history, certificate.guarantee(), ops),
    }
}
