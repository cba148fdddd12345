//! Kinds of anomalies as flags name them: by their codes, and by every name that `explain` knows.

use crate::output;
use crate::parsers::plain;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use seriatim_isolation::Anomaly;
use seriatim_report::clean;
use seriatim_report::knowledge::{self, Subject};
use std::ffi::OsStr;

/// The kinds that one name stands for: several share G-single, for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds(Vec<Anomaly>);

impl Kinds {
    /// All kinds that `names` stand for, each once, in the order of reports.
    pub fn all(names: &[Kinds]) -> Vec<Anomaly> {
        let is_named = |kind: &Anomaly| names.iter().any(|name| name.0.contains(kind));
        Anomaly::ALL.into_iter().filter(is_named).collect()
    }
}

/// Parses a name of one or more kinds.
#[derive(Clone, Debug)]
pub struct KindsParser {
    /// What the kinds that are taken have in common, after "it" or "they".
    what: &'static str,
    kinds: Vec<Anomaly>,
}

impl KindsParser {
    /// Every kind.
    pub fn any() -> KindsParser {
        KindsParser { what: "is checked", kinds: Anomaly::ALL.to_vec() }
    }

    /// Those that `is_taken` says, of which `what` is true.
    pub fn of(what: &'static str, is_taken: impl Fn(Anomaly) -> bool) -> KindsParser {
        let kinds = Anomaly::ALL.into_iter().filter(|&kind| is_taken(kind)).collect();
        KindsParser { what, kinds }
    }

    fn find(&self, text: &str) -> Result<Kinds, String> {
        let is_meant = |kind: &&Anomaly| plain(kind.info().code) == plain(text);
        if let Some(&kind) = self.kinds.iter().find(is_meant) {
            return Ok(Kinds(vec![kind]));
        }
        let named = knowledge::find(text).map_err(|unknown| self.unknown(text, &unknown))?;
        let kinds = named.iter().filter_map(|entry| match entry.subject {
            Subject::Anomaly(kind) => Some(kind),
            _ => None,
        });
        let taken: Vec<Anomaly> = kinds.filter(|kind| self.kinds.contains(kind)).collect();
        match taken.is_empty() {
            false => Ok(Kinds(taken)),
            true => {
                let (text, what) = (clean(text), self.what);
                Err(format!("`{text}` is no kind of anomaly that {what}; {}", self.examples()))
            }
        }
    }

    fn unknown(&self, text: &str, unknown: &knowledge::Unknown) -> String {
        let text = clean(text);
        match unknown.suggestions.as_slice() {
            [] => format!("no anomaly is called `{text}`; {}", self.examples()),
            near => format!(
                "no anomaly is called `{text}`; did you mean {}? `seriatim explain` lists all",
                near.join(", ")
            ),
        }
    }

    fn examples(&self) -> String {
        let codes: Vec<&str> = self.kinds.iter().map(|kind| kind.info().code).collect();
        let shown = ["lost-update", "write-skew", "fractured-read"];
        let shown: Vec<&str> = shown.into_iter().filter(|code| codes.contains(code)).collect();
        format!(
            "there are {}, G1a, P4 and others, which `seriatim explain` lists",
            shown.join(", ")
        )
    }
}

impl TypedValueParser for KindsParser {
    type Value = Kinds;

    fn parse_ref(
        &self,
        cmd: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Kinds, clap::Error> {
        self.find(&value.to_string_lossy()).map_err(|problem| {
            clap::Error::raw(ErrorKind::InvalidValue, output::below_error(&problem)).with_cmd(cmd)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.kinds.iter().map(|kind| kind.info());
        Some(Box::new(values.map(|info| PossibleValue::new(info.code).help(info.name))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        let kinds = KindsParser::any().find(text).map(|kinds| kinds.0).unwrap_or_default();
        kinds.iter().map(|kind| kind.info().code).collect()
    }

    #[test]
    fn kinds_are_known_by_every_name_in_any_case() {
        for name in ["lost-update", "Lost Update", "LOST_UPDATE", "LostUpdate", "p4", "P4"] {
            assert_eq!(codes(name), ["lost-update"], "{name}");
        }
        assert_eq!(codes("G1a"), ["aborted-read"]);
        assert_eq!(codes("g0"), ["write-cycle", "dirty-write"]);
        assert_eq!(codes("G2-item"), ["write-skew", "anti-dependency-cycle"]);
        assert_eq!(codes("G-single").len(), 5);
    }

    #[test]
    fn a_name_of_nothing_is_told_with_what_is_near() {
        let problem = |text| KindsParser::any().find(text).unwrap_err();
        assert!(problem("lost-updat").contains("did you mean lost-update"));
        assert!(problem("rc").starts_with("`rc` is no kind of anomaly that is checked"));
        assert!(problem("zzzzzzz").contains("`seriatim explain` lists"));
        let plant = KindsParser::of("can be planted", seriatim_generate::can_be_planted);
        let problem = plant.find("incompatible-order").unwrap_err();
        assert!(problem.contains("no kind of anomaly that can be planted"), "{problem}");
    }
}
