//! Programs led by hand: what a level allows there is what its definition allows and what the
//! explorer visits, for random small programs and for every program of the examples.

use seriatim_explore::lang::{Registers, Source};
use seriatim_explore::play::{Found, Goal, Happened, Misfit, Named, Next, Play, Search, Step};
use seriatim_explore::{Explorer, LEVELS, Program, explore, replay};
use seriatim_isolation::{Level, oracle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// A small program with conditionals, own reads and aborts.
fn random_program(random: &mut Random) -> String {
    let mut text = "init x = 0, y = 0\n".to_owned();
    for session in 0..2 + random.below(2) {
        text += &format!("session s{session} {{\n");
        for _ in 0..1 + random.below(2) {
            text += "  begin a := 0;";
            for number in 0..1 + random.below(3) {
                let key = ["x", "y"][random.below(2)];
                text += &match random.below(9) {
                    0..4 => format!(" a := read({key});"),
                    4..7 => format!(" write({key}, a * 10 + {});", number + 1),
                    7 => format!(" if a > 5 {{ write({key}, a + 1) }}"),
                    _ => " if a % 2 { abort }".to_owned(),
                };
            }
            text += " commit\n";
        }
        text += "}\n";
    }
    text
}

fn program(text: &str) -> (Source, Program<i64, Registers>) {
    let source = Source::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let program = source.program();
    (source, program)
}

/// Goes through a program at random, and compares every choice on the way with the definition.
/// Returns how many versions were allowed, how many not, and how many commits were refused.
fn walk(text: &str, level: Level, random: &mut Random) -> [usize; 3] {
    let (_, program) = program(text);
    let mut play = Play::new(&program, level).unwrap();
    let mut counts = [0; 3];
    let mut steps = Vec::new();
    // A session whose commits are refused again and again may go on for long.
    while !play.is_over() && steps.len() < 200 {
        let told = format!("{level}, {steps:?}: {text}");
        let alive: Vec<u32> =
            (0..play.sessions()).filter(|&it| play.current(it).is_some()).collect();
        let session = alive[random.below(alive.len())];
        let step = match play.next(session).unwrap() {
            Next::Over => unreachable!("only sessions that go on"),
            Next::Read { .. } => {
                let candidates = play.candidates(session).unwrap();
                for candidate in &candidates {
                    let history = play.history_with_read(session, candidate.writer).unwrap();
                    let allowed = oracle::satisfies(&history, level);
                    assert_eq!(candidate.is_allowed, Some(allowed), "{candidate:?}, {told}");
                    let step = Step::Pick(session, candidate.writer);
                    if !allowed {
                        assert_eq!(play.step(step), Err(Misfit::Forbidden), "{told}");
                    }
                    counts[usize::from(!allowed)] += 1;
                }
                let allowed: Vec<_> =
                    candidates.iter().filter(|it| it.is_allowed == Some(true)).collect();
                assert!(!allowed.is_empty(), "a read without a version: {told}");
                Step::Pick(session, allowed[random.below(allowed.len())].writer)
            }
            next => {
                let expected = (next == Next::Commit).then(|| {
                    let history = play.history_with_commit(session).unwrap();
                    oracle::satisfies(&history, level)
                });
                let step = Step::Go(session);
                let happened = play.step(step).unwrap();
                if let Some(is_allowed) = expected {
                    assert_eq!(happened == Happened::AsSaid, is_allowed, "{told}");
                }
                counts[2] += usize::from(happened == Happened::Refused);
                steps.push(step);
                continue;
            }
        };
        assert_eq!(play.step(step), Ok(Happened::AsSaid), "{told}");
        steps.push(step);
        for other in LEVELS {
            let history = play.history();
            assert_eq!(play.holds(other), Some(oracle::satisfies(&history, other)), "{told}");
        }
    }
    if play.is_over() {
        let token = play.token().unwrap();
        replay(&program, level, &token, |_| ()).unwrap_or_else(|e| panic!("{e}: {token} {text}"));
    }
    counts
}

#[test]
fn what_a_read_may_return_is_what_the_definition_allows() {
    let mut random = Random(1);
    let mut counts = [0; 3];
    for seed in 0..400 {
        let text = random_program(&mut Random(seed));
        for level in LEVELS {
            let walked = walk(&text, level, &mut random);
            counts.iter_mut().zip(walked).for_each(|(sum, count)| *sum += count);
        }
    }
    // All of it happens.
    let [allowed, forbidden, refused] = counts;
    assert!(allowed > 5000 && forbidden > 500 && refused > 40, "{counts:?}");
}

#[test]
fn every_behaviour_of_the_explorer_can_be_reached_by_hand() {
    let mut reached = 0;
    for seed in 1000..1150 {
        let text = random_program(&mut Random(seed));
        let (_, program) = program(&text);
        for level in LEVELS {
            let tokens = Mutex::new(Vec::new());
            let note = |end: &seriatim_explore::End<'_, i64, Registers>| {
                tokens.lock().unwrap().push(end.token());
                Ok(())
            };
            let explored = Explorer::new(&program, level).run(&note).unwrap();
            assert!(explored.is_complete);
            for token in tokens.into_inner().unwrap().into_iter().take(50) {
                let steps = Play::steps_of(&program, level, &token, 100)
                    .unwrap_or_else(|misfit| panic!("{misfit}, {level}, {token}: {text}"));
                let mut play = Play::new(&program, level).unwrap();
                steps.into_iter().for_each(|step| assert!(play.step(step).is_ok()));
                assert_eq!(play.token(), Some(token));
                reached += 1;
            }
        }
    }
    assert!(reached > 1000, "{reached}");
}

fn soon() -> Search {
    Search { deadline: Instant::now() + Duration::from_secs(60), seed: 1 }
}

#[test]
fn the_adversary_finds_what_the_explorer_finds_and_nothing_else() {
    let mut counts = [0; 2];
    for seed in 5000..5120 {
        let text = random_program(&mut Random(seed));
        let (_, program) = program(&text);
        for level in LEVELS {
            let mut play = Play::new(&program, level).unwrap();
            let goal = Goal { is_failed: &|_| false, is_broken: &|end| !end.is_serializable() };
            let found = play.attack(goal, soon()).unwrap();
            let robust = |end: &seriatim_explore::End<'_, i64, Registers>| {
                if end.is_serializable() { Ok(()) } else { Err(String::new()) }
            };
            let expected = explore(&program, level, robust).unwrap().counterexample.is_some();
            let Found::Way(steps) = found else {
                assert_eq!((found, expected), (Found::NoWay, false), "{level}: {text}");
                counts[0] += 1;
                continue;
            };
            assert!(expected, "{level}: {text}");
            steps.into_iter().for_each(|step| assert!(play.step(step).is_ok()));
            assert_eq!(play.holds(Level::Serializable), Some(false));
            counts[1] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

/// The programs of the examples with the weakest level that forbids what they show.
fn examples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/programs");
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tx"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    all.sort();
    assert!(all.len() >= 15);
    all
}

#[test]
fn the_adversary_breaks_every_example_where_the_explorer_does() {
    for (name, text) in examples() {
        let (source, program) = program(&text);
        for level in LEVELS {
            let mut play = Play::new(&program, level).unwrap();
            let goal = Goal {
                is_failed: &|registers: &Registers| registers.failure.is_some(),
                is_broken: &|end| source.check(end).is_err(),
            };
            let found = play.attack(goal, soon()).unwrap();
            let expected = explore(&program, level, |end| source.check(end)).unwrap();
            match expected.counterexample {
                Some(_) => assert!(matches!(found, Found::Way(_)), "{name} at {level}: {found:?}"),
                None => assert_eq!(found, Found::NoWay, "{name} at {level}"),
            }
        }
    }
}

/// The first session reads, then the second one runs to its end, then the first one goes on.
const INTERLEAVED: &str = "init x = 5
session a { begin left := read(x); write(x, left - 2) commit }
session b { begin left := read(x); write(x, left - 1) commit }
assert final(x) == 2";

#[test]
fn operations_interleave_and_what_is_written_counts_at_the_commit() {
    let (source, program) = program(INTERLEAVED);
    let play_at = |level| {
        let mut play = Play::new(&program, level).unwrap();
        for step in [Step::Pick(0, None), Step::Pick(1, None), Step::Go(1)] {
            assert_eq!(play.step(step), Ok(Happened::AsSaid));
        }
        // Nobody can read what has not been committed.
        assert_eq!(play.candidates(0).unwrap(), []);
        assert_eq!(play.step(Step::Go(0)), Ok(Happened::AsSaid));
        assert_eq!(play.step(Step::Go(1)), Ok(Happened::AsSaid));
        play
    };
    let mut play = play_at(Level::PrefixConsistency);
    assert_eq!(play.next(0), Ok(Next::Commit));
    assert_eq!(play.step(Step::Go(0)), Ok(Happened::AsSaid));
    assert!(play.at_end(|end| source.check(end)).unwrap().is_err());
    assert_eq!(play.holds(Level::SnapshotIsolation), Some(false));

    let mut play = play_at(Level::SnapshotIsolation);
    let mark = play.mark();
    assert_eq!(play.step(Step::Go(0)), Ok(Happened::Refused));
    // It begins again, and now sees the other.
    let first = play.candidates(0).unwrap();
    let told: Vec<_> = first.iter().map(|it| (it.writer, it.value, it.is_allowed)).collect();
    let b = Named { session: 1, txn: 0 };
    assert_eq!(told, [(None, 5, Some(true)), (Some(b), 4, Some(true))]);
    play.step(Step::Pick(0, Some(b))).unwrap();
    play.step(Step::Go(0)).unwrap();
    assert_eq!(play.step(Step::Go(0)), Ok(Happened::AsSaid));
    assert_eq!(play.at_end(|end| source.check(end)), Some(Ok(())));
    assert_eq!(play.token().as_deref(), Some("1:0,0:1"));
    play.rewind(&mark);
    assert_eq!(play.next(0), Ok(Next::Commit));
    assert_eq!(play.token(), None);
}

#[test]
fn steps_that_do_not_fit_say_why() {
    let (_, program) = program(INTERLEAVED);
    let mut play = Play::new(&program, Level::Serializable).unwrap();
    let b = Some(Named { session: 1, txn: 0 });
    assert_eq!(play.step(Step::Go(7)), Err(Misfit::NoSession(7)));
    assert_eq!(play.step(Step::Go(0)), Err(Misfit::NeedsVersion("x".to_owned())));
    assert_eq!(play.step(Step::Pick(0, b)), Err(Misfit::NoVersion("x".to_owned())));
    play.step(Step::Pick(0, None)).unwrap();
    assert_eq!(play.step(Step::Pick(0, None)), Err(Misfit::NoRead));
    play.step(Step::Go(0)).unwrap();
    play.step(Step::Go(0)).unwrap();
    assert_eq!(play.step(Step::Go(0)), Err(Misfit::Over));
    assert!(play.current(0).is_none() && !play.is_over());
}
