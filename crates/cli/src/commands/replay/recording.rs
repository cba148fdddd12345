//! A run that `seriatim fuzz` kept, once more.

use super::Args;
use crate::exit::{Exit, Failure};
use crate::parsers::Style;
use crate::run_page::{self, PAGE_WIDTH, RunPage, operations};
use crate::write_history::save;
use crate::{describe_run, output};
use seriatim_check::Answer;
use seriatim_history::formats::Format;
use seriatim_report::Checked;
use seriatim_report::runs::replayed;
use seriatim_runs::{Predicted, Recording, Replayed};
use seriatim_store::Choice;
use std::path::Path;

/// Runs it again, and says whether it went the same way.
pub fn run(args: &Args, bytes: &[u8]) -> Result<Exit, Failure> {
    let shown = args.run.display();
    let recording: Recording =
        serde_json::from_slice(bytes).map_err(|error| not_a_run(&args.run, bytes, &error))?;
    let replayed = recording.replay().map_err(|error| Failure::about(&shown, error))?;
    let (page, text, checked, weak) = told(args, &recording, &replayed)?;
    let sequence = operations(&replayed.run.history, &weak);
    output::text(&page)?;
    let is_failed = replayed.run.failure.is_some();
    let about = RunPage {
        title: &recording.app,
        answer: if is_failed { Answer::Violated } else { Answer::Holds },
        text: &text,
        sequence: Some(&sequence),
        run: Some((&checked, &replayed.run.history)),
    };
    run_page::write(&args.html, &args.svg, &about)?;
    if let Some(path) = &args.save {
        save(&replayed.run.history, Format::Jsonl, path)?;
    }
    Ok(if replayed.run.failure.is_some() { Exit::Violated } else { Exit::Holds })
}

/// What is printed, what people read, what the checker says, and the reads that are to blame.
fn told(
    args: &Args,
    recording: &Recording,
    replayed: &Replayed,
) -> Result<(String, String, Checked, Vec<Choice>), Failure> {
    let shown = args.run.display();
    let app = seriatim_apps::find(&recording.app)
        .ok_or_else(|| Failure::about(&shown, "no such application"))?;
    let run = &replayed.run;
    let blamed = recording.to_blame().map_err(|error| Failure::about(&shown, error))?;
    // A recording that was changed by hand may blame reads of another run.
    let weak = blamed.filter(|(_, blamed)| blamed.choices == run.choices).map(|(weak, _)| weak);
    let replayed = replayed::Replayed {
        app: describe_run::application(app),
        level: &recording.level,
        failure: run.failure.as_deref(),
        departure: replayed.departure.as_ref().map(ToString::to_string),
        blame: weak.as_ref().map(|weak| describe_run::blamed(weak, &run.history)),
        checked: describe_run::checked(app.name(), &run.history),
    };
    let page = match args.format {
        Style::Human => replayed::render(&replayed, output::width()),
        Style::Json => replayed::json(&replayed) + "\n",
    };
    let text = replayed::render(&replayed, PAGE_WIDTH);
    Ok((page, text, replayed.checked, weak.unwrap_or_default()))
}

fn not_a_run(path: &Path, bytes: &[u8], error: &serde_json::Error) -> Failure {
    if serde_json::from_slice::<seriatim_trial::Recording>(bytes).is_ok() {
        let problem = "this is a run of a command; say which: `seriatim replay FILE -- CMD`";
        return Failure::about(path.display(), problem);
    }
    let problem = match serde_json::from_slice::<Predicted>(bytes) {
        Ok(_) => {
            "this is a prediction; name the application too: `seriatim replay FILE APP`".to_owned()
        }
        Err(_) => format!("not a run that `seriatim fuzz --output` wrote: {error}"),
    };
    Failure::about(path.display(), problem)
}
