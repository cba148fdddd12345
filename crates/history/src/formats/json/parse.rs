//! From text to a JSON value, by descent. The depth is limited, and with it what is done with the
//! value afterwards.

use super::value::{Json, Members};

/// How deeply arrays and objects may be nested.
const DEPTH_MAX: usize = 128;

/// What is wrong, and at which byte.
#[derive(Debug)]
pub(super) struct Mistake {
    pub at: usize,
    pub problem: String,
}

/// The value that `text` is.
pub(super) fn parse(text: &[u8]) -> Result<Json, Mistake> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let value = parser.value()?;
    parser.skip_blank();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.fail("expected nothing after the value")),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn fail(&self, problem: &str) -> Mistake {
        Mistake { at: self.at, problem: problem.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The next byte after blanks, if it is this one, is passed over.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_blank();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self) -> Result<Json, Mistake> {
        self.skip_blank();
        match self.peek() {
            Some(b'{') => self.nested(Parser::object),
            Some(b'[') => self.nested(Parser::array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.fail("expected a value")),
            None => Err(self.fail("expected a value, found the end")),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Mistake> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fail("expected a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    /// What stands in brackets, of which the first is here.
    fn nested(&mut self, inside: fn(&mut Self) -> Result<Json, Mistake>) -> Result<Json, Mistake> {
        if self.depth == DEPTH_MAX {
            return Err(self.fail("nested too deeply"));
        }
        self.depth += 1;
        self.at += 1;
        let value = inside(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Json, Mistake> {
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return Err(self.fail("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self) -> Result<Json, Mistake> {
        let (start, mut members) = (self.at, Vec::new());
        if self.take(b'}') {
            return Ok(Json::Object(Members::default()));
        }
        loop {
            self.skip_blank();
            if self.peek() != Some(b'"') {
                return Err(self.fail("expected the name of a member"));
            }
            let name = self.string()?;
            if !self.take(b':') {
                return Err(self.fail("expected `:`"));
            }
            members.push((name, self.value()?));
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return Err(self.fail("expected `,` or `}`"));
            }
        }
        // Which of two would be meant cannot be known.
        Members::new(members).map(Json::Object).map_err(|name| {
            let problem = format!("the name {} stands twice in this object", Json::String(name));
            Mistake { at: start - 1, problem }
        })
    }

    fn number(&mut self) -> Result<Json, Mistake> {
        let start = self.at;
        let is_negative = self.peek() == Some(b'-');
        self.at += usize::from(is_negative);
        match self.digits() {
            0 => return Err(self.fail("expected a digit")),
            1 => {}
            _ if self.text[start + usize::from(is_negative)] == b'0' => {
                return Err(Mistake { at: start, problem: "a number begins with 0".to_owned() });
            }
            _ => {}
        }
        let mut is_whole = true;
        if self.peek() == Some(b'.') {
            (self.at, is_whole) = (self.at + 1, false);
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            (self.at, is_whole) = (self.at + 1, false);
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.some_digits()?;
        }
        let text = str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        let integer = text.parse::<i128>().ok().filter(|_| is_whole && text != "-0");
        let fits = |number: &i128| (i64::MIN.into()..=u64::MAX.into()).contains(number);
        Ok(integer.filter(fits).map_or_else(|| Json::Number(text.into()), Json::Int))
    }

    /// Passes over digits; how many.
    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn some_digits(&mut self) -> Result<(), Mistake> {
        if self.digits() == 0 { Err(self.fail("expected a digit")) } else { Ok(()) }
    }

    /// A string, of which the first quote is here.
    fn string(&mut self) -> Result<String, Mistake> {
        self.at += 1;
        let mut read = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            let plain = str::from_utf8(&self.text[start..self.at]).map_err(|error| Mistake {
                at: start + error.valid_up_to(),
                problem: "not UTF-8".to_owned(),
            })?;
            read.push_str(plain);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(read);
                }
                Some(b'\\') => read.push(self.escaped()?),
                Some(_) => return Err(self.fail("a control character in a string")),
                None => return Err(self.fail("a string that never ends")),
            }
        }
    }

    /// The character behind a backslash, which is here.
    fn escaped(&mut self) -> Result<char, Mistake> {
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.fail("an escape that JSON does not have")),
        };
        self.at += 1;
        Ok(character)
    }

    /// The character of `uXXXX`, which is here, or of two of them.
    fn unicode(&mut self) -> Result<char, Mistake> {
        let first = self.code_unit()?;
        let is_pair = (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with(b"\\u");
        let mut units = vec![first];
        if is_pair {
            self.at += 1;
            units.push(self.code_unit()?);
        }
        let mut decoded = char::decode_utf16(units);
        match (decoded.next(), decoded.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(self.fail("half of a pair of surrogates")),
        }
    }

    fn code_unit(&mut self) -> Result<u16, Mistake> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4).and_then(|four| str::from_utf8(four).ok());
        let is_hex = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let unit = digits.filter(is_hex).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.fail("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same text, read by another parser.
    fn by_serde(text: &[u8]) -> Option<Json> {
        serde_json::from_slice(text).ok().map(of_serde)
    }

    fn of_serde(value: serde_json::Value) -> Json {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(value),
            Value::Number(number) => match number.as_i128() {
                Some(integer) => Json::Int(integer),
                None => Json::Number(number.to_string().into()),
            },
            Value::String(text) => Json::String(text),
            Value::Array(items) => items.into_iter().map(of_serde).collect::<Vec<_>>().into(),
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, value)| (name, of_serde(value)));
                Json::Object(Members::new(members.collect()).unwrap())
            }
        }
    }

    /// Numbers that are no integers are the same if they are the same when rounded: the other
    /// parser is not exact.
    fn rounded(json: Json) -> Json {
        match json {
            Json::Number(text) => match text.parse::<f64>() {
                Ok(number) => Json::Number(format!("{number:.10e}").into()),
                Err(_) => Json::Number(text),
            },
            Json::Array(items) => Json::Array(items.into_iter().map(rounded).collect()),
            Json::Object(members) => {
                let members = members.into_vec().into_iter();
                let members = members.map(|(name, value)| (name, rounded(value))).collect();
                Json::Object(Members::new(members).unwrap())
            }
            other => other,
        }
    }

    /// Both parsers say the same, but of a name that stands twice and of numbers that are too large
    /// to be rounded.
    fn compare(text: &[u8]) {
        let shown = String::from_utf8_lossy(text);
        match parse(text) {
            Ok(ours) => match by_serde(text) {
                Some(theirs) => {
                    assert_eq!(rounded(ours.clone()), rounded(theirs), "{shown}");
                    let written = ours.to_string();
                    assert_eq!(parse(written.as_bytes()).unwrap(), ours, "{shown}");
                    assert!(by_serde(written.as_bytes()).is_some(), "{written}");
                }
                None => {
                    let error = serde_json::from_slice::<serde_json::Value>(text).unwrap_err();
                    assert!(error.to_string().contains("out of range"), "{error}: {shown}");
                }
            },
            Err(Mistake { problem, at }) => {
                assert!(at <= text.len());
                let is_twice = problem.contains("stands twice");
                assert!(is_twice || by_serde(text).is_none(), "{problem} at {at}: {shown}");
            }
        }
    }

    /// Texts that are nearly JSON.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"b\":",
            "\\",
            "\\u00e9",
            "\\ud83d",
            "\\ude00",
            "\\n",
            "0",
            "-",
            "17",
            "1.5",
            "e",
            "E+3",
            "18446744073709551615",
            "-0",
            "9223372036854775808",
            "true",
            "false",
            "null",
            " ",
            "\n",
            "é",
            "\u{1}",
            "nul",
            "\"c\"",
        ];
        proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..12)
            .prop_map(|pieces| pieces.concat())
    }

    /// Values as text.
    fn values() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|value| value.to_string()),
            any::<i64>().prop_map(|number| number.to_string()),
            any::<u64>().prop_map(|number| number.to_string()),
            any::<f32>().prop_filter("JSON", |n| n.is_finite()).prop_map(|n| n.to_string()),
            any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let member = (any::<String>(), inner.clone());
            let object = proptest::collection::vec(member, 0..4).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, value)| format!("{} :{value}", serde_json::Value::from(name)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(",\n"))
            });
            let array = proptest::collection::vec(inner, 0..4)
                .prop_map(|items| format!("[ {} ]", items.join(", ")));
            prop_oneof![object, array]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn another_parser_says_the_same_of_values(text in values()) {
            compare(text.as_bytes());
        }

        #[test]
        fn another_parser_says_the_same_of_what_is_nearly_json(text in texts()) {
            compare(text.as_bytes());
        }

        #[test]
        fn another_parser_says_the_same_of_bytes(
            text in values(),
            at: proptest::sample::Index,
            byte: u8,
        ) {
            let mut bytes = text.into_bytes();
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            compare(&bytes);
        }
    }

    #[test]
    fn depth_and_repeated_names_are_refused() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(deep(DEPTH_MAX).as_bytes()).is_ok());
        assert_eq!(parse(deep(DEPTH_MAX + 1).as_bytes()).unwrap_err().at, DEPTH_MAX);
        let twice = parse(br#"[{"a":1,"b":2,"a":3}]"#).unwrap_err();
        assert_eq!((twice.at, &*twice.problem), (1, "the name \"a\" stands twice in this object"));
    }

    #[test]
    fn numbers_that_are_no_integers_stay_as_they_are_written() {
        for text in
            ["1.50", "1e400", "-0", "123456789012345678901234567890", "-9223372036854775809"]
        {
            assert_eq!(parse(text.as_bytes()).unwrap(), Json::Number(text.into()));
        }
        assert_eq!(parse(b"18446744073709551615").unwrap(), Json::Int(u64::MAX.into()));
    }
}
