//! What the settings of a session say about values.

use super::Zone;

/// The settings of a session that decide how values are read and written, and what time it is.
#[derive(Clone, Debug)]
pub struct Style {
    /// `TimeZone`.
    pub zone: Zone,
    /// `DateStyle`: the order of day, month and year, and the style of output.
    pub date_order: DateOrder,
    /// `DateStyle`: the style of output.
    pub date_style: DateStyle,
    /// `IntervalStyle`.
    pub interval_style: IntervalStyle,
    /// `bytea_output` is `escape`.
    pub bytea_escape: bool,
    /// `extra_float_digits`.
    pub extra_float_digits: i32,
    /// When the transaction began: microseconds since 2000-01-01 UTC. What `now()` is.
    pub transaction_time: i64,
    /// When the statement began.
    pub statement_time: i64,
    /// Whose rules names and types follow.
    pub dialect: Dialect,
}

/// Whose rules names and types follow, where those of PostgreSQL and another server differ.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Dialect {
    /// PostgreSQL's.
    #[default]
    Postgres,
    /// MySQL's: `bind/mysql.rs` has them.
    Mysql,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            zone: Zone::utc(),
            date_order: DateOrder::default(),
            date_style: DateStyle::default(),
            interval_style: IntervalStyle::default(),
            bytea_escape: false,
            extra_float_digits: 1,
            transaction_time: 0,
            statement_time: 0,
            dialect: Dialect::default(),
        }
    }
}

/// The order of day, month and year in dates that are ambiguous.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DateOrder {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// How dates are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs)]
pub enum DateStyle {
    #[default]
    Iso,
    Sql,
    Postgres,
    German,
}

/// How intervals are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs)]
pub enum IntervalStyle {
    #[default]
    Postgres,
    PostgresVerbose,
    SqlStandard,
    Iso8601,
}
