//! A limit on the work of a refutation: its worst case is exponential.

/// How much work may still be done, in steps of roughly a microsecond.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
}

/// The budget was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Budget {
    /// A budget of `steps`.
    pub fn new(steps: u64) -> Budget {
        Budget { left: steps }
    }

    /// Takes half of it, for work that the rest must not depend on.
    pub(crate) fn half(&mut self) -> Budget {
        let half = self.left / 2;
        self.left -= half;
        Budget { left: half }
    }

    /// Takes `steps` off; an error if there are not as many left.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(steps).ok_or(Exhausted)?;
        Ok(())
    }
}

impl Default for Budget {
    /// A few seconds.
    fn default() -> Self {
        Budget::new(4_000_000)
    }
}
