//! What can be played: a program with what is asked of its end, whatever its values and local
//! states are.

use super::kind::{Broken, Kind};
use super::recorded::{Cell, Recorded};
use super::state::{self, Asked, Attacked, Problem, State};
use seriatim_apps::App;
use seriatim_apps::clients::ClientProgram;
use seriatim_explore::lang::{LangError, Registers, Source};
use seriatim_explore::play::{Play, Step};
use seriatim_explore::{Local, Value};
use seriatim_history::History;
use seriatim_isolation::Level;
use seriatim_report::clean;
use seriatim_runs::explore as apps;
use std::fmt;
use std::sync::Arc;

/// Something that can be played.
#[derive(Clone)]
pub struct Game {
    /// What it is called on the page and in links.
    pub name: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The program, if it has one that people can read.
    pub text: Option<String>,
    /// What `seriatim explore` calls it, if it can be explored.
    pub input: Option<String>,
    rules: Arc<dyn Rules>,
}

impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Game").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Game {
    /// A program in the language of `explore`.
    pub fn program(name: &str, input: Option<String>, text: &str) -> Result<Game, LangError> {
        let source = Arc::new(Source::parse(text)?);
        let about: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .filter(|line| !line.starts_with("shows:"))
            .collect();
        Ok(Game {
            name: name.to_owned(),
            about: about.join(" "),
            text: Some(text.to_owned()),
            input,
            rules: Arc::new(of_source(&source)),
        })
    }

    /// A shipped application.
    pub fn app(app: &'static dyn App) -> Game {
        let kind = Kind {
            program: apps::program(app),
            failed: Box::new(|_| None),
            broken: Some(Box::new(move |end| apps::verify(app, end))),
            shown: Box::new(|_, seen| saw(seen)),
            observed: None,
        };
        Game {
            name: app.name().to_owned(),
            about: "A shipped application; its clients run as they are.".to_owned(),
            text: None,
            input: Some(app.name().to_owned()),
            rules: Arc::new(kind),
        }
    }

    /// Random clients of an application.
    pub fn clients(name: &str, clients: ClientProgram) -> Game {
        let text = clients.lines().join("\n");
        let kind = Kind {
            program: apps::client_program(clients),
            failed: Box::new(|_| None),
            broken: None,
            shown: Box::new(|_, progress: &apps::Progress| saw(&progress.seen)),
            observed: None,
        };
        Game {
            name: name.to_owned(),
            about: "Random clients of an application.".to_owned(),
            text: Some(text),
            input: Some(name.to_owned()),
            rules: Arc::new(kind),
        }
    }

    /// A history, whose reads may return something else than they did; what is wrong with it if it
    /// cannot be played.
    pub fn history(name: &str, history: &History) -> Result<Game, String> {
        let Recorded { program, observed, .. } = Recorded::of(history)?;
        let kind: Kind<Cell, ()> = Kind {
            program,
            failed: Box::new(|()| None),
            broken: None,
            shown: Box::new(|_, ()| String::new()),
            observed: Some(observed),
        };
        Ok(Game {
            name: name.to_owned(),
            about: "A recorded history: its operations are fixed, what they read is not. The \
                    version that was observed is marked."
                .to_owned(),
            text: None,
            input: None,
            rules: Arc::new(kind),
        })
    }

    /// How many sessions it has.
    pub fn sessions(&self) -> usize {
        self.rules.sessions()
    }

    /// The steps that a token of the explorer names.
    pub(super) fn steps_of(&self, level: Level, token: &str) -> Result<Vec<Step>, Problem> {
        self.rules.steps_of(level, token)
    }

    /// Where these steps lead.
    pub(super) fn state(&self, asked: &Asked) -> Result<State, Problem> {
        self.rules.state(asked, self.input.as_deref())
    }

    /// How an adversary goes on from there.
    pub(super) fn attack(&self, asked: &Asked) -> Result<Attacked, Problem> {
        self.rules.attack(asked)
    }
}

fn of_source(source: &Arc<Source>) -> Kind<i64, Registers> {
    let (asked, names) = (Arc::clone(source), Arc::clone(source));
    let shown = move |session: usize, locals: &Registers| {
        let pair = |(number, name): (usize, &String)| {
            format!("{name} = {}", locals.values.get(number).copied().unwrap_or_default())
        };
        names.locals_of(session).iter().enumerate().map(pair).collect::<Vec<_>>().join(", ")
    };
    let broken: Broken<i64, Registers> = Box::new(move |end| asked.check(end));
    Kind {
        program: source.program(),
        failed: Box::new(|registers| registers.failure.clone()),
        broken: source.has_assertions().then_some(broken),
        shown: Box::new(shown),
        observed: None,
    }
}

fn saw(values: &[seriatim_apps::Value]) -> String {
    if values.is_empty() {
        return String::new();
    }
    format!("saw {}", clean(&seriatim_apps::Value::from(values.to_vec()).to_string()))
}

/// A game without its values.
trait Rules: Send + Sync {
    fn state(&self, asked: &Asked, input: Option<&str>) -> Result<State, Problem>;
    fn attack(&self, asked: &Asked) -> Result<Attacked, Problem>;
    fn steps_of(&self, level: Level, token: &str) -> Result<Vec<Step>, Problem>;
    fn sessions(&self) -> usize;
}

impl<V: Value, L: Local> Rules for Kind<V, L> {
    fn state(&self, asked: &Asked, input: Option<&str>) -> Result<State, Problem> {
        state::state(self, asked, input)
    }

    fn attack(&self, asked: &Asked) -> Result<Attacked, Problem> {
        super::attack::attack(self, asked)
    }

    fn steps_of(&self, level: Level, token: &str) -> Result<Vec<Step>, Problem> {
        Ok(Play::steps_of(&self.program, level, token, super::STEPS_MAX)?)
    }

    fn sessions(&self) -> usize {
        self.program.session_names().count()
    }
}
