//! Certificates: what `check` found, so that `verify` can confirm it without searching. JSON Lines,
//! a header and then one line for each level; transactions and operations by their numbers in the
//! history, from 0, session by session, in an order of the sessions that does not depend on the
//! file ([`Numbering`]). The shape is documented by [`crate::schema::CERTIFICATE`].
//!
//! What a certificate says is data; whether it is true is for [`seriatim_verify`] to say.

use crate::text::plural;
use serde::{Deserialize, Serialize};
use seriatim_check::{Breach, Outcome, Report, Verdict};
use seriatim_history::{History, Numbering, OpId, TxnId};
use seriatim_isolation::{Anomaly, Guarantee, Level, Order, UnknownOrder};
use seriatim_verify::{self as verify, Certificate as Certified, Doubt, Point, Proof, ReadSource};

/// The version of the format.
const VERSION: u64 = 2;

/// The first line.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Header {
    seriatim_certificate: u64,
    /// The name of the history when it was checked.
    pub input: String,
    /// The number that tells the history from others, as 16 hexadecimal digits.
    fingerprint: String,
    /// How many sessions it has.
    pub sessions: usize,
    /// How many transactions it has.
    pub transactions: usize,
    /// How many operations it has.
    pub operations: usize,
    /// The levels that have a line, so that none gets lost unnoticed.
    levels: Vec<String>,
    /// The order that they are meant with, unless it is that of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<String>,
}

impl Header {
    /// The order that the levels are meant with.
    fn order(&self) -> Result<Order, String> {
        match &self.order {
            None => Ok(Order::Sessions),
            Some(name) => Order::ALL
                .into_iter()
                .find(|order| order.code() == name)
                .ok_or_else(|| UnknownOrder(name.clone()).to_string()),
        }
    }

    /// How `history` differs from the one that the certificate is for; `None` if it is that one.
    pub fn difference(&self, history: &History) -> Option<String> {
        let counts = [
            ("session", self.sessions, history.session_count()),
            ("transaction", self.transactions, history.txn_count()),
            ("operation", self.operations, history.op_count()),
        ];
        let count = counts.into_iter().find(|(_, said, is)| said != is);
        let count = count.map(|(what, said, is)| {
            format!("that one has {}, this one {is}", plural(said as u64, what))
        });
        count.or_else(|| {
            let same = self.fingerprint == fingerprint(history);
            (!same).then(|| "it has as many transactions and operations, but others".to_owned())
        })
    }
}

fn fingerprint(history: &History) -> String {
    format!("{:016x}", history.fingerprint())
}

/// A line as it is written.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Line {
    level: String,
    verdict: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    points: Option<Vec<(PointKind, u32)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<(u32, Option<u32>)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<u32>>,
}

#[derive(Serialize, Deserialize, Debug, Clone, Copy)]
enum PointKind {
    #[serde(rename = "b")]
    Begin,
    #[serde(rename = "c")]
    Commit,
}

/// What a line says about its level.
#[derive(Debug)]
pub enum Claim {
    /// It holds or is violated, and something is said to show it.
    Certified(Certified),
    /// It holds, and it is not said why.
    Unproven,
    /// Nothing is said.
    Undecided,
}

impl Claim {
    /// Whether it is true of `history`, whose numbers are given; `None` if it claims nothing that
    /// could be seen to be true.
    pub fn confirm(&self, history: &History, numbers: &Numbering<'_>) -> Option<Result<(), Doubt>> {
        match self {
            Claim::Certified(certificate) => {
                Some(verify::verify(history, &named(certificate, numbers)))
            }
            Claim::Unproven | Claim::Undecided => None,
        }
    }

    /// Whether it says that the level is violated.
    pub fn is_violation(&self) -> bool {
        let Claim::Certified(certificate) = self else { return false };
        matches!(certificate.claim, verify::Claim::Violated(_))
    }
}

/// What a certificate says, with the ids of a history in the place of its numbers.
fn named(certificate: &Certified, numbers: &Numbering<'_>) -> Certified {
    let op = |op: &OpId| numbers.op(op.0);
    let source = |(read, write): &ReadSource| (op(read), write.as_ref().map(op));
    let claim = match &certificate.claim {
        verify::Claim::Violated(ops) => verify::Claim::Violated(ops.iter().map(op).collect()),
        verify::Claim::Holds(Proof::Points(points)) => {
            let points = points.iter().map(|point| match point {
                Point::Begin(txn) => Point::Begin(numbers.txn(txn.0)),
                Point::Commit(txn) => Point::Commit(numbers.txn(txn.0)),
            });
            verify::Claim::Holds(Proof::Points(points.collect()))
        }
        verify::Claim::Holds(Proof::Order { order, sources }) => {
            verify::Claim::Holds(Proof::Order {
                order: order.iter().map(|txn| numbers.txn(txn.0)).collect(),
                sources: sources.as_ref().map(|sources| sources.iter().map(source).collect()),
            })
        }
        verify::Claim::Holds(Proof::CutIsolation) => verify::Claim::Holds(Proof::CutIsolation),
    };
    Certified { level: certificate.level, order: certificate.order, claim }
}

/// A certificate.
#[derive(Debug)]
pub struct Certificate {
    /// What it is about.
    pub header: Header,
    /// The order that the levels are meant with.
    pub order: Order,
    /// What it says, level by level.
    pub claims: Vec<(Level, Claim)>,
}

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

/// The certificate of a check that was asked for certificates.
pub fn render(input: &str, history: &History, report: &Report) -> String {
    let header = Header {
        seriatim_certificate: VERSION,
        input: input.to_owned(),
        fingerprint: fingerprint(history),
        sessions: history.session_count(),
        transactions: history.txn_count(),
        operations: history.op_count(),
        levels: report.verdicts.iter().map(|verdict| verdict.level.code().to_owned()).collect(),
        order: Some(report.order)
            .filter(|&order| order != Order::Sessions)
            .map(|order| order.code().to_owned()),
    };
    let subject = Subject { history, numbers: history.numbering(), report };
    let lines = report.verdicts.iter().map(|verdict| json(&subject.line(verdict)));
    std::iter::once(json(&header)).chain(lines).collect()
}

/// Numbers, strings and lists of them always have a JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// What is certified.
struct Subject<'r> {
    history: &'r History,
    numbers: Numbering<'r>,
    report: &'r Report,
}

impl Subject<'_> {
    fn line(&self, verdict: &Verdict) -> Line {
        let mut line = Line {
            level: verdict.level.code().to_owned(),
            verdict: verdict.answer().word().to_owned(),
            kind: None,
            points: None,
            order: None,
            sources: None,
            operations: None,
        };
        match &verdict.outcome {
            Outcome::Undecided(_) => {}
            Outcome::Violated(breach) => {
                let kind = verdict.violation().map(|violation| violation.kind.info().code);
                line.kind = kind.map(str::to_owned);
                line.operations = Some(self.operations(breach));
            }
            Outcome::Holds(_) => {
                self.prove(&mut line, points(verdict, self.report).or(verdict.proof()));
            }
        }
        line
    }

    fn operations(&self, breach: &Breach) -> Vec<u32> {
        let ops = match breach {
            Breach::Anomaly(violation) => violation.op_ids(),
            // Where no small violation was found, there is still the history itself.
            Breach::Unexplained(_) => (0..self.history.op_count()).map(OpId::from).collect(),
        };
        let ops = verify::completed(self.history, &ops);
        let mut numbers: Vec<u32> = ops.into_iter().map(|op| self.numbers.of_op(op)).collect();
        numbers.sort_unstable();
        numbers
    }

    fn prove(&self, line: &mut Line, proof: Option<&Proof>) {
        let numbers = &self.numbers;
        match proof {
            Some(Proof::Points(points)) => {
                line.points = Some(points.iter().map(|&point| numbered(point, numbers)).collect());
            }
            Some(Proof::Order { order, sources }) => {
                line.order = Some(order.iter().map(|&txn| numbers.of_txn(txn)).collect());
                let source = |&(read, write): &ReadSource| {
                    (numbers.of_op(read), write.map(|write| numbers.of_op(write)))
                };
                line.sources = sources.as_ref().map(|sources| sources.iter().map(source).collect());
            }
            Some(Proof::CutIsolation) | None => {}
        }
    }
}

/// The points of the level, or of a stronger one: these are confirmed faster than orders.
fn points<'r>(verdict: &'r Verdict, report: &'r Report) -> Option<&'r Proof> {
    let is_weak = !verdict.level.is_strong() && verdict.level != Level::CutIsolation;
    let stronger = report.verdicts.iter().filter(|other| is_weak && other.level > verdict.level);
    let proofs = std::iter::once(verdict).chain(stronger).filter_map(Verdict::proof);
    proofs.into_iter().find(|proof| matches!(proof, Proof::Points(_)))
}

fn numbered(point: Point, numbers: &Numbering<'_>) -> (PointKind, u32) {
    match point {
        Point::Begin(txn) => (PointKind::Begin, numbers.of_txn(txn)),
        Point::Commit(txn) => (PointKind::Commit, numbers.of_txn(txn)),
    }
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
    let header: Header = read(number, first, "the header of a certificate")?;
    if header.seriatim_certificate != VERSION {
        let found = header.seriatim_certificate;
        return Err(malformed(
            number,
            format!(
                "expected a certificate of version {VERSION}, found version {found}; check the \
                 history again for a new one"
            ),
        ));
    }
    let order = header.order().map_err(|problem| malformed(number, problem))?;
    let mut claims = Vec::new();
    let mut told: Vec<(Level, usize)> = Vec::new();
    let mut last = number;
    for (number, line) in lines {
        let line = read(number, line, "the verdict of a level")?;
        let (level, claim) = claim(line, order).map_err(|problem| malformed(number, problem))?;
        if let Some((_, first)) = told.iter().find(|(other, _)| *other == level) {
            let code = level.code();
            let problem = format!(
                "a second verdict of level `{code}`, whose first is in line {first}; remove the \
                 one that does not belong there"
            );
            return Err(malformed(number, problem));
        }
        told.push((level, number));
        claims.push((level, claim));
        last = number;
    }
    let missing =
        header.levels.iter().find(|code| !claims.iter().any(|(level, _)| level.code() == *code));
    match missing {
        Some(code) => Err(malformed(
            last + 1,
            format!("expected the verdict of level `{code}`, found the end"),
        )),
        None if claims.is_empty() => {
            Err(malformed(last + 1, "expected the verdict of a level, found the end"))
        }
        None => Ok(Certificate { header, order, claims }),
    }
}

fn malformed(line: usize, problem: impl Into<String>) -> Malformed {
    Malformed { line, column: None, problem: problem.into() }
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

fn claim(line: Line, order: Order) -> Result<(Level, Claim), String> {
    let level: Level =
        line.level.parse().map_err(|error: seriatim_isolation::UnknownLevel| error.to_string())?;
    if !Level::ALL.contains(&level) {
        return Err(seriatim_isolation::UnknownLevel(line.level).to_string());
    }
    if let Some(kind) = &line.kind
        && !Anomaly::ALL.iter().any(|known| known.info().code == kind)
    {
        return Err(format!("unknown anomaly `{kind}`"));
    }
    if line.verdict != "violated" && line.kind.is_some() {
        return Err(format!("expected no `kind` beside the verdict `{}`", line.verdict));
    }
    let asked = Guarantee::new(level, order);
    let claim = match (line.verdict.as_str(), line.points, line.order, line.operations) {
        ("holds", Some(points), None, None) if line.sources.is_none() => {
            let points = points.into_iter().map(point).collect();
            Claim::Certified(Certified::holds(asked, Proof::Points(points)))
        }
        ("holds", None, Some(order), None) => {
            let ops = |(read, write): (u32, Option<u32>)| (OpId(read), write.map(OpId));
            let sources = line.sources.map(|sources| sources.into_iter().map(ops).collect());
            let order = order.into_iter().map(TxnId).collect();
            Claim::Certified(Certified::holds(asked, Proof::Order { order, sources }))
        }
        ("holds", None, None, None) if line.sources.is_none() => match level {
            Level::CutIsolation => Claim::Certified(Certified::holds(asked, Proof::CutIsolation)),
            _ => Claim::Unproven,
        },
        ("holds", ..) => {
            return Err(
                "expected either `points` or `order` (with `sources` or without)".to_owned()
            );
        }
        ("violated", None, None, Some(ops)) if line.sources.is_none() => {
            Claim::Certified(Certified::violated(asked, ops.into_iter().map(OpId).collect()))
        }
        ("violated", ..) => {
            return Err(
                "expected `operations`, and none of `points`, `order` and `sources`".to_owned()
            );
        }
        ("undecided", None, None, None) if line.sources.is_none() => Claim::Undecided,
        ("undecided", ..) => {
            return Err("expected nothing beside the verdict `undecided`".to_owned());
        }
        (other, ..) => {
            return Err(format!(
                "expected the verdict `holds`, `violated` or `undecided`, found `{other}`"
            ));
        }
    };
    Ok((level, claim))
}

fn point((point, txn): (PointKind, u32)) -> Point {
    match point {
        PointKind::Begin => Point::Begin(TxnId(txn)),
        PointKind::Commit => Point::Commit(TxnId(txn)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_check::Checker;
    use seriatim_history::notation;

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
                    .and_then(|line| claim(line, Order::Sessions))
                    .is_err(),
                "{line}"
            );
        }
    }

    /// Whatever is changed in a certificate, reading it ends with an answer.
    #[test]
    fn damaged_certificates_are_read_or_refused() {
        let history =
            notation::parse("a: r(x,0) w(y,1)\nb: r(y,0) w(x,1)\nc: w(z,1)\nd: w(z,1) | r(z,1)")
                .unwrap();
        let report = Checker::new().with_certificates().check(&history);
        let text = render("history", &history, &report);
        assert!(
            parse(&text).is_ok_and(|certificate| certificate.header.difference(&history).is_none())
        );
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
