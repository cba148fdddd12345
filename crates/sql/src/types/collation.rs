//! Collations: in which order texts come, and which are equal.
//!
//! Where nothing else is said texts are in the order of their bytes, which is that of `C`. The
//! others are those of ICU: two texts are compared by comparing their sort keys.

use super::Oid;
use crate::error::{Result, SqlError};
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;
use std::fmt;
use std::sync::Arc;

/// A collation.
pub struct Collation {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Whether only texts of the same bytes are equal.
    pub deterministic: bool,
    language: String,
    order: Option<CollatorBorrowed<'static>>,
}

impl fmt::Debug for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collation({})", self.name)
    }
}

impl PartialEq for Collation {
    fn eq(&self, other: &Collation) -> bool {
        self.oid == other.oid
    }
}

impl Collation {
    /// The order of bytes, under a name.
    pub fn of_bytes(oid: Oid, name: &str) -> Collation {
        let (name, language) = (name.into(), String::new());
        Collation { oid, name, deterministic: true, language, order: None }
    }

    /// The order of a locale of ICU.
    pub fn of_icu(oid: Oid, name: &str, locale: &str, deterministic: bool) -> Result<Collation> {
        let unknown = || SqlError::unsupported(format!("the ICU locale \"{locale}\""));
        let read: Locale = locale.replace('_', "-").parse().map_err(|_| unknown())?;
        let mut options = CollatorOptions::default();
        for (key, value) in read.extensions.unicode.keywords.iter() {
            let value = value.to_string();
            match (key.as_str(), value.as_str()) {
                ("ks", "level1") => options.strength = Some(Strength::Primary),
                ("ks", "level2") => options.strength = Some(Strength::Secondary),
                ("ks", "level3") => options.strength = Some(Strength::Tertiary),
                ("ks", "level4") => options.strength = Some(Strength::Quaternary),
                ("ks", "identic") => options.strength = Some(Strength::Identical),
                ("kc", "" | "true") => options.case_level = Some(CaseLevel::On),
                ("kc", "false") => options.case_level = Some(CaseLevel::Off),
                ("ka", "shifted") => {
                    options.alternate_handling = Some(AlternateHandling::Shifted);
                }
                ("ka", "noignore") => {
                    options.alternate_handling = Some(AlternateHandling::NonIgnorable);
                }
                // These are part of what is preferred.
                ("co" | "kn" | "kf", _) => {}
                _ => return Err(unknown()),
            }
        }
        let preferred = CollatorPreferences::from(&read);
        let order = CollatorBorrowed::try_new(preferred, options).map_err(|_| unknown())?;
        let language = read.id.language.to_string();
        Ok(Collation { oid, name: name.into(), deterministic, language, order: Some(order) })
    }

    /// Whether it is the order of bytes.
    pub fn is_bytes(&self) -> bool {
        self.order.is_none()
    }

    /// Bytes that are in the order of the texts that they are made of, and equal if these are.
    pub fn key(&self, text: &str) -> Vec<u8> {
        let Some(order) = &self.order else { return text.as_bytes().to_vec() };
        let mut key = Vec::new();
        // Writing to memory does not fail.
        let _ = order.write_sort_key_to(text, &mut key);
        if self.deterministic {
            // No key has a zero byte.
            key.push(0);
            key.extend_from_slice(text.as_bytes());
        }
        key
    }

    /// Small letters; an error where a language has rules of its own.
    pub fn lower(&self, text: &str) -> Result<String> {
        match self.language.as_str() {
            "tr" | "az" | "lt" => Err(self.has_rules("lower")),
            _ => Ok(text.to_lowercase()),
        }
    }

    /// Capital letters; an error where a language has rules of its own.
    pub fn upper(&self, text: &str) -> Result<String> {
        match self.language.as_str() {
            "tr" | "az" | "lt" | "el" | "hy" => Err(self.has_rules("upper")),
            _ => Ok(text.to_uppercase()),
        }
    }

    fn has_rules(&self, function: &str) -> SqlError {
        SqlError::unsupported(format!("{function} under the collation \"{}\"", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted<'t>(locale: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let collation = Collation::of_icu(Oid(1), "it", locale, true).unwrap();
        let mut texts = texts.to_vec();
        texts.sort_by_key(|text| collation.key(text));
        texts
    }

    #[test]
    fn languages_have_their_orders() {
        let texts = ["Z", "a", "ö", "z", "o", "B", "b"];
        assert_eq!(sorted("und", &texts), ["a", "b", "B", "o", "ö", "z", "Z"]);
        assert_eq!(sorted("sv", &texts), ["a", "b", "B", "o", "z", "Z", "ö"]);
        assert_eq!(sorted("en-u-kf-upper", &["a", "A"]), ["A", "a"]);
        assert_eq!(sorted("en-u-kn-true", &["a10", "a9"]), ["a9", "a10"]);
    }

    #[test]
    fn case_can_be_left_out() {
        let of = |locale, deterministic| Collation::of_icu(Oid(1), "it", locale, deterministic);
        let it = of("und-u-ks-level2", false).unwrap();
        assert_eq!(it.key("Andrew"), it.key("ANDREW"));
        assert_ne!(it.key("e"), it.key("é"));
        let it = of("und-u-ks-level1", false).unwrap();
        assert_eq!(it.key("e"), it.key("É"));
        let it = of("und-u-ks-level2", true).unwrap();
        assert_ne!(it.key("Andrew"), it.key("ANDREW"));
        assert_eq!(of("und-u-kr-latn", true).unwrap_err().code(), "0A000");
        assert_eq!(of("de@collation=phonebook", true).unwrap_err().code(), "0A000");
    }
}
