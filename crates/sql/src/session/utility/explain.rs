//! EXPLAIN: the shape of a plan. Numbers of costs are made up, since nothing here has any.

use crate::bind::Params;
use crate::error::{Result, SqlError};
use crate::ir::{
    Body, Distinct, From, FromFunction, InsertSource, JoinKind, ModifyKind, OutColumn, Query,
    Select, SetOp,
};
use crate::parse::Parsed;
use crate::session::{Reply, Session};
use crate::types::{Datum, Oid};
use sqlparser::ast::Statement;

/// The one column of the result.
pub(super) fn column(format: &str) -> OutColumn {
    let ty = match format {
        "json" => Oid::JSON,
        "xml" => Oid::XML,
        _ => Oid::TEXT,
    };
    OutColumn { name: "QUERY PLAN".into(), ty, typmod: -1, origin: None, collation: None }
}

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
        let mut binder = env.binder_with(&statement.whole, Params::new(types));
        let query = match &statement.statement {
            Statement::Query(query) => binder.bind_query(query)?,
            Statement::UnlockTables => {
                return Err(SqlError::unsupported("EXPLAIN of such a statement"));
            }
            other => binder.bind_modify(other)?,
        };
        if analyze {
            self.run_query(&env, &query, &statement.whole, params, types)?;
        }
        let plan = query_node(&query);
        let value = |text: String| match format {
            "json" => Datum::Json(text.into()),
            _ => Datum::text(text),
        };
        let rows = match format {
            "text" => {
                let mut lines = Vec::new();
                plan.lines(0, costs, &mut lines);
                lines.into_iter().map(|line| vec![Datum::text(line)]).collect()
            }
            "json" => vec![vec![value(json(&plan, costs))]],
            "yaml" => vec![vec![value(yaml(&plan, costs))]],
            "xml" => vec![vec![value(xml(&plan, costs))]],
            other => return Err(SqlError::unsupported(format!("EXPLAIN with FORMAT {other}"))),
        };
        Ok(Reply::Rows { columns: vec![column(format)], rows, tag: "EXPLAIN".to_owned() })
    }
}

/// A node of a plan.
#[derive(Default)]
struct Node {
    /// What it is, in text.
    text: String,
    /// What it is, as `Node Type`.
    kind: &'static str,
    /// What else there is to say of it: name and value.
    facts: Vec<(&'static str, String)>,
    /// What gives it its rows, and how it stands to these.
    inputs: Vec<(&'static str, Node)>,
}

/// What every node has, as long as costs are wanted.
const COSTS: [(&str, &str); 4] =
    [("Startup Cost", "0.00"), ("Total Cost", "1.00"), ("Plan Rows", "1"), ("Plan Width", "0")];

impl Node {
    fn new(kind: &'static str) -> Node {
        Node { text: kind.to_owned(), kind, ..Node::default() }
    }

    /// Above another one.
    fn over(kind: &'static str, input: Node) -> Node {
        Node { inputs: vec![("Outer", input)], ..Node::new(kind) }
    }

    fn named(mut self, text: String) -> Node {
        self.text = text;
        self
    }

    fn fact(mut self, name: &'static str, value: impl Into<String>) -> Node {
        self.facts.push((name, value.into()));
        self
    }

    fn lines(&self, depth: usize, costs: bool, lines: &mut Vec<String>) {
        let cost = if costs { "  (cost=0.00..1.00 rows=1 width=0)" } else { "" };
        lines.push(match depth {
            0 => format!("{}{cost}", self.text),
            depth => format!("{}->  {}{cost}", " ".repeat(depth * 6 - 4), self.text),
        });
        self.inputs.iter().for_each(|(_, input)| input.lines(depth + 1, costs, lines));
    }

    /// Names and values in the order of PostgreSQL; those that are not quoted are not text.
    fn fields(&self, role: Option<&str>, costs: bool) -> Vec<(&'static str, String, bool)> {
        let mut fields = vec![("Node Type", self.kind.to_owned(), true)];
        let early = ["Strategy", "Partial Mode", "Operation"];
        let fact = |(name, value): &(&'static str, String)| (*name, value.clone(), true);
        let (first, rest): (Vec<_>, Vec<_>) =
            self.facts.iter().partition(|(name, _)| early.contains(name));
        fields.extend(first.into_iter().map(fact));
        fields.extend(role.map(|role| ("Parent Relationship", role.to_owned(), true)));
        fields.push(("Parallel Aware", "false".to_owned(), false));
        fields.push(("Async Capable", "false".to_owned(), false));
        fields.extend(rest.into_iter().map(fact));
        if costs {
            fields.extend(COSTS.map(|(name, value)| (name, value.to_owned(), false)));
        }
        fields
    }
}

/// A text in the quotes of JSON, which are those of YAML too.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = crate::types::json::escape(text, &mut out);
    out
}

fn json(plan: &Node, costs: bool) -> String {
    let body = json_node(plan, None, 3, costs);
    format!("[\n  {{\n    \"Plan\": {{\n{body}\n    }}\n  }}\n]")
}

fn json_node(node: &Node, role: Option<&str>, depth: usize, costs: bool) -> String {
    let space = "  ".repeat(depth);
    let shown = |value: &str, is_text: bool| match is_text {
        true => quoted(value),
        false => value.to_owned(),
    };
    let fields = node.fields(role, costs);
    let mut parts: Vec<String> = fields
        .iter()
        .map(|(name, value, is_text)| format!("{space}\"{name}\": {}", shown(value, *is_text)))
        .collect();
    if !node.inputs.is_empty() {
        let inner = node.inputs.iter().map(|(role, input)| {
            let body = json_node(input, Some(role), depth + 2, costs);
            format!("{space}  {{\n{body}\n{space}  }}")
        });
        let inner: Vec<String> = inner.collect();
        parts.push(format!("{space}\"Plans\": [\n{}\n{space}]", inner.join(",\n")));
    }
    parts.join(",\n")
}

fn yaml(plan: &Node, costs: bool) -> String {
    let mut out = "- Plan: ".to_owned();
    yaml_node(plan, None, 4, false, costs, &mut out);
    out
}

fn yaml_node(
    node: &Node,
    role: Option<&str>,
    indent: usize,
    in_list: bool,
    costs: bool,
    out: &mut String,
) {
    let space = " ".repeat(indent);
    for (place, (name, value, is_text)) in node.fields(role, costs).iter().enumerate() {
        let shown = if *is_text { quoted(value) } else { value.clone() };
        let lead = if in_list && place == 0 { "" } else { &*format!("\n{space}") };
        out.push_str(&format!("{lead}{name}: {shown}"));
    }
    if !node.inputs.is_empty() {
        out.push_str(&format!("\n{space}Plans: "));
        for (role, input) in &node.inputs {
            out.push_str(&format!("\n{space}  - "));
            yaml_node(input, Some(role), indent + 4, true, costs, out);
        }
    }
}

fn xml(plan: &Node, costs: bool) -> String {
    let mut out =
        "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <Query>\n".to_owned();
    xml_node(plan, None, 4, costs, &mut out);
    out.push_str("  </Query>\n</explain>");
    out
}

fn xml_node(node: &Node, role: Option<&str>, indent: usize, costs: bool, out: &mut String) {
    let space = " ".repeat(indent);
    out.push_str(&format!("{space}<Plan>\n"));
    for (name, value, _) in node.fields(role, costs) {
        let tag = name.replace(' ', "-");
        let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        out.push_str(&format!("{space}  <{tag}>{value}</{tag}>\n"));
    }
    if !node.inputs.is_empty() {
        out.push_str(&format!("{space}  <Plans>\n"));
        for (role, input) in &node.inputs {
            xml_node(input, Some(role), indent + 4, costs, out);
        }
        out.push_str(&format!("{space}  </Plans>\n"));
    }
    out.push_str(&format!("{space}</Plan>\n"));
}

/// The plan of a query.
fn query_node(query: &Query) -> Node {
    let mut node = match &query.body {
        Body::Select(select) => select_node(select),
        Body::Values(rows) if rows.len() == 1 => Node::new("Result"),
        Body::Values(_) => Node::new("Values Scan")
            .named("Values Scan on \"*VALUES*\"".to_owned())
            .fact("Alias", "*VALUES*"),
        Body::SetOp { op, all, left, right } => set_node(*op, *all, left, right),
        Body::Modify(modify) => modify_node(modify),
    };
    let ctes = query.ctes.iter().map(|cte| {
        let inner = match &cte.recursive {
            Some((again, _)) => Node {
                inputs: vec![("Outer", query_node(&cte.query)), ("Inner", query_node(again))],
                ..Node::new("Recursive Union")
            },
            None => query_node(&cte.query),
        };
        ("InitPlan", inner.fact("Subplan Name", format!("CTE {}", cte.name)))
    });
    node.inputs.splice(0..0, ctes);
    if !query.sort.is_empty() {
        node = Node::over("Sort", node);
    }
    if !query.locks.is_empty() {
        node = Node::over("LockRows", node);
    }
    if query.limit.is_some() || query.offset.is_some() {
        node = Node::over("Limit", node);
    }
    node
}

fn select_node(select: &Select) -> Node {
    let mut node = match &select.from {
        Some(from) => from_node(from),
        None => Node::new("Result"),
    };
    if let Some(grouping) = &select.grouping {
        let (text, strategy) = match grouping.keys.is_empty() {
            true => ("Aggregate", "Plain"),
            false => ("HashAggregate", "Hashed"),
        };
        node = aggregate_node(text, strategy, node);
    }
    if !select.windows.is_empty() {
        node = Node::over("WindowAgg", node);
    }
    if !select.sets.is_empty() {
        node = Node::over("ProjectSet", node);
    }
    match select.distinct {
        Distinct::No => node,
        Distinct::All => aggregate_node("HashAggregate", "Hashed", node),
        Distinct::On(_) => Node::over("Unique", node),
    }
}

fn aggregate_node(text: &str, strategy: &str, input: Node) -> Node {
    Node::over("Aggregate", input)
        .named(text.to_owned())
        .fact("Strategy", strategy)
        .fact("Partial Mode", "Simple")
}

/// UNION of many is one list of members.
fn set_node(op: SetOp, all: bool, left: &Query, right: &Query) -> Node {
    let mut members = Vec::new();
    let mut rest = left;
    let mut behind = vec![right];
    let is_plain =
        |query: &Query| query.ctes.is_empty() && query.sort.is_empty() && query.limit.is_none();
    while let Body::SetOp { op: inner, all: inner_all, left, right } = &rest.body
        && (*inner, *inner_all) == (op, all)
        && op == SetOp::Union
        && is_plain(rest)
    {
        behind.push(right);
        rest = left;
    }
    members.push(("Member", query_node(rest)));
    members.extend(behind.into_iter().rev().map(|query| ("Member", query_node(query))));
    let append = Node { inputs: members, ..Node::new("Append") };
    match (op, all) {
        (SetOp::Union, true) => append,
        (SetOp::Union, false) => aggregate_node("HashAggregate", "Hashed", append),
        _ => {
            let command = match (op, all) {
                (SetOp::Intersect, false) => "Intersect",
                (SetOp::Intersect, true) => "Intersect All",
                (_, false) => "Except",
                (_, true) => "Except All",
            };
            Node::over("SetOp", append)
                .named(format!("HashSetOp {command}"))
                .fact("Strategy", "Hashed")
                .fact("Command", command)
        }
    }
}

fn modify_node(modify: &crate::ir::Modify) -> Node {
    let scan = || table_node(&modify.target);
    let joined = |from: &From| Node {
        inputs: vec![("Outer", scan()), ("Inner", from_node(from))],
        ..Node::new("Nested Loop").fact("Join Type", "Inner")
    };
    let (word, source) = match &modify.kind {
        ModifyKind::Insert { source: InsertSource::Query(query), .. } => {
            ("Insert", query_node(query))
        }
        ModifyKind::Insert { source: InsertSource::Defaults, .. } => {
            ("Insert", Node::new("Result"))
        }
        ModifyKind::Update { from, .. } => ("Update", from.as_ref().map_or_else(scan, joined)),
        ModifyKind::Delete { from, .. } => ("Delete", from.as_ref().map_or_else(scan, joined)),
        ModifyKind::Merge { source, .. } => ("Merge", joined(source)),
    };
    Node::over("ModifyTable", source)
        .named(format!("{word} on {}", shown_table(&modify.target)))
        .fact("Operation", word)
        .fact("Relation Name", &*modify.target.table.name)
        .fact("Alias", &*modify.target.alias)
}

/// The name of a table, and what it is called here if that is something else.
fn shown_table(table: &crate::ir::TableRef) -> String {
    match table.table.name == table.alias {
        true => table.alias.to_string(),
        false => format!("{} {}", table.table.name, table.alias),
    }
}

fn table_node(table: &crate::ir::TableRef) -> Node {
    Node::new("Seq Scan")
        .named(format!("Seq Scan on {}", shown_table(table)))
        .fact("Relation Name", &*table.table.name)
        .fact("Alias", &*table.alias)
}

fn from_node(from: &From) -> Node {
    match from {
        From::Table(table) => table_node(table),
        From::System { table, .. } => Node::new("Seq Scan")
            .named(format!("Seq Scan on {}", table.name))
            .fact("Relation Name", table.name)
            .fact("Alias", table.name),
        From::Query { query, .. } => {
            Node { inputs: vec![("Subquery", query_node(query))], ..Node::new("Subquery Scan") }
        }
        From::Cte { .. } => Node::new("CTE Scan"),
        From::Functions { functions, .. } => match &functions[..] {
            [FromFunction::Set(call)] => Node::new("Function Scan")
                .named(format!("Function Scan on {}", call.callee.proc.name))
                .fact("Function Name", call.callee.proc.name),
            _ => Node::new("Function Scan"),
        },
        From::Join { kind, left, right, .. } => {
            let (text, kind) = match kind {
                JoinKind::Inner => ("Nested Loop", "Inner"),
                JoinKind::Left => ("Nested Loop Left Join", "Left"),
                JoinKind::Right => ("Nested Loop Right Join", "Right"),
                JoinKind::Full => ("Nested Loop Full Join", "Full"),
            };
            let inputs = vec![("Outer", from_node(left)), ("Inner", from_node(right))];
            Node { inputs, ..Node::new("Nested Loop") }
                .named(text.to_owned())
                .fact("Join Type", kind)
        }
    }
}
