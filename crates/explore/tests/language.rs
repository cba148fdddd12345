//! The text language: what it means, and where it points when something is wrong.

use seriatim_explore::Explorer;
use seriatim_explore::lang::Source;
use seriatim_isolation::Level;

/// How many histories there are, and the first failure.
fn explored(text: &str, level: Level) -> (u64, Option<String>) {
    let source = Source::parse(text).unwrap();
    let program = source.program();
    let result = Explorer::new(&program, level).all().run(&|end| source.check(end)).unwrap();
    (result.tally.histories, result.counterexample.map(|found| found.reason))
}

/// The first failure of a program with one session, whose body is `text`.
fn alone(text: &str) -> Option<String> {
    explored(&format!("init k = 7, a[1][2] = 3 session s {{ begin {text} commit }}"), Level::Causal)
        .1
}

#[test]
fn expressions_are_those_of_most_languages() {
    for truth in [
        "x := 2 + 3 * 4 - 6 / 2; assert x == 11",
        "x := -7 % 3; assert x == -1",
        "assert 1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2 && !(1 == 2)",
        "x := 0; assert x == 0 || 1 / x == 5",
        "assert true && !false && !!7 == 1",
        "x := read(k); y := read(a[x - 6][2]); assert x == 7 && y == 3",
        "write(k, 1); write(k, 2); x := read(k); assert x == 2",
        "x := 0; repeat 3 { repeat 2 { x := x + 1 } }; assert x == 6",
        "x := 0; for i in 2..4 { x := x * 10 + i }; assert x == 234",
        "x := 0; for i in 4..2 { x := 1 }; assert x == 0",
        "x := 1; if x == 2 { x := 10 } else if x == 1 { x := 20 } else { x := 30 } assert x == 20",
    ] {
        assert_eq!(alone(truth), None, "{truth}");
    }
}

#[test]
fn what_is_false_or_cannot_be_computed_is_a_failure() {
    assert_eq!(
        alone("x := read(k)\nassert x == (8 - 2) || x > 7").as_deref(),
        Some("`assert x == (8 - 2) || x > 7` (line 2) is false")
    );
    assert_eq!(
        alone("x := 0; y := 1 / x").as_deref(),
        Some("division by zero (line 1, column 58)")
    );
    assert_eq!(
        alone("x := 9223372036854775807\ny := x + 1").as_deref(),
        Some("a number is too large (line 2, column 8)")
    );
}

#[test]
fn an_abort_leaves_no_trace_in_the_database() {
    let text = "session a { begin write(x, 1); seen := 1; abort; seen := 2 commit }
                session b { begin x := read(x) commit }
                assert b.x == 0 && a.seen == 1 && final(x) == 0";
    assert_eq!(explored(text, Level::ReadCommitted), (1, None));
}

#[test]
fn final_values_are_those_of_every_possible_order() {
    let text = "session a { begin write(x, 1) commit }
                session b { begin write(x, 2) commit }
                assert final(x) == 1";
    assert!(explored(text, Level::Serializable).1.unwrap().ends_with("with final(x) = 2"));
    let both = "session a { begin write(x, 1); write(y, 1) commit }
                session b { begin write(x, 2); write(y, 2) commit }
                assert final(x) == final(y)";
    assert_eq!(explored(both, Level::ReadCommitted), (1, None));
    let read =
        "session a { begin write(x, 1) commit begin write(x, 2); if 0 { write(nobody, 1) } commit }
                session b { begin x := read(x); write(y, x) commit }
                assert final(x) == 2 && final(y) == b.x && final(nobody) == 0";
    assert_eq!(explored(read, Level::ReadCommitted), (3, None));
}

#[test]
fn transactions_may_have_levels_of_their_own() {
    let text = |level: &str| {
        format!(
            "session a {{ begin at {level} n := read(x); write(x, n + 1) commit }}
             session b {{ begin at {level} n := read(x); write(x, n + 1) commit }}
             assert a.n + b.n == 1"
        )
    };
    assert!(explored(&text("pc"), Level::Serializable).1.is_some());
    assert_eq!(explored(&text("si"), Level::ReadCommitted).1, None);
}

#[test]
fn errors_point_at_line_and_column() {
    for (text, wanted) in [
        (
            "",
            "line 1, column 1: the program has no session (write `session name { begin … commit \
             }`)",
        ),
        (
            "session a {\n  begin\n    x = 1\n  commit }",
            "line 3, column 7: `=` is not expected here (expected `:=`)",
        ),
        (
            "session a { begin x := y commit }",
            "line 1, column 24: the local y has not been set (set it before, as in `y := read(x)`)",
        ),
        (
            "session a { begin",
            "line 1, column 18: the end of the file is not expected here (expected a statement or \
             `commit`)",
        ),
        (
            "session a { } session a { }",
            "line 1, column 23: there is a session a already (choose another name)",
        ),
        (
            "session a { begin at sser commit }",
            "line 1, column 22: programs cannot be explored at strict serializability (expected \
             true, rc, ra, cc, pc, si or ser)",
        ),
        (
            "session a { begin at x commit }",
            "line 1, column 22: there is no level x (expected true, rc, ra, cc, pc, si or ser)",
        ),
        (
            "session a { begin x := 1 commit }\nassert a.y",
            "line 2, column 10: session a sets no local y (its locals are: x)",
        ),
        (
            "session a { }\nassert x == 1",
            "line 2, column 8: there is no session x before this (outside of sessions write \
             `session.local` or `final(key)`)",
        ),
        (
            "session a { begin x := final(y) commit }",
            "line 1, column 24: transactions do not know what keys hold in the end (read the key \
             into a local)",
        ),
        (
            "session a { begin write(read, 1) commit }",
            "line 1, column 25: `read` is a word of the language (choose another key)",
        ),
        (
            "session a { begin x := read(k) + 1 commit }",
            "line 1, column 32: `+` is not expected here (expected a statement or `commit`)",
        ),
        (
            "init x = 99999999999999999999",
            "line 1, column 10: the number 99999999999999999999 is too large (numbers have 64 \
             bits)",
        ),
        (
            "session é { begin x := 1 $ commit }",
            "line 1, column 26: `$` means nothing here (remove it)",
        ),
        (
            "session a { begin repeat 2000 { } commit }",
            "line 1, column 31: this goes round more than 1000 times (make the loop shorter)",
        ),
    ] {
        assert_eq!(Source::parse(text).unwrap_err().to_string(), wanted);
    }
}

#[test]
fn deep_and_long_programs_are_refused_in_time() {
    let deep = format!(
        "session a {{ begin x := {}1{} commit }}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert!(Source::parse(&deep).unwrap_err().problem.contains("nested"));
    let blocks = format!("session a {{ begin {} commit }}", "if 1 { ".repeat(100_000));
    assert!(Source::parse(&blocks).unwrap_err().problem.contains("nested"));
    let elses = format!("session a {{ begin {} commit }}", "if 1 { } else ".repeat(100_000));
    assert!(Source::parse(&elses).unwrap_err().problem.contains("nested"));
    let minus = format!("session a {{ begin x := {}1 commit }}", "- ".repeat(100_000));
    assert!(Source::parse(&minus).unwrap_err().problem.contains("nested"));
    let long = format!("session a {{ begin x := 1{} commit }}", " + 1".repeat(100_000));
    assert!(Source::parse(&long).unwrap_err().problem.contains("parts"));
    let many = format!("session a {{ {} }}", "begin commit ".repeat(1000));
    assert!(Source::parse(&many).unwrap_err().problem.contains("transactions"));
}

#[test]
fn the_smallest_number_can_be_written() {
    for truth in [
        "x := -9223372036854775808; assert x + 1 == -9223372036854775807",
        "x := 0 - 9223372036854775807 - 1; assert x == -9223372036854775808",
        "x := -5; assert x - -9223372036854775808 == 9223372036854775803",
        "write(k, -9223372036854775808); x := read(k); assert x == - 9223372036854775808",
    ] {
        assert_eq!(alone(truth), None, "{truth}");
    }
    let initial = "init x = -9223372036854775808 session s { begin a := read(x) commit }
                   assert s.a == -9223372036854775808";
    assert_eq!(explored(initial, Level::Causal).1, None);
    for (text, place) in [
        ("init x = 9223372036854775808", "column 10"),
        ("init x = -9223372036854775809", "column 11"),
        ("session s { begin a := 9223372036854775808 commit }", "column 24"),
        ("session s { begin a := 3 - 9223372036854775808 commit }", "column 28"),
    ] {
        let error = Source::parse(text).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains("is too large"), "{error}");
    }
}

#[test]
fn the_negative_of_the_smallest_number_is_too_large() {
    let smallest = "a := -9223372036854775808;";
    for (computed, wanted) in [
        ("b := -a", Some("a number is too large (line 2, column 6)")),
        ("b := 1 - -a", Some("a number is too large (line 2, column 10)")),
        ("b := a / -1", Some("a number is too large (line 2, column 8)")),
        ("b := a * -1", Some("a number is too large (line 2, column 8)")),
        ("b := a % 0", Some("division by zero (line 2, column 8)")),
        ("b := a % -1; assert b == 0", None),
    ] {
        assert_eq!(alone(&format!("{smallest}\n{computed}")).as_deref(), wanted, "{computed}");
    }
}

#[test]
fn nothing_is_repeated_less_than_zero_times() {
    let text = |rounds: &str| format!("session s {{ begin repeat {rounds} {{ x := 1 }} commit }}");
    assert!(Source::parse(&text("0")).is_ok());
    assert_eq!(
        Source::parse(&text("-1")).unwrap_err().to_string(),
        "line 1, column 26: nothing can be repeated -1 times (a loop goes round 0 times or more)"
    );
}

#[test]
fn a_key_that_is_read_has_a_value_from_somewhere() {
    let text = "session s { begin a := read(tikets) write(tickets, 1) commit }";
    assert_eq!(
        Source::parse(text).unwrap_err().to_string(),
        "line 1, column 29: nobody writes tikets, and it has no initial value (keys that have \
         values are: tickets; or write `init tikets = 0`)"
    );
    let nothing = "session s { begin a := read(x[1]) commit }";
    assert_eq!(
        Source::parse(nothing).unwrap_err().to_string(),
        "line 1, column 29: nobody writes x, and it has no initial value (write to x, or give it a \
         value with `init x = 0`)"
    );
    for fine in [
        "session s { begin a := read(x) commit } session t { begin write(x, 1) commit }",
        "session s { begin a := read(x[2]) commit } init x[2] = 1",
        "session s { begin a := read(x[2]) commit } session t { begin i := 2 write(x[i], 1) \
         commit }",
        "session s { begin for i in 1..2 { a := read(x[i]) } commit } init x[2] = 1",
    ] {
        assert!(Source::parse(fine).is_ok(), "{fine}");
    }
    for other in [
        "session s { begin a := read(x[1]) commit } init x[2] = 1",
        "session s { begin for i in 4..4 { a := read(x[i - 3]) } commit } init x[2] = 1",
        "session s { begin a := read(x[1]) for i in 2..3 { write(x[i], 0) } commit }",
    ] {
        let error = Source::parse(other).unwrap_err().to_string();
        assert!(error.contains("nobody writes x[1], and it has no initial value"), "{error}");
    }
}

#[test]
fn a_computed_key_that_has_no_value_is_named_with_its_line() {
    let text = "init s[1] = 7, one = 1\nsession a {\n begin i := read(one)\n \
                x := read(s[i + 5]) commit\n}\n\
                assert a.x == 0\n";
    let told = "nobody writes s[6], and it has no initial value (line 4, column 12)";
    assert_eq!(explored(text, Level::Causal).1.as_deref(), Some(told));
    let at_the_end = "init s[1] = 7, one = 1\nsession a { begin i := read(one) commit }\n\
                      assert final(s[a.i + 5]) == 0\n";
    let told = "nobody writes s[6], and it has no initial value (line 3, column 14)";
    assert_eq!(explored(at_the_end, Level::Causal).1.as_deref(), Some(told));
}
