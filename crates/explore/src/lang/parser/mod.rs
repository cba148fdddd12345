//! Tokens into programs: recursive descent, with a limit on the depth, on the size of expressions
//! and on what loops do.

mod expressions;
mod statements;

use super::ast::{Assertion, Key, Session, Transaction};
use super::lexer::{Token, tokens, too_large};
use super::{LangError, Source, Spot};
use crate::levels::supported;
use rustc_hash::FxHashSet;
use seriatim_isolation::Level;

/// How deep blocks and parentheses may be nested.
const DEPTH_MAX: usize = 40;
/// How many sessions there may be, and transactions in all of them.
const SESSIONS_MAX: usize = 32;
const TXNS_MAX: usize = crate::txn_set::TXNS_MAX;

/// How many keys a message lists.
const KEYS_TOLD_MAX: usize = 8;

/// Words of other languages, and what this one has instead.
const ELSEWHERE: [(&str, &str); 8] = [
    ("while", "a loop has a fixed number of rounds: `repeat 3 { … }` or `for i in 1..3 { … }`"),
    ("loop", "a loop has a fixed number of rounds: `repeat 3 { … }` or `for i in 1..3 { … }`"),
    ("rollback", "write `abort`"),
    ("and", "write `&&`"),
    ("or", "write `||`"),
    ("not", "write `!`"),
    ("let", "write `a := 1`, without a word before it"),
    ("elif", "write `else if`"),
];

/// Words that are no names.
const WORDS: [&str; 15] = [
    "init", "session", "begin", "commit", "at", "read", "write", "if", "else", "for", "in",
    "repeat", "assert", "abort", "final",
];

type Parsed<T> = Result<T, LangError>;

/// Reads a whole program.
pub(super) fn parse(text: &str) -> Parsed<Source> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        parts: 0,
        rounds: 1,
        locals: None,
        written: FxHashSet::default(),
        initial: FxHashSet::default(),
        asked: Vec::new(),
        source: Source {
            initial: Vec::new(),
            sessions: Vec::new(),
            assertions: Vec::new(),
            keys: Default::default(),
        },
    };
    while *parser.token() != Token::End {
        parser.item()?;
    }
    if parser.source.sessions.is_empty() {
        let hint = "write `session name { begin … commit }`";
        return Err(LangError::new(parser.spot(), "the program has no session", hint));
    }
    parser.keys_have_values()?;
    Ok(parser.source)
}

struct Parser {
    tokens: Vec<(Token, Spot)>,
    at: usize,
    depth: usize,
    /// Parts of the expressions of the present statement.
    parts: usize,
    /// How often the present place is reached, at most.
    rounds: i64,
    /// The locals of the present session; none outside of sessions.
    locals: Option<Vec<String>>,
    /// The names of keys that have an initial value or are written.
    written: FxHashSet<String>,
    /// The keys that have an initial value.
    initial: FxHashSet<String>,
    /// Keys that are read, or that assertions ask for in the end, and where.
    asked: Vec<(String, Spot)>,
    source: Source,
}

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn spot(&self) -> Spot {
        self.tokens[self.at].1
    }

    fn fail<T>(&self, problem: impl Into<String>, hint: impl Into<String>) -> Parsed<T> {
        Err(LangError::new(self.spot(), problem, hint))
    }

    /// Fails if this is a word of another language.
    fn is_from_here(&self) -> Parsed<()> {
        let Token::Name(word) = self.token() else { return Ok(()) };
        match ELSEWHERE.iter().find(|(other, _)| word == other) {
            None => Ok(()),
            Some((_, hint)) => self.fail(format!("there is no `{word}` in the language"), *hint),
        }
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.is_from_here()?;
        self.fail(format!("{} is not expected here", self.token()), format!("expected {what}"))
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// Whether the next token is this sign or word; if so, it is passed.
    fn takes(&mut self, text: &str) -> bool {
        let found = match self.token() {
            Token::Sign(sign) => *sign == text,
            Token::Name(name) => name == text,
            _ => false,
        };
        if found {
            self.advance();
        }
        found
    }

    fn must(&mut self, text: &str) -> Parsed<()> {
        if self.takes(text) { Ok(()) } else { self.expected(&format!("`{text}`")) }
    }

    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.token().clone() {
            Token::Name(name) if !WORDS.contains(&name.as_str()) => {
                self.advance();
                Ok(name)
            }
            Token::Name(word) => self.fail(
                format!("`{word}` is a word of the language"),
                format!("choose another {what}"),
            ),
            _ => self.expected(what),
        }
    }

    fn number(&mut self) -> Parsed<i64> {
        let is_negative = self.takes("-");
        match *self.token() {
            Token::Number(digits) => self.signed(digits, is_negative),
            _ => self.expected("a number"),
        }
    }

    /// The number that this token is with its sign, which has been passed.
    fn signed(&mut self, digits: u64, is_negative: bool) -> Parsed<i64> {
        let number = match is_negative {
            true => 0i64.checked_sub_unsigned(digits),
            false => i64::try_from(digits).ok(),
        };
        let Some(number) = number else {
            return Err(too_large(&digits.to_string(), self.spot()));
        };
        self.advance();
        Ok(number)
    }

    /// Something that belongs to no session, or a session.
    fn item(&mut self) -> Parsed<()> {
        self.parts = 0;
        if self.takes("init") {
            return self.init();
        }
        if self.takes("session") {
            return self.session();
        }
        if self.takes("assert") {
            let assertion = self.assertion()?;
            self.source.assertions.push(assertion);
            return Ok(());
        }
        if self.takes(";") {
            return Ok(());
        }
        self.expected("`init`, `session` or `assert`")
    }

    fn init(&mut self) -> Parsed<()> {
        loop {
            let spot = self.spot();
            let mut key = self.name("key")?;
            self.written.insert(key.clone());
            while self.takes("[") {
                key += &format!("[{}]", self.number()?);
                self.must("]")?;
            }
            self.must("=")?;
            let number = self.number()?;
            if !self.initial.insert(key.clone()) {
                let problem = format!("{key} has an initial value already");
                return Err(LangError::new(spot, problem, "a key has one; remove the other"));
            }
            self.source.initial.push((key, number));
            if !self.takes(",") {
                return Ok(());
            }
        }
    }

    fn session(&mut self) -> Parsed<()> {
        let spot = self.spot();
        let name = self.name("name of the session")?;
        if self.source.sessions.iter().any(|session| session.name == name) {
            return Err(LangError::new(
                spot,
                format!("there is a session {name} already"),
                "choose another name",
            ));
        }
        if self.source.sessions.len() == SESSIONS_MAX {
            return self
                .fail(format!("more than {SESSIONS_MAX} sessions"), "make the program smaller");
        }
        self.must("{")?;
        self.locals = Some(Vec::new());
        let mut txns = Vec::new();
        while !self.takes("}") {
            if self.takes(";") {
                continue;
            }
            txns.push(self.transaction()?);
            let others: usize = self.source.sessions.iter().map(|session| session.txns.len()).sum();
            if others + txns.len() > TXNS_MAX {
                return self.fail(
                    format!("more than {TXNS_MAX} transactions"),
                    "make the program smaller",
                );
            }
        }
        let locals = self.locals.take().unwrap_or_default();
        self.source.sessions.push(Session { name, locals, txns });
        Ok(())
    }

    fn transaction(&mut self) -> Parsed<Transaction> {
        if !self.takes("begin") {
            return self.expected("`begin` or the `}` that ends the session");
        }
        let level = if self.takes("at") { Some(self.level()?) } else { None };
        let mut body = Vec::new();
        while !self.takes("commit") {
            self.stmt_into(&mut body, "`commit`")?;
        }
        Ok(Transaction { level, body })
    }

    fn level(&mut self) -> Parsed<Level> {
        let spot = self.spot();
        let name = self.name("level: rc, ra, cc, pc, si or ser")?;
        let wrong = |problem: String| {
            LangError::new(spot, problem, "expected true, rc, ra, cc, pc, si or ser")
        };
        let level: Level = name.parse().map_err(|_| wrong(format!("there is no level {name}")))?;
        match supported(level) {
            Ok(()) => Ok(level),
            Err(_) => Err(wrong(format!("programs cannot be explored at {level}"))),
        }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self
                .fail(format!("this is nested more than {DEPTH_MAX} times"), "make it flatter");
        }
        Ok(())
    }

    fn assertion(&mut self) -> Parsed<Assertion> {
        let (spot, from) = (self.spot(), self.at);
        let expr = self.expr()?;
        let words =
            self.tokens[from..self.at].iter().map(|(token, _)| token.to_string().replace('`', ""));
        Ok(Assertion { spot, text: tidy(&words.collect::<Vec<_>>().join(" ")), expr })
    }

    /// The number of a local, which is new if it has none.
    fn local(&mut self, name: String) -> usize {
        let locals = self.locals.get_or_insert_default();
        locals.iter().position(|known| *known == name).unwrap_or_else(|| {
            locals.push(name);
            locals.len() - 1
        })
    }

    fn key(&mut self) -> Parsed<Key> {
        let spot = self.spot();
        let name = self.name("key")?;
        let mut index = Vec::new();
        while self.takes("[") {
            index.push(self.expr()?);
            self.must("]")?;
        }
        Ok(Key { spot, name, index })
    }

    /// A key in parentheses that is read, or asked for in the end.
    fn asked_key(&mut self) -> Parsed<Key> {
        self.must("(")?;
        let spot = self.spot();
        let key = self.key()?;
        self.asked.push((key.name.clone(), spot));
        self.must(")")?;
        Ok(key)
    }

    /// A read of a key that the program never sets, or an assertion about one, is a slip of the
    /// pen: what is proved with it would be about nothing.
    fn keys_have_values(&self) -> Parsed<()> {
        match self.asked.iter().find(|(key, _)| !self.written.contains(key)) {
            None => Ok(()),
            Some((key, spot)) => {
                let mut known: Vec<&str> = self.written.iter().map(String::as_str).collect();
                known.sort_unstable();
                known.truncate(KEYS_TOLD_MAX);
                let hint = match known.is_empty() {
                    true => format!("write to {key}, or give it a value with `init {key} = 0`"),
                    false => format!(
                        "keys that have values are: {}; or write `init {key} = 0`",
                        known.join(", ")
                    ),
                };
                Err(LangError::new(
                    *spot,
                    format!("nobody writes {key}, and it has no initial value"),
                    hint,
                ))
            }
        }
    }
}

/// Tokens as people write them.
fn tidy(text: &str) -> String {
    let joined = [
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        ("[ ", "["),
        (" ]", "]"),
        (" [", "["),
        (" . ", "."),
        ("! ", "!"),
    ];
    let text = joined.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    // A parenthesis stands beside a name, but apart from an operator.
    ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
        .iter()
        .fold(text, |text, sign| text.replace(&format!(" {sign}("), &format!(" {sign} (")))
}
