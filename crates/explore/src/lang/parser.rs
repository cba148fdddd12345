//! Tokens into programs: recursive descent, with a limit on the depth, on the size of expressions
//! and on what loops do.

use super::ast::{Assertion, Expr, Key, Op, Session, Stmt, Transaction};
use super::lexer::{Token, tokens, too_large};
use super::{LangError, Source, Spot};
use crate::levels::supported;
use rustc_hash::FxHashSet;
use seriatim_isolation::Level;

/// How deep blocks and parentheses may be nested.
const DEPTH_MAX: usize = 40;
/// How many parts the expressions of a statement may have.
const PARTS_MAX: usize = 400;
/// How often a loop may go round, those around it included.
const ROUNDS_MAX: i64 = 1000;
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

/// Operators by how tightly they bind, loosest first.
const OPERATORS: [&[(&str, Op)]; 5] = [
    &[("||", Op::Or)],
    &[("&&", Op::And)],
    &[
        ("==", Op::Equal),
        ("!=", Op::Differs),
        ("<=", Op::AtMost),
        (">=", Op::AtLeast),
        ("<", Op::Less),
        (">", Op::Greater),
    ],
    &[("+", Op::Plus), ("-", Op::Minus)],
    &[("*", Op::Times), ("/", Op::Divided), ("%", Op::Modulo)],
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

    /// Adds a statement, or passes a semicolon. `end` is what else might come.
    fn stmt_into(&mut self, body: &mut Vec<Stmt>, end: &str) -> Parsed<()> {
        if !self.takes(";") {
            body.push(self.stmt(end)?);
        }
        Ok(())
    }

    fn stmt(&mut self, end: &str) -> Parsed<Stmt> {
        self.parts = 0;
        if self.takes("write") {
            return self.write();
        }
        if self.takes("abort") {
            return Ok(Stmt::Abort);
        }
        if self.takes("assert") {
            return Ok(Stmt::Assert(self.assertion()?));
        }
        if self.takes("if") {
            return self.condition();
        }
        if self.takes("repeat") {
            return self.repetition();
        }
        if self.takes("for") {
            return self.count();
        }
        match self.token() {
            Token::Name(word) if word == "read" => {
                let hint = "write `a := read(x)`";
                self.fail("what is read must go somewhere", hint)
            }
            Token::Name(name) if !WORDS.contains(&name.as_str()) => self.assignment(),
            _ => self.expected(&format!("a statement or {end}")),
        }
    }

    fn assignment(&mut self) -> Parsed<Stmt> {
        let is_assigned = matches!(self.tokens.get(self.at + 1), Some((Token::Sign(":="), _)));
        if !is_assigned {
            self.is_from_here()?;
            self.is_no_call("write")?;
        }
        let name = self.name("local")?;
        self.must(":=")?;
        if self.takes("read") {
            let key = self.asked_key()?;
            return Ok(Stmt::Read(self.local(name), key));
        }
        self.is_no_call("read")?;
        let expr = self.expr()?;
        Ok(Stmt::Set(self.local(name), expr))
    }

    /// Fails at a name with a parenthesis behind it: only `word` can be called here.
    fn is_no_call(&self, word: &str) -> Parsed<()> {
        match (self.token(), self.tokens.get(self.at + 1)) {
            (Token::Name(name), Some((Token::Sign("("), _)))
                if !WORDS.contains(&name.as_str())
                    && !ELSEWHERE.iter().any(|(other, _)| name == other) =>
            {
                self.fail(
                    format!("there is no `{name}(…)` in the language"),
                    format!("did you mean `{word}`?"),
                )
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self) -> Parsed<Stmt> {
        self.must("(")?;
        let key = self.key()?;
        self.written.insert(key.name.clone());
        self.must(",")?;
        let expr = self.expr()?;
        self.must(")")?;
        Ok(Stmt::Write(key, expr))
    }

    fn condition(&mut self) -> Parsed<Stmt> {
        let condition = self.expr()?;
        let then = self.block()?;
        let mut other = Vec::new();
        if self.takes("else") {
            other = if self.takes("if") {
                self.deeper()?;
                let nested = self.condition()?;
                self.depth -= 1;
                vec![nested]
            } else {
                self.block()?
            };
        }
        Ok(Stmt::If(condition, then, other))
    }

    fn repetition(&mut self) -> Parsed<Stmt> {
        let spot = self.spot();
        let rounds = self.number()?;
        if rounds < 0 {
            let problem = format!("nothing can be repeated {rounds} times");
            return Err(LangError::new(spot, problem, "a loop goes round 0 times or more"));
        }
        Ok(Stmt::Repeat(rounds, self.round(rounds)?))
    }

    fn count(&mut self) -> Parsed<Stmt> {
        let name = self.name("local")?;
        self.must("in")?;
        let from = self.number()?;
        self.must("..")?;
        let to = self.number()?;
        let local = self.local(name);
        let rounds = to.saturating_sub(from).saturating_add(1);
        Ok(Stmt::For(local, from, to, self.round(rounds)?))
    }

    /// The body of a loop.
    fn round(&mut self, rounds: i64) -> Parsed<Vec<Stmt>> {
        let around = self.rounds;
        self.rounds = around.saturating_mul(rounds.max(1));
        if self.rounds > ROUNDS_MAX {
            return self.fail(
                format!("this goes round more than {ROUNDS_MAX} times"),
                "make the loop shorter",
            );
        }
        let body = self.block()?;
        self.rounds = around;
        Ok(body)
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self
                .fail(format!("this is nested more than {DEPTH_MAX} times"), "make it flatter");
        }
        Ok(())
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.must("{")?;
        self.deeper()?;
        let mut body = Vec::new();
        while !self.takes("}") {
            self.stmt_into(&mut body, "`}`")?;
        }
        self.depth -= 1;
        Ok(body)
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

    fn expr(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let expr = self.binary(0)?;
        self.depth -= 1;
        Ok(expr)
    }

    fn part(&mut self) -> Parsed<()> {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return self.fail(
                format!("this expression has more than {PARTS_MAX} parts"),
                "use locals for its parts",
            );
        }
        Ok(())
    }

    fn binary(&mut self, tightness: usize) -> Parsed<Expr> {
        let Some(operators) = OPERATORS.get(tightness) else { return self.unary() };
        let mut left = self.binary(tightness + 1)?;
        loop {
            let spot = self.spot();
            let sign = operators.iter().find(|(sign, _)| self.token() == &Token::Sign(sign));
            let Some(&(_, op)) = sign else { return Ok(left) };
            self.advance();
            self.part()?;
            let right = self.binary(tightness + 1)?;
            left = Expr::Both(spot, op, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.part()?;
        let spot = self.spot();
        if self.takes("!") {
            return Ok(Expr::Not(self.operand()?));
        }
        if self.takes("-") {
            // A sign belongs to its number: the smallest has no positive counterpart.
            return match *self.token() {
                Token::Number(digits) => Ok(Expr::Number(self.signed(digits, true)?)),
                _ => Ok(Expr::Minus(spot, self.operand()?)),
            };
        }
        if self.takes("(") {
            let inner = self.expr()?;
            self.must(")")?;
            return Ok(inner);
        }
        match self.token().clone() {
            Token::Number(digits) => Ok(Expr::Number(self.signed(digits, false)?)),
            Token::Name(word) if word == "final" => self.latest(),
            Token::Name(name) if name == "true" || name == "false" => {
                self.advance();
                Ok(Expr::Number(i64::from(name == "true")))
            }
            Token::Name(word) if word == "read" => {
                self.fail("a read is no expression", "read into a local first: `a := read(x)`")
            }
            Token::Name(_) => self.variable(),
            _ => self.expected("an expression"),
        }
    }

    /// What a sign in front of an expression is applied to.
    fn operand(&mut self) -> Parsed<Box<Expr>> {
        self.deeper()?;
        let inner = self.unary()?;
        self.depth -= 1;
        Ok(Box::new(inner))
    }

    fn latest(&mut self) -> Parsed<Expr> {
        if self.locals.is_some() {
            return self.fail(
                "transactions do not know what keys hold in the end",
                "read the key into a local",
            );
        }
        self.advance();
        Ok(Expr::Final(self.asked_key()?))
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

    /// A local: of the session inside of it, with the name of its session outside.
    fn variable(&mut self) -> Parsed<Expr> {
        let spot = self.spot();
        let is_known = |name: &str| self.locals.iter().flatten().any(|local| local == name);
        if !matches!(self.token(), Token::Name(name) if is_known(name)) {
            self.is_from_here()?;
        }
        let name = self.name("local")?;
        if let Some(locals) = &self.locals {
            let Some(number) = locals.iter().position(|known| *known == name) else {
                let hint = format!("set it before, as in `{name} := read(x)`");
                return Err(LangError::new(
                    spot,
                    format!("the local {name} has not been set"),
                    hint,
                ));
            };
            return Ok(Expr::Local(number));
        }
        let Some(session) = self.source.sessions.iter().position(|session| session.name == name)
        else {
            let hint = "outside of sessions write `session.local` or `final(key)`";
            return Err(LangError::new(
                spot,
                format!("there is no session {name} before this"),
                hint,
            ));
        };
        self.must(".")?;
        let spot = self.spot();
        let local = self.name("local")?;
        let locals = &self.source.sessions[session].locals;
        match locals.iter().position(|known| *known == local) {
            Some(number) => Ok(Expr::LocalOf(session, number)),
            None => {
                let hint = format!("its locals are: {}", locals.join(", "));
                Err(LangError::new(spot, format!("session {name} sets no local {local}"), hint))
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
