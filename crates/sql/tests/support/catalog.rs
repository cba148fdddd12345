//! Tables that are put into the catalog by hand.
#![allow(dead_code)]

use seriatim_sql::catalog::{
    Action, Column, ColumnDefault, Constraint, ConstraintKind, ForeignKey, HeapId, Identity, Index,
    IndexKey, IndexedExpr, Object, Persistence, Sequence, Table, schema,
};
use seriatim_sql::database::Database;
use seriatim_sql::types::Oid;
use std::sync::Arc;

/// The type and modifier of a name.
pub fn ty(name: &str) -> (Oid, i32) {
    match name {
        "int" => (Oid::INT4, -1),
        "bigint" => (Oid::INT8, -1),
        "smallint" => (Oid::INT2, -1),
        "text" => (Oid::TEXT, -1),
        "bool" => (Oid::BOOL, -1),
        "numeric" => (Oid::NUMERIC, -1),
        "numeric(10,2)" => (Oid::NUMERIC, ((10 << 16) | 2) + 4),
        "varchar" => (Oid::VARCHAR, -1),
        "varchar(20)" => (Oid::VARCHAR, 24),
        "char(3)" => (Oid::BPCHAR, 7),
        "float8" => (Oid::FLOAT8, -1),
        "real" => (Oid::FLOAT4, -1),
        "date" => (Oid::DATE, -1),
        "time" => (Oid::TIME, -1),
        "timestamp" => (Oid::TIMESTAMP, -1),
        "timestamptz" => (Oid::TIMESTAMPTZ, -1),
        "interval" => (Oid::INTERVAL, -1),
        "uuid" => (Oid::UUID, -1),
        "jsonb" => (Oid::JSONB, -1),
        "bytea" => (Oid::BYTEA, -1),
        "int[]" => (Oid::INT4_ARRAY, -1),
        "text[]" => (Oid::TEXT_ARRAY, -1),
        other => panic!("the type {other}"),
    }
}

pub fn column(name: &str, type_name: &str) -> Column {
    let (ty, typmod) = ty(type_name);
    Column {
        name: name.into(),
        ty,
        typmod,
        not_null: false,
        default: None,
        identity: None,
        missing: None,
        dropped: false,
        collation: None,
        comment: None,
    }
}

pub fn default(text: &str) -> ColumnDefault {
    ColumnDefault { text: text.into(), generated: false, sequence: None }
}

pub fn table(database: &Database, name: &str, columns: Vec<Column>) -> Table {
    Table {
        oid: database.new_oid(),
        row_type: database.new_oid(),
        row_array_type: database.new_oid(),
        schema: schema::PUBLIC,
        name: name.into(),
        persistence: Persistence::Permanent,
        heap: HeapId(1),
        columns,
        constraints: Vec::new(),
        indexes: Vec::new(),
        comment: None,
    }
}

pub fn put(database: &Database, oid: Oid, object: Object) {
    database.change_catalog(|catalog| catalog.put(oid, object));
}

pub fn index(database: &Database, table: &mut Table, name: &str, keys: Vec<IndexKey>) -> Index {
    let oid = database.new_oid();
    table.indexes.push(oid);
    Index {
        oid,
        name: name.into(),
        schema: table.schema,
        table: table.oid,
        keys,
        include: Vec::new(),
        unique: false,
        nulls_not_distinct: false,
        primary: false,
        predicate: None,
        method: "btree".into(),
        constraint: None,
        comment: None,
    }
}

pub fn key(what: IndexedExpr) -> IndexKey {
    IndexKey { what, descending: false, nulls_first: false, class: None, collation: None }
}

pub fn constraint(database: &Database, name: &str, kind: ConstraintKind) -> Constraint {
    Constraint {
        oid: database.new_oid(),
        name: name.into(),
        kind,
        deferrable: false,
        deferred: false,
        validated: true,
        comment: None,
    }
}

/// A primary key with its index.
pub fn primary_key(database: &Database, table: &mut Table, name: &str, columns: &[u16]) -> Index {
    let keys = columns.iter().map(|&number| key(IndexedExpr::Column(number))).collect();
    let mut index = index(database, table, name, keys);
    (index.unique, index.primary) = (true, true);
    let kind = ConstraintKind::PrimaryKey { columns: columns.to_vec(), index: index.oid };
    let made = constraint(database, name, kind);
    index.constraint = Some(made.oid);
    table.constraints.push(made);
    for &number in columns {
        table.columns[number as usize - 1].not_null = true;
    }
    index
}

pub fn sequence(database: &Database, name: &str, owner: Option<(Oid, u16, bool)>) -> Sequence {
    Sequence {
        oid: database.new_oid(),
        name: name.into(),
        schema: schema::PUBLIC,
        persistence: Persistence::Permanent,
        ty: Oid::INT4,
        start: 1,
        increment: 1,
        min: 1,
        max: i64::from(i32::MAX),
        cache: 1,
        cycle: false,
        owner,
        comment: None,
    }
}

/// Users and their posts: a serial and an identity column, a foreign key, a check, indexes over a
/// column, an expression and some of the rows.
pub fn blog(database: &Database) {
    let mut users = table(
        database,
        "sa_user",
        vec![column("id", "int"), column("name", "varchar(20)"), column("email", "text")],
    );
    users.comment = Some("those who write".into());
    users.columns[1].not_null = true;
    users.columns[2].comment = Some("where they read".into());
    let numbers = sequence(database, "sa_user_id_seq", Some((users.oid, 1, false)));
    users.columns[0].default = Some(ColumnDefault {
        text: "nextval('sa_user_id_seq'::regclass)".into(),
        generated: false,
        sequence: Some(numbers.oid),
    });
    let users_key = primary_key(database, &mut users, "sa_user_pkey", &[1]);
    let expr = key(IndexedExpr::Expr("lower(email)".into()));
    let mut lower = index(database, &mut users, "sa_user_lower_idx", vec![expr]);
    lower.unique = true;

    let mut posts = table(
        database,
        "sa_post",
        vec![
            column("id", "bigint"),
            column("user_id", "int"),
            column("state", "varchar(20)"),
            column("price", "numeric(10,2)"),
            column("made", "timestamptz"),
            column("tags", "text[]"),
        ],
    );
    posts.columns[2].default = Some(default("'new'"));
    posts.columns[4].default = Some(default("now()"));
    let identity = sequence(database, "sa_post_id_seq", Some((posts.oid, 1, true)));
    let identity = Sequence { ty: Oid::INT8, max: i64::MAX, ..identity };
    posts.columns[0].identity = Some(Identity { always: true, sequence: identity.oid });
    let posts_key = primary_key(database, &mut posts, "sa_post_pkey", &[1]);
    let check = ConstraintKind::Check { text: "price >= 0".into(), columns: vec![4] };
    posts.constraints.push(constraint(database, "sa_post_price_check", check));
    let reference = ConstraintKind::ForeignKey(ForeignKey {
        columns: vec![2],
        table: users.oid,
        referenced: vec![1],
        index: users_key.oid,
        on_delete: Action::Cascade,
        on_update: Action::NoAction,
        match_full: false,
    });
    posts.constraints.push(constraint(database, "sa_post_user_id_fkey", reference));
    let by_state = IndexKey { descending: true, nulls_first: true, ..key(IndexedExpr::Column(5)) };
    let keys = vec![key(IndexedExpr::Column(2)), by_state];
    let mut partial = index(database, &mut posts, "sa_post_made_idx", keys);
    partial.predicate = Some("state <> 'old'".into());

    for object in [users_key, lower, posts_key, partial] {
        put(database, object.oid, Object::Index(Arc::new(object)));
    }
    for object in [numbers, identity] {
        put(database, object.oid, Object::Sequence(Arc::new(object)));
    }
    for object in [users, posts] {
        put(database, object.oid, Object::Table(Arc::new(object)));
    }
}
