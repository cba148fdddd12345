//! Text into tokens with their places.

use super::{LangError, Spot};

/// The smallest parts of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Name(String),
    /// Without its sign: the smallest number has one more than the largest.
    Number(u64),
    Sign(&'static str),
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// Longer signs before their beginnings.
const SIGNS: [&str; 27] = [
    ":=", "==", "!=", "<=", ">=", "&&", "||", "..", "=>", "{", "}", "(", ")", "[", "]", ";", ",",
    ".", "=", "<", ">", "+", "-", "*", "/", "%", "!",
];

/// The most bytes of a name: errors show it.
const WORD_MAX: usize = 100;

/// All tokens, the end included. `#` and `//` start a comment.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Spot)>, LangError> {
    let mut tokens = Vec::new();
    let mut end = Spot { line: 1, column: 1 };
    for (number, line) in text.lines().enumerate() {
        let (mut rest, mut column) = (line, 1);
        loop {
            let trimmed = rest.trim_start();
            column += rest[..rest.len() - trimmed.len()].chars().count();
            if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("//") {
                break;
            }
            let spot = Spot { line: number + 1, column };
            let (token, left) = token(trimmed, spot)?;
            column += trimmed[..trimmed.len() - left.len()].chars().count();
            tokens.push((token, spot));
            rest = left;
        }
        end = Spot { line: number + 1, column };
    }
    tokens.push((Token::End, end));
    Ok(tokens)
}

/// A number that does not fit.
pub(crate) fn too_large(digits: &str, spot: Spot) -> LangError {
    let shown = match digits.len() > WORD_MAX {
        true => "this number".to_owned(),
        false => format!("the number {digits}"),
    };
    LangError::new(spot, format!("{shown} is too large"), "numbers have 64 bits")
}

/// The first token of a line, and the rest of it.
fn token(rest: &str, spot: Spot) -> Result<(Token, &str), LangError> {
    let while_in = |accept: fn(char) -> bool| rest.find(|c: char| !accept(c)).unwrap_or(rest.len());
    let first = rest.chars().next().unwrap_or_default();
    if first.is_ascii_digit() {
        let (digits, left) = rest.split_at(while_in(|c| c.is_ascii_digit()));
        let number = digits.parse().map_err(|_| too_large(digits, spot))?;
        return Ok((Token::Number(number), left));
    }
    if first.is_alphabetic() || first == '_' {
        let (name, left) = rest.split_at(while_in(|c| c.is_alphanumeric() || c == '_'));
        if name.len() > WORD_MAX {
            return Err(LangError::new(
                spot,
                format!("this name has more than {WORD_MAX} bytes"),
                "choose a shorter one",
            ));
        }
        return Ok((Token::Name(name.to_owned()), left));
    }
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((Token::Sign(sign), &rest[sign.len()..])),
        None => {
            let shown = if first.is_ascii_graphic() {
                first.to_string()
            } else {
                first.escape_default().to_string()
            };
            Err(LangError::new(spot, format!("`{shown}` means nothing here"), "remove it"))
        }
    }
}
