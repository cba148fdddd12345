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
