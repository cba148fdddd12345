//! Does a commit order exist? Guess one, look for edges that it breaks, mend it, repeat.
//!
//! Every broken edge is one that all commit orders of the level must respect, so a cycle of session
//! order, reads and such edges refutes the level; and an order that breaks none satisfies the
//! level's axiom for every read, so it is the certificate. Edges that the orders never break are
//! never stored: memory stays linear in the history.
//!
//! Each round costs O(n) for the order and the cost of [`super::infer`] for the search. In practice
//! the number of broken edges falls by a factor of about five a round, so a handful of rounds does.
//! Should it not, all inferred edges are stored after [`ROUNDS_MAX`] rounds, and one more round
//! decides: the bounds O(n^1.5) at RC and RA and O(n·k) at CC hold in any case.

use super::context::Context;
use super::edges::{Edges, known_edges, positions};
use super::infer::Scope;
use seriatim_history::TxnId;
use seriatim_isolation::Level;

/// How many orders are tried before all inferred edges are stored.
pub(crate) const ROUNDS_MAX: usize = 32;

/// A commit order for `level`, or `None` if there is none.
pub(crate) fn commit_order(context: &Context<'_>, level: Level) -> Option<Vec<TxnId>> {
    commit_order_within(context, level, ROUNDS_MAX)
}

fn commit_order_within(
    context: &Context<'_>,
    level: Level,
    rounds_max: usize,
) -> Option<Vec<TxnId>> {
    let txns = context.history.txn_count();
    let mut edges = Edges::new(known_edges(context.index), txns);
    let mut order = context.base.to_vec();
    if edges.len() > 0 {
        order = context.graph(&edges).topological(&order)?;
    }
    let mut round = 0;
    loop {
        let position = positions(&order, txns);
        let mut broken = context.infer(level, Scope::Broken, &position, None);
        if broken.is_empty() {
            return Some(order);
        }
        if round == rounds_max {
            broken = context.infer(level, Scope::All, &position, None);
        }
        // The initial transaction precedes every other.
        if broken.iter().any(|edge| edge.to.is_initial()) {
            return None;
        }
        let mut all = edges.take();
        all.extend(broken);
        edges = Edges::new(all, txns);
        order = context.graph(&edges).topological(&order)?;
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::edges::Inferred;
    use super::super::graph::Graph;
    use super::*;
    use crate::index::{Index, first_guess};
    use seriatim_history::History;
    use seriatim_history::{Columns, KeyId, KeyNames, OpKind, SessionId, Status, Value};

    /// A history of three keys, half of whose reads are of the newest version and half of any: all
    /// verdicts occur.
    fn random_history(seed: u64, txns: u32) -> History {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut columns =
            Columns { key_names: KeyNames::Numbers { count: 3 }, ..Columns::default() };
        let mut newest = [0u64; 3];
        for _ in 0..txns {
            let txn = columns.push_txn(random(4) as u32, Status::Committed);
            let mut written = [false; 3];
            for _ in 0..random(4) {
                let key = random(3) as usize;
                let write = random(2) == 0 && !written[key];
                if !write && written[key] {
                    continue;
                }
                newest[key] += u64::from(write);
                written[key] |= write;
                let value =
                    if write || random(2) == 0 { newest[key] } else { random(newest[key] + 1) };
                let kind = if write { OpKind::Write } else { OpKind::Read };
                let value = if value == 0 { Value::NULL } else { Value::from_raw(value) };
                columns.push_op(txn, kind, KeyId(key as u32), value);
            }
        }
        columns.finish().unwrap()
    }

    /// With many sessions the clocks are computed block by block; the verdicts and the anomalies do
    /// not depend on it.
    #[test]
    fn blocks_of_one_session_give_the_same_findings_as_one_block() {
        for seed in 0..1000 {
            let history = random_history(seed, 3 + seed as u32 % 20);
            let index = Index::build(&history, 1);
            let edges = Edges::new(Vec::new(), history.txn_count());
            let graph = Graph { history: &history, index: &index, edges: &edges };
            let Some(base) = graph.causal_order(first_guess(&history, &index), 1) else { continue };
            let one = Context::new(&history, &index, &base, 2);
            let each =
                history.sessions().map(|session| session..SessionId(session.0 + 1)).collect();
            let many = Context::with_blocks(&history, &index, &base, 2, each);
            assert_eq!(
                commit_order(&one, Level::Causal).is_some(),
                commit_order(&many, Level::Causal).is_some()
            );
            let reads = |edges: &[Inferred]| edges.iter().map(|edge| edge.read).collect::<Vec<_>>();
            let findings = [&one, &many].map(|context| {
                let found = super::super::anomalies::by_level(context, Level::Causal);
                found
                    .iter()
                    .map(|f| (reads(&f.against_causality), reads(&f.in_cycle)))
                    .collect::<Vec<_>>()
            });
            assert_eq!(findings[0], findings[1], "seed {seed}");
        }
    }

    #[test]
    fn storing_all_edges_at_once_gives_the_same_verdicts_as_mending() {
        let (mut holding, mut violated) = (0, 0);
        for seed in 0..3000 {
            let history = random_history(seed, 3 + seed as u32 % 20);
            let index = Index::build(&history, 1);
            let edges = Edges::new(Vec::new(), history.txn_count());
            let graph = Graph { history: &history, index: &index, edges: &edges };
            let Some(base) = graph.causal_order(first_guess(&history, &index), 1) else { continue };
            let context = Context::new(&history, &index, &base, 1);
            for level in Level::WEAK {
                let mended = commit_order_within(&context, level, usize::MAX).is_some();
                assert_eq!(
                    mended,
                    commit_order_within(&context, level, 0).is_some(),
                    "seed {seed} at {level}"
                );
                if mended { holding += 1 } else { violated += 1 }
            }
        }
        assert!(holding > 1000 && violated > 1000, "{holding} hold, {violated} do not");
    }
}
