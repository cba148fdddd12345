//! The tree of behaviours that an exploration visited, as a picture: a row for each transaction
//! more, each branch as wide as its share of the histories. What is too narrow to be seen is drawn
//! as one.

use super::diagram::{Area, CHAR, PAD, cut, short};
use super::draw::n;
use crate::explored::Branch;
use crate::text::{grouped, plural};
use maud::{Markup, html};

const WIDTH: f64 = 960.0;
const ROW: f64 = 24.0;
/// The narrowest box, and how far boxes are apart.
const NARROW: f64 = 4.0;
const APART: f64 = 1.0;
/// Rows and characters of a name that are shown.
const ROWS_MAX: usize = 10;
const NAME_MAX: usize = 300;

/// A branch, or narrow ones together.
#[derive(Clone, PartialEq, Debug)]
pub struct BranchBox {
    /// Where it stands.
    pub area: Area,
    /// What its last transaction does.
    pub name: String,
    /// How many histories begin so.
    pub histories: u64,
    /// How many of them are counterexamples.
    pub counterexamples: u64,
}

/// Where the branches below `root` stand.
pub fn branches(root: &Branch) -> Vec<BranchBox> {
    let mut boxes = Vec::new();
    let mut row: Vec<(&Branch, f64, f64)> = vec![(root, 0.0, WIDTH)];
    for depth in 0..ROWS_MAX {
        let y = depth as f64 * ROW;
        let mut next = Vec::new();
        for (parent, left, right) in row {
            let scale = (right - left) / parent.histories.max(1) as f64;
            let mut x = left;
            let (wide, narrow): (Vec<&Branch>, Vec<&Branch>) =
                parent.below.iter().partition(|branch| branch.histories as f64 * scale >= NARROW);
            for branch in wide {
                let width = branch.histories as f64 * scale;
                boxes.push(placed(branch.name.clone(), &[branch], x, y, width));
                next.push((branch, x, x + width));
                x += width;
            }
            let width = narrow.iter().map(|it| it.histories).sum::<u64>() as f64 * scale;
            if !narrow.is_empty() && width >= NARROW {
                let name =
                    plural(narrow.len() as u64, "other branch").replace("branchs", "branches");
                boxes.push(placed(name, &narrow, x, y, width));
            }
        }
        row = next;
    }
    boxes
}

fn placed(name: String, all: &[&Branch], x: f64, y: f64, width: f64) -> BranchBox {
    BranchBox {
        area: Area { x, y, width: width - APART, height: ROW - APART },
        name,
        histories: all.iter().map(|it| it.histories).sum(),
        counterexamples: all.iter().map(|it| it.counterexamples).sum(),
    }
}

/// The picture; nothing if nothing branches.
pub(super) fn tree(root: &Branch) -> Option<Markup> {
    let boxes = branches(root);
    let bottom = boxes.iter().map(|it| it.area.y + ROW).fold(0.0, f64::max);
    if boxes.len() < 2 {
        return None;
    }
    Some(html! {
        figure.tree tabindex="0" {
            svg.picture.wide viewBox=(format!("0 0 {} {}", n(WIDTH), n(bottom))) role="group"
                aria-label="histories by how they begin" {
                @for it in &boxes { (branch(it)) }
            }
            figcaption {
                "Histories by how they begin: in each row one transaction more, with what it reads "
                "from; as wide as its share of the "
                (plural(root.histories, "history").replace("historys", "histories"))
                " that this run looked at. Red: the share of counterexamples."
            }
        }
    })
}

fn branch(it: &BranchBox) -> Markup {
    let Area { x, y, width, height } = it.area;
    let bad = it.counterexamples as f64 / it.histories.max(1) as f64 * width;
    let room = ((width - 2.0 * PAD) / CHAR).floor().max(0.0) as usize;
    let name = short(&it.name, NAME_MAX);
    html! {
        g.branch {
            rect x=(n(x)) y=(n(y)) width=(n(width)) height=(n(height)) {}
            @if bad > 0.0 {
                rect.bad x=(n(x)) y=(n(y + height - 4.0)) width=(n(bad)) height="4" {}
            }
            @if room >= 3 { text x=(n(x + PAD)) y=(n(y + 14.0)) { (cut(&name, room)) } }
            title {
                (name) ": " (grouped(it.histories)) " histories, " (grouped(it.counterexamples))
                " counterexamples"
            }
        }
    }
}
