//! A server that the audit was told how to start: a command that stays in the foreground. It has a
//! process group of its own, so that what is done to it is done to all of its processes.

use crate::shell::{self, LastWords};
use nix::sys::signal::Signal;
use std::process::Child;
use std::time::{Duration, Instant};

/// How long a server may take to end when it is asked to.
const END_MAX: Duration = Duration::from_secs(30);
/// How long until its processes are gone when they are killed.
const KILLED_MAX: Duration = Duration::from_secs(5);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long the words of a server that has ended are waited for.
const SAID_MAX: Duration = Duration::from_millis(200);

/// The process of a server.
#[derive(Debug)]
pub struct ServerProcess {
    command: String,
    child: Child,
    words: LastWords,
}

impl ServerProcess {
    /// Starts a server with a command of the shell.
    pub fn start(command: &str) -> Result<ServerProcess, String> {
        let (child, words) = spawn(command)?;
        Ok(ServerProcess { command: command.to_owned(), child, words })
    }

    fn signal(&self, signal: Signal) -> Result<(), String> {
        shell::signal(self.child.id(), signal)
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What it said last on its standard error.
    pub fn last_words(&self) -> Vec<String> {
        self.words.lines(SAID_MAX)
    }

    fn start_again(&mut self) -> Result<(), String> {
        (self.child, self.words) = spawn(&self.command)?;
        Ok(())
    }

    /// Waits until all of its processes have ended: a shell may end before its server does.
    fn is_gone_within(&mut self, time: Duration) -> bool {
        let begun = Instant::now();
        while !self.has_ended() || shell::is_running(self.child.id()) {
            if begun.elapsed() > time {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    fn kill(&mut self) {
        let _ = self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
        self.is_gone_within(KILLED_MAX);
    }

    pub(crate) fn kill_and_start(&mut self) -> Result<(), String> {
        // One that has ended already cannot be killed, but started.
        self.kill();
        self.start_again()
    }

    pub(crate) fn restart(&mut self) -> Result<(), String> {
        self.end();
        self.start_again()
    }

    pub(crate) fn stand_still(&self) -> Result<(), String> {
        self.signal(Signal::SIGSTOP)
    }

    pub(crate) fn go_on(&self) -> Result<(), String> {
        self.signal(Signal::SIGCONT)
    }

    /// Ends it, by force if it takes too long.
    fn end(&mut self) {
        let _ = self.signal(Signal::SIGCONT);
        let _ = self.signal(Signal::SIGTERM);
        if !self.is_gone_within(END_MAX) {
            self.kill();
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(command: &str) -> Result<(Child, LastWords), String> {
    let child = shell::command(command).spawn();
    let mut child = child.map_err(|error| format!("cannot start the server: {error}"))?;
    let words = LastWords::of(child.stderr.take());
    Ok((child, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    /// How long what a test waits for may take.
    const WAIT_MAX: Duration = Duration::from_secs(20);

    fn wait_for<T>(what: impl Fn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = what() {
                return found;
            }
            assert!(begun.elapsed() < WAIT_MAX);
            std::thread::sleep(LOOK);
        }
    }

    /// A server that has a child, and writes its own number to a file.
    fn start(name: &str) -> (ServerProcess, PathBuf) {
        let file = std::env::temp_dir().join(format!("seriatim-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let script = format!("sh -c 'sleep 1000 & echo $$ > {}; wait'", file.display());
        (ServerProcess::start(&script).unwrap(), file)
    }

    fn number(file: &Path) -> i32 {
        wait_for(|| std::fs::read_to_string(file).ok()?.trim().parse().ok())
    }

    /// Whether it runs: it may have ended without anybody having asked for how it did.
    fn is_there(number: i32) -> bool {
        state(number).is_some_and(|state| state != 'Z')
    }

    /// The letter of the state of a process.
    fn state(number: i32) -> Option<char> {
        let about = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        about.rsplit(')').next()?.trim().chars().next()
    }

    #[test]
    fn a_server_that_is_killed_is_another_process_afterwards() {
        let (mut server, file) = start("killed");
        let first = number(&file);
        std::fs::remove_file(&file).unwrap();
        server.kill_and_start().unwrap();
        let second = number(&file);
        assert_ne!(first, second);
        assert!(!is_there(first) && is_there(second));
        drop(server);
        assert!(!is_there(second));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_server_that_stands_still_goes_on_and_ends() {
        let (mut server, file) = start("still");
        let number = number(&file);
        server.stand_still().unwrap();
        wait_for(|| (state(number)? == 'T').then_some(()));
        server.go_on().unwrap();
        wait_for(|| (state(number)? != 'T').then_some(()));
        assert!(!server.has_ended());
        server.stand_still().unwrap();
        server.end();
        assert!(server.has_ended());
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_server_that_ends_by_itself_is_noticed_and_started_again() {
        let mut server = ServerProcess::start("true").unwrap();
        let begun = Instant::now();
        while !server.has_ended() {
            assert!(begun.elapsed() < WAIT_MAX);
            std::thread::sleep(LOOK);
        }
        server.restart().unwrap();
    }

    #[test]
    fn a_command_may_set_variables_and_go_elsewhere() {
        let file = std::env::temp_dir().join(format!("seriatim-where-{}", std::process::id()));
        let shown = file.display();
        let _ = std::fs::remove_file(&file);
        // The shell stays until the server ends, and then does more.
        let script = format!(
            "cd / && X=7 sh -c 'echo $PWD $X $$ > {shown}.new; mv {shown}.new \
                              {shown}; exec sleep 1000'; true"
        );
        let mut server = ServerProcess::start(&script).unwrap();
        let text = wait_for(|| std::fs::read_to_string(&file).ok());
        let (place, number) = text.trim().rsplit_once(' ').unwrap();
        assert_eq!(place, "/ 7");
        let number: i32 = number.parse().unwrap();
        assert!(is_there(number) && !server.has_ended());
        drop(server);
        assert!(!is_there(number));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_server_that_cannot_start_says_why() {
        let mut server = ServerProcess::start("echo no such folder >&2; exit 1").unwrap();
        let begun = Instant::now();
        while !server.has_ended() {
            assert!(begun.elapsed() < WAIT_MAX);
            std::thread::sleep(LOOK);
        }
        let said = || server.last_words();
        assert_eq!(wait_for(|| Some(said()).filter(|lines| !lines.is_empty())), ["no such folder"]);
    }
}
