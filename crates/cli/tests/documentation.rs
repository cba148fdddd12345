//! The examples of README.md and docs/*.md: every command is run and must print what the page says.
//!
//! - In a block that is marked `console`, a line that begins with `$ ` is a command; the lines up
//!   to the next command or the end of the block are what it prints, standard error included.
//!   Spaces at the end of lines and empty lines at the end do not count.
//! - `…` alone on a line stands for any number of lines, inside of a line for any text.
//! - The commands of a page run one after the other in one `sh`, so that files, `$?` and `$!` go
//!   from one to the next, in an empty folder with a link to `examples`. `seriatim` is the one
//!   under test.
//! - 8080 in commands and outputs stands for a free port.

mod common;

use common::Folder;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

const ROOT: &str = "../..";
const PAGES: [&str; 13] = [
    "README.md",
    "docs/applications.md",
    "docs/auditing.md",
    "docs/exploring.md",
    "docs/formats.md",
    "docs/guide.md",
    "docs/http.md",
    "docs/json.md",
    "docs/levels.md",
    "docs/mysql.md",
    "docs/playing.md",
    "docs/postgres.md",
    "docs/predicting.md",
];
/// What the script prints behind the output of each command, keeping its exit code.
const SEPARATOR: &str = "{ code=$?; printf '\\n\\036\\n'; (exit $code); }";
const SEPARATED: &str = "\n\u{1e}\n";
const PORT_OF_PAGES: &str = "8080";

/// A command of a page.
struct Example {
    line: usize,
    command: String,
    expected: Vec<String>,
}

#[test]
fn every_page_is_tested() {
    let mut pages: Vec<String> = std::fs::read_dir(format!("{ROOT}/docs"))
        .unwrap()
        .map(|entry| format!("docs/{}", entry.unwrap().file_name().display()))
        // Pictures are drawn again by `pages.rs`.
        .filter(|name| name != "docs/pictures")
        .collect();
    pages.push("README.md".to_owned());
    pages.sort();
    assert_eq!(pages, PAGES);
}

#[test]
fn the_readme_shows_real_outputs() {
    shows_real_outputs("README.md");
}

#[test]
fn the_page_about_applications_shows_real_outputs() {
    shows_real_outputs("docs/applications.md");
}

#[test]
fn the_page_about_auditing_shows_real_outputs() {
    shows_real_outputs("docs/auditing.md");
}

#[test]
fn the_page_about_exploring_shows_real_outputs() {
    shows_real_outputs("docs/exploring.md");
}

#[test]
fn the_page_about_formats_shows_real_outputs() {
    shows_real_outputs("docs/formats.md");
}

#[test]
fn the_guide_shows_real_outputs() {
    shows_real_outputs("docs/guide.md");
}

#[test]
fn the_page_about_the_server_shows_real_outputs() {
    shows_real_outputs("docs/http.md");
}

#[test]
fn the_page_about_json_shows_real_outputs() {
    shows_real_outputs("docs/json.md");
}

#[test]
fn the_page_about_levels_shows_real_outputs() {
    shows_real_outputs("docs/levels.md");
}

#[test]
fn the_page_about_mysql_shows_real_outputs() {
    shows_real_outputs("docs/mysql.md");
}

#[test]
fn the_page_about_playing_shows_real_outputs() {
    shows_real_outputs("docs/playing.md");
}

#[test]
fn the_page_about_postgresql_shows_real_outputs() {
    shows_real_outputs("docs/postgres.md");
}

#[test]
fn the_page_about_predicting_shows_real_outputs() {
    shows_real_outputs("docs/predicting.md");
}

#[test]
fn dots_stand_for_what_is_left_out() {
    let fits = |expected: &str, printed: &str| {
        fits(&expected.lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>())
    };
    assert!(
        fits("a\n…\nd", "a\nb\nc\nd")
            && fits("a\n…", "a")
            && fits("in … s, … left", "in 3 s,  left")
    );
    assert!(!fits("a\n…\nd", "a\nb") && !fits("in … s", "in 3 ms, 4") && !fits("", "a"));
}

fn shows_real_outputs(page: &str) {
    let text = std::fs::read_to_string(format!("{ROOT}/{page}")).unwrap();
    let examples = examples(&text);
    assert!(!examples.is_empty(), "{page} has no example");
    for (example, printed) in examples.iter().zip(run(&examples)) {
        let expected: Vec<&str> = example.expected.iter().map(String::as_str).collect();
        let fits = fits(
            trimmed(&expected),
            trimmed(&printed.lines().map(str::trim_end).collect::<Vec<_>>()),
        );
        let Example { line, command, .. } = example;
        assert!(fits, "{page}:{line}: paste the output again of `{command}`:\n{printed}");
    }
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_inside = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            is_inside = line == "```console";
        } else if !is_inside {
            continue;
        } else if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example {
                line: number + 1,
                command: command.to_owned(),
                expected: Vec::new(),
            });
        } else if let Some(example) = examples.last_mut() {
            example.expected.push(line.trim_end().to_owned());
        }
    }
    examples
}

/// What each of the commands prints.
fn run(examples: &[Example]) -> Vec<String> {
    let folder = Folder::new();
    let shipped = std::fs::canonicalize(format!("{ROOT}/examples")).unwrap();
    std::os::unix::fs::symlink(shipped, folder.at("examples")).unwrap();
    let port = free_port();
    let script: String =
        examples.iter().map(|example| format!("{}\n{SEPARATOR}\n", example.command)).collect();
    let ours = Path::new(env!("CARGO_BIN_EXE_seriatim")).parent().unwrap();
    let path = format!("{}:{}", ours.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS"] {
        shell.env_remove(name);
    }
    // One pipe for both, as in a terminal.
    let script = format!("exec 2>&1\n{}", script.replace(PORT_OF_PAGES, &port));
    let ran = shell
        .args(["-c", &script])
        .env("PATH", path)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap().replace(&port, PORT_OF_PAGES);
    let outputs: Vec<String> = printed.split(SEPARATED).map(str::to_owned).collect();
    assert_eq!(outputs.len(), examples.len() + 1, "the script ended early:\n{printed}");
    outputs
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

/// Without empty lines at the end.
fn trimmed<'l, 't>(mut lines: &'l [&'t str]) -> &'l [&'t str] {
    while let [others @ .., ""] = lines {
        lines = others;
    }
    lines
}

fn fits(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["…", rest @ ..] => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        [line, rest @ ..] => printed
            .split_first()
            .is_some_and(|(first, others)| line_fits(line, first) && fits(rest, others)),
    }
}

fn line_fits(expected: &str, printed: &str) -> bool {
    let Some((start, others)) = expected.split_once('…') else { return expected == printed };
    let Some(mut rest) = printed.strip_prefix(start) else { return false };
    let (middle, end) = others.rsplit_once('…').unwrap_or(("", others));
    for part in middle.split('…') {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(end)
}
