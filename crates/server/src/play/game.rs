//! What can be played: a program with what is asked of its end, whatever its values and local
//! states are.

use super::kind::{Broken, Kind};
use super::recorded::{Cell, Recorded};
use super::state::{self, Asked, Attacked, Problem, State};
use seriatim_apps::App;
use seriatim_apps::clients::ClientProgram;
use seriatim_explore::lang::{LangError, Registers, Source};
use seriatim_explore::play::{Misfit, Play, Step};
use seriatim_explore::{Local, Value};
use seriatim_history::History;
use seriatim_report::clean;
use seriatim_report::page::play::Fragment;
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
    /// Whether its text is one in the language of `explore`.
    pub(super) is_program: bool,
    /// All that its steps depend on.
    content: String,
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
            is_program: true,
            content: text.to_owned(),
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
            is_program: false,
            // Its code is that of this version.
            content: format!("{} {}", app.name(), env!("CARGO_PKG_VERSION")),
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
            content: text.clone(),
            text: Some(text),
            input: Some(name.to_owned()),
            is_program: false,
            rules: Arc::new(kind),
        }
    }

    /// A history, whose reads may return something else than they did; what is wrong with it if it
    /// cannot be played.
    pub fn history(name: &str, history: &History) -> Result<Game, String> {
        let Recorded { program, observed, content } = Recorded::of(history)?;
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
            is_program: false,
            content,
            rules: Arc::new(kind),
        })
    }

    /// Tells it apart from others of its name, in links: FNV-1a of its content, in short.
    pub(super) fn hash(&self) -> String {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = self.content.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        format!("{:010x}", hash >> 24)
    }

    /// How many sessions it has.
    pub fn sessions(&self) -> usize {
        self.rules.sessions()
    }

    /// The steps that a token of the explorer names.
    pub(super) fn steps_of(&self, asked: &Asked, token: &str) -> Result<Vec<Step>, Problem> {
        self.rules.steps_of(asked, token)
    }

    /// Why a step behind those that were asked about is not allowed.
    pub(super) fn reason(&self, asked: &Asked, step: Step) -> Result<Option<Fragment>, Problem> {
        self.rules.reason(asked, step)
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
    fn steps_of(&self, asked: &Asked, token: &str) -> Result<Vec<Step>, Problem>;
    fn reason(&self, asked: &Asked, step: Step) -> Result<Option<Fragment>, Problem>;
    fn sessions(&self) -> usize;
}

impl<V: Value, L: Local> Rules for Kind<V, L> {
    fn state(&self, asked: &Asked, input: Option<&str>) -> Result<State, Problem> {
        state::state(self, asked, input)
    }

    fn attack(&self, asked: &Asked) -> Result<Attacked, Problem> {
        super::attack::attack(self, asked)
    }

    fn steps_of(&self, asked: &Asked, token: &str) -> Result<Vec<Step>, Problem> {
        let play = Play::new(&self.program, asked.level).map_err(Misfit::from)?;
        match play.until(asked.deadline).follow(token, super::STEPS_MAX) {
            Err(Misfit::Undecided) => Err(Problem::TooLong),
            steps => Ok(steps?),
        }
    }

    fn reason(&self, asked: &Asked, step: Step) -> Result<Option<Fragment>, Problem> {
        state::reason(self, asked, step)
    }

    fn sessions(&self) -> usize {
        self.program.session_names().count()
    }
}
