//! How transactions, keys, values and levels are called in sentences.
//!
//! Names come from files, so control characters in them are made visible (a file must not be able
//! to steer a terminal) and very long values are cut.

use super::statements;
use seriatim_check::{Age, OpRef, TxnRef, ValueRef};
use seriatim_history::{OpKind, TimeUnit};
use seriatim_isolation::Level;

/// The longest value that is quoted in full.
const VALUE_CHARS_MAX: usize = 60;
/// The longest list that is quoted in full.
const LIST_ELEMENTS_MAX: usize = 8;
/// How many of the last elements of a longer one are quoted.
const LIST_END: usize = 3;

/// A transaction: numbers of a file get a `t` in front, other names stand as they are.
pub(crate) fn txn(txn: &TxnRef) -> String {
    if txn.id.is_none() {
        return "the initial state".to_owned();
    }
    if is_number(&txn.name) { format!("t{}", txn.name) } else { clean(&txn.name) }
}

/// A transaction with its session, for the first mention.
pub(crate) fn who(reference: &TxnRef) -> String {
    if reference.id.is_none() {
        return txn(reference);
    }
    format!("{} (session {})", txn(reference), clean(&reference.session))
}

/// `x=1`; keys that are numbers are called `key 7`.
pub(crate) fn item(op: &OpRef) -> String {
    format!("{}={}", key(&op.key), value(&op.value))
}

/// What an operation does: `read x=1`, `write x=1`, `append 5 to x`; by its statement, if that is
/// known.
pub(crate) fn act(op: &OpRef) -> String {
    if let Some(told) = statements::act(op) {
        return told;
    }
    match op.kind {
        OpKind::Append => format!("append {} to {}", value(&op.value), key(&op.key)),
        _ => format!("{} {}", op.action(), item(op)),
    }
}

/// What a write does: `writes x=1`, `appends 5 to x`.
pub(crate) fn does(write: &OpRef) -> String {
    match write.kind {
        OpKind::Append => format!("appends {} to {}", value(&write.value), key(&write.key)),
        _ => format!("writes {}", item(write)),
    }
}

/// What a write did: `wrote x=1`, `appended 5 to x`.
pub(crate) fn did(write: &OpRef) -> String {
    match write.kind {
        OpKind::Append => format!("appended {} to {}", value(&write.value), key(&write.key)),
        _ => format!("wrote {}", item(write)),
    }
}

/// What a write wrote and whose it is: `x=1 of t2`, `the 5 that t2 appended to x`.
pub(crate) fn of(write: &OpRef) -> String {
    match (write.kind, write.txn.id) {
        (_, None) => format!("the initial {}", item(write)),
        (OpKind::Append, _) => {
            format!("the {} that {} {}", value(&write.value), txn(&write.txn), to(write))
        }
        _ => format!("{} of {}", item(write), txn(&write.txn)),
    }
}

/// Whether the list that `read` returned does not have what `append` appended.
pub(crate) fn lacks(read: &OpRef, append: &OpRef) -> bool {
    match &read.value {
        ValueRef::List(elements) => {
            !elements.iter().any(|element| ValueRef::Scalar(element.clone()) == append.value)
        }
        _ => true,
    }
}

fn to(append: &OpRef) -> String {
    format!("appended to {}", key(&append.key))
}

/// What the reader of `read` should have done: `seen x=1 or something newer`. A list may have an
/// append and yet not as its last element.
pub(crate) fn unseen(read: &OpRef, write: &OpRef) -> String {
    match write.kind {
        OpKind::Append if lacks(read, write) => format!("seen {}", of(write)),
        OpKind::Append => format!("found {} behind all others in the list", of(write)),
        _ => format!("seen {} or something newer", item(write)),
    }
}

/// `x=1`, of a value that no operation stands for.
pub(crate) fn assignment(name: &str, assigned: &ValueRef) -> String {
    format!("{}={}", key(name), value(assigned))
}

/// What `read` returned and whose it is: `x=1 from t2`, `the initial x=0`.
pub(crate) fn read_from(read: &OpRef, source: &OpRef) -> String {
    match source.txn.id {
        None => format!("the initial {}", item(read)),
        Some(_) => format!("{} from {}", item(read), txn(&source.txn)),
    }
}

pub(crate) fn key(name: &str) -> String {
    if is_number(name) { format!("key {name}") } else { word(name) }
}

/// A value, cut if it is very long.
pub(crate) fn value(value: &ValueRef) -> String {
    match value {
        ValueRef::Null => value.to_string(),
        ValueRef::Scalar(text) => word(text),
        ValueRef::List(elements) => list(elements, |_| false),
    }
}

/// A text, in quotes if it has blanks, cut if it is very long.
pub(crate) fn word(text: &str) -> String {
    let text = clean(text);
    let quoted = text.is_empty() || text.contains(' ');
    let text = if quoted { format!("\"{text}\"") } else { text };
    if text.chars().count() <= VALUE_CHARS_MAX { text } else { cut_in_the_middle(&text) }
}

fn cut_in_the_middle(text: &str) -> String {
    let half = VALUE_CHARS_MAX / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(text.chars().count() - half).collect();
    format!("{head}…{tail}")
}

/// `x=[… 7 8 … 50 51 52]`: a list of which `shown` matter beside the last elements.
pub(crate) fn item_with(op: &OpRef, shown: &[&ValueRef]) -> String {
    let ValueRef::List(elements) = &op.value else { return item(op) };
    let matters = |element: &String| {
        shown.iter().any(|value| matches!(value, ValueRef::Scalar(text) if text == element))
    };
    format!("{}={}", key(&op.key), list(elements, matters))
}

/// A list: of a long one the last elements, which say where it comes from, and those that matter.
fn list(elements: &[String], matters: impl Fn(&String) -> bool) -> String {
    let cleaned: Vec<String> = elements.iter().map(|element| clean(element)).collect();
    let whole = format!("[{}]", cleaned.join(" "));
    if elements.len() <= LIST_ELEMENTS_MAX && whole.chars().count() <= VALUE_CHARS_MAX {
        return whole;
    }
    let mut words: Vec<String> = Vec::new();
    for (place, (element, text)) in elements.iter().zip(&cleaned).enumerate() {
        if place + LIST_END >= elements.len() || matters(element) {
            words.push(text.clone());
        } else if words.last().is_none_or(|word| word != "…") {
            words.push("…".to_owned());
        }
    }
    let short = format!("[{}]", words.join(" "));
    match short.chars().count() <= VALUE_CHARS_MAX {
        true => short,
        false => cut_list(&cleaned),
    }
}

/// A list whose elements are long: the first and the last ones, whole if they are short enough.
fn cut_list(elements: &[String]) -> String {
    let whole = format!("[{}]", elements.join(" "));
    // Each with the bracket or blank before it; the end has a bracket behind it, too.
    let lengths = || elements.iter().map(|element| element.len() + 1);
    let half = VALUE_CHARS_MAX / 2;
    let (first, last) = (fitting(half, lengths()), fitting(half - 1, lengths().rev()));
    if first == 0 || last == 0 {
        return cut_in_the_middle(&whole);
    }
    let (head, tail) = (&elements[..first], &elements[elements.len() - last..]);
    format!("[{} … {}]", head.join(" "), tail.join(" "))
}

/// How many of these lengths fit into `room`.
fn fitting(room: usize, lengths: impl Iterator<Item = usize>) -> usize {
    let sums = lengths.scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= room).count()
}

/// ` (file:line)`, if it is known; without the directories, which the list of operations has.
pub(crate) fn at(op: &OpRef) -> String {
    let Some(place) = &op.place else { return String::new() };
    let full = place.to_string();
    let short = full.rsplit(['/', '\\']).next().unwrap_or(&full);
    format!(" ({})", clean(short))
}

fn is_number(name: &str) -> bool {
    let digits = name.strip_prefix('-').unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `text` with control characters made visible, and what else would change how its neighbours are
/// shown, or is no character.
pub fn clean(text: &str) -> String {
    if !text.chars().any(is_unclean) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|c| if is_unclean(c) { c.escape_default().collect() } else { vec![c] })
        .collect()
}

fn is_unclean(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_none = c as u32 & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    c.is_control() || is_direction || is_none
}

/// Levels that forbid something, in short: whatever one level of the ladder forbids, those above it
/// forbid too.
pub(crate) fn levels(levels: &[Level]) -> String {
    let beside = levels
        .iter()
        .filter(|&&level| level == Level::CutIsolation)
        .map(|level| format!("{level}, "));
    let on_ladder: Vec<Level> =
        levels.iter().copied().filter(|&level| level != Level::CutIsolation).collect();
    let lowest = match on_ladder.as_slice() {
        [] => String::new(),
        [only] => only.to_string(),
        [lowest, ..] => format!("{lowest} and above"),
    };
    beside.collect::<String>() + &lowest
}

/// `a, b and c`.
pub(crate) fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// How old something is, in words.
pub(crate) fn age(age: Age) -> String {
    match age.unit {
        TimeUnit::Nanoseconds => age.to_string(),
        TimeUnit::Unknown if age.amount == 1 => "1 unit of time".to_owned(),
        TimeUnit::Unknown => format!("{age} units of time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
        assert_eq!(clean("a\u{202e}b\u{ffff}"), "a\\u{202e}b\\u{ffff}");
    }

    #[test]
    fn long_values_are_cut_in_the_middle() {
        let cut = word(&"12".repeat(500));
        assert!(cut.contains('…') && cut.chars().count() == VALUE_CHARS_MAX + 1, "{cut}");
    }

    #[test]
    fn of_a_long_list_the_end_is_told_and_what_matters() {
        let numbers: Vec<String> = (0..53).map(|number| number.to_string()).collect();
        assert_eq!(list(&numbers, |_| false), "[… 50 51 52]");
        let matters = |element: &String| element == "7" || element == "8";
        assert_eq!(list(&numbers, matters), "[… 7 8 … 50 51 52]");
        assert_eq!(list(&numbers[..8], |_| false), "[0 1 2 3 4 5 6 7]");
        // The text of an element may have blanks; it is not cut there.
        let texts: Vec<String> = (0..20).map(|number| format!("number {number}")).collect();
        assert_eq!(list(&texts, |_| false), "[… number 17 number 18 number 19]");
        let long: Vec<String> = (0..9).map(|number| number.to_string().repeat(25)).collect();
        assert!(list(&long, |_| false).contains('…'));
    }

    #[test]
    fn numbers_are_not_mistaken_for_names() {
        assert_eq!(key("7"), "key 7");
        assert_eq!(key("x7"), "x7");
    }

    #[test]
    fn values_with_blanks_are_quoted_and_lists_are_not() {
        assert_eq!(word("Found it!"), "\"Found it!\"");
        // A text is no list, whatever it looks like.
        assert_eq!(word("[1 2]"), "\"[1 2]\"");
        assert_eq!(list(&["1".to_owned(), "2".to_owned()], |_| false), "[1 2]");
    }
}
