//! Long chains of operators: `1 + 1 + 1 + …` is a tree as deep as it is long, and whatever walks or
//! drops that tree needs as much of the stack.

use crate::error::{Result, SqlError, code};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// So many tokens may follow each other without a comma, at one level of parentheses. A tree of
/// that depth is dropped within a stack of a few megabytes.
const CHAIN_MAX: usize = 100_000;

/// So many parentheses may stand in each other. The parser takes fewer, but what is done to the
/// tokens before looks for the end of each.
const NESTING_MAX: usize = 1_000;

/// An error if a chain is too long, or parentheses are too deep.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut counts = vec![0_usize];
    for token in tokens {
        match token.token {
            Token::Whitespace(_) => {}
            Token::LParen | Token::LBracket if counts.len() > NESTING_MAX => return Err(too_deep()),
            Token::LParen | Token::LBracket => counts.push(0),
            Token::RParen | Token::RBracket if counts.len() > 1 => {
                counts.pop();
            }
            Token::Comma | Token::SemiColon => count(&mut counts, |_| 0)?,
            _ => count(&mut counts, |count| count + 1)?,
        }
    }
    Ok(())
}

fn count(counts: &mut [usize], change: impl FnOnce(usize) -> usize) -> Result<()> {
    let Some(last) = counts.last_mut() else { return Ok(()) };
    *last = change(*last);
    if *last <= CHAIN_MAX { Ok(()) } else { Err(too_deep()) }
}

/// What a statement that is too deep is told.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
}
