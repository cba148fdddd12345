//! `seriatim play`: a page on which a program is led by hand, served on this machine.

mod examples;

use crate::commands::program_file::{located, read};
use crate::exit::{Exit, Failure};
use crate::parsers::explore_level_parser;
use crate::{interrupt, output};
use examples::{EXAMPLES, shown_at};
use seriatim_apps::clients::{self, ClientProgram};
use seriatim_explore::lang::Source;
use seriatim_history::formats::{self, ReadOptions};
use seriatim_isolation::Level;
use seriatim_report::{Unreadable, text};
use seriatim_server::ServeError;
use seriatim_server::play::{Game, Offered, PlayServer};
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the page is if nothing else is said and the port is free: so that links stay true.
const ADDRESS: &str = "127.0.0.1:4747";
/// Otherwise.
const ANY_PORT: &str = "127.0.0.1:0";
/// Sessions of random clients, and transactions in each.
const SIZE: (usize, usize) = (2, 2);
/// A history that can be played is much smaller.
const HISTORY_BYTES_MAX: u64 = 64 << 20;

const AFTER_HELP: &str = "\
A session is stepped by a click or its number. At a read the page shows each version with whether \
                          the level allows it and, if not, the cycle that it would close; a person \
                          or an adversary picks. The address of the page holds the program and all \
                          choices, so that it is a link to them. The server keeps nothing.

Ctrl-C or SIGTERM ends it.

Exit codes: 0 ended by Ctrl-C or SIGTERM, 3 bad input or usage, 4 internal error.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A program for `explore` (a file that ends in .tx, or - for standard input), an application,
    /// random clients of one (cart:1), or a history; without it one of the ready programs for each
    /// anomaly
    #[arg(value_name = "FILE.tx|APP|HISTORY")]
    input: Option<String>,
    /// The level that is set first [default: of a ready program the one at which it breaks, else
    /// cc]
    #[arg(long, short, value_name = "LEVEL", value_parser = explore_level_parser())]
    level: Option<Level>,
    /// Where to listen, a host and a port; port 0 is any free port [default: 127.0.0.1:4747, or any
    /// free port if that one is taken]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
}

/// Serves the page until a signal comes.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let server = listen(args)?;
    let stopper = server.stopper();
    interrupt::call_next(move |_| stopper.stop());
    let address = server.address();
    output::message(&format!("play at http://{address}/\n"));
    if !address.ip().is_loopback() {
        output::message("note: other machines can open the page, too\n");
    }
    if !args.no_open {
        open_browser(&format!("http://{address}/"));
    }
    server.run();
    Ok(Exit::Holds)
}

fn listen(args: &Args) -> Result<PlayServer, Failure> {
    let failure = |error: ServeError| Failure::Message(error.to_string());
    let offered = || offered(args);
    if let Some(address) = &args.listen {
        return PlayServer::bind(address, offered()?).map_err(failure);
    }
    let first = offered()?;
    match PlayServer::bind(ADDRESS, first) {
        Err(ServeError::Bind { .. }) => PlayServer::bind(ANY_PORT, offered()?).map_err(failure),
        bound => bound.map_err(failure),
    }
}

/// What can be played: what was named first, and the ready programs.
fn offered(args: &Args) -> Result<Vec<Offered>, Failure> {
    let mut all = Vec::new();
    if let Some(input) = &args.input {
        let (game, level) = named(input)?;
        all.push(Offered { game, level: args.level.unwrap_or(level), is_ready: false });
    }
    for (name, text) in EXAMPLES {
        let input = Some(format!("examples/programs/{name}.tx"));
        // A test reads all of them.
        let Ok(game) = Game::program(name, input, text) else { continue };
        if all.iter().all(|offered| offered.game.name != name) {
            let own = args.level.filter(|_| args.input.is_none());
            let level = own.or_else(|| shown_at(text)).unwrap_or(Level::Causal);
            all.push(Offered { game, level, is_ready: true });
        }
    }
    Ok(all)
}

/// What an argument names, with the level to begin with.
fn named(input: &str) -> Result<(Game, Level), Failure> {
    if let Some(app) = seriatim_apps::find(input) {
        return Ok((Game::app(app), Level::Causal));
    }
    if let Some(game) = random_clients(input)? {
        return Ok((game, Level::Causal));
    }
    let is_program = input == "-" || input.ends_with(".tx") || !Path::new(input).exists();
    match is_program {
        true => program(input),
        false => history(input).map(|game| (game, Level::Causal)),
    }
}

fn random_clients(input: &str) -> Result<Option<Game>, Failure> {
    let Some((app, seed)) = input.split_once(':') else { return Ok(None) };
    if !clients::names().any(|name| name == app) {
        return Ok(None);
    }
    let seed = seed.parse().map_err(|_| {
        let problem = format!("the seed of random clients is a number, as in {app}:1");
        Failure::about(input, problem)
    })?;
    let clients = ClientProgram::new(app, seed, SIZE.0, SIZE.1);
    Ok(clients.map(|clients| Game::clients(input, clients)))
}

fn program(input: &str) -> Result<(Game, Level), Failure> {
    let text = read(input)?;
    Source::parse(&text).map_err(|error| located(input, &text, &error))?;
    let game = Game::program(input, Some(input.to_owned()), &text)
        .map_err(|error| located(input, &text, &error))?;
    Ok((game, shown_at(&text).unwrap_or(Level::Causal)))
}

fn history(input: &str) -> Result<Game, Failure> {
    let options = ReadOptions { bytes_max: Some(HISTORY_BYTES_MAX), ..ReadOptions::default() };
    let (history, _) = formats::read_path(Path::new(input), input, &options).map_err(|error| {
        let told = text::render_error(&Unreadable::new(input, &error));
        Failure::Message(told.trim_end().trim_start_matches("error: ").to_owned())
    })?;
    Game::history(input, &history).map_err(|problem| Failure::about(input, problem))
}

/// Opens the page if there is somewhere to open it; the address has been said either way.
fn open_browser(url: &str) {
    let is_there = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let program = match () {
        () if cfg!(target_os = "macos") => "open",
        () if is_there("DISPLAY") || is_there("WAYLAND_DISPLAY") => "xdg-open",
        () => return,
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Somebody must wait for it when it ends.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(_) => output::message(&format!("note: {program} is missing; open the page yourself\n")),
    }
}
