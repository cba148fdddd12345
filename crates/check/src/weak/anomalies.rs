//! All anomalies of a history that is known to violate a level, level by level from the weakest.
//!
//! What a read is accused of is the weakest thing that explains it, and each read is accused once:
//! a read that is wrong at RC is not counted again at RA and CC. At each level first the edges that
//! contradict the causal order by themselves (Plume's h, k, m) are found; their reads are set
//! aside; then the edges of the remaining reads are closed into strongly connected components with
//! the guess-and-mend search of [`super::decide`], carried on past the first cycle; reads with an
//! edge inside a component are the patterns against the inferred commit order (i, l, n).

use super::context::Context;
use super::decide::ROUNDS_MAX;
use super::edges::{Edges, Inferred, known_edges, positions};
use super::graph::Components;
use super::infer::Scope;
use crate::index::{Index, Source};
use seriatim_history::{History, OpId, TxnId};
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;

/// What one level of the ladder adds to those below it.
pub(crate) struct LevelFindings {
    pub level: Level,
    /// Edges against the causal order, one for each read.
    pub against_causality: Vec<Inferred>,
    /// Edges on cycles of inferred edges, one for each read.
    pub in_cycle: Vec<Inferred>,
    /// The inferred edges that make the components.
    pub edges: Edges,
    /// The components of session order, reads and `edges`.
    pub components: Components,
}

impl LevelFindings {
    /// Whether the level forbids something that weaker levels allow.
    pub fn is_empty(&self) -> bool {
        self.against_causality.is_empty() && self.in_cycle.is_empty()
    }

    /// Leaves out what follows from cycles that are told already: transactions that each come
    /// before the other by the orders of lists do so by the axioms too.
    pub fn leave_out_told(&mut self, told: &[Components]) {
        let is_told = |edge: &Inferred| {
            let together = |to| told.iter().any(|cycles| cycles.together(edge.from, to));
            edge.to.txn().is_some_and(together)
        };
        self.in_cycle.retain(|edge| !is_told(edge));
    }

    /// The reads that it accuses, by operation.
    pub fn reads(&self) -> impl Iterator<Item = OpId> + '_ {
        self.against_causality.iter().chain(&self.in_cycle).map(|edge| edge.read)
    }

    /// The kinds of the two sorts of edges.
    pub fn kinds(&self) -> (Anomaly, Anomaly) {
        match self.level {
            Level::ReadCommitted => {
                (Anomaly::NonMonotonicReadCausal, Anomaly::NonMonotonicReadCommit)
            }
            Level::Causal => (Anomaly::CausalityViolation, Anomaly::ConflictingCommitOrder),
            _ => (Anomaly::FracturedReadCausal, Anomaly::FracturedReadCommit),
        }
    }
}

/// Findings at each weak level up to `strongest`, given an acyclic causal order.
pub(crate) fn by_level(context: &Context<'_>, strongest: Level) -> Vec<LevelFindings> {
    let mut excluded = vec![false; context.history.op_count()];
    for &read in &context.index.told {
        excluded[read.index()] = true;
    }
    let mut findings = Vec::new();
    for level in Level::WEAK.into_iter().take_while(|&level| level <= strongest) {
        if level == Level::ReadAtomic {
            set_unrepeated_aside(context.index, &mut excluded);
        }
        let found = at_level(context, level, &mut excluded);
        for edge in &found.in_cycle {
            excluded[edge.read.index()] = true;
        }
        findings.push(found);
    }
    findings
}

/// Non-repeatable reads are forbidden from RA on and reported as such.
fn set_unrepeated_aside(index: &Index, excluded: &mut [bool]) {
    for pair in &index.unrepeated {
        excluded[pair.first.index()] = true;
        excluded[pair.second.index()] = true;
    }
}

fn at_level(context: &Context<'_>, level: Level, excluded: &mut [bool]) -> LevelFindings {
    let against_causality = against_causality(context, level, excluded);
    for edge in &against_causality {
        excluded[edge.read.index()] = true;
    }
    let (edges, components) = close(context, level, excluded);
    // Which edge of a read is taken must not depend on how the components were found.
    let position = positions(&components.by_number(), context.history.txn_count());
    let mut in_cycle = context.infer(level, Scope::InCycle(&components), &position, Some(excluded));
    one_per_read(&mut in_cycle);
    LevelFindings { level, against_causality, in_cycle, edges, components }
}

/// Edges whose source is in the causal past of the other writer. If the clocks do not fit into one
/// block, first the edges that the base order breaks are collected, then each block answers for the
/// sources in its sessions: of several writers in one block only the last is looked at, so a few
/// reads may be named after the commit order instead.
fn against_causality(context: &Context<'_>, level: Level, excluded: &[bool]) -> Vec<Inferred> {
    let position = positions(context.base, context.history.txn_count());
    let mut found = Vec::new();
    if level != Level::Causal || context.has_one_block() {
        context.each_block(|clocks| {
            found.extend(context.infer(
                level,
                Scope::AgainstCausality(clocks),
                &position,
                Some(excluded),
            ));
        });
    } else {
        let broken = context.infer(level, Scope::Broken, &position, Some(excluded));
        found.extend(broken.iter().filter(|edge| edge.to.is_initial()));
        context.each_block(|clocks| {
            let is_causal = |to: TxnId, from: TxnId| {
                let session = context.index.session_of(to);
                clocks.sessions.contains(&session) && clocks.get().reaches(to, session, from)
            };
            let here = |edge: &&Inferred| edge.to.txn().is_some_and(|to| is_causal(to, edge.from));
            found.extend(broken.iter().filter(here));
        });
    }
    one_per_read(&mut found);
    found
}

fn one_per_read(edges: &mut Vec<Inferred>) {
    edges.sort_unstable_by_key(|edge| (edge.read, edge.to, edge.from));
    edges.dedup_by_key(|edge| edge.read);
}

/// Adds inferred edges until the order of the components breaks none, except inside components.
fn close(context: &Context<'_>, level: Level, excluded: &[bool]) -> (Edges, Components) {
    let txns = context.history.txn_count();
    let mut edges = Edges::new(known_edges(context.index), txns);
    let mut wish = context.base.to_vec();
    let mut round = 0;
    loop {
        let components = context.graph(&edges).components(&wish);
        let position = positions(&components.order, txns);
        let mut broken = context.infer(level, Scope::Broken, &position, Some(excluded));
        let apart = |from: TxnId, to: TxnId| !components.together(from, to);
        broken.retain(|edge| edge.to.txn().is_some_and(|to| apart(edge.from, to)));
        if broken.is_empty() {
            return (edges, components);
        }
        if round == ROUNDS_MAX {
            broken = context.infer(level, Scope::All, &position, Some(excluded));
            broken.retain(|edge| !edge.to.is_initial());
        }
        round += 1;
        wish.clone_from(&components.order);
        let mut all = edges.take();
        all.extend(broken);
        edges = Edges::new(all, txns);
    }
}

/// Takes the reads inside the components out of the index, so that what is left has an acyclic
/// causal order, and returns them.
pub(crate) fn cut_cycles(
    history: &History,
    index: &mut Index,
    components: &Components,
) -> Vec<OpId> {
    let mut cut = Vec::new();
    for txn in history.txns() {
        for op in history.ops_of(txn).map(OpId) {
            let source = index.source_of(op).txn();
            if source.is_some_and(|source| components.together(txn, source)) {
                index.source_txn[op.index()] = Source::NONE;
                cut.push(op);
            }
        }
    }
    let Index { reads, source_txn, .. } = index;
    let mut kept = 0;
    let mut next = reads.start[0] as usize;
    for key in 1..reads.start.len() {
        let end = reads.start[key] as usize;
        for read in next..end {
            if !source_txn[reads.op[read].index()].is_none() {
                reads.txn[kept] = reads.txn[read];
                reads.op[kept] = reads.op[read];
                reads.source[kept] = reads.source[read];
                kept += 1;
            }
        }
        next = end;
        reads.start[key] = kept as u32;
    }
    reads.txn.truncate(kept);
    reads.op.truncate(kept);
    reads.source.truncate(kept);
    cut
}
