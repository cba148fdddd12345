//! Writes the digits of a number by a template.

use super::number::{Key, Node, Picture, SignPlace};
use super::ordinal;
use crate::error::{Result, SqlError, code};

/// A number that is ready to be written: its digits with a point, without a sign.
pub struct Digits {
    /// The digits.
    pub text: String,
    /// Whether it is negative.
    pub negative: bool,
    /// How many places of the template come before the first digit.
    pub spaces: usize,
}

/// Where the writer is.
struct Writer<'p> {
    picture: &'p Picture,
    digits: &'p [u8],
    /// The next digit.
    next: usize,
    /// The place of the template.
    place: usize,
    spaces: usize,
    count: usize,
    negative: bool,
    sign: SignPlace,
    brackets: bool,
    zero_start: usize,
    sign_written: bool,
    /// Whether a digit was written last.
    in_number: bool,
    /// The last digit behind the point that is not a zero to be dropped.
    last_relevant: Option<usize>,
    out: String,
}

/// Writes a number.
pub fn write(picture: &Picture, digits: &Digits) -> Result<String> {
    if picture.has_exponent {
        return Ok(digits.text.clone());
    }
    let mut writer = Writer::new(picture, digits);
    for node in &picture.nodes {
        writer.node(*node, &digits.text)?;
    }
    Ok(writer.out)
}

impl<'p> Writer<'p> {
    fn new(picture: &'p Picture, digits: &'p Digits) -> Writer<'p> {
        let negative = digits.negative && !picture.is_roman;
        let positive = !digits.negative;
        let outside = !picture.is_roman && (picture.has_plus || picture.has_minus);
        let (fill, has_sign) = (picture.is_filled, picture.has_sign && !picture.is_roman);
        let sign_written = match outside {
            true => picture.has_minus,
            false => !picture.is_roman && positive && fill && !has_sign,
        };
        let anchored =
            !outside && picture.sign == SignPlace::Before && picture.before == picture.before_sign;
        let spaces = if picture.is_roman { 0 } else { digits.spaces };
        let mut writer = Writer {
            picture,
            digits: digits.text.as_bytes(),
            next: 0,
            place: 0,
            spaces,
            count: (picture.behind + picture.before).wrapping_sub(1),
            negative,
            sign: if anchored { SignPlace::Behind } else { picture.sign },
            brackets: picture.has_brackets && !(positive && fill),
            zero_start: picture.zero_start.saturating_sub(1),
            sign_written,
            in_number: false,
            last_relevant: None,
            out: String::new(),
        };
        if fill && picture.has_point {
            writer.last_relevant = writer.find_last_relevant();
        }
        if !writer.sign_written && spaces == 0 {
            writer.count = writer.count.wrapping_add(1);
        }
        writer
    }

    /// The last digit that is not a zero at the end, or the point; zeros that the template demands
    /// stay.
    fn find_last_relevant(&self) -> Option<usize> {
        let point = self.digits.iter().position(|digit| *digit == b'.')?;
        let behind = &self.digits[point + 1..];
        let last =
            behind.iter().rposition(|digit| *digit != b'0').map_or(point, |at| point + 1 + at);
        if self.picture.zero_end <= self.spaces {
            return Some(last);
        }
        let demanded = (self.digits.len() - 1).min(self.picture.zero_end - self.spaces);
        Some(last.max(demanded))
    }

    fn digit(&self, at: usize) -> u8 {
        self.digits.get(at).copied().unwrap_or(0)
    }

    fn node(&mut self, node: Node, text: &str) -> Result<()> {
        let fill = self.picture.is_filled;
        let key = match node {
            Node::Text(c) => {
                self.out.push(c);
                return Ok(());
            }
            Node::Key(key) => key,
        };
        match key {
            Key::Nine | Key::Zero | Key::Point | Key::LocalePoint => self.place(key),
            Key::Comma | Key::Group if self.in_number => self.out.push(','),
            Key::Comma | Key::Group if !fill => self.out.push(' '),
            Key::Currency => self.out.push(' '),
            Key::Roman { upper } => {
                let roman = if upper { text.to_string() } else { text.to_lowercase() };
                let width = if fill { 0 } else { 15 };
                self.out.push_str(&format!("{roman:>width$}"));
            }
            Key::Ordinal { upper } => self.ordinal(upper, text)?,
            Key::Minus if self.negative => self.out.push('-'),
            Key::Plus if !self.negative => self.out.push('+'),
            Key::Minus | Key::Plus if !fill => self.out.push(' '),
            Key::AnySign => self.out.push(if self.negative { '-' } else { '+' }),
            _ => {}
        }
        Ok(())
    }

    fn ordinal(&mut self, upper: bool, text: &str) -> Result<()> {
        let picture = self.picture;
        if picture.is_roman || text.starts_with('#') || self.negative || picture.has_point {
            return Ok(());
        }
        if !text.ends_with(|c: char| c.is_ascii_digit()) {
            let message = format!("\"{text}\" is not a number");
            return Err(SqlError::new(code::INVALID_TEXT_REPRESENTATION, message));
        }
        let ending = ordinal(text);
        self.out.push_str(&if upper { ending.to_uppercase() } else { ending.to_string() });
        Ok(())
    }

    /// Whether this is the 0 before the point that `9.9` writes as a blank.
    fn is_leading_zero(&self) -> bool {
        !self.picture.has_zero
            && self.next == 0
            && self.digit(0) == b'0'
            && self.picture.behind != 0
    }

    /// Whether zeros behind the point are dropped so far that only the point is left.
    fn ends_with_point(&self) -> bool {
        self.last_relevant.is_some_and(|last| self.digit(last) == b'.')
    }

    /// A place for a digit or the point.
    fn place(&mut self, key: Key) {
        if self.picture.is_roman {
            return;
        }
        self.in_number = false;
        let starts =
            self.place >= self.spaces || (self.picture.has_zero && self.zero_start == self.place);
        if !self.sign_written && starts && (!self.is_leading_zero() || self.ends_with_point()) {
            self.write_sign();
        }
        if self.place < self.spaces {
            self.leading_place();
        } else {
            self.digit_place(key);
            if self.next < self.digits.len() {
                self.next += 1;
            }
        }
        self.write_end();
        self.place += 1;
    }

    fn write_sign(&mut self) {
        if self.picture.has_sign {
            if self.sign == SignPlace::Before {
                self.out.push(if self.negative { '-' } else { '+' });
                self.sign_written = true;
            }
            return;
        }
        if self.brackets {
            self.out.push(if self.negative { '<' } else { ' ' });
        } else if self.negative {
            self.out.push('-');
        } else if !self.picture.is_filled {
            self.out.push(' ');
        }
        self.sign_written = true;
    }

    /// A place before the first digit.
    fn leading_place(&mut self) {
        if self.picture.has_zero && self.zero_start <= self.place {
            self.out.push('0');
            self.in_number = true;
        } else if !self.picture.is_filled {
            self.out.push(' ');
        }
    }

    fn digit_place(&mut self, key: Key) {
        let digit = self.digit(self.next);
        if digit == b'.' {
            return self.out.push('.');
        }
        let dropped = self.last_relevant.is_some_and(|last| self.next > last);
        if dropped && key != Key::Zero {
            return;
        }
        if self.is_leading_zero() {
            if !self.picture.is_filled {
                self.out.push(' ');
            } else if self.ends_with_point() {
                self.out.push('0');
            }
            return;
        }
        if digit != 0 {
            self.out.push(digit as char);
        }
        self.in_number = true;
    }

    /// The closing bracket or the sign behind the last digit.
    fn write_end(&mut self) {
        let mut end = self.count.wrapping_add(usize::from(self.spaces > 0));
        end = end.wrapping_add(usize::from(self.picture.has_point));
        if self.last_relevant == Some(self.next) {
            end = self.place;
        }
        if self.place + 1 != end {
            return;
        }
        if self.sign_written && self.brackets {
            self.out.push(if self.negative { '>' } else { ' ' });
        } else if self.picture.has_sign && self.sign == SignPlace::Behind {
            self.out.push(if self.negative { '-' } else { '+' });
        }
    }
}
