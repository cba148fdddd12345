//! From a syntax tree to a statement whose names and types are resolved.
//!
//! A [`Binder`] has a stack of levels, one for each query that it is inside of. A column is named
//! by how many levels out it is and its place in the row there.

mod aggregate;
mod assignments;
mod call;
mod coerce;
mod collate;
mod column_names;
mod composite;
mod conflict;
mod defaults;
mod expr;
mod from;
mod from_function;
mod group_by;
mod grouping;
mod hypothetical;
mod insert;
mod joins;
mod limits;
mod literal;
mod merge;
mod modify;
mod mysql;
mod names;
mod notes;
mod operators;
mod parts;
mod places;
mod query;
mod resolve;
mod search_cycle;
mod select;
mod set_operation;
mod special;
mod subquery;
mod table_exprs;
mod target;
mod types;
mod window;
mod with;

pub(crate) use call::output_columns;
pub use notes::{Note, Noted};

use crate::catalog::builtin::Proc;
use crate::catalog::type_names::plain_name;
use crate::catalog::{Catalog, SearchPath};
use crate::error::{Result, SqlError, code};
use crate::functions::{Call, Style};
use crate::ir::{AggCall, Expr, OutColumn, Query, SetCall, WindowCall};
use crate::parse::{Lines, fold, name_parts, split_name};
use crate::types::{Datum, Oid, TypeLookup};
use query::Unknowns;
use sqlparser::ast;
use sqlparser::tokenizer::Span;
use std::sync::Arc;

/// How many queries and expressions may stand in each other.
const NESTING_MAX: usize = 200;

/// The types of parameters: given, or found where they are used.
#[derive(Clone, Default, Debug)]
pub struct Params {
    types: Vec<Oid>,
}

impl Params {
    /// These are given; [`Oid::NONE`] or [`Oid::UNKNOWN`] is to be found.
    pub fn new(types: &[Oid]) -> Params {
        let known = |&ty: &Oid| if ty == Oid::UNKNOWN { Oid::NONE } else { ty };
        Params { types: types.iter().map(known).collect() }
    }

    fn get(&mut self, number: usize) -> Oid {
        if self.types.len() <= number {
            self.types.resize(number + 1, Oid::NONE);
        }
        match self.types[number] {
            Oid::NONE => Oid::UNKNOWN,
            ty => ty,
        }
    }

    /// It is of this type, unless it is of another one already, which is returned.
    fn set(&mut self, number: usize, ty: Oid) -> Oid {
        if self.get(number) == Oid::UNKNOWN {
            self.types[number] = ty;
        }
        self.types[number]
    }

    /// All of them, or an error about the first that nothing was found about.
    pub fn found(&self) -> Result<Vec<Oid>> {
        match self.types.iter().position(|&ty| ty == Oid::NONE) {
            None => Ok(self.types.clone()),
            Some(place) => Err(SqlError::new(
                code::INDETERMINATE_DATATYPE,
                format!("could not determine data type of parameter ${}", place + 1),
            )),
        }
    }

    /// All of them, with text for those that nothing was found about.
    pub fn types(&self) -> Vec<Oid> {
        self.types.iter().map(|&ty| if ty == Oid::NONE { Oid::TEXT } else { ty }).collect()
    }
}

/// What binding has to ask besides names: types of users when literals are read, and the executor.
pub trait BindContext: TypeLookup {
    /// Whether the executor runs a function that looks at the session, the catalog or sequences.
    fn runs(&self, proc: &Proc) -> bool;
}

/// Something that binds statements.
pub struct Binder<'b> {
    pub(crate) catalog: &'b Catalog,
    pub(crate) path: &'b SearchPath,
    style: &'b Style,
    context: &'b dyn BindContext,
    source: &'b str,
    lines: Lines,
    pub(crate) params: Params,
    levels: Vec<Level>,
    ctes: Vec<CteName>,
    next_number: usize,
    nesting: usize,
    /// Whether anything has a collation that is not the order of bytes.
    collates: bool,
    /// The fields of rows that functions return; the modifier of type record names them.
    records: Vec<Vec<(Arc<str>, Oid)>>,
    /// What `VALUE` is, in the check of a domain.
    domain_value: Option<Oid>,
    /// What names in the text stand for, if somebody wants to know.
    notes: Option<Vec<Note>>,
    /// Which of several expressions has a type that does not go with the others, for its place.
    culprit: std::cell::Cell<Option<usize>>,
}

impl std::fmt::Debug for Binder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Binder({} levels)", self.levels.len())
    }
}

/// A query of WITH that can be named.
#[derive(Clone, Debug)]
struct CteName {
    name: Arc<str>,
    number: usize,
    columns: Vec<OutColumn>,
    /// Whether it changes rows and returns none.
    is_silent: bool,
    /// How often it is named.
    uses: usize,
}

/// A query that is being bound.
#[derive(Default, Debug)]
struct Level {
    /// What can be named with its name.
    items: Vec<Item>,
    /// What can be named without, and what `*` is.
    visible: Vec<Visible>,
    /// How many columns there are so far.
    width: usize,
    aggregates: Vec<AggCall>,
    windows: Vec<WindowCall>,
    sets: Vec<SetCall>,
    /// Whether the one row of VALUES may become several.
    takes_sets: bool,
    named_windows: Vec<(String, ast::WindowSpec)>,
    /// What is being bound: some things are not allowed everywhere.
    clause: Clause,
    /// Whether queries inside do not see its row (subqueries in FROM without LATERAL).
    sealed: bool,
    /// Whether a query inside of it has looked at its row, or at one further out.
    looked_at: bool,
    /// Whether its arguments of an aggregate are being bound.
    in_aggregate: bool,
    /// Where columns of its row are named behind grouping and outside of aggregates, for errors.
    named_at: Vec<(usize, Span)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Clause {
    #[default]
    Other,
    From,
    On,
    Where,
    Targets,
    GroupBy,
    Having,
    OrderBy,
    Set,
    Values,
    Returning,
    Limit,
    Check,
    Default,
    Generated,
    IndexExpr,
}

/// A part of FROM.
#[derive(Clone, Debug)]
struct Item {
    schema: Option<Arc<str>>,
    name: Arc<str>,
    columns: Vec<Visible>,
    /// The type of its whole row, if it is a table's.
    row_type: Oid,
    /// Where it begins in the row, for locks and functional dependencies.
    start: usize,
    /// The table, if it is one.
    table: Option<Oid>,
    /// Whether it may be named (not the inner parts of a join with an alias).
    lock_only: bool,
}

/// A column that can be named.
#[derive(Clone, Debug)]
struct Visible {
    name: Arc<str>,
    expr: Expr,
    origin: Option<(Oid, u16)>,
    /// Found by name, but not part of `*`: ctid, tableoid, …
    system: bool,
}

impl<'b> Binder<'b> {
    /// A binder for a statement with this text.
    pub fn new(
        catalog: &'b Catalog,
        path: &'b SearchPath,
        style: &'b Style,
        context: &'b dyn BindContext,
        source: &'b str,
        params: Params,
    ) -> Binder<'b> {
        Binder {
            catalog,
            path,
            style,
            context,
            source,
            lines: Lines::default(),
            params,
            levels: Vec::new(),
            ctes: Vec::new(),
            next_number: 0,
            nesting: 0,
            collates: false,
            records: Vec::new(),
            domain_value: None,
            notes: None,
            culprit: std::cell::Cell::default(),
        }
    }

    /// The text is one that others have looked at.
    #[must_use]
    pub fn with_lines(mut self, lines: &Lines) -> Binder<'b> {
        self.lines = Arc::clone(lines);
        self
    }

    fn number(&mut self) -> usize {
        self.next_number += 1;
        self.next_number - 1
    }

    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Binds one level further in; whether it looks at rows outside of it.
    fn inside<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, bool)> {
        self.nested(|binder| {
            let (ctes, depth) = (binder.ctes.len(), binder.levels.len());
            let before: Vec<bool> = binder.levels.iter().map(|level| level.looked_at).collect();
            binder.levels.iter_mut().for_each(|level| level.looked_at = false);
            binder.levels.push(Level::default());
            let result = bind(binder);
            binder.levels.truncate(depth);
            binder.ctes.truncate(ctes);
            let looked = binder.levels.iter().any(|level| level.looked_at);
            for (level, before) in binder.levels.iter_mut().zip(before) {
                level.looked_at |= before;
            }
            Ok((result?, looked))
        })
    }

    /// Counts how deep it is, so that no input can exhaust the stack.
    fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting >= NESTING_MAX {
            return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        self.nesting += 1;
        let result = bind(self);
        self.nesting -= 1;
        result
    }

    /// In another clause for a while.
    fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.level().clause, clause);
        let result = bind(self);
        self.level().clause = before;
        result
    }

    /// The name of a type, for messages.
    pub(crate) fn type_name(&self, ty: Oid) -> String {
        plain_name(self.catalog, self.path, ty)
    }

    /// A literal as a value of a type.
    fn read_literal(&self, text: &str, ty: Oid, typmod: i32) -> Result<Datum> {
        let call = Call { args: &[], result: ty, style: self.style, types: self.context };
        crate::types::input(text, ty, typmod, &call)
    }

    /// Whether an expression is bound that was taken out of a definition, so that its places are
    /// not those of the statement.
    fn is_part_of_definition(&self) -> bool {
        self.levels.last().is_some_and(|level| {
            matches!(
                level.clause,
                Clause::Check | Clause::Default | Clause::Generated | Clause::IndexExpr
            )
        })
    }

    /// Where something stands in the text, in characters from 1; 0 if that is not known.
    fn position(&self, span: Span) -> u32 {
        let (line, column) = (span.start.line, span.start.column);
        if line == 0 || column == 0 || self.is_part_of_definition() {
            return 0;
        }
        if self.source.is_empty() {
            return column as u32;
        }
        let starts = self.lines.get_or_init(|| crate::parse::line_starts(self.source));
        let before = starts.get(line as usize - 1).or(starts.last());
        before.copied().unwrap_or_default() + column as u32
    }

    /// A query of its own.
    pub fn bind_query(&mut self, query: &ast::Query) -> Result<Query> {
        Ok(self.inside(|binder| binder.query(query, Unknowns::Resolve))?.0)
    }
}
