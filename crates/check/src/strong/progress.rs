//! Whether repairs get on, or had better start anew or give way to the search.

/// How many restarts of the repairs in a row may leave as much broken as before, until the search
/// takes over.
const VAIN_MAX: u32 = 2;

/// A round of guessing is slow if it settles less than one in so many of the broken places: a new
/// order costs more than a repair.
pub(crate) const SLOW_ROUND: usize = 6;

/// A pass of repairs is slow if it leaves all but one in so many of the broken places.
pub(crate) const SLOW: usize = 16;

/// How repairs get on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    Good,
    /// The last pass did little.
    Slow,
    /// The last two passes did little.
    Stalled,
}

/// How many places were broken in the passes of repairs.
pub(crate) struct Progress {
    /// In the last two passes.
    before: [usize; 2],
    /// The fewest.
    least: usize,
    /// Restarts since it fell.
    vain: u32,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { before: [usize::MAX; 2], least: usize::MAX, vain: 0 }
    }
}

impl Progress {
    /// How the passes got on, `broken` places being left.
    pub fn pace(&mut self, broken: usize) -> Pace {
        if is_fewer(broken, self.least) {
            (self.least, self.vain) = (broken, 0);
        }
        let [earlier, last] = self.before;
        self.before = [last, broken];
        match (is_fewer(broken, last), is_fewer(broken, earlier)) {
            (true, _) => Pace::Good,
            (false, true) => Pace::Slow,
            (false, false) => Pace::Stalled,
        }
    }

    pub fn restart(&mut self) {
        self.before = [usize::MAX; 2];
        self.vain += 1;
    }

    pub fn is_vain(&self) -> bool {
        self.vain > VAIN_MAX
    }
}

/// Whether `count` is clearly fewer than `before`.
fn is_fewer(count: usize, before: usize) -> bool {
    count < before - before / SLOW
}
