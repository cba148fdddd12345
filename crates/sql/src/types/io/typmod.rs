//! Modifiers of types: lengths, precisions and fields, from their list in parentheses to the number
//! that PostgreSQL keeps, back, and onto values.

use super::base_type;
use crate::error::{Result, SqlError, code};
use crate::types::Call;
use crate::types::datetime::is_finite;
use crate::types::datetime::typmod::{
    IntervalFields, apply_interval_typmod, check_precision, decode_interval_typmod,
    encode_interval_typmod, round_micros,
};
use crate::types::numeric::Typmod;
use crate::types::{Array, Datum, Oid, TypeKind};
use std::sync::Arc;

/// The longest varchar and the longest run of bits.
const LENGTH_MAX: i64 = 10_485_760;
const BITS_MAX: i64 = 83_886_080;
/// What PostgreSQL adds to the length of varchar and char.
const HEADER: i32 = 4;

/// One of the modifiers in parentheses, or the fields of an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Modifier {
    /// A number.
    Number(i64),
    /// Words behind `interval`, `day to second` for example.
    Fields(String),
}

impl From<i64> for Modifier {
    fn from(number: i64) -> Modifier {
        Modifier::Number(number)
    }
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// The number that PostgreSQL keeps for modifiers of a type (or of the elements of an array).
pub fn typmod_in(ty: Oid, modifiers: &[Modifier]) -> Result<i32> {
    if modifiers.is_empty() {
        return Ok(-1);
    }
    if ty == Oid::INTERVAL || ty == Oid::INTERVAL_ARRAY {
        return interval_in(modifiers);
    }
    let numbers: Vec<i64> = modifiers
        .iter()
        .filter_map(|modifier| match modifier {
            Modifier::Number(number) => Some(*number),
            Modifier::Fields(_) => None,
        })
        .collect();
    match ty {
        Oid::NUMERIC | Oid::NUMERIC_ARRAY => Ok(Typmod::from_modifiers(&numbers)?.encode()),
        _ => single_in(ty, &numbers),
    }
}

fn single_in(ty: Oid, numbers: &[i64]) -> Result<i32> {
    let bit_arrays = (Oid(1561), Oid(1563));
    let timetz_array = Oid(1270);
    let name = match ty {
        Oid::VARCHAR | Oid::VARCHAR_ARRAY => "varchar",
        Oid::BPCHAR | Oid::BPCHAR_ARRAY => "char",
        Oid::BIT => "bit",
        Oid::VARBIT => "varbit",
        _ if ty == bit_arrays.0 => "bit",
        _ if ty == bit_arrays.1 => "varbit",
        Oid::TIME | Oid::TIME_ARRAY => "TIME",
        Oid::TIMETZ => "TIME WITH TIME ZONE",
        _ if ty == timetz_array => "TIME WITH TIME ZONE",
        Oid::TIMESTAMP | Oid::TIMESTAMP_ARRAY => "TIMESTAMP",
        Oid::TIMESTAMPTZ | Oid::TIMESTAMPTZ_ARRAY => "TIMESTAMP WITH TIME ZONE",
        _ => return Err(SqlError::new(code::SYNTAX_ERROR, "type modifier is not allowed")),
    };
    let &[number] = numbers else { return Err(invalid("invalid type modifier")) };
    match name {
        "varchar" | "char" => Ok(length(number, name, LENGTH_MAX)? + HEADER),
        "bit" | "varbit" => length(number, name, BITS_MAX),
        _ => precision(number, name),
    }
}

fn length(number: i64, name: &str, limit: i64) -> Result<i32> {
    if number < 1 {
        return Err(invalid(format!("length for type {name} must be at least 1")));
    }
    if number > limit {
        return Err(invalid(format!("length for type {name} cannot exceed {limit}")));
    }
    Ok(number as i32)
}

fn precision(number: i64, name: &str) -> Result<i32> {
    let (kind, zone) =
        name.split_once(' ').map_or((name, ""), |(kind, _)| (kind, " WITH TIME ZONE"));
    if number < 0 {
        let message = format!("{kind}({number}){zone} precision must not be negative");
        return Err(invalid(message));
    }
    check_precision(number, kind)
}

fn interval_in(modifiers: &[Modifier]) -> Result<i32> {
    let (mut fields, mut precision) = (IntervalFields::FULL, None);
    for modifier in modifiers {
        match modifier {
            Modifier::Fields(words) => fields = interval_fields(words)?,
            Modifier::Number(number) if *number < 0 => {
                let message = format!("INTERVAL({number}) precision must not be negative");
                return Err(invalid(message));
            }
            Modifier::Number(number) => precision = Some(check_precision(*number, "INTERVAL")?),
        }
    }
    Ok(encode_interval_typmod(fields, precision))
}

fn interval_fields(words: &str) -> Result<IntervalFields> {
    let words = words.to_ascii_lowercase();
    // Every combination is one of those that have a name.
    let all = [
        IntervalFields::YEAR.0,
        IntervalFields::MONTH.0,
        IntervalFields::DAY.0,
        IntervalFields::HOUR.0,
        IntervalFields::MINUTE.0,
        IntervalFields::SECOND.0,
    ];
    for first in 0..all.len() {
        for last in first..all.len() {
            let bits = all[first..=last].iter().fold(0, |bits, bit| bits | bit);
            if IntervalFields(bits).name() == Some(words.as_str()) {
                return Ok(IntervalFields(bits));
            }
        }
    }
    Err(invalid("invalid INTERVAL type modifier"))
}

/// The modifier as it is written behind the name of the type; empty if there is none.
pub fn typmod_out(ty: Oid, typmod: i32) -> String {
    if typmod < 0 {
        return String::new();
    }
    match ty {
        Oid::VARCHAR | Oid::BPCHAR if typmod > HEADER => format!("({})", typmod - HEADER),
        Oid::VARCHAR | Oid::BPCHAR => String::new(),
        Oid::NUMERIC => Typmod::decode(typmod)
            .map_or(String::new(), |typmod| format!("({},{})", typmod.precision, typmod.scale)),
        Oid::INTERVAL => {
            let (fields, precision) = decode_interval_typmod(typmod);
            let fields = fields.name().map_or(String::new(), |name| format!(" {name}"));
            let precision = precision.map_or(String::new(), |p| format!("({p})"));
            format!("{fields}{precision}")
        }
        Oid::TIME | Oid::TIMESTAMP => format!("({typmod}) without time zone"),
        Oid::TIMETZ | Oid::TIMESTAMPTZ => format!("({typmod}) with time zone"),
        _ => format!("({typmod})"),
    }
}

/// Brings a value into the form that the modifier demands. An explicit cast cuts where an
/// assignment refuses.
pub fn apply_typmod(
    value: Datum,
    ty: Oid,
    typmod: i32,
    explicit: bool,
    call: &Call<'_>,
) -> Result<Datum> {
    if typmod < 0 || value.is_null() {
        return Ok(value);
    }
    let ty = base_type(ty, call);
    match value {
        Datum::Text(text) => fit_text(text, ty, typmod, explicit),
        Datum::Bits(bits) => fit_bits(bits, ty, typmod, explicit),
        Datum::Numeric(number) => match Typmod::decode(typmod) {
            Some(typmod) => Ok(Datum::Numeric(Arc::new(number.with_typmod(typmod)?))),
            None => Ok(Datum::Numeric(number)),
        },
        Datum::Time(micros) => Ok(Datum::Time(round_micros(micros, typmod))),
        Datum::TimeTz(micros, west) => Ok(Datum::TimeTz(round_micros(micros, typmod), west)),
        Datum::Timestamp(micros) if is_finite(micros) => {
            Ok(Datum::Timestamp(round_micros(micros, typmod)))
        }
        Datum::Interval(interval) => Ok(Datum::Interval(apply_interval_typmod(interval, typmod))),
        Datum::Array(array) if has_array_kind(ty, call) => {
            fit_array(&array, typmod, explicit, call)
        }
        other => Ok(other),
    }
}

fn has_array_kind(ty: Oid, call: &Call<'_>) -> bool {
    matches!(call.types.kind(ty), Some(TypeKind::Array(_)))
}

fn fit_array(array: &Array, typmod: i32, explicit: bool, call: &Call<'_>) -> Result<Datum> {
    let fit = |value: &Datum| apply_typmod(value.clone(), array.element, typmod, explicit, call);
    let elements = array.elements.iter().map(fit).collect::<Result<Vec<_>>>()?;
    let dimensions = array.dimensions.clone();
    Ok(Datum::Array(Arc::new(Array { element: array.element, dimensions, elements })))
}

/// varchar is cut, char is cut or filled with blanks. What is lost may only be blanks, unless the
/// cast is explicit.
pub(super) fn fit_text(text: Arc<str>, ty: Oid, typmod: i32, explicit: bool) -> Result<Datum> {
    if !matches!(ty, Oid::VARCHAR | Oid::BPCHAR) || typmod < HEADER {
        return Ok(Datum::Text(text));
    }
    let length = (typmod - HEADER) as usize;
    // Most values are shorter than that in bytes already.
    let cut = if text.len() <= length { None } else { text.char_indices().nth(length) };
    if let Some((at, _)) = cut {
        if !explicit && text[at..].bytes().any(|b| b != b' ') {
            let name = if ty == Oid::VARCHAR { "character varying" } else { "character" };
            let message = format!("value too long for type {name}({length})");
            return Err(SqlError::new(code::STRING_DATA_RIGHT_TRUNCATION, message));
        }
        return Ok(Datum::text(&text[..at]));
    }
    if ty == Oid::VARCHAR {
        return Ok(Datum::Text(text));
    }
    let missing = length - text.chars().count();
    if missing == 0 {
        return Ok(Datum::Text(text));
    }
    Ok(Datum::text(format!("{text}{}", " ".repeat(missing))))
}

fn fit_bits(bits: Arc<str>, ty: Oid, typmod: i32, explicit: bool) -> Result<Datum> {
    let length = typmod as usize;
    if ty == Oid::VARBIT {
        if bits.len() <= length {
            return Ok(Datum::Bits(bits));
        }
        if explicit {
            return Ok(Datum::Bits(bits[..length].into()));
        }
        let message = format!("bit string too long for type bit varying({length})");
        return Err(SqlError::new(code::STRING_DATA_RIGHT_TRUNCATION, message));
    }
    if bits.len() == length {
        return Ok(Datum::Bits(bits));
    }
    if !explicit {
        let found = bits.len();
        let message = format!("bit string length {found} does not match type bit({length})");
        return Err(SqlError::new("22026", message));
    }
    let cut = &bits[..length.min(bits.len())];
    Ok(Datum::Bits(format!("{cut}{}", "0".repeat(length - cut.len())).into()))
}
