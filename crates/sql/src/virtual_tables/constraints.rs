//! pg_constraint, pg_index, pg_attrdef, pg_sequence and pg_depend.
//!
//! Expressions are kept as the SQL that their users wrote. The columns that PostgreSQL keeps trees
//! in (`adbin`, `conbin`, `indpred`, …) have a reference to the object here, which `pg_get_expr`
//! follows: so an expression is bound and written out only where it is asked for.

use super::facts::{kept, op_class};
use super::maker::{Maker, flag, numbers, oid, text, vector};
use super::{Tree, default_oid};
use crate::catalog::{
    Action, Constraint, ConstraintKind, ForeignKey, Index, IndexedExpr, Object, Table, UserType,
    UserTypeKind,
};
use crate::env::Env;
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// The tables of users.
fn tables(env: &Env) -> impl Iterator<Item = &Arc<Table>> {
    env.catalog.objects().filter_map(|(_, object)| match object {
        Object::Table(table) => Some(table),
        _ => None,
    })
}

/// The constraints of tables and domains.
pub(super) fn pg_constraint(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for constraint in &table.constraints {
            add_constraint(env, maker, table, constraint);
        }
    }
    for (_, object) in env.catalog.objects() {
        if let Object::Type(ty) = object {
            add_domain_checks(maker, ty);
        }
    }
}

fn add_constraint(env: &Env, maker: &mut Maker, table: &Table, it: &Constraint) {
    let none = &[][..];
    let (kind, columns, index, key) = match &it.kind {
        ConstraintKind::PrimaryKey { columns, index } => ("p", &columns[..], *index, None),
        ConstraintKind::Unique { columns, index } => ("u", &columns[..], *index, None),
        ConstraintKind::Check { columns, .. } => ("c", &columns[..], Oid::NONE, None),
        ConstraintKind::ForeignKey(key) => ("f", &key.columns[..], key.index, Some(key)),
    };
    let referenced = key.map_or(none, |key| &key.referenced[..]);
    let tree = (kind == "c").then(|| Datum::text(Tree::Check(it.oid).to_string()));
    let equal = |types: Vec<(Oid, Oid)>| match key {
        Some(_) => super::maker::array(Oid::OID, types.into_iter().map(equality).collect()),
        None => Datum::Null,
    };
    let pairs = |first: Side, second: Side| equal(key_types(env, table, key, first, second));
    maker.add([
        ("oid", oid(it.oid)),
        ("conname", text(&it.name)),
        ("connamespace", oid(table.schema)),
        ("contype", text(kind)),
        ("condeferrable", flag(it.deferrable)),
        ("condeferred", flag(it.deferred)),
        ("convalidated", flag(it.validated)),
        ("conrelid", oid(table.oid)),
        ("conindid", oid(index)),
        ("confrelid", oid(key.map_or(Oid::NONE, |key| key.table))),
        ("confupdtype", text(key.map_or(" ", |key| action(key.on_update)))),
        ("confdeltype", text(key.map_or(" ", |key| action(key.on_delete)))),
        ("confmatchtype", text(key.map_or(" ", |key| if key.match_full { "f" } else { "s" }))),
        ("conislocal", flag(true)),
        ("connoinherit", flag(kind != "c")),
        ("conkey", if columns.is_empty() { Datum::Null } else { numbers(columns) }),
        ("confkey", if referenced.is_empty() { Datum::Null } else { numbers(referenced) }),
        ("conpfeqop", pairs(Side::Referenced, Side::Referring)),
        ("conppeqop", pairs(Side::Referenced, Side::Referenced)),
        ("conffeqop", pairs(Side::Referring, Side::Referring)),
        ("conbin", tree.unwrap_or(Datum::Null)),
    ]);
}

/// Which table of a foreign key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Referring,
    Referenced,
}

fn key_types(
    env: &Env,
    table: &Table,
    key: Option<&ForeignKey>,
    first: Side,
    second: Side,
) -> Vec<(Oid, Oid)> {
    let Some(key) = key else { return Vec::new() };
    let Some(other) = env.catalog.table(key.table) else { return Vec::new() };
    let ty = |side: Side, place: usize| match side {
        Side::Referring => table.column(key.columns[place]).ty,
        Side::Referenced => other.column(key.referenced[place]).ty,
    };
    let count = key.columns.len().min(key.referenced.len());
    let base = |ty| env.catalog.base_type(ty);
    (0..count).map(|place| (base(ty(first, place)), base(ty(second, place)))).collect()
}

/// The operator that compares two types.
fn equality((left, right): (Oid, Oid)) -> Datum {
    let plain = |ty: Oid| if ty == Oid::VARCHAR { Oid::TEXT } else { ty };
    let (left, right) = (plain(left), plain(right));
    let mut all = crate::catalog::builtin::builtin().operators_named("=");
    let found = all.find(|it| it.left == left && it.right == right);
    Datum::Oid(found.map_or(0, |it| it.oid))
}

/// The letter of what a foreign key does.
fn action(action: Action) -> &'static str {
    match action {
        Action::NoAction => "a",
        Action::Restrict => "r",
        Action::Cascade => "c",
        Action::SetNull => "n",
        Action::SetDefault => "d",
    }
}

fn add_domain_checks(maker: &mut Maker, ty: &UserType) {
    let UserTypeKind::Domain(domain) = &ty.kind else { return };
    for (check, name, _) in &domain.checks {
        maker.add([
            ("oid", oid(*check)),
            ("conname", text(name)),
            ("connamespace", oid(ty.schema)),
            ("contype", text("c")),
            ("convalidated", flag(true)),
            ("contypid", oid(ty.oid)),
            ("confupdtype", text(" ")),
            ("confdeltype", text(" ")),
            ("confmatchtype", text(" ")),
            ("conislocal", flag(true)),
            ("conbin", Datum::text(Tree::Check(*check).to_string())),
        ]);
    }
}

/// The indexes.
pub(super) fn pg_index(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Index(index) = object else { continue };
        let Some(table) = env.catalog.table(index.table) else { continue };
        add_index(env, maker, table, index);
    }
}

fn add_index(env: &Env, maker: &mut Maker, table: &Arc<Table>, index: &Index) {
    let key = |what: &IndexedExpr| match what {
        IndexedExpr::Column(number) => *number as i16,
        IndexedExpr::Expr(_) => 0,
    };
    let included = index.include.iter().map(|&number| number as i16);
    let keys = index.keys.iter().map(|it| key(&it.what)).chain(included);
    let keys: Vec<Datum> = keys.map(Datum::Int2).collect();
    let types: Vec<Oid> =
        index.keys.iter().map(|it| env.binder("").key_type(table, &it.what).0).collect();
    let class = |(it, &ty): (&crate::catalog::IndexKey, &Oid)| {
        let class = op_class(&env.catalog, &index.method, it.class.as_deref(), ty);
        Datum::Oid(class.map_or(0, |class| class.oid.0))
    };
    let collation = |(it, &ty): (&crate::catalog::IndexKey, &Oid)| {
        let named = it.collation;
        let own = match it.what {
            IndexedExpr::Column(number) => {
                super::facts::column_collation(&env.catalog, table.column(number))
            }
            IndexedExpr::Expr(_) => kept(&env.catalog, ty).collation,
        };
        oid(named.unwrap_or(own))
    };
    let option = |it: &crate::catalog::IndexKey| {
        Datum::Int2(i16::from(it.descending) | (i16::from(it.nulls_first) << 1))
    };
    let deferrable =
        table.constraints.iter().any(|it| Some(it.oid) == index.constraint && it.deferrable);
    let has_exprs = index.keys.iter().any(|it| matches!(it.what, IndexedExpr::Expr(_)));
    let tree = |is_there: bool, tree: Tree| {
        if is_there { Datum::text(tree.to_string()) } else { Datum::Null }
    };
    let pairs = || index.keys.iter().zip(&types);
    maker.add([
        ("indexrelid", oid(index.oid)),
        ("indrelid", oid(index.table)),
        ("indnatts", Datum::Int2(keys.len() as i16)),
        ("indnkeyatts", Datum::Int2(index.keys.len() as i16)),
        ("indisunique", flag(index.unique)),
        ("indnullsnotdistinct", flag(index.nulls_not_distinct)),
        ("indisprimary", flag(index.primary)),
        ("indimmediate", flag(!deferrable)),
        ("indisvalid", flag(true)),
        ("indisready", flag(true)),
        ("indislive", flag(true)),
        ("indkey", vector(Oid::INT2, keys)),
        ("indcollation", vector(Oid::OID, pairs().map(collation).collect())),
        ("indclass", vector(Oid::OID, pairs().map(class).collect())),
        ("indoption", vector(Oid::INT2, index.keys.iter().map(option).collect())),
        ("indexprs", tree(has_exprs, Tree::IndexExprs(index.oid))),
        ("indpred", tree(index.predicate.is_some(), Tree::Predicate(index.oid))),
    ]);
}

/// The defaults of columns.
pub(super) fn pg_attrdef(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for (number, column) in table.live() {
            if column.default.is_none() {
                continue;
            }
            maker.add([
                ("oid", Datum::Oid(default_oid(table.oid, number))),
                ("adrelid", oid(table.oid)),
                ("adnum", Datum::Int2(number as i16)),
                ("adbin", Datum::text(Tree::Default(table.oid, number).to_string())),
            ]);
        }
    }
}

/// The sequences.
pub(super) fn pg_sequence(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Sequence(it) = object else { continue };
        maker.add([
            ("seqrelid", oid(it.oid)),
            ("seqtypid", oid(it.ty)),
            ("seqstart", Datum::Int8(it.start)),
            ("seqincrement", Datum::Int8(it.increment)),
            ("seqmax", Datum::Int8(it.max)),
            ("seqmin", Datum::Int8(it.min)),
            ("seqcache", Datum::Int8(it.cache)),
            ("seqcycle", flag(it.cycle)),
        ]);
    }
}

const PG_CLASS: Oid = Oid(1259);
const PG_CONSTRAINT: Oid = Oid(2606);
const PG_ATTRDEF: Oid = Oid(2604);
const PG_NAMESPACE: Oid = Oid(2615);

struct Depends {
    class: Oid,
    object: Oid,
    on_class: Oid,
    on: Oid,
    on_column: i32,
    how: &'static str,
}

fn add_depends(maker: &mut Maker, it: &Depends) {
    maker.add([
        ("classid", oid(it.class)),
        ("objid", oid(it.object)),
        ("refclassid", oid(it.on_class)),
        ("refobjid", oid(it.on)),
        ("refobjsubid", Datum::Int4(it.on_column)),
        ("deptype", text(it.how)),
    ]);
}

/// What depends on what: relations on their schemas, sequences on their columns, indexes on their
/// constraints or columns, constraints on columns, defaults on sequences, views on relations.
pub(super) fn pg_depend(env: &Env, maker: &mut Maker) {
    for (object_oid, object) in env.catalog.objects() {
        let place = object.place();
        if let (Some((schema, _)), false) =
            (place, matches!(object, Object::Type(_) | Object::Index(_)))
        {
            let (class, object) = (PG_CLASS, object_oid);
            let (on_class, on, on_column, how) = (PG_NAMESPACE, schema, 0, "n");
            add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
        }
        match object {
            Object::Sequence(it) => {
                if let Some((table, column, is_identity)) = it.owner {
                    add_depends(
                        maker,
                        &Depends {
                            class: PG_CLASS,
                            object: it.oid,
                            on_class: PG_CLASS,
                            on: table,
                            on_column: i32::from(column),
                            how: if is_identity { "i" } else { "a" },
                        },
                    );
                }
            }
            Object::Index(it) => index_depends(maker, it),
            Object::Table(it) => table_depends(maker, it),
            _ => {}
        }
        for &on in object.query().map_or(&[][..], |(_, on)| on) {
            let (class, on_class, on_column, how) = (PG_CLASS, PG_CLASS, 0, "n");
            add_depends(
                maker,
                &Depends { class, object: object_oid, on_class, on, on_column, how },
            );
        }
    }
}

fn index_depends(maker: &mut Maker, index: &Index) {
    let (class, object) = (PG_CLASS, index.oid);
    if let Some(on) = index.constraint {
        let (on_class, on_column, how) = (PG_CONSTRAINT, 0, "i");
        add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
        return;
    }
    for key in &index.keys {
        let IndexedExpr::Column(number) = key.what else { continue };
        let (on_class, on, on_column, how) = (PG_CLASS, index.table, i32::from(number), "a");
        add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
    }
}

fn table_depends(maker: &mut Maker, table: &Table) {
    for constraint in &table.constraints {
        let (columns, key) = match &constraint.kind {
            ConstraintKind::PrimaryKey { columns, .. }
            | ConstraintKind::Unique { columns, .. }
            | ConstraintKind::Check { columns, .. } => (columns, None),
            ConstraintKind::ForeignKey(key) => (&key.columns, Some(key)),
        };
        let (class, object) = (PG_CONSTRAINT, constraint.oid);
        for &number in columns {
            let (on_class, on, on_column, how) = (PG_CLASS, table.oid, i32::from(number), "a");
            add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
        }
        let Some(key) = key else { continue };
        for &number in &key.referenced {
            let (on_class, on, on_column, how) = (PG_CLASS, key.table, i32::from(number), "n");
            add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
        }
    }
    for (number, column) in table.live() {
        let Some(default) = &column.default else { continue };
        let (class, object) = (PG_ATTRDEF, Oid(default_oid(table.oid, number)));
        let (on_class, on, on_column, how) = (PG_CLASS, table.oid, i32::from(number), "a");
        add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
        if let Some(on) = default.sequence {
            let (on_column, how) = (0, "n");
            add_depends(maker, &Depends { class, object, on_class, on, on_column, how });
        }
    }
}
