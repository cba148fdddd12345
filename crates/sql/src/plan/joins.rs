//! The order of joins: as it is written, except that a table that is found by its key comes as soon
//! as the key is known, and one that nothing connects waits for others that something does.

use super::access::{Access, choose, conjuncts};
use super::columns::{from_places, places};
use super::{Node, NodeKind, Scan};
use crate::catalog::Catalog;
use crate::ir::{Body, Distinct, Expr, ExprKind, From, JoinKind, Quantified, Select};

/// Plans a part of FROM under conditions.
pub fn plan(catalog: &Catalog, from: &From, conditions: Vec<Expr>) -> Node {
    let mut leaves = Vec::new();
    // Those of joins come first, from the inside out, and WHERE comes last.
    let mut joined = Vec::new();
    flatten(from, &mut leaves, &mut joined);
    let mut conditions: Vec<Option<Expr>> =
        joined.into_iter().chain(conditions).map(Some).collect();
    let once = conditions.iter_mut().filter(|it| it.as_ref().is_some_and(is_constant));
    let mut once: Vec<Expr> = once.filter_map(Option::take).collect();
    // What is false whatever is in the database ends the search before anything is asked.
    leaves.iter().for_each(|leaf| known_inside(leaf, &mut once));
    let mut needed = Vec::new();
    conditions.iter().flatten().for_each(|it| super::reduce::known_not_null(it, true, &mut needed));
    once.extend(needed.into_iter().map(|it| Expr::bool(ExprKind::IsNotNull(Box::new(it)))));
    once.sort_by_cached_key(|it| !it.is_known());
    let mut left: Vec<Option<&From>> = leaves.iter().copied().map(Some).collect();
    let mut tree: Option<Node> = None;
    while let Some(place) = next(catalog, &left, &conditions, tree.as_ref()) {
        let Some(leaf) = left[place].take() else { break };
        tree = Some(attach(catalog, tree, leaf, &mut conditions));
    }
    let mut tree = tree.unwrap_or(Node {
        kind: NodeKind::Nothing,
        start: 0,
        end: 0,
        filters: Vec::new(),
        once: Vec::new(),
    });
    tree.filters.extend(conditions.into_iter().flatten());
    tree.once.extend(once);
    tree
}

/// Whether a condition is the same for all rows.
fn is_constant(condition: &Expr) -> bool {
    let mut found = Vec::new();
    places(condition, &mut found);
    found.is_empty() && !condition.is_volatile()
}

/// Conditions of plain queries in FROM that are known before anything runs: without rows of these
/// there are none of the join.
fn known_inside(from: &From, found: &mut Vec<Expr>) {
    match from {
        From::Query { query, .. } => {
            let is_whole = query.sort.is_empty() && query.limit.is_none() && query.offset.is_none();
            if let (Body::Select(select), true) = (&query.body, is_whole)
                && is_plain(select)
            {
                let filter = select.filter.clone().map(conjuncts).unwrap_or_default();
                found.extend(filter.into_iter().filter(Expr::is_known));
                select.from.iter().for_each(|from| known_inside(from, found));
            }
        }
        From::Join { kind, left, right, on } => {
            if *kind == JoinKind::Inner {
                let on = on.clone().map(conjuncts).unwrap_or_default();
                found.extend(on.into_iter().filter(Expr::is_known));
            }
            if matches!(kind, JoinKind::Inner | JoinKind::Left) {
                known_inside(left, found);
            }
            if matches!(kind, JoinKind::Inner | JoinKind::Right) {
                known_inside(right, found);
            }
        }
        _ => {}
    }
}

/// Whether a SELECT has rows only if its FROM has.
fn is_plain(select: &Select) -> bool {
    select.grouping.is_none()
        && select.windows.is_empty()
        && select.sets.is_empty()
        && select.distinct == Distinct::No
}

/// The parts of inner joins, whose conditions are as good as those of WHERE.
fn flatten<'f>(from: &'f From, leaves: &mut Vec<&'f From>, conditions: &mut Vec<Expr>) {
    match from {
        From::Join { kind: JoinKind::Inner, left, right, on } => {
            flatten(left, leaves, conditions);
            flatten(right, leaves, conditions);
            if let Some(on) = on {
                conditions.extend(conjuncts(on.clone()));
            }
        }
        other => leaves.push(other),
    }
}

/// How many places of the row a part of FROM needs.
pub fn width(from: &From) -> usize {
    range(from).1
}

/// Where a part begins and ends in the row.
pub(super) fn range(from: &From) -> (usize, usize) {
    match from {
        From::Table(table) => (table.start, table.start + table.width()),
        From::System { table, start } => (*start, start + table.columns.len()),
        From::Query { query, start, .. } => (*start, start + query.columns.len()),
        From::Cte { start, width, .. } => (*start, start + width),
        From::Functions { functions, ordinality, start } => {
            let count: usize = functions.iter().map(function_width).sum();
            (*start, start + count + usize::from(*ordinality))
        }
        From::Join { left, right, .. } => {
            let ((start, end), (other, last)) = (range(left), range(right));
            (start.min(other), end.max(last))
        }
    }
}

fn function_width(function: &crate::ir::FromFunction) -> usize {
    match function {
        crate::ir::FromFunction::Set(call) => call.columns.len(),
        crate::ir::FromFunction::Scalar(_, columns) => columns.len(),
    }
}

fn is_in(node: Option<&Node>, place: usize) -> bool {
    node.is_some_and(|node| covers(node, place))
}

/// Whether a place of the row is filled by a node: joined parts need not lie side by side.
fn covers(node: &Node, place: usize) -> bool {
    match &node.kind {
        NodeKind::Join { left, right, .. } => covers(left, place) || covers(right, place),
        _ => (node.start..node.end).contains(&place),
    }
}

/// Which part comes next.
fn next<'f>(
    catalog: &Catalog,
    left: &[Option<&'f From>],
    conditions: &[Option<Expr>],
    tree: Option<&Node>,
) -> Option<usize> {
    let ready = |from: &From| {
        let mut found = Vec::new();
        from_places(from, &mut found);
        let (start, end) = range(from);
        found.into_iter().all(|place| (start..end).contains(&place) || is_in(tree, place))
    };
    let possible = || {
        left.iter()
            .enumerate()
            .filter_map(|(place, leaf)| Some((place, (*leaf)?)))
            .filter(|(_, leaf)| ready(leaf))
    };
    let keyed = possible().find(|(_, leaf)| match leaf {
        From::Table(table) => {
            let open: Vec<Expr> = conditions.iter().flatten().cloned().collect();
            let known = |place: usize| is_in(tree, place);
            !matches!(choose(catalog, table, &open, &known), Access::All)
        }
        _ => false,
    });
    // One that asks other queries comes late: if the others have no rows nothing is asked.
    let asks = |leaf: &From| {
        let (start, end) = range(leaf);
        let is_own = |condition: &Expr| {
            let mut found = Vec::new();
            places(condition, &mut found);
            found.into_iter().all(|place| (start..end).contains(&place))
        };
        conditions.iter().flatten().any(|condition| condition.has_query() && is_own(condition))
    };
    let is_single = left.iter().flatten().count() == 1;
    let best = |found: &mut dyn Iterator<Item = (usize, &'f From)>| {
        let mut first = None;
        for (place, leaf) in found {
            if is_single || !asks(leaf) {
                return Some((place, leaf));
            }
            first = first.or(Some((place, leaf)));
        }
        first
    };
    let connected = || {
        best(&mut possible().filter(|(_, leaf)| {
            let (start, end) = range(leaf);
            conditions.iter().flatten().any(|condition| {
                let mut found = Vec::new();
                places(condition, &mut found);
                found.iter().any(|place| (start..end).contains(place))
                    && found.iter().any(|&place| is_in(tree, place))
            })
        }))
    };
    keyed
        .or_else(|| if tree.is_some() { connected() } else { None })
        .or_else(|| best(&mut possible()))
        .or_else(|| left.iter().enumerate().find_map(|(place, leaf)| Some((place, (*leaf)?))))
        .map(|(place, _)| place)
}

/// Takes the conditions that a row with these places can be tested for.
fn take(conditions: &mut [Option<Expr>], has: &dyn Fn(usize) -> bool) -> Vec<Expr> {
    let mut taken = Vec::new();
    for condition in conditions {
        let Some(expr) = condition else { continue };
        let mut found = Vec::new();
        places(expr, &mut found);
        if found.into_iter().all(has) {
            taken.extend(condition.take());
        }
    }
    taken
}

/// Joins one more part to what there is.
fn attach(
    catalog: &Catalog,
    tree: Option<Node>,
    leaf: &From,
    conditions: &mut [Option<Expr>],
) -> Node {
    let (start, end) = range(leaf);
    let inside = |place: usize| (start..end).contains(&place);
    let Some(tree) = tree else {
        let own = take(conditions, &inside);
        return single(catalog, leaf, own, &|_| false);
    };
    // Conditions with the tables before may find the row by its key.
    let known = |place: usize| covers(&tree, place);
    if let From::Table(table) = leaf {
        let open: Vec<Expr> = conditions.iter().flatten().cloned().collect();
        if !matches!(choose(catalog, table, &open, &known), Access::All) {
            let both = take(conditions, &|place| inside(place) || known(place));
            let right = single(catalog, leaf, both, &known);
            let dependent = depends(&right);
            return join(JoinKind::Inner, tree, right, Vec::new(), Vec::new(), dependent);
        }
    }
    let own = take(conditions, &inside);
    let right = single(catalog, leaf, own, &|_| false);
    let dependent = depends(&right);
    let both = take(conditions, &|place| inside(place) || known(place));
    let (hash, rest) =
        if dependent { (Vec::new(), both) } else { equalities(both, &known, &inside) };
    let mut joined = join(JoinKind::Inner, tree, right, hash, Vec::new(), dependent);
    joined.filters = rest;
    joined
}

fn join(
    kind: JoinKind,
    left: Node,
    right: Node,
    hash: Vec<(Expr, Expr)>,
    on: Vec<Expr>,
    dependent: bool,
) -> Node {
    let (start, end) = (left.start.min(right.start), left.end.max(right.end));
    let (left, right) = (Box::new(left), Box::new(right));
    let kind = NodeKind::Join { kind, left, right, hash, on, dependent };
    Node { kind, start, end, filters: Vec::new(), once: Vec::new() }
}

/// Equalities of the left and the right side, and other conditions.
fn equalities(
    conditions: Vec<Expr>,
    left: &dyn Fn(usize) -> bool,
    right: &dyn Fn(usize) -> bool,
) -> (Vec<(Expr, Expr)>, Vec<Expr>) {
    let (mut hash, mut rest) = (Vec::new(), Vec::new());
    let only = |expr: &Expr, has: &dyn Fn(usize) -> bool| {
        let mut found = Vec::new();
        places(expr, &mut found);
        !found.is_empty() && found.into_iter().all(has)
    };
    for condition in conditions {
        if let Some((one, other)) = equality_sides(&condition) {
            if only(one, left) && only(other, right) {
                hash.push((one.clone(), other.clone()));
                continue;
            }
            if only(other, left) && only(one, right) {
                hash.push((other.clone(), one.clone()));
                continue;
            }
        }
        rest.push(condition);
    }
    (hash, rest)
}

/// A comparison of rows as equalities of what is on its left side (the first `count` places) and on
/// its right side, if it is nothing else and keys can decide it.
pub(crate) fn equal_pairs(test: &Expr, count: usize) -> Option<Vec<(Expr, Expr)>> {
    let conditions = match &test.kind {
        ExprKind::And(list) => list.clone(),
        _ => vec![test.clone()],
    };
    let (pairs, rest) = equalities(conditions, &|place| place < count, &|place| place >= count);
    (rest.is_empty() && !pairs.is_empty()).then_some(pairs)
}

/// The sides of an equality that can be decided by keys.
pub(super) fn equality_sides(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Call { callee, args, .. } = &condition.kind else { return None };
    let [one, other] = &args[..] else { return None };
    hashes(callee.proc.source, one, other).then_some((one, other))
}

/// The two sides of a test of one value with an element, if keys can decide ANY of an equality or
/// ALL of an inequality.
pub(crate) fn element_pair(test: &Expr, quantified: Quantified) -> Option<(&Expr, &Expr)> {
    let ExprKind::Call { callee, args, .. } = &test.kind else { return None };
    let [one, other] = &args[..] else { return None };
    let source = callee.proc.source;
    let is_decided = match quantified {
        Quantified::Any => hashes(source, one, other),
        Quantified::All => {
            source.strip_suffix("ne").is_some_and(|stem| hashes(&format!("{stem}eq"), one, other))
        }
    };
    is_decided.then_some((one, other))
}

/// Whether an equality can be decided by keys.
fn hashes(source: &str, one: &Expr, other: &Expr) -> bool {
    let integers = |ty| {
        use crate::types::Oid;
        matches!(ty, Oid::INT2 | Oid::INT4 | Oid::INT8)
    };
    let same = one.ty == other.ty || (integers(one.ty) && integers(other.ty));
    same && matches!(
        source,
        "int2eq"
            | "int4eq"
            | "int8eq"
            | "int24eq"
            | "int42eq"
            | "int28eq"
            | "int82eq"
            | "int48eq"
            | "int84eq"
            | "texteq"
            | "oideq"
            | "uuid_eq"
            | "date_eq"
            | "timestamp_eq"
            | "nameeq"
            | "numeric_eq"
            | "booleq"
            | "byteaeq"
            | "chareq"
    )
}

/// Whether the rows of a node depend on what is before it.
fn depends(node: &Node) -> bool {
    let outside = |expr: &Expr| {
        let mut found = Vec::new();
        places(expr, &mut found);
        found.into_iter().any(|place| !covers(node, place))
    };
    if node.filters.iter().any(outside) {
        return true;
    }
    match &node.kind {
        NodeKind::Scan(scan) => match &scan.access {
            Access::All => false,
            Access::Keys { parts, .. } => parts.iter().any(|part| match part {
                super::KeyPart::Equal(expr) | super::KeyPart::Any(expr) => outside(expr),
            }),
        },
        NodeKind::Source { dependent, .. } => *dependent,
        NodeKind::Join { left, right, .. } => depends(left) || depends(right),
        NodeKind::Nothing => false,
    }
}

/// A part by itself, with conditions over it (and over `known` places before it).
fn single(
    catalog: &Catalog,
    from: &From,
    conditions: Vec<Expr>,
    known: &dyn Fn(usize) -> bool,
) -> Node {
    let (start, end) = range(from);
    match from {
        From::Table(table) => {
            let access = choose(catalog, table, &conditions, known);
            let scan = Scan {
                table: table.clone(),
                access,
                first: Vec::new(),
                rest: Vec::new(),
                lock: None,
                is_backwards: false,
            };
            Node { kind: NodeKind::Scan(scan), start, end, filters: conditions, once: Vec::new() }
        }
        From::Join { kind, left, right, on } => {
            let mut node = outer(catalog, *kind, left, right, on.as_ref(), conditions);
            (node.start, node.end) = (start, end);
            node
        }
        other => {
            let mut found = Vec::new();
            from_places(other, &mut found);
            let dependent = found.into_iter().any(|place| !(start..end).contains(&place));
            let mut from = other.clone();
            let mut filters = conditions;
            match &mut from {
                From::Query { query, .. } => {
                    filters.retain(|condition| !super::push(query, start, condition));
                }
                // Whether it can be tested inside is known where the query is.
                From::Cte { conditions, .. } => conditions.clone_from(&filters),
                _ => {}
            }
            let kind = NodeKind::Source { from, dependent };
            Node { kind, start, end, filters, once: Vec::new() }
        }
    }
}

/// An outer join: conditions over the side that is kept may be tested before it.
fn outer(
    catalog: &Catalog,
    kind: JoinKind,
    left: &From,
    right: &From,
    on: Option<&Expr>,
    conditions: Vec<Expr>,
) -> Node {
    let ((from, to), (other, last)) = (range(left), range(right));
    let in_left = |place: usize| (from..to).contains(&place);
    let in_right = |place: usize| (other..last).contains(&place);
    let mut conditions: Vec<Option<Expr>> = conditions.into_iter().map(Some).collect();
    let mut on: Vec<Option<Expr>> =
        on.map(|on| conjuncts(on.clone())).unwrap_or_default().into_iter().map(Some).collect();
    let left_own = match kind {
        JoinKind::Left => take(&mut conditions, &in_left),
        JoinKind::Right => take(&mut on, &in_left),
        _ => Vec::new(),
    };
    let mut right_own = match kind {
        JoinKind::Right => take(&mut conditions, &in_right),
        JoinKind::Left => take(&mut on, &in_right),
        _ => Vec::new(),
    };
    let left_node = plan(catalog, left, left_own);
    // The right side of a left join may be found by a key that the left side has.
    if kind == JoinKind::Left
        && let From::Table(table) = right
    {
        let open: Vec<Expr> = on.iter().flatten().chain(&right_own).cloned().collect();
        if !matches!(choose(catalog, table, &open, &in_left), Access::All) {
            right_own.extend(take(&mut on, &|place| in_left(place) || in_right(place)));
        }
    }
    let right_node = match right {
        From::Table(_) => single(catalog, right, right_own, &in_left),
        _ => plan(catalog, right, right_own),
    };
    let dependent = depends(&right_node);
    let on: Vec<Expr> = on.into_iter().flatten().collect();
    let (hash, on) = if dependent { (Vec::new(), on) } else { equalities(on, &in_left, &in_right) };
    let mut node = join(kind, left_node, right_node, hash, on, dependent);
    node.filters = conditions.into_iter().flatten().collect();
    node
}
