//! Processes that were started, when the program ends without going back the way that it has come:
//! servers of `audit`, commands of `fuzz -- CMD` and of faults. Each of them leads a process group
//! of its own, by which it is told from others.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs;

/// The variable by which commands, and all that they start, are known (crate `trial`).
const TOKEN: &[u8] = b"SERIATIM_TOKEN=";
/// How often it is looked again: another thread may have started one meanwhile.
const LOOKS_MAX: u32 = 3;

/// Ends all of them, with all that they started.
pub fn kill_all() {
    for _ in 0..LOOKS_MAX {
        let leaders = leaders();
        if leaders.is_empty() {
            return;
        }
        let tokens: Vec<Vec<u8>> = leaders.iter().filter_map(|&leader| token(leader)).collect();
        for leader in leaders {
            // Who is gone meanwhile needs no signal.
            let _ = killpg(leader, Signal::SIGKILL);
        }
        if tokens.is_empty() {
            continue;
        }
        let left_their_group =
            |process: &Pid| token(*process).is_some_and(|it| tokens.contains(&it));
        for process in processes().filter(left_their_group) {
            let _ = kill(process, Signal::SIGKILL);
        }
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw))
}

/// Our own children that lead a group and have not ended.
fn leaders() -> Vec<Pid> {
    let own = Pid::this();
    processes().filter(|&process| is_leader(process, own).unwrap_or_default()).collect()
}

fn is_leader(process: Pid, parent: Pid) -> Option<bool> {
    let about = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may hold anything: state, parent, group.
    let mut words = about.rsplit(')').next()?.split_whitespace();
    let state = words.next()?;
    let mut number = || words.next()?.parse().ok().map(Pid::from_raw);
    let (found, group) = (number()?, number()?);
    Some(state != "Z" && found == parent && group == process)
}

fn token(process: Pid) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let mut variables = environment.split(|&byte| byte == 0);
    variables.find(|variable| variable.starts_with(TOKEN)).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn children_that_lead_a_group_are_ended_with_it_and_others_are_not() {
        let start = |script: &str, has_group: bool| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            if has_group {
                command.process_group(0);
            }
            command.spawn().unwrap()
        };
        let mut leader = start("sleep 1000 & wait", true);
        let mut other = start("exec sleep 1000", false);
        let number = Pid::from_raw(leader.id() as i32);
        while !leaders().contains(&number) {
            std::thread::yield_now();
        }
        kill_all();
        assert!(!leader.wait().unwrap().success());
        assert!(matches!(other.try_wait(), Ok(None)));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
