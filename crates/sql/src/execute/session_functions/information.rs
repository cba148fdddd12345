//! What the session is: its database, user, schemas; and what the server is.

use super::{Asked, Exec, Function};
use crate::catalog::Object;
use crate::error::Result;
use crate::types::{Array, Datum, Oid};
use std::sync::Arc;

fn current_database(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::text(exec.env.database.name.as_str()))
}

fn current_schema(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    let first = exec.env.path.schemas.first();
    Ok(first.map_or(Datum::Null, |&schema| Datum::Text(exec.env.catalog.schema_name(schema))))
}

fn current_schemas(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let path = &exec.env.path;
    let schemas: Vec<Oid> = if asked.flag(0) { path.all().collect() } else { path.schemas.clone() };
    let name = |schema: Oid| Datum::Text(exec.env.catalog.schema_name(schema));
    let names = schemas.into_iter().map(name).collect();
    Ok(Datum::Array(Arc::new(Array::of(Oid::NAME, names))))
}

fn current_user(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Text(Arc::clone(&exec.env.role)))
}

fn session_user(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Text(Arc::clone(&exec.env.session_user)))
}

fn version(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    let version = exec.env.settings.find("server_version").unwrap_or_default();
    Ok(Datum::text(format!(
        "PostgreSQL {version} on {}-unknown-{}, compiled by rustc, 64-bit",
        std::env::consts::ARCH,
        std::env::consts::OS
    )))
}

fn pg_backend_pid(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Int4(exec.env.session as i32))
}

fn null(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

fn no(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(false))
}

fn yes(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(true))
}

fn no_usage(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Float8(0.0))
}

fn started(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    let first = exec.env.cluster.sessions().iter().map(|it| it.started).min();
    Ok(Datum::Timestamp(first.unwrap_or(exec.env.style.statement_time)))
}

fn transaction_number(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Int8(exec.txn.owner.0 as i64 + 700))
}

fn pg_my_temp_schema(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Oid(exec.env.path.temporary.map_or(0, |schema| schema.0)))
}

fn pg_is_other_temp_schema(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let schema = asked.oid(0)?;
    let is_temporary = match exec.env.catalog.get(schema) {
        Some(Object::Schema(it)) => it.name.starts_with("pg_temp_"),
        _ => false,
    };
    Ok(Datum::Bool(is_temporary && exec.env.path.temporary != Some(schema)))
}

/// Encodings by number.
const ENCODINGS: &[&str] = &[
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

fn pg_encoding_to_char(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let place = usize::try_from(asked.number(0)?).unwrap_or(usize::MAX);
    Ok(Datum::text(ENCODINGS.get(place).copied().unwrap_or("")))
}

fn pg_char_to_encoding(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let plain = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.collect::<String>().to_lowercase()
    };
    let wanted = match plain(asked.text(0)?).as_str() {
        "unicode" => "utf8".to_owned(),
        "iso88591" => "latin1".to_owned(),
        other => other.to_owned(),
    };
    let place = ENCODINGS.iter().position(|it| plain(it) == wanted);
    Ok(Datum::Int4(place.map_or(-1, |place| place as i32)))
}

fn utf8(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::text("UTF8"))
}

fn pg_client_encoding(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::text(exec.env.settings.find("client_encoding").unwrap_or_default()))
}

/// The collation of a value, by its type.
fn pg_collation_for(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let ty = asked.types.first().copied().unwrap_or(Oid::TEXT);
    let ty = if ty == Oid::UNKNOWN { Oid::TEXT } else { ty };
    let collation = crate::catalog::system::type_collation(&exec.env.catalog, ty);
    let name = exec.env.catalog.collation_name(collation);
    Ok(name.map_or(Datum::Null, |name| Datum::text(crate::functions::quote_ident(&name))))
}

/// A channel or payload that is null is empty.
fn pg_notify(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let text = |place: usize| match asked.args.get(place) {
        Some(Datum::Text(text)) => text.as_ref(),
        _ => "",
    };
    let letter = crate::channels::Letter::notify(text(0), text(1))?;
    crate::channels::add(&mut exec.txn.letters, letter)?;
    Ok(Datum::text(""))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("current_database", current_database),
    ("current_schema", current_schema),
    ("current_schemas", current_schemas),
    ("current_user", current_user),
    ("session_user", session_user),
    ("getpgusername", current_user),
    ("version", version),
    ("pg_backend_pid", pg_backend_pid),
    ("inet_server_addr", null),
    ("inet_server_port", null),
    ("inet_client_addr", null),
    ("inet_client_port", null),
    ("pg_is_in_recovery", no),
    ("pg_is_in_backup", no),
    ("pg_is_wal_replay_paused", no),
    ("pg_jit_available", no),
    ("pg_reload_conf", yes),
    ("pg_notify", pg_notify),
    ("pg_notification_queue_usage", no_usage),
    ("pg_postmaster_start_time", started),
    ("pg_conf_load_time", started),
    ("pg_last_xact_replay_timestamp", null),
    ("txid_current", transaction_number),
    ("pg_current_xact_id", transaction_number),
    ("txid_current_if_assigned", null),
    ("pg_current_xact_id_if_assigned", null),
    ("pg_my_temp_schema", pg_my_temp_schema),
    ("pg_is_other_temp_schema", pg_is_other_temp_schema),
    ("pg_encoding_to_char", pg_encoding_to_char),
    ("pg_char_to_encoding", pg_char_to_encoding),
    ("getdatabaseencoding", utf8),
    ("pg_client_encoding", pg_client_encoding),
    ("pg_collation_for", pg_collation_for),
    ("pg_collation_actual_version", null),
    ("pg_database_collation_actual_version", null),
];
