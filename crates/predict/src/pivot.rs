//! Where snapshot isolation can go wrong at all.
//!
//! Every cycle of a history that snapshot isolation allows has two anti-dependencies in a row, each
//! between concurrent transactions (Fekete et al., TODS 2005, theorem 2.1). Transactions that write
//! the same are not concurrent, nor are those of a session. So if no transaction both misses a
//! write and has a read that misses one of its writes, with such others, all histories are
//! serializable, whatever is read: no search is needed, however long the run is. O(a · n) for a
//! accesses of n transactions.
//!
//! Under the strict boundary a transaction may be cut before some of its writes, so that only those
//! count that are there whenever the read and the write in question are.

use crate::problem::Problem;
use crate::question::Boundary;
use rustc_hash::FxHashMap;

/// Whether some transaction may be the one between two such anti-dependencies.
pub(crate) fn exists(problem: &Problem) -> bool {
    let (mut misses, mut is_missed) =
        (vec![false; problem.nodes.len()], vec![false; problem.nodes.len()]);
    let writes = writes(problem);
    for read in &problem.reads {
        for &(writer, slot) in &problem.classes[read.class as usize].writers {
            if may_be_concurrent(problem, &writes, (read.node, read.slot), (writer, slot)) {
                misses[read.node as usize] = true;
                is_missed[writer as usize] = true;
            }
        }
    }
    misses.into_iter().zip(is_missed).any(|(misses, is_missed)| misses && is_missed)
}

/// The classes that each transaction writes, and in which slot.
type Writes = FxHashMap<u32, u32>;

fn writes(problem: &Problem) -> Vec<Writes> {
    let mut writes = vec![Writes::default(); problem.nodes.len()];
    for (class, content) in problem.classes.iter().enumerate() {
        for &(writer, slot) in &content.writers {
            writes[writer as usize].insert(class as u32, slot);
        }
    }
    writes
}

/// Whether two transactions may be concurrent in a history that has these slots of them.
fn may_be_concurrent(
    problem: &Problem,
    writes: &[Writes],
    one: (u32, u32),
    other: (u32, u32),
) -> bool {
    let is_there = |slot: u32, until: u32| problem.boundary == Boundary::Relaxed || slot <= until;
    let (mut few, mut many) =
        ((&writes[one.0 as usize], one.1), (&writes[other.0 as usize], other.1));
    if few.0.len() > many.0.len() {
        std::mem::swap(&mut few, &mut many);
    }
    let is_common = |(class, &slot): (&u32, &u32)| {
        is_there(slot, few.1) && many.0.get(class).is_some_and(|&slot| is_there(slot, many.1))
    };
    problem.nodes[one.0 as usize].session != problem.nodes[other.0 as usize].session
        && !few.0.iter().any(is_common)
}
