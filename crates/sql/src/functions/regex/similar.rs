//! SIMILAR TO: the patterns of the SQL standard, rewritten to regular expressions.

use crate::error::{Result, SqlError, code};

/// The escape character, if there is one. Without an ESCAPE it is the backslash.
fn escape_character(escape: Option<&str>) -> Result<Option<char>> {
    let Some(escape) = escape else {
        return Ok(Some('\\'));
    };
    let mut characters = escape.chars();
    let first = characters.next();
    if characters.next().is_some() {
        let hint = "Escape string must be empty or one character.";
        let error = SqlError::new(code::INVALID_ESCAPE_SEQUENCE, "invalid escape string");
        return Err(error.hint(hint));
    }
    Ok(first)
}

/// What divides a pattern into three, of which `substring` returns the second: the first one has
/// to be short, the others follow.
fn divider(number: usize) -> Result<&'static str> {
    match number {
        0 => Ok("){1,1}?("),
        1 => Ok("){1,1}(?:"),
        _ => {
            let message = "SQL regular expression may not contain more than two \
                           escape-double-quote separators";
            Err(SqlError::new("2200C", message))
        }
    }
}

/// Where in a bracket expression the pattern is.
#[derive(Default)]
struct Bracket {
    /// How many brackets are open: `[[:alpha:]]` has two.
    depth: usize,
    /// How many characters are behind the first bracket. A closing one directly behind it, or
    /// behind it and `^`, is an ordinary character.
    position: usize,
    negated: bool,
}

impl Bracket {
    fn open() -> Bracket {
        Bracket { depth: 1, ..Bracket::default() }
    }

    /// Goes over one character inside.
    fn pass(&mut self, c: char) {
        match c {
            ']' if self.position > usize::from(self.negated) => self.depth -= 1,
            '[' => self.depth += 1,
            '^' if self.position == 0 => self.negated = true,
            _ => {}
        }
        self.position += 1;
    }
}

/// The regular expression that matches what this pattern matches.
pub(super) fn similar(pattern: &str, escape: Option<&str>) -> Result<String> {
    let escape = escape_character(escape)?;
    let mut out = String::from("^(?:");
    let (mut escaped, mut bracket, mut dividers) = (false, Bracket::default(), 0);
    for c in pattern.chars() {
        if escaped {
            escaped = false;
            if c == '"' && bracket.depth == 0 {
                out.push_str(divider(dividers)?);
                dividers += 1;
            } else {
                out.push('\\');
                out.push(c);
                // What is escaped is not at the beginning any more.
                bracket.position += 2;
            }
        } else if Some(c) == escape {
            escaped = true;
        } else if bracket.depth > 0 {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
            bracket.pass(c);
        } else if c == '[' {
            out.push(c);
            bracket = Bracket::open();
        } else {
            outside(c, &mut out);
        }
    }
    out.push_str(")$");
    Ok(out)
}

/// A character that is neither escaped nor in brackets.
fn outside(c: char, out: &mut String) {
    match c {
        '%' => out.push_str(".*"),
        '_' => out.push('.'),
        '(' => out.push_str("(?:"),
        '\\' | '.' | '^' | '$' => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
}
