//! The choosers by name, for flags and requests.

use std::fmt;
use std::str::FromStr;

/// Which chooser picks among the versions that a read may return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChooserKind {
    /// Any version, each as likely as the others.
    Random,
    /// The version that committed last.
    Latest,
    /// The latest version of some session.
    LatestPerSession,
    /// Any version, the older the likelier.
    Stale,
    /// The version with which things go wrong.
    Adversary,
}

impl ChooserKind {
    /// All of them.
    pub const ALL: [ChooserKind; 5] = [
        ChooserKind::Random,
        ChooserKind::Latest,
        ChooserKind::LatestPerSession,
        ChooserKind::Stale,
        ChooserKind::Adversary,
    ];

    /// The name in flags and requests.
    pub fn code(self) -> &'static str {
        match self {
            ChooserKind::Random => "random",
            ChooserKind::Latest => "latest",
            ChooserKind::LatestPerSession => "latest-per-session",
            ChooserKind::Stale => "stale",
            ChooserKind::Adversary => "adversary",
        }
    }

    /// What it picks, in a few words.
    pub fn description(self) -> &'static str {
        match self {
            ChooserKind::Random => "any version, each as likely as the others",
            ChooserKind::Latest => {
                "the version that committed last; serializable if transactions run one at a time"
            }
            ChooserKind::LatestPerSession => "the latest version of some session",
            ChooserKind::Stale => "any version, the older the likelier",
            ChooserKind::Adversary => "the version with which things go wrong",
        }
    }
}

impl fmt::Display for ChooserKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// No chooser has this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownChooser(pub String);

impl fmt::Display for UnknownChooser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = ChooserKind::ALL.map(ChooserKind::code).join(", ");
        write!(f, "unknown chooser `{}`; expected one of {codes}", self.0)
    }
}

impl std::error::Error for UnknownChooser {}

impl FromStr for ChooserKind {
    type Err = UnknownChooser;

    fn from_str(text: &str) -> Result<Self, UnknownChooser> {
        let known = ChooserKind::ALL.into_iter().find(|kind| kind.code() == text);
        known.ok_or_else(|| UnknownChooser(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chooser_is_known_by_its_name() {
        for kind in ChooserKind::ALL {
            assert_eq!(kind.code().parse(), Ok(kind));
        }
        let error = "luck".parse::<ChooserKind>().unwrap_err().to_string();
        assert!(error.contains("`luck`") && error.contains("latest-per-session"), "{error}");
    }
}
