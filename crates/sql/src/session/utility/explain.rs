//! EXPLAIN: the shape of a plan. Numbers of costs are made up, since nothing here has any.

use super::text_column;
use crate::bind::Params;
use crate::error::{Result, SqlError};
use crate::ir::{Body, From, ModifyKind, Query};
use crate::parse::Parsed;
use crate::session::{Reply, Session};
use crate::types::{Datum, Oid};
use sqlparser::ast::Statement;

impl Session {
    pub(super) fn explain(
        &mut self,
        statement: &Parsed,
        analyze: bool,
        format: &str,
        costs: bool,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Reply> {
        let env = self.env();
        let mut binder = env.binder_with(&statement.text, Params::new(types));
        let query = match &statement.statement {
            Statement::Query(query) => binder.bind_query(query)?,
            Statement::UnlockTables => {
                return Err(SqlError::unsupported("EXPLAIN of such a statement"));
            }
            other => binder.bind_modify(other)?,
        };
        if analyze {
            self.run_query(&env, &query, &statement.text, params, types)?;
        }
        let mut lines = Vec::new();
        query_lines(&query, 0, &mut lines);
        let cost = if costs { "  (cost=0.00..1.00 rows=1 width=0)" } else { "" };
        let text: Vec<String> = lines
            .into_iter()
            .map(|(depth, line)| match depth {
                0 => format!("{line}{cost}"),
                depth => format!("{}->  {line}{cost}", " ".repeat(depth * 6 - 4)),
            })
            .collect();
        let rows = match format {
            "json" => {
                let node = text.first().cloned().unwrap_or_default();
                let kind = node.split("  ").next().unwrap_or_default().replace('"', "");
                let json = format!(
                    "[\n  {{\n    \"Plan\": {{\n      \"Node Type\": \"{kind}\"\n    }}\n  }}\n]"
                );
                vec![vec![Datum::text(json)]]
            }
            "text" => text.into_iter().map(|line| vec![Datum::text(line)]).collect(),
            other => return Err(SqlError::unsupported(format!("EXPLAIN with FORMAT {other}"))),
        };
        let columns = vec![text_column("QUERY PLAN")];
        Ok(Reply::Rows { columns, rows, tag: "EXPLAIN".to_owned() })
    }
}

fn query_lines(query: &Query, depth: usize, lines: &mut Vec<(usize, String)>) {
    let mut depth = depth;
    if query.limit.is_some() || query.offset.is_some() {
        lines.push((depth, "Limit".to_owned()));
        depth += 1;
    }
    if !query.sort.is_empty() {
        lines.push((depth, "Sort".to_owned()));
        depth += 1;
    }
    match &query.body {
        Body::Select(select) => match &select.from {
            Some(from) => from_lines(from, depth, lines),
            None => lines.push((depth, "Result".to_owned())),
        },
        Body::Values(_) => lines.push((depth, "Values Scan on \"*VALUES*\"".to_owned())),
        Body::Modify(modify) => {
            let word = match &modify.kind {
                ModifyKind::Insert { .. } => "Insert",
                ModifyKind::Update { .. } => "Update",
                ModifyKind::Delete { .. } => "Delete",
                ModifyKind::Merge { .. } => "Merge",
            };
            let name = &modify.target.table.name;
            lines.push((depth, format!("{word} on {name}")));
            let source = match &modify.kind {
                ModifyKind::Insert { .. } => "Result".to_owned(),
                _ => format!("Seq Scan on {name}"),
            };
            lines.push((depth + 1, source));
        }
        _ => lines.push((depth, "Append".to_owned())),
    }
}

fn from_lines(from: &From, depth: usize, lines: &mut Vec<(usize, String)>) {
    match from {
        From::Table(table) => lines.push((depth, format!("Seq Scan on {}", table.table.name))),
        From::Join { left, right, .. } => {
            lines.push((depth, "Nested Loop".to_owned()));
            from_lines(left, depth + 1, lines);
            from_lines(right, depth + 1, lines);
        }
        _ => lines.push((depth, "Subquery Scan".to_owned())),
    }
}
