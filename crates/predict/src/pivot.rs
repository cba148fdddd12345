//! Where snapshot isolation can go wrong at all.
//!
//! Every cycle of a history that snapshot isolation allows has two anti-dependencies in a row, each between concurrent transactions
//! (Fekete et al., TODS 2005, theorem 2.1). Transactions that write the same are not concurrent, nor are those of a session. So
//! if no transaction both misses a write and has a read that misses one of its writes, with such others, all histories are
//! serializable, whoever reads from whom: no search is needed, however long the run is. O(a · n) for a accesses of n transactions.

use crate::problem::Problem;
use rustc_hash::FxHashSet;

/// Whether some transaction may be the one between two such anti-dependencies. What a transaction that is cut would have written
/// counts: at snapshot isolation every prediction goes well with it.
pub(crate) fn exists(problem: &Problem) -> bool {
    let (mut misses, mut is_missed) = (vec![false; problem.nodes.len()], vec![false; problem.nodes.len()]);
    let writes = writes(problem);
    for read in &problem.reads {
        for &(writer, _) in &problem.classes[read.class as usize].writers {
            if may_be_concurrent(problem, &writes, read.node, writer) {
                misses[read.node as usize] = true;
                is_missed[writer as usize] = true;
            }
        }
    }
    misses.into_iter().zip(is_missed).any(|(misses, is_missed)| misses && is_missed)
}

/// The classes that each transaction writes.
fn writes(problem: &Problem) -> Vec<FxHashSet<u32>> {
    let mut writes = vec![FxHashSet::default(); problem.nodes.len()];
    for (class, content) in problem.classes.iter().enumerate() {
        for &(writer, _) in &content.writers {
            writes[writer as usize].insert(class as u32);
        }
    }
    writes
}

fn may_be_concurrent(problem: &Problem, writes: &[FxHashSet<u32>], one: u32, other: u32) -> bool {
    problem.nodes[one as usize].session != problem.nodes[other as usize].session
        && writes[one as usize].is_disjoint(&writes[other as usize])
}
