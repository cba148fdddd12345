//! Where the parts of a violation stand in its picture: a lane for each session, a box for each
//! transaction, a row for each operation, and an arrow for each edge of the contradiction.
//!
//! Every box has a band of its own from the left to the right, so that no two boxes are beside each
//! other. An arrow leaves the row of its operation to the right, runs down or up in a channel
//! behind the last lane, and comes back to the row where it ends: it crosses no box, because its
//! level parts lie in the bands of its own two boxes. Arrows share a channel if they do not meet
//! there. A label stands on its arrow, in its channel, at the height of a gap between two bands,
//! where no level part of any arrow is. So nothing overlaps, whatever the violation is:
//! `tests/pictures.rs`.

use crate::dot::{edge_label, is_inferred, served_edges};
use crate::prose::{act, clean, told_cycle};
use seriatim_check::{Edge, OpRef, Reason, TxnRef, Violation};
use seriatim_history::OpKind;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide a character is, and how high a row.
pub(crate) const CHAR: f64 = 7.3;
pub(crate) const ROW: f64 = 22.0;
/// The room around a text.
pub(crate) const PAD: f64 = 8.0;
/// Where the first band begins: above it are the names of the lanes.
const TOP: f64 = 40.0;
/// The height of a gap between bands; a label fits into it.
const GAP: f64 = 36.0;
pub(crate) const PILL: f64 = 20.0;
/// How far lanes are apart, and channels.
const BETWEEN: f64 = 16.0;
/// Characters of a row, of the name of a lane and of a label that are shown.
const ROW_CHARS_MAX: usize = 46;
const LABEL_CHARS_MAX: usize = 24;
/// Characters of what stands behind a row or a label.
const FULL_CHARS_MAX: usize = 1_000;
/// Rows of a box that no arrow needs.
const ROWS_MAX: usize = 12;

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// Its left side.
    pub x: f64,
    /// Its upper side.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Area {
    /// Whether two rectangles have a point in common.
    pub fn meets(&self, other: &Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// A picture of a violation, before it is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagram {
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// The sessions.
    pub lanes: Vec<Lane>,
    /// The transactions, from the top.
    pub boxes: Vec<TxnBox>,
    /// The edges: those of the cycle in their order, then those that they rest on.
    pub arrows: Vec<Arrow>,
}

/// A session.
#[derive(Clone, PartialEq, Debug)]
pub struct Lane {
    /// Where its boxes stand, from the top to the bottom of the picture.
    pub area: Area,
    /// What it is called.
    pub name: String,
}

/// A transaction.
#[derive(Clone, PartialEq, Debug)]
pub struct TxnBox {
    /// Where it stands.
    pub area: Area,
    /// Its number in the history; nothing for the initial one.
    pub txn: Option<u32>,
    /// What it is called.
    pub name: String,
    /// What it did.
    pub rows: Vec<Row>,
    /// How many operations are not shown.
    pub more: usize,
}

/// An operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its number in the history; nothing for a write of the initial transaction.
    pub op: Option<u32>,
    /// What it does, as much as fits.
    pub text: String,
    /// The whole of it, with its place.
    pub full: String,
}

/// What sort of edge an arrow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrowKind {
    /// Session order.
    Session,
    /// From the initial state.
    Initial,
    /// A read of a write.
    Read,
    /// One write after the other.
    Write,
    /// A read that missed a write.
    Missed,
    /// The order of commits.
    Commit,
    /// Real time.
    Time,
}

impl ArrowKind {
    /// A word for it.
    pub fn word(self) -> &'static str {
        match self {
            ArrowKind::Session => "so",
            ArrowKind::Initial => "initial",
            ArrowKind::Read => "wr",
            ArrowKind::Write => "ww",
            ArrowKind::Missed => "rw",
            ArrowKind::Commit => "co",
            ArrowKind::Time => "rt",
        }
    }

    fn of(reason: &Reason) -> ArrowKind {
        match reason {
            Reason::SessionOrder => ArrowKind::Session,
            Reason::Initial => ArrowKind::Initial,
            Reason::WriteRead { .. } => ArrowKind::Read,
            Reason::Overwritten { .. } => ArrowKind::Commit,
            Reason::VersionOrder { .. } | Reason::WriteWrite { .. } => ArrowKind::Write,
            Reason::RealTime { .. } => ArrowKind::Time,
            Reason::ReadWrite { .. } => ArrowKind::Missed,
        }
    }
}

/// An edge.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrow {
    /// The box where it begins, by its place in [`Diagram::boxes`].
    pub from: usize,
    /// The box where it ends.
    pub to: usize,
    /// What it is.
    pub kind: ArrowKind,
    /// The step of the proof that speaks of it, from 0; nothing for edges that others rest on.
    pub step: Option<usize>,
    /// The step that speaks of it or rests on it; nothing if there is no proof.
    pub serves: Option<usize>,
    /// The numbers of the operations between which it leads.
    pub ops: Option<[Option<u32>; 2]>,
    /// Whether it was not observed.
    pub is_inferred: bool,
    /// Its label, as much as fits.
    pub label: String,
    /// The whole label.
    pub full: String,
    /// Where the label stands.
    pub pill: Area,
    /// Its corners: from a row, to its channel, along it, and back to a row.
    pub path: [(f64, f64); 4],
}

/// An arrow that has no place yet.
struct Loose {
    ends: [End; 2],
    kind: ArrowKind,
    step: Option<usize>,
    serves: Option<usize>,
    ops: Option<[Option<u32>; 2]>,
    is_inferred: bool,
    label: String,
}

/// Where an arrow begins or ends: a box, and a row of it or its head.
#[derive(Clone, Copy, PartialEq)]
struct End {
    at: usize,
    row: Option<usize>,
}

/// As much of a text as fits.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    // No character is wider than its bytes are many; those without a width are not for nothing.
    if text.len() <= chars_max || (text.width() <= chars_max && text.len() <= 4 * chars_max) {
        return text.to_owned();
    }
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width < chars_max
    };
    text.chars().take(2 * chars_max).take_while(fits).chain(['…']).collect()
}

/// As much of a name of an input as fits, made visible.
pub(crate) fn short(text: &str, chars_max: usize) -> String {
    // A name may be as long as a file: what is not shown is not looked at.
    let end = text.char_indices().nth(4 * chars_max).map_or(text.len(), |(end, _)| end);
    cut(&clean(&text[..end]), chars_max)
}

fn width_of(text: &str) -> f64 {
    text.width() as f64 * CHAR
}

/// The edges that a picture shows: those of the proof, and what the inferred ones rest on.
pub fn edges(violation: &Violation) -> Vec<Edge> {
    let cycle = told_cycle(violation);
    served_edges(&cycle).into_iter().map(|(_, edge)| edge.clone()).collect()
}

/// The picture of a violation.
pub fn diagram(violation: &Violation) -> Diagram {
    let cycle = told_cycle(violation);
    let edges = served_edges(&cycle);
    let mut boxes = boxes(violation, &edges);
    let mut arrows: Vec<Loose> = edges.iter().filter_map(|it| loose(&cycle, &boxes, *it)).collect();
    if edges.is_empty() {
        arrows = reads(violation, &boxes);
    }
    // What is told choice by choice has no steps about these edges.
    if !violation.alternatives.is_empty() {
        arrows.iter_mut().for_each(|arrow| (arrow.step, arrow.serves) = (None, None));
    }
    shorten(&mut boxes, &mut arrows);
    let lanes = place_boxes(&mut boxes);
    place_arrows(boxes, lanes, arrows)
}

/// A box whose place is not known yet, with its operations.
struct Draft<'v> {
    txn: &'v TxnRef,
    ops: Vec<&'v OpRef>,
    placed: TxnBox,
}

const NOWHERE: Area = Area { x: 0.0, y: 0.0, width: 0.0, height: 0.0 };

/// The transactions with their operations, in an order in which sessions go down.
fn boxes<'v>(violation: &'v Violation, edges: &[(usize, &'v Edge)]) -> Vec<Draft<'v>> {
    let mut drafts: Vec<Draft<'v>> = Vec::new();
    let mut add = |txn: &'v TxnRef, op: Option<&'v OpRef>| {
        let at = drafts.iter().position(|draft| draft.txn.id == txn.id).unwrap_or_else(|| {
            let name = cut(&crate::prose::txn(txn), ROW_CHARS_MAX);
            let (rows, more, id) = (Vec::new(), 0, txn.id.map(|id| id.0));
            let placed = TxnBox { area: NOWHERE, txn: id, name, rows, more };
            drafts.push(Draft { txn, ops: Vec::new(), placed });
            drafts.len() - 1
        });
        let ops = &mut drafts[at].ops;
        if let Some(op) = op.filter(|op| !ops.iter().any(|known| is_same(known, op))) {
            ops.push(op);
        }
    };
    for (_, edge) in edges {
        add(&edge.from, None);
        add(&edge.to, None);
        operations_of(&edge.reason).into_iter().for_each(|op| add(&op.txn, Some(op)));
    }
    violation.ops.iter().for_each(|op| add(&op.txn, Some(op)));
    for draft in &mut drafts {
        draft.ops.sort_by_key(|op| op.id);
        draft.placed.rows = draft.ops.iter().map(|op| row(op)).collect();
    }
    in_session_order(drafts)
}

/// The transactions in the order of the cycle, except that sessions go down, and that the initial
/// state comes first.
fn in_session_order(mut drafts: Vec<Draft<'_>>) -> Vec<Draft<'_>> {
    let mut ordered = Vec::new();
    while !drafts.is_empty() {
        let is_free = |draft: &Draft<'_>| {
            !drafts.iter().any(|other| {
                is_of_one_session(other.txn, draft.txn) && other.txn.index < draft.txn.index
            })
        };
        let initial = drafts.iter().position(|draft| draft.txn.id.is_none());
        let next = initial.or_else(|| drafts.iter().position(is_free)).unwrap_or(0);
        ordered.push(drafts.remove(next));
    }
    ordered
}

/// Whether transactions are of one session; the initial one is of none, whatever others are called.
fn is_of_one_session(one: &TxnRef, other: &TxnRef) -> bool {
    one.session == other.session && one.id.is_none() == other.id.is_none()
}

fn is_same(one: &OpRef, other: &OpRef) -> bool {
    match (one.id, other.id) {
        (None, None) => one.key == other.key,
        (one, other) => one == other,
    }
}

/// The operations that an edge speaks of.
pub(crate) fn operations_of(reason: &Reason) -> Vec<&OpRef> {
    match reason {
        Reason::SessionOrder | Reason::Initial | Reason::RealTime { .. } => Vec::new(),
        Reason::WriteRead { write, read, .. } => vec![write, read],
        Reason::Overwritten { read, source, other, .. } => vec![read, source, other],
        Reason::VersionOrder { earlier, later, read } => vec![earlier, later, read],
        Reason::WriteWrite { earlier, later, .. } => vec![earlier, later],
        Reason::ReadWrite { read, overwrite, .. } => vec![read, overwrite],
    }
}

fn row(op: &OpRef) -> Row {
    let text = act(op);
    let place = op.place.as_ref().map(|place| format!(" ({})", clean(&place.to_string())));
    let full = cut(&(text.clone() + &place.unwrap_or_default()), FULL_CHARS_MAX);
    Row { op: op.id.map(|id| id.0), text: cut(&text, ROW_CHARS_MAX), full }
}

/// The operations between which an edge leads.
fn ends_of(reason: &Reason) -> Option<(&OpRef, &OpRef)> {
    match reason {
        Reason::SessionOrder | Reason::Initial | Reason::RealTime { .. } => None,
        Reason::WriteRead { write, read, .. } => Some((write, read)),
        Reason::Overwritten { source, other, .. } => Some((other, source)),
        Reason::VersionOrder { earlier, later, .. } | Reason::WriteWrite { earlier, later, .. } => {
            Some((earlier, later))
        }
        Reason::ReadWrite { read, overwrite, .. } => Some((read, overwrite)),
    }
}

fn end(boxes: &[Draft<'_>], txn: &TxnRef, op: Option<&OpRef>) -> Option<End> {
    let at = boxes.iter().position(|draft| draft.txn.id == txn.id)?;
    let row = op.and_then(|op| boxes[at].ops.iter().position(|known| is_same(known, op)));
    Some(End { at, row })
}

fn loose(cycle: &[Edge], boxes: &[Draft<'_>], (serves, edge): (usize, &Edge)) -> Option<Loose> {
    let ops = ends_of(&edge.reason);
    let from = end(boxes, &edge.from, ops.map(|ops| ops.0))?;
    let to = end(boxes, &edge.to, ops.map(|ops| ops.1))?;
    let step = cycle.iter().position(|other| other == edge);
    let kind = ArrowKind::of(&edge.reason);
    let is_inferred = is_inferred(&edge.reason);
    // The long label of the order of commits says what the step says.
    let label = match &edge.reason {
        Reason::Overwritten { read, .. } => format!("co({})", clean(&read.key)),
        _ => clean(&edge_label(edge)),
    };
    let label = cut(&label, FULL_CHARS_MAX);
    let ops = ops.map(|ops| [ops.0, ops.1].map(|op| op.id.map(|id| id.0)));
    let serves = Some(step.unwrap_or(serves));
    Some(Loose { ends: [from, to], kind, step, serves, ops, is_inferred, label })
}

/// What reads returned, for violations that need no order.
fn reads(violation: &Violation, boxes: &[Draft<'_>]) -> Vec<Loose> {
    let mut arrows = Vec::new();
    for read in violation.ops.iter().filter(|op| op.kind == OpKind::Read) {
        let is_source = |op: &&OpRef| op.txn.id != read.txn.id && crate::prose::returned(read, op);
        for write in violation.ops.iter().filter(|op| op.kind.is_write()).filter(is_source) {
            let ends = (end(boxes, &write.txn, Some(write)), end(boxes, &read.txn, Some(read)));
            if let (Some(from), Some(to)) = ends {
                let label = cut(&format!("wr({})", clean(&read.key)), FULL_CHARS_MAX);
                let ops = Some([write, read].map(|op| op.id.map(|id| id.0)));
                let (kind, ends) = (ArrowKind::Read, [from, to]);
                let (step, serves, is_inferred) = (None, None, false);
                arrows.push(Loose { ends, kind, step, serves, ops, is_inferred, label });
            }
        }
    }
    arrows
}

/// Leaves out operations that no arrow needs, where there are too many.
fn shorten(boxes: &mut [Draft<'_>], arrows: &mut [Loose]) {
    for (at, draft) in boxes.iter_mut().enumerate() {
        let count = draft.placed.rows.len();
        if count <= ROWS_MAX {
            continue;
        }
        let ends = || arrows.iter().flat_map(|arrow| arrow.ends).filter(|end| end.at == at);
        let mut kept: Vec<usize> = ends().filter_map(|end| end.row).collect();
        kept.extend(0..count);
        let mut seen = Vec::new();
        kept.retain(|row| {
            !seen.contains(row) && {
                seen.push(*row);
                true
            }
        });
        let needed = ends().filter_map(|end| end.row).collect::<std::collections::BTreeSet<_>>();
        kept.truncate(needed.len().max(ROWS_MAX));
        kept.sort_unstable();
        draft.placed.more = count - kept.len();
        draft.placed.rows = kept.iter().map(|&row| draft.placed.rows[row].clone()).collect();
        for end in arrows.iter_mut().flat_map(|arrow| &mut arrow.ends) {
            if end.at == at {
                end.row = end.row.and_then(|row| kept.iter().position(|&other| other == row));
            }
        }
    }
}

/// Gives each box its band and its lane; the lanes.
fn place_boxes(boxes: &mut [Draft<'_>]) -> Vec<Lane> {
    // One transaction of each session stands for it.
    let mut sessions: Vec<&TxnRef> = Vec::new();
    for draft in boxes.iter() {
        if !sessions.iter().any(|known| is_of_one_session(known, draft.txn)) {
            sessions.push(draft.txn);
        }
    }
    let widest = |session: &TxnRef, name: &str| {
        let own = boxes.iter().filter(|draft| is_of_one_session(draft.txn, session));
        let texts = own.flat_map(|draft| {
            draft
                .placed
                .rows
                .iter()
                .map(|row| width_of(&row.text))
                .chain([width_of(&draft.placed.name), width_of(&more(draft.placed.more))])
        });
        texts.fold(width_of(name), f64::max) + 2.0 * PAD
    };
    let mut x = PAD;
    let mut lanes: Vec<Lane> = sessions
        .iter()
        .map(|session| {
            let name = cut(&lane_name(session), ROW_CHARS_MAX);
            let area = Area { x, y: 0.0, width: widest(session, &name), height: 0.0 };
            x += area.width + BETWEEN;
            Lane { area, name }
        })
        .collect();
    let mut y = TOP;
    for draft in boxes.iter_mut() {
        let own = sessions.iter().position(|it| is_of_one_session(it, draft.txn));
        let lane = own.unwrap_or(0);
        let lines = 1 + draft.placed.rows.len() + usize::from(draft.placed.more > 0);
        let Area { x, width, .. } = lanes[lane].area;
        draft.placed.area = Area { x, y, width, height: lines as f64 * ROW + PAD };
        y += draft.placed.area.height + GAP;
    }
    for lane in &mut lanes {
        lane.area.height = (y - GAP).max(TOP) + PAD;
    }
    lanes
}

/// What stands below the rows that are shown.
pub(crate) fn more(count: usize) -> String {
    if count == 0 { String::new() } else { format!("… and {count} more") }
}

fn lane_name(of: &TxnRef) -> String {
    match of.id {
        None => "initial state".to_owned(),
        Some(_) => format!("session {}", clean(&of.session)),
    }
}

/// Where the arrows that end at a row meet it, one below the other.
struct Ports(Vec<(End, f64)>);

impl Ports {
    fn of(boxes: &[Draft<'_>], arrows: &[Loose]) -> Ports {
        let mut used: Vec<(End, usize)> = Vec::new();
        for end in arrows.iter().flat_map(|arrow| arrow.ends) {
            match used.iter_mut().find(|(known, _)| *known == end) {
                Some((_, count)) => *count += 1,
                None => used.push((end, 1)),
            }
        }
        let mut ports = Vec::new();
        for (end, count) in used {
            let line = end.row.map_or(0, |row| row + 1);
            let top = boxes[end.at].placed.area.y + PAD / 2.0 + line as f64 * ROW;
            let step = ROW / (count + 1) as f64;
            // The last one is taken first.
            ports.extend((1..=count).rev().map(|place| (end, top + place as f64 * step)));
        }
        Ports(ports)
    }

    fn take(&mut self, end: End) -> f64 {
        let at = self.0.iter().rposition(|(known, _)| *known == end);
        at.map_or(0.0, |at| self.0.remove(at).1)
    }
}

/// A channel: the parts of it that are taken, and how wide its labels are.
#[derive(Default)]
struct Channel {
    taken: Vec<(f64, f64)>,
    width: f64,
}

fn place_arrows(boxes: Vec<Draft<'_>>, mut lanes: Vec<Lane>, loose: Vec<Loose>) -> Diagram {
    let mut ports = Ports::of(&boxes, &loose);
    let heights: Vec<[f64; 2]> =
        loose.iter().map(|arrow| arrow.ends.map(|end| ports.take(end))).collect();
    let (channels, of_arrows) = channels(&loose, &heights);
    let right = lanes.iter().map(|lane| lane.area.x + lane.area.width).fold(PAD, f64::max);
    let mut middles = Vec::new();
    let mut x = right + BETWEEN;
    for channel in &channels {
        middles.push(x + channel.width / 2.0);
        x += channel.width + BETWEEN;
    }
    let gaps = gaps(&boxes);
    let arrows =
        loose.into_iter().zip(heights).zip(of_arrows).map(|((arrow, [y1, y2]), channel)| {
            let side = |end: End| {
                let area = boxes[end.at].placed.area;
                area.x + area.width
            };
            let [from, to] = arrow.ends;
            let middle = middles[channel];
            let gap = nearest_gap(&gaps, y1, y2);
            let label = cut(&arrow.label, LABEL_CHARS_MAX);
            let width = pill_width(&label);
            let (x, y) = (middle - width / 2.0, gap - PILL / 2.0);
            Arrow {
                from: from.at,
                to: to.at,
                kind: arrow.kind,
                step: arrow.step,
                serves: arrow.serves,
                ops: arrow.ops,
                is_inferred: arrow.is_inferred,
                label,
                full: arrow.label,
                pill: Area { x, y, width, height: PILL },
                path: [(side(from), y1), (middle, y1), (middle, y2), (side(to), y2)],
            }
        });
    let arrows: Vec<Arrow> = arrows.collect();
    let height = lanes.iter().map(|lane| lane.area.height).fold(TOP, f64::max) + PAD;
    for lane in &mut lanes {
        lane.area.height = height - PAD;
    }
    let boxes = boxes.into_iter().map(|draft| draft.placed).collect();
    Diagram { width: x.max(right) + PAD, height, lanes, boxes, arrows }
}

fn pill_width(label: &str) -> f64 {
    width_of(label) + 2.0 * PAD
}

/// The channels, and which one each arrow has: the first in which it meets no other.
fn channels(loose: &[Loose], heights: &[[f64; 2]]) -> (Vec<Channel>, Vec<usize>) {
    let mut channels: Vec<Channel> = Vec::new();
    let mut of_arrows = Vec::new();
    for (arrow, [y1, y2]) in loose.iter().zip(heights) {
        let (top, bottom) = (y1.min(*y2), y1.max(*y2));
        let is_free = |channel: &Channel| {
            channel.taken.iter().all(|&(start, end)| bottom < start || end < top)
        };
        let at = channels.iter().position(is_free).unwrap_or_else(|| {
            channels.push(Channel::default());
            channels.len() - 1
        });
        let channel = &mut channels[at];
        channel.taken.push((top, bottom));
        let width = pill_width(&cut(&arrow.label, LABEL_CHARS_MAX));
        channel.width = channel.width.max(width);
        of_arrows.push(at);
    }
    (channels, of_arrows)
}

/// The middles of the gaps between boxes.
fn gaps(boxes: &[Draft<'_>]) -> Vec<f64> {
    let bottom = |draft: &Draft<'_>| draft.placed.area.y + draft.placed.area.height;
    boxes.iter().map(|draft| bottom(draft) + GAP / 2.0).collect()
}

/// The gap between two heights that is nearest to their middle.
fn nearest_gap(gaps: &[f64], y1: f64, y2: f64) -> f64 {
    let (top, bottom, middle) = (y1.min(y2), y1.max(y2), (y1 + y2) / 2.0);
    let between = gaps.iter().copied().filter(|gap| top < *gap && *gap < bottom);
    let distance = |gap: &f64| (gap - middle).abs();
    between.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(middle)
}

/// What a box is called, for people who do not see it.
pub(crate) fn described(diagram: &Diagram) -> String {
    let arrow = |arrow: &Arrow| {
        let (from, to) = (&diagram.boxes[arrow.from].name, &diagram.boxes[arrow.to].name);
        format!("{from} to {to}: {}", arrow.full)
    };
    diagram.arrows.iter().map(arrow).collect::<Vec<_>>().join("; ")
}
