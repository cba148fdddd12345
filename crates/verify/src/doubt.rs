//! Why a certificate is not believed.

use crate::labels::Labels;
use crate::rejection::Rejection;
use seriatim_history::{History, OpId};
use std::fmt;

/// Why a verdict is not confirmed.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// The points or the order do not show that the level holds.
    Rejected(Rejection),
    /// Only cut isolation holds without a proof.
    NoProof,
    /// Without times nothing is known to be in the order of real time.
    NoTimes,
    /// Transactions are missing of which it is not known what they did, so nothing holds for sure.
    UnknownContent(u64),
    /// A transaction reads two values of a key.
    NotRepeated(OpId),
    /// A read cannot come from where it is said to.
    Source(OpId),
    /// A read may come from several writes, and it is not said from which.
    NoSource(OpId),
    /// There is no such operation.
    NoOperation(u32, usize),
    /// Without this operation the others prove nothing.
    LeftOut(OpId),
    /// The operations do not violate the level.
    NoViolation,
    /// It would take too long to see whether they do.
    TooHard,
}

impl std::error::Error for Doubt {}

impl From<Rejection> for Doubt {
    fn from(rejection: Rejection) -> Doubt {
        Doubt::Rejected(rejection)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Rejected(rejection) => rejection.fmt(f),
            _ => f.write_str(&self.tell(Labels(None))),
        }
    }
}

impl Doubt {
    /// The same in the names of the input.
    pub fn told(&self, history: &History) -> String {
        match self {
            Doubt::Rejected(rejection) => rejection.told(history),
            _ => self.tell(Labels(Some(history))),
        }
    }

    fn tell(&self, names: Labels<'_>) -> String {
        match *self {
            Doubt::Rejected(_) => "the points or the order do not show it".to_owned(),
            Doubt::NoProof => "it is not said why the level holds".to_owned(),
            Doubt::NoTimes => "the history has no begin and end times".to_owned(),
            Doubt::UnknownContent(count) => {
                format!("the history lacks transactions of unknown content ({count})")
            }
            Doubt::NotRepeated(read) => {
                format!(
                    "{} returned another value than a read of the same key before it",
                    names.op(read)
                )
            }
            Doubt::Source(read) => format!("{} cannot come from there", names.op(read)),
            Doubt::NoSource(read) => format!("it is not said where {} comes from", names.op(read)),
            Doubt::NoOperation(op, count) => {
                format!("there is no operation {op}; the history has {count}")
            }
            Doubt::LeftOut(op) => {
                format!("{} is left out, but what the others show may depend on it", names.op(op))
            }
            Doubt::NoViolation => {
                "the operations that are named do not violate the level".to_owned()
            }
            Doubt::TooHard => "too hard to confirm".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::{TxnId, notation};

    #[test]
    fn doubts_are_told_in_the_names_of_the_input() {
        let history = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
        let told = |doubt: Doubt| doubt.told(&history);
        let read = "the read of x = 1 in t2 (session b)";
        assert_eq!(
            told(Doubt::NoSource(OpId(1))),
            format!("it is not said where {read} comes from")
        );
        let rejected = Doubt::Rejected(Rejection::SessionOrder(TxnId(1), TxnId(0)));
        assert_eq!(
            told(rejected),
            "t2 (session b) comes after t1 (session a) in its session but not in the order"
        );
        assert!(
            told(Doubt::Rejected(Rejection::NotAPermutation(TxnId(9))))
                .ends_with("(at transaction number 9)")
        );
    }
}
