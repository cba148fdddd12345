//! `seriatim verify`: are the verdicts of a certificate true? Without the search that found them.

use crate::exit::{Exit, Failure};
use crate::loss_notes::{skipped_note, unknown_note};
use crate::output;
use crate::parsers::{Unknown, format_parser};
use crate::progress::Progress;
use seriatim::certificate::{confirm, subject};
use seriatim_history::History;
use seriatim_history::formats::{self, Format, ReadOptions};
use seriatim_isolation::Guarantee;
use seriatim_report::certificate::{self, Certificate, Claim, Malformed};
use seriatim_report::style::{BAD, GOOD, paint};
use seriatim_report::{Unreadable, clean, text};
use seriatim_verify::Doubt;
use std::io::Read;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Exit codes: 0 every verdict of the certificate is confirmed, 1 one is rejected, 2 none is \
                          rejected, but one is undecided or too \
hard to confirm, 3 bad input or usage, or the certificate is for another history. A history that \
                          was converted to another format \
is the same one as long as its transactions, operations and values are.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The history: a file, a directory, or - for standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// What `seriatim check --certificate` wrote about it, or - for standard input
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// The format of the history, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    unknown: Unknown,
}

/// Reads both, confirms or rejects line by line.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    if args.input == Path::new("-") && args.certificate == Path::new("-") {
        return Err(Failure::Message(
            "only one of history and certificate can be standard input".to_owned(),
        ));
    }
    if args.input == args.certificate {
        let shown = clean(&args.input.display().to_string());
        return Err(Failure::Message(format!(
            "{shown} cannot be both the history and its certificate, which `seriatim check {shown} \
             --certificate CERTIFICATE` writes"
        )));
    }
    let certificate = load(&args.certificate)?;
    let shown = args.input.display().to_string();
    let progress = Progress::start(1);
    progress.stage().now(format!("reading {shown}"));
    let options = ReadOptions {
        format: args.from,
        meter: Some(progress.stage().meter()),
        skip_unknown: args.unknown.is_skipped,
        ..ReadOptions::default()
    };
    let (history, format) = match formats::read_path(&args.input, &shown, &options) {
        Ok(read) => read,
        Err(error) => {
            drop(progress);
            output::message(&text::render_error(&Unreadable::new(&shown, &error)));
            return Ok(Exit::BadInput);
        }
    };
    let notes =
        [skipped_note(&shown, format.code(), history.skipped()), unknown_note(&shown, &history)];
    notes.iter().flatten().for_each(|note| progress.aside(|| output::message(note)));
    if let Some(difference) = certificate.subject.difference(&subject(&history)) {
        drop(progress);
        let (about, shown) = (clean(&certificate.input), args.certificate.display());
        let problem = format!(
            "this certificate is for another history ({about}): {difference}; name the file it \
             was made for"
        );
        return Err(Failure::about(shown, problem));
    }
    let numbers = history.numbering();
    let mut worst = Exit::Holds;
    for (level, claim) in &certificate.claims {
        progress.stage().now(format!("verifying {level}"));
        let asked = Guarantee::new(*level, certificate.order);
        let confirmed = confirm(&history, &numbers, asked, claim);
        let (exit, line) = judged(&history, asked, claim, confirmed);
        worst = worst.and(exit);
        progress.aside(|| output::text(&line))?;
    }
    Ok(worst)
}

fn load(path: &Path) -> Result<Certificate, Failure> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::about(&shown, error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::Message(format!("{shown}:{line}: expected a certificate, which is UTF-8 text"))
    })?;
    certificate::parse(text).map_err(|Malformed { line, column, problem }| {
        let place = column.map_or_else(|| line.to_string(), |column| format!("{line}:{column}"));
        Failure::Message(format!("{shown}:{place}: {}", clean(&problem)))
    })
}

fn judged(
    history: &History,
    level: Guarantee,
    claim: &Claim,
    result: Option<Result<(), Doubt>>,
) -> (Exit, String) {
    let verdict = claim.word();
    match result {
        None => (Exit::Undecided, format!("{level}: {verdict}, nothing to confirm\n")),
        Some(Ok(())) => {
            (Exit::Holds, format!("{level}: {verdict}, {}\n", paint(GOOD, "confirmed")))
        }
        Some(Err(Doubt::TooHard)) => {
            (Exit::Undecided, format!("{level}: {verdict}, too hard to confirm\n"))
        }
        Some(Err(doubt)) => {
            let why = clean(&doubt.told(history));
            (Exit::Violated, format!("{level}: {verdict}, {}: {why}\n", rejected()))
        }
    }
}

fn rejected() -> String {
    paint(BAD, "REJECTED")
}
