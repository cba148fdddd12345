//! `regexp_replace`.

use super::functions::at_least;
use super::{flags, invalid_parameter};
use crate::error::Result;
use crate::regex::{Match, Matches, Options, Text, compiled};

/// The replacement of one match: `\1` is a group, `\&` the match, `\\` a backslash.
fn append(out: &mut String, replacement: &str, text: &Text<'_>, found: &Match) {
    let mut rest = replacement;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let next = rest.chars().next();
        let group = match next {
            Some('&') => Some(0),
            Some(digit @ '1'..='9') => digit.to_digit(10).map(|digit| digit as usize),
            Some('\\') => None,
            // Before anything else a backslash is itself.
            _ => {
                out.push('\\');
                continue;
            }
        };
        match group {
            Some(group) => out.push_str(found.group(group).map_or("", |span| text.slice(span))),
            None => out.push('\\'),
        }
        rest = &rest[1..];
    }
    out.push_str(rest);
}

/// Replaces the match with this number, or all if that is 0, from the character `start` on.
pub(super) fn replace(
    text: &str,
    pattern: &str,
    replacement: &str,
    options: Options,
    start: i32,
    number: i32,
) -> Result<String> {
    let from = at_least(start, 1, "start")? - 1;
    let number = at_least(number, 0, "n")?;
    let regex = compiled(pattern, options)?;
    let text = Text::new(text);
    let mut matches = Matches { regex: &regex, text: &text, from };
    let (mut out, mut done, mut count) = (String::new(), 0, 0);
    while let Some(found) = matches.next()? {
        count += 1;
        if number > 0 && count != number {
            continue;
        }
        let (start, end) = found.whole();
        out.push_str(text.slice((done, start)));
        append(&mut out, replacement, &text, &found);
        done = end;
        if number > 0 {
            break;
        }
    }
    out.push_str(text.slice((done, text.length())));
    Ok(out)
}

pub(super) fn replace_flags(
    text: &str,
    pattern: &str,
    replacement: &str,
    flag_text: &str,
) -> Result<String> {
    if let Some(digit) = flag_text.chars().next().filter(char::is_ascii_digit) {
        let hint = "If you meant to use regexp_replace() with a start parameter, cast the \
                    fourth argument to integer explicitly.";
        let message = format!("invalid regular expression option: \"{digit}\"");
        return Err(invalid_parameter(message).hint(hint));
    }
    let flags = flags(flag_text)?;
    replace(text, pattern, replacement, flags.options, 1, i32::from(!flags.global))
}
