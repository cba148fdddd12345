//! The language of programs for `explore`, for people.

use seriatim_report::style::{BOLD, paint};
use seriatim_report::wrap;

/// What `explain` knows it by.
pub const NAMES: [&str; 5] = ["language", "lang", "tx", ".tx", "program"];

const EXAMPLE: &str = "\
# A seat that two people want.
init seats = 1
session alice {
    begin
        free := read(seats)
        if free > 0 { write(seats, free - 1); got := 1 } else { abort }
    commit
}
session bob {
    begin at ser
        free := read(seats)
        if free > 0 { write(seats, free - 1); got := 1 }
    commit
}
assert alice.got + bob.got <= 1
assert final(seats) >= 0
";

/// What there is, each with what it means.
const PARTS: [(&str, &str); 13] = [
    (
        "init x = 1, seat[3] = 0",
        "Initial values, one for a key. Keys without one hold 0; one that is read must have one, \
         or be written somewhere. A key is a name, or a name with numbers in brackets: seat[3], \
         seat[row][i + 1].",
    ),
    (
        "session NAME { … }",
        "Transactions that run one after the other. Sessions run at the same time.",
    ),
    (
        "begin … commit",
        "A transaction, at the level that --level says; all statements are in transactions.",
    ),
    (
        "begin at LEVEL … commit",
        "A transaction with a level of its own: true, rc, ra, cc, pc, si or ser.",
    ),
    ("a := read(x)", "Reads a key into a local. A transaction sees its own writes."),
    ("write(x, a + 1)", "Writes a key."),
    (
        "a := a * 2",
        "Sets a local. Locals belong to their session and go from one transaction to the next; \
         they hold 0 at first. One that is not set earlier in the text is an error. Numbers have \
         64 bits; there are + - * / %, == != < <= > >=, && || !, parentheses, true (1) and false \
         (0). A division by zero or a number that is too large aborts its transaction and violates \
         the assertions.",
    ),
    ("if a > 0 { … } else if … else { … }", "Anything but 0 is true."),
    (
        "repeat 3 { … }, for i in 1..3 { … }",
        "Loops inside of transactions. Their bounds are plain numbers, both included; nothing is \
         repeated less than 0 times.",
    ),
    (
        "abort",
        "Ends the transaction without its writes. Locals that it set stay set: the session has \
         seen what it read, and what it read \
         obeys the level. (Over HTTP the mock store forgets what an aborted transaction read, so \
         later ones may see more there.)",
    ),
    ("assert a <= 1", "In a transaction: about locals, at this place."),
    (
        "assert alice.got + final(x) == 1",
        "Outside of sessions, behind those that it names: about the end. alice.got is a local, \
         final(x) what a key holds, whichever of \
         the possible commit orders it was.",
    ),
    (
        "# or //",
        "A comment, up to the end of its line. A semicolon or a new line separates statements; \
         neither is needed.",
    ),
];

const LIMITS: &str = "Limits: 32 sessions, 128 transactions, 1000 rounds of a loop with those \
                      around it, nesting 40 deep, 400 parts of the \
    expressions of a statement, 10000 operations of a transaction.";

/// The page.
pub fn page(width: usize) -> String {
    let mut page =
        format!("{}\n\n", paint(BOLD, "The language of programs for `seriatim explore`"));
    EXAMPLE.lines().for_each(|line| page += &format!("    {line}\n"));
    page.push('\n');
    for (what, text) in PARTS {
        page += &format!("{}\n{}", paint(BOLD, what), wrap(text, "    ", width));
    }
    page + "\n" + &wrap(LIMITS, "", width)
}
