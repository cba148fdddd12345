//! nextval and the like. Numbers are never taken back, whatever becomes of the transaction.

use super::{Asked, Exec, Function};
use crate::catalog::{Object, Sequence};
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use crate::types::{Datum, Oid, RecordValue};
use std::sync::Arc;

fn sequence(exec: &Exec<'_>, oid: Oid) -> Result<Arc<Sequence>> {
    if let Some(found) = exec.env.catalog.sequence(oid) {
        return Ok(Arc::clone(found));
    }
    match exec.env.catalog.get(oid).and_then(Object::place) {
        Some((_, name)) => {
            Err(SqlError::new(code::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a sequence")))
        }
        None => Err(SqlError::new(
            code::UNDEFINED_TABLE,
            format!("could not open relation with OID {oid}"),
        )),
    }
}

fn check_writable(exec: &Exec<'_>, sequence: &Sequence, what: &str) -> Result<()> {
    let temporary = sequence.persistence != crate::catalog::Persistence::Permanent;
    if exec.txn.read_only && !temporary {
        return Err(SqlError::new(
            code::READ_ONLY_SQL_TRANSACTION,
            format!("cannot execute {what}() in a read-only transaction"),
        ));
    }
    Ok(())
}

fn nextval(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let sequence = sequence(exec, asked.oid(0)?)?;
    check_writable(exec, &sequence, "nextval")?;
    let next = exec.database().next_value(&sequence)?;
    exec.txn.remember_value(sequence.oid, next);
    Ok(Datum::Int8(next))
}

fn last_taken(exec: &Exec<'_>, sequence: Oid) -> Option<i64> {
    let own = exec.txn.values.iter().rev().find(|(it, _)| *it == sequence);
    own.map(|(_, value)| *value).or_else(|| exec.env.values.get(&sequence).copied())
}

fn currval(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let sequence = sequence(exec, asked.oid(0)?)?;
    last_taken(exec, sequence.oid).map(Datum::Int8).ok_or_else(|| {
        SqlError::new(
            code::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("currval of sequence \"{}\" is not yet defined in this session", sequence.name),
        )
    })
}

fn lastval(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    let last = exec.txn.values.last().map(|(sequence, _)| *sequence).or(exec.env.last_value);
    last.and_then(|sequence| last_taken(exec, sequence)).map(Datum::Int8).ok_or_else(|| {
        SqlError::new(
            code::OBJECT_NOT_IN_PREREQUISITE_STATE,
            "lastval is not yet defined in this session",
        )
    })
}

fn setval(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let sequence = sequence(exec, asked.oid(0)?)?;
    check_writable(exec, &sequence, "setval")?;
    let value = asked.number(1)?;
    let is_called = asked.args.len() < 3 || asked.flag(2);
    exec.database().set_value(&sequence, value, is_called)?;
    // Only a number that was given out counts for currval, and lastval stays what it was.
    if is_called && last_taken(exec, sequence.oid).is_some() {
        let last = exec.txn.values.last().map(|it| it.0).or(exec.env.last_value);
        exec.txn.remember_value(sequence.oid, value);
        if let Some((last, taken)) = last.and_then(|it| Some((it, last_taken(exec, it)?))) {
            exec.txn.remember_value(last, taken);
        }
    }
    Ok(Datum::Int8(value))
}

fn pg_sequence_last_value(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let sequence = sequence(exec, asked.oid(0)?)?;
    Ok(exec.database().last_value(sequence.oid).map_or(Datum::Null, Datum::Int8))
}

/// The sequence that belongs to a column.
fn pg_get_serial_sequence(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let (table, column) = (asked.text(0)?, asked.text(1)?);
    let oid = crate::env::reg_names::relation_named(exec.env, table)?;
    let Some(found) = exec.env.catalog.table(oid) else { return Ok(Datum::Null) };
    let Some(number) = found.find(column) else {
        return Err(SqlError::new(
            code::UNDEFINED_COLUMN,
            format!("column \"{column}\" of relation \"{}\" does not exist", found.name),
        ));
    };
    let owned = exec.env.catalog.objects().find_map(|(_, object)| match object {
        Object::Sequence(it)
            if it.owner.is_some_and(|(of, at, _)| of == found.oid && at == number) =>
        {
            Some(it)
        }
        _ => None,
    });
    Ok(owned.map_or(Datum::Null, |it| {
        let schema = quote_ident(&exec.env.catalog.schema_name(it.schema));
        Datum::text(format!("{schema}.{}", quote_ident(&it.name)))
    }))
}

fn pg_sequence_parameters(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let it = sequence(exec, asked.oid(0)?)?;
    let outputs = crate::bind::output_columns(asked.proc);
    let fields = vec![
        Datum::Int8(it.start),
        Datum::Int8(it.min),
        Datum::Int8(it.max),
        Datum::Int8(it.increment),
        Datum::Bool(it.cycle),
        Datum::Int8(it.cache),
        Datum::Oid(it.ty.0),
    ];
    let names = outputs.iter().map(|(name, _)| Arc::from(*name)).collect();
    let types = outputs.iter().map(|(_, ty)| *ty).collect();
    Ok(Datum::Record(Arc::new(RecordValue { types, names, fields })))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("nextval", nextval),
    ("currval", currval),
    ("lastval", lastval),
    ("setval", setval),
    ("pg_sequence_last_value", pg_sequence_last_value),
    ("pg_get_serial_sequence", pg_get_serial_sequence),
    ("pg_sequence_parameters", pg_sequence_parameters),
];
