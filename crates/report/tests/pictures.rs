//! Pictures as data: whatever the violation is, nothing overlaps, and the arrows are the edges of
//! the proof.

use seriatim_check::{Checker, Violation};
use seriatim_history::formats::{ReadOptions, read_path};
use seriatim_history::{History, notation};
use seriatim_isolation::Anomaly;
use seriatim_report::page::diagram::{Area, Diagram, diagram};
use std::collections::BTreeSet;
use std::path::Path;

fn violations(history: &History) -> Vec<Violation> {
    let report = Checker::new().check(history);
    report.anomalies.into_iter().map(|group| group.exemplar).collect()
}

/// A history for each anomaly, and others with several.
fn shipped() -> Vec<Violation> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../histories/anomalies");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let read = |path: std::path::PathBuf| {
        let shown = path.display().to_string();
        read_path(&path, &shown, &ReadOptions::default()).unwrap().0
    };
    files.map(read).flat_map(|history| violations(&history)).collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Sessions of random reads and writes of a few keys, mostly violated, with cycles of all lengths.
fn random_history(seed: u64) -> History {
    let mut random = Random(seed);
    let sessions = 2 + random.below(4);
    let mut value = 0;
    let lines: Vec<String> = (0..sessions)
        .map(|session| {
            let txns: Vec<String> = (0..1 + random.below(3))
                .map(|_| {
                    let ops: Vec<String> = (0..1 + random.below(4))
                        .map(|_| {
                            let key = ["x", "y", "z"][random.below(3) as usize];
                            if random.below(2) == 0 {
                                value += 1;
                                return format!("w({key},{value})");
                            }
                            match random.below(value + 1) {
                                0 => format!("r({key},nil)"),
                                read => format!("r({key},{read})"),
                            }
                        })
                        .collect();
                    ops.join(" ")
                })
                .collect();
            format!("s{session}: {}", txns.join(" | "))
        })
        .collect();
    notation::parse(&lines.join("\n")).unwrap()
}

/// What of a picture must not meet anything else of its sort.
fn check_room(picture: &Diagram, about: &str) {
    let within = |area: &Area| {
        area.x >= 0.0
            && area.y >= 0.0
            && area.x + area.width <= picture.width
            && area.y + area.height <= picture.height
    };
    let boxes = picture.boxes.iter().map(|it| it.area);
    let pills = picture.arrows.iter().map(|it| it.pill);
    let solid: Vec<Area> = boxes.chain(pills).collect();
    for (at, one) in solid.iter().enumerate() {
        assert!(within(one), "{about}: {one:?} of {} × {}", picture.width, picture.height);
        assert!(!solid[at + 1..].iter().any(|other| one.meets(other)), "{about}: {picture:?}");
    }
    for (at, one) in picture.lanes.iter().enumerate() {
        let beside = &picture.lanes[at + 1..];
        assert!(!beside.iter().any(|other| one.area.meets(&other.area)), "{about}: {picture:?}");
    }
    for arrow in &picture.arrows {
        check_path(picture, arrow.path, (arrow.from, arrow.to), about);
    }
}

/// An arrow crosses no box and no label but its own.
fn check_path(picture: &Diagram, path: [(f64, f64); 4], ends: (usize, usize), about: &str) {
    for leg in path.windows(2) {
        let ((x1, y1), (x2, y2)) = (leg[0], leg[1]);
        let line = Area {
            x: x1.min(x2) + 0.1,
            y: y1.min(y2) + 0.1,
            width: (x1 - x2).abs() - 0.2,
            height: (y1 - y2).abs() - 0.2,
        };
        for (at, it) in picture.boxes.iter().enumerate() {
            assert!(!it.area.meets(&line), "{about}: a line of {ends:?} crosses box {at}");
        }
        for other in picture.arrows.iter().filter(|other| other.path != path) {
            assert!(!other.pill.meets(&line), "{about}: a line of {ends:?} crosses a label");
        }
    }
}

/// Each step of the proof has one arrow, between the transactions that it speaks of.
fn check_edges(violation: &Violation, picture: &Diagram, about: &str) {
    let name = |at: usize| picture.boxes[at].name.as_str();
    let has_choices = !violation.alternatives.is_empty();
    let told = if has_choices { Vec::new() } else { seriatim_report::steps(violation) };
    for (step, text) in told.iter().enumerate() {
        let arrows: Vec<_> = picture.arrows.iter().filter(|it| it.step == Some(step)).collect();
        assert_eq!(arrows.len(), 1, "{about}: step {step} of {:?}", violation.kind);
        let spoken = format!("{} < {},", name(arrows[0].from), name(arrows[0].to));
        assert!(text.contains(&spoken), "{about}: {spoken} of {text}");
    }
    if !has_choices {
        let steps = picture.arrows.iter().filter(|it| it.step.is_some()).count();
        assert_eq!(steps, told.len(), "{about}");
    }
    let shown: BTreeSet<Option<u32>> = picture.boxes.iter().map(|it| it.txn).collect();
    assert_eq!(shown.len(), picture.boxes.len(), "{about}: a transaction has one box");
    for op in &violation.ops {
        assert!(shown.contains(&op.txn.id.map(|id| id.0)), "{about}: {:?}", op.txn);
    }
}

fn check_all(violations: &[Violation], about: &str) {
    for violation in violations {
        let picture = diagram(violation);
        check_room(&picture, about);
        check_edges(violation, &picture, about);
    }
}

#[test]
fn pictures_of_all_kinds_have_room_and_show_their_proofs() {
    let violations = shipped();
    let kinds: BTreeSet<&str> = violations.iter().map(|it| it.kind.info().code).collect();
    assert!(kinds.len() >= 20, "{kinds:?}");
    assert!(violations.iter().any(|it| it.kind == Anomaly::LongFork));
    check_all(&violations, "shipped");
}

#[test]
fn pictures_of_random_histories_have_room_and_show_their_proofs() {
    let (mut seen, mut longest) = (0, 0);
    for seed in 0..400 {
        let violations = violations(&random_history(seed));
        longest = longest.max(violations.iter().map(|it| it.cycle.len()).max().unwrap_or(0));
        seen += violations.len();
        check_all(&violations, &format!("seed {seed}"));
    }
    assert!(seen > 400 && longest > 3, "{seen} {longest}");
}
