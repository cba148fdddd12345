//! What PostgreSQL's grammar has and is not here, by its words: it is refused by name and not as an
//! error of syntax.

use super::rewrite::{solid, word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What looks like a function of XML and has a grammar of its own.
const XML: [&str; 10] = [
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// What is not here, if a statement has it.
pub(super) fn find(tokens: &[TokenWithSpan]) -> Option<&'static str> {
    let places = solid(tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let is_call =
        |at: usize| places.get(at + 1).is_some_and(|&it| tokens[it].token == Token::LParen);
    (0..places.len()).find_map(|at| {
        if is_call(at) && XML.iter().any(|name| is(at, name)) {
            return Some("XML");
        }
        if is(at, "collation") && is(at + 1, "for") && is_call(at + 1) {
            return Some("COLLATION FOR");
        }
        if is(at, "where") && is(at + 1, "current") && is(at + 2, "of") {
            return Some("WHERE CURRENT OF");
        }
        if at == 0 && (is(0, "commit") || is(0, "rollback")) && is(1, "prepared") {
            return Some("a prepared transaction");
        }
        None
    })
}
