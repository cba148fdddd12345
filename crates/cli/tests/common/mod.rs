//! Running the program and making inputs for it.

#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A violation of causal consistency, in register text.
pub const CAUSAL: &str = "w(0,1,0,0)\nw(0,2,0,1)\nw(1,1,0,2)\nr(1,1,1,3)\nr(0,1,1,3)\n";
/// A history that holds at every level.
pub const GOOD: &str = "w(0,1,0,0)\nr(0,1,1,1)\n";

/// The program, with an environment that does not depend on who runs the tests.
pub fn seriatim() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seriatim"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program to its end.
pub fn run(args: &[&str]) -> Ran {
    Ran::from(seriatim().args(args).output().unwrap())
}

/// Runs the program with `input` on standard input.
pub fn run_with_stdin(args: &[&str], input: &[u8]) -> Ran {
    let mut child = start(args);
    child.stdin.take().unwrap().write_all(input).unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

/// Starts the program with pipes.
pub fn start(args: &[&str]) -> Child {
    let mut command = seriatim();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// What the program said.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Ran {
    /// The lines of standard output as JSON.
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A directory of its own for a test, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "seriatim-test-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a file (and the directories above it) and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The path of a file that need not exist.
    pub fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The names in the directory.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A schema that `seriatim schema` prints.
pub fn schema(which: &str) -> jsonschema::Validator {
    let printed = run(&["schema", which]);
    assert_eq!(printed.code, Some(0));
    jsonschema::draft202012::new(&serde_json::from_str(&printed.stdout).unwrap()).unwrap()
}

/// A valid register text of about `operations` operations, to keep the program busy.
pub fn large(operations: usize) -> String {
    let mut text = String::new();
    for i in 0..operations / 2 {
        let (session, key) = (i % 20, i % 1000);
        text += &format!("w({key},{},{session},{i})\nr({key},{},{session},{i})\n", i + 1, i + 1);
    }
    text
}

/// What a page says, however it is wrapped.
pub fn words(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The one line of JSON of an exploration, which fits the schema.
pub fn explore_json(args: &[&str]) -> (Option<i32>, serde_json::Value) {
    let ran = run(&[&["explore", "--format", "json"], args].concat());
    let [line] = &ran.json()[..] else { panic!("one line: {ran:?}") };
    let validator = schema("explore");
    assert!(validator.is_valid(line), "{line}");
    (ran.code, line.clone())
}
