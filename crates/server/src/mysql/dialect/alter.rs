//! ALTER TABLE of MySQL, one change after the other.

use super::super::error::MysqlError;
use super::changes;
use super::create::{Keys, Made, column, commented, first_words, index, name, rename, shown};
use super::known::Known;
use super::names::{LABELS, PRIMARY, RANGE, index_name, parts};
use seriatim_sql::parse::ast::{
    AlterTable, ColumnDef, Drop, Name, ObjectKind, TableChange, Utility,
};
use sqlparser::ast::{
    self, AlterColumnOperation, AlterTableOperation, ColumnOption, ObjectName, RenameTableNameKind,
};

pub(super) fn alter_table(alter: ast::AlterTable, known: &Known<'_>) -> Made<Vec<Utility>> {
    let table = name(&alter.name, known);
    let mut all = Vec::new();
    for operation in alter.operations {
        altered(&alter.name, &table, operation, known, &mut all)?;
    }
    Ok(all)
}

fn changed(table: &Name, changes: Vec<TableChange>) -> Utility {
    Utility::AlterTable(AlterTable {
        name: table.clone(),
        if_exists: false,
        kind: ObjectKind::Table,
        changes,
    })
}

fn keys_added(table: &Name, keys: Keys, all: &mut Vec<Utility>) {
    for constraint in keys.constraints {
        all.push(changed(table, vec![TableChange::AddConstraint(constraint)]));
    }
    for (it, columns, unique) in keys.indexes {
        all.push(index(table, &it, columns, unique));
    }
}

fn altered(
    full: &ObjectName,
    table: &Name,
    operation: AlterTableOperation,
    known: &Known<'_>,
    all: &mut Vec<Utility>,
) -> Made<()> {
    use AlterTableOperation as A;
    match operation {
        A::AddColumn { column_def, if_not_exists, .. } => {
            let mut keys = Keys::default();
            let options = column_def.options.into_iter().map(|it| it.option);
            let name = column_def.name.value;
            let made = column(&table.name, &name, &column_def.data_type, options, known)?;
            let (def, comment) = keys.column(&table.name, made);
            let def = filled(def);
            let change = TableChange::AddColumn { column: Box::new(def), if_not_exists };
            all.push(changed(table, vec![change]));
            keys_added(table, keys, all);
            all.push(commented(table, &name, comment));
        }
        A::AddConstraint { constraint, .. } => {
            let mut keys = Keys::default();
            keys.add(&table.name, constraint, known)?;
            keys_added(table, keys, all);
        }
        A::DropColumn { column_names, if_exists, .. } => {
            for it in column_names {
                // Indexes and checks over the column go with it.
                let change = TableChange::DropColumn { name: it.value, if_exists, cascade: true };
                all.push(changed(table, vec![change]));
            }
        }
        A::DropForeignKey { name, .. } | A::DropConstraint { name, .. } => {
            all.push(changed(table, vec![drop_constraint(name.value)]));
        }
        A::DropPrimaryKey { .. } => {
            all.push(changed(table, vec![drop_constraint(index_name(&table.name, PRIMARY))]));
        }
        A::DropIndex { name } => {
            let name = index_name(&table.name, &name.value);
            let names = vec![Name { schema: table.schema.clone(), name, position: 0 }];
            let kind = ObjectKind::Index;
            all.push(Utility::Drop(Drop { kind, names, if_exists: false, cascade: false }));
        }
        A::RenameColumn { old_column_name, new_column_name } => {
            let (from, to) = (old_column_name.value, new_column_name.value);
            all.push(changed(table, vec![TableChange::RenameColumn { from, to }]));
        }
        A::RenameTable { table_name } => {
            let (RenameTableNameKind::As(to) | RenameTableNameKind::To(to)) = table_name;
            all.push(rename(table.clone(), parts(&to).1));
        }
        A::ModifyColumn { col_name, data_type, options, .. } => {
            redefined(full, table, &col_name.value, &data_type, options, known, all)?;
        }
        A::ChangeColumn { old_name, new_name, data_type, options, .. } => {
            redefined(full, table, &old_name.value, &data_type, options, known, all)?;
            if old_name.value != new_name.value {
                let (from, to) = (old_name.value, new_name.value);
                all.push(changed(table, vec![TableChange::RenameColumn { from, to }]));
            }
        }
        A::AlterColumn { column_name, op } => {
            let column = column_name.value;
            let change = match op {
                AlterColumnOperation::SetDefault { value } => {
                    let default = Some(shown(value, known)?);
                    TableChange::SetDefault { column, default }
                }
                AlterColumnOperation::DropDefault => {
                    TableChange::SetDefault { column, default: None }
                }
                other => return Err(MysqlError::unsupported(other)),
            };
            all.push(changed(table, vec![change]));
        }
        A::AutoIncrement { .. } | A::Algorithm { .. } | A::Lock { .. } => {}
        other => return Err(MysqlError::unsupported(first_words(&other.to_string()))),
    }
    Ok(())
}

fn drop_constraint(name: String) -> TableChange {
    TableChange::DropConstraint { name, if_exists: false, cascade: true }
}

/// A new column that must not be null has something in the rows that are there.
fn filled(mut def: ColumnDef) -> ColumnDef {
    if def.not_null == Some(true) && def.default.is_none() && def.identity.is_none() {
        let word = def.ty.to_string().to_uppercase();
        let is_number = ["INT", "NUM", "DOUBLE", "REAL"].iter().any(|it| word.contains(it));
        if is_number {
            def.default = Some("0".to_owned());
        } else if word.contains("CHAR") || word == "TEXT" {
            def.default = Some("''".to_owned());
        }
    }
    def
}

/// MODIFY and CHANGE give the whole definition again.
fn redefined(
    full: &ObjectName,
    table: &Name,
    of: &str,
    ty: &ast::DataType,
    options: Vec<ColumnOption>,
    known: &Known<'_>,
    all: &mut Vec<Utility>,
) -> Made<()> {
    let made = column(&table.name, of, ty, options.into_iter(), known)?;
    let Some(found) = changes::find_table(full, known) else {
        let message = format!("Table '{}.{}' doesn't exist", known.database(), table.name);
        return Err(MysqlError::new(1146, "42S02", message));
    };
    let names = [format!("{RANGE}{of}"), format!("{LABELS}{of}")];
    let old = found.constraints.iter().filter(|it| names.iter().any(|name| **name == *it.name));
    let mut list: Vec<TableChange> = old.map(|it| drop_constraint(it.name.to_string())).collect();
    let has_identity = found.find(of).is_some_and(|number| found.column(number).identity.is_some());
    let column = of.to_owned();
    let def = made.def.clone();
    list.push(TableChange::SetType {
        column: column.clone(),
        ty: def.ty,
        collation: None,
        using: None,
    });
    match (has_identity, def.identity) {
        (true, Some(_)) => {}
        (false, Some(identity)) => {
            list.push(TableChange::NotNull { column: column.clone(), not_null: true });
            list.push(TableChange::AddIdentity { column: column.clone(), identity });
        }
        (has, None) => {
            if has {
                list.push(TableChange::DropIdentity { column: column.clone(), if_exists: true });
            }
            list.push(TableChange::SetDefault { column: column.clone(), default: def.default });
        }
    }
    let not_null = def.not_null == Some(true);
    list.push(TableChange::NotNull { column, not_null });
    all.push(changed(table, list));
    let mut keys = Keys::default();
    let (_, comment) = keys.column(&table.name, made);
    keys_added(table, keys, all);
    all.push(commented(table, of, comment));
    Ok(())
}
