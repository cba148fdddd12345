//! A server that the audit was told how to start: a command that stays in the foreground. It has a
//! process group of its own, so that what is done to it is done to all of its processes.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to end when it is asked to.
const END_MAX: Duration = Duration::from_secs(30);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The process of a server.
#[derive(Debug)]
pub struct ServerProcess {
    command: String,
    child: Child,
}

impl ServerProcess {
    /// Starts a server with a command of the shell.
    pub fn start(command: &str) -> Result<ServerProcess, String> {
        let child = spawn(command)?;
        Ok(ServerProcess { command: command.to_owned(), child })
    }

    fn signal(&self, signal: Signal) -> Result<(), String> {
        let group = i32::try_from(self.child.id()).map_err(|error| error.to_string())?;
        killpg(Pid::from_raw(group), signal).map_err(|error| error.to_string())
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    pub(crate) fn kill_and_start(&mut self) -> Result<(), String> {
        // One that has ended already cannot be killed, but started.
        let _ = self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
        self.child = spawn(&self.command)?;
        Ok(())
    }

    pub(crate) fn restart(&mut self) -> Result<(), String> {
        self.end();
        self.child = spawn(&self.command)?;
        Ok(())
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
        let begun = Instant::now();
        while begun.elapsed() < END_MAX {
            if self.has_ended() {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(command: &str) -> Result<Child, String> {
    // `exec` keeps the shell from standing between us and the server.
    Command::new("sh")
        .args(["-c", &format!("exec {command}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot start the server: {error}"))
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

    fn is_there(number: i32) -> bool {
        nix::sys::signal::kill(Pid::from_raw(number), None).is_ok()
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
}
