//! Steps as text: `0` is a step of the first session; `0:i` one that reads the initial version, and
//! `1:0.2` one of the second session that reads what the third transaction of the first one wrote.
//! Steps are separated by commas.

use std::fmt;
use std::str::FromStr;

/// A transaction, by the number of its session and its own in it, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Named {
    /// The session.
    pub session: u32,
    /// The transaction in it.
    pub txn: u32,
}

/// A step of a program that is led by hand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A session goes on.
    Go(u32),
    /// A session goes on with a read, which returns the version of a transaction, or the initial
    /// one.
    Pick(u32, Option<Named>),
}

impl Step {
    /// The session that goes on.
    pub fn session(self) -> u32 {
        match self {
            Step::Go(session) | Step::Pick(session, _) => session,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Go(session) => write!(f, "{session}"),
            Step::Pick(session, None) => write!(f, "{session}:i"),
            Step::Pick(session, Some(writer)) => {
                write!(f, "{session}:{}.{}", writer.session, writer.txn)
            }
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Step, String> {
        let bad = || {
            let shown: String = text.chars().take(20).flat_map(char::escape_debug).collect();
            format!("`{shown}` is no step; expected one like 0, 0:i or 1:0.2")
        };
        // `+1` would be a number, too.
        let number = |text: &str| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain).ok_or_else(bad)
        };
        let Some((session, version)) = text.split_once(':') else {
            return Ok(Step::Go(number(text)?));
        };
        let session = number(session)?;
        if version == "i" {
            return Ok(Step::Pick(session, None));
        }
        let (writer, txn) = version.split_once('.').ok_or_else(bad)?;
        Ok(Step::Pick(session, Some(Named { session: number(writer)?, txn: number(txn)? })))
    }
}

/// Reads steps; nothing if there are more than `steps_max`.
pub fn parse_steps(text: &str, steps_max: usize) -> Result<Vec<Step>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if text.split(',').nth(steps_max).is_some() {
        return Err(format!("more than {steps_max} steps"));
    }
    text.split(',').map(str::parse).collect()
}

/// Steps as text.
pub fn steps_text(steps: &[Step]) -> String {
    steps.iter().map(Step::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_are_written() {
        let steps =
            [Step::Go(3), Step::Pick(0, None), Step::Pick(12, Some(Named { session: 1, txn: 40 }))];
        let text = steps_text(&steps);
        assert_eq!(text, "3,0:i,12:1.40");
        assert_eq!(parse_steps(&text, 3), Ok(steps.to_vec()));
        assert_eq!(parse_steps("", 0), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_step_is_refused() {
        for text in ["x", ",", "0,", "-1", "+1", "0:", "0:1", "0:1.", "0:i.i", "99999999999", "é:i"]
        {
            assert!(parse_steps(text, 10).unwrap_err().contains("is no step"), "{text}");
        }
        assert_eq!(parse_steps("0,0,0", 2), Err("more than 2 steps".to_owned()));
    }
}
