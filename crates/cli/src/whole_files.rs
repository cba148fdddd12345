//! Output files that appear whole or not at all: written into a temporary directory beside the
//! target, then moved.
//!
//! A directory, so that whatever the writer leaves half-done (drafts of its own included) goes away
//! with it. The directories in use are listed, so that an interrupt can remove them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn open_places() -> MutexGuard<'static, Vec<PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what has not been moved to its target yet.
pub fn remove_all() {
    let mut open = open_places();
    for path in open.drain(..) {
        remove(&path);
    }
}

fn remove(dir: &Path) {
    // What is not there needs no removal; what cannot be removed we cannot help.
    let _ = fs::remove_dir_all(dir);
}

/// Lets `write` make the file (or directory) `target`. On failure there is no new file, and an old
/// one is unchanged.
pub fn write<E: From<io::Error>>(
    target: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    if is_special(target) {
        return write(target);
    }
    let target = &fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    let Some(name) = target.file_name() else {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "not the name of a file").into());
    };
    let workplace = workplace(target, name);
    open_places().push(workplace.clone());
    let written =
        fs::create_dir(&workplace).map_err(E::from).and_then(|()| write(&workplace.join(name)));
    // The list stays locked until the file has its name, so that an interrupt comes before or
    // after, not between.
    let mut open = open_places();
    open.retain(|path| *path != workplace);
    let moved = written.and_then(|()| Ok(fs::rename(workplace.join(name), target)?));
    remove(&workplace);
    moved
}

/// Whether `target` could be made now: its workplace is made, and removed again.
pub fn try_out(target: &Path) -> io::Result<()> {
    let Some(name) = target.file_name().filter(|_| !is_special(target)) else { return Ok(()) };
    let workplace = workplace(target, name);
    open_places().push(workplace.clone());
    let made = fs::create_dir(&workplace);
    remove(&workplace);
    open_places().retain(|path| *path != workplace);
    made
}

/// Devices and pipes cannot be replaced by a file; they are written directly.
fn is_special(target: &Path) -> bool {
    fs::metadata(target).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn workplace(target: &Path, name: &OsStr) -> PathBuf {
    let mut place = OsString::from(format!(".partial-{}-", std::process::id()));
    place.push(name);
    target.with_file_name(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("seriatim-staged-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = folder("fail");
        let target = folder.join("out.txt");
        fs::write(&target, "old").unwrap();
        let result = write(&target, |path| {
            fs::write(path, "half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_tried_out_leaves_nothing() {
        let folder = folder("try");
        try_out(&folder.join("out.txt")).unwrap();
        assert!(try_out(&folder.join("none").join("out.txt")).is_err());
        assert!(try_out(&folder.join("n".repeat(250))).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_good_write_replaces_the_file() {
        let folder = folder("good");
        let target = folder.join("out.txt");
        fs::write(&target, "old").unwrap();
        write::<io::Error>(&target, |path| fs::write(path, "new")).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
