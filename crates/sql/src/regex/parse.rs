//! Reads PostgreSQL's advanced regular expressions (its documentation, section 9.7.3).

use super::syntax::{Class, Named, Node, Place, Prefer, Times};
use crate::error::{Result, SqlError, code};

/// How often a part may be repeated by a number.
const TIMES_MAX: u32 = 255;
/// How deep parentheses may go.
const DEPTH_MAX: usize = 250;

/// What flags and embedded options say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Options {
    pub any_case: bool,
    /// `.` and negated brackets do not match the end of a line.
    pub newline_stops: bool,
    /// `^` and `$` match at lines.
    pub newline_anchors: bool,
    /// White space and comments are not part of the expression.
    pub expanded: bool,
    /// Not an expression but a text.
    pub literal: bool,
    /// The rules of POSIX extended expressions, without escapes.
    pub extended: bool,
}

impl Options {
    pub const PLAIN: Options = Options {
        any_case: false,
        newline_stops: false,
        newline_anchors: false,
        expanded: false,
        literal: false,
        extended: false,
    };

    /// With one more option; `false` if there is none of this name.
    pub fn set(&mut self, option: char) -> bool {
        match option {
            'c' => self.any_case = false,
            'i' => self.any_case = true,
            'm' | 'n' => (self.newline_stops, self.newline_anchors) = (true, true),
            'p' => (self.newline_stops, self.newline_anchors) = (true, false),
            'w' => (self.newline_stops, self.newline_anchors) = (false, true),
            's' => (self.newline_stops, self.newline_anchors) = (false, false),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => (self.literal, self.extended) = (true, false),
            'e' => (self.literal, self.extended) = (false, true),
            _ => return false,
        }
        true
    }
}

pub(super) fn invalid(what: &str) -> SqlError {
    let message = format!("invalid regular expression: {what}");
    SqlError::new(code::INVALID_REGULAR_EXPRESSION, message)
}

/// An expression with the number of its groups.
#[derive(Debug)]
pub(super) struct Parsed {
    pub node: Node,
    pub groups: usize,
}

/// The expression in a text.
pub(super) fn parse(pattern: &str, mut options: Options) -> Result<Parsed> {
    let mut rest = pattern;
    if !options.literal && !options.extended {
        rest = prefix(pattern, &mut options)?;
    }
    if options.literal {
        let class = |c| Node::Class(Class { any_case: options.any_case, ..Class::one(c) });
        return Ok(Parsed { node: sequence(rest.chars().map(class).collect()), groups: 0 });
    }
    let text: Vec<char> = rest.chars().collect();
    let mut parser =
        Parser { text, at: 0, options, groups: 0, closed: Vec::new(), depth: 0, looking: 0 };
    let node = parser.choice()?;
    if parser.at < parser.text.len() {
        return Err(invalid("parentheses () not balanced"));
    }
    Ok(Parsed { node, groups: parser.groups })
}

/// The directors `***:` and `***=`, and options in `(?…)`.
fn prefix<'p>(pattern: &'p str, options: &mut Options) -> Result<&'p str> {
    let mut rest = pattern;
    if let Some(behind) = rest.strip_prefix("***") {
        let mut kind = behind.chars();
        match kind.next() {
            Some('=') => {
                options.literal = true;
                return Ok(kind.as_str());
            }
            Some(':') => rest = kind.as_str(),
            _ => return Err(invalid("quantifier operand invalid")),
        }
    }
    let Some(behind) = rest.strip_prefix("(?") else {
        return Ok(rest);
    };
    if !behind.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok(rest);
    }
    let error = || invalid("invalid embedded option");
    let end = behind.find(|c: char| !c.is_ascii_alphabetic()).ok_or_else(error)?;
    let known = behind[..end].chars().all(|option| options.set(option));
    let rest = behind[end..].strip_prefix(')').filter(|_| known);
    rest.ok_or_else(error)
}

fn sequence(mut nodes: Vec<Node>) -> Node {
    match nodes.len() {
        0 => Node::Empty,
        1 => nodes.remove(0),
        _ => Node::Sequence(nodes),
    }
}

pub(super) struct Parser {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub(super) options: Options,
    groups: usize,
    /// Which groups are complete, so that they can be referred to.
    closed: Vec<usize>,
    depth: usize,
    /// Inside of how many constraints that look ahead or behind: nothing is captured there.
    looking: usize,
}

impl Parser {
    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let found = wanted.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    /// Skips comments, and in the expanded syntax white space.
    fn skip_ignored(&mut self) -> Result<()> {
        loop {
            let before = self.at;
            while self.options.expanded && self.peek().is_some_and(char::is_whitespace) {
                self.at += 1;
            }
            if self.options.expanded && self.peek() == Some('#') {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            if self.eat("(?#") {
                while self.peek().is_some_and(|c| c != ')') {
                    self.at += 1;
                }
                if self.next().is_none() {
                    return Err(invalid("parentheses () not balanced"));
                }
            }
            if self.at == before {
                return Ok(());
            }
        }
    }

    fn choice(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(invalid("regular expression is too complex"));
        }
        let mut branches = vec![self.branch()?];
        while self.eat("|") {
            branches.push(self.branch()?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Choice(branches) })
    }

    fn branch(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip_ignored()?;
            match self.peek() {
                None | Some('|' | ')') => return Ok(sequence(nodes)),
                Some(_) => nodes.push(self.quantified()?),
            }
        }
    }

    fn quantified(&mut self) -> Result<Node> {
        let atom = self.atom()?;
        self.skip_ignored()?;
        let Some(range) = self.quantifier()? else {
            return Ok(atom);
        };
        if matches!(atom, Node::At(_) | Node::Look { .. }) {
            return Err(invalid("quantifier operand invalid"));
        }
        self.skip_ignored()?;
        if self.quantifier_follows() {
            return Err(invalid("quantifier operand invalid"));
        }
        Ok(Node::Repeat { node: Box::new(atom), range })
    }

    fn quantifier_follows(&self) -> bool {
        match self.peek() {
            Some('*' | '+' | '?') => true,
            Some('{') => self.peek_at(1).is_some_and(|c| c.is_ascii_digit()),
            _ => false,
        }
    }

    fn quantifier(&mut self) -> Result<Option<Times>> {
        if !self.quantifier_follows() {
            return Ok(None);
        }
        let (min, max, fixed) = match self.next() {
            Some('*') => (0, None, false),
            Some('+') => (1, None, false),
            Some('?') => (0, Some(1), false),
            _ => self.counts()?,
        };
        let short = !self.options.extended && self.eat("?");
        let prefer = match (fixed, short) {
            (true, _) => None,
            (false, true) => Some(Prefer::Short),
            (false, false) => Some(Prefer::Long),
        };
        Ok(Some(Times { min, max, prefer }))
    }

    fn count(&mut self) -> Result<u16> {
        let mut value = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            value = value * 10 + digit;
            if value > TIMES_MAX {
                return Err(invalid("invalid repetition count(s)"));
            }
            self.at += 1;
        }
        Ok(value as u16)
    }

    /// The numbers in braces, and whether there is only one.
    fn counts(&mut self) -> Result<(u16, Option<u16>, bool)> {
        let min = self.count()?;
        let counts = if !self.eat(",") {
            (min, Some(min), true)
        } else if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            (min, Some(self.count()?), false)
        } else {
            (min, None, false)
        };
        match self.next() {
            Some('}') if counts.1.is_none_or(|max| min <= max) => Ok(counts),
            None => Err(invalid("braces {} not balanced")),
            _ => Err(invalid("invalid repetition count(s)")),
        }
    }

    fn one(&self, c: char) -> Node {
        self.class(Class::one(c))
    }

    pub(super) fn class(&self, class: Class) -> Node {
        Node::Class(Class { any_case: self.options.any_case, ..class })
    }

    fn atom(&mut self) -> Result<Node> {
        let Some(c) = self.next() else {
            return Ok(Node::Empty);
        };
        match c {
            '*' | '+' | '?' => Err(invalid("quantifier operand invalid")),
            '{' if self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                Err(invalid("quantifier operand invalid"))
            }
            '^' if self.options.newline_anchors => Ok(Node::At(Place::LineStart)),
            '^' => Ok(Node::At(Place::TextStart)),
            '$' if self.options.newline_anchors => Ok(Node::At(Place::LineEnd)),
            '$' => Ok(Node::At(Place::TextEnd)),
            '.' => Ok(Node::Class(Class::any(!self.options.newline_stops))),
            '[' => self.bracket(),
            '(' => self.parentheses(),
            '\\' if self.options.extended => {
                let escaped = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                Ok(self.one(escaped))
            }
            '\\' => self.escape(),
            c => Ok(self.one(c)),
        }
    }

    fn parentheses(&mut self) -> Result<Node> {
        if self.options.extended || self.peek() != Some('?') {
            return self.group();
        }
        let look =
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
        if self.eat("?:") {
            return self.inside();
        }
        for (sign, behind, negative) in look {
            if self.eat(sign) {
                self.looking += 1;
                let node = Box::new(self.inside()?);
                self.looking -= 1;
                return Ok(Node::Look { behind, negative, node });
            }
        }
        Err(invalid("quantifier operand invalid"))
    }

    fn inside(&mut self) -> Result<Node> {
        let node = self.choice()?;
        if self.next() != Some(')') {
            return Err(invalid("parentheses () not balanced"));
        }
        // A condition in parentheses may be repeated, a bare one may not.
        let condition = matches!(node, Node::At(_) | Node::Look { .. });
        Ok(if condition { Node::Sequence(vec![node]) } else { node })
    }

    fn group(&mut self) -> Result<Node> {
        if self.looking > 0 {
            return self.inside();
        }
        self.groups += 1;
        let number = self.groups;
        let node = self.inside()?;
        self.closed.push(number);
        Ok(Node::Group(number, Box::new(node)))
    }

    fn escape(&mut self) -> Result<Node> {
        let c = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
        Ok(match c {
            'A' => Node::At(Place::TextStart),
            'Z' => Node::At(Place::TextEnd),
            'm' => Node::At(Place::WordStart),
            'M' => Node::At(Place::WordEnd),
            'y' => Node::At(Place::WordEdge),
            'Y' => Node::At(Place::NoWordEdge),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => self.class(shorthand(c, self.options)),
            '1'..='9' => return self.backreference(c),
            _ => {
                let c = self.character(c)?;
                self.one(c)
            }
        })
    }

    /// A reference to a group, or a character in octal if there is no such group.
    fn backreference(&mut self, first: char) -> Result<Node> {
        let start = self.at;
        let mut number = first.to_digit(10).unwrap_or(0) as usize;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit as usize);
            self.at += 1;
        }
        if self.at == start || number <= self.groups {
            if self.looking > 0 || !self.closed.contains(&number) {
                return Err(invalid("invalid backreference number"));
            }
            return Ok(Node::Back(number));
        }
        self.at = start;
        let c = self.octal(first)?;
        Ok(self.one(c))
    }

    fn octal(&mut self, first: char) -> Result<char> {
        let mut value = first.to_digit(8).ok_or_else(|| invalid("invalid escape \\ sequence"))?;
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            value = value * 8 + digit;
            self.at += 1;
        }
        char::from_u32(value).ok_or_else(|| invalid("invalid escape \\ sequence"))
    }

    fn hexadecimal(&mut self, min: usize, max: usize) -> Result<char> {
        let error = || invalid("invalid escape \\ sequence");
        let (mut value, mut count) = (0_u32, 0);
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)).filter(|_| count < max) {
            value = value.checked_mul(16).ok_or_else(error)? + digit;
            count += 1;
            self.at += 1;
        }
        if count < min {
            return Err(error());
        }
        char::from_u32(value).ok_or_else(error)
    }

    /// The character that an escape stands for.
    pub(super) fn character(&mut self, c: char) -> Result<char> {
        match c {
            'a' => Ok('\x07'),
            'b' => Ok('\x08'),
            'B' => Ok('\\'),
            'c' => {
                let control = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                Ok(char::from(control as u8 & 0x1F))
            }
            'e' => Ok('\x1B'),
            'f' => Ok('\x0C'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'u' => self.hexadecimal(4, 4),
            'U' => self.hexadecimal(8, 8),
            'v' => Ok('\x0B'),
            'x' => self.hexadecimal(1, 255),
            '0' => self.octal('0'),
            c if c.is_alphanumeric() => Err(invalid("invalid escape \\ sequence")),
            c => Ok(c),
        }
    }
}

/// `\d` and its like.
pub(super) fn shorthand(c: char, options: Options) -> Class {
    let named = match c.to_ascii_lowercase() {
        'd' => Named::Digit,
        's' => Named::Space,
        _ => Named::Word,
    };
    if !c.is_ascii_uppercase() {
        return Class::of(named, false);
    }
    // A complement does not match the end of a line where that stops `.`.
    let ranges = if options.newline_stops { vec![('\n', '\n')] } else { Vec::new() };
    Class { negative: true, ranges, ..Class::of(named, false) }
}
