//! Holds one statement while the other clients do all that they can: they come to their ends, or
//! wait for a lock of the one that is held, just before it runs. What goes wrong only if another
//! transaction commits between two given statements is met so, and by chance hardly ever.

use super::{Holder, Place, Point};
use seriatim_sql::parse::shape;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the statement is held at most: as long as a request may take.
const MOST: Duration = Duration::from_secs(2);
/// An application may think for so long between two statements.
const IDLE_AFTER: Duration = Duration::from_millis(60);

/// Holds a statement of this shape, in every session the one of this number.
#[derive(Clone, Debug)]
pub struct AtOne {
    shape: String,
    number: u32,
    /// How many of them each session has sent.
    sent: BTreeMap<u32, u32>,
}

impl AtOne {
    /// Holds the statement of this shape before which a session has sent `number` others of it.
    pub fn new(shape: String, number: u32) -> AtOne {
        AtOne { shape, number, sent: BTreeMap::new() }
    }
}

impl Holder for AtOne {
    fn hold(&mut self, point: Point, text: &str, most: Duration) -> Duration {
        if point.place != Place::Before || shape(text) != self.shape {
            return Duration::ZERO;
        }
        let sent = self.sent.entry(point.session).or_default();
        *sent += 1;
        if *sent == self.number + 1 { most } else { Duration::ZERO }
    }

    fn most(&self) -> Duration {
        MOST
    }

    fn idle_after(&self) -> Duration {
        IDLE_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(session: u32, place: Place) -> Point {
        Point { session, statement: 0, place }
    }

    #[test]
    fn the_statement_is_known_by_its_shape_and_its_number() {
        let mut holder = AtOne::new(shape("SELECT stock FROM item WHERE id = 7"), 1);
        let mut holds =
            |session, place, text| !holder.hold(point(session, place), text, MOST).is_zero();
        let (one, other) =
            ("SELECT stock FROM item WHERE id = 1", "SELECT stock FROM item WHERE id = 2");
        assert!(!holds(3, Place::Before, one));
        assert!(!holds(3, Place::After, ""));
        assert!(!holds(3, Place::Before, "SELECT 1"));
        assert!(!holds(4, Place::Before, one));
        assert!(holds(3, Place::Before, other));
        assert!(holds(4, Place::Before, other));
        assert!(!holds(3, Place::Before, other));
    }
}
