//! Random queries, whose results do not depend on the plan.

use super::expressions::{Maker, Scope};
use super::kinds::{COMMON, KINDS, Kind};

/// A statement, and whether it says in which order its rows come.
#[derive(Clone, Debug)]
pub struct Query {
    pub text: String,
    pub is_ordered: bool,
}

impl Query {
    fn any_order(text: String) -> Query {
        Query { text, is_ordered: false }
    }
}

/// A FROM clause.
struct From {
    text: String,
    scope: Scope,
    /// What tells its rows from each other.
    keys: Vec<String>,
}

/// The expression as one to order or group by, where a constant alone would mean a column.
fn keyed(expression: &str) -> String {
    let is_constant = expression.chars().all(|c| c.is_ascii_alphanumeric());
    if is_constant { format!("coalesce({expression})") } else { format!("({expression})") }
}

impl Maker<'_> {
    pub fn query(&mut self) -> Query {
        match self.dice.below(16) {
            0..=3 => self.plain_select(),
            4..=6 => self.grouped(),
            7 | 8 => self.windows(),
            9 | 10 => self.set_operation(),
            11 => self.distinct(),
            12 => self.distinct_on(),
            13 => self.with(),
            14 => self.failing(),
            _ => self.grouping_sets(),
        }
    }

    fn from(&mut self) -> From {
        let mut found = self.one_table();
        for _ in 0..self.dice.pick(&[0, 0, 1, 1, 2]) {
            found = self.join(found);
        }
        found
    }

    fn one_table(&mut self) -> From {
        let table = self.dice.pick(self.tables);
        let alias = self.alias();
        let columns: Vec<(String, Kind)> =
            table.columns.iter().map(|(name, kind)| (format!("{alias}.{name}"), *kind)).collect();
        let scope = Scope { columns };
        let keys = vec![format!("{alias}.id")];
        let text = match self.dice.below(8) {
            0 => {
                let test = self.condition(&scope, 1).replace(&format!("{alias}."), "");
                format!("(SELECT * FROM {} WHERE {test}) {alias}", table.name)
            }
            1 => {
                let from = format!("(SELECT * FROM {} ORDER BY id LIMIT 3)", table.name);
                format!("{from} AS {alias}")
            }
            _ => format!("{} {alias}", table.name),
        };
        From { text, scope, keys }
    }

    fn join(&mut self, left: From) -> From {
        let right = self.one_table();
        let both = Scope { columns: [&left.scope.columns[..], &right.scope.columns].concat() };
        let word =
            self.dice.pick(&["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS"]);
        let text = match word {
            "CROSS" => format!("{} CROSS JOIN {}", left.text, right.text),
            // Other conditions are not supported by every plan.
            "FULL JOIN" => {
                let (a, b) = (&left.keys[0], &right.keys[0]);
                format!("{} FULL JOIN {} ON {a} = {b}", left.text, right.text)
            }
            _ => {
                let test = self.join_condition(&left.scope, &right.scope, &both);
                format!("{} {word} {} ON {test}", left.text, right.text)
            }
        };
        From { text, scope: both, keys: [left.keys, right.keys].concat() }
    }

    fn join_condition(&mut self, left: &Scope, right: &Scope, both: &Scope) -> String {
        let pairs: Vec<String> = left
            .columns
            .iter()
            .flat_map(|(a, kind)| {
                let same = right.columns.iter().filter(|column| column.1 == *kind);
                same.map(|(b, _)| format!("{a} = {b}")).collect::<Vec<_>>()
            })
            .collect();
        let equal = self.dice.pick(&pairs);
        match self.dice.below(4) {
            0 => self.condition(both, 2),
            1 => format!("{equal} AND {}", self.condition(both, 1)),
            _ => equal,
        }
    }

    fn filter(&mut self, scope: &Scope) -> String {
        if self.dice.percent(60) {
            format!(" WHERE {}", self.condition(scope, 2))
        } else {
            String::new()
        }
    }

    fn kinds(&mut self) -> Vec<Kind> {
        (0..self.dice.between(1, 3)).map(|_| Kind::any(self.dice)).collect()
    }

    fn items(&mut self, scope: &Scope, kinds: &[Kind]) -> Vec<String> {
        kinds.iter().map(|&kind| self.value(scope, kind, 3)).collect()
    }

    fn plain_select(&mut self) -> Query {
        let from = self.from();
        let kinds = self.kinds();
        let mut items = self.items(&from.scope, &kinds);
        let filter = self.filter(&from.scope);
        if self.dice.percent(50) {
            let text = format!("SELECT {} FROM {}{filter}", items.join(", "), from.text);
            return Query::any_order(text);
        }
        // Ordered by something, then by what tells rows from each other.
        let kind = Kind::any(self.dice);
        let value = keyed(&self.value(&from.scope, kind, 1));
        let direction = self.dice.pick(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
        let mut order = vec![format!("{value}{direction}")];
        order.extend(from.keys.iter().cloned());
        items.extend(from.keys.iter().cloned());
        let limit = self.limit();
        let text = format!(
            "SELECT {} FROM {}{filter} ORDER BY {}{limit}",
            items.join(", "),
            from.text,
            order.join(", ")
        );
        Query { text, is_ordered: true }
    }

    fn limit(&mut self) -> String {
        match self.dice.below(4) {
            0 => format!(" LIMIT {}", self.dice.below(5)),
            1 => format!(" LIMIT {} OFFSET {}", self.dice.below(5), self.dice.below(4)),
            2 => format!(" OFFSET {}", self.dice.below(4)),
            _ => String::new(),
        }
    }

    fn aggregate(&mut self, scope: &Scope) -> String {
        let kind = Kind::any(self.dice);
        let value = self.value(scope, kind, 2);
        let number = self.dice.pick(&[Kind::Int2, Kind::Int4, Kind::Int8, Kind::Numeric]);
        let distinct = self.dice.pick(&["", "", "DISTINCT "]);
        let call = match self.dice.below(10) {
            0 => "count(*)".to_owned(),
            1 => format!("count({distinct}{value})"),
            2 | 3 => {
                let function = self.dice.pick(&["sum", "avg"]);
                let value = self.value(scope, number, 2);
                // Of 1 and 1.00, which are equal, DISTINCT keeps the one that comes first, and that
                // is the plan's business: PostgreSQL itself sums 1.00 or 1, as rows are joined.
                let value = if distinct.is_empty() { value } else { number.plain(&value) };
                format!("{function}({distinct}{value})")
            }
            // Whatever the order, sums of these are exact.
            4 => format!("{}({})", self.dice.pick(&["sum", "avg"]), self.leaf(scope, Kind::Float8)),
            5 => {
                let plain = kind.plain(&value);
                let function = if kind.plain_kind().has_extremes() {
                    self.dice.pick(&["min", "max"])
                } else {
                    "count"
                };
                format!("{function}({plain})")
            }
            6 => {
                let function = self.dice.pick(&["bool_and", "bool_or"]);
                format!("{function}({})", self.condition(scope, 1))
            }
            7 => {
                let text = format!("({})::text", kind.plain(&value));
                format!("string_agg({distinct}{text}, ',' ORDER BY {text})")
            }
            8 => {
                let plain = kind.plain(&value);
                format!("array_agg({plain} ORDER BY {plain})")
            }
            _ => {
                let function = self.dice.pick(&["var_pop", "stddev", "variance", "bit_or"]);
                let number = if function == "bit_or" { Kind::Int4 } else { number };
                format!("{function}({})", self.value(scope, number, 1))
            }
        };
        if self.dice.percent(20) {
            return format!("{call} FILTER (WHERE {})", self.condition(scope, 1));
        }
        call
    }

    fn aggregates(&mut self, scope: &Scope) -> Vec<String> {
        (0..self.dice.between(1, 3)).map(|_| self.aggregate(scope)).collect()
    }

    fn group_keys(&mut self, scope: &Scope) -> Vec<String> {
        let count = self.dice.between(1, 2);
        (0..count)
            .map(|_| {
                let kind = Kind::any(self.dice);
                let columns: Vec<_> =
                    scope.columns.iter().filter(|column| column.1 == kind).collect();
                match columns.first() {
                    Some(column) if self.dice.percent(60) => kind.plain(&column.0),
                    _ => kind.plain(&self.value(scope, kind, 1)),
                }
            })
            .map(|key| keyed(&key))
            .collect()
    }

    fn grouped(&mut self) -> Query {
        let from = self.from();
        let filter = self.filter(&from.scope);
        let aggregates = self.aggregates(&from.scope);
        if self.dice.percent(30) {
            let text = format!("SELECT {} FROM {}{filter}", aggregates.join(", "), from.text);
            return Query::any_order(text);
        }
        let keys = self.group_keys(&from.scope);
        let having = if self.dice.percent(30) {
            format!(" HAVING {} IS NOT NULL", self.aggregate(&from.scope))
        } else {
            String::new()
        };
        let text = format!(
            "SELECT {}, {} FROM {}{filter} GROUP BY {}{having}",
            keys.join(", "),
            aggregates.join(", "),
            from.text,
            keys.join(", ")
        );
        Query::any_order(text)
    }

    fn grouping_sets(&mut self) -> Query {
        let from = self.from();
        let filter = self.filter(&from.scope);
        let aggregates = self.aggregates(&from.scope);
        // Columns, so that `grouping` can name them.
        let mut keys: Vec<String> = Vec::new();
        let plain = |kind: Kind| !matches!(kind, Kind::Jsonb | Kind::Interval | Kind::Float8);
        let columns: Vec<_> = from.scope.columns.iter().filter(|c| plain(c.1)).collect();
        for _ in 0..2 {
            let column = self.dice.pick(&columns).0.clone();
            if !keys.contains(&column) {
                keys.push(column);
            }
        }
        let all = keys.join(", ");
        let sets = match self.dice.below(3) {
            0 => format!("ROLLUP ({all})"),
            1 => format!("CUBE ({all})"),
            _ => format!("GROUPING SETS (({all}), ({}), ())", keys[0]),
        };
        let text = format!(
            "SELECT {all}, grouping({all}), {} FROM {}{filter} GROUP BY {sets}",
            aggregates.join(", "),
            from.text
        );
        Query::any_order(text)
    }

    fn windows(&mut self) -> Query {
        let from = self.from();
        let filter = self.filter(&from.scope);
        let keys = from.keys.join(", ");
        let calls: Vec<String> =
            (0..self.dice.between(1, 2)).map(|_| self.window_call(&from.scope, &keys)).collect();
        let text = format!("SELECT {keys}, {} FROM {}{filter}", calls.join(", "), from.text);
        Query::any_order(text)
    }

    fn window_call(&mut self, scope: &Scope, keys: &str) -> String {
        let kind = Kind::any(self.dice);
        let value = self.value(scope, kind, 1);
        let int = self.value(scope, Kind::Int4, 1);
        let partition = if self.dice.percent(50) {
            let kind = Kind::any(self.dice);
            format!("PARTITION BY {} ", self.value(scope, kind, 1))
        } else {
            String::new()
        };
        let order_kind = Kind::any(self.dice);
        let order = format!(
            "({}){}",
            self.value(scope, order_kind, 1),
            self.dice.pick(&["", " DESC", " NULLS FIRST"])
        );
        let total = format!("{partition}ORDER BY {order}, {keys}");
        let frame = self.frame();
        match self.dice.below(8) {
            0 => format!("row_number() OVER ({total})"),
            1 => format!(
                "{}() OVER ({partition}ORDER BY {order})",
                self.dice.pick(&["rank", "dense_rank", "percent_rank", "cume_dist"])
            ),
            2 => format!("{}({value}, 1) OVER ({total})", self.dice.pick(&["lag", "lead"])),
            3 => format!(
                "{}({value}) OVER ({total}{frame})",
                self.dice.pick(&["first_value", "last_value"])
            ),
            4 => format!("sum({int}) OVER ({total}{frame})"),
            5 => format!("count({value}) OVER ({partition}ORDER BY {order})"),
            6 => format!("ntile(3) OVER ({total})"),
            _ => format!("max({int}) OVER ({partition}ORDER BY {int} RANGE 2 PRECEDING)"),
        }
    }

    fn frame(&mut self) -> String {
        let frames = [
            "",
            " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
            " RANGE UNBOUNDED PRECEDING",
        ];
        self.dice.pick(&frames).to_owned()
    }

    /// A select of values of these kinds, in which equal values look the same.
    fn part(&mut self, kinds: &[Kind]) -> String {
        let from = self.from();
        let items: Vec<String> =
            kinds.iter().map(|&kind| kind.plain(&self.value(&from.scope, kind, 2))).collect();
        let filter = self.filter(&from.scope);
        format!("SELECT {} FROM {}{filter}", items.join(", "), from.text)
    }

    fn set_operation(&mut self) -> Query {
        let kinds = self.kinds();
        let words = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"];
        let mut text = self.part(&kinds);
        for _ in 0..self.dice.between(1, 2) {
            let word = self.dice.pick(&words);
            text = match self.dice.below(3) {
                0 => format!("({text}) {word} ({})", self.part(&kinds)),
                1 => format!("{} {word} ({text})", self.part(&kinds)),
                _ => format!("{text} {word} {}", self.part(&kinds)),
            };
        }
        if self.dice.percent(50) {
            return Query::any_order(text);
        }
        let order: Vec<String> = (1..=kinds.len()).map(|place| place.to_string()).collect();
        let limit = self.limit();
        Query { text: format!("{text} ORDER BY {}{limit}", order.join(", ")), is_ordered: true }
    }

    fn distinct(&mut self) -> Query {
        let kinds = self.kinds();
        let text = self.part(&kinds).replacen("SELECT", "SELECT DISTINCT", 1);
        Query::any_order(text)
    }

    fn distinct_on(&mut self) -> Query {
        let from = self.from();
        let key_kind = Kind::any(self.dice);
        let key = keyed(&self.value(&from.scope, key_kind, 1));
        let kinds = self.kinds();
        let items = self.items(&from.scope, &kinds);
        let filter = self.filter(&from.scope);
        let text = format!(
            "SELECT DISTINCT ON ({key}) {} FROM {}{filter} ORDER BY {key}, {}",
            items.join(", "),
            from.text,
            from.keys.join(", ")
        );
        Query { text, is_ordered: true }
    }

    fn with(&mut self) -> Query {
        let kinds = self.kinds();
        let inner = self.part(&kinds);
        let names: Vec<String> = (0..kinds.len()).map(|place| format!("x{place}")).collect();
        let columns =
            names.iter().zip(&kinds).map(|(name, kind)| (format!("w.{name}"), kind.plain_kind()));
        let scope = Scope { columns: columns.collect() };
        let outer = self.kinds();
        let items = self.items(&scope, &outer);
        let filter = self.filter(&scope);
        let how = self.dice.pick(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
        let text = format!(
            "WITH w ({}) AS {how}({inner}) SELECT {} FROM w{filter}",
            names.join(", "),
            items.join(", ")
        );
        Query::any_order(text)
    }

    /// A statement that is refused, or fails for some row, in the same way with every plan.
    fn failing(&mut self) -> Query {
        let table = self.dice.pick(self.tables);
        let columns = table.columns.iter();
        let columns = columns.map(|(name, kind)| (format!("t.{name}"), *kind)).collect();
        let scope = Scope { columns };
        let mut expression =
            if self.dice.percent(50) { self.risky(&scope) } else { self.ill_typed(&scope) };
        // What is about no column may be evaluated for no row at all.
        if !expression.contains("t.") {
            expression = "7 / (t.id - 1)".to_owned();
        }
        let source = format!("{} t", table.name);
        Query::any_order(format!("SELECT {expression} FROM {source}"))
    }

    /// Kinds for the columns of a change.
    pub fn some_kind(&mut self) -> Kind {
        if self.dice.percent(70) { self.dice.pick(&COMMON) } else { self.dice.pick(&KINDS) }
    }
}
