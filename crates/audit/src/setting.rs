//! The isolation levels of SQL, as databases are asked for them.

use std::fmt;
use std::str::FromStr;

/// An isolation level of SQL: what a transaction asks for. What it gets is another question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Setting {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Setting {
    /// All of them, weakest first.
    pub const ALL: [Setting; 4] = [
        Setting::ReadUncommitted,
        Setting::ReadCommitted,
        Setting::RepeatableRead,
        Setting::Serializable,
    ];

    /// The word on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Setting::ReadUncommitted => "ru",
            Setting::ReadCommitted => "rc",
            Setting::RepeatableRead => "rr",
            Setting::Serializable => "ser",
        }
    }
}

/// As SQL has it.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::ReadUncommitted => "READ UNCOMMITTED",
            Setting::ReadCommitted => "READ COMMITTED",
            Setting::RepeatableRead => "REPEATABLE READ",
            Setting::Serializable => "SERIALIZABLE",
        })
    }
}

/// A text that is no setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no isolation level of SQL; use ru, rc, rr or ser")]
pub struct NoSetting(String);

impl FromStr for Setting {
    type Err = NoSetting;

    fn from_str(text: &str) -> Result<Setting, NoSetting> {
        let plain = text.to_lowercase().replace(['-', '_'], " ");
        let is_it = |it: &Setting| it.code() == plain || it.to_string().to_lowercase() == plain;
        Setting::ALL.into_iter().find(is_it).ok_or_else(|| NoSetting(text.to_owned()))
    }
}
