//! SEARCH and CYCLE behind a query of WITH. `sqlparser` has no place for them, so that they become
//! one more query behind it, whose name says what was written.

use super::rewrite::{marked, plain, solid, word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What was written behind a query of WITH.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct SearchCycle {
    pub search: Option<Search>,
    pub cycle: Option<Cycle>,
}

/// SEARCH … FIRST BY columns SET name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Search {
    pub breadth: bool,
    pub by: Vec<String>,
    pub set: String,
}

/// CYCLE columns SET mark TO value DEFAULT default USING path; values as they are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cycle {
    pub columns: Vec<String>,
    pub mark: String,
    pub value: String,
    pub default: String,
    pub path: String,
}

/// Between parts, and between the names of a list: no text of a client has these in a name.
const PART: &str = "\0,";
const NAME: &str = "\0.";

impl SearchCycle {
    fn encoded(&self) -> String {
        let search = self.search.as_ref().map_or_else(String::new, |it| {
            let kind = if it.breadth { "breadth" } else { "depth" };
            [kind, &it.by.join(NAME), &it.set].join(PART)
        });
        let cycle = self.cycle.as_ref().map_or_else(String::new, |it| {
            [&it.columns.join(NAME), &it.mark, &it.value, &it.default, &it.path]
                .map(|it| &**it)
                .join(PART)
        });
        format!("{search}\0;{cycle}")
    }

    /// What the name of a query says, if it is one of these.
    pub(crate) fn decoded(name: &str) -> Option<SearchCycle> {
        let (search, cycle) = name.strip_prefix(super::MARK)?.split_once("\0;")?;
        let names = |list: &str| list.split(NAME).map(str::to_owned).collect();
        let search: Vec<&str> = search.split(PART).collect();
        let search = match search[..] {
            [kind, by, set] => {
                Some(Search { breadth: kind == "breadth", by: names(by), set: set.to_owned() })
            }
            _ => None,
        };
        let cycle: Vec<&str> = cycle.split(PART).collect();
        let cycle = match cycle[..] {
            [columns, mark, value, default, path] => Some(Cycle {
                columns: names(columns),
                mark: mark.to_owned(),
                value: value.to_owned(),
                default: default.to_owned(),
                path: path.to_owned(),
            }),
            _ => None,
        };
        Some(SearchCycle { search, cycle })
    }
}

/// Rewrites tokens. What is not written as it must be stays, and is an error of syntax.
pub(super) fn rewrite(text: &str, mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let mut found = Vec::new();
    for at in 1..places.len() {
        let follows_query = tokens[places[at - 1]].token == Token::RParen;
        let mut reader = Reader { text, tokens: &tokens, places: &places, at };
        if follows_query
            && (reader.is("search") || reader.is("cycle"))
            && let Some(clauses) = reader.clauses()
        {
            found.push((at, reader.at, clauses));
        }
    }
    for (from, to, clauses) in found.into_iter().rev() {
        let like = tokens[places[from]].clone();
        let end = places.get(to - 1).copied().unwrap_or(tokens.len() - 1);
        let word = |text: &str| plain(Token::make_keyword(text), &like);
        let made = [
            plain(Token::Comma, &like),
            marked(&clauses.encoded(), &like),
            word("AS"),
            plain(Token::LParen, &like),
            word("SELECT"),
            plain(Token::Number("1".to_owned(), false), &like),
            plain(Token::RParen, &like),
        ];
        tokens.splice(places[from]..=end, made);
    }
    tokens
}

struct Reader<'t> {
    text: &'t str,
    tokens: &'t [TokenWithSpan],
    places: &'t [usize],
    at: usize,
}

impl Reader<'_> {
    fn token(&self) -> Option<&TokenWithSpan> {
        self.places.get(self.at).map(|&place| &self.tokens[place])
    }

    fn is(&self, want: &str) -> bool {
        self.token().and_then(word).as_deref() == Some(want)
    }

    fn eat(&mut self, want: &str) -> Option<()> {
        let is_it = self.is(want);
        self.at += usize::from(is_it);
        is_it.then_some(())
    }

    fn name(&mut self) -> Option<String> {
        let Token::Word(found) = &self.token()?.token else { return None };
        let name = match found.quote_style {
            Some(_) => found.value.clone(),
            None => found.value.to_lowercase(),
        };
        self.at += 1;
        Some(name)
    }

    fn names(&mut self) -> Option<Vec<String>> {
        let mut names = vec![self.name()?];
        while self.token()?.token == Token::Comma {
            self.at += 1;
            names.push(self.name()?);
        }
        Some(names)
    }

    /// The text up to a word.
    fn text_before(&mut self, end: &str) -> Option<String> {
        let from = super::position(self.text, self.token()?.span.start) as usize;
        let mut to = from;
        while !self.is(end) {
            to = super::position(self.text, self.token()?.span.end) as usize;
            self.at += 1;
        }
        (to > from).then(|| self.text.chars().skip(from - 1).take(to - from).collect())
    }

    fn clauses(&mut self) -> Option<SearchCycle> {
        let mut clauses = SearchCycle::default();
        if self.is("search") {
            clauses.search = Some(self.search()?);
        }
        if self.is("cycle") {
            clauses.cycle = Some(self.cycle()?);
        }
        Some(clauses)
    }

    fn search(&mut self) -> Option<Search> {
        self.eat("search")?;
        let breadth = self.eat("breadth").is_some();
        if !breadth {
            self.eat("depth")?;
        }
        self.eat("first")?;
        self.eat("by")?;
        let by = self.names()?;
        self.eat("set")?;
        Some(Search { breadth, by, set: self.name()? })
    }

    fn cycle(&mut self) -> Option<Cycle> {
        self.eat("cycle")?;
        let columns = self.names()?;
        self.eat("set")?;
        let mark = self.name()?;
        let (mut value, mut default) = ("true".to_owned(), "false".to_owned());
        if self.eat("to").is_some() {
            value = self.text_before("default")?;
            self.eat("default")?;
            default = self.text_before("using")?;
        }
        self.eat("using")?;
        Some(Cycle { columns, mark, value, default, path: self.name()? })
    }
}
