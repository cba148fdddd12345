//! Pictures as data: whatever the violation is, nothing overlaps, and the arrows are the edges of
//! the proof.

use seriatim_check::{Checker, OpRef, Reason, ValueRef, Violation, Why};
use seriatim_history::formats::{Format, ReadOptions, read_bytes, read_path};
use seriatim_history::{History, OpKind, notation};
use seriatim_isolation::{Anomaly, Level};
use seriatim_report::audited::{Audited, Moment};
use seriatim_report::explored::Branch;
use seriatim_report::page::diagram::{Area, Arrow, ArrowKind, Diagram, diagram, edges};
use seriatim_report::page::sequence::{Exchange, LineKind, Piece, pieces};
use seriatim_report::page::timeline::Timeline;
use seriatim_report::page::tree::branches;
use seriatim_report::page::{Asked, Lasting, Neighbour, Sequence, Window, rates};
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

/// An edge as data: between which transactions and operations it leads, and what it is.
type Told = (Option<u32>, Option<u32>, &'static str, Option<[Option<u32>; 2]>, bool);

fn id(op: &OpRef) -> Option<u32> {
    op.id.map(|id| id.0)
}

/// What an edge of a proof must look like.
fn told_of(reason: &Reason) -> (&'static str, Option<[Option<u32>; 2]>, bool) {
    let is_known = |why: &Why| matches!(why, Why::Initial | Why::Known(_) | Why::Listed(_));
    match reason {
        Reason::SessionOrder => ("so", None, false),
        Reason::Initial => ("initial", None, false),
        Reason::RealTime { .. } => ("rt", None, false),
        Reason::WriteRead { write, read, .. } => ("wr", Some([id(write), id(read)]), false),
        Reason::Overwritten { source, other, .. } => ("co", Some([id(other), id(source)]), true),
        Reason::VersionOrder { earlier, later, .. } => {
            ("ww", Some([id(earlier), id(later)]), false)
        }
        Reason::WriteWrite { earlier, later, why } => {
            ("ww", Some([id(earlier), id(later)]), !is_known(why))
        }
        Reason::ReadWrite { read, overwrite, why, .. } => {
            ("rw", Some([id(read), id(overwrite)]), !is_known(why))
        }
    }
}

/// The edges that there must be, of anomalies that need no order the reads of what was written.
fn expected(violation: &Violation) -> Vec<Told> {
    let of_proof = edges(violation).into_iter().map(|edge| {
        let (kind, ops, is_inferred) = told_of(&edge.reason);
        let [from, to] = [&edge.from, &edge.to].map(|txn| txn.id.map(|id| id.0));
        (from, to, kind, ops, is_inferred)
    });
    let of_proof: Vec<Told> = of_proof.collect();
    if !of_proof.is_empty() {
        return of_proof;
    }
    let returned = |read: &OpRef, write: &OpRef| match (write.kind, &read.value, &write.value) {
        (OpKind::Append, ValueRef::List(list), ValueRef::Scalar(one)) => list.contains(one),
        (OpKind::Append, ..) => false,
        _ => read.value == write.value,
    };
    let mut all = Vec::new();
    for read in violation.ops.iter().filter(|op| op.kind == OpKind::Read) {
        for write in violation.ops.iter().filter(|op| op.kind != OpKind::Read) {
            let is_other = write.txn.id != read.txn.id && write.key == read.key;
            if is_other && returned(read, write) {
                let [from, to] = [write, read].map(|op| op.txn.id.map(|id| id.0));
                all.push((from, to, "wr", Some([id(write), id(read)]), false));
            }
        }
    }
    all
}

fn told_by(picture: &Diagram, arrow: &Arrow) -> Told {
    let txn = |at: usize| picture.boxes[at].txn;
    (txn(arrow.from), txn(arrow.to), arrow.kind.word(), arrow.ops, arrow.is_inferred)
}

/// The arrows are the edges of the proof, each between the rows of its operations, and each step
/// has one.
fn check_edges(violation: &Violation, picture: &Diagram, about: &str) {
    let mut drawn: Vec<Told> = picture.arrows.iter().map(|it| told_by(picture, it)).collect();
    let mut all = expected(violation);
    drawn.sort();
    all.sort();
    assert_eq!(drawn, all, "{about}: {:?}", violation.kind);
    for arrow in &picture.arrows {
        let ops = arrow.ops.map_or([None; 2], |ops| ops);
        check_row(picture, arrow.from, ops[0], arrow.path[0].1, about);
        check_row(picture, arrow.to, ops[1], arrow.path[3].1, about);
    }
    let name = |at: usize| picture.boxes[at].name.as_str();
    let has_choices = !violation.alternatives.is_empty();
    let told = if has_choices { Vec::new() } else { seriatim_report::steps(violation) };
    for (step, text) in told.iter().enumerate() {
        let arrows: Vec<_> = picture.arrows.iter().filter(|it| it.step == Some(step)).collect();
        assert_eq!(arrows.len(), 1, "{about}: step {step} of {:?}", violation.kind);
        let spoken = format!("{} < {},", name(arrows[0].from), name(arrows[0].to));
        assert!(text.contains(&spoken), "{about}: {spoken} of {text}");
    }
    let steps = picture.arrows.iter().filter(|it| it.step.is_some()).count();
    assert_eq!(steps, told.len(), "{about}");
    // What a step rests on says so, and nothing else does.
    for arrow in &picture.arrows {
        let is_told = !told.is_empty();
        assert_eq!(arrow.serves.is_some(), is_told, "{about}: {arrow:?}");
        assert!(arrow.serves.is_none_or(|step| step < told.len()), "{about}: {arrow:?}");
        assert!(arrow.step.is_none() || arrow.step == arrow.serves, "{about}: {arrow:?}");
    }
    let shown: BTreeSet<Option<u32>> = picture.boxes.iter().map(|it| it.txn).collect();
    assert_eq!(shown.len(), picture.boxes.len(), "{about}: a transaction has one box");
    for op in &violation.ops {
        assert!(shown.contains(&op.txn.id.map(|id| id.0)), "{about}: {:?}", op.txn);
    }
}

/// The end of an arrow is in the row of its operation, if it has one there.
fn check_row(picture: &Diagram, at: usize, op: Option<u32>, y: f64, about: &str) {
    const ROW: f64 = 22.0;
    let it = &picture.boxes[at];
    assert!(it.area.y < y && y < it.area.y + it.area.height, "{about}: {y} of {it:?}");
    let Some(row) = it.rows.iter().position(|row| op.is_some() && row.op == op) else { return };
    let top = it.area.y + 4.0 + (row + 1) as f64 * ROW;
    assert!(top < y && y < top + ROW, "{about}: {y} of row {row} of {it:?}");
}

fn check_all(violations: &[Violation], about: &str) {
    for violation in violations {
        let picture = diagram(violation);
        check_room(&picture, about);
        check_edges(violation, &picture, about);
        let choices: Vec<Violation> =
            violation.alternatives.iter().map(|choice| choice.violation.clone()).collect();
        check_all(&choices, &format!("{about}: a choice"));
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

fn recorded(text: &str) -> History {
    let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
    read_bytes(text.as_bytes(), "run.jsonl", &options).unwrap().0
}

#[test]
fn pictures_of_statements_have_room_and_show_their_proofs() {
    let stock = r#"{"seriatim":1,"initial":{"item[7].stock":4}}
{"session":1,"txn":"T1","statements":[
 {"sql":"SELECT stock FROM item WHERE id = 7","rows":[["4"]],"count":1,"ops":1},
 {"sql":"UPDATE item SET stock = $1 WHERE id = $2","params":["3","7"],"done":"UPDATE 1","ops":1}],
 "ops":[["r","item[7].stock",4],["w","item[7].stock",3]]}
{"session":2,"txn":"T2","statements":[
 {"sql":"SELECT stock FROM item WHERE id = 7","rows":[["4"]],"count":1,"ops":1},
 {"sql":"UPDATE item SET stock = 2 WHERE id = 7","done":"UPDATE 1","ops":1}],
 "ops":[["r","item[7].stock",4],["w","item[7].stock",2]]}
"#;
    let found = violations(&recorded(stock));
    assert!(!found.is_empty());
    check_all(&found, "stock");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../histories/databases");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let Ok((history, _)) = read_path(&entry.path(), "run", &ReadOptions::default()) else {
            continue;
        };
        let found = violations(&history);
        seen += found.len();
        check_all(&found, &entry.path().display().to_string());
    }
    assert!(seen > 3, "{seen}");
}

#[test]
fn a_large_cycle_has_room_and_shows_its_proof() {
    let line = |i: u32| format!("s{i}: r(k{i},nil) w(k{},{i})", (i + 1) % 30);
    let text = (0..30).map(line).collect::<Vec<_>>().join("\n");
    let found = violations(&notation::parse(&text).unwrap());
    assert!(found.iter().any(|it| it.cycle.len() == 30), "{found:?}");
    check_all(&found, "a ring");
}

/// Each of the lists was appended to twice with the same element: whichever append it shows,
/// something is wrong, and the picture of each choice has the edges of its own proof.
#[test]
fn what_is_told_choice_by_choice_has_a_picture_for_each() {
    let text = "a: a(l,1) w(x,1)\nb: a(l,1) w(y,1)\nc: r(l,[1 1]) r(x,nil) r(y,nil)";
    let found = violations(&notation::parse(text).unwrap());
    let told = found.iter().find(|it| !it.alternatives.is_empty());
    let told = told.unwrap_or_else(|| panic!("{found:?}"));
    assert!(told.alternatives.len() > 1, "{told:?}");
    check_all(&found, "choices");
    let picture = diagram(told);
    assert!(picture.arrows.iter().all(|it| it.step.is_none() && it.serves.is_none()));
    let steps = told.alternatives.iter().map(|choice| {
        let picture = diagram(&choice.violation);
        picture.arrows.iter().filter(|it| it.step.is_some()).count()
    });
    assert!(steps.sum::<usize>() > 0);
}

/// A session without a name is not the initial state.
#[test]
fn a_session_without_a_name_has_a_lane_of_its_own() {
    let text = "{\"seriatim\":1,\"initial\":{\"x\":0}}\n\
         {\"session\":\"\",\"txn\":\"t1\",\"ops\":[[\"r\",\"x\",0],[\"w\",\"x\",1]]}\n\
         {\"session\":\"b\",\"txn\":\"t2\",\"ops\":[[\"r\",\"x\",0],[\"w\",\"x\",2]]}\n";
    let found = violations(&recorded(text));
    let picture = diagram(&found[0]);
    let names: Vec<&str> = picture.lanes.iter().map(|lane| lane.name.as_str()).collect();
    let own = picture.boxes.iter().filter(|it| it.txn.is_some()).count();
    assert_eq!(own, 2, "{picture:?}");
    assert!(names.contains(&"session ") && names.contains(&"session b"), "{names:?}");
    let initial = picture.boxes.iter().find(|it| it.txn.is_none());
    let unnamed = picture.boxes.iter().find(|it| it.name == "t1").unwrap();
    assert!(initial.is_none_or(|it| it.area.x != unnamed.area.x), "{picture:?}");
    assert!(picture.arrows.iter().any(|it| it.kind == ArrowKind::Missed));
}

fn txn(session: u32, times: (i64, i64), is_guilty: bool) -> Neighbour {
    let times = Some(Lasting::of(times));
    Neighbour { session: format!("s{session}"), times, is_guilty, ..Neighbour::default() }
}

fn check_bars(drawn: &Timeline, about: &str) {
    for (at, one) in drawn.bars.iter().enumerate() {
        let Area { x, y, width, height } = one.area;
        assert!(x >= 0.0 && x + width <= 1000.1 && width > 0.0, "{about}: {one:?}");
        assert!(y >= 0.0 && y + height <= drawn.height, "{about}: {one:?}");
        let beside = &drawn.bars[at + 1..];
        // Rounding aside.
        let less = Area { width: width - 1e-6, ..one.area };
        assert!(!beside.iter().any(|it| it.area.meets(&less)), "{about}: {drawn:?}");
    }
}

#[test]
fn bars_of_times_do_not_overlap_and_what_never_ended_stretches_nothing() {
    let window = Window {
        txns: vec![
            txn(0, (100, 200), true),
            txn(0, (200, i64::MAX), false),
            txn(1, (150, 180), true),
            txn(1, (i64::MIN, i64::MAX), false),
            txn(2, (i64::MIN, 170), false),
        ],
        ..Window::default()
    };
    let drawn = Timeline::of(&window).unwrap();
    assert_eq!((drawn.first, drawn.last), (100, 200));
    assert_eq!(drawn.guilty, (0.0, 1000.0));
    // A transaction of which nothing is known has no bar.
    let of: Vec<usize> = drawn.bars.iter().map(|bar| bar.txn).collect();
    assert_eq!(of, [0, 4, 2, 1]);
    let endless: Vec<usize> =
        drawn.bars.iter().filter(|bar| bar.is_endless).map(|bar| bar.txn).collect();
    assert_eq!(endless, [4, 1]);
    check_bars(&drawn, "never ended");
    for seed in 0..200 {
        let mut random = Random(seed);
        let txns = (0..1 + random.below(40)).map(|_| {
            let begin = random.below(1000) as i64;
            let end = match random.below(8) {
                0 => i64::MAX,
                1 => begin,
                _ => begin + random.below(100) as i64,
            };
            txn(random.below(5) as u32, (begin, end), random.below(5) == 0)
        });
        let window = Window { txns: txns.collect(), ..Window::default() };
        let Some(drawn) = Timeline::of(&window) else { continue };
        check_bars(&drawn, &format!("seed {seed}"));
    }
    let timeless = Window { txns: vec![Neighbour::default()], ..Window::default() };
    assert_eq!(Timeline::of(&timeless), None);
}

fn audited(timeline: Vec<Moment>) -> Audited {
    Audited {
        product: "db".to_owned(),
        setting: "SERIALIZABLE".to_owned(),
        promise: Level::Serializable,
        levels: Vec::new(),
        anomalies: Vec::new(),
        committed: 0,
        aborted: 0,
        unknown: 0,
        sessions: 1,
        seed: 0,
        seconds: 1.0,
        stale: None,
        lost_count: 0,
        lost: Vec::new(),
        totals: (0, 0),
        faults: Vec::new(),
        timeline,
        first_violation: None,
        decided: (0, 0, 0),
        unread_ends: 0,
        exemplar: None,
    }
}

#[test]
fn bars_of_rates_do_not_overlap_and_a_low_rate_is_told_as_it_is() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let mut at = 0.0;
        let moments = (0..1 + random.below(500)).map(|_| {
            at += random.below(100) as f64 / 10.0;
            let (committed, anomalies) = (1 + random.below(5000), random.below(4));
            Moment { at, workload: "register", committed, anomalies, forbidden: 0 }
        });
        let bars = rates(&audited(moments.collect()));
        for (one, next) in bars.iter().zip(bars.iter().skip(1)) {
            assert!(!one.area.meets(&next.area), "seed {seed}: {one:?} {next:?}");
        }
        assert!(bars.iter().all(|bar| bar.area.y >= 0.0 && bar.area.x + bar.area.width <= 1000.0));
    }
    let moment =
        Moment { at: 1.0, workload: "register", committed: 10_000, anomalies: 1, forbidden: 1 };
    let page = seriatim_report::page::audited(&[audited(vec![moment])], None);
    assert!(page.contains("over time, 0.1 at most"), "{page}");
}

fn asked(client: usize, number: usize, is_blamed: bool) -> Asked {
    Asked {
        client,
        txn: format!("t{number}"),
        text: "SELECT something FROM somewhere".to_owned(),
        returned: Some("1 row".to_owned()),
        otherwise: is_blamed.then(|| "2 rows".to_owned()),
        is_blamed,
        ..Asked::default()
    }
}

#[test]
fn the_statement_to_blame_is_shown_whatever_comes_before_it() {
    let clients = (0..60).map(|it| format!("connection {it}")).collect();
    let all = (0..3000).map(|it| asked(it % 60, it, it == 2519 || it == 59)).collect();
    let sequence = Sequence { clients, asked: all, order: "in order" };
    let shown = pieces(&sequence, 10, |_| true);
    let is_there = |at| shown.contains(&Piece::Shown(at));
    assert!(is_there(2519) && is_there(2518) && is_there(2520) && is_there(59), "{shown:?}");
    let count = |piece: &Piece| match piece {
        Piece::Shown(_) => 1,
        Piece::LeftOut(count) => *count,
    };
    assert_eq!(shown.iter().map(count).sum::<usize>(), 3000);
    let drawn = Exchange::of(&sequence);
    assert_eq!(drawn.lines.iter().filter(|it| it.kind == LineKind::Otherwise).count(), 2);
    assert!(drawn.lanes.iter().any(|(_, name)| name == "connection 59"));
    for pair in drawn.lines.windows(2) {
        assert!(pair[0].area.y + pair[0].area.height <= pair[1].area.y, "{pair:?}");
    }
    for it in &drawn.lines {
        assert!(it.area.x >= 0.0 && it.area.x + it.area.width <= drawn.width, "{it:?}");
    }
    let told = seriatim_report::page::Told {
        title: "command",
        answer: seriatim_check::Answer::Violated,
        text: "it failed\n",
        sequence: Some(&sequence),
        checked: None,
    };
    let page = seriatim_report::page::told(&told);
    assert!(page.contains(">t2519<") && page.contains("rows left out"), "{}", page.len());
}

#[test]
fn branches_of_a_tree_do_not_overlap_and_none_is_lost() {
    fn grown(random: &mut Random, depth: u64, histories: u64) -> Branch {
        let mut below = Vec::new();
        let mut left = histories;
        while depth > 0 && left > 0 && below.len() < 40 {
            let own = 1 + random.below(left);
            below.push(grown(random, depth - 1, own));
            left -= own;
        }
        let name = format!("s{depth}.1 reads initial");
        Branch { name, histories, counterexamples: histories / 3, below }
    }
    for seed in 0..100 {
        let root = grown(&mut Random(seed), 4, 1 + seed * 97);
        let boxes = branches(&root);
        for (at, one) in boxes.iter().enumerate() {
            assert!(one.area.width > 0.0 && one.area.x + one.area.width <= 960.0, "{one:?}");
            let beside = &boxes[at + 1..];
            assert!(!beside.iter().any(|it| it.area.meets(&one.area)), "seed {seed}: {one:?}");
        }
        let first = boxes.iter().filter(|it| it.area.y == 0.0);
        let all: u64 = root.below.iter().map(|it| it.histories).sum();
        let shown = first.map(|it| it.histories).sum::<u64>();
        assert!(shown <= all && shown as f64 >= 0.95 * all as f64, "{shown} of {all}");
    }
}
