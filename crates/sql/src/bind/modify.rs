//! INSERT, UPDATE, DELETE and MERGE.

use super::names::NamedTable;
use super::query::Unknowns;
use super::{Binder, Clause, fold, split_name};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, IndexedExpr, Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{
    Assignment, Body, ConflictAction, ConflictTarget, Expr, ExprKind, From, InsertSource,
    MergeAction, MergeArm, MergeWhen, Modify, ModifyKind, OnConflict, OutColumn, Overriding, Query,
    TableRef,
};
use crate::types::Oid;
use sqlparser::ast::{self, SelectItem};
use std::sync::Arc;

impl Binder<'_> {
    /// Binds a change at the innermost level.
    pub(super) fn modify(&mut self, statement: &ast::Statement) -> Result<Query> {
        match statement {
            ast::Statement::Insert(insert) => self.insert(insert),
            ast::Statement::Update(update) => self.update(update),
            ast::Statement::Delete(delete) => self.delete(delete),
            ast::Statement::Merge(merge) => self.merge(merge),
            other => Err(SqlError::unsupported(format!("the statement {other}"))),
        }
    }

    /// Binds a change that is a statement of its own.
    pub fn bind_modify(&mut self, statement: &ast::Statement) -> Result<Query> {
        Ok(self.inside(|binder| binder.modify(statement))?.0)
    }

    fn target_table(&self, name: &ast::ObjectName) -> Result<Arc<Table>> {
        match self.find_table(name)? {
            NamedTable::Relation(Relation::Table(table)) => Ok(table),
            NamedTable::Relation(Relation::View(view)) => {
                Err(SqlError::unsupported(format!("changing the view \"{}\"", view.name)))
            }
            NamedTable::Relation(Relation::Sequence(it)) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("cannot change sequence \"{}\"", it.name),
            )),
            NamedTable::Relation(Relation::Index(it)) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("cannot open relation \"{}\"", it.name),
            )
            .detail("This operation is not supported for indexes.")),
            NamedTable::System(table) => Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                format!("permission denied: \"{}\" is a system catalog", table.name),
            )),
        }
    }

    fn finish(
        &mut self,
        target: TableRef,
        kind: ModifyKind,
        returning: Option<&Vec<SelectItem>>,
        only_target: bool,
    ) -> Result<Query> {
        if only_target {
            let level = self.level();
            level.items.truncate(1);
            let start = target.start;
            let end = start + target.width();
            level.visible.retain(|it| match it.expr.kind {
                ExprKind::Column { depth: 0, index } => (start..end).contains(&index),
                _ => true,
            });
        }
        let (columns, returning) = match returning {
            Some(items) => self
                .in_clause(Clause::Returning, |binder| binder.targets(items, Unknowns::Resolve))?,
            None => (Vec::new(), Vec::new()),
        };
        if !self.level().aggregates.is_empty() {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                "aggregate functions are not allowed in RETURNING",
            ));
        }
        let width = self.level().width;
        let modify = Modify { target, kind, returning, width };
        Ok(Query { body: Body::Modify(Box::new(modify)), ..Query::values(Vec::new(), columns) })
    }

    fn column_number(&self, table: &Table, name: &str, position: u32) -> Result<u16> {
        table.find(name).ok_or_else(|| {
            SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
            )
            .at(position)
        })
    }

    fn insert(&mut self, insert: &ast::Insert) -> Result<Query> {
        if insert.overwrite || insert.ignore || insert.replace_into || insert.or.is_some() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in INSERT"));
        }
        let ast::TableObject::TableName(name) = &insert.table else {
            return Err(SqlError::unsupported("INSERT into something that is no table"));
        };
        let table = self.target_table(name)?;
        let mut columns = Vec::new();
        for name in &insert.columns {
            let (_, plain) = split_name(name)?;
            let position = match name.0.last() {
                Some(ast::ObjectNamePart::Identifier(ident)) => self.position(ident.span),
                _ => 0,
            };
            let number = self.column_number(&table, &plain, position)?;
            if columns.contains(&number) {
                return Err(SqlError::new(
                    code::DUPLICATE_COLUMN,
                    format!("column \"{plain}\" specified more than once"),
                )
                .at(position));
            }
            columns.push(number);
        }
        let (source, columns) = self.insert_source(insert, &table, columns)?;
        let alias = insert.table_alias.as_ref().map(|alias| ast::TableAlias {
            explicit: true,
            name: alias.alias.clone(),
            columns: Vec::new(),
            at: None,
        });
        let defaults = self.defaults(&table, &[])?;
        let target = self.table_ref(Arc::clone(&table), alias.as_ref())?;
        let on_conflict = match &insert.on {
            None => None,
            Some(ast::OnInsert::OnConflict(conflict)) => Some(self.on_conflict(&target, conflict)?),
            Some(_) => {
                return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \"ON\""));
            }
        };
        // Said by the parser in a field of another dialect.
        let overriding = insert.priority.map(|it| match it {
            ast::MysqlInsertPriority::HighPriority => Overriding::System,
            _ => Overriding::User,
        });
        let kind = ModifyKind::Insert { source, columns, defaults, on_conflict, overriding };
        self.finish(target, kind, insert.returning.as_ref(), true)
    }

    fn insert_source(
        &mut self,
        insert: &ast::Insert,
        table: &Table,
        columns: Vec<u16>,
    ) -> Result<(InsertSource, Vec<u16>)> {
        let Some(source) = &insert.source else { return Ok((InsertSource::Defaults, Vec::new())) };
        let all: Vec<u16> = if columns.is_empty() {
            table.live().map(|(number, _)| number).collect()
        } else {
            columns.clone()
        };
        let ctes = self.ctes.len();
        let (mut query, _) = self.inside(|binder| {
            let kept = binder.insert_rows(source, table, &all);
            match kept {
                Some(query) => query,
                None => binder.query(source, Unknowns::Keep),
            }
        })?;
        self.ctes.truncate(ctes);
        let given = query.columns.len();
        if given > all.len() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "INSERT has more expressions than target columns",
            ));
        }
        if given < all.len() && !columns.is_empty() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "INSERT has more target columns than expressions",
            ));
        }
        let all = all[..given].to_vec();
        for (place, &number) in all.iter().enumerate() {
            let column = table.column(number);
            self.assign_column(&mut query, place, column)?;
        }
        Ok((InsertSource::Query(Box::new(query)), all))
    }

    /// VALUES of an INSERT: each value is converted to its column by itself, and may be DEFAULT.
    fn insert_rows(
        &mut self,
        source: &ast::Query,
        table: &Table,
        columns: &[u16],
    ) -> Option<Result<Query>> {
        let ast::SetExpr::Values(values) = &*source.body else { return None };
        let plain = source.with.is_none()
            && source.order_by.is_none()
            && source.limit_clause.is_none()
            && source.fetch.is_none();
        plain.then(|| self.convert_rows(values, table, columns))
    }

    fn convert_rows(
        &mut self,
        values: &ast::Values,
        table: &Table,
        columns: &[u16],
    ) -> Result<Query> {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        let mut rows = Vec::new();
        for row in &values.rows {
            if row.content.len() != width {
                return Err(SqlError::new(
                    code::SYNTAX_ERROR,
                    "VALUES lists must all be the same length",
                ));
            }
            let mut cells = Vec::new();
            for (place, ast) in row.content.iter().enumerate() {
                let expr = self.in_clause(Clause::Values, |binder| binder.expr(ast))?;
                let Some(&number) = columns.get(place) else {
                    return Err(SqlError::new(
                        code::SYNTAX_ERROR,
                        "INSERT has more expressions than target columns",
                    ));
                };
                cells.push(self.assign(expr, table.column(number), value_position(ast))?);
            }
            rows.push(cells);
        }
        let out = |place: usize| {
            let column = table.column(columns[place]);
            let name = format!("column{}", place + 1).into();
            OutColumn { name, ty: column.ty, typmod: column.typmod, origin: None }
        };
        let columns = (0..width).map(out).collect();
        Ok(Query { body: Body::Values(rows), ..Query::values(Vec::new(), columns) })
    }

    /// Converts a value to what a column holds.
    fn assign(
        &mut self,
        expr: Expr,
        column: &Column,
        span: Option<sqlparser::tokenizer::Span>,
    ) -> Result<Expr> {
        if matches!(expr.kind, ExprKind::Default) {
            return Ok(Expr { ty: column.ty, ..expr });
        }
        let position = span.map_or(0, |span| self.position(span));
        let from = expr.ty;
        let done = self.try_coerce(expr, column.ty, column.typmod, CastContext::Assignment);
        match done.map_err(|error| error.at(position))? {
            Some(expr) => Ok(expr),
            None => Err(SqlError::new(
                code::DATATYPE_MISMATCH,
                format!(
                    "column \"{}\" is of type {} but expression is of type {}",
                    column.name,
                    self.type_name(column.ty),
                    self.type_name(from)
                ),
            )
            .hint("You will need to rewrite or cast the expression.")
            .at(position)),
        }
    }

    /// Converts a column of the source of an INSERT.
    fn assign_column(&mut self, query: &mut Query, place: usize, column: &Column) -> Result<()> {
        let have = &query.columns[place];
        if have.ty == column.ty && (column.typmod < 0 || have.typmod == column.typmod) {
            return Ok(());
        }
        if let Body::Values(rows) = &mut query.body {
            for row in rows {
                let expr = std::mem::replace(&mut row[place], Expr::null(column.ty));
                row[place] = self.assign(expr, column, None)?;
            }
            query.columns[place].ty = column.ty;
            return Ok(());
        }
        if have.ty != column.ty {
            let from = have.ty;
            if from != Oid::UNKNOWN && self.path(from, column.ty, CastContext::Assignment).is_none()
            {
                let placeholder = Expr { kind: ExprKind::Placeholder, ty: from, typmod: -1 };
                self.assign(placeholder, column, None)?;
            }
            self.convert_column(query, place, column.ty, CastContext::Assignment)?;
        }
        // The length and the like are applied where the row is made.
        Ok(())
    }

    /// What the columns get that are not given.
    pub(crate) fn defaults(&mut self, table: &Table, given: &[u16]) -> Result<Vec<(u16, Expr)>> {
        let mut defaults = Vec::new();
        for (number, column) in table.live() {
            let generated = column.default.as_ref().is_some_and(|it| it.generated);
            if given.contains(&number) || generated {
                continue;
            }
            if let Some(expr) = self.column_default(column)? {
                defaults.push((number, expr));
            }
        }
        Ok(defaults)
    }

    /// The default of a column.
    pub(crate) fn column_default(&mut self, column: &Column) -> Result<Option<Expr>> {
        if let Some(identity) = &column.identity {
            let next =
                Expr { kind: ExprKind::NextValue(identity.sequence), ty: Oid::INT8, typmod: -1 };
            return self.coerce(next, column.ty, -1, CastContext::Assignment).map(Some);
        }
        // The sequence of a serial column may have got another name since.
        if let Some(sequence) = column.default.as_ref().and_then(|it| it.sequence) {
            let next = Expr { kind: ExprKind::NextValue(sequence), ty: Oid::INT8, typmod: -1 };
            return self.coerce(next, column.ty, -1, CastContext::Assignment).map(Some);
        }
        let text = match &column.default {
            Some(default) => Arc::clone(&default.text),
            None => match self.domain_default(column.ty) {
                Some(text) => text,
                None => return Ok(None),
            },
        };
        let ast = crate::parse::expression(&text)?;
        let source = std::mem::take(&mut self.source);
        let bound =
            self.inside(|binder| binder.in_clause(Clause::Default, |binder| binder.expr(&ast)));
        self.source = source;
        let expr = bound?.0;
        let expr = self.assign(expr, column, None)?;
        Ok(Some(expr))
    }

    fn domain_default(&self, ty: Oid) -> Option<Arc<str>> {
        match &self.catalog.user_type(ty)?.kind {
            crate::catalog::UserTypeKind::Domain(domain) => domain.default.clone(),
            _ => None,
        }
    }

    fn on_conflict(&mut self, target: &TableRef, conflict: &ast::OnConflict) -> Result<OnConflict> {
        let indexes = match &conflict.conflict_target {
            None => ConflictTarget::Any,
            Some(ast::ConflictTarget::OnConstraint(name)) => {
                let (_, name) = split_name(name)?;
                ConflictTarget::Indexes(vec![self.constraint_index(&target.table, &name)?])
            }
            Some(ast::ConflictTarget::Columns(columns)) => {
                ConflictTarget::Indexes(self.arbiters(&target.table, columns)?)
            }
        };
        let action = match &conflict.action {
            ast::OnConflictAction::DoNothing => ConflictAction::Nothing,
            ast::OnConflictAction::DoUpdate(update) => {
                if indexes == ConflictTarget::Any {
                    return Err(SqlError::new(
                        code::SYNTAX_ERROR,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                    )
                    .hint("For example, ON CONFLICT (column_name)."));
                }
                // The row that was to be inserted stands behind the target.
                let excluded = ast::TableAlias {
                    explicit: true,
                    name: ast::Ident::new("excluded"),
                    columns: Vec::new(),
                    at: None,
                };
                let before = self.level().visible.len();
                self.table_ref(Arc::clone(&target.table), Some(&excluded))?;
                // Names without a table are the target's.
                self.level().visible.truncate(before);
                let set = self.assignments(&target.table, &update.assignments)?;
                let filter = match &update.selection {
                    Some(ast) => {
                        Some(self.in_clause(Clause::Where, |it| it.condition(ast, "WHERE"))?)
                    }
                    None => None,
                };
                ConflictAction::Update { set, filter }
            }
        };
        Ok(OnConflict { target: indexes, action })
    }

    fn constraint_index(&self, table: &Table, name: &str) -> Result<Oid> {
        use crate::catalog::ConstraintKind as K;
        let found = table.constraints.iter().find(|constraint| *constraint.name == *name);
        match found.map(|constraint| &constraint.kind) {
            Some(K::PrimaryKey { index, .. } | K::Unique { index, .. }) => Ok(*index),
            Some(_) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                "constraint in ON CONFLICT clause has no associated index",
            )),
            None => Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("constraint \"{name}\" for table \"{}\" does not exist", table.name),
            )),
        }
    }

    /// The unique indexes over these columns.
    fn arbiters(&self, table: &Table, columns: &[ast::Ident]) -> Result<Vec<Oid>> {
        // Expressions and the condition are marked names, see `parse/rewrite.rs`.
        let (mut wanted, mut exprs, mut condition) = (Vec::new(), Vec::new(), None);
        for ident in columns {
            let marked = ident.value.strip_prefix(crate::parse::MARK);
            match marked.and_then(|it| it.split_once(' ')) {
                Some(("expr", text)) => exprs.push(crate::parse::normalized(text)),
                Some((_, text)) => condition = Some(crate::parse::normalized(text)),
                None => {
                    let position = self.position(ident.span);
                    wanted.push(self.column_number(table, &fold(ident), position)?);
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        exprs.sort();
        let fits = |oid: &&Oid| {
            let Some(index) = self.catalog.index(**oid) else { return false };
            let (mut keys, mut texts) = (Vec::new(), Vec::new());
            for key in &index.keys {
                match &key.what {
                    IndexedExpr::Column(number) => keys.push(*number),
                    IndexedExpr::Expr(text) => texts.push(crate::parse::normalized(text)),
                }
            }
            keys.sort_unstable();
            texts.sort();
            let about = match &index.predicate {
                None => true,
                Some(text) => condition.as_ref() == Some(&crate::parse::normalized(text)),
            };
            index.unique && about && keys == wanted && texts == exprs
        };
        let found: Vec<Oid> = table.indexes.iter().filter(fits).copied().collect();
        if found.is_empty() {
            return Err(SqlError::new(
                code::INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            ));
        }
        Ok(found)
    }

    fn assignments(&mut self, table: &Table, list: &[ast::Assignment]) -> Result<Vec<Assignment>> {
        let mut all: Vec<Assignment> = Vec::new();
        for assignment in list {
            for (column, value) in self.assignment(table, assignment)? {
                if all.iter().any(|other| other.column == column) {
                    return Err(SqlError::new(
                        code::SYNTAX_ERROR,
                        format!(
                            "multiple assignments to same column \"{}\"",
                            table.column(column).name
                        ),
                    ));
                }
                all.push(Assignment { column, value });
            }
        }
        Ok(all)
    }

    fn assignment(
        &mut self,
        table: &Table,
        assignment: &ast::Assignment,
    ) -> Result<Vec<(u16, Expr)>> {
        match &assignment.target {
            ast::AssignmentTarget::ColumnName(name) => {
                let number = self.assigned_column(table, name)?;
                let expr = self.in_clause(Clause::Set, |binder| binder.expr(&assignment.value))?;
                let value = self.assigned_value(table, number, expr, &assignment.value)?;
                Ok(vec![(number, value)])
            }
            ast::AssignmentTarget::Tuple(names) => {
                let mut numbers = Vec::new();
                for name in names {
                    numbers.push(self.assigned_column(table, name)?);
                }
                let values = self.assigned_row(&assignment.value, numbers.len())?;
                let pairs = numbers.into_iter().zip(values);
                pairs
                    .map(|(number, expr)| {
                        let value = self.assigned_value(table, number, expr, &assignment.value)?;
                        Ok((number, value))
                    })
                    .collect()
            }
        }
    }

    fn assigned_column(&self, table: &Table, name: &ast::ObjectName) -> Result<u16> {
        let parts = super::name_parts(name)?;
        let last = parts.last().map_or("", String::as_str);
        let position = match name.0.last() {
            Some(ast::ObjectNamePart::Identifier(ident)) => self.position(ident.span),
            _ => 0,
        };
        // `SET t.x = …` is no way to name a column of t, except for what MySQL's dialect allows.
        self.column_number(table, last, position)
    }

    fn assigned_value(
        &mut self,
        table: &Table,
        number: u16,
        expr: Expr,
        ast: &ast::Expr,
    ) -> Result<Expr> {
        let column = table.column(number);
        let is_default = matches!(expr.kind, ExprKind::Default);
        if let Some(default) = &column.default
            && default.generated
        {
            if is_default {
                return Ok(Expr { ty: column.ty, ..expr });
            }
            return Err(SqlError::new(
                code::GENERATED_ALWAYS,
                format!("column \"{}\" can only be updated to DEFAULT", column.name),
            )
            .detail(format!("Column \"{}\" is a generated column.", column.name)));
        }
        if column.identity.is_some_and(|identity| identity.always) && !is_default {
            return Err(SqlError::new(
                code::GENERATED_ALWAYS,
                format!("column \"{}\" can only be updated to DEFAULT", column.name),
            )
            .detail(format!(
                "Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
                column.name
            )));
        }
        if is_default {
            let default = self.column_default(column)?;
            return Ok(default.unwrap_or_else(|| Expr::null(column.ty)));
        }
        self.assign(expr, column, value_position(ast))
    }

    /// SET (a, b) = (…, …), or = (SELECT …, …).
    fn assigned_row(&mut self, ast: &ast::Expr, count: usize) -> Result<Vec<Expr>> {
        let wrong = || {
            SqlError::new(code::SYNTAX_ERROR, "number of columns does not match number of values")
        };
        let values = match super::expr::strip(ast) {
            ast::Expr::Tuple(list) => self.in_clause(Clause::Set, |binder| binder.exprs(list))?,
            ast::Expr::Subquery(query) => {
                let query = self.subquery(query)?;
                // Each column is a query of its own that takes one column of the same rows.
                let columns = query.query.columns.clone();
                let row_names = columns.iter().map(|it| Arc::clone(&it.name)).collect::<Vec<_>>();
                let base =
                    Expr { kind: ExprKind::Scalar(Box::new(query)), ty: Oid::RECORD, typmod: -1 };
                let _ = row_names;
                let fields = columns.iter().enumerate();
                fields
                    .map(|(index, column)| Expr {
                        kind: ExprKind::Field { base: Box::new(base.clone()), index },
                        ty: column.ty,
                        typmod: column.typmod,
                    })
                    .collect()
            }
            other => match self.in_clause(Clause::Set, |binder| binder.expr(other))?.kind {
                ExprKind::Row { fields, .. } => fields,
                _ => return Err(wrong()),
            },
        };
        if values.len() == count { Ok(values) } else { Err(wrong()) }
    }

    fn update(&mut self, update: &ast::Update) -> Result<Query> {
        let ast::TableFactor::Table { name, alias, .. } = &update.table.relation else {
            return Err(SqlError::unsupported("UPDATE of something that is no table"));
        };
        if !update.table.joins.is_empty() || !update.order_by.is_empty() || update.limit.is_some() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in UPDATE"));
        }
        let table = self.target_table(name)?;
        let target = self.table_ref(Arc::clone(&table), alias.as_ref())?;
        let from = match &update.from {
            Some(
                ast::UpdateTableFromKind::AfterSet(list)
                | ast::UpdateTableFromKind::BeforeSet(list),
            ) => self.bind_from(list)?,
            None => None,
        };
        let set = self.assignments(&table, &update.assignments)?;
        let filter = self.where_clause(update.selection.as_ref())?;
        let kind = ModifyKind::Update { from, filter, set };
        self.finish(target, kind, update.returning.as_ref(), false)
    }

    fn where_clause(&mut self, selection: Option<&ast::Expr>) -> Result<Option<Expr>> {
        match selection {
            Some(ast) => self.in_clause(Clause::Where, |it| it.condition(ast, "WHERE")).map(Some),
            None => Ok(None),
        }
    }

    fn delete(&mut self, delete: &ast::Delete) -> Result<Query> {
        let (ast::FromTable::WithFromKeyword(tables) | ast::FromTable::WithoutKeyword(tables)) =
            &delete.from;
        let [ast::TableWithJoins { relation: ast::TableFactor::Table { name, alias, .. }, joins }] =
            &tables[..]
        else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in DELETE"));
        };
        if !joins.is_empty() || !delete.order_by.is_empty() || delete.limit.is_some() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in DELETE"));
        }
        let table = self.target_table(name)?;
        let target = self.table_ref(table, alias.as_ref())?;
        let from = match &delete.using {
            Some(list) => self.bind_from(list)?,
            None => None,
        };
        let filter = self.where_clause(delete.selection.as_ref())?;
        let kind = ModifyKind::Delete { from, filter };
        self.finish(target, kind, delete.returning.as_ref(), false)
    }

    fn merge(&mut self, merge: &ast::Merge) -> Result<Query> {
        let ast::TableFactor::Table { name, alias, .. } = &merge.table else {
            return Err(SqlError::unsupported("MERGE into something that is no table"));
        };
        if merge.output.is_some() {
            return Err(SqlError::unsupported("MERGE with RETURNING"));
        }
        let table = self.target_table(name)?;
        let target = self.table_ref(Arc::clone(&table), alias.as_ref())?;
        let source = ast::TableWithJoins { relation: merge.source.clone(), joins: Vec::new() };
        let source: From = self.table_with_joins(&source)?;
        let on = self.in_clause(Clause::On, |binder| binder.condition(&merge.on, "MERGE/ON"))?;
        let mut arms = Vec::new();
        for clause in &merge.clauses {
            arms.push(self.merge_arm(&target, clause)?);
        }
        let kind = ModifyKind::Merge { source: Box::new(source), on, arms };
        self.finish(target, kind, None, false)
    }

    fn merge_arm(&mut self, target: &TableRef, clause: &ast::MergeClause) -> Result<MergeArm> {
        let when = match clause.clause_kind {
            ast::MergeClauseKind::Matched => MergeWhen::Matched,
            ast::MergeClauseKind::NotMatched | ast::MergeClauseKind::NotMatchedByTarget => {
                MergeWhen::NotMatched
            }
            ast::MergeClauseKind::NotMatchedBySource => {
                return Err(SqlError::unsupported("WHEN NOT MATCHED BY SOURCE"));
            }
        };
        let condition = match &clause.predicate {
            Some(ast) => Some(self.in_clause(Clause::Where, |it| it.condition(ast, "WHEN"))?),
            None => None,
        };
        let action = match &clause.action {
            ast::MergeAction::DoNothing { .. } => MergeAction::Nothing,
            ast::MergeAction::Delete { .. } => MergeAction::Delete,
            ast::MergeAction::Update(update) => match &update.kind {
                ast::MergeUpdateKind::Set(assignments) => {
                    MergeAction::Update(self.assignments(&target.table, assignments)?)
                }
                _ => return Err(SqlError::unsupported("this UPDATE of MERGE")),
            },
            ast::MergeAction::Insert(insert) => self.merge_insert(&target.table, insert)?,
        };
        Ok(MergeArm { when, condition, action })
    }

    fn merge_insert(
        &mut self,
        table: &Table,
        insert: &ast::MergeInsertExpr,
    ) -> Result<MergeAction> {
        let ast::MergeInsertKind::Values(values) = &insert.kind else {
            return Err(SqlError::unsupported("this INSERT of MERGE"));
        };
        let [row] = &values.rows[..] else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "MERGE inserts one row"));
        };
        let mut columns = Vec::new();
        for name in &insert.columns {
            columns.push(self.assigned_column(table, name)?);
        }
        if columns.is_empty() {
            columns = table.live().map(|(number, _)| number).collect();
        }
        if row.content.len() > columns.len() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "INSERT has more expressions than target columns",
            ));
        }
        let mut all = Vec::new();
        for (&number, ast) in columns.iter().zip(&row.content) {
            let expr = self.in_clause(Clause::Values, |binder| binder.expr(ast))?;
            let column = table.column(number);
            let value = if matches!(expr.kind, ExprKind::Default) {
                self.column_default(column)?.unwrap_or_else(|| Expr::null(column.ty))
            } else {
                self.assign(expr, column, value_position(ast))?
            };
            all.push((number, value));
        }
        let given: Vec<u16> = all.iter().map(|&(number, _)| number).collect();
        all.extend(self.defaults(table, &given)?);
        Ok(MergeAction::Insert(all))
    }
}

fn value_position(ast: &ast::Expr) -> Option<sqlparser::tokenizer::Span> {
    match ast {
        ast::Expr::Value(value) => Some(value.span),
        _ => None,
    }
}
