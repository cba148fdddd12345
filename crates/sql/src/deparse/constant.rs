//! Constants as SQL.

use crate::env::Env;
use crate::functions::Call;
use crate::types::{Datum, Oid, TypeLookup, output};

/// Whether the type of a constant is written behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Where the type would not be found otherwise.
    Needed,
    /// Never: a conversion to the type follows.
    Never,
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A number that is read as numeric again: not an integer, without a sign.
fn reads_as_numeric(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['.', 'e', 'E'])
}

/// A constant of a type.
pub(super) fn constant(env: &Env, value: &Datum, ty: Oid, label: Label) -> String {
    if value.is_null() {
        return match label {
            Label::Needed if ty != Oid::UNKNOWN => format!("NULL::{}", env.type_name(ty, -1)),
            _ => "NULL".to_owned(),
        };
    }
    let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
    let text = output(value, ty, &call);
    let (shown, needs_label) = match ty {
        Oid::BOOL => ((if text == "t" { "true" } else { "false" }).to_owned(), false),
        Oid::INT4 if !text.starts_with('-') => (text, false),
        Oid::NUMERIC if reads_as_numeric(&text) => (text, false),
        Oid::UNKNOWN => (quoted(&text), false),
        _ => (quoted(&text), true),
    };
    match label {
        Label::Needed if needs_label => format!("{shown}::{}", env.type_name(ty, -1)),
        _ => shown,
    }
}
