//! `seriatim demo`: the tool on shipped examples, and what to try next.

use crate::commands::fuzz;
use crate::exit::{Exit, Failure};
use crate::output;
use seriatim_history::formats::{self, ReadOptions};
use seriatim_report::style::{BOLD, DIM, paint};
use seriatim_report::text::{self, Layout};
use seriatim_report::{Checked, Times, wrap};
use std::time::Instant;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {}

/// A shipped history and its story.
struct Story {
    file: &'static str,
    content: &'static str,
    title: &'static str,
    about: &'static str,
}

macro_rules! story {
    ($file:literal, $title:literal, $about:literal) => {
        Story {
            file: concat!("examples/histories/", $file),
            content: include_str!(concat!("../../../../examples/histories/", $file)),
            title: $title,
            about: $about,
        }
    };
}

const STORIES: &[Story] = &[
    story!(
        "counter.txt",
        "A counter that works",
        "Three clients count up. Each line is one operation: r or w, key, value, session, \
         transaction. Every read returns \
         what the write before it left, so a commit order exists at every level."
    ),
    story!(
        "bank.jsonl",
        "A transfer, read halfway",
        "A teller moves 30 from Alice (100) to Bob (50). An auditor adds up both accounts and \
         finds 120 instead of 150."
    ),
    story!(
        "profile.jsonl",
        "Where did my photo go?",
        "Mia changes her photo twice and reloads the page. The replica that answers lags behind \
         and shows the older photo."
    ),
    story!(
        "chat.jsonl",
        "A reply without its message",
        "Alice posts twice, Bob reads the second message and replies. Carol sees Bob's reply \
         under Alice's first message."
    ),
    story!(
        "cart.edn",
        "What the aborted transaction left behind",
        "A Jepsen history of list appends. Putting bread into the cart failed, and yet the bread \
         is there."
    ),
];

const NEXT: &str =
    "  seriatim check FILE…                 check your own histories; the format is recognised by \
     content
  seriatim check FILE --format json    the same for machines (seriatim schema describes it)
  seriatim check FILE --dot out.dot    the anomalies as a graph
  seriatim check FILE --certificate C  also write down why; seriatim verify FILE C confirms it
  seriatim minimize FILE -l si -o OUT  the smallest part of a history that violates a level
  seriatim explain                     every anomaly and every level, with examples
  seriatim explain fractured-read      one of them
  seriatim convert IN OUT --to plume   another format
  seriatim generate OUT                a history to play with; --plant fractured-read puts an \
     anomaly into it
  seriatim stats FILE                  what is in a history
  seriatim fuzz twitter --level cc     another application; --level ser shows that its assertion \
     then holds
  seriatim explore FILE.tx --level si  every behaviour of a small program; see examples/programs
  seriatim observe smallbank -o RUN    record a good run; seriatim predict RUN --level cc says \
     how it could go wrong
  seriatim serve --http 127.0.0.1:8080 the same mock database for applications of your own
  seriatim --help                      everything else
";

/// Tells the stories.
pub fn run(_args: &Args) -> Result<Exit, Failure> {
    let width = output::width();
    output::text(&wrap(
        "Seriatim reads what clients of a database saw and says which isolation levels that fits. \
         If a level is violated, \
         it shows why. Here are five small histories, and an application.",
        "",
        width,
    ))?;
    for (number, story) in STORIES.iter().enumerate() {
        output::text(&page(number + 1, story, width)?)?;
    }
    let number = STORIES.len() + 1;
    output::text(&format!(
        "\n{}\n",
        paint(BOLD, &format!("{number}. An application, without a history"))
    ))?;
    output::text(&wrap(
        "Two clients change a shopping cart, a third looks at it. Nobody recorded anything: the \
         application runs on a mock database that may return any version that causal consistency \
         allows, until what must hold does not.",
        "",
        width,
    ))?;
    output::text(&format!("\n{}\n{}", paint(DIM, "$ seriatim fuzz cart"), fuzz::cart()?))?;
    output::text(&format!("\n{}\n{NEXT}", paint(BOLD, "What to try next")))?;
    Ok(Exit::Holds)
}

fn page(number: usize, story: &Story, width: usize) -> Result<String, Failure> {
    let mut page = format!("\n{}\n", paint(BOLD, &format!("{number}. {}", story.title)));
    page += &wrap(story.about, "", width);
    page += &format!("\n{}\n", paint(DIM, &format!("$ cat {}", story.file)));
    page += &story.content.lines().map(|line| format!("{line}\n")).collect::<String>();
    page += &format!("\n{}\n", paint(DIM, &format!("$ seriatim check {}", story.file)));
    let checked = check(story)?;
    page += &text::render(&checked, &Layout { width, ..Layout::default() });
    Ok(page)
}

fn check(story: &Story) -> Result<Checked, Failure> {
    let start = Instant::now();
    let (history, format) =
        formats::read_bytes(story.content.as_bytes(), story.file, &ReadOptions::default())
            .map_err(|error| Failure::Message(error.to_string()))?;
    let read = start.elapsed();
    let report = seriatim_check::Checker::new().check(&history);
    Ok(Checked {
        input: story.file.to_owned(),
        format: format.code(),
        counts: history.counts(),
        report,
        times: Times { read, total: start.elapsed() },
        duplicate: None,
    })
}
