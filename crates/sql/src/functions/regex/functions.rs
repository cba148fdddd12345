//! The functions of regular expressions that return one value.

use super::replace::{replace, replace_flags};
use super::sets::{pieces, split_flags};
use super::similar::similar;
use super::{flags, flags_without_global, invalid_parameter};
use crate::error::{Result, SqlError};
use crate::functions::arguments::Entry;
use crate::regex::{Match, Matches, Options, Text, compiled};
use crate::types::{Array, Datum, Oid};

fn matches(text: &str, pattern: &str) -> Result<bool> {
    compiled(pattern, Options::PLAIN)?.is_match(text)
}

fn matches_any_case(text: &str, pattern: &str) -> Result<bool> {
    compiled(pattern, Options { any_case: true, ..Options::PLAIN })?.is_match(text)
}

fn first(text: &Text<'_>, pattern: &str, options: Options) -> Result<Option<(Match, usize)>> {
    let regex = compiled(pattern, options)?;
    let found = Matches { regex: &regex, text, from: 0 }.next()?;
    Ok(found.map(|found| (found, regex.groups)))
}

/// The first group if there is one, else the match.
fn substring<'t>(text: &'t str, pattern: &str) -> Result<Option<&'t str>> {
    let text = Text::new(text);
    let found = first(&text, pattern, Options::PLAIN)?;
    let span = found.and_then(|(found, groups)| found.group(groups.min(1)));
    Ok(span.map(|span| text.slice(span)))
}

/// What the groups capture, or the match if there are none.
pub(super) fn captured(text: &Text<'_>, found: &Match, groups: usize) -> Array {
    let numbers = if groups == 0 { 0..=0 } else { 1..=groups };
    let group =
        |number| found.group(number).map_or(Datum::Null, |span| Datum::text(text.slice(span)));
    Array::of(Oid::TEXT, numbers.map(group).collect())
}

fn regexp_match(text: &str, pattern: &str, flag_text: &str) -> Result<Option<Array>> {
    let hint = "Use the regexp_matches function instead.";
    let options = flags_without_global(flag_text, "regexp_match");
    let options = options.map_err(|error| with_hint_of_global(error, hint))?;
    let text = Text::new(text);
    let found = first(&text, pattern, options)?;
    Ok(found.map(|(found, groups)| captured(&text, &found, groups)))
}

fn with_hint_of_global(error: SqlError, hint: &str) -> SqlError {
    if error.message().contains("global") { error.hint(hint) } else { error }
}

/// Checks a parameter that has to be at least this.
pub(super) fn at_least(value: i32, min: i32, name: &str) -> Result<usize> {
    if value < min {
        return Err(invalid_parameter(format!("invalid value for parameter \"{name}\": {value}")));
    }
    Ok(value as usize)
}

/// Numbers are checked before flags.
fn check_range(start: i32, number: i32) -> Result<()> {
    at_least(start, 1, "start")?;
    at_least(number, 0, "n").map(drop)
}

fn count(text: &str, pattern: &str, start: i32, flags: &str) -> Result<i32> {
    let from = at_least(start, 1, "start")? - 1;
    let regex = compiled(pattern, flags_without_global(flags, "regexp_count")?)?;
    let text = Text::new(text);
    let mut matches = Matches { regex: &regex, text: &text, from };
    let mut count = 0;
    while matches.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Which match of which group a function looks for.
struct Wanted<'w> {
    start: i32,
    number: i32,
    flags: &'w str,
    group: i32,
}

impl Wanted<'_> {
    const FIRST: Wanted<'static> = Wanted { start: 1, number: 1, flags: "", group: 0 };

    fn find(
        &self,
        text: &Text<'_>,
        pattern: &str,
        options: Options,
    ) -> Result<Option<(usize, usize)>> {
        let from = at_least(self.start, 1, "start")? - 1;
        let number = at_least(self.number, 1, "n")?;
        let group = at_least(self.group, 0, "subexpr")?;
        let regex = compiled(pattern, options)?;
        let mut matches = Matches { regex: &regex, text, from };
        for _ in 1..number {
            if matches.next()?.is_none() {
                return Ok(None);
            }
        }
        Ok(matches.next()?.and_then(|found| found.group(group)))
    }
}

fn instr(text: &str, pattern: &str, wanted: Wanted<'_>, end_option: i32) -> Result<i32> {
    at_least(wanted.start, 1, "start")?;
    at_least(wanted.number, 1, "n")?;
    if !(0..=1).contains(&end_option) {
        let message = format!("invalid value for parameter \"endoption\": {end_option}");
        return Err(invalid_parameter(message));
    }
    at_least(wanted.group, 0, "subexpr")?;
    let options = flags_without_global(wanted.flags, "regexp_instr")?;
    let text = Text::new(text);
    let span = wanted.find(&text, pattern, options)?;
    let place = |(start, end)| if end_option == 1 { end } else { start };
    Ok(span.map_or(0, |span| place(span) as i32 + 1))
}

fn substr<'t>(text: &'t str, pattern: &str, wanted: Wanted<'_>) -> Result<Option<&'t str>> {
    at_least(wanted.start, 1, "start")?;
    at_least(wanted.number, 1, "n")?;
    at_least(wanted.group, 0, "subexpr")?;
    let options = flags_without_global(wanted.flags, "regexp_substr")?;
    let text = Text::new(text);
    let span = wanted.find(&text, pattern, options)?;
    Ok(span.map(|span| text.slice(span)))
}

fn like(text: &str, pattern: &str, flag_text: &str) -> Result<bool> {
    compiled(pattern, flags_without_global(flag_text, "regexp_like")?)?.is_match(text)
}

fn split(text: &str, pattern: &str, flag_text: &str) -> Result<Array> {
    let options = split_flags(flag_text, "regexp_split_to_array")?;
    Ok(Array::of(Oid::TEXT, pieces(text, pattern, options)?))
}

/// `substring(text similar pattern escape escape)`.
fn similar_substring(text: &str, pattern: &str, escape: &str) -> Result<Datum> {
    let found = substring(text, &similar(pattern, Some(escape))?)?.map(Datum::text);
    Ok(found.unwrap_or(Datum::Null))
}

pub(in crate::functions) const TABLES: &[&[Entry]] = &[
    functions! {
        "textregexeq", (a: &str, b: &str) => matches(a, b);
        "textregexne", (a: &str, b: &str) => matches(a, b).map(|m| !m);
        "nameregexeq", (a: &str, b: &str) => matches(a, b);
        "nameregexne", (a: &str, b: &str) => matches(a, b).map(|m| !m);
        "texticregexeq", (a: &str, b: &str) => matches_any_case(a, b);
        "texticregexne", (a: &str, b: &str) => matches_any_case(a, b).map(|m| !m);
        "nameicregexeq", (a: &str, b: &str) => matches_any_case(a, b);
        "nameicregexne", (a: &str, b: &str) => matches_any_case(a, b).map(|m| !m);
        "textregexsubstr", (a: &str, b: &str) => substring(a, b);
        "#2074", (a: &str, b: &str, escape: &str) => similar_substring(a, b, escape);
        "similar_to_escape_1", (a: &str) => similar(a, None);
        "similar_to_escape_2", (a: &str, escape: &str) => similar(a, Some(escape));
        "similar_escape", (a: Option<&str>, escape: Option<&str>) =>
            a.map(|a| similar(a, escape));
        "regexp_match_no_flags", (a: &str, b: &str) => regexp_match(a, b, "");
        "regexp_match", (a: &str, b: &str, flags: &str) => regexp_match(a, b, flags);
        "regexp_like_no_flags", (a: &str, b: &str) => like(a, b, "");
        "regexp_like", (a: &str, b: &str, flags: &str) => like(a, b, flags);
        "regexp_split_to_array_no_flags", (a: &str, b: &str) => split(a, b, "");
        "regexp_split_to_array", (a: &str, b: &str, flags: &str) => split(a, b, flags);
    },
    functions! {
        "textregexreplace_noopt", (a: &str, b: &str, c: &str) =>
            replace(a, b, c, flags("")?.options, 1, 1);
        "textregexreplace", (a: &str, b: &str, c: &str, flags: &str) =>
            replace_flags(a, b, c, flags);
        "textregexreplace_extended_no_n", (a: &str, b: &str, c: &str, start: i32) =>
            replace(a, b, c, Options::PLAIN, start, 1);
        "textregexreplace_extended_no_flags", (a: &str, b: &str, c: &str, start: i32, n: i32) =>
            replace(a, b, c, Options::PLAIN, start, n);
        "textregexreplace_extended",
            (a: &str, b: &str, c: &str, start: i32, n: i32, flag_text: &str) =>
            {
                check_range(start, n)?;
                replace(a, b, c, flags(flag_text)?.options, start, n)
            };
        "regexp_count_no_start", (a: &str, b: &str) => count(a, b, 1, "");
        "regexp_count_no_flags", (a: &str, b: &str, start: i32) => count(a, b, start, "");
        "regexp_count", (a: &str, b: &str, start: i32, flags: &str) => count(a, b, start, flags);
        "regexp_instr_no_start", (a: &str, b: &str) => instr(a, b, Wanted::FIRST, 0);
        "regexp_instr_no_n", (a: &str, b: &str, start: i32) =>
            instr(a, b, Wanted { start, ..Wanted::FIRST }, 0);
        "regexp_instr_no_endoption", (a: &str, b: &str, start: i32, number: i32) =>
            instr(a, b, Wanted { start, number, ..Wanted::FIRST }, 0);
        "regexp_instr_no_flags", (a: &str, b: &str, start: i32, number: i32, end: i32) =>
            instr(a, b, Wanted { start, number, ..Wanted::FIRST }, end);
        "regexp_instr_no_subexpr",
            (a: &str, b: &str, start: i32, number: i32, end: i32, flags: &str) =>
            instr(a, b, Wanted { start, number, flags, group: 0 }, end);
        "regexp_instr",
            (a: &str, b: &str, start: i32, number: i32, end: i32, flags: &str, group: i32) =>
            instr(a, b, Wanted { start, number, flags, group }, end);
        "regexp_substr_no_start", (a: &str, b: &str) => substr(a, b, Wanted::FIRST);
        "regexp_substr_no_n", (a: &str, b: &str, start: i32) =>
            substr(a, b, Wanted { start, ..Wanted::FIRST });
        "regexp_substr_no_flags", (a: &str, b: &str, start: i32, number: i32) =>
            substr(a, b, Wanted { start, number, ..Wanted::FIRST });
        "regexp_substr_no_subexpr", (a: &str, b: &str, start: i32, number: i32, flags: &str) =>
            substr(a, b, Wanted { start, number, flags, group: 0 });
        "regexp_substr",
            (a: &str, b: &str, start: i32, number: i32, flags: &str, group: i32) =>
            substr(a, b, Wanted { start, number, flags, group });
    },
];
