//! Templates of numbers: nodes, and what they say together.

use super::template::{self, Node as TextNode};
use crate::error::{Result, SqlError, code};

/// What a keyword stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Key {
    Comma,
    Point,
    Zero,
    Nine,
    Blank,
    LocalePoint,
    Exponent,
    Fill,
    Group,
    Currency,
    Minus,
    Plus,
    Brackets,
    Roman {
        upper: bool,
    },
    AnySign,
    Sign,
    Ordinal {
        upper: bool,
    },
    Shift,
    /// Known and without effect.
    Nothing,
}

/// A part of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// A keyword.
    Key(Key),
    /// Any other character.
    Text(char),
}

const KEYWORDS: &[(&str, Key)] = &[
    (",", Key::Comma),
    (".", Key::Point),
    ("0", Key::Zero),
    ("9", Key::Nine),
    ("B", Key::Blank),
    ("C", Key::Nothing),
    ("D", Key::LocalePoint),
    ("EEEE", Key::Exponent),
    ("FM", Key::Fill),
    ("G", Key::Group),
    ("L", Key::Currency),
    ("MI", Key::Minus),
    ("PL", Key::Plus),
    ("PR", Key::Brackets),
    ("RN", Key::Roman { upper: true }),
    ("SG", Key::AnySign),
    ("SP", Key::Nothing),
    ("S", Key::Sign),
    ("TH", Key::Ordinal { upper: true }),
    ("V", Key::Shift),
    ("rn", Key::Roman { upper: false }),
    ("th", Key::Ordinal { upper: false }),
];

/// Where the sign of `S` is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs)]
pub enum SignPlace {
    #[default]
    None,
    Before,
    Behind,
}

/// What the keywords of a template say together.
#[derive(Clone, Default, Debug)]
pub struct Picture {
    /// The parts.
    pub nodes: Vec<Node>,
    /// Digits before the point.
    pub before: usize,
    /// Digits behind the point.
    pub behind: usize,
    /// Digits behind `V`.
    pub shift: usize,
    /// Where the first `0` is, from 1; 0 if there is none.
    pub zero_start: usize,
    /// Where the last `0` is.
    pub zero_end: usize,
    /// Where the sign of `S` is.
    pub sign: SignPlace,
    /// How many digits were before that sign.
    pub before_sign: usize,
    pub has_zero: bool,
    pub has_point: bool,
    pub has_sign: bool,
    pub has_minus: bool,
    pub has_plus: bool,
    pub has_brackets: bool,
    pub has_shift: bool,
    pub has_exponent: bool,
    pub is_blank: bool,
    pub is_filled: bool,
    pub is_roman: bool,
}

fn wrong(message: &str) -> SqlError {
    SqlError::new(code::SYNTAX_ERROR, message)
}

impl Picture {
    /// Reads a template.
    pub fn parse(template: &str) -> Result<Picture> {
        let mut picture = Picture::default();
        let mut rest = template;
        while !rest.is_empty() {
            let found = KEYWORDS.iter().find(|(name, _)| begins(rest, name));
            if let Some((name, key)) = found {
                picture.add(*key)?;
                picture.nodes.push(Node::Key(*key));
                rest = &rest[name.len()..];
                continue;
            }
            rest = picture.text(rest);
        }
        Ok(picture)
    }

    fn text<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some(inside) = text.strip_prefix('"') {
            let mut quoted = Vec::new();
            let rest = template::quoted(inside, &mut quoted);
            self.nodes.extend(quoted.into_iter().filter_map(|node| match node {
                TextNode::Text(c) => Some(Node::Text(c)),
                _ => None,
            }));
            return rest;
        }
        let text = if text.starts_with("\\\"") { &text[1..] } else { text };
        let mut chars = text.chars();
        self.nodes.extend(chars.next().map(Node::Text));
        chars.as_str()
    }

    fn add(&mut self, key: Key) -> Result<()> {
        if self.has_exponent && key != Key::Exponent {
            return Err(wrong("\"EEEE\" must be the last pattern used"));
        }
        match key {
            Key::Nine | Key::Zero => return self.add_digit(key == Key::Zero),
            Key::Point | Key::LocalePoint => {
                if self.has_point {
                    return Err(wrong("multiple decimal points"));
                }
                if self.has_shift {
                    return Err(wrong("cannot use \"V\" and decimal point together"));
                }
                self.has_point = true;
            }
            Key::Shift => {
                if self.has_point {
                    return Err(wrong("cannot use \"V\" and decimal point together"));
                }
                self.has_shift = true;
            }
            Key::Blank => {
                self.is_blank |= self.before == 0 && self.behind == 0 && !self.has_zero;
            }
            Key::Fill => self.is_filled = true,
            Key::Roman { .. } => self.is_roman = true,
            Key::Exponent => return self.add_exponent(),
            Key::Sign | Key::Minus | Key::Plus | Key::AnySign | Key::Brackets => {
                return self.add_sign(key);
            }
            _ => {}
        }
        Ok(())
    }

    fn add_digit(&mut self, zero: bool) -> Result<()> {
        if self.has_brackets {
            let digit = if zero { "0" } else { "9" };
            return Err(wrong(&format!("\"{digit}\" must be ahead of \"PR\"")));
        }
        if self.has_shift && !zero {
            self.shift += 1;
            return Ok(());
        }
        if zero && !self.has_zero && !self.has_point {
            self.has_zero = true;
            self.zero_start = self.before + 1;
        }
        if self.has_point {
            self.behind += 1;
        } else {
            self.before += 1;
        }
        if zero {
            self.zero_end = self.before + self.behind;
        }
        Ok(())
    }

    fn add_exponent(&mut self) -> Result<()> {
        if self.has_exponent {
            return Err(wrong("cannot use \"EEEE\" twice"));
        }
        let other = self.is_blank
            || self.is_filled
            || self.has_sign
            || self.has_brackets
            || self.has_minus
            || self.has_plus
            || self.is_roman
            || self.has_shift;
        if other {
            let detail =
                "\"EEEE\" may only be used together with digit and decimal point patterns.";
            return Err(wrong("\"EEEE\" is incompatible with other formats").detail(detail));
        }
        self.has_exponent = true;
        Ok(())
    }

    fn add_sign(&mut self, key: Key) -> Result<()> {
        let name = match key {
            Key::Minus => "MI",
            Key::Plus => "PL",
            Key::AnySign => "SG",
            Key::Brackets => {
                if self.has_sign || self.has_plus || self.has_minus {
                    let message = "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together";
                    return Err(wrong(message));
                }
                self.has_brackets = true;
                return Ok(());
            }
            _ => return self.add_locale_sign(),
        };
        if self.has_sign {
            return Err(wrong(&format!("cannot use \"S\" and \"{name}\" together")));
        }
        self.has_minus |= matches!(key, Key::Minus | Key::AnySign);
        self.has_plus |= matches!(key, Key::Plus | Key::AnySign);
        Ok(())
    }

    fn add_locale_sign(&mut self) -> Result<()> {
        if self.has_sign {
            return Err(wrong("cannot use \"S\" twice"));
        }
        if self.has_plus || self.has_minus || self.has_brackets {
            return Err(wrong("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
        }
        if self.has_point {
            self.sign = SignPlace::Behind;
        } else {
            self.sign = SignPlace::Before;
            self.before_sign = self.before;
        }
        self.has_sign = true;
        Ok(())
    }
}

/// Keywords may be in small letters; `RN` and `TH` then mean small letters.
fn begins(text: &str, keyword: &str) -> bool {
    if text.starts_with(keyword) {
        return true;
    }
    let lowercase = keyword.to_ascii_lowercase();
    !matches!(keyword, "RN" | "TH") && text.starts_with(&lowercase)
}
