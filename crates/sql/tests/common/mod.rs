//! What tests of statements share: a session on a store in memory, and results as text.
#![allow(dead_code)]

use seriatim_sql::database::Cluster;
use seriatim_sql::functions::Call;
use seriatim_sql::memory::Memory;
use seriatim_sql::session::{Reply, Session};
use seriatim_sql::types::{Oid, output};
use std::sync::Arc;

/// A session on a cluster of its own.
pub fn session() -> Session {
    let cluster = Arc::new(Cluster::new(Arc::new(Memory::default())));
    connect(&cluster)
}

/// Another session.
pub fn connect(cluster: &Arc<Cluster>) -> Session {
    Session::connect(cluster, "postgres", "postgres").expect("the database is there")
}

/// The rows of the last statement as text, or its error.
pub fn run(session: &mut Session, sql: &str) -> String {
    let (replies, error) = session.simple(sql);
    if let Some(error) = error {
        return format!("ERROR {}: {}", error.code(), error.message());
    }
    replies.last().map(|reply| shown(session, reply)).unwrap_or_default()
}

fn shown(session: &Session, reply: &Reply) -> String {
    let (columns, rows) = match reply {
        Reply::Rows { columns, rows, .. } => (columns, rows),
        Reply::Done(tag) => return tag.clone(),
        Reply::CopyOut(out) => {
            let env = session.env();
            let all: Vec<u8> = out.chunks(&env).flatten().collect();
            return String::from_utf8_lossy(&all).trim_end_matches('\n').to_owned();
        }
        Reply::CopyIn(_) => return "COPY IN".to_owned(),
        Reply::Empty => return String::new(),
    };
    let env = session.env();
    let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: &env };
    let line = |row: &Vec<_>| {
        let cells = row.iter().zip(columns);
        cells.map(|(value, column)| output(value, column.ty, &call)).collect::<Vec<_>>().join("|")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The same with notices, details and hints, as the files of expectations have them.
pub fn told(session: &mut Session, sql: &str) -> String {
    // As psql sends it.
    let (replies, error) = session.simple(&format!("{sql}\n;"));
    let mut lines: Vec<String> = Vec::new();
    for notice in session.take_notices() {
        lines.push(format!("NOTE: {}", notice.message()));
        lines.extend(notice.fields().detail.iter().map(|it| format!("DETAIL: {it}")));
    }
    match &error {
        None => {
            lines.extend(replies.iter().map(|reply| shown(session, reply)));
            // Changes are counted also where they return rows.
            if let Some(Reply::Rows { tag, .. }) = replies.last()
                && ["INSERT", "UPDATE", "DELETE", "MERGE"].iter().any(|it| tag.starts_with(it))
            {
                lines.push(tag.clone());
            }
        }
        Some(error) => {
            lines.push(format!("ERROR {}: {}", error.code(), error.message()));
            lines.extend(error.fields().detail.iter().map(|it| format!("DETAIL: {it}")));
            lines.extend(error.fields().hint.iter().map(|it| format!("HINT: {it}")));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Statements of a file with what a real PostgreSQL said: `> ` and `< ` lines.
pub fn cases(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut in_statement = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("> ") {
            match all.last_mut() {
                Some((sql, _)) if in_statement => {
                    sql.push('\n');
                    sql.push_str(rest);
                }
                _ => all.push((rest.to_owned(), String::new())),
            }
            in_statement = true;
        } else {
            in_statement = false;
            if let (Some(rest), Some((_, said))) = (line.strip_prefix("< "), all.last_mut()) {
                if !said.is_empty() {
                    said.push('\n');
                }
                said.push_str(rest);
            }
        }
    }
    all
}

/// Runs the statements of a file: what differs.
pub fn differences(session: &mut Session, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (sql, said) in cases(text) {
        let ours = told(session, &sql);
        if without_times(&ours) != without_times(&said) {
            found.push(format!("{sql}\n  there: {said}\n  here:  {ours}"));
        }
    }
    found
}

/// Rows that did not get in may show when that was.
fn without_times(text: &str) -> String {
    let shows_time = |line: &&str| line.contains("Failing row") && line.matches(':').count() > 2;
    text.lines().filter(|line| !shows_time(line)).collect::<Vec<_>>().join("\n")
}
