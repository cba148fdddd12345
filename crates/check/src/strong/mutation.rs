//! The rules that make the answers right, and a way to break one of them on purpose: the tests do,
//! one rule after the other, and expect a wrong answer somewhere. Outside of tests every rule
//! holds, at no cost.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A transaction comes after those before it in its session.
    Session,
    /// A transaction begins before it commits.
    BeginCommit,
    /// A reader comes after the writer.
    ReadFrom,
    /// An end comes before each begin that is later in real time.
    RealTime,
    /// The writer of the earlier version comes before the writer of the later one.
    WriteWrite,
    /// A reader comes before the writer that replaces what it read.
    ReadWrite,
    /// Initial values come before all others.
    InitialFirst,
    /// Writers of a key do not overlap at snapshot isolation.
    NoOverlap,
    /// A writer that a reader saw wrote before the version that was read.
    SeenWriter,
    /// Of two orders the one that closes no cycle is taken.
    OtherOrder,
    /// A read whose value has one candidate left comes after it.
    LastCandidate,
    /// Only candidates that are impossible are left out.
    Candidates,
    /// What comes before the reader whichever candidate it is comes before all of them.
    AllCandidates,
    /// A literal whose edge closes a cycle is refused.
    CycleCheck,
    /// The clause of a cycle has all its literals.
    ConflictClause,
    /// One of the candidates of a read is chosen.
    OneSource,
    /// What a read is said to read is not replaced before it.
    ChosenSource,
}

/// Whether `rule` is kept.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn holds(_rule: Rule) -> bool {
    true
}

#[cfg(test)]
pub(crate) use broken::{holds, without};

#[cfg(test)]
mod broken {
    use super::Rule;
    use std::cell::Cell;

    thread_local! {
        static BROKEN: Cell<Option<Rule>> = const { Cell::new(None) };
    }

    pub(crate) fn holds(rule: Rule) -> bool {
        BROKEN.get() != Some(rule)
    }

    /// Runs `work` on this thread while `rule` is broken.
    pub(crate) fn without<R>(rule: Rule, work: impl FnOnce() -> R) -> R {
        BROKEN.set(Some(rule));
        let result = work();
        BROKEN.set(None);
        result
    }

    impl Rule {
        pub(crate) const ALL: [Rule; 17] = [
            Rule::Session,
            Rule::BeginCommit,
            Rule::ReadFrom,
            Rule::RealTime,
            Rule::WriteWrite,
            Rule::ReadWrite,
            Rule::InitialFirst,
            Rule::NoOverlap,
            Rule::SeenWriter,
            Rule::OtherOrder,
            Rule::LastCandidate,
            Rule::Candidates,
            Rule::AllCandidates,
            Rule::CycleCheck,
            Rule::ConflictClause,
            Rule::OneSource,
            Rule::ChosenSource,
        ];
    }
}
