//! How long it takes to give a run its set-up state again:
//!
//!     cargo run --release -p seriatim-trial --example restore -- SETUP [RUNS]
//!
//! SETUP is a line for the shell, as of `fuzz --setup`. Each run is of a command that does nothing,
//! so that what is measured is a copy of the state with a server on it, a process that is started,
//! and the end of all of this.

use seriatim_isolation::Level;
use seriatim_store::{Latest, Node};
use seriatim_trial::{Application, Command, Deciders, Family, Protocol};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let set_up = arguments.next().ok_or("usage: restore SETUP [RUNS]")?;
    let runs: usize = arguments.next().map_or(Ok(100), |runs| runs.parse())?;
    if runs == 0 {
        return Err("RUNS: one at least".into());
    }
    let application = Application {
        set_up: Some(Command::Line(set_up)),
        command: Command::Program(vec!["true".into()]),
        clients: 1,
        one_by_one: false,
        check: None,
        expect: None,
        limit: Duration::from_secs(600),
        protocol: Protocol::Postgres,
        uses_locks: true,
        forces_level: false,
        innodb_snapshot_isolation: false,
    };
    let never = AtomicBool::new(false);
    let begun = Instant::now();
    let state = application.set_up(&never)?;
    println!("set-up: {:.2} s", begun.elapsed().as_secs_f64());
    let family = Family::Node(Node::Postgres, Level::ReadCommitted);
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let run = application.run(&state, family, Deciders::choosing(Latest), &[], &never)?;
        times.push(run.took.as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let (median, longest) = (times[runs / 2], times[runs - 1]);
    println!(
        "a run of nothing: {median:.2} ms at the median, {longest:.2} ms at most ({runs} runs)"
    );
    Ok(())
}
