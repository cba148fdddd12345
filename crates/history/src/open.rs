//! The short way to a history: from a path, in whatever format it is.

use crate::error::ReadError;
use crate::formats::{ReadOptions, read_path};
use crate::model::History;
use std::path::Path;

impl History {
    /// Reads the history in a file or directory; `-` is the standard input. The content says which
    /// format it is. Files in gzip or zstd need the feature `compression`.
    ///
    /// An error names the place and what to do. To name the format, to limit the size or to learn
    /// which format it was, use [`read_path`].
    ///
    /// ```
    /// use seriatim_history::History;
    ///
    /// # let path = std::env::temp_dir().join(format!("seriatim-open-{}.txt", std::process::id()));
    /// std::fs::write(&path, "w(1,1,0,0)\nr(1,1,1,1)\n")?;
    /// let history = History::open(&path)?;
    /// assert_eq!((history.session_count(), history.op_count()), (2, 2));
    ///
    /// std::fs::write(&path, "w(1,1,0,0)\nr(1,1,one,1)\n")?;
    /// let error = History::open(&path).unwrap_err().to_string();
    /// assert!(error.starts_with(&format!("{}:2:", path.display())), "{error}");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<History, ReadError> {
        let path = path.as_ref();
        let (history, _) = read_path(path, &path.to_string_lossy(), &ReadOptions::default())?;
        Ok(history)
    }
}
