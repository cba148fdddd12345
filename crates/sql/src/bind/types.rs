//! Names of types in statements.

use super::{Binder, fold, name_parts};
use crate::catalog::Extension;
use crate::catalog::type_names::alias;
use crate::error::{Result, SqlError, code};
use crate::types::Oid;
use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, IntervalFields, ObjectName,
    ObjectNamePart, TimezoneInfo,
};

impl Binder<'_> {
    /// The type and modifier that are meant.
    pub(crate) fn data_type(&self, ty: &DataType) -> Result<(Oid, i32)> {
        let plain = |ty| Ok((ty, -1));
        match ty {
            DataType::Array(
                ArrayElemTypeDef::SquareBracket(element, _)
                | ArrayElemTypeDef::Qualified(element, _)
                | ArrayElemTypeDef::AngleBracket(element)
                | ArrayElemTypeDef::Parenthesis(element),
            ) => self.array_type(element),
            DataType::Character(length) | DataType::Char(length) => {
                let length = length.map(character_length).unwrap_or(Ok(1))?;
                self.with_modifier(Oid::BPCHAR, &[length.to_string()])
            }
            DataType::CharacterVarying(length)
            | DataType::CharVarying(length)
            | DataType::Varchar(length)
            | DataType::Nvarchar(length) => match length {
                Some(length) => {
                    self.with_modifier(Oid::VARCHAR, &[character_length(*length)?.to_string()])
                }
                None => plain(Oid::VARCHAR),
            },
            DataType::Numeric(info) | DataType::Decimal(info) | DataType::Dec(info) => match info {
                ExactNumberInfo::None => plain(Oid::NUMERIC),
                ExactNumberInfo::Precision(precision) => {
                    self.with_modifier(Oid::NUMERIC, &[precision.to_string()])
                }
                ExactNumberInfo::PrecisionAndScale(precision, scale) => {
                    let modifiers = [precision.to_string(), scale.to_string()];
                    self.with_modifier(Oid::NUMERIC, &modifiers)
                }
            },
            DataType::Float(ExactNumberInfo::Precision(precision)) => match precision {
                1..=24 => plain(Oid::FLOAT4),
                25..=53 => plain(Oid::FLOAT8),
                0 => Err(SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    "precision for type float must be at least 1 bit",
                )),
                _ => Err(SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    "precision for type float must be less than 54 bits",
                )),
            },
            DataType::Float(_)
            | DataType::Float8
            | DataType::DoublePrecision
            | DataType::Double(_) => plain(Oid::FLOAT8),
            DataType::Float4 | DataType::Real => plain(Oid::FLOAT4),
            DataType::SmallInt(_) | DataType::Int2(_) => plain(Oid::INT2),
            DataType::Int(_) | DataType::Integer(_) | DataType::Int4(_) => plain(Oid::INT4),
            DataType::BigInt(_) | DataType::Int8(_) => plain(Oid::INT8),
            DataType::Bool | DataType::Boolean => plain(Oid::BOOL),
            DataType::Date => plain(Oid::DATE),
            DataType::Time(precision, zone) => {
                let ty = if has_zone(*zone) { Oid::TIMETZ } else { Oid::TIME };
                self.with_precision(ty, *precision)
            }
            DataType::Timestamp(precision, zone) => {
                let ty = if has_zone(*zone) { Oid::TIMESTAMPTZ } else { Oid::TIMESTAMP };
                self.with_precision(ty, *precision)
            }
            DataType::Interval { fields, precision } => {
                Ok((Oid::INTERVAL, interval_typmod(fields.as_ref(), *precision)))
            }
            DataType::Uuid => plain(Oid::UUID),
            DataType::JSON => plain(Oid::JSON),
            DataType::JSONB => plain(Oid::JSONB),
            DataType::Regclass => plain(Oid::REGCLASS),
            DataType::Text => plain(Oid::TEXT),
            DataType::Bytea => plain(Oid::BYTEA),
            DataType::Bit(length) => {
                self.with_modifier(Oid::BIT, &[length.unwrap_or(1).to_string()])
            }
            DataType::BitVarying(length) | DataType::VarBit(length) => match length {
                Some(length) => self.with_modifier(Oid::VARBIT, &[length.to_string()]),
                None => plain(Oid::VARBIT),
            },
            DataType::TsVector => plain(Oid::TSVECTOR),
            DataType::TsQuery => plain(Oid::TSQUERY),
            DataType::Trigger => plain(Oid::TRIGGER),
            DataType::Custom(name, modifiers) => self.named_type(name, modifiers),
            DataType::GeometricType(kind) => {
                self.type_by_name(None, &kind.to_string().to_lowercase(), 0).map(|ty| (ty, -1))
            }
            other => {
                self.type_by_name(None, &other.to_string().to_lowercase(), 0).map(|ty| (ty, -1))
            }
        }
    }

    fn array_type(&self, element: &DataType) -> Result<(Oid, i32)> {
        let (element, typmod) = self.data_type(element)?;
        // An array of arrays is an array of more dimensions.
        if self.catalog.element_of(element).is_some() {
            return Ok((element, typmod));
        }
        let missing = || {
            let name = self.type_name(element);
            let message = format!("could not find array type for data type {name}");
            SqlError::new(code::UNDEFINED_OBJECT, message)
        };
        Ok((self.catalog.array_of(element).ok_or_else(missing)?, typmod))
    }

    fn with_precision(&self, ty: Oid, precision: Option<u64>) -> Result<(Oid, i32)> {
        match precision {
            Some(precision) => self.with_modifier(ty, &[precision.to_string()]),
            None => Ok((ty, -1)),
        }
    }

    fn with_modifier(&self, ty: Oid, modifiers: &[String]) -> Result<(Oid, i32)> {
        let invalid =
            || SqlError::new(code::SYNTAX_ERROR, "type modifiers must be simple constants");
        let numbers = modifiers
            .iter()
            .map(|text| text.trim().parse::<i64>().map(crate::types::Modifier::Number))
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|_| invalid())?;
        Ok((ty, crate::types::typmod_in(ty, &numbers)?))
    }

    fn named_type(&self, name: &ObjectName, modifiers: &[String]) -> Result<(Oid, i32)> {
        let mut parts = name_parts(name)?;
        let last = parts.pop().unwrap_or_default();
        let position = match name.0.first() {
            Some(ObjectNamePart::Identifier(ident)) => self.position(ident.span),
            _ => 0,
        };
        let quoted = matches!(
            name.0.last(),
            Some(ObjectNamePart::Identifier(ident)) if ident.quote_style.is_some()
        );
        let is_alias = parts.is_empty() && !quoted;
        let ty = match is_alias.then(|| alias(&last)).flatten() {
            Some(ty) => ty,
            None => self.type_by_name(parts.pop().as_deref(), &last, position)?,
        };
        match modifiers {
            [] => Ok((ty, -1)),
            modifiers => self.with_modifier(ty, modifiers),
        }
    }

    /// A type by its own name.
    pub(crate) fn type_by_name(
        &self,
        schema: Option<&str>,
        name: &str,
        position: u32,
    ) -> Result<Oid> {
        let in_schema = match schema {
            Some(schema) => Some(self.catalog.need_schema(schema)?),
            None => None,
        };
        let shown = match schema {
            Some(schema) => format!("{schema}.{name}"),
            None => name.to_owned(),
        };
        self.catalog.find_type(in_schema, name, self.path).ok_or_else(|| {
            let brings = |it: &&Extension| it.known.types.contains(&name);
            if let Some(it) = self.catalog.extensions().find(brings) {
                let what = format!("the type {name} of the extension \"{}\"", it.known.name);
                return SqlError::unsupported(what).at(position);
            }
            let message = format!("type \"{shown}\" does not exist");
            SqlError::new(code::UNDEFINED_OBJECT, message).at(position)
        })
    }

    /// `serial` and the like: the type, if it is one.
    pub(crate) fn serial_type(ty: &DataType) -> Option<Oid> {
        let DataType::Custom(name, _) = ty else { return None };
        let [ObjectNamePart::Identifier(ident)] = &name.0[..] else { return None };
        match fold(ident).as_str() {
            "serial" | "serial4" => Some(Oid::INT4),
            "bigserial" | "serial8" => Some(Oid::INT8),
            "smallserial" | "serial2" => Some(Oid::INT2),
            _ => None,
        }
    }
}

fn has_zone(zone: TimezoneInfo) -> bool {
    matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz)
}

fn character_length(length: CharacterLength) -> Result<u64> {
    match length {
        CharacterLength::IntegerLength { length, .. } => Ok(length),
        CharacterLength::Max => Err(SqlError::unsupported("a length of MAX")),
    }
}

/// The bits of an interval's fields, with the precision of seconds.
pub(super) fn interval_typmod(fields: Option<&IntervalFields>, precision: Option<u64>) -> i32 {
    let (year, month, day, hour, minute, second) =
        (1 << 2, 1 << 1, 1 << 3, 1 << 10, 1 << 11, 1 << 12);
    if fields.is_none() && precision.is_none() {
        return -1;
    }
    let mask = match fields {
        None => 0x7fff,
        Some(IntervalFields::Year) => year,
        Some(IntervalFields::Month) => month,
        Some(IntervalFields::Day) => day,
        Some(IntervalFields::Hour) => hour,
        Some(IntervalFields::Minute) => minute,
        Some(IntervalFields::Second) => second,
        Some(IntervalFields::YearToMonth) => year | month,
        Some(IntervalFields::DayToHour) => day | hour,
        Some(IntervalFields::DayToMinute) => day | hour | minute,
        Some(IntervalFields::DayToSecond) => day | hour | minute | second,
        Some(IntervalFields::HourToMinute) => hour | minute,
        Some(IntervalFields::HourToSecond) => hour | minute | second,
        Some(IntervalFields::MinuteToSecond) => minute | second,
    };
    let precision = precision.map_or(0xffff, |precision| precision.min(6) as i32);
    (mask << 16) | precision
}
