//! Output files that appear whole or not at all: written under a temporary name beside the target, then renamed.
//!
//! The names in use are listed, so that an interrupt can remove them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn open_files() -> MutexGuard<'static, Vec<PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what has been written under temporary names; holds off every rename that has not happened yet.
pub fn remove_all() {
    let mut open = open_files();
    for path in open.drain(..) {
        remove(&path);
    }
}

fn remove(path: &Path) {
    // What is not there needs no removal; what cannot be removed we cannot help.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Lets `write` make the file (or directory) `target`. On failure there is no new file, and an old one is unchanged.
pub fn write<E: From<io::Error>>(target: &Path, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    if is_special(target) {
        return write(target);
    }
    let target = &fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    let temporary = temporary_name(target);
    open_files().push(temporary.clone());
    let result = write(&temporary);
    // The list stays locked until the file has its name, so that an interrupt comes before or after, not between.
    let mut open = open_files();
    open.retain(|path| *path != temporary);
    let result = result.and_then(|()| Ok(fs::rename(&temporary, target)?));
    if result.is_err() {
        remove(&temporary);
    }
    result
}

/// Devices and pipes cannot be replaced by a file; they are written directly.
fn is_special(target: &Path) -> bool {
    fs::metadata(target).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Keeps the end of the name, which may say how to compress.
fn temporary_name(target: &Path) -> PathBuf {
    let mut name = OsString::from(format!(".partial-{}-", std::process::id()));
    name.push(target.file_name().unwrap_or_default());
    target.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("seriatim-staged-{}-{name}", std::process::id()));
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
