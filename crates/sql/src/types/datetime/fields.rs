//! The set of fields that a text has given so far. A field that is given twice is an error.

use std::ops::{BitOr, BitOrAssign};

/// A set of fields.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Fields(u32);

#[allow(missing_docs)]
impl Fields {
    pub const NONE: Fields = Fields(0);
    pub const YEAR: Fields = Fields(1);
    pub const MONTH: Fields = Fields(1 << 1);
    pub const DAY: Fields = Fields(1 << 2);
    pub const HOUR: Fields = Fields(1 << 3);
    pub const MINUTE: Fields = Fields(1 << 4);
    pub const SECOND: Fields = Fields(1 << 5);
    pub const MILLISECOND: Fields = Fields(1 << 6);
    pub const MICROSECOND: Fields = Fields(1 << 7);
    pub const DAY_OF_YEAR: Fields = Fields(1 << 8);
    pub const WEEKDAY: Fields = Fields(1 << 9);
    pub const ZONE: Fields = Fields(1 << 10);
    pub const DAYLIGHT_ZONE: Fields = Fields(1 << 11);
    pub const DAYLIGHT_MODIFIER: Fields = Fields(1 << 12);
    pub const DYNAMIC_ZONE: Fields = Fields(1 << 13);
    pub const MERIDIAN: Fields = Fields(1 << 14);
    pub const ERA: Fields = Fields(1 << 15);
    pub const WEEK: Fields = Fields(1 << 16);
    pub const DECADE: Fields = Fields(1 << 17);
    pub const CENTURY: Fields = Fields(1 << 18);
    pub const MILLENNIUM: Fields = Fields(1 << 19);
    pub const SECONDS: Fields = Fields(0b111 << 5);
    pub const DATE: Fields = Fields(0b111);
    pub const TIME: Fields = Fields(0b11111 << 3);

    /// Whether one of these has been given.
    pub fn any_of(self, other: Fields) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of these have been given.
    pub fn all_of(self, other: Fields) -> bool {
        self.0 & other.0 == other.0
    }

    /// Those of them that have been given.
    pub fn among(self, other: Fields) -> Fields {
        Fields(self.0 & other.0)
    }

    /// Without these.
    pub fn without(self, other: Fields) -> Fields {
        Fields(self.0 & !other.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Fields {
    type Output = Fields;
    fn bitor(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
    }
}

impl BitOrAssign for Fields {
    fn bitor_assign(&mut self, other: Fields) {
        self.0 |= other.0;
    }
}
