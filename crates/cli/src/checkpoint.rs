//! How far an exploration has come, in a file: written from time to time and at the end, whole or
//! not at all.

use crate::exit::Failure;
use crate::whole_files;
use serde::{Deserialize, Serialize};
use seriatim_explore::Work;
use std::io::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it takes from one writing to the next: at first the work is kept at once, so that an
/// exploration gets on however early it is killed.
const FIRST: Duration = Duration::from_millis(50);
const EVERY: Duration = Duration::from_secs(5);
const VERSION: u32 = 3;
/// No exploration takes longer: a time beyond was not written by us.
const ELAPSED_MAX: Duration = Duration::from_secs(1000 * 366 * 24 * 3600);

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    seriatim_checkpoint: u32,
    /// Of what: it fits nothing else.
    of: String,
    work: Work,
}

/// What every version has.
#[derive(Deserialize)]
struct Head {
    seriatim_checkpoint: u32,
}

/// The work in the file, if there is one; `of` is what it must be of.
pub fn load(path: &Path, of: &str) -> Result<Option<Work>, Failure> {
    let about = |problem: String| Failure::about(path.display(), problem);
    match std::fs::metadata(path) {
        Err(_) => return Ok(None),
        // A device may have no end.
        Ok(metadata) if !metadata.is_file() => {
            return Err(about("not a file; name another as checkpoint".to_owned()));
        }
        Ok(_) => {}
    }
    let bytes = std::fs::read(path).map_err(|error| about(error.to_string()))?;
    let broken = |error: serde_json::Error| {
        about(format!(
            "not a whole checkpoint of `seriatim explore`: {error}; remove it or name another file"
        ))
    };
    let head: Head = serde_json::from_slice(&bytes).map_err(broken)?;
    if head.seriatim_checkpoint != VERSION {
        return Err(about(
            "the checkpoint is of another version of seriatim; remove it or name another file"
                .to_owned(),
        ));
    }
    let checkpoint: Checkpoint = serde_json::from_slice(&bytes).map_err(broken)?;
    if checkpoint.work.elapsed() > ELAPSED_MAX {
        let problem =
            "not a checkpoint of `seriatim explore`: it says that it took longer than 1000 years";
        return Err(about(format!("{problem}; remove it or name another file")));
    }
    match difference(&checkpoint.of, of) {
        Some(difference) => Err(about(format!(
            "the checkpoint is of something else: {difference}; name another file"
        ))),
        None => Ok(Some(checkpoint.work)),
    }
}

/// In what two lists of settings differ.
fn difference(theirs: &str, mine: &str) -> Option<String> {
    if theirs == mine {
        return None;
    }
    let pairs = theirs.split(", ").zip(mine.split(", "));
    let differing = pairs.filter(|(theirs, mine)| theirs != mine).map(|(theirs, mine)| match mine
        .split_once(' ')
    {
        Some(("program", _)) => "another program".to_owned(),
        _ => format!("{theirs}, not {mine}"),
    });
    Some(differing.collect::<Vec<_>>().join("; "))
}

/// Writes the file.
pub struct Keeper<'p> {
    path: &'p Path,
    of: String,
    kept: Instant,
    /// How long to wait from then on.
    pause: Duration,
    /// What is newer than the file.
    unsaved: Option<Work>,
}

impl<'p> Keeper<'p> {
    /// Writes the file at once, so that one that cannot be written does not come as a surprise in
    /// the end.
    pub fn begin(path: &'p Path, of: String, work: &Work) -> Result<Self, Failure> {
        let unsaved = Some(work.clone());
        let mut keeper = Keeper { path, of, kept: Instant::now(), pause: Duration::ZERO, unsaved };
        keeper.save()?;
        Ok(keeper)
    }

    /// Takes note of how far the work has come.
    pub fn note(&mut self, work: &Work) {
        self.unsaved = Some(work.clone());
        if self.kept.elapsed() >= self.pause {
            self.pause = (2 * self.pause).clamp(FIRST, EVERY);
            // What fails now is tried again, and told of in the end.
            let _ = self.save();
        }
    }

    /// Writes what has not been written yet.
    pub fn save(&mut self) -> Result<(), Failure> {
        self.kept = Instant::now();
        let Some(work) = self.unsaved.take() else { return Ok(()) };
        let checkpoint = Checkpoint { seriatim_checkpoint: VERSION, of: self.of.clone(), work };
        let written = serde_json::to_string(&checkpoint).map_err(Error::other).and_then(|text| {
            whole_files::write(self.path, |path| std::fs::write(path, text + "\n"))
        });
        written.map_err(|error| {
            self.unsaved = Some(checkpoint.work);
            let problem = format!(
                "the checkpoint cannot be written: {error}; make room or name another file"
            );
            Failure::about(self.path.display(), problem)
        })
    }
}
