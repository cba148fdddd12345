//! SHOW, DESCRIBE and EXPLAIN.

use super::answer::Column;
use super::dialect::comments;
use super::dialect::information::{
    Fact, column_facts, databases, facts, index_columns, indexes, relations,
};
use super::dialect::information_keys::rule;
use super::dialect::known::Known;
use super::dialect::words::Words;
use super::error::MysqlError;
use super::session::{Made, MysqlSession, Outcome};
use seriatim_sql::Datum;
use seriatim_sql::catalog::{ConstraintKind, Table};
use seriatim_sql::types::Row;
use std::sync::Arc;

/// A result of texts.
fn texts(columns: &[&str], rows: Vec<Vec<Fact>>) -> Outcome {
    let is_number =
        |place: usize| rows.iter().any(|row| matches!(row.get(place), Some(Fact::Number(_))));
    let column = |(place, name): (usize, &&str)| match is_number(place) {
        true => Column::of_numbers(name),
        false => Column::of_text(name),
    };
    let columns = columns.iter().enumerate().map(column).collect();
    let value = |fact: Fact| match fact {
        Fact::Null => Datum::Null,
        Fact::Number(number) => Datum::Int8(number as i64),
        Fact::Text(text) => Datum::text(text),
    };
    let row = |row: Vec<Fact>| row.into_iter().map(value).collect::<Row>();
    Outcome::Rows(columns, rows.into_iter().map(row).collect())
}

/// Whether a name is like a pattern of LIKE.
fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern) = (name.to_lowercase(), pattern.to_lowercase());
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    // Which ends of the name the pattern so far can reach.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    let mut place = 0;
    while place < pattern.len() {
        let letter = pattern[place];
        if letter == '%' {
            let first = reached.iter().position(|&it| it).unwrap_or(reached.len());
            reached.iter_mut().skip(first).for_each(|it| *it = true);
        } else {
            let escaped = letter == '\\' && place + 1 < pattern.len();
            let wanted = if escaped { pattern[place + 1] } else { letter };
            place += usize::from(escaped);
            let any = letter == '_';
            let fits = |end: usize| end > 0 && (any || name[end - 1] == wanted);
            reached = (0..=name.len()).map(|end| fits(end) && reached[end - 1]).collect();
        }
        place += 1;
    }
    reached[name.len()]
}

/// What restricts a SHOW.
struct Filter(Option<String>);

impl Filter {
    fn read(words: &mut Words) -> Made<Filter> {
        if words.eat("like") {
            return Ok(Filter(Some(words.name()?)));
        }
        if words.eat("where") {
            // WHERE Variable_name = 'x', which drivers write.
            let column = words.name()?;
            let is_equal = words.eat_token(&sqlparser::tokenizer::Token::Eq) || words.eat("like");
            if is_equal && !column.is_empty() {
                let value = words.name()?;
                if words.is_at_end() {
                    return Ok(Filter(Some(value)));
                }
            }
            return Err(MysqlError::unsupported("this WHERE in SHOW"));
        }
        words.finish()?;
        Ok(Filter(None))
    }

    fn passes(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|pattern| is_like(name, pattern))
    }
}

impl MysqlSession {
    pub fn show(&mut self, mut words: Words) -> Made<Outcome> {
        let is_full = words.eat("full") || words.eat("extended");
        words.eat_any(&["global", "session", "local"]);
        let what = words.next_word();
        words.eat(&what);
        match what.as_str() {
            "variables" => {
                let filter = Filter::read(&mut words)?;
                let all = self.variables.all().into_iter().filter(|(name, _)| filter.passes(name));
                let rows = all.map(|(name, value)| vec![name.into(), value.into()]).collect();
                Ok(texts(&["Variable_name", "Value"], rows))
            }
            "status" => Ok(texts(&["Variable_name", "Value"], Vec::new())),
            "databases" | "schemas" => {
                let filter = Filter::read(&mut words)?;
                let all = databases(&self.known(None)).into_iter();
                let rows = all.filter(|it| filter.passes(it)).map(|it| vec![it.into()]).collect();
                Ok(texts(&["Database"], rows))
            }
            "tables" => self.show_tables(words, is_full),
            "columns" | "fields" => {
                let table = self.table_of(&mut words)?;
                let filter = Filter::read(&mut words)?;
                Ok(described(&self.known(None), &table, &filter, is_full))
            }
            "index" | "indexes" | "keys" => {
                let table = self.table_of(&mut words)?;
                Ok(self.show_indexes(&table))
            }
            "create" => self.show_create(words),
            "table" => self.show_table_status(words),
            "warnings" | "errors" | "count" => Ok(self.show_warnings(&what)),
            "engines" => {
                let columns = ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"];
                Ok(texts(&columns, facts("engines", &self.known(None))?.rows))
            }
            "collation" => {
                let filter = Filter::read(&mut words)?;
                let columns = ["Collation", "Charset", "Id", "Default", "Compiled", "Sortlen"];
                let mut rows = facts("collations", &self.known(None))?.rows;
                rows.retain(|row| matches!(&row[0], Fact::Text(name) if filter.passes(name)));
                Ok(texts(&columns, rows))
            }
            "character" | "charset" => {
                let columns = ["Charset", "Description", "Default collation", "Maxlen"];
                let row = ["utf8mb4", "UTF-8 Unicode", "utf8mb4_bin", "4"];
                Ok(texts(&columns, vec![row.into_iter().map(Fact::from).collect()]))
            }
            "processlist" => {
                let columns = ["Id", "User", "Host", "db", "Command", "Time", "State", "Info"];
                let number = u64::from(self.sql.number());
                let row = vec![
                    number.into(),
                    self.user.clone().into(),
                    "localhost".into(),
                    self.selected.clone().into(),
                    "Query".into(),
                    0.into(),
                    "".into(),
                    "SHOW PROCESSLIST".into(),
                ];
                Ok(texts(&columns, vec![row]))
            }
            "plugins" | "triggers" | "events" | "procedure" | "function" => {
                Ok(texts(&["Name"], Vec::new()))
            }
            "grants" => {
                let grant = format!("GRANT ALL PRIVILEGES ON *.* TO `{}`@`%`", self.user);
                Ok(texts(&["Grants"], vec![vec![grant.into()]]))
            }
            other => Err(MysqlError::unsupported(format!("SHOW {}", other.to_uppercase()))),
        }
    }

    fn show_tables(&mut self, mut words: Words, is_full: bool) -> Made<Outcome> {
        let database = match words.eat("from") || words.eat("in") {
            true => words.name()?,
            false => self.selected.clone().ok_or_else(MysqlError::no_database)?,
        };
        let filter = Filter::read(&mut words)?;
        let known = self.known(None);
        if known.catalog.schema(&database).is_none() && database != "information_schema" {
            return Err(MysqlError::unknown_database(&database));
        }
        let title = match &filter.0 {
            Some(pattern) => format!("Tables_in_{database} ({pattern})"),
            None => format!("Tables_in_{database}"),
        };
        let all = relations(&known, &database).into_iter().filter(|(name, _)| filter.passes(name));
        let row = |(name, is_view): (String, bool)| {
            let kind = if is_view { "VIEW" } else { "BASE TABLE" };
            let mut row = vec![Fact::from(name)];
            row.extend(is_full.then(|| Fact::from(kind)));
            row
        };
        let rows = all.map(row).collect();
        Ok(match is_full {
            true => texts(&[&title, "Table_type"], rows),
            false => texts(&[&title], rows),
        })
    }

    /// The table that FROM names, and perhaps its database behind it.
    fn table_of(&mut self, words: &mut Words) -> Made<Arc<Table>> {
        words.eat_any(&["from", "in"]);
        self.table_named(words)
    }

    fn table_named(&mut self, words: &mut Words) -> Made<Arc<Table>> {
        let mut name = words.name()?;
        let mut database = None;
        if words.eat_token(&sqlparser::tokenizer::Token::Period) {
            database = Some(std::mem::replace(&mut name, words.name()?));
        } else if words.eat("from") || words.eat("in") {
            database = Some(words.name()?);
        }
        let database = database.or_else(|| self.selected.clone());
        let database = database.ok_or_else(MysqlError::no_database)?;
        self.known(None).table(&database, &name).ok_or_else(|| {
            let message = format!("Table '{database}.{name}' doesn't exist");
            MysqlError::new(1146, "42S02", message)
        })
    }

    pub fn describe(&mut self, mut words: Words) -> Made<Outcome> {
        if matches!(words.next_word().as_str(), "select" | "insert" | "update" | "delete") {
            return self.explain(words);
        }
        let table = self.table_named(&mut words)?;
        let filter = match words.is_at_end() {
            true => Filter(None),
            false => Filter(Some(words.name()?)),
        };
        Ok(described(&self.known(None), &table, &filter, false))
    }

    /// How a statement runs is not told in MySQL's terms.
    pub fn explain(&mut self, mut words: Words) -> Made<Outcome> {
        let first = words.next_word();
        let is_statement = matches!(
            first.as_str(),
            "select"
                | "insert"
                | "update"
                | "delete"
                | "replace"
                | "extended"
                | "format"
                | "analyze"
                | "partitions"
                | "with"
        );
        if is_statement {
            return Err(MysqlError::unsupported("EXPLAIN"));
        }
        let table = self.table_named(&mut words)?;
        Ok(described(&self.known(None), &table, &Filter(None), false))
    }

    fn show_indexes(&self, table: &Table) -> Outcome {
        let columns = [
            "Table",
            "Non_unique",
            "Key_name",
            "Seq_in_index",
            "Column_name",
            "Collation",
            "Cardinality",
            "Sub_part",
            "Packed",
            "Null",
            "Index_type",
            "Comment",
            "Index_comment",
            "Ignored",
        ];
        let known = self.known(None);
        let mut rows: Vec<Vec<Fact>> = Vec::new();
        for (name, index) in indexes(&known, table) {
            for (place, column) in index_columns(&index, table).iter().enumerate() {
                rows.push(vec![
                    table.name.to_string().into(),
                    u64::from(!index.unique).into(),
                    name.clone().into(),
                    (place as u64 + 1).into(),
                    column.name.to_string().into(),
                    "A".into(),
                    0.into(),
                    Fact::Null,
                    Fact::Null,
                    if column.not_null { "" } else { "YES" }.into(),
                    "BTREE".into(),
                    "".into(),
                    "".into(),
                    "NO".into(),
                ]);
            }
        }
        texts(&columns, rows)
    }

    fn show_create(&mut self, mut words: Words) -> Made<Outcome> {
        if words.eat("database") || words.eat("schema") {
            let name = words.name()?;
            let text =
                format!("CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 */");
            let row = vec![name.into(), text.into()];
            return Ok(texts(&["Database", "Create Database"], vec![row]));
        }
        if !words.eat("table") {
            return Err(MysqlError::unsupported("this SHOW CREATE"));
        }
        let table = self.table_named(&mut words)?;
        let text = created(&self.known(None), &table);
        let row = vec![table.name.to_string().into(), text.into()];
        Ok(texts(&["Table", "Create Table"], vec![row]))
    }

    fn show_table_status(&mut self, mut words: Words) -> Made<Outcome> {
        if !words.eat("status") {
            return Err(words.error());
        }
        let database = match words.eat("from") || words.eat("in") {
            true => words.name()?,
            false => self.selected.clone().ok_or_else(MysqlError::no_database)?,
        };
        let filter = Filter::read(&mut words)?;
        let all = relations(&self.known(None), &database).into_iter();
        let row = |(name, is_view): (String, bool)| {
            let engine = (!is_view).then_some("InnoDB");
            vec![name.into(), engine.into(), Fact::from(if is_view { "VIEW" } else { "" })]
        };
        let rows = all.filter(|(name, _)| filter.passes(name)).map(row).collect();
        Ok(texts(&["Name", "Engine", "Comment"], rows))
    }

    fn show_warnings(&self, what: &str) -> Outcome {
        if what == "count" {
            return texts(
                &["@@session.warning_count"],
                vec![vec![(self.warnings.len() as u64).into()]],
            );
        }
        let wanted = self.warnings.iter().filter(|it| what == "warnings" || it.level == "Error");
        let row = |it: &super::session::Warning| {
            vec![it.level.into(), u64::from(it.number).into(), it.message.clone().into()]
        };
        texts(&["Level", "Code", "Message"], wanted.map(row).collect())
    }
}

fn described(known: &Known<'_>, table: &Table, filter: &Filter, is_full: bool) -> Outcome {
    let mut rows = Vec::new();
    for (_, column) in table.live().filter(|(_, it)| filter.passes(&it.name)) {
        let it = column_facts(known, table, column);
        let null = if column.not_null { "NO" } else { "YES" };
        let is_text = it.ty.contains("char") || it.ty.contains("text") || it.ty.starts_with("enum");
        let mut row: Vec<Fact> = vec![column.name.to_string().into(), it.ty.into()];
        if is_full {
            row.push(is_text.then_some("utf8mb4_bin").into());
        }
        row.extend([null.into(), it.key.into(), it.default.into(), it.extra.into()]);
        if is_full {
            row.push("select,insert,update,references".into());
            row.push(comments::comment(column).into());
        }
        rows.push(row);
    }
    match is_full {
        true => texts(
            &[
                "Field",
                "Type",
                "Collation",
                "Null",
                "Key",
                "Default",
                "Extra",
                "Privileges",
                "Comment",
            ],
            rows,
        ),
        false => texts(&["Field", "Type", "Null", "Key", "Default", "Extra"], rows),
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<String>>().join(",")
}

/// The statement that makes a table.
fn created(known: &Known<'_>, table: &Table) -> String {
    let mut lines = Vec::new();
    for (_, column) in table.live() {
        let it = column_facts(known, table, column);
        let null = if column.not_null { " NOT NULL" } else { "" };
        let default = match &it.default {
            Some(text) if text == "current_timestamp()" || text.parse::<f64>().is_ok() => {
                format!(" DEFAULT {text}")
            }
            Some(text) => format!(" DEFAULT '{}'", text.replace('\'', "''")),
            None if column.not_null => String::new(),
            None => " DEFAULT NULL".to_owned(),
        };
        let extra = match it.extra.as_str() {
            "" => String::new(),
            "auto_increment" => " AUTO_INCREMENT".to_owned(),
            other => format!(
                " {}",
                other.to_uppercase().replace("CURRENT_TIMESTAMP()", "current_timestamp()")
            ),
        };
        lines.push(format!("  `{}` {}{null}{default}{extra}", column.name, it.ty));
    }
    for (name, index) in indexes(known, table) {
        let columns = listed(index_columns(&index, table).iter().map(|it| it.name.to_string()));
        lines.push(match (index.primary, index.unique) {
            (true, _) => format!("  PRIMARY KEY ({columns})"),
            (_, true) => format!("  UNIQUE KEY `{name}` ({columns})"),
            _ => format!("  KEY `{name}` ({columns})"),
        });
    }
    for constraint in &table.constraints {
        let name = &constraint.name;
        match &constraint.kind {
            ConstraintKind::ForeignKey(key) => {
                let Some(other) = known.catalog.table(key.table) else { continue };
                let own = listed(key.columns.iter().map(|&it| table.column(it).name.to_string()));
                let theirs =
                    listed(key.referenced.iter().map(|&it| other.column(it).name.to_string()));
                let mut line = format!(
                    "  CONSTRAINT `{name}` FOREIGN KEY ({own}) REFERENCES `{}` ({theirs})",
                    other.name
                );
                for (word, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
                    if rule(action) != "RESTRICT" {
                        line.push_str(&format!(" ON {word} {}", rule(action)));
                    }
                }
                lines.push(line);
            }
            ConstraintKind::Check { text, .. } if !name.contains('\u{1f}') => {
                lines.push(format!("  CONSTRAINT `{name}` CHECK ({})", text.replace('"', "`")));
            }
            _ => {}
        }
    }
    let body = lines.join(",\n");
    format!(
        "CREATE TABLE `{}` (\n{body}\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
        table.name
    )
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn patterns_have_any_letter_and_any_text() {
        assert!(is_like("sql_mode", "sql%"));
        assert!(is_like("sql_mode", "SQL\\_mode"));
        assert!(is_like("abc", "a_c") && !is_like("abbc", "a_c"));
        assert!(is_like("abc", "%c") && !is_like("abc", "%b"));
        assert!(is_like("", "%") && !is_like("a", ""));
    }
}
