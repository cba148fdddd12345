//! The lines of a certificate as they are written.

use super::Point;
use serde::{Deserialize, Serialize};

/// The version of the format.
pub(super) const VERSION: u64 = 2;

/// The first line.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub seriatim_certificate: u64,
    pub input: String,
    pub fingerprint: String,
    pub sessions: usize,
    pub transactions: usize,
    pub operations: usize,
    /// The levels that have a line, so that none gets lost unnoticed.
    pub levels: Vec<String>,
    /// The order that they are meant with, unless it is that of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

/// The line of a level.
#[derive(Serialize, Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub level: String,
    pub verdict: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(PointKind, u32)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<(u32, Option<u32>)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<u32>>,
}

#[derive(Serialize, Deserialize, Debug, Clone, Copy)]
pub(super) enum PointKind {
    #[serde(rename = "b")]
    Begin,
    #[serde(rename = "c")]
    Commit,
}

impl From<Point> for (PointKind, u32) {
    fn from(point: Point) -> (PointKind, u32) {
        match point {
            Point::Begin(txn) => (PointKind::Begin, txn),
            Point::Commit(txn) => (PointKind::Commit, txn),
        }
    }
}

impl From<(PointKind, u32)> for Point {
    fn from((kind, txn): (PointKind, u32)) -> Point {
        match kind {
            PointKind::Begin => Point::Begin(txn),
            PointKind::Commit => Point::Commit(txn),
        }
    }
}
