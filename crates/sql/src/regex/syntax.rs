//! The parts of a regular expression.

/// A regular expression or a part of one.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Node {
    /// Nothing.
    Empty,
    /// One character of a set.
    Class(Class),
    /// A condition on the place.
    At(Place),
    /// What follows or precedes, without being a part of the match.
    Look { behind: bool, negative: bool, node: Box<Node> },
    /// One after the other.
    Sequence(Vec<Node>),
    /// One of them.
    Choice(Vec<Node>),
    /// Several times.
    Repeat { node: Box<Node>, range: Times },
    /// A part that is captured, with its number.
    Group(usize, Box<Node>),
    /// What a group captured.
    Back(usize),
}

/// How many times, and which number is preferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    pub min: u16,
    /// `None` if there is no limit.
    pub max: Option<u16>,
    /// Whether a long match is preferred; `None` if the repeated part decides (`{m}`).
    pub prefer: Option<Prefer>,
}

/// Which of several possible ends of a match is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefer {
    Long,
    Short,
}

/// A condition on a place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    WordEdge,
    NoWordEdge,
}

/// Sets of characters that have a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Named {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

/// A set of characters.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Class {
    pub negative: bool,
    pub ranges: Vec<(char, char)>,
    /// Named sets, and whether their complement is meant.
    pub named: Vec<(Named, bool)>,
    /// Whether case does not matter.
    pub any_case: bool,
}

impl Named {
    pub fn of(name: &str) -> Option<Named> {
        Some(match name {
            "alnum" => Named::Alnum,
            "alpha" => Named::Alpha,
            "ascii" => Named::Ascii,
            "blank" => Named::Blank,
            "cntrl" => Named::Cntrl,
            "digit" => Named::Digit,
            "graph" => Named::Graph,
            "lower" => Named::Lower,
            "print" => Named::Print,
            "punct" => Named::Punct,
            "space" => Named::Space,
            "upper" => Named::Upper,
            "word" => Named::Word,
            "xdigit" => Named::Xdigit,
            _ => return None,
        })
    }

    /// The set in the syntax of the regex crate, inside of brackets.
    pub fn translated(self) -> &'static str {
        match self {
            Named::Alnum => r"\p{Alphabetic}\p{Nd}\p{Nl}\p{No}",
            Named::Alpha => r"\p{Alphabetic}",
            Named::Ascii => r"\x00-\x7F",
            Named::Blank => r"\t\p{Zs}",
            Named::Cntrl => r"\p{Cc}",
            Named::Digit => r"0-9",
            Named::Graph => r"[^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}]",
            Named::Lower => r"\p{Lowercase}",
            Named::Print => r"[^\p{Cc}\p{Cn}\p{Cs}]",
            Named::Punct => r"!-/:-@\[-`{-~\p{P}",
            Named::Space => r"\p{White_Space}",
            Named::Upper => r"\p{Uppercase}",
            Named::Word => r"\p{Alphabetic}\p{Nd}\p{Nl}\p{No}_",
            Named::Xdigit => r"0-9A-Fa-f",
        }
    }

    pub fn has(self, c: char) -> bool {
        match self {
            Named::Alnum => c.is_alphanumeric(),
            Named::Alpha => c.is_alphabetic(),
            Named::Ascii => c.is_ascii(),
            Named::Blank => c == '\t' || c == ' ' || (c.is_whitespace() && c > '\u{7F}'),
            Named::Cntrl => c.is_control(),
            Named::Digit => c.is_ascii_digit(),
            Named::Graph => !c.is_whitespace() && !c.is_control(),
            Named::Lower => c.is_lowercase(),
            Named::Print => !c.is_control(),
            Named::Punct => c.is_ascii_punctuation() || punctuation_beyond_ascii(c),
            Named::Space => c.is_whitespace(),
            Named::Upper => c.is_uppercase(),
            Named::Word => is_word(c),
            Named::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}

fn punctuation_beyond_ascii(c: char) -> bool {
    let letter = c.is_alphanumeric() || c.is_whitespace() || c.is_control();
    !c.is_ascii() && !letter && matches!(c, '\u{A1}'..='\u{BF}' | '\u{2010}'..='\u{205E}')
}

/// What words are made of.
pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

impl Class {
    /// The set of one character.
    pub fn one(c: char) -> Class {
        Class { ranges: vec![(c, c)], ..Class::default() }
    }

    /// Every character, or all but the end of a line.
    pub fn any(newlines: bool) -> Class {
        let ranges = if newlines { Vec::new() } else { vec![('\n', '\n')] };
        Class { negative: true, ranges, ..Class::default() }
    }

    pub fn of(named: Named, complement: bool) -> Class {
        Class { named: vec![(named, complement)], ..Class::default() }
    }

    fn lists(&self, c: char) -> bool {
        self.ranges.iter().any(|&(from, to)| (from..=to).contains(&c))
            || self.named.iter().any(|&(named, complement)| named.has(c) != complement)
    }

    pub fn has(&self, c: char) -> bool {
        let listed = self.lists(c) || self.any_case && other_cases(c).any(|c| self.lists(c));
        listed != self.negative
    }
}

/// The same letter in the other case.
fn other_cases(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().chain(c.to_uppercase())
}

impl Node {
    /// Whether it has a condition that a library has to look around for, or repeats one.
    pub fn looks_around(&self) -> bool {
        match self {
            Node::Look { .. } | Node::At(Place::WordStart | Place::WordEnd) => true,
            Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().any(Node::looks_around),
            Node::Repeat { node, .. } | Node::Group(_, node) => node.looks_around(),
            _ => false,
        }
    }

    /// Which end this part prefers; `None` if it has only one length or does not care.
    ///
    /// The rules are in PostgreSQL's documentation, section 9.7.3.5.
    pub fn prefers(&self) -> Option<Prefer> {
        match self {
            Node::Repeat { node, range } => range.prefer.or_else(|| node.prefers()),
            Node::Group(_, node) => node.prefers(),
            Node::Sequence(nodes) => nodes.iter().find_map(Node::prefers),
            Node::Choice(_) => Some(Prefer::Long),
            _ => None,
        }
    }
}
