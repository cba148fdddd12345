//! Cut isolation, which is seen transaction by transaction.

use crate::doubt::Doubt;
use crate::reads::{external_reads, last_element, same};
use crate::writers::Writers;
use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, Value};

/// Does cut isolation hold? It needs no proof: no transaction that counts may read two values of a
/// key, its own writes aside.
pub fn verify_cut_isolation(history: &History) -> Result<(), Doubt> {
    let writers = Writers::of(history);
    let counts = writers.counting();
    for txn in history.txns().filter(|txn| counts[txn.index()]) {
        let mut first: FxHashMap<KeyId, Value> = FxHashMap::default();
        for read in external_reads(history, txn) {
            let op = history.op(read);
            let initial = writers.may_be_initial(op.key, last_element(history, op.value));
            let value = if initial { Value::NULL } else { op.value };
            let before = *first.entry(op.key).or_insert(value);
            if !same(history, before, value) {
                return Err(Doubt::NotRepeated(read));
            }
        }
        if let Some((_, again)) = history.unrepeated_list(txn) {
            return Err(Doubt::NotRepeated(again));
        }
    }
    Ok(())
}
