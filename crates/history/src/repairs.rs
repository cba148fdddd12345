//! What a reader had to leave out or to change so that the rest of its input is a history: nothing
//! that refuses the input, but something that a person should know.

/// How often something occurred in the input, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The line of the first, from 1.
    pub first_line: u64,
}

impl Tally {
    /// Counts one more, in `line`.
    pub fn add(&mut self, line: u64) {
        self.first_line = if self.count == 0 { line } else { self.first_line.min(line) };
        self.count += 1;
    }

    /// The tally of `lines`.
    pub fn of(lines: impl IntoIterator<Item = u64>) -> Tally {
        let mut tally = Tally::default();
        lines.into_iter().for_each(|line| tally.add(line));
        tally
    }
}

/// What a reader left out or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Repairs {
    /// Reads that were left out because only transactions of unknown content can have written what
    /// they returned.
    pub reads_left_out: Tally,
    /// Reads of lists from which such elements were left out.
    pub lists_shortened: Tally,
    /// Transactions that end before they begin, by the clock of the input: they are taken to end
    /// when they begin.
    pub ends_before_begin: Tally,
    /// Events without a time beside others that have one: no time of the input is used.
    pub events_without_time: Tally,
    /// Transactions of an input that names no process: each is a session of its own.
    pub without_process: Tally,
}
