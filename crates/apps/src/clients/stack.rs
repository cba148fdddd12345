//! A stack: push and pop.

use crate::stack::Op;
use crate::workload::Random;

/// Anything; `unique` is pushed by no other operation.
pub(super) fn anything(random: &mut Random, unique: i64) -> Op {
    if random.coin() { Op::Push(unique) } else { Op::Pop }
}
