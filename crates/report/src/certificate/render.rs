//! A certificate as text.

use super::line::{Header, Line, VERSION};
use super::{Certificate, Claim, Proof};
use serde::Serialize;
use seriatim_isolation::{Level, Order};

/// The text of a certificate.
pub fn render(certificate: &Certificate) -> String {
    let lines = certificate.claims.iter().map(|(level, claim)| json(&line(*level, claim)));
    std::iter::once(json(&header(certificate))).chain(lines).collect()
}

/// Numbers, strings and lists of them always have a JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn header(certificate: &Certificate) -> Header {
    let Certificate { input, subject, order, claims } = certificate;
    Header {
        seriatim_certificate: VERSION,
        input: input.clone(),
        fingerprint: subject.fingerprint.clone(),
        sessions: subject.sessions,
        transactions: subject.transactions,
        operations: subject.operations,
        levels: claims.iter().map(|(level, _)| level.code().to_owned()).collect(),
        order: (*order != Order::Sessions).then(|| order.code().to_owned()),
    }
}

fn line(level: Level, claim: &Claim) -> Line {
    let mut line = Line {
        level: level.code().to_owned(),
        verdict: claim.word().to_owned(),
        ..Line::default()
    };
    match claim {
        Claim::Holds(Some(proof)) => prove(&mut line, proof),
        Claim::Violated { anomaly, operations } => {
            line.kind = anomaly.map(|anomaly| anomaly.info().code.to_owned());
            line.operations = Some(operations.clone());
        }
        Claim::Holds(None) | Claim::Undecided => {}
    }
    line
}

fn prove(line: &mut Line, proof: &Proof) {
    match proof {
        Proof::Points(points) => {
            line.points = Some(points.iter().map(|&point| point.into()).collect());
        }
        Proof::Order { order, sources } => {
            line.order = Some(order.clone());
            line.sources = sources.clone();
        }
    }
}
