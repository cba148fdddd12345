//! A page on which programs are led by hand: `seriatim play`.
//!
//! The server keeps nothing between requests. A request has a program (one of those that are
//! offered, by its name, or a text), a level and the steps so far; the server takes these steps
//! from the beginning and answers with all that the page shows. So going back is a shorter list,
//! a link is the list in the address of the page, and browsers cannot disturb each other.
//!
//! A request is limited: its body, the size of its program, its steps, and the time that it may
//! take. Only so many are worked on at a time, and the others wait for a while.

mod attack;
mod game;
mod kind;
mod recorded;
mod state;

pub use game::Game;

use crate::contained::contained;
use crate::http::{self, Answer, Guard, Problem, guard};
use crate::server::{ServeError, Stopper, unusable};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use seriatim_explore::play::{Step, parse_steps, steps_text};
use seriatim_isolation::Level;
use seriatim_report::page::play as page;
use state::Asked;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

/// The largest body: a program and its steps.
const BODY_BYTES_MAX: usize = 256 << 10;
/// The largest program that somebody sends.
const TEXT_BYTES_MAX: usize = 64 << 10;
const STEPS_MAX: usize = 1_000;
/// Sessions of a program: a lane each.
const SESSIONS_MAX: usize = 32;
/// How long a body may take to arrive.
const BODY_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long one request may be worked on.
const WORK_MAX: Duration = Duration::from_secs(4);
/// How many are worked on at a time, and how long others wait.
const WORKERS: usize = 4;
const TURN_WAIT_MAX: Duration = Duration::from_secs(20);

/// What can be played here.
pub struct Offered {
    /// The program.
    pub game: Game,
    /// The level that is set first.
    pub level: Level,
    /// Whether every server has it, so that a link need not hold its text.
    pub is_ready: bool,
}

/// What requests are answered from.
struct Desk {
    offered: Vec<Offered>,
    workers: Arc<Semaphore>,
}

/// A server of the page that listens.
pub struct PlayServer {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    desk: Arc<Desk>,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Offered({}, {})", self.game.name, self.level)
    }
}

impl fmt::Debug for PlayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl PlayServer {
    /// Listens on `address`, a host and a port; port 0 is any free port.
    pub fn bind(address: &str, offered: Vec<Offered>) -> Result<PlayServer, ServeError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(ServeError::Threads)?;
        let bound = runtime.block_on(TcpListener::bind(address));
        let bound =
            bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
        let (listener, address) = bound.map_err(|source| unusable(address, source))?;
        let workers = Arc::new(Semaphore::new(WORKERS));
        let desk = Arc::new(Desk { offered, workers });
        Ok(PlayServer { runtime, listener, address, desk, stop: watch::Sender::new(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper::new(self.stop.clone())
    }

    /// Serves until it is stopped.
    pub fn run(self) {
        let PlayServer { runtime, listener, address, desk, stop } = self;
        let router = router(desk, Guard { is_local: address.ip().is_loopback() });
        drop(runtime.block_on(http::accept(listener, router, stop.subscribe())));
        runtime.shutdown_background();
    }
}

fn router(desk: Arc<Desk>, may_ask: Guard) -> Router {
    let unknown = || async {
        let message = "there is nothing at this path; the page is at /".to_owned();
        Problem { status: StatusCode::NOT_FOUND, code: "unknown_path", message }
    };
    let wrong_method = || async {
        let message = "this path does not know this method".to_owned();
        Problem { status: StatusCode::METHOD_NOT_ALLOWED, code: "wrong_method", message }
    };
    Router::new()
        .route("/", get(|| async { file("text/html; charset=utf-8", page::page()) }))
        .route("/play.js", get(|| async { file("text/javascript; charset=utf-8", page::SCRIPT) }))
        .route("/play.css", get(|| async { file("text/css; charset=utf-8", page::STYLE.as_str()) }))
        .route("/icon.svg", get(|| async { file("image/svg+xml", page::ICON) }))
        .route("/games", get(games))
        .route("/state", post(state))
        .route("/attack", post(attack))
        .route("/token", post(token))
        .route("/reason", post(reason))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(may_ask, guard))
        .layer(middleware::map_response(limited))
        .with_state(desk)
}

fn file(kind: &'static str, content: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, kind)], content.into()).into_response()
}

/// Says with each answer what a page may do.
async fn limited(mut response: Response) -> Response {
    let always = [
        (header::CONTENT_SECURITY_POLICY, page::POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in always {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn games(State(desk): State<Arc<Desk>>) -> Answer {
    let told = |Offered { game, level, is_ready }: &Offered| {
        let Game { name, about, text, .. } = game;
        // A link to what has no hash holds its text.
        let hash = (*is_ready || !game.is_program).then(|| game.hash());
        json!({ "name": name, "about": about, "text": text, "level": level.code(), "hash": hash })
    };
    Answer::ok(desk.offered.iter().map(told).collect::<Vec<_>>())
}

/// What the page asks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// One of the programs that are offered …
    name: Option<String>,
    /// … or the text of one.
    text: Option<String>,
    level: String,
    #[serde(default)]
    steps: String,
    /// The session whose read the adversary is to pick for.
    session: Option<u32>,
    token: Option<String>,
    /// The step whose reason is asked for.
    step: Option<String>,
}

const EXPECTED: &str = r#"{"name" or "text": text, "level": text, "steps": text}"#;

fn bad(message: String) -> Problem {
    Problem::bad_request(message)
}

impl Question {
    fn level(&self) -> Result<Level, Problem> {
        self.level.parse().map_err(|_| {
            bad(format!("`{}` is no level; expected true, rc, ra, cc, pc, si or ser", self.level))
        })
    }

    fn steps(&self) -> Result<Vec<Step>, Problem> {
        parse_steps(&self.steps, STEPS_MAX).map_err(bad)
    }

    fn asked(&self, deadline: Instant) -> Result<Asked, Problem> {
        let (level, steps) = (self.level()?, self.steps()?);
        Ok(Asked { level, steps, deadline, read_of: self.session })
    }
}

impl Desk {
    fn game(&self, question: &Question) -> Result<Game, Problem> {
        match (&question.name, &question.text) {
            (Some(name), None) => {
                let found = self.offered.iter().find(|offered| offered.game.name == *name);
                let game = found.map(|offered| offered.game.clone());
                game.ok_or_else(|| bad("there is no program of that name here".to_owned()))
            }
            (None, Some(text)) if text.len() > TEXT_BYTES_MAX => {
                Err(bad(format!("a program may have {} KB here", TEXT_BYTES_MAX >> 10)))
            }
            (None, Some(text)) => {
                let input = Some("FILE.tx".to_owned());
                let game =
                    Game::program("", input, text).map_err(|error| bad(error.to_string()))?;
                match game.sessions() > SESSIONS_MAX {
                    true => Err(bad(format!("a program may have {SESSIONS_MAX} sessions here"))),
                    false => Ok(game),
                }
            }
            _ => Err(bad(format!("either a name or a text is expected: {EXPECTED}"))),
        }
    }
}

async fn question(request: Request) -> Result<Question, Problem> {
    use axum::extract::FromRequest;
    let bytes = tokio::time::timeout(BODY_WAIT_MAX, Bytes::from_request(request, &())).await;
    let bytes = bytes.map_err(|_| Problem {
        status: StatusCode::REQUEST_TIMEOUT,
        code: "too_slow",
        message: format!("the body did not arrive within {BODY_WAIT_MAX:?}"),
    })?;
    let bytes = bytes.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            code: "body_too_large",
            message: format!("the body is larger than {} KB", BODY_BYTES_MAX >> 10),
        },
        _ => bad("the body could not be read to its end".to_owned()),
    })?;
    serde_json::from_slice(&bytes)
        .map_err(|error| bad(format!("the body is not what is expected, {EXPECTED}: {error}")))
}

/// Works on a question, on a thread of its own, when it is its turn.
async fn work<T: Send + 'static>(
    desk: Arc<Desk>,
    request: Request,
    act: impl FnOnce(&Game, &Question) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let question = question(request).await?;
    let turn = Arc::clone(&desk.workers).acquire_owned();
    let busy = || Problem {
        status: StatusCode::SERVICE_UNAVAILABLE,
        code: "busy",
        message: "too many questions at a time; ask again".to_owned(),
    };
    // The semaphore is never closed.
    let turn = tokio::time::timeout(TURN_WAIT_MAX, turn).await.map_err(|_| busy())?;
    let worked = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        // A mistake of ours ends this question and nobody's page.
        contained(|| act(&desk.game(&question)?, &question))
    });
    let internal = || Problem {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        code: "internal",
        message: "the answer could not be worked out; this is a bug, please report it".to_owned(),
    };
    worked.await.map_err(|_| internal())?.map_err(|_| internal())?
}

impl From<state::Problem> for Problem {
    fn from(problem: state::Problem) -> Problem {
        match problem {
            state::Problem::Program(message) => bad(message),
            state::Problem::TooLong => Problem {
                status: StatusCode::UNPROCESSABLE_ENTITY,
                code: "undecided",
                message: format!(
                    "undecided: more than {WORK_MAX:?} of work; a smaller program is shown sooner"
                ),
            },
        }
    }
}

async fn state(State(desk): State<Arc<Desk>>, request: Request) -> Result<Answer, Problem> {
    work(desk, request, |game, question| {
        let state = game.state(&question.asked(Instant::now() + WORK_MAX)?)?;
        Ok(Answer::ok(state))
    })
    .await
}

async fn attack(State(desk): State<Arc<Desk>>, request: Request) -> Result<Answer, Problem> {
    work(desk, request, |game, question| {
        let attacked = game.attack(&question.asked(Instant::now() + WORK_MAX)?)?;
        Ok(Answer::ok(attacked))
    })
    .await
}

async fn token(State(desk): State<Arc<Desk>>, request: Request) -> Result<Answer, Problem> {
    work(desk, request, |game, question| {
        let token = question.token.as_deref().unwrap_or_default();
        let steps = game.steps_of(&question.asked(Instant::now() + WORK_MAX)?, token)?;
        Ok(Answer::ok(json!({ "steps": steps_text(&steps) })))
    })
    .await
}

async fn reason(State(desk): State<Arc<Desk>>, request: Request) -> Result<Answer, Problem> {
    work(desk, request, |game, question| {
        let step = question.step.as_deref().unwrap_or_default().parse().map_err(bad)?;
        let reason = game.reason(&question.asked(Instant::now() + WORK_MAX)?, step)?;
        Ok(Answer::ok(json!({ "reason": reason })))
    })
    .await
}
