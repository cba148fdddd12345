//! A certificate read from text, of which nothing is believed: every line must have exactly what
//! its verdict asks for.

use super::line::{Header, Line, VERSION};
use super::{Certificate, Claim, Proof, Subject};
use serde::Deserialize;
use seriatim_isolation::{Anomaly, Level, Order, UnknownLevel, UnknownOrder};

/// What is wrong with the text of a certificate.
#[derive(Debug)]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// The column, if it is known.
    pub column: Option<usize>,
    /// What was expected and what was found.
    pub problem: String,
}

fn malformed(line: usize, problem: impl Into<String>) -> Malformed {
    Malformed { line, column: None, problem: problem.into() }
}

/// Reads a certificate.
pub fn parse(text: &str) -> Result<Certificate, Malformed> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((number, first)) = lines.next() else {
        return Err(malformed(1, "expected the header of a certificate, found nothing"));
    };
    let header = parse_header(number, first)?;
    let order = named_order(&header).map_err(|problem| malformed(number, problem))?;
    let claims = parse_claims(number, &header, lines)?;
    let Header { input, fingerprint, sessions, transactions, operations, .. } = header;
    let subject = Subject { fingerprint, sessions, transactions, operations };
    Ok(Certificate { input, subject, order, claims })
}

fn parse_header(number: usize, text: &str) -> Result<Header, Malformed> {
    let header: Header = read(number, text, "the header of a certificate")?;
    let found = header.seriatim_certificate;
    if found == VERSION {
        return Ok(header);
    }
    let problem = format!(
        "expected a certificate of version {VERSION}, found version {found}; check the history \
         again for a new one"
    );
    Err(malformed(number, problem))
}

/// The order that the levels are meant with.
fn named_order(header: &Header) -> Result<Order, String> {
    let Some(name) = &header.order else { return Ok(Order::Sessions) };
    let named = Order::ALL.into_iter().find(|order| order.code() == name);
    named.ok_or_else(|| UnknownOrder(name.clone()).to_string())
}

/// The claims of the lines after the header, which is line `last`: one for each level, and for
/// those that the header lists.
fn parse_claims<'t>(
    mut last: usize,
    header: &Header,
    lines: impl Iterator<Item = (usize, &'t str)>,
) -> Result<Vec<(Level, Claim)>, Malformed> {
    let mut claims = Vec::new();
    let mut told: Vec<(Level, usize)> = Vec::new();
    for (number, text) in lines {
        let line = read(number, text, "the verdict of a level")?;
        let (level, claim) = claim(line).map_err(|problem| malformed(number, problem))?;
        if let Some((_, first)) = told.iter().find(|(other, _)| *other == level) {
            return Err(second(number, level, *first));
        }
        told.push((level, number));
        claims.push((level, claim));
        last = number;
    }
    let is_missing = |code: &&String| !claims.iter().any(|(level, _)| level.code() == **code);
    match header.levels.iter().find(is_missing) {
        Some(code) => Err(malformed(
            last + 1,
            format!("expected the verdict of level `{code}`, found the end"),
        )),
        None if claims.is_empty() => {
            Err(malformed(last + 1, "expected the verdict of a level, found the end"))
        }
        None => Ok(claims),
    }
}

fn second(number: usize, level: Level, first: usize) -> Malformed {
    let code = level.code();
    let problem = format!(
        "a second verdict of level `{code}`, whose first is in line {first}; remove the one that \
         does not belong there"
    );
    malformed(number, problem)
}

fn read<'t, T: Deserialize<'t>>(number: usize, text: &'t str, what: &str) -> Result<T, Malformed> {
    serde_json::from_str(text).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let cause = error.to_string().replace(&place, "");
        Malformed {
            line: number,
            column: Some(error.column()),
            problem: format!("expected {what}: {cause}"),
        }
    })
}

fn claim(line: Line) -> Result<(Level, Claim), String> {
    let level: Level = line.level.parse().map_err(|error: UnknownLevel| error.to_string())?;
    if !Level::ALL.contains(&level) {
        return Err(UnknownLevel(line.level).to_string());
    }
    let anomaly = line.kind.as_deref().map(anomaly).transpose()?;
    if line.verdict != "violated" && anomaly.is_some() {
        return Err(format!("expected no `kind` beside the verdict `{}`", line.verdict));
    }
    let claim = match line.verdict.as_str() {
        "holds" => Claim::Holds(proof(line)?),
        "violated" => Claim::Violated { anomaly, operations: operations(line)? },
        "undecided" if has_nothing(&line) => Claim::Undecided,
        "undecided" => return Err("expected nothing beside the verdict `undecided`".to_owned()),
        other => {
            return Err(format!(
                "expected the verdict `holds`, `violated` or `undecided`, found `{other}`"
            ));
        }
    };
    Ok((level, claim))
}

fn anomaly(code: &str) -> Result<Anomaly, String> {
    let known = Anomaly::ALL.into_iter().find(|known| known.info().code == code);
    known.ok_or_else(|| format!("unknown anomaly `{code}`"))
}

fn has_nothing(line: &Line) -> bool {
    let Line { points, order, sources, operations, .. } = line;
    points.is_none() && order.is_none() && sources.is_none() && operations.is_none()
}

/// What shows a level that holds.
fn proof(line: Line) -> Result<Option<Proof>, String> {
    match (line.points, line.order, line.sources, line.operations) {
        (None, None, None, None) => Ok(None),
        (Some(points), None, None, None) => {
            Ok(Some(Proof::Points(points.into_iter().map(Into::into).collect())))
        }
        (None, Some(order), sources, None) => Ok(Some(Proof::Order { order, sources })),
        _ => Err("expected either `points` or `order` (with `sources` or without)".to_owned()),
    }
}

/// What shows a level that is violated.
fn operations(line: Line) -> Result<Vec<u32>, String> {
    match (line.points, line.order, line.sources, line.operations) {
        (None, None, None, Some(operations)) => Ok(operations),
        _ => Err("expected `operations`, and none of `points`, `order` and `sources`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Point, render};
    use super::*;

    fn validator() -> jsonschema::Validator {
        let schema = serde_json::from_str(crate::schema::CERTIFICATE).unwrap();
        assert!(jsonschema::meta::is_valid(&schema));
        jsonschema::draft202012::new(&schema).unwrap()
    }

    #[test]
    fn what_is_refused_does_not_fit_the_schema() {
        let lines = [
            r#"{"level":"high","verdict":"undecided"}"#,
            r#"{"level":"si","verdict":"perhaps"}"#,
            r#"{"level":"si","verdict":"holds","points":[["x",0]]}"#,
            r#"{"level":"si","verdict":"holds","points":[],"order":[]}"#,
            r#"{"level":"si","verdict":"holds","sources":[]}"#,
            r#"{"level":"si","verdict":"violated"}"#,
            r#"{"level":"si","verdict":"undecided","operations":[]}"#,
            r#"{"level":"si","verdict":"undecided","sources":[]}"#,
            r#"{"level":"si","verdict":"violated","operations":[0],"sources":[]}"#,
            r#"{"level":"ser","verdict":"holds","order":[],"kind":"write-skew"}"#,
            r#"{"seriatim_certificate":2}"#,
        ];
        for line in lines {
            assert!(!validator().is_valid(&serde_json::from_str(line).unwrap()), "{line}");
            assert!(
                serde_json::from_str::<Line>(line)
                    .map_err(|error| error.to_string())
                    .and_then(claim)
                    .is_err(),
                "{line}"
            );
        }
    }

    /// Of each kind of claim one, and of each kind of proof.
    fn example() -> Certificate {
        let points = [0, 1, 2].map(|txn| [Point::Begin(txn), Point::Commit(txn)]);
        let sources = vec![(0, None), (6, Some(5))];
        let violated = |anomaly| Claim::Violated { anomaly, operations: vec![0, 1, 2, 3] };
        let subject = Subject {
            fingerprint: "0123456789abcdef".to_owned(),
            sessions: 4,
            transactions: 5,
            operations: 7,
        };
        let claims = vec![
            (Level::StrictSerializable, Claim::Undecided),
            (Level::Serializable, violated(Some(Anomaly::WriteSkew))),
            (Level::SnapshotIsolation, Claim::Holds(Some(Proof::Points(points.concat())))),
            (Level::PrefixConsistency, violated(None)),
            (Level::Causal, holds_by_order(Some(sources))),
            (Level::ReadAtomic, holds_by_order(None)),
            (Level::CutIsolation, Claim::Holds(None)),
        ];
        Certificate { input: "history".to_owned(), subject, order: Order::RealTime, claims }
    }

    fn holds_by_order(sources: Option<Vec<(u32, Option<u32>)>>) -> Claim {
        Claim::Holds(Some(Proof::Order { order: vec![3, 0, 2, 1, 4], sources }))
    }

    /// Whatever is changed in a certificate, reading it ends with an answer.
    #[test]
    fn damaged_certificates_are_read_or_refused() {
        let certificate = example();
        let text = render(&certificate);
        assert!(parse(&text).is_ok_and(|read| read == certificate));
        let validator = validator();
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(validator.is_valid(&line), "{line}");
        }
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let (mut read, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=random(3) {
                let place = random(bytes.len());
                match random(3) {
                    0 => bytes.truncate(place.max(1)),
                    1 => bytes[place] = b"0123456789[]{},:\"-null"[random(22)],
                    _ => {
                        bytes.remove(place);
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            let Ok(damaged) = String::from_utf8(bytes) else { continue };
            match parse(&damaged) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(read > 100 && refused > 1000, "{read} read, {refused} refused");
    }
}
