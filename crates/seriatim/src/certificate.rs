//! Certificates of histories: made of a report, and judged when they are read again.
//!
//! A [`Certificate`] is data that [`mod@crate::report`] renders and parses. Here it meets the
//! history: ids become numbers that do not depend on the file ([`Numbering`]), and numbers ids.
//!
//! ```
//! use seriatim::{Checker, certificate, report};
//!
//! let history = seriatim::history::notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
//! let found = Checker::new().check(&history);
//! let text = report::certificate::render(&certificate::certify("run", &history, &found));
//!
//! let read = report::certificate::parse(&text).unwrap();
//! assert_eq!(read.subject.difference(&certificate::subject(&history)), None);
//! let numbers = history.numbering();
//! for (level, claim) in &read.claims {
//!     let judged = certificate::confirm(&history, &numbers, *level, claim);
//!     assert!(matches!(judged, None | Some(Ok(()))));
//! }
//! ```

use seriatim_check::{Breach, Outcome, Report, Verdict};
use seriatim_history::{History, Numbering, OpId};
use seriatim_isolation::{Guarantee, Level};
use seriatim_report::certificate::{Certificate, Claim, Point, Proof, Subject};
use seriatim_verify as verify;
use seriatim_verify::{Doubt, ReadSource};

/// The certificate of a check. No isolation, which everything that is committed satisfies or has
/// wrong by itself, is no part of it.
pub fn certify(input: &str, history: &History, report: &Report) -> Certificate {
    let numbers = history.numbering();
    let certified = report.verdicts.iter().filter(|verdict| verdict.level != Level::Unconstrained);
    let claim = |verdict: &Verdict| (verdict.level, claim_of(history, &numbers, report, verdict));
    Certificate {
        input: input.to_owned(),
        subject: subject(history),
        order: report.order,
        claims: certified.map(claim).collect(),
    }
}

/// What a history is known by.
pub fn subject(history: &History) -> Subject {
    Subject {
        fingerprint: format!("{:016x}", history.fingerprint()),
        sessions: history.session_count(),
        transactions: history.txn_count(),
        operations: history.op_count(),
    }
}

fn claim_of(
    history: &History,
    numbers: &Numbering<'_>,
    report: &Report,
    verdict: &Verdict,
) -> Claim {
    match &verdict.outcome {
        Outcome::Undecided(_) => Claim::Undecided,
        Outcome::Violated(breach) => Claim::Violated {
            anomaly: verdict.violation().map(|violation| violation.kind),
            operations: operations(history, numbers, breach),
        },
        Outcome::Holds(_) => {
            let proof = points(verdict, report).or(verdict.proof());
            Claim::Holds(proof.and_then(|proof| numbered(proof, numbers)))
        }
    }
}

/// The numbers of operations that violate the level when everything else is removed.
fn operations(history: &History, numbers: &Numbering<'_>, breach: &Breach) -> Vec<u32> {
    let ops = match breach {
        Breach::Anomaly(violation) => violation.op_ids(),
        // Where no small violation was found, there is still the history itself.
        Breach::Unexplained(_) => (0..history.op_count()).map(OpId::from).collect(),
    };
    let ops = verify::completed(history, &ops);
    let mut numbers: Vec<u32> = ops.into_iter().map(|op| numbers.of_op(op)).collect();
    numbers.sort_unstable();
    numbers
}

/// The points of the level, or of a stronger one: these are confirmed faster than orders.
fn points<'r>(verdict: &'r Verdict, report: &'r Report) -> Option<&'r verify::Proof> {
    let is_weak = !verdict.level.is_strong() && verdict.level != Level::CutIsolation;
    let stronger = report.verdicts.iter().filter(|other| is_weak && other.level > verdict.level);
    let mut proofs = std::iter::once(verdict).chain(stronger).filter_map(Verdict::proof);
    proofs.find(|proof| matches!(proof, verify::Proof::Points(_)))
}

/// A proof by numbers; cut isolation needs none.
fn numbered(proof: &verify::Proof, numbers: &Numbering<'_>) -> Option<Proof> {
    match proof {
        verify::Proof::Points(points) => {
            let points = points.iter().map(|point| match *point {
                verify::Point::Begin(txn) => Point::Begin(numbers.of_txn(txn)),
                verify::Point::Commit(txn) => Point::Commit(numbers.of_txn(txn)),
            });
            Some(Proof::Points(points.collect()))
        }
        verify::Proof::Order { order, sources } => {
            let source = |&(read, write): &ReadSource| {
                (numbers.of_op(read), write.map(|write| numbers.of_op(write)))
            };
            Some(Proof::Order {
                order: order.iter().map(|&txn| numbers.of_txn(txn)).collect(),
                sources: sources.as_ref().map(|sources| sources.iter().map(source).collect()),
            })
        }
        verify::Proof::CutIsolation => None,
    }
}

/// Whether `claim` about a level, with sessions unless an order is named, is true of `history`,
/// whose numbers are given; `None` if it claims nothing that could be seen to be true.
pub fn confirm(
    history: &History,
    numbers: &Numbering<'_>,
    asked: impl Into<Guarantee>,
    claim: &Claim,
) -> Option<Result<(), Doubt>> {
    let certificate = named(numbers, asked.into(), claim)?;
    Some(verify::verify(history, &certificate))
}

/// What a claim says, with the ids of a history in the place of its numbers.
fn named(numbers: &Numbering<'_>, asked: Guarantee, claim: &Claim) -> Option<verify::Certificate> {
    let op = |&number: &u32| numbers.op(number);
    let proof = match claim {
        Claim::Undecided => return None,
        Claim::Violated { operations, .. } => {
            let ops = operations.iter().map(op).collect();
            return Some(verify::Certificate::violated(asked, ops));
        }
        Claim::Holds(None) if asked.level == Level::CutIsolation => verify::Proof::CutIsolation,
        Claim::Holds(None) => return None,
        Claim::Holds(Some(Proof::Points(points))) => {
            let points = points.iter().map(|point| match *point {
                Point::Begin(txn) => verify::Point::Begin(numbers.txn(txn)),
                Point::Commit(txn) => verify::Point::Commit(numbers.txn(txn)),
            });
            verify::Proof::Points(points.collect())
        }
        Claim::Holds(Some(Proof::Order { order, sources })) => {
            let source = |(read, write): &(u32, Option<u32>)| (op(read), write.as_ref().map(op));
            verify::Proof::Order {
                order: order.iter().map(|&txn| numbers.txn(txn)).collect(),
                sources: sources.as_ref().map(|sources| sources.iter().map(source).collect()),
            }
        }
    };
    Some(verify::Certificate::holds(asked, proof))
}
