//! `seriatim demo`: the tool on shipped examples, and what to try next.

use crate::commands::fuzz;
use crate::exit::{Exit, Failure};
use crate::{output, whole_files};
use seriatim_history::formats::{self, ReadOptions};
use seriatim_report::style::{BOLD, DIM, paint};
use seriatim_report::text::{self, Layout};
use seriatim_report::{Checked, Times, wrap};
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Which story to show; without it what there is, and on a terminal one after the other
    #[arg(value_name = "N", value_parser = story_number)]
    story: Option<usize>,
    /// Write the files of the stories below this directory, to try the commands on them
    #[arg(long, value_name = "DIR", conflicts_with = "story")]
    files: Option<PathBuf>,
}

/// A story.
struct Story {
    title: &'static str,
    about: &'static str,
    /// What comes of it, for the list.
    outcome: &'static str,
    shows: Shows,
}

/// What a story is about.
#[derive(Clone, Copy)]
enum Shows {
    /// A shipped history, which is part of the program.
    History { file: &'static str, content: &'static str },
    /// An application that is run.
    Application,
}

macro_rules! story {
    ($file:literal, $title:literal, $outcome:literal, $about:literal) => {
        Story {
            title: $title,
            about: $about,
            outcome: $outcome,
            shows: Shows::History {
                file: concat!("examples/histories/", $file),
                content: include_str!(concat!("../../../../examples/histories/", $file)),
            },
        }
    };
}

const STORIES: [Story; 6] = [
    story!(
        "counter.txt",
        "A counter that works",
        "holds at every level",
        "Three clients count up. Each line is one operation: r or w, key, value, session, \
         transaction. Every read returns \
         what the write before it left, so a commit order exists at every level."
    ),
    story!(
        "bank.jsonl",
        "A transfer, read halfway",
        "non-monotonic read",
        "A teller moves 30 from Alice (100) to Bob (50). An auditor adds up both accounts and \
         finds 120 instead of 150."
    ),
    story!(
        "profile.jsonl",
        "Where did my photo go?",
        "fractured read",
        "Mia changes her photo twice and reloads the page. The replica that answers lags behind \
         and shows the older photo."
    ),
    story!(
        "chat.jsonl",
        "A reply without its message",
        "causality violation",
        "Alice posts twice, Bob reads the second message and replies. Carol sees Bob's reply \
         under Alice's first message."
    ),
    story!(
        "cart.edn",
        "What the aborted transaction left behind",
        "aborted read",
        "A Jepsen history of list appends. Putting bread into the cart failed, and yet the bread \
         is there."
    ),
    Story {
        title: "An application, without a history",
        about: "Two clients change a shopping cart, a third looks at it. Nobody recorded anything: \
                the application runs on a mock database that may return any version that causal \
                consistency allows, until what must hold does not.",
        outcome: "its assertion breaks",
        shows: Shows::Application,
    },
];

/// The number of a story, as a person types it.
fn story_number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=STORIES.len()).contains(number));
    number.ok_or_else(|| {
        let last = STORIES.len();
        format!(
            "stories are numbered from 1 to {last}, as in `seriatim demo 2`; `seriatim demo` \
             lists them"
        )
    })
}

const ABOUT: &str = "Seriatim reads what clients of a database saw and says which isolation levels \
                     that fits. If a level is violated, it shows why. It also runs applications on \
                     a mock database that may answer anything a level allows. Six stories:";

/// Commands to try, and what they are about.
const NEXT: [(&str, &str); 7] = [
    ("seriatim check FILE…", "your own histories, in eleven formats"),
    ("seriatim fuzz twitter --level cc", "another application, until it breaks"),
    ("seriatim explore FILE.tx --level si", "every behaviour of a small program"),
    ("seriatim observe smallbank -o RUN", "a good run, for `seriatim predict`"),
    ("seriatim serve --http 127.0.0.1:8080", "the mock database, for your own code"),
    ("seriatim explain", "every anomaly and level, with examples"),
    ("seriatim --help", "everything else"),
];

const FILES: &str =
    "`seriatim demo 2` shows the second, `seriatim demo --files .` writes the files.";

/// How wide the left column of a list is, and the narrowest page that has room for a right one.
const LEFT: usize = 42;
const TWO_COLUMNS_MIN: usize = 70;

const KEYS: &str = "Enter: the next story, p: the previous one, a number: that one, q: quit";

/// The longest line that is read from the terminal.
const LINE_MAX: u64 = 1000;

/// Says what there is, or tells a story.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let width = output::width();
    if let Some(folder) = &args.files {
        return write_files(folder);
    }
    if let Some(number) = args.story {
        output::text(&page(number, width)?)?;
        return Ok(Exit::Holds);
    }
    output::text(&contents(width))?;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        browse(width)?;
    }
    Ok(Exit::Holds)
}

/// What there is, on one screen.
fn contents(width: usize) -> String {
    let mut page = wrap(ABOUT, "", width);
    page.push('\n');
    for (number, story) in (1..).zip(&STORIES) {
        page += &match width < TWO_COLUMNS_MIN {
            true => {
                let title = wrap(story.title, &format!("  {number}  "), width);
                title + &paint(DIM, &wrap(story.outcome, "     ", width))
            }
            false => {
                format!("  {number}  {:<LEFT$} {}\n", story.title, paint(DIM, story.outcome))
            }
        };
    }
    page += &format!("\n{}\n{}\n", wrap(FILES, "", width), paint(BOLD, "What else there is"));
    page + &NEXT.map(|(command, about)| next(command, about, width)).concat()
}

/// A command to try, with what it is about beside it or below.
fn next(command: &str, about: &str, width: usize) -> String {
    match width < TWO_COLUMNS_MIN {
        true => format!("  {command}\n{}", wrap(about, "      ", width)),
        false => wrap(about, &format!("  {command:<37} "), width),
    }
}

/// Shows one story after the other, as the reader likes.
fn browse(width: usize) -> Result<(), Failure> {
    // None has been shown yet.
    let mut at = 0;
    loop {
        output::text(&format!("\n{} > ", paint(DIM, KEYS)))?;
        let mut line = String::new();
        let read = std::io::stdin().lock().take(LINE_MAX).read_line(&mut line);
        // The end of the input, or one that is no text.
        if !read.is_ok_and(|bytes| bytes > 0) {
            return Ok(());
        }
        match Turn::of(line.trim(), at) {
            Turn::Show(number) => {
                at = number;
                output::text(&page(number, width)?)?;
            }
            Turn::Contents => {
                at = 0;
                output::text(&format!("\n{}", contents(width)))?;
            }
            Turn::Quit => return Ok(()),
        }
    }
}

/// What a reader wants to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Show(usize),
    Contents,
    Quit,
}

impl Turn {
    /// What a line means after story `at`, or 0 if none was shown.
    fn of(line: &str, at: usize) -> Turn {
        let number = match line {
            "q" | "quit" | "exit" => return Turn::Quit,
            "" | "n" | "next" => at + 1,
            "p" | "previous" => at.saturating_sub(1),
            // What is not understood shows what there is.
            other => other.parse().unwrap_or_default(),
        };
        if (1..=STORIES.len()).contains(&number) { Turn::Show(number) } else { Turn::Contents }
    }
}

/// Story number `number`, from 1.
fn page(number: usize, width: usize) -> Result<String, Failure> {
    let story = &STORIES[number - 1];
    let mut page = format!("\n{}\n", paint(BOLD, &format!("{number}. {}", story.title)));
    page += &wrap(story.about, "", width);
    match story.shows {
        Shows::Application => {
            page += &format!("\n{}\n{}", paint(DIM, "$ seriatim fuzz cart"), fuzz::cart()?);
        }
        Shows::History { file, content } => {
            page += &format!("\n{}\n", paint(DIM, &format!("$ cat {file}")));
            page += &content.lines().map(|line| format!("{line}\n")).collect::<String>();
            page += &format!("\n{}\n", paint(DIM, &format!("$ seriatim check {file}")));
            let checked = check(file, content)?;
            page += &text::render(&checked, &Layout { width, ..Layout::default() });
        }
    }
    Ok(page)
}

/// Writes the files of the stories, but over nothing.
fn write_files(folder: &Path) -> Result<Exit, Failure> {
    for story in &STORIES {
        let Shows::History { file, content } = story.shows else { continue };
        let path = folder.join(file);
        let about = |error: std::io::Error| Failure::about(path.display(), error);
        if path.exists() {
            let problem = "there is such a file already; name another directory";
            return Err(Failure::about(path.display(), problem));
        }
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(about)?;
        whole_files::write(&path, |path| std::fs::write(path, content)).map_err(about)?;
        output::text(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Holds)
}

fn check(file: &'static str, content: &'static str) -> Result<Checked, Failure> {
    let start = Instant::now();
    let (history, format) = formats::read_bytes(content.as_bytes(), file, &ReadOptions::default())
        .map_err(|error| Failure::Message(error.to_string()))?;
    let read = start.elapsed();
    let report = seriatim_check::Checker::new().check(&history);
    Ok(Checked {
        input: file.to_owned(),
        format: format.code(),
        counts: history.counts(),
        report,
        times: Times { read, total: start.elapsed() },
        duplicate: None,
        kinds: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_from_one_story_to_the_next() {
        assert_eq!(Turn::of("", 0), Turn::Show(1));
        assert_eq!(Turn::of("n", 1), Turn::Show(2));
        assert_eq!(Turn::of("p", 2), Turn::Show(1));
        assert_eq!(Turn::of("4", 2), Turn::Show(4));
        assert_eq!(Turn::of("q", 2), Turn::Quit);
        for (line, at) in [("p", 1), ("", 6), ("7", 1), ("what?", 3), ("99999999999999999999", 1)] {
            assert_eq!(Turn::of(line, at), Turn::Contents, "{line}");
        }
    }

    #[test]
    fn what_there_is_fits_on_one_screen() {
        let page = contents(80);
        assert!(page.lines().count() <= 24, "{}", page.lines().count());
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
}
