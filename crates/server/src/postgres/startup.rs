//! What comes before a session: encryption, the parameters of the client, its password.

use super::config::PostgresConfig;
use super::frontend::Body;
use super::password::Proof;
use super::wire::{End, Wire, Wired, violation};
use pgwire::messages::response::{GssEncResponse, SslResponse};
use pgwire::messages::startup::{
    Authentication, GssEncRequest, NegotiateProtocolVersion, SslRequest,
};
use seriatim_sql::SqlError;
use seriatim_sql::error::code;
use std::time::Instant;

const CANCEL_REQUEST: i32 = 80_877_102;
/// Version 3.0, the only one that PostgreSQL 15 speaks.
const PROTOCOL: i32 = 3 << 16;

/// What a client wants.
#[derive(Debug)]
pub(super) enum Wish {
    Session(Greeting),
    /// The end of a statement of another connection.
    Cancel {
        number: u32,
        secret: i32,
    },
}

/// A client that wants a session.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Greeting {
    pub user: String,
    pub database: String,
    pub settings: Vec<(String, String)>,
}

/// Listens to what a client wants, and encrypts the connection on the way if it asks for that.
pub(super) fn greet(wire: &mut Wire, config: &PostgresConfig, until: Instant) -> Wired<Wish> {
    loop {
        let mut body = Body(wire.startup_packet(until)?);
        let number = body.int4().map_err(End::Fatal)?;
        match number {
            SslRequest::BODY_MAGIC_NUMBER => match &config.tls {
                Some(tls) if !wire.is_encrypted() => {
                    wire.put(&SslResponse::Accept)?;
                    wire.flush()?;
                    wire.encrypt(tls.config())?;
                }
                _ => {
                    wire.put(&SslResponse::Refuse)?;
                    wire.flush()?;
                }
            },
            GssEncRequest::BODY_MAGIC_NUMBER => {
                wire.put(&GssEncResponse::Refuse)?;
                wire.flush()?;
            }
            CANCEL_REQUEST => {
                let number = body.int4().map_err(End::Fatal)?;
                let secret = body.int4().map_err(End::Fatal)?;
                return Ok(Wish::Cancel { number: number as u32, secret });
            }
            version => return session(wire, version, body).map(Wish::Session),
        }
    }
}

/// The parameters of a client that wants a session.
fn session(wire: &mut Wire, version: i32, body: Body) -> Wired<Greeting> {
    let (major, minor) = (version >> 16, version & 0xffff);
    if major != 3 {
        return Err(End::Fatal(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0"),
        )));
    }
    let parameters = parameters(body)?;
    let unknown: Vec<String> = parameters
        .iter()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("_pq_."))
        .cloned()
        .collect();
    if minor > 0 || !unknown.is_empty() {
        wire.put(&NegotiateProtocolVersion::new(PROTOCOL, unknown))?;
    }
    greeting(parameters).map_err(End::Fatal)
}

fn parameters(mut body: Body) -> Wired<Vec<(String, String)>> {
    let layout = || violation("invalid startup packet layout: expected terminator as last byte");
    let mut parameters = Vec::new();
    loop {
        let name = body.text().map_err(|_| layout())?;
        if name.is_empty() {
            break;
        }
        parameters.push((name, body.text().map_err(|_| layout())?));
    }
    if body.0.is_empty() { Ok(parameters) } else { Err(layout()) }
}

fn greeting(parameters: Vec<(String, String)>) -> Result<Greeting, SqlError> {
    let (mut user, mut database, mut settings) = (String::new(), String::new(), Vec::new());
    for (name, value) in parameters {
        match name.as_str() {
            "user" => user = value,
            "database" => database = value,
            // Those of the command line come first: what the client says by itself is said later.
            "options" => drop(settings.splice(0..0, options(&value)?)),
            "replication" if matches!(value.as_str(), "false" | "off" | "no" | "0") => {}
            "replication" => return Err(SqlError::unsupported("replication")),
            name if name.starts_with("_pq_.") => {}
            _ => settings.push((name, value)),
        }
    }
    if user.is_empty() {
        return Err(SqlError::new("28000", "no PostgreSQL user name specified in startup packet"));
    }
    if database.is_empty() {
        database.clone_from(&user);
    }
    Ok(Greeting { user, database, settings })
}

/// Settings as on the command line of a server: `-c name=value` and `--name=value`; a backslash
/// keeps what follows it.
fn options(text: &str) -> Result<Vec<(String, String)>, SqlError> {
    let mut settings = Vec::new();
    let mut words = words(text).into_iter();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("--") {
            Some(setting) => setting.to_owned(),
            None => match word.strip_prefix("-c") {
                Some("") => words.next().unwrap_or_default(),
                Some(setting) => setting.to_owned(),
                None => return Err(invalid_option(&word)),
            },
        };
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            SqlError::new(code::SYNTAX_ERROR, format!("-c {setting} requires a value"))
        })?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn invalid_option(word: &str) -> SqlError {
    SqlError::new(
        code::SYNTAX_ERROR,
        format!("invalid command-line argument for server process: {word}"),
    )
}

fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut letters) = (Vec::new(), None::<String>, text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_ascii_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(letters.next()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Lets the client prove that it knows the password, if there is one.
pub(super) fn authenticate(
    wire: &mut Wire,
    config: &PostgresConfig,
    user: &str,
    until: Instant,
) -> Wired<()> {
    let Some(password) = &config.password else {
        return wire.put(&Authentication::Ok);
    };
    let tls = config.tls.as_ref().filter(|_| wire.is_encrypted());
    let mut proof = Proof::new(password, user, tls);
    wire.put(&Authentication::SASL(proof.methods()))?;
    wire.flush()?;
    let mut body = Body(password_message(wire, until)?);
    let method = body.text().map_err(End::Fatal)?;
    let first = body.value().map_err(End::Fatal)?.unwrap_or_default();
    let answer = proof.first(&method, &first).map_err(End::Fatal)?;
    wire.put(&Authentication::SASLContinue(answer))?;
    wire.flush()?;
    let answer = proof.last(&password_message(wire, until)?).map_err(End::Fatal)?;
    wire.put(&Authentication::SASLFinal(answer))?;
    wire.put(&Authentication::Ok)
}

fn password_message(wire: &mut Wire, until: Instant) -> Wired<bytes::Bytes> {
    match wire.message(Some(until))? {
        (b'p', body) => Ok(body),
        (kind, _) => Err(violation(format!("expected SASL response, got message type {kind}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn options_are_settings() {
        let given = r"-c statement_timeout=5s --search-path=a,b -cDateStyle=ISO,\ DMY";
        let expected = pairs(&[
            ("statement_timeout", "5s"),
            ("search_path", "a,b"),
            ("DateStyle", "ISO, DMY"),
        ]);
        assert_eq!(options(given), Ok(expected));
        assert_eq!(options("-x").unwrap_err().code(), code::SYNTAX_ERROR);
        assert_eq!(options("-c x").unwrap_err().message(), "-c x requires a value");
    }

    #[test]
    fn the_database_is_called_like_the_user_unless_told_otherwise() {
        let found = greeting(pairs(&[("user", "ann"), ("application_name", "x")])).unwrap();
        assert_eq!(found.database, "ann");
        assert_eq!(found.settings, pairs(&[("application_name", "x")]));
        assert_eq!(greeting(Vec::new()).unwrap_err().code(), "28000");
        let replication = greeting(pairs(&[("user", "ann"), ("replication", "true")]));
        assert_eq!(replication.unwrap_err().code(), code::FEATURE_NOT_SUPPORTED);
    }
}
