//! pg_tables, pg_views, pg_indexes and other lists for people; comments; statistics.

use super::columns;
use super::facts::OWNER;
use super::fixed;
use super::maker::{Maker, flag, oid, text};
use crate::catalog::Object;
use crate::deparse;
use crate::env::Env;
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// Tables, also those of the catalog itself.
pub(super) fn pg_tables(env: &Env, maker: &mut Maker) {
    for relation in columns::all().iter().filter(|it| super::is_base(it)) {
        let it = &relation.table;
        maker.add([
            ("schemaname", text(it.schema)),
            ("tablename", text(it.name)),
            ("tableowner", text(&env.user)),
            ("hasindexes", flag(true)),
            ("hasrules", flag(false)),
            ("hastriggers", flag(false)),
            ("rowsecurity", flag(false)),
        ]);
    }
    for (_, object) in env.catalog.objects() {
        let Object::Table(it) = object else { continue };
        if it.materialized.is_some() {
            continue;
        }
        let refers = it
            .constraints
            .iter()
            .any(|it| matches!(it.kind, crate::catalog::ConstraintKind::ForeignKey(_)));
        maker.add([
            ("schemaname", text(&env.catalog.schema_name(it.schema))),
            ("tablename", text(&it.name)),
            ("tableowner", text(&env.user)),
            ("hasindexes", flag(!it.indexes.is_empty())),
            ("hasrules", flag(false)),
            ("hastriggers", flag(refers)),
            ("rowsecurity", flag(false)),
        ]);
    }
}

fn definition(env: &Env, view: &Object) -> Datum {
    deparse::view(env, view, deparse::Layout::Plain).map_or(Datum::Null, Datum::text)
}

/// Views.
pub(super) fn pg_views(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::View(it) = object else { continue };
        maker.add([
            ("schemaname", text(&env.catalog.schema_name(it.schema))),
            ("viewname", text(&it.name)),
            ("viewowner", text(&env.user)),
            ("definition", definition(env, object)),
        ]);
    }
}

/// Materialized views.
pub(super) fn pg_matviews(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Table(it) = object else { continue };
        let Some(view) = &it.materialized else { continue };
        maker.add([
            ("schemaname", text(&env.catalog.schema_name(it.schema))),
            ("matviewname", text(&it.name)),
            ("matviewowner", text(&env.user)),
            ("hasindexes", flag(!it.indexes.is_empty())),
            ("ispopulated", flag(view.populated)),
            ("definition", definition(env, object)),
        ]);
    }
}

/// Indexes with the statements that make them.
pub(super) fn pg_indexes(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Index(it) = object else { continue };
        let Some(table) = env.catalog.table(it.table) else { continue };
        let definition = deparse::index(env, it, deparse::Layout::Plain);
        maker.add([
            ("schemaname", text(&env.catalog.schema_name(table.schema))),
            ("tablename", text(&table.name)),
            ("indexname", text(&it.name)),
            ("indexdef", Datum::text(definition)),
        ]);
    }
}

/// Sequences with their last numbers.
pub(super) fn pg_sequences(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Sequence(it) = object else { continue };
        let last = env.database.last_value(it.oid).map_or(Datum::Null, Datum::Int8);
        maker.add([
            ("schemaname", text(&env.catalog.schema_name(it.schema))),
            ("sequencename", text(&it.name)),
            ("sequenceowner", text(&env.user)),
            ("data_type", oid(it.ty)),
            ("start_value", Datum::Int8(it.start)),
            ("min_value", Datum::Int8(it.min)),
            ("max_value", Datum::Int8(it.max)),
            ("increment_by", Datum::Int8(it.increment)),
            ("cycle", flag(it.cycle)),
            ("cache_size", Datum::Int8(it.cache)),
            ("last_value", last),
        ]);
    }
}

const PG_CLASS: Oid = Oid(1259);
const PG_TYPE: Oid = Oid(1247);
const PG_CONSTRAINT: Oid = Oid(2606);

/// A comment: object, class, column, text.
pub(super) type Comment = (Oid, Oid, i32, Arc<str>);

/// All that was said about objects of users.
pub(super) fn comments(env: &Env) -> Vec<Comment> {
    let mut all = Vec::new();
    let mut say = |object: Oid, class: Oid, column: i32, comment: &Option<Arc<str>>| {
        if let Some(comment) = comment {
            all.push((object, class, column, Arc::clone(comment)));
        }
    };
    for (_, object) in env.catalog.objects() {
        match object {
            Object::Table(it) => {
                say(it.oid, PG_CLASS, 0, &it.comment);
                for (number, column) in it.live() {
                    say(it.oid, PG_CLASS, i32::from(number), &column.comment);
                }
                for constraint in &it.constraints {
                    say(constraint.oid, PG_CONSTRAINT, 0, &constraint.comment);
                }
            }
            Object::View(it) => {
                say(it.oid, PG_CLASS, 0, &it.comment);
                for (number, column) in (1..).zip(&it.columns) {
                    say(it.oid, PG_CLASS, number, &column.comment);
                }
            }
            Object::Index(it) => say(it.oid, PG_CLASS, 0, &it.comment),
            Object::Sequence(it) => say(it.oid, PG_CLASS, 0, &it.comment),
            Object::Type(it) => say(it.oid, PG_TYPE, 0, &it.comment),
            Object::Schema(_) | Object::Extension(_) | Object::Collation(_) => {}
        }
    }
    for ((object, class), comment) in &env.catalog.comments {
        all.push((*object, Oid(*class), 0, Arc::clone(comment)));
    }
    all
}

/// What was said about objects.
pub(super) fn pg_description(env: &Env, maker: &mut Maker) {
    let said = comments(env);
    // What is said here takes the place of what PostgreSQL says about its own objects.
    maker.rows.retain(|row| {
        let key = (&row[0], &row[1]);
        !said.iter().any(|(object, class, ..)| {
            matches!(key, (Datum::Oid(one), Datum::Oid(other))
                if *one == object.0 && *other == class.0)
        })
    });
    for (object, class, column, comment) in said {
        maker.add([
            ("objoid", oid(object)),
            ("classoid", oid(class)),
            ("objsubid", Datum::Int4(column)),
            ("description", text(&comment)),
        ]);
    }
}

/// What was said about a built-in object.
pub(super) fn builtin_comment(table: &str, object: Oid, class: Option<Oid>) -> Option<Arc<str>> {
    fixed::rows(table).iter().find_map(|row| match (&row[0], &row[1], row.last()) {
        (Datum::Oid(it), Datum::Oid(of), Some(Datum::Text(comment)))
            if *it == object.0 && class.is_none_or(|class| class.0 == *of) =>
        {
            Some(Arc::clone(comment))
        }
        _ => None,
    })
}

/// pg_stat_user_tables and its relatives: nothing is counted.
pub(super) fn pg_stat_tables(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Table(it) = object else { continue };
        maker.add([
            ("relid", oid(it.oid)),
            ("schemaname", text(&env.catalog.schema_name(it.schema))),
            ("relname", text(&it.name)),
        ]);
        maker.count_nothing();
    }
}

/// pg_stat_user_indexes and its relatives.
pub(super) fn pg_stat_indexes(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Index(it) = object else { continue };
        let Some(table) = env.catalog.table(it.table) else { continue };
        maker.add([
            ("relid", oid(table.oid)),
            ("indexrelid", oid(it.oid)),
            ("schemaname", text(&env.catalog.schema_name(table.schema))),
            ("relname", text(&table.name)),
            ("indexrelname", text(&it.name)),
        ]);
        maker.count_nothing();
    }
}

/// The collations that users made.
pub(super) fn pg_collation(env: &Env, maker: &mut Maker) {
    for it in env.catalog.collations_of_users() {
        let locale = it.locale.as_ref().map_or(Datum::Null, |it| text(it));
        let (icu, libc) = match it.provider {
            'i' => (locale, Datum::Null),
            _ => (Datum::Null, locale),
        };
        maker.add([
            ("oid", oid(it.oid)),
            ("collname", text(&it.name)),
            ("collnamespace", oid(it.schema)),
            ("collowner", oid(OWNER)),
            ("collprovider", text(&it.provider.to_string())),
            ("collisdeterministic", flag(it.collation.deterministic)),
            ("collencoding", Datum::Int4(-1)),
            ("collcollate", libc.clone()),
            ("collctype", libc),
            ("colliculocale", icu),
        ]);
    }
}

/// All collations, as the standard lists them.
pub(super) fn collations(env: &Env, maker: &mut Maker) {
    let database = text(&env.database.name);
    let mut add = |schema: Datum, name: Datum| {
        maker.add([
            ("collation_catalog", database.clone()),
            ("collation_schema", schema),
            ("collation_name", name),
            ("pad_attribute", text("NO PAD")),
        ]);
    };
    for row in super::fixed::rows("pg_collation") {
        add(text("pg_catalog"), row[1].clone());
    }
    for it in env.catalog.collations_of_users() {
        add(text(&env.catalog.schema_name(it.schema)), text(&it.name));
    }
}
