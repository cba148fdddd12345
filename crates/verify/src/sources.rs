//! Values that several transactions wrote: a certificate says from which write each read comes.

use crate::certificate::ReadSource;
use crate::doubt::Doubt;
use crate::reads::{elements, external_reads};
use crate::writers::Writers;
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value};

/// The history in which each read comes from where `sources` says, if that may be: every write that
/// they tell apart has a value of its own, so that nothing is ambiguous.
pub(crate) fn matched(history: &History, sources: &[ReadSource]) -> Result<History, Doubt> {
    check_sources(history, sources)?;
    let values = values(history, sources);
    let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
    let last_writes = live.flat_map(|txn| last_writes(history, txn));
    let told_apart = |write: &OpId| {
        let op = history.op(*write);
        values.contains(&(op.key, op.value))
    };
    let writes: Vec<OpId> = last_writes.filter(told_apart).collect();
    Ok(history.rematched(&writes, sources))
}

/// The last write of a transaction to each key: what others can read.
fn last_writes(history: &History, txn: TxnId) -> Vec<OpId> {
    let mut later: FxHashSet<KeyId> = FxHashSet::default();
    let writes = history.ops_of(txn).rev().map(OpId).filter(|&op| history.op(op).kind.is_write());
    writes.filter(|&write| later.insert(history.op(write).key)).collect()
}

/// The values that the reads of `sources` returned.
fn values(history: &History, sources: &[ReadSource]) -> FxHashSet<(KeyId, Value)> {
    let read = |source: &ReadSource| history.op(source.0);
    sources.iter().map(read).map(|op| (op.key, op.value)).collect()
}

/// Each of `sources` may be true, and no other read could come from one of the writes that they
/// distinguish.
fn check_sources(history: &History, sources: &[ReadSource]) -> Result<(), Doubt> {
    let named = sources.iter().flat_map(|&(read, write)| [Some(read), write]).flatten();
    if let Some(strange) = named.into_iter().find(|op| op.index() >= history.op_count()) {
        return Err(Doubt::NoOperation(strange.0, history.op_count()));
    }
    let writers = Writers::of(history);
    for &(read, write) in sources {
        let op = history.op(read);
        let fits = |write: OpId| {
            let other = history.op(write);
            let same = (other.key, other.value) == (op.key, op.value);
            other.kind.is_write()
                && same
                && history.status(history.txn_of(write)) != Status::Aborted
        };
        let possible = write.map_or_else(|| writers.may_be_initial(op.key, op.value), fits);
        if op.kind != OpKind::Read || elements(history, op.value).is_some() || !possible {
            return Err(Doubt::Source(read));
        }
    }
    let values = values(history, sources);
    let said: FxHashSet<OpId> = sources.iter().map(|source| source.0).collect();
    let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
    let open = |read: &OpId| {
        let op = history.op(*read);
        values.contains(&(op.key, op.value)) && !said.contains(read)
    };
    let open = live.flat_map(|txn| external_reads(history, txn)).find(open);
    open.map_or(Ok(()), |read| Err(Doubt::NoSource(read)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Proof;
    use crate::proof::verify_proof;
    use seriatim_history::notation;
    use seriatim_isolation::Level;

    #[test]
    fn sources_are_not_believed() {
        let history = notation::parse("a: w(x,1)\nb: w(x,1)\nc: r(x,1) | r(x,1)").unwrap();
        let txns: Vec<TxnId> = history.txns().collect();
        let said = |sources: &[(u32, Option<u32>)]| {
            let sources =
                sources.iter().map(|&(read, write)| (OpId(read), write.map(OpId))).collect();
            let proof = Proof::Order { order: txns.clone(), sources: Some(sources) };
            verify_proof(&history, Level::Causal, &proof)
        };
        assert_eq!(said(&[(2, Some(0)), (3, Some(1))]), Ok(()));
        assert_eq!(said(&[(2, Some(0))]), Err(Doubt::NoSource(OpId(3))));
        assert_eq!(said(&[(2, Some(0)), (3, None)]), Err(Doubt::Source(OpId(3))));
        assert_eq!(said(&[(2, Some(0)), (3, Some(2))]), Err(Doubt::Source(OpId(3))));
        assert_eq!(said(&[(2, Some(8))]), Err(Doubt::NoOperation(8, 4)));
    }
}
