//! Prints for each file given the answer and the time of every strategy, at the levels given by
//! `LEVELS` (comma-separated codes; default `cc,rc`): one line of tab-separated words for each
//! level, mode and boundary.

use seriatim::history::formats::{ReadOptions, read_path};
use seriatim::isolation::Level;
use seriatim::predict::{Answer, Boundary, Mode, Options, predict};
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let levels = std::env::var("LEVELS").unwrap_or_else(|_| "cc,rc".to_owned());
    let levels = levels.split(',').map(str::parse).collect::<Result<Vec<Level>, _>>()?;
    for file in std::env::args().skip(1) {
        let (history, _) = read_path(Path::new(&file), &file, &ReadOptions::default())?;
        for &level in &levels {
            for boundary in [Boundary::Strict, Boundary::Relaxed] {
                for mode in [Mode::Exact, Mode::Approx] {
                    let start = Instant::now();
                    let options = Options {
                        boundary,
                        mode,
                        budget: Some(Duration::from_secs(60)),
                        ..Options::new(level)
                    };
                    let (word, effort) = match predict(&history, &options)? {
                        Answer::Found(prediction) => {
                            (format!("found:{}", prediction.changed.len()), None)
                        }
                        Answer::NoneExists(effort) => ("none".to_owned(), Some(effort)),
                        Answer::Undecided(open, effort) => {
                            (format!("undecided:{open:?}"), Some(effort))
                        }
                        Answer::AlreadyUnserializable { violates_level } => {
                            (if violates_level { "violates" } else { "already" }.to_owned(), None)
                        }
                    };
                    let time = start.elapsed().as_secs_f64();
                    let shown = effort.map(|effort| format!("{effort:?}")).unwrap_or_default();
                    println!(
                        "{file}\t{}\t{}-{}\t{word}\t{time:.4}\t{shown}",
                        level.code(),
                        mode.word(),
                        boundary.word()
                    );
                }
            }
        }
    }
    Ok(())
}
