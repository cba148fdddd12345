//! Writes an expression.

use super::Layout;
use super::constant::{Label, constant};
use super::simple::{Around, Shape, cast_argument, is_simple, shape};
use crate::env::Env;
use crate::functions::quote_ident;
use crate::ir::{BoolTest, Callee, Collated, Expr, ExprKind, Quantified, SubscriptPart};
use crate::types::{Datum, Oid, TypeKind, TypeLookup};
use std::sync::Arc;

/// How far the arms of CASE stand in.
const INDENT: usize = 4;

/// Writes an expression over a row.
#[derive(Debug)]
pub struct Writer<'w> {
    env: &'w Env,
    /// The names of the columns of the row.
    columns: &'w [Arc<str>],
    /// Whether these are SQL already, with their tables.
    is_qualified: bool,
    layout: Layout,
    indent: usize,
    out: String,
    /// Whether there was something that cannot be written.
    is_lacking: bool,
}

impl<'w> Writer<'w> {
    /// The text of an expression over a row with these columns.
    pub fn text(env: &'w Env, columns: &'w [Arc<str>], layout: Layout, expr: &Expr) -> String {
        let mut writer = Writer::new(env, columns, layout);
        writer.expr(expr);
        writer.out
    }

    fn new(env: &'w Env, columns: &'w [Arc<str>], layout: Layout) -> Writer<'w> {
        Writer {
            env,
            columns,
            is_qualified: false,
            layout,
            indent: 0,
            out: String::new(),
            is_lacking: false,
        }
    }

    /// The same with columns that are written with their tables; none if there is something in it
    /// that cannot be written.
    pub fn qualified(
        env: &'w Env,
        columns: &'w [Arc<str>],
        layout: Layout,
        indent: usize,
        expr: &Expr,
    ) -> Option<String> {
        let mut writer = Writer::new(env, columns, layout);
        (writer.is_qualified, writer.indent) = (true, indent);
        writer.expr(expr);
        (!writer.is_lacking).then_some(writer.out)
    }

    fn plain(&self) -> bool {
        self.layout == Layout::Plain
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// In parentheses of its own, which are left out where that is asked for.
    fn wrapped(&mut self, write: impl FnOnce(&mut Self)) {
        if self.plain() {
            self.put("(");
        }
        write(self);
        if self.plain() {
            self.put(")");
        }
    }

    /// A part of another expression.
    fn part(&mut self, expr: &Expr, around: Around<'_>) {
        let is_bare = self.plain() || is_simple(expr, around);
        if !is_bare {
            self.put("(");
        }
        self.expr(expr);
        if !is_bare {
            self.put(")");
        }
    }

    fn list<'x>(&mut self, exprs: impl IntoIterator<Item = &'x Expr>) {
        for (place, expr) in exprs.into_iter().enumerate() {
            if place > 0 {
                self.put(", ");
            }
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(value) => {
                let text = constant(self.env, value, expr.ty, Label::Needed);
                self.put(&text);
            }
            ExprKind::Param(number) => self.put(&format!("${}", number + 1)),
            ExprKind::Column { index, .. } => {
                let name = self.columns.get(*index).map_or("?column?", |name| name);
                let name = if self.is_qualified { name.to_owned() } else { quote_ident(name) };
                self.put(&name);
            }
            ExprKind::Call { callee, args, variadic } => self.call(expr, callee, args, *variadic),
            ExprKind::Relabel(arg) | ExprKind::ThroughText(arg) => self.cast(arg, expr.ty, -1),
            ExprKind::Collated { arg, collation, by } => match by {
                Collated::Explicit => self.wrapped(|it| {
                    it.part(arg, Around::Not);
                    it.put(&format!(" COLLATE {}", quote_ident(&collation.name)));
                }),
                Collated::Implicit | Collated::Key => self.expr(arg),
                Collated::Lower | Collated::Upper => {
                    let name = if *by == Collated::Lower { "lower(" } else { "upper(" };
                    self.put(name);
                    self.expr(arg);
                    self.put(")");
                }
            },
            ExprKind::ArrayCast { array, .. } => self.cast(array, expr.ty, -1),
            ExprKind::RowCast { row, .. } => self.cast(row, expr.ty, -1),
            ExprKind::CheckDomain(arg) => self.cast(arg, expr.ty, -1),
            ExprKind::Typmod { arg, .. } => self.with_typmod(arg, expr),
            ExprKind::And(list) => self.logic(list, " AND ", Around::And),
            ExprKind::Or(list) => self.logic(list, " OR ", Around::Or),
            ExprKind::Not(arg) => self.wrapped(|it| {
                it.put("NOT ");
                it.part(arg, Around::Not);
            }),
            ExprKind::IsNull(arg) => self.test(arg, " IS NULL"),
            ExprKind::IsNotNull(arg) => self.test(arg, " IS NOT NULL"),
            ExprKind::BoolTest(arg, test) => self.test(arg, test_name(*test)),
            ExprKind::IsDistinct { equal, left, right } => {
                let (left, right) = compared(equal, left, right);
                self.wrapped(|it| {
                    it.part(left, Around::Other);
                    it.put(" IS DISTINCT FROM ");
                    it.part(right, Around::Other);
                });
            }
            ExprKind::Case { operand, arms, otherwise } => {
                self.case(operand.as_deref(), arms, otherwise);
            }
            ExprKind::Placeholder => self.put("VALUE"),
            ExprKind::Coalesce(args) => self.function("COALESCE", args),
            ExprKind::Extreme { greatest, args } => {
                self.function(if *greatest { "GREATEST" } else { "LEAST" }, args);
            }
            ExprKind::NullIf { equal, value } => {
                let args = match &equal.kind {
                    ExprKind::Call { args, .. } => &args[..],
                    _ => std::slice::from_ref(&**value),
                };
                self.function("NULLIF", args);
            }
            ExprKind::QuantifiedArray { left, test, quantified, array } => {
                self.quantified(left, test, *quantified, array);
            }
            ExprKind::Array { elements, .. } => {
                self.put("ARRAY[");
                self.list(elements);
                self.put("]");
                if elements.is_empty() {
                    let name = self.env.type_name(expr.ty, -1);
                    self.put("::");
                    self.put(&name);
                }
            }
            ExprKind::Row { fields, .. } => self.function("ROW", fields),
            ExprKind::Subscript { base, parts } => self.subscript(base, parts),
            ExprKind::Field { base, index } => self.field(base, *index),
            ExprKind::NextValue(sequence) => {
                let value = Datum::Oid(sequence.0);
                let name = constant(self.env, &value, Oid::REGCLASS, Label::Needed);
                self.put(&format!("nextval({name})"));
            }
            other => {
                self.is_lacking = true;
                let name = format!("{other:?}");
                let word = name.split(['(', ' ', '{']).next().unwrap_or("");
                self.put(&format!("<{}>", word.to_lowercase()));
            }
        }
    }

    fn test(&mut self, arg: &Expr, name: &str) {
        self.wrapped(|it| {
            it.part(arg, Around::Other);
            it.put(name);
        });
    }

    fn logic(&mut self, list: &[Expr], word: &str, around: Around<'_>) {
        self.wrapped(|it| {
            for (place, arg) in list.iter().enumerate() {
                if place > 0 {
                    it.put(word);
                }
                it.part(arg, around);
            }
        });
    }

    fn function(&mut self, name: &str, args: &[Expr]) {
        self.put(name);
        self.put("(");
        self.list(args);
        self.put(")");
    }

    /// `(value)::type`
    fn cast(&mut self, arg: &Expr, ty: Oid, typmod: i32) {
        match &arg.kind {
            ExprKind::Const(value) if arg.ty == ty && arg.typmod < 0 => {
                let text = constant(self.env, value, ty, Label::Never);
                self.put(&text);
            }
            _ => self.wrapped(|it| it.part(arg, Around::Cast)),
        }
        let name = self.env.type_name(ty, typmod);
        self.put("::");
        self.put(&name);
    }

    /// A modifier: the conversion to the type before it is the same one.
    fn with_typmod(&mut self, arg: &Expr, expr: &Expr) {
        let converted = match shape(arg) {
            Shape::Cast(inner) if arg.ty == expr.ty && arg.typmod < 0 => inner,
            _ => arg,
        };
        self.cast(converted, expr.ty, expr.typmod);
    }

    fn call(&mut self, expr: &Expr, callee: &Callee, args: &[Expr], variadic: bool) {
        if let Some(keyword) = keyword(expr) {
            self.put(keyword);
            return;
        }
        if let Some(arg) = cast_argument(expr) {
            return self.cast(arg, expr.ty, -1);
        }
        match (shape(expr), args) {
            (Shape::Operator(name), [left, right]) => self.wrapped(|it| {
                it.part(left, Around::Operator(name, true));
                it.put(&format!(" {name} "));
                it.part(right, Around::Operator(name, false));
            }),
            (Shape::Operator(name), [arg]) => self.wrapped(|it| {
                it.put(&format!("{name} "));
                it.part(arg, Around::Operator(name, false));
            }),
            _ => self.named_call(callee, args, variadic),
        }
    }

    fn named_call(&mut self, callee: &Callee, args: &[Expr], variadic: bool) {
        match (callee.proc.name, args) {
            ("extract", [field, value]) => {
                let field = match &field.kind {
                    ExprKind::Const(Datum::Text(field)) => field.to_string(),
                    _ => String::new(),
                };
                self.put(&format!("EXTRACT({field} FROM "));
                self.expr(value);
                self.put(")");
            }
            ("timezone", [zone, value]) => {
                self.put("(");
                self.part(value, Around::Other);
                self.put(" AT TIME ZONE ");
                self.part(zone, Around::Other);
                self.put(")");
            }
            ("btrim", [value]) => {
                self.put("TRIM(BOTH FROM ");
                self.expr(value);
                self.put(")");
            }
            (name, args) => self.plain_call(name, callee.proc.variadic, args, variadic),
        }
    }

    fn plain_call(&mut self, name: &str, gathers: Oid, args: &[Expr], variadic: bool) {
        self.put(&quote_ident(name));
        self.put("(");
        match args.split_last() {
            // Arguments that were gathered into an array stand there one by one.
            Some((Expr { kind: ExprKind::Array { elements, .. }, .. }, first))
                if gathers != Oid::NONE && variadic =>
            {
                self.list(first.iter().chain(elements));
            }
            _ => self.list(args),
        }
        self.put(")");
    }

    fn quantified(&mut self, left: &Expr, test: &Expr, quantified: Quantified, array: &Expr) {
        let (name, sides) = match (&test.kind, shape(test)) {
            (ExprKind::Call { args, .. }, Shape::Operator(name)) => (name, &args[..]),
            _ => ("=", &[][..]),
        };
        let converted = |side: usize| {
            let side = sides.get(side)?;
            (!matches!(side.kind, ExprKind::Column { .. })).then_some(side.ty)
        };
        let (left_type, element) = (converted(0), converted(1));
        let array_type = element.and_then(|ty| self.env.array_of(ty));
        let word = if quantified == Quantified::Any { "ANY" } else { "ALL" };
        self.wrapped(|it| {
            match left_type {
                Some(ty) => it.cast(left, ty, -1),
                None => it.part(left, Around::Operator(name, true)),
            }
            it.put(&format!(" {name} {word} ("));
            match array_type {
                Some(ty) => it.cast(array, ty, -1),
                None => it.part(array, Around::Other),
            }
            it.put(")");
        });
    }

    fn new_line(&mut self) {
        let spaces = " ".repeat(self.indent);
        self.put("\n");
        self.put(&spaces);
    }

    fn case(&mut self, operand: Option<&Expr>, arms: &[(Expr, Expr)], otherwise: &Expr) {
        self.new_line();
        self.put("CASE");
        if let Some(operand) = operand {
            self.put(" ");
            self.expr(operand);
        }
        self.indent += INDENT;
        for (condition, result) in arms {
            self.new_line();
            self.put("WHEN ");
            match (&condition.kind, operand) {
                (ExprKind::Call { args, .. }, Some(_)) if args.len() == 2 => self.expr(&args[1]),
                _ => self.expr(condition),
            }
            self.put(" THEN ");
            self.expr(result);
        }
        self.new_line();
        self.put("ELSE ");
        self.expr(otherwise);
        self.indent -= INDENT;
        self.new_line();
        self.put("END");
    }

    fn subscript(&mut self, base: &Expr, parts: &[SubscriptPart]) {
        let is_bare = matches!(base.kind, ExprKind::Column { .. } | ExprKind::Field { .. });
        if !is_bare {
            self.put("(");
        }
        self.expr(base);
        if !is_bare {
            self.put(")");
        }
        for part in parts {
            self.put("[");
            match part {
                SubscriptPart::Index(index) => self.expr(index),
                SubscriptPart::Slice(from, to) => {
                    from.iter().for_each(|from| self.expr(from));
                    self.put(":");
                    to.iter().for_each(|to| self.expr(to));
                }
            }
            self.put("]");
        }
    }

    fn field(&mut self, base: &Expr, index: usize) {
        let name = match self.env.kind(base.ty) {
            Some(TypeKind::Composite(fields)) => {
                fields.get(index).map_or_else(String::new, |field| quote_ident(&field.name))
            }
            _ => format!("f{}", index + 1),
        };
        self.put("(");
        self.expr(base);
        self.put(").");
        self.put(&name);
    }
}

/// The sides as the comparison has them, with their conversions.
fn compared<'x>(equal: &'x Expr, left: &'x Expr, right: &'x Expr) -> (&'x Expr, &'x Expr) {
    match &equal.kind {
        ExprKind::Call { args, .. } if args.len() == 2 => (&args[0], &args[1]),
        _ => (left, right),
    }
}

fn test_name(test: BoolTest) -> &'static str {
    match test {
        BoolTest::True => " IS TRUE",
        BoolTest::NotTrue => " IS NOT TRUE",
        BoolTest::False => " IS FALSE",
        BoolTest::NotFalse => " IS NOT FALSE",
        BoolTest::Unknown => " IS UNKNOWN",
        BoolTest::NotUnknown => " IS NOT UNKNOWN",
    }
}

/// Whether it is `now()` that was written as a keyword: the binder marks those.
fn is_marked_now(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { callee, variadic: true, .. } if callee.proc.name == "now")
}

/// CURRENT_TIMESTAMP and the like.
fn keyword(expr: &Expr) -> Option<&'static str> {
    if is_marked_now(expr) {
        return Some("CURRENT_TIMESTAMP");
    }
    let ExprKind::Call { callee, args, .. } = &expr.kind else { return None };
    match (callee.proc.name, &args[..]) {
        ("current_user", []) => Some("CURRENT_USER"),
        ("session_user", []) => Some("SESSION_USER"),
        (_, [now, ..]) if is_marked_now(now) => match expr.ty {
            Oid::DATE => Some("CURRENT_DATE"),
            Oid::TIMETZ => Some("CURRENT_TIME"),
            Oid::TIMESTAMP => Some("LOCALTIMESTAMP"),
            Oid::TIME => Some("LOCALTIME"),
            _ => None,
        },
        _ => None,
    }
}
