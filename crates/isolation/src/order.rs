//! The orders that each level exists with: their names, and a level together with one of them. What
//! they mean is in [`crate::axioms`].

use crate::level::Level;
use std::fmt;
use std::str::FromStr;

/// Which transactions are known to precede others, beside those that were read from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// None: Adya's plain levels.
    None,
    /// Those earlier in the same session: *strong session* levels, and the default.
    #[default]
    Sessions,
    /// Also those that had ended before the other began: *strong* levels.
    RealTime,
}

impl Order {
    /// All orders, each with what those before it know.
    pub const ALL: [Order; 3] = [Order::None, Order::Sessions, Order::RealTime];

    /// The name on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Order::None => "none",
            Order::Sessions => "sessions",
            Order::RealTime => "real-time",
        }
    }

    /// How reports speak of levels with this order: `with real time`.
    pub fn phrase(self) -> &'static str {
        match self {
            Order::None => "without sessions",
            Order::Sessions => "with sessions",
            Order::RealTime => "with real time",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The name of an order was not recognised.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownOrder(pub String);

impl fmt::Display for UnknownOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = Order::ALL.map(Order::code).join(", ");
        write!(f, "unknown order `{}`; expected one of {codes}", self.0)
    }
}

impl std::error::Error for UnknownOrder {}

impl FromStr for Order {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Self, UnknownOrder> {
        match text.to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "none" => Ok(Order::None),
            "sessions" | "session" => Ok(Order::Sessions),
            "real-time" | "realtime" => Ok(Order::RealTime),
            _ => Err(UnknownOrder(text.to_owned())),
        }
    }
}

/// What a database promises: a level, with an order. A level alone means that with sessions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guarantee {
    /// The level.
    pub level: Level,
    /// The order.
    pub order: Order,
}

impl Guarantee {
    /// `level` with `order`.
    pub fn new(level: Level, order: Order) -> Guarantee {
        Guarantee { level, order }
    }

    /// Whether the commit order extends real time: with that order at every level, and at strict
    /// serializability with every order.
    pub fn keeps_real_time(self) -> bool {
        self.order == Order::RealTime || self.level == Level::StrictSerializable
    }
}

impl From<Level> for Guarantee {
    fn from(level: Level) -> Guarantee {
        Guarantee::new(level, Order::default())
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            Order::Sessions => write!(f, "{}", self.level),
            order => write!(f, "{} {}", self.level, order.phrase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_known_by_its_name() {
        for order in Order::ALL {
            assert_eq!(order.code().parse(), Ok(order));
            assert_eq!(order.to_string(), order.code());
        }
        assert_eq!("Real Time".parse(), Ok(Order::RealTime));
        assert!("time".parse::<Order>().unwrap_err().to_string().contains("real-time"));
    }

    #[test]
    fn a_guarantee_is_named_after_its_level_and_an_unusual_order() {
        let plain = Guarantee::from(Level::Causal);
        assert_eq!(plain.to_string(), "causal consistency");
        let strong = Guarantee::new(Level::SnapshotIsolation, Order::RealTime);
        assert_eq!(strong.to_string(), "snapshot isolation with real time");
    }
}
