//! Histories within the boundary (section 4.5 of the paper): what is cut, and who may read from whom.

use super::Selectors;
use crate::Boundary;
use crate::formula::Formula;
use crate::problem::{Problem, Read};
use batsat::Lit;

/// Which slots are kept, and whom each kept read reads from.
pub(super) fn encode(problem: &Problem, formula: &mut Formula) -> (Vec<Vec<Lit>>, Vec<Selectors>) {
    let kept = prefixes(problem, formula);
    let select: Vec<Selectors> = problem.reads.iter().map(|read| selectors(problem, formula, &kept, read)).collect();
    match problem.boundary {
        Boundary::Strict => end_at_changed_reads(problem, formula, &kept, &select),
        Boundary::Relaxed => end_at_changed_txns(problem, formula, &kept, &select),
    }
    (kept, select)
}

/// Each session keeps a prefix.
fn prefixes(problem: &Problem, formula: &mut Formula) -> Vec<Vec<Lit>> {
    let kept: Vec<Vec<Lit>> =
        problem.nodes.iter().map(|node| node.slots.iter().map(|_| formula.likely()).collect()).collect();
    for (node, slots) in problem.nodes.iter().zip(&kept) {
        let next = node.next.map(|next| kept[next as usize][0]);
        let chain: Vec<Lit> = slots.iter().copied().chain(next).collect();
        for pair in chain.windows(2) {
            formula.implies(&[pair[1]], &[pair[0]]);
        }
    }
    kept
}

/// A kept read has exactly one writer, whose write is kept.
fn selectors(problem: &Problem, formula: &mut Formula, kept: &[Vec<Lit>], read: &Read) -> Selectors {
    let here = kept[read.node as usize][read.slot as usize];
    let select: Selectors = read
        .candidates
        .iter()
        .map(|&writer| (writer, if writer == read.observed { formula.likely() } else { formula.unlikely() }))
        .collect();
    let literals: Vec<Lit> = select.iter().map(|one| one.1).collect();
    formula.implies(&[here], &literals);
    formula.at_most_one(&literals);
    for &(writer, selected) in &select {
        formula.implies(&[selected], &[here]);
        if let Some(writer) = writer
            && let Some(slot) = problem.write_slot(writer, read.class)
        {
            formula.implies(&[selected], &[kept[writer as usize][slot as usize]]);
        }
    }
    select
}

/// The literal of what the run shows.
fn as_observed(read: &Read, select: &Selectors) -> Option<Lit> {
    select.iter().find(|one| one.0 == read.observed).map(|one| one.1)
}

/// Strict: a read with another writer is the last event of its session that is kept.
fn end_at_changed_reads(problem: &Problem, formula: &mut Formula, kept: &[Vec<Lit>], select: &[Selectors]) {
    for (read, select) in problem.reads.iter().zip(select) {
        let (here, slots) = (read.slot as usize, &kept[read.node as usize]);
        let next = || problem.nodes[read.node as usize].next.map(|next| kept[next as usize][0]);
        let after = slots.get(here + 1).copied().or_else(next);
        if let (Some(after), Some(observed)) = (after, as_observed(read, select)) {
            formula.implies(&[slots[here], after], &[observed]);
        }
    }
}

/// Relaxed: a transaction with such a read is the last of its session that is kept, and nobody reads from it.
fn end_at_changed_txns(problem: &Problem, formula: &mut Formula, kept: &[Vec<Lit>], select: &[Selectors]) {
    let changed: Vec<Lit> = problem.nodes.iter().map(|_| formula.unlikely()).collect();
    for (read, select) in problem.reads.iter().zip(select) {
        let node = read.node as usize;
        if let Some(observed) = as_observed(read, select) {
            formula.implies(&[kept[node][0]], &[observed, changed[node]]);
        }
        for &(writer, selected) in select {
            if let Some(writer) = writer {
                formula.implies(&[selected], &[!changed[writer as usize]]);
            }
        }
    }
    for (node, &changed) in problem.nodes.iter().zip(&changed) {
        if let Some(next) = node.next {
            formula.implies(&[changed], &[!kept[next as usize][0]]);
        }
    }
}
