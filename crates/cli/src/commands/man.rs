//! `seriatim man`: man pages, from the definition of the flags.

use crate::exit::{Exit, Failure};
use crate::{output, whole_files};
use clap_mangen::Man;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Write seriatim.1 and a page for each command into this directory, instead of printing
    /// seriatim.1
    dir: Option<PathBuf>,
}

/// A section of every page whose command says nothing of its own about them.
const EXIT_STATUS: &str = r".SH EXIT STATUS
.TP
\fB0\fR
Every level that was asked for holds; the command did what it was told.
.TP
\fB1\fR
A level is violated, or a verdict of a certificate is rejected.
.TP
\fB2\fR
No level is violated, but one is undecided; no verdict is rejected, but one is not confirmed.
.TP
\fB3\fR
An input could not be read, an output not written, or the arguments make no sense.
.TP
\fB4\fR
An internal error.
.TP
\fB130\fR, \fB143\fR, \fB129\fR
Ended by Ctrl\-C, by a request to terminate, by a hang\-up.
.TP
\fB141\fR
The reader of the output closed it.
.PP
Over several inputs 3 wins over 1, 1 over 2, and 2 over 0.
";

/// What to type and what it does.
const EXAMPLES: &[(&str, &str)] = &[
    ("seriatim demo", "See the tool at work on shipped examples."),
    (
        "seriatim check history.edn",
        "Which levels does a history satisfy, and what is wrong with it?",
    ),
    (
        "seriatim check -q --level rc,ra runs/",
        "Check every history in a directory at two levels, a line each.",
    ),
    ("seriatim check --format json h.txt | jq .strongest", "The same for machines."),
    ("seriatim check --dot - h.txt 2>/dev/null | dot -Tsvg >h.svg", "Draw the anomalies."),
    ("seriatim check --certificate h.cert h.txt", "Also write down why each verdict is true."),
    ("seriatim verify h.txt h.cert", "Confirm that, without the search that found it."),
    (
        "seriatim minimize h.txt --level si -o small.jsonl",
        "The smallest part that violates snapshot isolation.",
    ),
    ("seriatim convert h.txt h.edn.gz", "Write a history in another format, compressed."),
    (
        "seriatim generate h.txt --level cc --plant fractured-read",
        "Make a history with an anomaly in it.",
    ),
    (
        "seriatim serve --http 127.0.0.1:8080 --level cc --save run.jsonl",
        "A weak database to test an application with.",
    ),
    ("seriatim explain fractured-read", "What is that?"),
];

/// Prints the page of the program, or writes all pages.
pub fn run(args: &Args, command: clap::Command) -> Result<Exit, Failure> {
    // `seriatim help` has no page.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    match &args.dir {
        None => output::raw(&page(&command, "seriatim", &names(&command))?)?,
        Some(dir) => {
            write_all(&command, dir).map_err(|error| Failure::about(dir.display(), error))?
        }
    }
    Ok(Exit::Holds)
}

/// The names of all pages.
fn names(command: &clap::Command) -> Vec<String> {
    let subs = command.get_subcommands().map(|sub| format!("seriatim-{}", sub.get_name()));
    std::iter::once("seriatim".to_owned()).chain(subs).collect()
}

fn page(command: &clap::Command, title: &str, all: &[String]) -> io::Result<Vec<u8>> {
    let source = concat!("seriatim ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(title).source(source);
    let mut roff = Vec::new();
    man.render_title(&mut roff)?;
    man.render_name_section(&mut roff)?;
    man.render_synopsis_section(&mut roff)?;
    man.render_description_section(&mut roff)?;
    man.render_options_section(&mut roff)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut roff)?;
    }
    write!(roff, "{}{}{}", exit_status(command), examples(title), see_also(title, all))?;
    if command.has_subcommands() {
        man.render_version_section(&mut roff)?;
    }
    Ok(roff)
}

/// What the exit codes mean: what the help of the command says of them, or else what is true of
/// most.
fn exit_status(command: &clap::Command) -> String {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    match help.find("Exit codes") {
        Some(start) if !command.has_subcommands() => {
            format!(".SH EXIT STATUS\n{}\n", escaped(help[start..].trim()))
        }
        _ => EXIT_STATUS.to_owned(),
    }
}

/// The examples of a command; on the page of the program all of them, and none where there is none.
fn examples(title: &str) -> String {
    let of_page = title.replace('-', " ");
    let entries = EXAMPLES.iter().filter(|(line, _)| line.starts_with(&of_page));
    let texts: String =
        entries.map(|(line, about)| format!(".TP\n\\fB{}\\fR\n{about}\n", escaped(line))).collect();
    if texts.is_empty() { texts } else { format!(".SH EXAMPLES\n{texts}") }
}

fn see_also(title: &str, all: &[String]) -> String {
    let others = all.iter().filter(|name| *name != title);
    let pages: Vec<String> = others.map(|name| format!("\\fB{}\\fR(1)", escaped(name))).collect();
    format!(".SH SEE ALSO\n{}\n", pages.join(",\n"))
}

/// Hyphens that are typed, not typeset.
fn escaped(text: &str) -> String {
    text.replace('-', "\\-")
}

fn write_all(command: &clap::Command, dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let all = names(command);
    write(command, "seriatim", &all, dir)?;
    for (sub, title) in command.get_subcommands().zip(&all[1..]) {
        write(sub, title, &all, dir)?;
    }
    Ok(())
}

fn write(command: &clap::Command, title: &str, all: &[String], dir: &Path) -> io::Result<()> {
    let roff = page(command, title, all)?;
    whole_files::write(&dir.join(format!("{title}.1")), |path| std::fs::write(path, &roff))
}
