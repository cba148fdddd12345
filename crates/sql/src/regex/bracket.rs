//! Bracket expressions: `[abc]`, `[^a-z]`, `[[:alpha:]_]`.

use super::parse::{Parser, invalid};
use super::syntax::{Class, Named, Node, Place};
use crate::error::Result;

/// One item of a bracket expression.
enum Item {
    One(char),
    Set(Named, bool),
}

impl Parser {
    /// Behind the opening bracket.
    pub(super) fn bracket(&mut self) -> Result<Node> {
        if self.eat("[:<:]]") {
            return Ok(Node::At(Place::WordStart));
        }
        if self.eat("[:>:]]") {
            return Ok(Node::At(Place::WordEnd));
        }
        let mut class = Class { negative: self.eat("^"), ..Class::default() };
        let mut first = true;
        loop {
            match self.peek() {
                None => return Err(invalid("brackets [] not balanced")),
                Some(']') if !first => break,
                Some(_) => self.item_or_range(&mut class, first)?,
            }
            first = false;
        }
        self.at += 1;
        if class.negative && self.options.newline_stops {
            class.ranges.push(('\n', '\n'));
        }
        Ok(self.class(class))
    }

    fn item_or_range(&mut self, class: &mut Class, first: bool) -> Result<()> {
        // A hyphen is itself only at one of the ends.
        if self.peek() == Some('-') && !first && self.peek_at(1) != Some(']') {
            return Err(invalid("invalid character range"));
        }
        let from = match self.item()? {
            Item::One(c) => c,
            Item::Set(named, complement) => {
                class.named.push((named, complement));
                return self.no_range();
            }
        };
        if self.peek() != Some('-') || self.peek_at(1) == Some(']') {
            class.ranges.push((from, from));
            return Ok(());
        }
        self.at += 1;
        let to = match self.item()? {
            Item::One(c) if from <= c => c,
            _ => return Err(invalid("invalid character range")),
        };
        class.ranges.push((from, to));
        Ok(())
    }

    /// A set is not the beginning of a range.
    fn no_range(&self) -> Result<()> {
        if self.peek() == Some('-') && self.peek_at(1).is_some_and(|c| c != ']') {
            return Err(invalid("invalid character range"));
        }
        Ok(())
    }

    fn item(&mut self) -> Result<Item> {
        if self.eat("[:") {
            let name = self.name(":]", "invalid character class")?;
            let named = Named::of(&name).ok_or_else(|| invalid("invalid character class"))?;
            // Without case there is no difference between lower and upper.
            let cased = matches!(named, Named::Lower | Named::Upper);
            let named = if cased && self.options.any_case { Named::Alpha } else { named };
            return Ok(Item::Set(named, false));
        }
        for (open, close) in [("[.", ".]"), ("[=", "=]")] {
            if self.eat(open) {
                let name = self.name(close, "invalid collating element")?;
                return collating(&name).map(Item::One);
            }
        }
        match self.next() {
            Some('\\') if !self.options.extended => self.escape_in_bracket(),
            Some(c) => Ok(Item::One(c)),
            None => Err(invalid("brackets [] not balanced")),
        }
    }

    fn escape_in_bracket(&mut self) -> Result<Item> {
        let c = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
        Ok(match c {
            'd' | 'D' => Item::Set(Named::Digit, c == 'D'),
            's' | 'S' => Item::Set(Named::Space, c == 'S'),
            'w' | 'W' => Item::Set(Named::Word, c == 'W'),
            'A' | 'Z' | 'm' | 'M' | 'y' | 'Y' | '1'..='9' => {
                return Err(invalid("invalid escape \\ sequence"));
            }
            c => Item::One(self.character(c)?),
        })
    }

    /// The text before a closing sign.
    fn name(&mut self, close: &str, error: &str) -> Result<String> {
        let mut name = String::new();
        loop {
            if self.eat(close) {
                return Ok(name);
            }
            match self.next() {
                Some(']') if !name.is_empty() && close != "=]" && close != ".]" => {
                    return Err(invalid(error));
                }
                Some(c) => name.push(c),
                None => return Err(invalid("brackets [] not balanced")),
            }
        }
    }
}

/// A character by itself or by its name.
fn collating(name: &str) -> Result<char> {
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) => Ok(c),
        _ => match name {
            "space" => Ok(' '),
            "hyphen" => Ok('-'),
            "period" => Ok('.'),
            "comma" => Ok(','),
            "slash" => Ok('/'),
            "underscore" => Ok('_'),
            "tab" => Ok('\t'),
            "newline" => Ok('\n'),
            _ => Err(invalid("invalid collating element")),
        },
    }
}
