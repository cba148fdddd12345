//! `to_number`: reads the digits of a number by a template.

use super::number::{Key, Node, Picture, SignPlace};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::numeric::{Numeric, Typmod};

struct Reader<'t> {
    picture: &'t Picture,
    text: &'t [u8],
    at: usize,
    sign: u8,
    digits: String,
    before: usize,
    behind: usize,
    has_point: bool,
    in_number: bool,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn read(&mut self) {
        let picture = self.picture;
        for node in &picture.nodes {
            if self.at >= self.text.len() {
                return;
            }
            match node {
                Node::Text(_) => self.skip_character(),
                Node::Key(key) => self.key(*key),
            }
        }
    }

    fn skip_character(&mut self) {
        self.at += 1;
        while self.peek(0).is_some_and(|byte| byte & 0xC0 == 0x80) {
            self.at += 1;
        }
    }

    fn key(&mut self, key: Key) {
        match key {
            Key::Nine | Key::Zero | Key::Point | Key::LocalePoint => {
                self.digit(key);
                self.at += 1;
            }
            Key::Comma | Key::Group
                if self.peek(0) == Some(b',') && (self.in_number || !self.picture.is_filled) =>
            {
                self.at += 1;
            }
            Key::Currency => self.skip_other(1),
            Key::Ordinal { .. } if !self.picture.has_point && self.sign != b'-' => {
                self.skip_other(2);
            }
            Key::Minus => self.sign_here(b"-"),
            Key::Plus => self.sign_here(b"+"),
            Key::AnySign => self.sign_here(b"-+"),
            _ => {}
        }
    }

    /// A sign of a template that stands outside of the number.
    fn sign_here(&mut self, signs: &[u8]) {
        match self.peek(0) {
            Some(byte) if signs.contains(&byte) => {
                self.sign = byte;
                self.at += 1;
            }
            _ => self.skip_other(1),
        }
    }

    /// Skips characters that no number has.
    fn skip_other(&mut self, count: usize) {
        for _ in 0..count {
            match self.peek(0) {
                Some(byte) if !b"0123456789.,+-".contains(&byte) => self.skip_character(),
                _ => return,
            }
        }
    }

    /// A digit or the point, perhaps with a sign before or behind it. The caller goes on by one.
    fn digit(&mut self, key: Key) {
        if self.peek(0) == Some(b' ') {
            self.at += 1;
        }
        let nothing_read = self.before + self.behind == 0;
        if self.sign == b' ' && matches!(key, Key::Nine | Key::Zero) && nothing_read {
            self.sign_before();
        }
        let Some(byte) = self.peek(0) else { return };
        let mut read = false;
        if byte.is_ascii_digit() {
            if self.has_point && self.behind == self.picture.behind {
                return;
            }
            self.digits.push(byte as char);
            let count = if self.has_point { &mut self.behind } else { &mut self.before };
            *count += 1;
            (read, self.in_number) = (true, true);
        } else if byte == b'.' && self.picture.has_point && !self.has_point {
            self.digits.push('.');
            (read, self.has_point) = (true, true);
        }
        if self.sign == b' ' && self.before + self.behind > 0 {
            self.sign_behind(read);
        }
    }

    fn sign_before(&mut self) {
        let brackets = self.picture.has_brackets;
        let anchored = self.picture.has_sign && self.picture.sign != SignPlace::Before;
        if self.picture.has_sign && anchored {
            return;
        }
        match self.peek(0) {
            Some(b'-') => self.sign = b'-',
            Some(b'<') if brackets && !self.picture.has_sign => self.sign = b'-',
            Some(b'+') => self.sign = b'+',
            _ => return,
        }
        self.at += 1;
    }

    fn sign_behind(&mut self, read: bool) {
        let picture = self.picture;
        if picture.has_sign && read {
            // The sign is right behind the last digit.
            if let Some(sign @ (b'-' | b'+')) = self.peek(1) {
                self.sign = sign;
                self.at += 1;
            }
        } else if !read && !picture.has_sign && (picture.has_plus || picture.has_minus) {
            match self.peek(0) {
                Some(b'-') => self.sign = b'-',
                Some(b'<') if picture.has_brackets => self.sign = b'-',
                Some(b'+') => self.sign = b'+',
                _ => return,
            }
            self.at += 1;
        }
    }
}

fn not_for_input(pattern: &str) -> SqlError {
    let message = format!("\"{pattern}\" not supported for input");
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
}

fn to_number(text: &str, template: &str) -> Result<Option<Numeric>> {
    if template.is_empty() {
        return Ok(None);
    }
    let picture = Picture::parse(template)?;
    if picture.has_exponent {
        return Err(not_for_input("EEEE"));
    }
    if picture.is_roman {
        return Err(not_for_input("RN"));
    }
    let mut reader = Reader {
        picture: &picture,
        text: text.as_bytes(),
        at: 0,
        sign: b' ',
        digits: String::new(),
        before: 0,
        behind: 0,
        has_point: false,
        in_number: false,
    };
    reader.read();
    let digits = reader.digits.strip_suffix('.').unwrap_or(&reader.digits);
    let number = Numeric::parse(&format!("{}{digits}", reader.sign as char))?;
    let (before, behind) = (picture.before + picture.shift, reader.behind);
    let typmod = Typmod { precision: (before + behind) as i32, scale: behind as i32 };
    let number = number.with_typmod(typmod)?;
    if !picture.has_shift {
        return Ok(Some(number));
    }
    let power = Numeric::from_i64(10).power(&Numeric::from_i64(-(picture.shift as i64)))?;
    number.mul(&power).map(Some)
}

pub(super) const TABLE: &[Entry] = functions! {
    "numeric_to_number", (text: &str, template: &str) => to_number(text, template);
};
