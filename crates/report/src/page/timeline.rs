//! Where the bars of transactions stand on an axis of time: a line for each session, and further
//! ones where transactions of a session overlap, so that no bar lies over another.

use super::counted::{Lasting, Window};
use super::diagram::Area;

/// What a plane measures in its own coordinates, whatever it shows.
pub(super) const ACROSS: f64 = 1_000.0;
/// How wide it is on a page.
pub(super) const PLANE: f64 = 820.0;
const LINE: f64 = 20.0;
const BAR: f64 = 12.0;
/// The least width of a bar that can be seen, in the coordinates of the plane.
const SEEN: f64 = 2.0 * ACROSS / PLANE;
/// Bars that begin closer to each other do not stand on one line.
const APART: f64 = 0.5;

/// A picture of a window, before it is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Timeline {
    /// The first and the last time that is known of its transactions.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    /// How high it is.
    pub height: f64,
    /// The sessions, each with the base line of its name.
    pub names: Vec<(f64, String)>,
    /// The transactions of which a time is known.
    pub bars: Vec<Bar>,
    /// From where to where the anomaly is.
    pub guilty: (f64, f64),
}

/// A transaction.
#[derive(Clone, PartialEq, Debug)]
pub struct Bar {
    /// Its place in the window.
    pub txn: usize,
    /// Where it stands; from 0 to 1,000 across.
    pub area: Area,
    /// Whether its begin or its end is not known, so that it reaches to the edge.
    pub is_endless: bool,
}

/// The end of what is on a line so far.
struct Line {
    session: usize,
    end: f64,
    last: usize,
}

impl Timeline {
    /// The picture; nothing if no times are known.
    pub fn of(window: &Window) -> Option<Timeline> {
        let known = || window.txns.iter().filter_map(|txn| txn.times.and_then(Lasting::known));
        let (first, last) = (known().map(|it| it.0).min()?, known().map(|it| it.1).max()?);
        let span = (last as f64 - first as f64).max(1.0);
        let x = |time: i64| (time as f64 - first as f64) / span * ACROSS;
        let extents: Vec<Option<(f64, f64)>> = window
            .txns
            .iter()
            .map(|txn| {
                let times = txn.times.filter(|times| times.known().is_some())?;
                let (begin, end) = (times.begin.map_or(0.0, x), times.end.map_or(ACROSS, x));
                Some((begin, end.max(begin)))
            })
            .collect();
        let mut sessions: Vec<&str> = Vec::new();
        for txn in &window.txns {
            if !sessions.contains(&txn.session.as_str()) {
                sessions.push(&txn.session);
            }
        }
        let (lines, mut bars) = placed(window, &extents, &sessions);
        // The lines of a session stand together.
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|&line| (lines[line].session, line));
        let mut top = vec![0.0; lines.len()];
        order.iter().enumerate().for_each(|(place, &line)| top[line] = place as f64 * LINE);
        for (bar, line) in &mut bars {
            bar.area.y = top[*line] + 4.0;
        }
        let names = sessions.iter().enumerate().filter_map(|(place, name)| {
            let line = order.iter().position(|&line| lines[line].session == place)?;
            Some((line as f64 * LINE + 14.0, (*name).to_owned()))
        });
        let guilty = || {
            let own = window.txns.iter().zip(&extents).filter(|(txn, _)| txn.is_guilty);
            own.filter_map(|(_, extent)| *extent)
        };
        Some(Timeline {
            first,
            last,
            height: lines.len() as f64 * LINE,
            names: names.collect(),
            guilty: (
                guilty().map(|it| it.0).fold(ACROSS, f64::min),
                guilty().map(|it| it.1).fold(0.0, f64::max),
            ),
            bars: bars.into_iter().map(|(bar, _)| bar).collect(),
        })
    }
}

/// The bars, each with its line: the first of its session on which nothing is in its way.
fn placed(
    window: &Window,
    extents: &[Option<(f64, f64)>],
    sessions: &[&str],
) -> (Vec<Line>, Vec<(Bar, usize)>) {
    let mut order: Vec<(usize, (f64, f64))> =
        extents.iter().enumerate().filter_map(|(txn, it)| Some((txn, (*it)?))).collect();
    order.sort_by(|one, other| one.1.0.total_cmp(&other.1.0).then(one.0.cmp(&other.0)));
    let mut lines: Vec<Line> = Vec::new();
    let mut bars: Vec<(Bar, usize)> = Vec::new();
    for (txn, (begin, end)) in order {
        let session = sessions.iter().position(|it| *it == window.txns[txn].session).unwrap_or(0);
        let width = (end - begin).max(SEEN);
        let x = begin.min(ACROSS - width).max(0.0);
        let is_free = |line: &Line| {
            line.session == session && line.end <= begin && bars[line.last].0.area.x + APART <= x
        };
        let found = lines.iter().position(is_free);
        let line = found.unwrap_or_else(|| {
            lines.push(Line { session, end: 0.0, last: 0 });
            lines.len() - 1
        });
        // What is so short that it is drawn wider makes room for what follows.
        if found.is_some() {
            let before = &mut bars[lines[line].last].0.area;
            before.width = before.width.min(x - before.x);
        }
        let is_endless =
            window.txns[txn].times.is_some_and(|it| it.begin.is_none() || it.end.is_none());
        let area = Area { x, y: 0.0, width, height: BAR };
        bars.push((Bar { txn, area, is_endless }, line));
        (lines[line].end, lines[line].last) = (end, bars.len() - 1);
    }
    (lines, bars)
}
