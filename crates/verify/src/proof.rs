//! Does a proof show that a level holds?

use crate::certificate::Proof;
use crate::cut::verify_cut_isolation;
use crate::doubt::Doubt;
use crate::order::verify_order;
use crate::points::verify_points;
use crate::sources;
use seriatim_history::History;
use seriatim_isolation::{Guarantee, Level};

/// Accepts `proof` iff it shows that a level, with sessions unless an order is named, holds.
pub fn verify_proof(
    history: &History,
    asked: impl Into<Guarantee>,
    proof: &Proof,
) -> Result<(), Doubt> {
    let asked = asked.into();
    if history.unknown_content() > 0 {
        return Err(Doubt::UnknownContent(history.unknown_content()));
    }
    // Cut isolation does not depend on the order, and is seen without one.
    if asked.level == Level::CutIsolation && !matches!(proof, Proof::Points(_)) {
        return verify_cut_isolation(history);
    }
    // Without times nothing is known to be in the order of real time.
    if asked.keeps_real_time() && !history.has_times() {
        return Err(Doubt::NoTimes);
    }
    match proof {
        Proof::Points(points) => Ok(verify_points(history, asked, points)?),
        Proof::Order { order, sources: None } => Ok(verify_order(history, asked, order)?),
        Proof::Order { order, sources: Some(sources) } => {
            let matched = sources::matched(history, sources)?;
            Ok(verify_order(&matched, asked, order)?)
        }
        Proof::CutIsolation => Err(Doubt::NoProof),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Point;
    use seriatim_history::{TxnId, notation};

    #[test]
    fn without_times_nothing_is_strictly_serializable() {
        let history = notation::parse("a: w(x,1)").unwrap();
        let points = Proof::Points(vec![Point::Begin(TxnId(0)), Point::Commit(TxnId(0))]);
        assert_eq!(verify_proof(&history, Level::Serializable, &points), Ok(()));
        let strict = verify_proof(&history, Level::StrictSerializable, &points);
        assert_eq!(strict, Err(Doubt::NoTimes));
    }

    #[test]
    fn only_cut_isolation_needs_no_proof() {
        let history = notation::parse("a: w(x,1)").unwrap();
        assert_eq!(verify_proof(&history, Level::CutIsolation, &Proof::CutIsolation), Ok(()));
        let causal = verify_proof(&history, Level::Causal, &Proof::CutIsolation);
        assert_eq!(causal, Err(Doubt::NoProof));
    }
}
