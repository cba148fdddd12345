//! Where a match ends and what its groups capture, by POSIX's and PostgreSQL's rules.
//!
//! The match as a whole is the longest or the shortest one that begins at the first place where one
//! can; then each part from left to right takes the longest or shortest text that lets the rest
//! match ([`Node::prefers`]). An expression becomes a nondeterministic automaton (Thompson,
//! "Regular
//! expression search algorithm", 1968) whose instructions for a part are adjacent, so that the same
//! program answers which ends a part, or the rest behind it, can have. Without back references a
//! part whose rest matches never has to be taken back: captures need no backtracking.

use super::syntax::{Class, Node, Place, Prefer, Times, is_word};
use std::ops::RangeInclusive;

/// How many instructions a program has at most.
const STEPS_MAX: usize = 50_000;

/// Where a group begins and ends, in characters.
pub(super) type Span = (usize, usize);

#[derive(Debug)]
enum Step {
    Take(Class),
    At(Place),
    /// A condition on what follows or precedes: the instructions of a part.
    Look {
        start: usize,
        end: usize,
        behind: bool,
        negative: bool,
    },
    Jump(usize),
    Split(usize, usize),
}

/// A part of the expression with its instructions.
#[derive(Debug)]
struct Part {
    start: usize,
    end: usize,
    prefers: Prefer,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Nothing is captured inside.
    Plain,
    Group(usize, Box<Part>),
    Sequence(Vec<Part>),
    Choice(Vec<Part>),
    /// A part that is repeated or left out, and where the program goes on behind each of the
    /// copies; the last entry is for all further ones.
    Repeat {
        part: Box<Part>,
        rests: Vec<usize>,
    },
}

/// An expression as an automaton.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
    root: Part,
}

impl Program {
    /// `None` if the expression is not regular (back references) or too large.
    pub fn new(node: &Node) -> Option<Program> {
        let mut steps = Vec::new();
        let root = compile(node, &mut steps)?;
        Some(Program { steps, root })
    }

    /// Whether there is a match from this place on, in one pass: a match may begin anywhere.
    pub fn is_match(&self, text: &[char], from: usize) -> bool {
        let simulation = Simulation::new(&self.steps, text, self.root.end);
        simulation.accepts(self.root.start, from..=text.len())
    }

    /// Where the first match from this place on begins.
    pub fn start(&self, text: &[char], from: usize) -> Option<usize> {
        let begins = |at: &usize| {
            let simulation = Simulation::new(&self.steps, text, self.root.end);
            simulation.accepts(self.root.start, *at..=*at)
        };
        // The pass over everything first, so that a text without match does not cost its square.
        if !self.is_match(text, from) {
            return None;
        }
        (from..=text.len()).find(begins)
    }

    /// The match that begins at this place, as spans of the whole and of the groups.
    pub fn match_at(
        &self,
        text: &[char],
        start: usize,
        groups: usize,
    ) -> Option<Vec<Option<Span>>> {
        let ends = self.ends(&self.root, text, start, text.len());
        let end = match self.root.prefers {
            Prefer::Long => *ends.last()?,
            Prefer::Short => *ends.first()?,
        };
        let mut spans = vec![None; groups + 1];
        spans[0] = Some((start, end));
        if groups > 0 {
            self.capture(text, (start, end), &mut spans);
        }
        Some(spans)
    }

    fn ends(&self, part: &Part, text: &[char], from: usize, to: usize) -> Vec<usize> {
        Simulation::new(&self.steps, text, part.end).run(part.start, from, to)
    }

    /// Whether the instructions match exactly this span.
    fn spans(&self, start: usize, end: usize, text: &[char], span: Span) -> bool {
        spans(&self.steps, text, start, end, span)
    }

    /// Goes over the parts with what they match, and notes what groups capture.
    fn capture(&self, text: &[char], span: Span, spans: &mut [Option<Span>]) {
        let mut work = vec![(&self.root, span)];
        while let Some((part, span)) = work.pop() {
            match &part.kind {
                Kind::Plain => {}
                Kind::Group(number, inner) => {
                    spans[*number] = Some(span);
                    work.push((inner, span));
                }
                Kind::Sequence(parts) => self.divide(text, part.end, parts, span, &mut work),
                Kind::Choice(parts) => {
                    let fits = |part: &&Part| self.spans(part.start, part.end, text, span);
                    work.extend(parts.iter().find(fits).map(|part| (part, span)));
                }
                Kind::Repeat { part: inner, rests } => {
                    let last = self.last_time(text, part.end, inner, rests, span);
                    work.extend(last.map(|span| (&**inner, span)));
                }
            }
        }
    }

    /// The end of a part such that the rest of the span can be matched behind it.
    fn cut(&self, text: &[char], part: &Part, rest: usize, end: usize, span: Span) -> usize {
        let mut ends = self.ends(part, text, span.0, span.1);
        if part.prefers == Prefer::Long {
            ends.reverse();
        }
        let fits = |&&at: &&usize| self.spans(rest, end, text, (at, span.1));
        ends.iter().find(fits).copied().unwrap_or(span.1)
    }

    fn divide<'p>(
        &self,
        text: &[char],
        end: usize,
        parts: &'p [Part],
        mut span: Span,
        work: &mut Vec<(&'p Part, Span)>,
    ) {
        for (number, part) in parts.iter().enumerate() {
            let at = match parts.get(number + 1) {
                Some(next) => self.cut(text, part, next.start, end, span),
                None => span.1,
            };
            work.push((part, (span.0, at)));
            span.0 = at;
        }
    }

    /// What the last repetition matches, which is what groups inside keep. None of them is empty,
    /// except that a long one is tried where there is nothing to match.
    fn last_time(
        &self,
        text: &[char],
        end: usize,
        part: &Part,
        rests: &[usize],
        mut span: Span,
    ) -> Option<Span> {
        if span.0 == span.1 {
            let tried = part.prefers == Prefer::Long;
            return Some(span)
                .filter(|span| tried && self.spans(part.start, part.end, text, *span));
        }
        let mut last = None;
        for count in 0.. {
            if span.0 == span.1 {
                break;
            }
            let rest = *rests.get(count).or(rests.last())?;
            let mut ends = self.ends(part, text, span.0, span.1);
            if part.prefers == Prefer::Long {
                ends.reverse();
            }
            let fits = |&at: &usize| at > span.0 && self.spans(rest, end, text, (at, span.1));
            let at = ends.into_iter().find(fits).unwrap_or(span.1);
            last = Some((span.0, at));
            span.0 = at;
        }
        last
    }
}

/// Appends the instructions of a part. Recursion is bounded by the parser's limit of depth.
fn compile(node: &Node, steps: &mut Vec<Step>) -> Option<Part> {
    if steps.len() > STEPS_MAX {
        return None;
    }
    let start = steps.len();
    let kind = match node {
        Node::Empty => Kind::Plain,
        Node::Class(class) => {
            steps.push(Step::Take(class.clone()));
            Kind::Plain
        }
        Node::At(place) => {
            steps.push(Step::At(*place));
            Kind::Plain
        }
        Node::Look { behind, negative, node } => look(node, *behind, *negative, steps)?,
        Node::Back(_) => return None,
        Node::Group(number, node) => Kind::Group(*number, Box::new(compile(node, steps)?)),
        Node::Sequence(nodes) => {
            let parts: Option<Vec<_>> = nodes.iter().map(|node| compile(node, steps)).collect();
            Kind::Sequence(parts?)
        }
        Node::Choice(nodes) => choice(nodes, steps)?,
        Node::Repeat { node, range } if range.min > 0 && captures(node) => {
            last_apart(node, *range, steps)?
        }
        Node::Repeat { node, range } => repeat(node, *range, steps)?,
    };
    let kind = if captures(node) { kind } else { Kind::Plain };
    let prefers = node.prefers().unwrap_or(Prefer::Long);
    Some(Part { start, end: steps.len(), prefers, kind })
}

fn captures(node: &Node) -> bool {
    match node {
        Node::Group(..) => true,
        Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().any(captures),
        Node::Repeat { node, .. } => captures(node),
        _ => false,
    }
}

/// The part stands before its condition, and is jumped over.
fn look(node: &Node, behind: bool, negative: bool, steps: &mut Vec<Step>) -> Option<Kind> {
    let jump = steps.len();
    steps.push(Step::Jump(0));
    let part = compile(node, steps)?;
    steps[jump] = Step::Jump(steps.len());
    steps.push(Step::Look { start: part.start, end: part.end, behind, negative });
    Some(Kind::Plain)
}

fn choice(nodes: &[Node], steps: &mut Vec<Step>) -> Option<Kind> {
    let (mut parts, mut jumps) = (Vec::new(), Vec::new());
    for (number, node) in nodes.iter().enumerate() {
        let last = number + 1 == nodes.len();
        let split = steps.len();
        if !last {
            steps.push(Step::Split(split + 1, 0));
        }
        parts.push(compile(node, steps)?);
        if !last {
            jumps.push(steps.len());
            steps.push(Step::Jump(0));
            steps[split] = Step::Split(split + 1, steps.len());
        }
    }
    let end = steps.len();
    for jump in jumps {
        steps[jump] = Step::Jump(end);
    }
    Some(Kind::Choice(parts))
}

/// A part that is needed at least once is its repetitions but for the last one, and the last one,
/// which alone captures: PostgreSQL does so too, and the text is divided accordingly.
fn last_apart(node: &Node, range: Times, steps: &mut Vec<Step>) -> Option<Kind> {
    let fewer = Times { min: range.min - 1, max: range.max.map(|max| max - 1), ..range };
    let before = Node::Repeat { node: Box::new(node.clone()), range: fewer };
    let start = steps.len();
    repeat(node, fewer, steps)?;
    let prefers = before.prefers().unwrap_or(Prefer::Long);
    let before = Part { start, end: steps.len(), prefers, kind: Kind::Plain };
    Some(Kind::Sequence(vec![before, compile(node, steps)?]))
}

fn repeat(node: &Node, range: Times, steps: &mut Vec<Step>) -> Option<Kind> {
    let mut first = None;
    for _ in 0..range.min {
        first.get_or_insert(compile(node, steps)?);
    }
    let (mut rests, mut splits) = (Vec::new(), Vec::new());
    let more = range.max.map_or(1, |max| max - range.min);
    for _ in 0..more {
        let split = steps.len();
        splits.push(split);
        steps.push(Step::Split(split + 1, 0));
        let part = compile(node, steps)?;
        if range.max.is_none() {
            steps.push(Step::Jump(split));
        }
        rests.push(if range.max.is_none() { split } else { steps.len() });
        first.get_or_insert(part);
    }
    let end = steps.len();
    for split in splits {
        steps[split] = Step::Split(split + 1, end);
    }
    let Some(part) = first else {
        return Some(Kind::Plain);
    };
    Some(Kind::Repeat { part: Box::new(part), rests })
}

/// The states that the automaton can be in.
struct Simulation<'s> {
    steps: &'s [Step],
    text: &'s [char],
    end: usize,
    /// In which round an instruction was reached last.
    seen: Vec<usize>,
    round: usize,
    /// Instructions that take a character next.
    ready: Vec<usize>,
    stack: Vec<usize>,
    accepted: bool,
}

impl<'s> Simulation<'s> {
    fn new(steps: &'s [Step], text: &'s [char], end: usize) -> Simulation<'s> {
        Simulation {
            steps,
            text,
            end,
            seen: vec![0; end + 1],
            round: 0,
            ready: Vec::new(),
            stack: Vec::new(),
            accepted: false,
        }
    }

    /// The places up to `to` where the instructions from `start` can have matched, ascending.
    fn run(mut self, start: usize, from: usize, to: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        self.stack.push(start);
        for at in from..=to {
            self.follow(at);
            if self.accepted {
                ends.push(at);
            }
            if self.ready.is_empty() || at == to {
                break;
            }
            self.take(at);
        }
        ends
    }

    /// Whether the instructions match something that begins at one of these places.
    fn accepts(mut self, start: usize, starts: RangeInclusive<usize>) -> bool {
        for at in *starts.start()..=self.text.len() {
            if starts.contains(&at) {
                self.stack.push(start);
            } else if self.stack.is_empty() {
                return false;
            }
            self.follow(at);
            if self.accepted {
                return true;
            }
            self.take(at);
        }
        false
    }

    /// Takes the character at a place, if there is one.
    fn take(&mut self, at: usize) {
        let Some(&c) = self.text.get(at) else {
            return;
        };
        for step in self.ready.drain(..) {
            if matches!(&self.steps[step], Step::Take(class) if class.has(c)) {
                self.stack.push(step + 1);
            }
        }
    }

    /// Follows what takes no character.
    fn follow(&mut self, at: usize) {
        self.round += 1;
        self.accepted = false;
        while let Some(step) = self.stack.pop() {
            if self.seen[step] == self.round {
                continue;
            }
            self.seen[step] = self.round;
            if step == self.end {
                self.accepted = true;
                continue;
            }
            match &self.steps[step] {
                Step::Take(_) => self.ready.push(step),
                Step::Jump(target) => self.stack.push(*target),
                Step::Split(first, second) => self.stack.extend([*first, *second]),
                Step::At(place) if holds(*place, self.text, at) => self.stack.push(step + 1),
                Step::At(_) => {}
                Step::Look { start, end, behind, negative } => {
                    if self.looks(*start, *end, *behind, at) != *negative {
                        self.stack.push(step + 1);
                    }
                }
            }
        }
    }

    /// Whether a part matches what follows this place or precedes it.
    fn looks(&self, start: usize, end: usize, behind: bool, at: usize) -> bool {
        let matches = |from, to| Simulation::new(self.steps, self.text, end).run(start, from, to);
        if behind {
            return (0..=at).any(|from| matches(from, at).last() == Some(&at));
        }
        Simulation::new(self.steps, self.text, end).accepts(start, at..=at)
    }
}

/// Whether the instructions match exactly this span.
fn spans(steps: &[Step], text: &[char], start: usize, end: usize, span: Span) -> bool {
    Simulation::new(steps, text, end).run(start, span.0, span.1).last() == Some(&span.1)
}

fn holds(place: Place, text: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| text[at]);
    let behind = text.get(at).copied();
    let word_before = before.is_some_and(is_word);
    let word_behind = behind.is_some_and(is_word);
    match place {
        Place::TextStart => before.is_none(),
        Place::TextEnd => behind.is_none(),
        Place::LineStart => before.is_none_or(|c| c == '\n'),
        Place::LineEnd => behind.is_none_or(|c| c == '\n'),
        Place::WordStart => !word_before && word_behind,
        Place::WordEnd => word_before && !word_behind,
        Place::WordEdge => word_before != word_behind,
        Place::NoWordEdge => word_before == word_behind,
    }
}
