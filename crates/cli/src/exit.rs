//! How the program ends: the exit codes, and failures that end it early.

use nix::sys::signal::Signal;
use seriatim_check::Answer;
use seriatim_report::style::{BAD, paint};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The exit codes, a versioned interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every level that was asked for holds.
    Holds = 0,
    /// One is violated.
    Violated = 1,
    /// None is violated, one is undecided.
    Undecided = 2,
    /// An input could not be read, an output not written, or the arguments make no sense.
    BadInput = 3,
    /// A mistake of ours.
    Internal = 4,
    /// A hang-up, after what was found so far has been told.
    HungUp = 129,
    /// Ctrl-C, likewise.
    Interrupted = 130,
    /// A request to terminate, likewise.
    Terminated = 143,
}

impl Exit {
    /// The exit code over two inputs: bad input wins over violated, over undecided, over holds.
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit| match exit {
            Exit::Holds => 0,
            Exit::Undecided => 1,
            Exit::Violated => 2,
            Exit::BadInput => 3,
            Exit::Internal => 4,
            Exit::HungUp | Exit::Interrupted | Exit::Terminated => 5,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl From<Signal> for Exit {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::SIGTERM => Exit::Terminated,
            Signal::SIGHUP => Exit::HungUp,
            _ => Exit::Interrupted,
        }
    }
}

impl From<Answer> for Exit {
    fn from(outcome: Answer) -> Self {
        match outcome {
            Answer::Holds => Exit::Holds,
            Answer::Violated => Exit::Violated,
            Answer::Undecided => Exit::Undecided,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command cannot go on.
#[derive(Debug)]
pub enum Failure {
    /// The reader of our output has had enough (`| head`): not an error.
    ClosedPipe,
    /// Something that the user can change, in one sentence.
    Message(String),
}

impl Failure {
    /// A failure about a file.
    pub fn about(what: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Failure::Message(format!("{what}: {error}"))
    }

    /// Says what went wrong, and how to exit.
    pub fn report(&self) -> ExitCode {
        match self {
            // As if the signal had ended us: 0 would say that everything holds, which no reader of
            // the report has read.
            Failure::ClosedPipe => ExitCode::from(141),
            Failure::Message(message) => {
                let _ = writeln!(anstream::stderr(), "{} {message}", paint(BAD, "error:"));
                Exit::BadInput.into()
            }
        }
    }
}

impl From<io::Error> for Failure {
    /// An error of standard output.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::about("cannot write to standard output", error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit::*;

    #[test]
    fn the_worst_input_decides() {
        assert_eq!(Holds.and(Undecided), Undecided);
        assert_eq!(Violated.and(Undecided), Violated);
        assert_eq!(Violated.and(BadInput), BadInput);
        assert_eq!(BadInput.and(Holds), BadInput);
    }
}
