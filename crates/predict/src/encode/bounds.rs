//! Histories within the boundary (section 4.5 of the paper): what is cut, and which transactions a
//! read may read from.

use super::Selectors;
use crate::formula::Formula;
use crate::problem::{Problem, Read};
use crate::question::Boundary;
use batsat::Lit;

/// The choices of a history.
pub(super) struct Bounds {
    /// For each node and slot whether it is kept.
    pub kept: Vec<Vec<Lit>>,
    /// For each read the transaction that it reads from, if it is kept.
    pub select: Vec<Selectors>,
    /// For each read whether it is kept and has another writer than observed.
    pub changed: Vec<Lit>,
}

/// Which slots are kept, and which transaction each kept read reads from. If `settled` is true,
/// only changed reads end a transaction early.
pub(super) fn encode(problem: &Problem, formula: &mut Formula, settled: Lit) -> Bounds {
    let kept = prefixes(problem, formula);
    let select: Vec<Selectors> =
        problem.reads.iter().map(|read| selectors(problem, formula, &kept, read)).collect();
    let changed = problem
        .reads
        .iter()
        .zip(&select)
        .map(|(read, select)| changed(formula, &kept, read, select))
        .collect();
    let bounds = Bounds { kept, select, changed };
    match problem.boundary {
        Boundary::Strict => end_at_reads(problem, formula, &bounds, settled),
        Boundary::Relaxed => end_at_changed_txns(problem, formula, &bounds),
    }
    bounds
}

/// Each session keeps a prefix.
fn prefixes(problem: &Problem, formula: &mut Formula) -> Vec<Vec<Lit>> {
    let kept: Vec<Vec<Lit>> = problem
        .nodes
        .iter()
        .map(|node| node.slots.iter().map(|_| formula.likely()).collect())
        .collect();
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
fn selectors(
    problem: &Problem,
    formula: &mut Formula,
    kept: &[Vec<Lit>],
    read: &Read,
) -> Selectors {
    let here = kept[read.node as usize][read.slot as usize];
    let select: Selectors = read
        .candidates
        .iter()
        .map(|&writer| {
            (writer, if writer == read.observed { formula.likely() } else { formula.unlikely() })
        })
        .collect();
    let literals: Vec<Lit> = select.iter().map(|one| one.1).collect();
    formula.implies(&[here], &literals);
    formula.at_most_one(&literals);
    if read.is_list {
        list_is_whole(problem, formula, kept, read, &select);
    }
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

/// A list that is read as observed has all its elements.
fn list_is_whole(
    problem: &Problem,
    formula: &mut Formula,
    kept: &[Vec<Lit>],
    read: &Read,
    select: &Selectors,
) {
    let Some(last) = read.observed else { return };
    let observed = select.iter().find(|one| one.0 == read.observed).map(|one| one.1);
    let is_before = |writer: u32| problem.place[writer as usize] < problem.place[last as usize];
    let writers = &problem.classes[read.class as usize].writers;
    for &(writer, slot) in writers.iter().filter(|&&(writer, _)| is_before(writer)) {
        observed
            .iter()
            .for_each(|&as_is| formula.implies(&[as_is], &[kept[writer as usize][slot as usize]]));
    }
}

fn changed(formula: &mut Formula, kept: &[Vec<Lit>], read: &Read, select: &Selectors) -> Lit {
    let changed = formula.unlikely();
    let observed = select.iter().find(|one| one.0 == read.observed).map(|one| one.1);
    let conclusions: Vec<Lit> = observed.into_iter().chain([changed]).collect();
    let here = kept[read.node as usize][read.slot as usize];
    formula.implies(&[here], &conclusions);
    formula.implies(&[changed], &[here]);
    if let Some(observed) = observed {
        formula.implies(&[changed], &[!observed]);
    }
    changed
}

/// Strict: a read with another writer is the last event of its session that is kept. A transaction
/// ends early only with a read; if `settled` is true, only with one that has another writer.
fn end_at_reads(problem: &Problem, formula: &mut Formula, bounds: &Bounds, settled: Lit) {
    for (number, slots) in bounds.kept.iter().enumerate() {
        let read = |slot: usize| {
            problem.reads_of(number as u32).find(|&read| problem.reads[read].slot as usize == slot)
        };
        for (slot, pair) in slots.windows(2).enumerate() {
            let changed = read(slot).map(|read| bounds.changed[read]);
            formula.implies(
                &[pair[0], settled],
                &changed.into_iter().chain([pair[1]]).collect::<Vec<_>>(),
            );
            if !problem.nodes[number].may_end[slot] {
                formula.implies(&[pair[0]], &[pair[1]]);
            }
        }
    }
    for (read, &changed) in problem.reads.iter().zip(&bounds.changed) {
        let slots = &bounds.kept[read.node as usize];
        let next =
            || problem.nodes[read.node as usize].next.map(|next| bounds.kept[next as usize][0]);
        if let Some(after) = slots.get(read.slot as usize + 1).copied().or_else(next) {
            formula.implies(&[changed], &[!after]);
        }
    }
}

/// Relaxed: a transaction with such a read is the last of its session that is kept, and no
/// transaction reads from it.
fn end_at_changed_txns(problem: &Problem, formula: &mut Formula, bounds: &Bounds) {
    let ends: Vec<Lit> = problem.nodes.iter().map(|_| formula.unlikely()).collect();
    for ((read, select), &changed) in problem.reads.iter().zip(&bounds.select).zip(&bounds.changed)
    {
        formula.implies(&[changed], &[ends[read.node as usize]]);
        for &(writer, selected) in select {
            if let Some(writer) = writer {
                formula.implies(&[selected], &[!ends[writer as usize]]);
            }
        }
    }
    for (node, &ends) in problem.nodes.iter().zip(&ends) {
        if let Some(next) = node.next {
            formula.implies(&[ends], &[!bounds.kept[next as usize][0]]);
        }
    }
}
