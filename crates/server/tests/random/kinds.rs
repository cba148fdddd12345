//! The types of random columns and expressions.

use super::dice::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int2,
    Int4,
    Int8,
    Numeric,
    Float8,
    Text,
    Varchar,
    Char,
    Bool,
    Date,
    Timestamp,
    Timestamptz,
    Time,
    Interval,
    Uuid,
    Bytea,
    Jsonb,
    Ints,
    Texts,
    Mood,
}

pub const KINDS: [Kind; 20] = [
    Kind::Int2,
    Kind::Int4,
    Kind::Int8,
    Kind::Numeric,
    Kind::Float8,
    Kind::Text,
    Kind::Varchar,
    Kind::Char,
    Kind::Bool,
    Kind::Date,
    Kind::Timestamp,
    Kind::Timestamptz,
    Kind::Time,
    Kind::Interval,
    Kind::Uuid,
    Kind::Bytea,
    Kind::Jsonb,
    Kind::Ints,
    Kind::Texts,
    Kind::Mood,
];

/// Kinds that queries are mostly about.
pub const COMMON: [Kind; 8] = [
    Kind::Int4,
    Kind::Int4,
    Kind::Int8,
    Kind::Numeric,
    Kind::Text,
    Kind::Text,
    Kind::Bool,
    Kind::Date,
];

pub const NUMBERS: [Kind; 5] = [Kind::Int2, Kind::Int4, Kind::Int8, Kind::Numeric, Kind::Float8];

impl Kind {
    pub fn any(dice: &mut Dice) -> Kind {
        if dice.percent(60) { dice.pick(&COMMON) } else { dice.pick(&KINDS) }
    }

    /// The name of the type, for a column or a cast.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Int2 => "int2",
            Kind::Int4 => "int4",
            Kind::Int8 => "int8",
            Kind::Numeric => "numeric(8,2)",
            Kind::Float8 => "float8",
            Kind::Text => "text",
            Kind::Varchar => "varchar(8)",
            Kind::Char => "char(4)",
            Kind::Bool => "bool",
            Kind::Date => "date",
            Kind::Timestamp => "timestamp",
            Kind::Timestamptz => "timestamptz",
            Kind::Time => "time",
            Kind::Interval => "interval",
            Kind::Uuid => "uuid",
            Kind::Bytea => "bytea",
            Kind::Jsonb => "jsonb",
            Kind::Ints => "int4[]",
            Kind::Texts => "text[]",
            Kind::Mood => "mood",
        }
    }

    /// Texts of a few values, so that some are equal. Numbers are so that sums of floating point
    /// are exact, whatever their order.
    fn texts(self) -> &'static [&'static str] {
        match self {
            Kind::Int2 | Kind::Int4 | Kind::Int8 => &["0", "1", "2", "3", "-1", "7", "10", "42"],
            Kind::Numeric => &["0", "1", "2.5", "-1.25", "10.10", "99.99", "3", "0.01"],
            Kind::Float8 => &["0", "1", "2.5", "-1.25", "0.5", "100", "-8"],
            Kind::Text => &["", "a", "b", "abc", "B", "a b", "zz", "10", "a%_"],
            Kind::Varchar => &["", "a", "b", "abc", "xyz", "10"],
            Kind::Char => &["", "a", "b", "abc", "zz"],
            Kind::Bool => &["true", "false"],
            Kind::Date => &["2024-01-01", "2024-02-29", "2023-12-31", "1999-06-15", "2024-01-31"],
            Kind::Timestamp => &[
                "2024-01-01 00:00:00",
                "2024-02-29 12:30:00",
                "2024-01-31 23:59:59.5",
                "1999-06-15 06:00:00",
            ],
            Kind::Timestamptz => &[
                "2024-01-01 00:00:00+00",
                "2024-03-31 01:30:00+00",
                "2024-02-29 12:30:00+02",
                "1999-06-15 06:00:00-05",
            ],
            Kind::Time => &["00:00", "12:30", "23:59:59.5", "06:00"],
            Kind::Interval => &["1 day", "2 hours", "1 month", "-3 days", "0", "36 hours"],
            Kind::Uuid => &[
                "00000000-0000-0000-0000-000000000001",
                "00000000-0000-0000-0000-000000000002",
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            ],
            Kind::Bytea => &["\\x", "\\x00", "\\x61", "\\x6162", "\\xff"],
            Kind::Jsonb => &[
                "1",
                "\"a\"",
                "null",
                "{}",
                "{\"a\": 1}",
                "{\"a\": \"x\", \"b\": [1, 2]}",
                "[1, 2]",
                "[]",
            ],
            Kind::Ints => &["{}", "{1}", "{1,2}", "{2,1}", "{NULL,3}", "{1,2,3}"],
            Kind::Texts => &["{}", "{a}", "{a,b}", "{b,NULL}", "{\"\",abc}"],
            Kind::Mood => &["sad", "ok", "happy"],
        }
    }

    /// A value of this type, or sometimes NULL of this type.
    pub fn literal(self, dice: &mut Dice) -> String {
        if dice.percent(8) {
            return format!("NULL::{}", self.name());
        }
        let text = dice.pick(self.texts());
        match self {
            Kind::Int4 | Kind::Bool if !text.starts_with('-') => text.to_owned(),
            Kind::Text if dice.percent(30) => format!("'{text}'::text"),
            Kind::Text => format!("'{text}'::text"),
            _ => format!("'{text}'::{}", self.name()),
        }
    }

    /// A value for a column, which may be left to the type of the column.
    pub fn stored(self, dice: &mut Dice) -> String {
        if dice.percent(20) { "NULL".to_owned() } else { format!("'{}'", dice.pick(self.texts())) }
    }

    /// The expression so that equal values look the same: which of several is shown is the plan's
    /// business.
    pub fn plain(self, expression: &str) -> String {
        match self {
            Kind::Numeric => format!("trim_scale({expression})"),
            Kind::Float8 => format!("({expression} + 0)"),
            Kind::Interval => format!("justify_interval({expression})"),
            Kind::Jsonb => format!("({expression})::text"),
            _ => expression.to_owned(),
        }
    }

    /// The kind of `plain`.
    pub fn plain_kind(self) -> Kind {
        if self == Kind::Jsonb { Kind::Text } else { self }
    }

    pub fn is_number(self) -> bool {
        NUMBERS.contains(&self)
    }

    /// Whether there are min and max.
    pub fn has_extremes(self) -> bool {
        !matches!(self, Kind::Bool | Kind::Uuid | Kind::Bytea | Kind::Jsonb)
    }
}
