//! Compiled expressions, kept for the next use, and the search in a text.

use super::exact::{Program, Span};
use super::parse::{Options, invalid, parse};
use super::translate::translate;
use crate::error::{Result, SqlError, code};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How many compiled expressions are kept.
const CACHE_MAX: usize = 512;
/// How many steps a search with back references may take.
const BACKTRACKS_MAX: usize = 5_000_000;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Regex {
    /// Finds whether and where a match begins, faster than the automaton; absent where the
    /// expression has conditions that would make the library try all possibilities.
    library: Option<fancy_regex::Regex>,
    /// Finds where it ends; absent where the expression is not regular.
    exact: Option<Program>,
    /// How many groups it has.
    pub groups: usize,
}

type Cache = FxHashMap<(String, Options), Arc<Regex>>;

fn cache() -> &'static Mutex<Cache> {
    static CACHE: OnceLock<Mutex<Cache>> = OnceLock::new();
    CACHE.get_or_init(Mutex::default)
}

/// The compiled expression, which may have been compiled before.
pub(crate) fn compiled(pattern: &str, options: Options) -> Result<Arc<Regex>> {
    let key = (pattern.to_owned(), options);
    if let Some(found) = cache().lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(found.clone());
    }
    let regex = Arc::new(compile(pattern, options)?);
    let mut cache = cache().lock().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= CACHE_MAX {
        cache.clear();
    }
    cache.insert(key, regex.clone());
    Ok(regex)
}

fn compile(pattern: &str, options: Options) -> Result<Regex> {
    let parsed = parse(pattern, options)?;
    let exact = Program::new(&parsed.node);
    let library = match &exact {
        Some(_) if parsed.node.looks_around() => None,
        _ => fancy_regex::RegexBuilder::new(&translate(&parsed.node))
            .backtrack_limit(BACKTRACKS_MAX)
            .build()
            .ok(),
    };
    if library.is_none() && exact.is_none() {
        return Err(invalid("regular expression is too complex"));
    }
    Ok(Regex { library, exact, groups: parsed.groups })
}

fn failed() -> SqlError {
    let message = "regular expression failed: regular expression is too complex";
    SqlError::new(code::INVALID_REGULAR_EXPRESSION, message)
}

impl Regex {
    pub fn is_match(&self, text: &str) -> Result<bool> {
        match (&self.library, &self.exact) {
            (Some(library), _) => library.is_match(text).map_err(|_| failed()),
            (None, Some(exact)) => Ok(exact.is_match(&text.chars().collect::<Vec<_>>(), 0)),
            (None, None) => Err(failed()),
        }
    }

    /// Where the first match from this character on begins, in characters.
    fn start(&self, text: &Text<'_>, from: usize) -> Result<Option<usize>> {
        if let Some(library) = &self.library {
            let offset = text.offsets[from];
            let found = library.find_from_pos(text.text, offset).map_err(|_| failed())?;
            return Ok(found.map(|found| text.character(found.start())));
        }
        Ok(self.exact.as_ref().and_then(|exact| exact.start(&text.characters, from)))
    }

    /// The first match from this character on: the spans of the whole and of the groups.
    fn find(&self, text: &Text<'_>, from: usize) -> Result<Option<Vec<Option<Span>>>> {
        if from > text.length() {
            return Ok(None);
        }
        let Some(exact) = &self.exact else {
            return self.captures(text, from);
        };
        let Some(start) = self.start(text, from)? else {
            return Ok(None);
        };
        match exact.match_at(&text.characters, start, self.groups) {
            Some(spans) => Ok(Some(spans)),
            None => self.captures(text, from),
        }
    }

    /// The same with the preferences of the library.
    fn captures(&self, text: &Text<'_>, from: usize) -> Result<Option<Vec<Option<Span>>>> {
        let library = self.library.as_ref().ok_or_else(failed)?;
        let offset = text.offsets[from];
        let found = library.captures_from_pos(text.text, offset).map_err(|_| failed())?;
        let span = |m: fancy_regex::Match<'_>| (text.character(m.start()), text.character(m.end()));
        Ok(found.map(|found| (0..=self.groups).map(|group| found.get(group).map(span)).collect()))
    }
}

/// A text by characters.
#[derive(Debug)]
pub(crate) struct Text<'t> {
    text: &'t str,
    characters: Vec<char>,
    /// Where each character begins, and the end.
    offsets: Vec<usize>,
}

impl<'t> Text<'t> {
    pub fn new(text: &'t str) -> Text<'t> {
        let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        offsets.push(text.len());
        Text { text, characters: text.chars().collect(), offsets }
    }

    fn character(&self, offset: usize) -> usize {
        self.offsets.partition_point(|&at| at < offset)
    }

    pub fn length(&self) -> usize {
        self.characters.len()
    }

    /// A part of it.
    pub fn slice(&self, span: Span) -> &'t str {
        &self.text[self.offsets[span.0]..self.offsets[span.1]]
    }
}

/// A match: the spans of the whole and of the groups.
#[derive(Clone, Debug)]
pub(crate) struct Match(Vec<Option<Span>>);

impl Match {
    /// What the whole expression matches.
    pub fn whole(&self) -> Span {
        self.0[0].unwrap_or((0, 0))
    }

    /// What a group captures; 0 is the whole.
    pub fn group(&self, number: usize) -> Option<Span> {
        self.0.get(number).copied().flatten()
    }
}

/// Goes over all matches. Behind an empty one the search goes on one character later.
#[derive(Debug)]
pub(crate) struct Matches<'m, 't> {
    pub regex: &'m Regex,
    pub text: &'m Text<'t>,
    /// Where the search goes on.
    pub from: usize,
}

impl Matches<'_, '_> {
    pub fn next(&mut self) -> Result<Option<Match>> {
        if self.from > self.text.length() {
            return Ok(None);
        }
        let Some(found) = self.regex.find(self.text, self.from)?.map(Match) else {
            self.from = usize::MAX;
            return Ok(None);
        };
        let (start, end) = found.whole();
        self.from = if start == end { end + 1 } else { end };
        Ok(Some(found))
    }
}
