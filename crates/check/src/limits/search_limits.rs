//! The limits of one search.

use super::resident;
use crate::outcome::{Options, Undecided};
use std::time::Instant;

/// The limits of one search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub deadline: Option<Instant>,
    /// Bytes that the process may have resident.
    pub memory: Option<u64>,
}

impl Limits {
    pub fn of(options: &Options) -> Limits {
        Limits { deadline: options.deadline, memory: options.memory }
    }

    /// Cheap enough for inner loops.
    pub fn is_over(&self) -> bool {
        self.is_late() || self.is_full()
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the memory is used up.
    pub fn is_full(&self) -> bool {
        self.memory.is_some_and(|memory| resident::recently() > memory)
    }

    /// Whether `bytes` more are within the limit.
    pub fn allow(&self, bytes: u64) -> bool {
        self.memory.is_none_or(|memory| resident::now().saturating_add(bytes) <= memory)
    }

    /// Why a search ended without an answer: it was late, or else it was about to need too much
    /// memory.
    pub fn reason(&self) -> Undecided {
        if self.is_late() { Undecided::Budget } else { Undecided::Memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn nothing_is_over_without_limits() {
        let limits = Limits::default();
        assert!(!limits.is_over() && limits.allow(u64::MAX));
    }

    #[test]
    fn a_deadline_and_a_full_memory_are_told_apart() {
        let late = Limits { deadline: Some(Instant::now()), memory: None };
        assert!(late.is_over() && !late.is_full());
        assert_eq!(late.reason(), Undecided::Budget);
        let far = Instant::now() + Duration::from_secs(3600);
        let wide = Limits { deadline: Some(far), memory: Some(u64::MAX) };
        assert!(!wide.is_over() && wide.allow(1 << 40));
        assert_eq!(wide.reason(), Undecided::Memory);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_limit_below_what_is_in_use_is_over() {
        let narrow = Limits { deadline: None, memory: Some(1 << 10) };
        assert!(narrow.is_over() && narrow.is_full() && !narrow.allow(0));
    }
}
