//! A run between clients and a database: which statements are shown, and a diagram of them with a
//! lane for each client, one for the database, and an arrow for each statement and its answer.
//!
//! Every statement has a band of its own, and in it each text and each arrow a line of its own, so
//! that nothing lies over anything else.

use super::diagram::{Area, CHAR, PAD, cut, short};
use super::draw::n;
use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

/// Statements and clients that are drawn.
const CALLS_MAX: usize = 80;
const LANES_MAX: usize = 12;
/// How far clients are apart, and how wide the last one's texts may be.
const LANE: f64 = 150.0;
const TEXT: f64 = 420.0;
/// Characters of a text beside an arrow, and of a name above a lane.
const TEXT_CHARS_MAX: usize = 54;
const NAME_CHARS_MAX: usize = 18;
/// Characters of what stands behind a text.
const FULL_CHARS_MAX: usize = 1_000;
const TOP: f64 = 34.0;
/// The heights of a line of text, of an arrow, and between bands.
const LINE: f64 = 18.0;
const ARROW: f64 = 8.0;
const GAP: f64 = 8.0;

/// Statements of clients and their answers, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The clients.
    pub clients: Vec<String>,
    /// What was asked.
    pub asked: Vec<Asked>,
    /// In which order that stands, as a clause.
    pub order: &'static str,
}

/// A statement.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The client, by its place.
    pub client: usize,
    /// Its transaction.
    pub txn: String,
    /// The number of the transaction among those of the client, from 0.
    pub number: u32,
    /// The number of the statement in the transaction, from 0.
    pub statement: u32,
    /// The statement.
    pub text: String,
    /// What was answered.
    pub returned: Option<String>,
    /// Whether it is to blame.
    pub is_blamed: bool,
    /// What a serializable database would have answered, if that is something else.
    pub otherwise: Option<String>,
}

/// A statement, or statements that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// The statement, by its place in the run.
    Shown(usize),
    /// How many are left out here.
    LeftOut(usize),
}

/// The statements of a run that are shown: those that are to blame, then those that are nearest to
/// them; the first ones if none is. Only of clients for which `is_shown` holds.
pub fn pieces(
    sequence: &Sequence,
    shown_max: usize,
    is_shown: impl Fn(usize) -> bool,
) -> Vec<Piece> {
    let asked = &sequence.asked;
    let blamed: Vec<usize> = (0..asked.len()).filter(|&at| asked[at].is_blamed).collect();
    let far = |at: usize| {
        let next = blamed.partition_point(|&other| other < at);
        let after = blamed.get(next).map(|&other| other - at);
        let before = next.checked_sub(1).map(|last| at - blamed[last]);
        after.into_iter().chain(before).min().unwrap_or(at)
    };
    let mut near: Vec<usize> = (0..asked.len()).filter(|&at| is_shown(asked[at].client)).collect();
    near.sort_by_cached_key(|&at| (far(at), at));
    near.truncate(shown_max);
    near.sort_unstable();
    let mut pieces = Vec::new();
    let mut next = 0;
    for at in near.into_iter().chain([asked.len()]) {
        if at > next {
            pieces.push(Piece::LeftOut(at - next));
        }
        if at < asked.len() {
            pieces.push(Piece::Shown(at));
        }
        next = at + 1;
    }
    pieces
}

/// The clients that are shown, at most so many: those that are to blame first.
pub fn clients(sequence: &Sequence, clients_max: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..sequence.clients.len()).collect();
    let mut is_blamed = vec![false; all.len()];
    for asked in sequence.asked.iter().filter(|it| it.is_blamed) {
        if let Some(it) = is_blamed.get_mut(asked.client) {
            *it = true;
        }
    }
    all.sort_by_key(|&client| !is_blamed[client]);
    all.truncate(clients_max);
    all.sort_unstable();
    all
}

/// A run, before it is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Exchange {
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// The clients and the database, each with the middle of its lane.
    pub lanes: Vec<(f64, String)>,
    /// The lines, from the top.
    pub lines: Vec<Line>,
}

/// A text or an arrow.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Where it stands.
    pub area: Area,
    /// What it is.
    pub kind: LineKind,
    /// The text, as much as fits; nothing for arrows.
    pub text: String,
    /// The whole text.
    pub full: String,
    /// Whether its statement is to blame.
    pub is_blamed: bool,
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind {
    /// A statement.
    Statement,
    /// The arrow to the database.
    Call,
    /// An answer.
    Answer,
    /// The arrow back.
    Return,
    /// What a serializable database would have answered.
    Otherwise,
    /// Statements are left out here.
    LeftOut,
}

impl Exchange {
    /// Where everything stands.
    pub fn of(sequence: &Sequence) -> Exchange {
        let shown = clients(sequence, LANES_MAX);
        let middle = |lane: usize| PAD + LANE / 2.0 + lane as f64 * LANE;
        let database = middle(shown.len().max(1) - 1) + TEXT;
        let mut drawn = Exchange {
            width: database + LANE / 2.0 + PAD,
            height: TOP,
            lanes: shown
                .iter()
                .enumerate()
                .map(|(lane, &client)| (middle(lane), sequence.clients[client].clone()))
                .chain([(database, "database".to_owned())])
                .collect(),
            lines: Vec::new(),
        };
        for piece in pieces(sequence, CALLS_MAX, |client| shown.contains(&client)) {
            match piece {
                Piece::LeftOut(count) => {
                    let text = format!("… {count} statements left out");
                    drawn.text(PAD, LineKind::LeftOut, &text, false);
                }
                Piece::Shown(at) => {
                    let asked = &sequence.asked[at];
                    let lane = shown.iter().position(|&client| client == asked.client);
                    drawn.call(middle(lane.unwrap_or(0)), database, asked);
                }
            }
            drawn.height += GAP;
        }
        drawn
    }

    fn call(&mut self, x: f64, database: f64, asked: &Asked) {
        let is_blamed = asked.is_blamed;
        let arrow = |this: &mut Exchange, kind: LineKind| {
            let area = Area { x, y: this.height, width: database - x, height: ARROW };
            let (text, full) = (String::new(), String::new());
            this.lines.push(Line { area, kind, text, full, is_blamed });
            this.height += ARROW;
        };
        self.text(
            x + PAD,
            LineKind::Statement,
            &format!("{}: {}", asked.txn, asked.text),
            is_blamed,
        );
        arrow(self, LineKind::Call);
        if let Some(returned) = &asked.returned {
            self.text(x + PAD, LineKind::Answer, returned, is_blamed);
            arrow(self, LineKind::Return);
        }
        if let Some(otherwise) = &asked.otherwise {
            let text = format!("serializable: {otherwise}");
            self.text(x + PAD, LineKind::Otherwise, &text, is_blamed);
        }
    }

    fn text(&mut self, x: f64, kind: LineKind, text: &str, is_blamed: bool) {
        let full = short(text, FULL_CHARS_MAX);
        let text = cut(&full, TEXT_CHARS_MAX);
        let width = text.width() as f64 * CHAR;
        let area = Area { x, y: self.height, width, height: LINE };
        self.lines.push(Line { area, kind, text, full, is_blamed });
        self.height += LINE;
    }
}

/// The diagram; nothing if nothing was asked.
pub(super) fn exchange(sequence: &Sequence) -> Option<Markup> {
    if sequence.asked.is_empty() || sequence.clients.is_empty() {
        return None;
    }
    let drawn = Exchange::of(sequence);
    let bottom = n(drawn.height);
    Some(html! {
        figure.exchange tabindex="0" {
            svg.picture.fits xmlns="http://www.w3.org/2000/svg"
                viewBox=(format!("0 0 {} {bottom}", n(drawn.width)))
                width=(n(drawn.width)) height=(bottom) role="group"
                aria-label="clients and the database, from the top" {
                @for (x, name) in &drawn.lanes {
                    line.life x1=(n(*x)) x2=(n(*x)) y1=(n(TOP - 8.0)) y2=(bottom) {}
                    text.lane-name x=(n(*x)) y="18" {
                        (short(name, NAME_CHARS_MAX))
                        title { (short(name, FULL_CHARS_MAX)) }
                    }
                }
                @for it in &drawn.lines { (line(it)) }
            }
            figcaption {
                "Statements of clients and the answers of the database, " (sequence.order)
                ". Red: to blame."
            }
        }
    })
}

fn line(it: &Line) -> Markup {
    let (left, right) = (it.area.x, it.area.x + it.area.width);
    let y = it.area.y + it.area.height / 2.0;
    let class = match it.kind {
        LineKind::Statement => "said",
        LineKind::Answer | LineKind::LeftOut => "said more",
        LineKind::Otherwise => "said otherwise",
        LineKind::Call => "call",
        LineKind::Return => "call back",
    };
    let arrow = |from: f64, to: f64| {
        let back = if to > from { to - 8.0 } else { to + 8.0 };
        format!(
            "M{} {y}L{} {y}M{} {}L{} {y}L{} {}",
            n(from),
            n(to),
            n(back),
            n(y - 4.0),
            n(to),
            n(back),
            n(y + 4.0),
            y = n(y)
        )
    };
    html! {
        g.(class).blamed[it.is_blamed] {
            @match it.kind {
                LineKind::Call => path d=(arrow(left, right)) {},
                LineKind::Return => path d=(arrow(right, left)) {},
                _ => {
                    rect.behind x=(n(left - 2.0)) y=(n(it.area.y)) width=(n(it.area.width + 4.0))
                        height=(n(it.area.height)) {}
                    text x=(n(left)) y=(n(it.area.y + 13.0)) {
                        (it.text)
                        @if it.full != it.text { title { (it.full) } }
                    }
                }
            }
        }
    }
}
