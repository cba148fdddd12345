use super::*;

fn values(text: &str) -> Result<Vec<Edn>, String> {
    let source = Source::new("h");
    Forms::new(text.as_bytes(), &source)
        .map(|form| form.map(|f| f.value).map_err(|e| e.to_string()))
        .collect()
}

#[test]
fn everything_that_histories_contain_is_read() {
    let text = "; note\n#jepsen.history.Op{:a 1, \"b\\n\\u0041\" [nil -2N 1.5 2/3 \\] x]} \
                #{:s} (true)";
    let expected = [
        Edn::Map(vec![
            Edn::Keyword("a".into()),
            Edn::Int(1),
            Edn::Str("b\nA".into()),
            Edn::Seq(vec![
                Edn::Nil,
                Edn::Int(-2),
                Edn::Other("1.5".into()),
                Edn::Other("2/3".into()),
                Edn::Other("\\]".into()),
                Edn::Other("x".into()),
            ]),
        ]),
        Edn::Set(vec![Edn::Keyword("s".into())]),
        Edn::Seq(vec![Edn::Other("true".into())]),
    ];
    assert_eq!(values(text).unwrap(), expected);
    assert_eq!(values("[{} {}\n]\n").unwrap(), [Edn::Map(vec![]), Edn::Map(vec![])]);
}

fn other(text: &str) -> Edn {
    Edn::Other(text.into())
}

fn keyword(text: &str) -> Edn {
    Edn::Keyword(text.into())
}

#[test]
fn what_is_discarded_counts_for_nothing() {
    let one = [Edn::Seq(vec![Edn::Int(1)])];
    for text in [
        "([1])",
        "#_a ([1])",
        "([#_ #_ a b 1])",
        "([1 #_{:a #_b :c}])",
        "(#_[2] [1] #_3) #_4",
        "(^{:line 1} [1])",
        "(#^String ^:private [1 ^:x #_ y])",
        "#jepsen.history/History ([1])",
        "(#a/b #c [#d 1])",
    ] {
        assert_eq!(values(text).unwrap(), one, "{text}");
    }
}

#[test]
fn numbers_are_read_in_every_radix() {
    let text = "(0 -0 +7 5N 0x1F -0xfN 017 2r101 36rz 18446744073709551615)";
    let numbers = [0, 0, 7, 5, 31, -15, 15, 5, 35, i128::from(u64::MAX)];
    assert_eq!(values(text).unwrap(), numbers.map(Edn::Int));
    let rest = ["08", "1.5", "1.5M", "5M", "1e9", "1/2", "-", "1r0", "18446744073709551616"];
    assert_eq!(values(&format!("({})", rest.join(" "))).unwrap(), rest.map(other));
}

#[test]
fn scalars_that_no_history_needs_keep_their_text() {
    let rest = [
        "##Inf",
        "##-Inf",
        "##NaN",
        r"\a",
        r"\newline",
        r"\u0041",
        r"\,",
        r"\(",
        "a/b",
        "true",
        r#"#"a\"b\\""#,
        "->x'#",
    ];
    assert_eq!(values(&format!("({})", rest.join(" "))).unwrap(), rest.map(other));
    let text = "(#inst \"1985\" #uuid \"f81d\" \"\\ud83d\\ude00\\101\")";
    let strings = ["1985", "f81d", "\u{1f600}A"].map(|text| Edn::Str(text.into()));
    assert_eq!(values(text).unwrap(), strings);
}

#[test]
fn a_namespaced_map_gives_its_keys_the_namespace() {
    let map = |name: &str| vec![Edn::Map(vec![keyword(name), keyword("b")])];
    assert_eq!(values("#:op{:type :b}").unwrap(), map("op/type"));
    assert_eq!(values("#::o {:type :b}").unwrap(), map("o/type"));
    assert_eq!(values("#::{:type :b}").unwrap(), map("type"));
    assert_eq!(values("#:op{:_/type :b}").unwrap(), map("type"));
    assert_eq!(values("#:op{:x/type :b}").unwrap(), map("x/type"));
}

#[test]
fn mistakes_in_rare_syntax_have_a_place() {
    let cases = [
        ("([1\n #_])", "h:2:2: expected a value after this"),
        ("{:a #inst}", "h:1:5: expected a value after this, found a closing bracket"),
        ("1 #inst", "h:1:3: expected a value after this, found the end of the file"),
        ("1 #_", "h:1:5: expected a value, found the end of the file"),
        ("(##Ing)", "h:1:2: expected ##Inf, ##-Inf or ##NaN, found `##Ing`"),
        ("(#'a)", "h:1:2: expected a value, found `#'a)`, which is no EDN"),
        ("#:a [1]", "h:1:1: expected a map after `#:a`"),
        ("(#\"a", "h:1:2: this string never ends"),
        ("(\"\\ud83d\")", "h:1:4: expected four hexadecimal digits"),
        ("(\"\\777\")", "h:1:4: an octal escape ends at"),
    ];
    for (text, start) in cases {
        let error = values(text).unwrap_err();
        assert!(error.starts_with(start), "{text}: {error}");
    }
    assert!(values(&"#_".repeat(1000)).unwrap_err().contains("nested more than 100"));
    assert!(values(&"#a ".repeat(1000)).unwrap_err().contains("nested more than 100"));
    assert!(values(&"^".repeat(1000)).unwrap_err().contains("nested more than 100"));
}

#[test]
fn mistakes_have_a_place() {
    assert!(
        values("{:a 1}\n {:a [1 2}")
            .unwrap_err()
            .starts_with("h:2:10: this bracket closes nothing")
    );
    assert!(values("{:a").unwrap_err().starts_with("h:1:1: `}` is missing"));
    assert!(values("{:a}").unwrap_err().contains("a value for each key"));
    assert!(values(&"[".repeat(1000)).unwrap_err().contains("nested more than 100"));
    assert!(values("[{}").unwrap_err().contains("truncated"));
}
