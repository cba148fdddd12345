//! Reads values in binary format. Nothing in the bytes is trusted.

use crate::error::{Result, SqlError, code};
use crate::types::Call;
use crate::types::datetime::{
    DATE_INFINITY, DATE_NEG_INFINITY, DAY, date_out_of_range, is_date, is_finite, is_timestamp,
    timestamp_out_of_range,
};
use crate::types::io::{input, is_plain_text, is_reg, scalars};
use crate::types::json::{self, Escapes, Json};
use crate::types::numeric::Numeric;
use crate::types::{
    Array, Datum, Dimension, Field, Inet, Interval, Oid, RecordValue, TypeKind, apply_typmod,
};
use std::sync::Arc;

/// How deep arrays and rows may be nested.
const DEPTH_MAX: usize = 100;

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_BINARY_REPRESENTATION, message)
}

fn too_short() -> SqlError {
    SqlError::new(code::PROTOCOL_VIOLATION, "insufficient data left in message")
}

/// Reads a value in binary format; the modifier is applied as an assignment would do.
pub fn recv(bytes: &[u8], ty: Oid, typmod: i32, call: &Call<'_>) -> Result<Datum> {
    recv_at(bytes, ty, typmod, 0, call)
}

fn recv_at(bytes: &[u8], ty: Oid, typmod: i32, depth: usize, call: &Call<'_>) -> Result<Datum> {
    if depth > DEPTH_MAX {
        return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
    }
    let mut reader = Reader { rest: bytes };
    let value = value(&mut reader, ty, typmod, depth, call)?;
    if !reader.rest.is_empty() {
        return Err(invalid("incorrect binary data format"));
    }
    apply_typmod(value, ty, typmod, false, call)
}

struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take(&mut self, size: usize) -> Result<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(size).ok_or_else(too_short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| too_short())
    }

    fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    fn all(&mut self) -> &'b [u8] {
        std::mem::take(&mut self.rest)
    }

    fn text(&mut self) -> Result<&'b str> {
        check_text(self.all())
    }

    /// A part with its size before it; none is null.
    fn sized(&mut self) -> Result<Option<&'b [u8]>> {
        match self.i32()? {
            -1 => Ok(None),
            size => self.take(usize::try_from(size).map_err(|_| too_short())?).map(Some),
        }
    }

    /// Text behind its version.
    fn versioned(&mut self, ty: &str) -> Result<&'b str> {
        match self.take(1)? {
            [1] => self.text(),
            [version, ..] => {
                Err(SqlError::internal(format!("unsupported {ty} version number {version}")))
            }
            [] => Err(too_short()),
        }
    }
}

/// Checks that bytes are text of the server's encoding.
fn check_text(bytes: &[u8]) -> Result<&str> {
    let wrong = |bytes: &[u8]| {
        let shown: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
        let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
        SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, message)
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let rest = &bytes[error.valid_up_to()..];
        let size = error.error_len().unwrap_or(rest.len()).max(1).min(rest.len());
        wrong(&rest[..size])
    })?;
    if text.contains('\0') { Err(wrong(&[0])) } else { Ok(text) }
}

fn value(
    reader: &mut Reader<'_>,
    ty: Oid,
    typmod: i32,
    depth: usize,
    call: &Call<'_>,
) -> Result<Datum> {
    Ok(match ty {
        Oid::BOOL => Datum::Bool(reader.array::<1>()? != [0]),
        Oid::INT2 => Datum::Int2(reader.array().map(i16::from_be_bytes)?),
        Oid::INT4 => Datum::Int4(reader.i32()?),
        Oid::INT8 | Oid::PG_LSN | Oid(5069) => Datum::Int8(reader.i64()?),
        Oid::OID | Oid::XID | Oid::CID => Datum::Oid(reader.i32()? as u32),
        _ if is_reg(ty) => Datum::Oid(reader.i32()? as u32),
        Oid::FLOAT4 => Datum::Float4(reader.array().map(f32::from_be_bytes)?),
        Oid::FLOAT8 => Datum::Float8(reader.array().map(f64::from_be_bytes)?),
        Oid::NUMERIC => Datum::Numeric(Arc::new(Numeric::from_bytes(reader.all())?)),
        Oid::NAME => Datum::text(scalars::truncate_name(reader.text()?)),
        _ if is_plain_text(ty) => Datum::text(reader.text()?),
        Oid::CHAR => {
            let [byte] = reader.array()?;
            Datum::Text(scalars::char_of(byte))
        }
        Oid::BYTEA => Datum::Bytea(reader.all().into()),
        Oid::MACADDR => Datum::Bytea(reader.take(6)?.into()),
        Oid::MACADDR8 => Datum::Bytea(reader.take(8)?.into()),
        Oid::UUID => Datum::Uuid(reader.array()?),
        Oid::JSON => {
            let text = reader.text()?;
            json::parse(text, Escapes::Keep)?;
            Datum::Json(text.into())
        }
        Oid::JSONB => Datum::Jsonb(Arc::new(Json::parse(reader.versioned("jsonb")?)?)),
        Oid::JSONPATH => input(reader.versioned("jsonpath")?, ty, -1, call)?,
        Oid::BIT | Oid::VARBIT => Datum::Bits(bits(reader)?),
        Oid::INET | Oid::CIDR => Datum::Inet(Arc::new(inet(reader, ty == Oid::CIDR)?)),
        Oid::VOID => {
            reader.all();
            Datum::text("")
        }
        Oid::TID => {
            let block = reader.i32()? as u32;
            let number = reader.array().map(u16::from_be_bytes)?;
            Datum::Int8(crate::types::io::special::tid_of(block, number))
        }
        Oid::INT2VECTOR => array(reader, Oid::INT2, -1, depth, call)?,
        Oid::OIDVECTOR => array(reader, Oid::OID, -1, depth, call)?,
        _ => match datetime(reader, ty)? {
            Some(value) => value,
            None => by_kind(reader, ty, typmod, depth, call)?,
        },
    })
}

fn datetime(reader: &mut Reader<'_>, ty: Oid) -> Result<Option<Datum>> {
    Ok(Some(match ty {
        Oid::DATE => Datum::Date(date(reader.i32()?)?),
        Oid::TIME => Datum::Time(time(reader.i64()?)?),
        Oid::TIMETZ => {
            let micros = time(reader.i64()?)?;
            let west = reader.i32()?;
            if west.abs() >= 16 * 3600 {
                return Err(SqlError::new(
                    code::INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                    "time zone displacement out of range",
                ));
            }
            Datum::TimeTz(micros, west)
        }
        Oid::TIMESTAMP | Oid::TIMESTAMPTZ => Datum::Timestamp(timestamp(reader.i64()?)?),
        Oid::INTERVAL => {
            let micros = reader.i64()?;
            let (days, months) = (reader.i32()?, reader.i32()?);
            Datum::Interval(Interval { months, days, micros })
        }
        _ => return Ok(None),
    }))
}

fn date(days: i32) -> Result<i32> {
    let infinite = days == DATE_INFINITY || days == DATE_NEG_INFINITY;
    if infinite || is_date(i64::from(days)) { Ok(days) } else { Err(date_out_of_range()) }
}

fn time(micros: i64) -> Result<i64> {
    if (0..=DAY).contains(&micros) {
        return Ok(micros);
    }
    Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, "time out of range"))
}

fn timestamp(micros: i64) -> Result<i64> {
    if !is_finite(micros) || is_timestamp(micros) {
        return Ok(micros);
    }
    Err(timestamp_out_of_range())
}

fn bits(reader: &mut Reader<'_>) -> Result<Arc<str>> {
    let count = usize::try_from(reader.i32()?)
        .map_err(|_| invalid("invalid length in external bit string"))?;
    let bytes = reader.take(count.div_ceil(8))?;
    let bit = |at: usize| if bytes[at / 8] >> (7 - at % 8) & 1 == 1 { '1' } else { '0' };
    Ok((0..count).map(bit).collect::<String>().into())
}

fn inet(reader: &mut Reader<'_>, cidr: bool) -> Result<Inet> {
    let ty = if cidr { "cidr" } else { "inet" };
    let wrong = |what: &str| invalid(format!("invalid {what} in external \"{ty}\" value"));
    let [family, bits, _, size] = reader.array()?;
    let v6 = match family {
        2 => false,
        3 => true,
        _ => return Err(wrong("address family")),
    };
    let width = if v6 { 16 } else { 4 };
    if usize::from(bits) > width * 8 {
        return Err(wrong("bits"));
    }
    if usize::from(size) != width {
        return Err(wrong("length"));
    }
    let mut address = [0; 16];
    address[..width].copy_from_slice(reader.take(width)?);
    let inet = Inet { v6, bits, address };
    if cidr && !inet.is_network() {
        return Err(invalid("invalid external \"cidr\" value")
            .detail("Value has bits set to right of mask."));
    }
    Ok(inet)
}

fn by_kind(
    reader: &mut Reader<'_>,
    ty: Oid,
    typmod: i32,
    depth: usize,
    call: &Call<'_>,
) -> Result<Datum> {
    match call.types.kind(ty) {
        Some(TypeKind::Array(element)) => array(reader, element, typmod, depth, call),
        Some(TypeKind::Enum(_)) => input(reader.text()?, ty, -1, call),
        Some(TypeKind::Domain { base, typmod }) => {
            let value = recv_at(reader.all(), base, typmod, depth + 1, call)?;
            call.types.check_domain(ty, &value)?;
            Ok(value)
        }
        Some(TypeKind::Composite(fields)) => record(reader, Some(&fields), depth, call),
        Some(TypeKind::Pseudo) if ty == Oid::RECORD => Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            "input of anonymous composite types is not implemented",
        )),
        _ => Err(SqlError::unsupported(format!(
            "binary format of type {}",
            call.types.type_name(ty, -1)
        ))),
    }
}

fn array(
    reader: &mut Reader<'_>,
    element: Oid,
    typmod: i32,
    depth: usize,
    call: &Call<'_>,
) -> Result<Datum> {
    let count = reader.i32()?;
    if !(0..=6).contains(&count) {
        return Err(invalid(format!("invalid number of dimensions: {count}")));
    }
    if !matches!(reader.i32()?, 0 | 1) {
        return Err(invalid("invalid array flags"));
    }
    let found = Oid(reader.i32()? as u32);
    if found != element {
        let name = |ty| call.types.type_name(ty, -1);
        let message = format!(
            "binary data has array element type {found} ({}) instead of expected {element} ({})",
            name(found),
            name(element)
        );
        return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
    }
    let mut dimensions = Vec::new();
    let mut total = 1i64;
    for _ in 0..count {
        let (length, lower) = (reader.i32()?, reader.i32()?);
        if length < 0 || lower.checked_add(length).is_none() {
            return Err(invalid("invalid array dimensions"));
        }
        total = total.saturating_mul(i64::from(length));
        dimensions.push(Dimension { length, lower });
    }
    let total = if count == 0 { 0 } else { total };
    let mut elements = Vec::new();
    for _ in 0..total {
        elements.push(match reader.sized()? {
            Some(bytes) => recv_at(bytes, element, typmod, depth + 1, call)?,
            None => Datum::Null,
        });
    }
    // An array without elements has no dimensions, except for vectors.
    if elements.is_empty() && dimensions.iter().any(|dimension| dimension.lower != 0) {
        dimensions.clear();
    }
    Ok(Datum::Array(Arc::new(Array { element, dimensions, elements })))
}

fn record(
    reader: &mut Reader<'_>,
    expected: Option<&[Field]>,
    depth: usize,
    call: &Call<'_>,
) -> Result<Datum> {
    let count = reader.i32()?;
    let wanted = expected.unwrap_or_default();
    if count != wanted.len() as i32 {
        let message = format!("wrong number of columns: {count}, expected {}", wanted.len());
        return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
    }
    let mut fields = Vec::with_capacity(wanted.len());
    for (at, field) in wanted.iter().enumerate() {
        let found = Oid(reader.i32()? as u32);
        if found != field.ty {
            let name = |ty| call.types.type_name(ty, -1);
            let message = format!(
                "binary data has type {found} ({}) instead of expected {} ({}) in record column {}",
                name(found),
                field.ty,
                name(field.ty),
                at + 1
            );
            return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
        }
        fields.push(match reader.sized()? {
            Some(bytes) => recv_at(bytes, field.ty, field.typmod, depth + 1, call)?,
            None => Datum::Null,
        });
    }
    Ok(Datum::Record(Arc::new(RecordValue {
        types: wanted.iter().map(|field| field.ty).collect(),
        names: wanted.iter().map(|field| field.name.clone()).collect(),
        fields,
    })))
}
