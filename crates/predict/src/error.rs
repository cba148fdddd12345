//! Why nothing can be predicted.

use crate::confirm;
use seriatim_isolation::Level;

/// Why nothing can be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// Only levels below serializability have something to predict.
    #[error("nothing can be predicted at {0}; use rc, ra, cc, pc or si")]
    UnsupportedLevel(Level),
    /// It is not clear who read from whom.
    #[error(
        "{place}: {key}={value} was written more than once, so it is not clear who was read from; \
         record a run in which each \
         value is written once to a key, or use a format in which reads name their writers"
    )]
    Ambiguous {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// Where the read stands.
        place: String,
    },
    /// A prediction did not pass the independent checker: a mistake of ours.
    #[error("a prediction was found that does not hold: {0}")]
    Unconfirmed(confirm::Doubt),
}
