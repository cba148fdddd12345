//! Random expressions of a given type.
//!
//! Nothing here fails when it is evaluated: whether a failing expression is evaluated at all
//! depends on the plan. `risky` is for statements in which it does not.

use super::dice::Dice;
use super::kinds::{KINDS, Kind, NUMBERS};
use super::schema::Table;

/// The columns that an expression may name.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub columns: Vec<(String, Kind)>,
}

/// What makes expressions.
pub struct Maker<'a> {
    pub dice: &'a mut Dice,
    pub tables: &'a [Table],
    /// Numbers the aliases of subqueries.
    pub aliases: usize,
}

impl Maker<'_> {
    pub fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("s{}", self.aliases)
    }

    /// A column of this kind, or a literal.
    pub fn leaf(&mut self, scope: &Scope, kind: Kind) -> String {
        let fitting: Vec<&String> = scope
            .columns
            .iter()
            .filter(|column| column.1 == kind)
            .map(|column| &column.0)
            .collect();
        if fitting.is_empty() || self.dice.percent(25) {
            return kind.literal(self.dice);
        }
        self.dice.pick(&fitting).clone()
    }

    /// An expression of this kind.
    pub fn value(&mut self, scope: &Scope, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.dice.percent(30) {
            return self.leaf(scope, kind);
        }
        let depth = depth - 1;
        if self.dice.percent(25) {
            return self.general(scope, kind, depth);
        }
        match kind {
            Kind::Bool => self.condition(scope, depth),
            kind if kind.is_number() => self.number(scope, kind, depth),
            Kind::Text => self.text(scope, depth),
            Kind::Ints | Kind::Texts => self.array(scope, kind, depth),
            Kind::Jsonb => self.json(scope, depth),
            kind => self.other(scope, kind, depth),
        }
    }

    /// What there is for every type.
    fn general(&mut self, scope: &Scope, kind: Kind, depth: usize) -> String {
        let (a, b) = (self.value(scope, kind, depth), self.value(scope, kind, depth));
        match self.dice.below(6) {
            0 => {
                let test = self.condition(scope, depth);
                format!("CASE WHEN {test} THEN {a} ELSE {b} END")
            }
            1 => format!("coalesce({a}, {b})"),
            2 => format!("nullif({a}, {b})"),
            3 if kind != Kind::Jsonb => format!("greatest({a}, {b})"),
            4 => self.scalar_subquery(scope, kind, depth),
            _ => format!("({a})"),
        }
    }

    fn scalar_subquery(&mut self, scope: &Scope, kind: Kind, depth: usize) -> String {
        let (from, inner) = self.source(scope);
        let value = self.value(&inner, kind, depth.min(1));
        let test = self.condition(&inner, depth.min(1));
        let alias = from.rsplit(' ').next().unwrap_or_default();
        if kind.has_extremes() && self.dice.percent(60) {
            let function = self.dice.pick(&["min", "max"]);
            let value = kind.plain(&value);
            return format!("(SELECT {function}({value}) FROM {from} WHERE {test})");
        }
        format!("(SELECT {value} FROM {from} WHERE {test} ORDER BY {alias}.id LIMIT 1)")
    }

    /// A table with a new alias; its columns, and those around.
    fn source(&mut self, scope: &Scope) -> (String, Scope) {
        let table = self.dice.pick(self.tables);
        let alias = self.alias();
        let columns = table.columns.iter().map(|(name, kind)| (format!("{alias}.{name}"), *kind));
        let inner = Scope { columns: columns.chain(scope.columns.iter().cloned()).collect() };
        (format!("{} {alias}", table.name), inner)
    }

    pub fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        let less = depth.saturating_sub(1);
        match self.dice.below(14) {
            0..=3 => self.comparison(scope, less),
            4 => {
                let (a, b) = (self.condition_or_leaf(scope, less), self.comparison(scope, less));
                format!("({a} {} {b})", self.dice.pick(&["AND", "OR"]))
            }
            5 => format!("(NOT {})", self.condition_or_leaf(scope, less)),
            6 => {
                let kind = Kind::any(self.dice);
                let value = self.value(scope, kind, less);
                format!("({value} {})", self.dice.pick(&["IS NULL", "IS NOT NULL"]))
            }
            7 => {
                let test = self.condition_or_leaf(scope, less);
                let tests = ["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS UNKNOWN", "IS NOT UNKNOWN"];
                format!("({test} {})", self.dice.pick(&tests))
            }
            8 => self.membership(scope, less),
            9 => self.pattern(scope, less),
            10 => self.of_arrays(scope, less),
            11 if depth > 0 => self.of_subquery(scope, less),
            12 => self.rows(scope, less),
            _ => self.leaf(scope, Kind::Bool),
        }
    }

    fn condition_or_leaf(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 { self.leaf(scope, Kind::Bool) } else { self.condition(scope, depth - 1) }
    }

    fn comparison(&mut self, scope: &Scope, depth: usize) -> String {
        let (left, right) = if self.dice.percent(30) {
            (self.dice.pick(&NUMBERS), self.dice.pick(&NUMBERS))
        } else {
            let kind = Kind::any(self.dice);
            (kind, kind)
        };
        let (a, b) = (self.value(scope, left, depth), self.value(scope, right, depth));
        let operators =
            ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"];
        format!("({a} {} {b})", self.dice.pick(&operators))
    }

    fn membership(&mut self, scope: &Scope, depth: usize) -> String {
        let kind = Kind::any(self.dice);
        let value = self.value(scope, kind, depth);
        let (a, b) = (self.value(scope, kind, depth), kind.literal(self.dice));
        match self.dice.below(3) {
            0 => format!("({value} IN ({a}, {b}))"),
            1 => format!("({value} NOT IN ({a}, {b}))"),
            _ => format!("({value} BETWEEN {a} AND {b})"),
        }
    }

    fn pattern(&mut self, scope: &Scope, depth: usize) -> String {
        let value = self.value(scope, Kind::Text, depth);
        let operator = self.dice.pick(&["LIKE", "NOT LIKE", "ILIKE", "~", "!~*"]);
        let pattern = if operator.contains("LIKE") {
            self.dice.pick(&["a%", "%b", "%", "_", "a_c", "A%", ""])
        } else {
            self.dice.pick(&["^a", "b$", "[ab]+", "^$", "a|z", "."])
        };
        format!("({value} {operator} '{pattern}')")
    }

    fn of_arrays(&mut self, scope: &Scope, depth: usize) -> String {
        let (kind, element) =
            self.dice.pick(&[(Kind::Ints, Kind::Int4), (Kind::Texts, Kind::Text)]);
        let (a, b) = (self.value(scope, kind, depth), self.value(scope, kind, depth));
        let value = self.value(scope, element, depth);
        // `NULL < ANY ('{}')` is false, but the planner of PostgreSQL believes that it is null when
        // it makes an inner join of an outer one, and loses rows; not if the value is a greatest.
        let value = format!("greatest({value})");
        match self.dice.below(5) {
            0 => format!("({value} = ANY ({a}))"),
            1 => format!("({value} <> ALL ({a}))"),
            2 => format!("({a} @> {b})"),
            3 => format!("({a} && {b})"),
            _ => format!("({value} < ANY ({a}))"),
        }
    }

    fn of_subquery(&mut self, scope: &Scope, depth: usize) -> String {
        let (from, inner) = self.source(scope);
        let test = self.condition(&inner, depth.min(1));
        let kind = Kind::any(self.dice);
        let (value, found) = (self.value(scope, kind, 1), self.value(&inner, kind, 1));
        match self.dice.below(6) {
            0 => format!("EXISTS (SELECT 1 FROM {from} WHERE {test})"),
            1 => format!("NOT EXISTS (SELECT FROM {from} WHERE {test})"),
            2 => format!("({value} IN (SELECT {found} FROM {from} WHERE {test}))"),
            3 => format!("({value} NOT IN (SELECT {found} FROM {from} WHERE {test}))"),
            4 => format!("({value} >= ALL (SELECT {found} FROM {from} WHERE {test}))"),
            _ => format!("({value} < ANY (SELECT {found} FROM {from} WHERE {test}))"),
        }
    }

    fn rows(&mut self, scope: &Scope, depth: usize) -> String {
        let (first, second) = (Kind::any(self.dice), Kind::any(self.dice));
        let mut pair = || {
            let (a, b) = (self.value(scope, first, depth), self.value(scope, second, depth));
            format!("({a}, {b})")
        };
        let (left, right) = (pair(), pair());
        format!("({left} {} {right})", self.dice.pick(&["=", "<>", "<", ">="]))
    }

    fn number(&mut self, scope: &Scope, kind: Kind, depth: usize) -> String {
        let name = kind.name();
        let (a, b) = (self.value(scope, kind, depth), self.leaf(scope, kind));
        match (self.dice.below(10), kind) {
            (0 | 1, _) => format!("({a} + {b})"),
            (2, _) => format!("({a} - {b})"),
            (3, Kind::Numeric | Kind::Float8) => format!("({a} * {b})"),
            (3, _) => format!("({b} * 3::{name})"),
            (4, Kind::Float8) => format!("({a} / 4)"),
            (4, _) => format!("({a} / nullif({b}, 0))"),
            (5, Kind::Float8) => format!("floor({a})"),
            (5, _) => format!("({a} % 7::{name})"),
            (6, _) => format!("abs({a})"),
            (7, Kind::Numeric) => {
                let function = self.dice.pick(&["round", "ceil", "floor", "trunc", "sign"]);
                format!("{function}({a})")
            }
            (7, _) => format!("(- {a})"),
            (8, Kind::Int4) => self.counted(scope, depth),
            (8, Kind::Numeric) => {
                let from = self.dice.pick(&[Kind::Int2, Kind::Int4, Kind::Int8]);
                format!("({})::numeric", self.value(scope, from, depth))
            }
            (8, Kind::Int8 | Kind::Float8) => {
                format!("({})::{name}", self.value(scope, Kind::Int4, depth))
            }
            _ => format!("least({a}, {b})"),
        }
    }

    /// An integer that says something about a value of another type.
    fn counted(&mut self, scope: &Scope, depth: usize) -> String {
        let text = self.value(scope, Kind::Text, depth);
        let date = self.value(scope, Kind::Date, depth);
        match self.dice.below(9) {
            0 => format!("length({text})"),
            1 => format!("position('b' IN {text})"),
            2 => format!("extract(month FROM {date})::int4"),
            3 => format!("({date} - {})", self.value(scope, Kind::Date, depth)),
            4 => format!("cardinality({})", self.value(scope, Kind::Ints, depth)),
            5 => format!("({})::int4", self.value(scope, Kind::Bool, depth)),
            6 => format!("({})[1]", self.value(scope, Kind::Ints, depth)),
            7 => format!("round({})::int4", self.leaf(scope, Kind::Numeric)),
            _ => format!("octet_length({})", self.value(scope, Kind::Bytea, depth)),
        }
    }

    fn text(&mut self, scope: &Scope, depth: usize) -> String {
        let (a, b) = (self.value(scope, Kind::Text, depth), self.leaf(scope, Kind::Text));
        match self.dice.below(12) {
            0 => format!("({a} || {b})"),
            1 => format!("{}({a})", self.dice.pick(&["upper", "lower", "reverse", "initcap"])),
            2 => format!("substr({a}, 2)"),
            3 => format!("replace({a}, 'a', {b})"),
            4 => format!("{}({a}, 2)", self.dice.pick(&["left", "right"])),
            5 => format!("lpad({a}, 5, '*')"),
            6 => {
                let kind = self.dice.pick(&[Kind::Int4, Kind::Date, Kind::Bool, Kind::Numeric]);
                format!("({})::text", self.leaf(scope, kind))
            }
            7 => {
                let kind = self.dice.pick(&KINDS);
                let value = self.value(scope, kind, depth);
                format!("concat({a}, {value})")
            }
            8 => format!("({} ->> 'a')", self.value(scope, Kind::Jsonb, depth)),
            9 => format!("array_to_string({}, ',', '-')", self.value(scope, Kind::Texts, depth)),
            10 => format!("to_char({}, 'YYYY-MM Dy')", self.value(scope, Kind::Date, depth)),
            _ => {
                let kind = self.dice.pick(&[Kind::Varchar, Kind::Char, Kind::Mood, Kind::Uuid]);
                format!("({})::text", self.value(scope, kind, depth))
            }
        }
    }

    fn array(&mut self, scope: &Scope, kind: Kind, depth: usize) -> String {
        let element = if kind == Kind::Ints { Kind::Int4 } else { Kind::Text };
        let (a, value) = (self.value(scope, kind, depth), self.value(scope, element, depth));
        match self.dice.below(5) {
            0 => format!("ARRAY[{value}, {}]", self.leaf(scope, element)),
            1 => format!("({a} || {})", self.leaf(scope, kind)),
            2 => format!("array_append({a}, {value})"),
            3 => format!("array_remove({a}, {value})"),
            _ => format!("({a})[1:2]"),
        }
    }

    fn json(&mut self, scope: &Scope, depth: usize) -> String {
        let value = self.value(scope, Kind::Jsonb, depth);
        match self.dice.below(5) {
            0 => format!("({value} -> 'a')"),
            1 => format!("({value} -> 0)"),
            2 => {
                let kind = self.dice.pick(&KINDS);
                format!("to_jsonb({})", self.value(scope, kind, depth))
            }
            3 => {
                let kind = self.dice.pick(&KINDS);
                let inner = self.value(scope, kind, depth);
                format!("jsonb_build_object('a', {inner}, 'c', {value})")
            }
            _ => format!("({value} #> '{{b,0}}')"),
        }
    }

    fn other(&mut self, scope: &Scope, kind: Kind, depth: usize) -> String {
        let a = self.value(scope, kind, depth);
        let interval = self.leaf(scope, Kind::Interval);
        match (kind, self.dice.below(3)) {
            (Kind::Date, 0) => format!("({a} + {})", self.leaf(scope, Kind::Int4)),
            (Kind::Date, 1) => format!("({})::date", self.value(scope, Kind::Timestamp, depth)),
            (Kind::Timestamp, 0) => {
                format!("({} + {interval})", self.value(scope, Kind::Date, depth))
            }
            (Kind::Timestamp, 1) => {
                let field = self.dice.pick(&["month", "day", "hour", "year", "week"]);
                format!("date_trunc('{field}', {a})")
            }
            (Kind::Timestamp | Kind::Timestamptz | Kind::Time, _) => format!("({a} - {interval})"),
            (Kind::Interval, 0) => format!("({a} * 2)"),
            (Kind::Interval, 1) => {
                let (from, to) = (
                    self.value(scope, Kind::Timestamp, depth),
                    self.value(scope, Kind::Timestamp, depth),
                );
                format!("({to} - {from})")
            }
            (Kind::Bytea, 0) => format!("({a} || {})", self.leaf(scope, Kind::Bytea)),
            (Kind::Varchar | Kind::Char, _) => {
                format!("({})::{}", self.value(scope, Kind::Text, depth), kind.name())
            }
            _ => a,
        }
    }

    /// An expression that may fail for some rows, in one way.
    pub fn risky(&mut self, scope: &Scope) -> String {
        let int = self.leaf(scope, Kind::Int4);
        match self.dice.below(10) {
            0 => format!("7 / {int}"),
            1 => format!("({})::int4", self.leaf(scope, Kind::Text)),
            2 => format!("({})::date", self.leaf(scope, Kind::Text)),
            3 => format!("2147483600 + {int} * 10"),
            4 => format!("sqrt({})", self.leaf(scope, Kind::Float8)),
            5 => format!("({})::numeric(3,2)", self.leaf(scope, Kind::Numeric)),
            6 => format!("chr({int})"),
            7 => format!("repeat('x', {int})::varchar(3)"),
            8 => format!("({} ->> 'a')::int4", self.leaf(scope, Kind::Jsonb)),
            _ => format!("('{{' || {} || '}}')::int4[]", self.leaf(scope, Kind::Text)),
        }
    }

    /// An expression that is probably refused.
    pub fn ill_typed(&mut self, scope: &Scope) -> String {
        let (left, right) = (self.dice.pick(&KINDS), self.dice.pick(&KINDS));
        let (a, b) = (self.leaf(scope, left), self.leaf(scope, right));
        let operators = ["+", "-", "*", "/", "||", "=", "<", "AND", "@>", "->", "%", "LIKE"];
        let functions =
            ["lower", "abs", "length", "sum", "round", "upper", "cardinality", "to_json", "age"];
        match self.dice.below(5) {
            0 | 1 => format!("{a} {} {b}", self.dice.pick(&operators)),
            2 => format!("{}({a})", self.dice.pick(&functions)),
            3 => format!("coalesce({a}, {b})"),
            _ => format!("({a})::{}", right.name()),
        }
    }
}
