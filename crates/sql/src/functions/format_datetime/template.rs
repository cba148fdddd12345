//! Templates of dates and times as a list of nodes.

/// What a keyword stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Key {
    /// AD or BC, with points or without.
    Era {
        points: bool,
    },
    /// AM or PM, with points or without.
    Meridian {
        points: bool,
    },
    Century,
    DayName,
    DayShort,
    MonthName,
    MonthShort,
    DayOfYear,
    Day,
    Weekday,
    /// Digits of a fraction of a second.
    Fraction(u32),
    FixedFormat,
    Hour24,
    Hour12,
    IsoDayOfYear,
    IsoWeekday,
    IsoWeek,
    /// Digits of the year by ISO 8601.
    IsoYear(u32),
    Julian,
    Minute,
    Month,
    Millisecond,
    Offset,
    Quarter,
    RomanMonth,
    SecondOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    Zone,
    Microsecond,
    Week,
    WeekOfMonth,
    /// `Y,YYY`
    YearWithComma,
    /// Digits of the year.
    Year(u32),
}

/// How the letters of a word are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Letters {
    Upper,
    Lower,
    Capital,
}

/// Which calendar a keyword belongs to; both must not be mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Convention {
    Any,
    Gregorian,
    Iso,
}

/// A part of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A field.
    Field(Field),
    /// A space.
    Space(char),
    /// A character that separates fields.
    Separator(char),
    /// Any other character.
    Text(char),
}

/// A keyword with what stands before and behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// What it stands for.
    pub key: Key,
    /// The keyword.
    pub name: &'static str,
    /// How it was written.
    pub letters: Letters,
    /// `FM`: without blanks and zeros.
    pub fill: bool,
    /// `TH` or `th` behind it.
    pub ordinal: Option<Letters>,
}

/// Keywords in the order in which they are tried; small letters mean the same.
const KEYWORDS: &[(&str, Key)] = &[
    ("A.D.", Key::Era { points: true }),
    ("A.M.", Key::Meridian { points: true }),
    ("AD", Key::Era { points: false }),
    ("AM", Key::Meridian { points: false }),
    ("B.C.", Key::Era { points: true }),
    ("BC", Key::Era { points: false }),
    ("CC", Key::Century),
    ("DAY", Key::DayName),
    ("DDD", Key::DayOfYear),
    ("DD", Key::Day),
    ("DY", Key::DayShort),
    ("D", Key::Weekday),
    ("FF1", Key::Fraction(1)),
    ("FF2", Key::Fraction(2)),
    ("FF3", Key::Fraction(3)),
    ("FF4", Key::Fraction(4)),
    ("FF5", Key::Fraction(5)),
    ("FF6", Key::Fraction(6)),
    ("FX", Key::FixedFormat),
    ("HH24", Key::Hour24),
    ("HH12", Key::Hour12),
    ("HH", Key::Hour12),
    ("IDDD", Key::IsoDayOfYear),
    ("ID", Key::IsoWeekday),
    ("IW", Key::IsoWeek),
    ("IYYY", Key::IsoYear(4)),
    ("IYY", Key::IsoYear(3)),
    ("IY", Key::IsoYear(2)),
    ("I", Key::IsoYear(1)),
    ("J", Key::Julian),
    ("MI", Key::Minute),
    ("MM", Key::Month),
    ("MONTH", Key::MonthName),
    ("MON", Key::MonthShort),
    ("MS", Key::Millisecond),
    ("OF", Key::Offset),
    ("P.M.", Key::Meridian { points: true }),
    ("PM", Key::Meridian { points: false }),
    ("Q", Key::Quarter),
    ("RM", Key::RomanMonth),
    ("SSSSS", Key::SecondOfDay),
    ("SSSS", Key::SecondOfDay),
    ("SS", Key::Second),
    ("TZH", Key::ZoneHour),
    ("TZM", Key::ZoneMinute),
    ("TZ", Key::Zone),
    ("US", Key::Microsecond),
    ("WW", Key::Week),
    ("W", Key::WeekOfMonth),
    ("Y,YYY", Key::YearWithComma),
    ("YYYY", Key::Year(4)),
    ("YYY", Key::Year(3)),
    ("YY", Key::Year(2)),
    ("Y", Key::Year(1)),
];

/// Keywords of names may begin with a capital only.
const CAPITALS: &[(&str, Key)] = &[
    ("Day", Key::DayName),
    ("Dy", Key::DayShort),
    ("Month", Key::MonthName),
    ("Mon", Key::MonthShort),
];

impl Key {
    fn is_name(self) -> bool {
        matches!(self, Key::DayName | Key::DayShort | Key::MonthName | Key::MonthShort)
    }
}

impl Field {
    /// Whether it is written with digits.
    pub fn is_digits(self) -> bool {
        !matches!(
            self.key,
            Key::Era { .. }
                | Key::Meridian { .. }
                | Key::DayName
                | Key::DayShort
                | Key::MonthName
                | Key::MonthShort
                | Key::RomanMonth
                | Key::Zone
                | Key::ZoneHour
                | Key::Offset
                | Key::FixedFormat
        )
    }

    /// Which calendar it belongs to.
    pub fn convention(self) -> Convention {
        match self.key {
            Key::IsoDayOfYear | Key::IsoWeekday | Key::IsoWeek | Key::IsoYear(_) => Convention::Iso,
            Key::DayOfYear
            | Key::Day
            | Key::Weekday
            | Key::Month
            | Key::MonthName
            | Key::MonthShort
            | Key::RomanMonth
            | Key::Week
            | Key::WeekOfMonth
            | Key::Year(_)
            | Key::YearWithComma => Convention::Gregorian,
            _ => Convention::Any,
        }
    }
}

/// The keyword that a text begins with.
fn keyword(text: &str) -> Option<(&'static str, Key, Letters)> {
    let is_lower = text.starts_with(|c: char| c.is_ascii_lowercase());
    if let Some((name, key)) = CAPITALS.iter().find(|(name, _)| text.starts_with(name)) {
        // `DAY` and `DDD` begin with D too: what is longer in capitals comes first.
        return Some((name, *key, Letters::Capital));
    }
    let same = |name: &str| match is_lower {
        true => text.get(..name.len()).is_some_and(|begin| {
            begin.eq_ignore_ascii_case(name) && !begin.bytes().any(|b| b.is_ascii_uppercase())
        }),
        false => text.starts_with(name),
    };
    let letters = if is_lower { Letters::Lower } else { Letters::Upper };
    KEYWORDS.iter().find(|(name, _)| same(name)).map(|(name, key)| (*name, *key, letters))
}

/// What separates fields: printable and neither letter nor digit.
pub fn is_separator(c: char) -> bool {
    c.is_ascii_graphic() && !c.is_ascii_alphanumeric()
}

fn strip<'t>(text: &'t str, words: [&str; 2]) -> Option<&'t str> {
    words.iter().find_map(|word| text.strip_prefix(word))
}

/// Cuts a template into nodes.
pub fn parse(template: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let (mut fill, mut translated) = (false, false);
        if let Some(behind) = strip(rest, ["FM", "fm"]) {
            (fill, rest) = (true, behind);
        } else if let Some(behind) = strip(rest, ["TM", "tm"]) {
            (translated, rest) = (true, behind);
        }
        rest = match keyword(rest) {
            Some((name, key, letters)) => {
                let (ordinal, behind) = postfix(&rest[name.len()..]);
                // Names in the language of the session are not filled; it is always English.
                let fill = fill || (translated && key.is_name());
                nodes.push(Node::Field(Field { key, name, letters, fill, ordinal }));
                behind
            }
            None if rest.starts_with('"') => quoted(&rest[1..], &mut nodes),
            None => character(rest, &mut nodes),
        };
    }
    nodes
}

fn postfix(text: &str) -> (Option<Letters>, &str) {
    if let Some(rest) = text.strip_prefix("TH") {
        return (Some(Letters::Upper), rest);
    }
    if let Some(rest) = text.strip_prefix("th") {
        return (Some(Letters::Lower), rest);
    }
    (None, text.strip_prefix("SP").unwrap_or(text))
}

/// Text in quotes; a backslash quotes the next character.
pub(super) fn quoted<'t>(text: &'t str, nodes: &mut Vec<Node>) -> &'t str {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => nodes.push(Node::Text(chars.next().unwrap_or('\\'))),
            _ => nodes.push(Node::Text(c)),
        }
    }
    chars.as_str()
}

fn character<'t>(text: &'t str, nodes: &mut Vec<Node>) -> &'t str {
    // Outside of quotes a backslash only means something before a quote.
    let text = if text.starts_with("\\\"") { &text[1..] } else { text };
    let mut chars = text.chars();
    if let Some(c) = chars.next() {
        nodes.push(if is_separator(c) {
            Node::Separator(c)
        } else if crate::types::io::scalars::is_space(c) {
            Node::Space(c)
        } else {
            Node::Text(c)
        });
    }
    chars.as_str()
}
