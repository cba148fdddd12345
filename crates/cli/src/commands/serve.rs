//! `seriatim serve`: a database that may return anything its level allows, over the network, until
//! a signal ends it.

use super::serve_sql::{Like, SqlArgs};
use crate::exit::{Exit, Failure};
use crate::loss_notes::lost_note;
use crate::parsers::{Picker, format_parser, order_parser, picker_parser, store_level_parser};
use crate::quantities::{duration, size};
use crate::write_history::{format_for, may_write_history, save};
use crate::{interrupt, output};
use seriatim_history::History;
use seriatim_history::formats::Format;
use seriatim_isolation::{Level, Order};
use seriatim_report::text::plural;
use seriatim_server::cells::StoreCells;
use seriatim_server::{ChooserKind, Config, Questions, ServeError, Server};
use seriatim_sql::cells::TxnLevel;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// So many names are tried for a history that cannot be saved where it should be.
const NAMES_MAX: u32 = 1000;

/// How many transactions of SQL are remembered, about, if nothing else is said.
const SQL_HORIZON: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// The flags.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Ctrl-C or SIGTERM ends it: requests that have arrived are answered, for up to \
                  five seconds, open transactions abort, \
                  the history is saved. A second one ends it at once, without that.

The same requests in the same order get the same answers for the same seed. Clients that send \
                  requests at the same time do not repeat exactly, with --serial neither: which \
                  comes first is up to the network. After a reset the chooser goes on with new \
                  numbers; a reset with a seed begins with those of the seed.

Exit codes: 0 ended by Ctrl-C or SIGTERM with everything saved, 3 bad input or usage, or the \
                  history could not be written where it \
should be, 4 internal error, 130 or 143 ended by a second Ctrl-C or SIGTERM."
)]
pub struct Args {
    /// Where to listen for HTTP, a host and a port; port 0 is any free port. Its page /live shows
    /// what goes on, also of clients of the others
    #[arg(long, value_name = "ADDR", required_unless_present_any = ["postgres", "mysql"])]
    http: Option<String>,
    #[command(flatten)]
    sql: SqlArgs,
    /// The level of transactions that do not ask for another one [default: cc; with --like its own]
    #[arg(long, short, value_name = "LEVEL", value_parser = store_level_parser())]
    level: Option<Level>,
    /// Which transactions a later one must see, beside those that it read from: none, earlier ones
    /// of its session, or all that had ended before it began (at rc, before its statement)
    #[arg(
        long,
        value_name = "ORDER",
        value_parser = order_parser(),
        default_value = "sessions",
        conflicts_with = "like"
    )]
    order: Order,
    /// What decides which of the versions that a read may return it does return
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Who picks among the versions that a read may return
    #[arg(long, value_name = "NAME", value_parser = picker_parser(), default_value = "random")]
    chooser: Picker,
    /// With --chooser ask: how long a read waits for an answer on the page /live of --http; after
    /// that it returns the latest version
    #[arg(long, value_name = "TIME", value_parser = answer_time, default_value = "60s")]
    ask_timeout: Duration,
    /// One transaction at a time: others wait for it to end, for at most ten seconds
    #[arg(long)]
    serial: bool,
    /// Wait before each transaction for a random time of at most this, so that clients come in
    /// another order each time
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_hyphen_values = true,
        default_value = "0s"
    )]
    delay: Duration,
    /// Each time N transactions have ended, forget all but the last version of each key; bounds
    /// memory, and restricts what reads may return; the history tells only of the last
    /// transactions. SQL forgets after 10000 unless its history is to be saved
    #[arg(long, value_name = "N")]
    horizon: Option<NonZeroU32>,
    /// How many sessions may be open
    #[arg(long, value_name = "N", default_value = "1000")]
    max_sessions: NonZeroU32,
    /// The largest body of a request
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1M")]
    max_body: u64,
    /// A session that is not used for this long ends, and its open transaction aborts
    #[arg(long, value_name = "TIME", value_parser = idle, default_value = "5m")]
    idle: Duration,
    /// Where to write the history at the end, or - for standard output; with --postgres or --mysql
    /// that of SQL
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// The format of FILE; without it the ending decides, as for convert, and if that says nothing
    /// it is jsonl
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), requires = "save")]
    to: Option<Format>,
}

impl Args {
    /// Who is asked, if a person is; both stores ask the same.
    fn questions(&self) -> Result<Option<Arc<Questions>>, Failure> {
        match self.chooser {
            Picker::Chooser(_) => Ok(None),
            Picker::Person if self.http.is_none() => {
                let what = "--chooser ask asks on a page, which needs --http ADDR";
                Err(Failure::Message(what.to_owned()))
            }
            Picker::Person => Ok(Some(Arc::new(Questions::new(self.ask_timeout)))),
        }
    }

    fn config(&self, questions: Option<Arc<Questions>>) -> Config {
        Config {
            level: self.level.unwrap_or(Level::Causal),
            order: self.order,
            chooser: match self.chooser {
                Picker::Chooser(kind) => kind,
                Picker::Person => ChooserKind::Latest,
            },
            questions,
            seed: self.seed,
            serial: self.serial,
            horizon: self.horizon,
            delay_max: self.delay,
            sessions_max: self.max_sessions.get() as usize,
            body_bytes_max: usize::try_from(self.max_body).unwrap_or(usize::MAX),
            idle_max: self.idle,
            ..Config::default()
        }
    }

    /// The same for SQL, whose clients come for long: it forgets unless the history is wanted.
    fn sql_config(&self, questions: Option<Arc<Questions>>) -> Result<Config, Failure> {
        let horizon = self.horizon.or(self.save.is_none().then_some(SQL_HORIZON));
        let node = self.sql.node()?;
        if node.is_some() && self.level.is_some() && !self.sql.force_level {
            let what = "--like takes levels from the application; --level is for all of its \
                        transactions, with --force-level, or for stores without --like";
            return Err(Failure::Message(what.to_owned()));
        }
        Ok(Config { horizon, node, level: self.sql_level(), ..self.config(questions) })
    }

    fn sql_level(&self) -> Level {
        let default = match self.sql.like {
            Some(Like::Postgres) => Level::ReadCommitted,
            // The reads of REPEATABLE READ are those of snapshot isolation.
            Some(Like::Mysql) => Level::SnapshotIsolation,
            None => Level::Causal,
        };
        self.level.unwrap_or(default)
    }

    /// How a server that listens answers.
    fn manner(&self, protocol: &str) -> String {
        match self.sql.like {
            Some(Like::Postgres) if protocol == "postgres" => match self.sql.force_level {
                true => format!("as one PostgreSQL server at {}", self.sql_level()),
                false => "as one PostgreSQL server".to_owned(),
            },
            Some(Like::Mysql) if protocol == "mysql" => "as one MySQL server".to_owned(),
            _ => format!("at {}", self.level.unwrap_or(Level::Causal)),
        }
    }
}

/// Serves until a signal comes.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    // A name that means no format is a mistake now, not when there is a history to lose.
    let target = match &args.save {
        Some(path) => Some((path.as_path(), format_for(args.to, path, Format::Jsonl)?)),
        None => None,
    };
    if let Some((path, format)) = target {
        may_write_history(path, format, &[])?;
    }
    let (server, sql) = listen(args)?;
    let stopper = server.stopper();
    interrupt::call_next(move |_| stopper.stop());
    let addresses = [
        ("http", server.http_address()),
        ("postgres", server.postgres_address()),
        ("mysql", server.mysql_address()),
    ]
    .into_iter();
    for (protocol, address) in addresses.filter_map(|(name, address)| Some((name, address?))) {
        let manner = args.manner(protocol);
        output::message(&format!("listening on {protocol}://{address} {manner}\n"));
    }
    let mut history = server.run();
    if let Some(sql) = sql {
        history = sql.history();
    }
    if let Some((path, format)) = target {
        keep(&history, format, path)?;
    }
    Ok(Exit::Holds)
}

/// A server that listens wherever it is told to.
fn listen(args: &Args) -> Result<(Server, Option<Arc<StoreCells>>), Failure> {
    let failure = |error: ServeError| Failure::Message(error.to_string());
    let questions = args.questions()?;
    let mut server = Server::new(args.config(questions.clone())).map_err(failure)?;
    if let Some(address) = &args.http {
        server = server.with_http(address).map_err(failure)?;
    }
    if let Some(address) = &args.sql.postgres {
        let config = args.sql.config(args.max_sessions.get() as usize, args.seed)?;
        args.sql.note(config.password.is_some()).into_iter().for_each(output::message);
        let (cluster, store) = args.sql.cluster(&args.sql_config(questions)?)?;
        let server = server
            .watching(Arc::clone(&store))
            .with_postgres(address, cluster, config)
            .map_err(failure)?;
        return Ok((server, Some(store)));
    }
    if let Some(address) = &args.sql.mysql {
        let level = match args.sql_level() {
            Level::ReadCommitted => TxnLevel::ReadCommitted,
            Level::Serializable => TxnLevel::Serializable,
            _ => TxnLevel::RepeatableRead,
        };
        let sessions_max = args.max_sessions.get() as usize;
        let config = args.sql.mysql_config(sessions_max, args.seed, level)?;
        args.sql.note(config.password.is_some()).into_iter().for_each(output::message);
        let (cluster, store) = args.sql.cluster(&args.sql_config(questions)?)?;
        let server = server
            .watching(Arc::clone(&store))
            .with_mysql(address, cluster, config)
            .map_err(failure)?;
        return Ok((server, Some(store)));
    }
    Ok((server, None))
}

/// Saves the history. If that cannot be done where or how it should be, it is saved as JSON Lines
/// elsewhere: it cannot be made again.
fn keep(history: &History, format: Format, path: &Path) -> Result<(), Failure> {
    let saved = save(history, format, path);
    if saved.is_err() && path != Path::new("-") {
        let found = elsewhere(path).find(|place| save(history, Format::Jsonl, place).is_ok());
        if let Some(place) = found {
            output::message(&format!("note: the history is in {} instead\n", place.display()));
        }
    }
    saved?;
    lost_note(history, format).iter().for_each(|note| output::message(note));
    let count = plural(history.txn_count() as u64, "transaction");
    output::message(&format!("saved {count} to {}\n", path.display()));
    Ok(())
}

/// Files that are not there yet: beside `path`, unless that is a device, and where temporary ones
/// go.
fn elsewhere(path: &Path) -> impl Iterator<Item = PathBuf> {
    let is_file = std::fs::metadata(path).map_or(true, |found| found.is_file());
    let temporary = std::env::temp_dir().join(format!("seriatim-{}", std::process::id()));
    let names = [is_file.then(|| path.to_owned()), Some(temporary)].into_iter().flatten();
    names.filter_map(|name| {
        let numbered = |number: u32| {
            let mut name = name.as_os_str().to_owned();
            name.push(if number == 0 { ".jsonl".to_owned() } else { format!(".{number}.jsonl") });
            PathBuf::from(name)
        };
        (0..NAMES_MAX).map(numbered).find(|place| !place.exists())
    })
}

/// How long a read may wait for a person.
fn answer_time(text: &str) -> Result<Duration, String> {
    const MAX: Duration = Duration::from_secs(3600);
    match duration(text)? {
        time if time > MAX => Err("nobody waits for more than an hour; expected less".to_owned()),
        time => Ok(time),
    }
}

/// A time that is long enough to do something in.
fn idle(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("a session needs some time; expected more than 0".to_owned()),
        time => Ok(time),
    }
}
