//! CREATE TABLE and the columns of tables.

use super::Ddl;
use crate::bind::Binder;
use crate::catalog::{Column, ColumnDefault, Identity, Object, Persistence, Sequence, Table};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{
    ColumnDef, ConstraintDef, CreateTable, Lifetime, Name, SequenceOption, TableConstraint,
};
use crate::types::Oid;
use std::sync::Arc;

/// How many columns a table may have.
const COLUMNS_MAX: usize = 1600;

pub(super) fn persistence(lifetime: Lifetime) -> Persistence {
    match lifetime {
        Lifetime::Permanent => Persistence::Permanent,
        Lifetime::Temporary => Persistence::Temporary,
        Lifetime::DeleteRows => Persistence::TemporaryRows,
        Lifetime::Drop => Persistence::TemporaryDrop,
    }
}

impl Ddl<'_> {
    pub(super) fn create_table(&mut self, create: &CreateTable) -> Result<()> {
        let schema = self.target_schema(&create.name, create.lifetime)?;
        if self.skip_existing(schema, &create.name, create.if_not_exists)? {
            return Ok(());
        }
        let create = self.with_likes(create)?;
        let mut table = self.empty_table(schema, &create.name.name, create.lifetime);
        let mut sequences = Vec::new();
        for def in &create.columns {
            let column = self.column(&table, def, &mut sequences)?;
            self.add_column_to(&mut table, column)?;
        }
        let keys = self.primary_columns(&create.columns, &create.constraints)?;
        for name in keys {
            let number = self.key_column(&table, &name)?;
            table.columns[number as usize - 1].not_null = true;
        }
        let table = self.put_table(table);
        self.own_sequences(&table, sequences);
        self.check_expressions(&table)?;
        self.add_constraints(table.oid, &create.columns, &create.constraints)?;
        self.copy_indexes(table.oid, &create)
    }

    /// Whether there is such a relation already and that is well.
    pub(super) fn skip_existing(
        &mut self,
        schema: Oid,
        name: &Name,
        if_not_exists: bool,
    ) -> Result<bool> {
        match self.check_new(schema, &name.name) {
            Ok(()) => {
                let types = &self.env.path;
                let _ = types;
                Ok(false)
            }
            Err(error) if if_not_exists => {
                let message = format!("{}, skipping", error.message());
                self.notice(code::DUPLICATE_TABLE, message);
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn empty_table(&self, schema: Oid, name: &str, lifetime: Lifetime) -> Table {
        Table {
            oid: self.new_oid(),
            row_type: self.new_oid(),
            row_array_type: self.new_oid(),
            schema,
            name: name.into(),
            persistence: persistence(lifetime),
            heap: self.env.database.new_heap().id,
            columns: Vec::new(),
            constraints: Vec::new(),
            indexes: Vec::new(),
            silent: Vec::new(),
            materialized: None,
            comment: None,
        }
    }

    pub(super) fn add_column_to(&self, table: &mut Table, column: Column) -> Result<()> {
        if table.find(&column.name).is_some() {
            return Err(SqlError::new(
                code::DUPLICATE_COLUMN,
                format!("column \"{}\" specified more than once", column.name),
            ));
        }
        let system = ["ctid", "tableoid", "xmin", "cmin", "xmax", "cmax"];
        if system.contains(&&*column.name) {
            return Err(SqlError::new(
                code::DUPLICATE_COLUMN,
                format!("column name \"{}\" conflicts with a system column name", column.name),
            ));
        }
        if table.columns.len() >= COLUMNS_MAX {
            return Err(SqlError::new(
                code::TOO_MANY_COLUMNS,
                format!("tables can have at most {COLUMNS_MAX} columns"),
            ));
        }
        table.columns.push(column);
        Ok(())
    }

    /// A column, with the sequences that have to be made for it.
    pub(super) fn column(
        &mut self,
        table: &Table,
        def: &ColumnDef,
        sequences: &mut Vec<Sequence>,
    ) -> Result<Column> {
        let serial = Binder::serial_type(&def.ty);
        let (ty, typmod) = match serial {
            Some(ty) => (ty, -1),
            None => self.env.binder(self.text).data_type(&def.ty)?,
        };
        self.check_column_type(&def.name, ty)?;
        let mut column = Column {
            name: def.name.as_str().into(),
            ty,
            typmod,
            not_null: def.not_null.unwrap_or(false),
            default: None,
            identity: None,
            missing: None,
            dropped: false,
            collation: self.collation_for(def.collation.as_ref(), ty)?,
            comment: None,
        };
        let given = usize::from(serial.is_some())
            + usize::from(def.default.is_some())
            + usize::from(def.generated.is_some())
            + usize::from(def.identity.is_some());
        if given > 1 {
            return Err(both_given(table, def));
        }
        if serial.is_some() {
            let sequence = self.column_sequence(table, &def.name, ty, &[], false, sequences)?;
            column.not_null = true;
            let shown = self.sequence_shown(&sequence);
            let text = format!("nextval('{}'::regclass)", shown.replace('\'', "''")).into();
            let oid = Some(sequence.oid);
            column.default = Some(ColumnDefault { text, generated: false, sequence: oid });
            sequences.push(sequence);
        }
        if let Some(identity) = &def.identity {
            let options = &identity.options;
            let sequence = self.column_sequence(table, &def.name, ty, options, true, sequences)?;
            column.not_null = true;
            column.identity = Some(Identity { always: identity.always, sequence: sequence.oid });
            sequences.push(sequence);
        }
        if let Some(text) = &def.default {
            column.default = self.default_of(text);
        }
        if let Some(text) = &def.generated {
            let text = text.as_str().into();
            column.default = Some(ColumnDefault { text, generated: true, sequence: None });
        }
        Ok(column)
    }

    pub(super) fn default_of(&self, text: &str) -> Option<ColumnDefault> {
        // DEFAULT NULL is no default.
        let is_null = text.trim().eq_ignore_ascii_case("null");
        let text = text.into();
        (!is_null).then_some(ColumnDefault { text, generated: false, sequence: None })
    }

    fn sequence_shown(&self, sequence: &Sequence) -> String {
        use crate::functions::quote_ident;
        let is_visible = self.env.path.first() == Some(sequence.schema)
            || self.env.path.temporary == Some(sequence.schema);
        if is_visible {
            return quote_ident(&sequence.name);
        }
        let schema = self.catalog().schema_name(sequence.schema);
        format!("{}.{}", quote_ident(&schema), quote_ident(&sequence.name))
    }

    fn check_column_type(&self, column: &str, ty: Oid) -> Result<()> {
        use crate::types::{TypeKind, TypeLookup};
        let is_pseudo = matches!(self.catalog().kind(ty), Some(TypeKind::Pseudo));
        if is_pseudo || ty == Oid::UNKNOWN {
            return Err(SqlError::new(
                code::INVALID_TABLE_DEFINITION,
                format!("column \"{column}\" has pseudo-type {}", self.env.type_name(ty, -1)),
            ));
        }
        Ok(())
    }

    pub(super) fn column_sequence(
        &mut self,
        table: &Table,
        column: &str,
        ty: Oid,
        options: &[SequenceOption],
        is_identity: bool,
        others: &[Sequence],
    ) -> Result<Sequence> {
        if is_identity && !matches!(ty, Oid::INT2 | Oid::INT4 | Oid::INT8) {
            return Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                "identity column type must be smallint, integer, or bigint",
            ));
        }
        let named = options.iter().find_map(|it| match it {
            SequenceOption::Name(name) => Some(name.name.clone()),
            _ => None,
        });
        let taken: Vec<String> = others.iter().map(|it| it.name.to_string()).collect();
        let name = match named {
            Some(name) => name,
            None => self.relation_name(table.schema, &table.name, column, "seq", &taken),
        };
        let lifetime = match table.persistence {
            Persistence::Permanent => Lifetime::Permanent,
            _ => Lifetime::Temporary,
        };
        self.sequence(table.schema, &name, lifetime, ty, options)
    }

    /// Gives sequences to the columns that they were made for.
    pub(super) fn own_sequences(&mut self, table: &Arc<Table>, sequences: Vec<Sequence>) {
        for mut sequence in sequences {
            let of_it = |column: &&Column| {
                column.identity.is_some_and(|it| it.sequence == sequence.oid)
                    || column.default.as_ref().and_then(|it| it.sequence) == Some(sequence.oid)
            };
            let place = table.columns.iter().position(|column| of_it(&column));
            sequence.owner = place.map(|place| {
                (table.oid, place as u16 + 1, table.columns[place].identity.is_some())
            });
            let oid = sequence.oid;
            self.put(oid, Object::Sequence(Arc::new(sequence)));
        }
    }

    /// Binds all defaults and generated columns, so that errors in them are told now.
    pub(super) fn check_expressions(&mut self, table: &Arc<Table>) -> Result<()> {
        for (_, column) in table.live() {
            let Some(default) = &column.default else { continue };
            let mut binder = self.env.binder("");
            if default.generated {
                let expr = binder.generated_expr(table, column)?;
                self.check_generated(table, &expr)?;
            } else if default.sequence.is_none() {
                binder.column_default(column)?;
            }
        }
        Ok(())
    }

    fn check_generated(&self, table: &Table, expr: &crate::ir::Expr) -> Result<()> {
        for number in super::columns_of(expr, table.columns.len()) {
            let column = table.column(number);
            if column.default.as_ref().is_some_and(|it| it.generated) {
                return Err(SqlError::new(
                    code::INVALID_OBJECT_DEFINITION,
                    format!(
                        "cannot use generated column \"{}\" in column generation expression",
                        column.name
                    ),
                )
                .detail("A generated column cannot reference another generated column."));
            }
        }
        if super::alter::is_volatile(expr) {
            return Err(SqlError::new(
                code::INVALID_OBJECT_DEFINITION,
                "generation expression is not immutable",
            ));
        }
        Ok(())
    }

    /// The names of the columns of the primary key.
    fn primary_columns(
        &self,
        columns: &[ColumnDef],
        constraints: &[TableConstraint],
    ) -> Result<Vec<String>> {
        let all = columns.iter().flat_map(|it| &it.constraints).chain(constraints);
        let keys: Vec<&Vec<String>> = all
            .filter_map(|it| match &it.kind {
                ConstraintDef::PrimaryKey { columns, .. } => Some(columns),
                _ => None,
            })
            .collect();
        Ok(keys.first().map(|it| it.to_vec()).unwrap_or_default())
    }

    /// A column of a key.
    pub(super) fn key_column(&self, table: &Table, name: &str) -> Result<u16> {
        table.find(name).ok_or_else(|| {
            SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{name}\" named in key does not exist"),
            )
        })
    }
}

fn both_given(table: &Table, def: &ColumnDef) -> SqlError {
    let place = format!("for column \"{}\" of table \"{}\"", def.name, table.name);
    let message = match (&def.identity, &def.generated, &def.default) {
        (Some(_), Some(_), _) => {
            format!("both identity and generation expression specified {place}")
        }
        (Some(_), ..) => format!("both default and identity specified {place}"),
        (None, Some(_), _) => format!("both default and generation expression specified {place}"),
        _ => format!("multiple default values specified {place}"),
    };
    SqlError::new(code::SYNTAX_ERROR, message)
}
