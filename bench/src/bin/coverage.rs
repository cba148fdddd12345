//! How much of what can happen does happen: distinct states that clients see, against the number of
//! runs, for random harnesses.
//!
//! Usage: coverage [HARNESSES [RUNS [SVG]]]
//!
//! The state of a run is everything that its clients get to see. The exact number of states comes
//! from going through all runs. Harnesses with more than MOST_RUNS of them are left out, and so are
//! those with one state only.

use seriatim::apps::Value;
use seriatim::apps::clients::Clients;
use seriatim::isolation::Level;
use seriatim::runs::{Run, RunError, Setting, run};
use seriatim::store::{Adversary, AllRuns, Random, RunPlan, by_chance};
use std::collections::HashSet;
use std::fmt::Write as _;

/// How many runs the exact number may take.
const MOST_RUNS: usize = 10_000;
const CAUSAL: Setting = Setting { level: Level::Causal, interleaved: false };
const SERIALIZABLE: Setting = Setting { level: Level::Serializable, interleaved: false };

type States = HashSet<Vec<Vec<Value>>>;

/// A way of running harnesses.
struct Line {
    name: &'static str,
    colour: &'static str,
    /// For each number of runs the share of states seen, summed over the harnesses.
    shares: Vec<f64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let harnesses: usize = arguments.next().map_or(Ok(50), |text| text.parse())?;
    let runs: usize = arguments.next().map_or(Ok(2_000), |text| text.parse())?;
    let svg = arguments.next();
    let line = |name, colour| Line { name, colour, shares: vec![0.0; runs] };
    let mut lines = [
        line("adversary, causal", "#d62728"),
        line("random, causal", "#1f77b4"),
        line("random, serializable", "#7f7f7f"),
    ];
    let (mut found, mut too_large, mut single, mut sizes) = (0, 0, 0, Vec::new());
    for seed in 0.. {
        if found == harnesses {
            break;
        }
        let harness = Clients::anything(seed);
        let Some(all) = all_states(&harness)? else {
            too_large += 1;
            continue;
        };
        if all.len() == 1 {
            single += 1;
            continue;
        }
        found += 1;
        sizes.push(all.len());
        let adversary = Adversary::new(seed);
        let random = |setting| {
            let harness = &harness;
            move |number: u64| {
                run(harness, setting, Random::new(number ^ seed << 32), by_chance(number))
            }
        };
        observe(&mut lines[0], &all, |number| with(&harness, adversary.run(number)))?;
        observe(&mut lines[1], &all, random(CAUSAL))?;
        observe(&mut lines[2], &all, random(SERIALIZABLE))?;
    }
    lines.iter_mut().flat_map(|line| &mut line.shares).for_each(|share| *share /= found as f64);
    sizes.sort_unstable();
    let (least, median, most) = (sizes[0], sizes[found / 2], sizes[found - 1]);
    println!("{found} harnesses with {least} to {most} states, median {median}.");
    println!(
        "Left out: {too_large} that take more than {MOST_RUNS} runs to go through, {single} with \
         one state.\n"
    );
    print_table(&lines, runs);
    if let Some(path) = svg {
        std::fs::write(path, plot(&lines, runs))?;
    }
    Ok(())
}

fn with(harness: &Clients, plot: RunPlan) -> Result<Run, RunError> {
    run(harness, CAUSAL, plot.chooser, plot.schedule)
}

/// Everything that clients can see; `None` if that takes too many runs.
fn all_states(harness: &Clients) -> Result<Option<States>, RunError> {
    let mut explorer = AllRuns::merging();
    let mut states = States::new();
    for number in 0.. {
        let Some(plot) = explorer.run() else { break };
        if number == MOST_RUNS {
            return Ok(None);
        }
        states.insert(with(harness, plot)?.seen);
    }
    Ok(Some(states))
}

fn observe(
    line: &mut Line,
    all: &States,
    mut run: impl FnMut(u64) -> Result<Run, RunError>,
) -> Result<(), RunError> {
    let mut seen = States::new();
    for (number, share) in line.shares.iter_mut().enumerate() {
        let state = run(number as u64)?.seen;
        assert!(all.contains(&state), "a state that going through all runs did not show");
        seen.insert(state);
        *share += seen.len() as f64 / all.len() as f64;
    }
    Ok(())
}

fn print_table(lines: &[Line], runs: usize) {
    println!(
        "| runs |{}",
        lines.iter().fold(String::new(), |row, line| row + &format!(" {} |", line.name))
    );
    println!("|---|{}", "---|".repeat(lines.len()));
    for count in [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]
        .into_iter()
        .filter(|&count| count <= runs)
    {
        let shares = lines.iter().map(|line| format!(" {:.1} % |", 100.0 * line.shares[count - 1]));
        println!("| {count} |{}", shares.collect::<String>());
    }
    for line in lines {
        let until = line.shares.iter().position(|&share| share >= 0.95);
        println!(
            "\n{}: 95 % after {}",
            line.name,
            until.map_or("more runs".to_owned(), |place| format!("{} runs", place + 1))
        );
    }
}

/// The lines as a picture, runs on a logarithmic scale.
fn plot(lines: &[Line], runs: usize) -> String {
    let (width, height, left, top) = (640.0, 360.0, 60.0, 20.0);
    let x = |count: f64| left + width * count.ln() / (runs as f64).ln();
    let y = |share: f64| top + height * (1.0 - share);
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 430\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"720\" height=\"430\" fill=\"white\"/>\n",
    );
    for percent in [0, 20, 40, 60, 80, 95, 100] {
        let at = y(f64::from(percent) / 100.0);
        let _ = writeln!(
            svg,
            "<line x1=\"60\" x2=\"700\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text \
             x=\"54\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>",
            at + 4.0
        );
    }
    for count in [1, 10, 100, 1000, 10_000].into_iter().filter(|&count| count <= runs) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"398\" text-anchor=\"middle\">{count}</text>",
            x(f64::from(count as u32))
        );
    }
    let _ = writeln!(svg, "<text x=\"380\" y=\"420\" text-anchor=\"middle\">runs</text>");
    for (place, line) in lines.iter().enumerate() {
        let points = line
            .shares
            .iter()
            .enumerate()
            .map(|(run, &share)| format!("{:.1},{:.1}", x((run + 1) as f64), y(share)));
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{points}\"/>",
            line.colour
        );
        let _ = writeln!(
            svg,
            "<text x=\"480\" y=\"{}\" fill=\"{}\">{}</text>",
            320 + 18 * place,
            line.colour,
            line.name
        );
    }
    svg + "</svg>\n"
}
