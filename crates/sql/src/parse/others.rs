//! Objects that PostgreSQL has and that are not here: functions, triggers, policies and the like.
//! None can be made, so that IF EXISTS finds none; everything else about them is refused by name.

use super::ast::Utility;
use super::cursor::Cursor;
use crate::error::Result;

/// The statements about a kind of objects.
struct Kind {
    words: &'static str,
    create: &'static str,
    alter: &'static str,
    drop: &'static str,
}

macro_rules! kinds {
    ($(($words:literal, $name:literal)),* $(,)?) => {
        &[$(Kind {
            words: $words,
            create: concat!("CREATE ", $name),
            alter: concat!("ALTER ", $name),
            drop: concat!("DROP ", $name),
        }),*]
    };
}

/// Longer names stand before those that they begin with.
const KINDS: &[Kind] = kinds![
    ("access method", "ACCESS METHOD"),
    ("aggregate", "AGGREGATE"),
    ("cast", "CAST"),
    ("constraint trigger", "TRIGGER"),
    ("conversion", "CONVERSION"),
    ("default conversion", "CONVERSION"),
    ("event trigger", "EVENT TRIGGER"),
    ("extension", "EXTENSION"),
    ("foreign data wrapper", "FOREIGN DATA WRAPPER"),
    ("foreign table", "FOREIGN TABLE"),
    ("function", "FUNCTION"),
    ("language", "LANGUAGE"),
    ("trusted language", "LANGUAGE"),
    ("procedural language", "LANGUAGE"),
    ("trusted procedural language", "LANGUAGE"),
    ("large object", "LARGE OBJECT"),
    ("operator class", "OPERATOR CLASS"),
    ("operator family", "OPERATOR FAMILY"),
    ("operator", "OPERATOR"),
    ("policy", "POLICY"),
    ("procedure", "PROCEDURE"),
    ("publication", "PUBLICATION"),
    ("routine", "ROUTINE"),
    ("rule", "RULE"),
    ("server", "SERVER"),
    ("statistics", "STATISTICS"),
    ("subscription", "SUBSCRIPTION"),
    ("tablespace", "TABLESPACE"),
    ("text search configuration", "TEXT SEARCH CONFIGURATION"),
    ("text search dictionary", "TEXT SEARCH DICTIONARY"),
    ("text search parser", "TEXT SEARCH PARSER"),
    ("text search template", "TEXT SEARCH TEMPLATE"),
    ("transform", "TRANSFORM"),
    ("trigger", "TRIGGER"),
    ("user mapping", "USER MAPPING"),
];

impl Cursor<'_> {
    fn other_kind(&self) -> Result<&'static Kind> {
        KINDS.iter().find(|kind| self.is(kind.words)).ok_or_else(|| self.error())
    }

    /// After CREATE.
    pub(super) fn create_other(&mut self) -> Result<Utility> {
        let kind = self.other_kind()?;
        Ok(self.unsupported(kind.create))
    }

    /// After ALTER.
    pub(super) fn alter_other(&mut self) -> Result<Utility> {
        let kind = self.other_kind()?;
        Ok(self.unsupported(kind.alter))
    }

    /// After DROP.
    pub(super) fn drop_other(&mut self) -> Result<Utility> {
        let kind = self.other_kind()?;
        self.need(kind.words)?;
        Ok(match self.is("if exists") {
            true => self.accepted(kind.drop),
            false => self.unsupported(kind.drop),
        })
    }
}
