//! Types: what MySQL calls them, and what they are here.

use super::super::error::MysqlError;
use sqlparser::ast::{CharacterLength, DataType, EnumMember, ExactNumberInfo, TimezoneInfo};

/// A type of MySQL.
#[derive(Clone, Debug)]
pub(in crate::mysql) struct ColumnType {
    /// As SHOW COLUMNS has it: `int(10) unsigned`.
    pub shown: String,
    /// What it is here.
    pub ty: DataType,
    /// The least and the greatest value, where they are not those of the type here.
    pub range: Option<(i64, i64)>,
    /// The labels of an ENUM.
    pub labels: Vec<String>,
}

fn varchar(length: u64) -> DataType {
    DataType::Varchar(Some(CharacterLength::IntegerLength { length, unit: None }))
}

fn timestamp(digits: u64) -> DataType {
    DataType::Timestamp(Some(digits), TimezoneInfo::None)
}

/// The word of a type, what stands in its parentheses, and whether it has no sign.
fn split(ty: &DataType) -> (String, Vec<u64>, bool) {
    let text = ty.to_string().to_uppercase();
    let unsigned = text.contains("UNSIGNED");
    let (word, rest) = match text.split_once('(') {
        Some((word, rest)) => (word.trim().to_owned(), rest.to_owned()),
        None => (text.clone(), String::new()),
    };
    let word = word.replace("UNSIGNED", "").replace("SIGNED", "").replace("ZEROFILL", "");
    let inside = rest.split_once(')').map_or(rest.as_str(), |(inside, _)| inside).to_owned();
    let numbers = inside.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    (word.trim().to_owned(), numbers, unsigned)
}

/// The type of a column.
pub(in crate::mysql) fn column_type(ty: &DataType) -> Result<ColumnType, MysqlError> {
    if let DataType::Enum(members, _) = ty {
        return Ok(enumerated(members));
    }
    let (word, args, unsigned) = split(ty);
    let first = args.first().copied();
    let plain = |shown: String, ty| ColumnType { shown, ty, range: None, labels: Vec::new() };
    let whole = |name: &str, width: u64, ty, range| {
        let suffix = if unsigned { " unsigned" } else { "" };
        let shown = format!("{name}({}){suffix}", first.unwrap_or(width));
        ColumnType { shown, ty, range, labels: Vec::new() }
    };
    let digits = |name: &str| match first {
        Some(digits) if digits > 0 => format!("{name}({digits})"),
        _ => name.to_owned(),
    };
    let sign = if unsigned { " unsigned" } else { "" };
    Ok(match (word.as_str(), unsigned) {
        ("TINYINT", false) => whole("tinyint", 4, DataType::SmallInt(None), Some((-128, 127))),
        ("TINYINT", true) => whole("tinyint", 3, DataType::SmallInt(None), Some((0, 255))),
        ("BOOL" | "BOOLEAN", _) => {
            let range = Some((-128, 127));
            let shown = "tinyint(1)".to_owned();
            ColumnType { shown, ty: DataType::SmallInt(None), range, labels: Vec::new() }
        }
        ("SMALLINT" | "INT2", false) => whole("smallint", 6, DataType::SmallInt(None), None),
        ("SMALLINT" | "INT2", true) => whole("smallint", 5, DataType::Int(None), Some((0, 65_535))),
        ("MEDIUMINT", false) => {
            whole("mediumint", 9, DataType::Int(None), Some((-8_388_608, 8_388_607)))
        }
        ("MEDIUMINT", true) => whole("mediumint", 8, DataType::Int(None), Some((0, 16_777_215))),
        ("INT" | "INTEGER" | "INT4", false) => whole("int", 11, DataType::Int(None), None),
        ("INT" | "INTEGER" | "INT4", true) => {
            whole("int", 10, DataType::BigInt(None), Some((0, 4_294_967_295)))
        }
        ("BIGINT" | "INT8", false) => whole("bigint", 20, DataType::BigInt(None), None),
        // The upper half of its range is not there.
        ("BIGINT" | "INT8", true) => {
            whole("bigint", 20, DataType::BigInt(None), Some((0, i64::MAX)))
        }
        ("YEAR", _) => plain("year(4)".to_owned(), DataType::SmallInt(None)),
        ("DECIMAL" | "NUMERIC" | "DEC" | "FIXED", _) => {
            let (precision, scale) = (first.unwrap_or(10), args.get(1).copied().unwrap_or(0));
            let info = ExactNumberInfo::PrecisionAndScale(precision, scale as i64);
            let range = unsigned.then_some((0, i64::MAX));
            let shown = format!("decimal({precision},{scale}){sign}");
            ColumnType { shown, ty: DataType::Numeric(info), range, labels: Vec::new() }
        }
        ("FLOAT", _) => plain(format!("float{sign}"), DataType::Real),
        ("DOUBLE" | "DOUBLE PRECISION" | "REAL", _) => {
            plain(format!("double{sign}"), DataType::DoublePrecision)
        }
        ("CHAR" | "CHARACTER" | "NCHAR", _) => {
            let length = first.unwrap_or(1);
            plain(format!("char({length})"), varchar(length))
        }
        ("VARCHAR" | "CHARACTER VARYING" | "NVARCHAR" | "CHAR VARYING", _) => {
            let length = first.ok_or_else(|| MysqlError::syntax(&ty.to_string(), 1))?;
            plain(format!("varchar({length})"), varchar(length))
        }
        ("TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT", _) => {
            plain(word.to_lowercase(), DataType::Text)
        }
        ("JSON", _) => plain("longtext".to_owned(), DataType::Text),
        ("TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB", _) => {
            plain(word.to_lowercase(), DataType::Bytea)
        }
        ("BINARY" | "VARBINARY", _) => {
            let shown = format!("{}({})", word.to_lowercase(), first.unwrap_or(1));
            plain(shown, DataType::Bytea)
        }
        ("DATE", _) => plain("date".to_owned(), DataType::Date),
        ("TIME", _) => {
            plain(digits("time"), DataType::Time(Some(first.unwrap_or(0)), TimezoneInfo::None))
        }
        ("DATETIME", _) => plain(digits("datetime"), timestamp(first.unwrap_or(0))),
        ("TIMESTAMP", _) => plain(digits("timestamp"), timestamp(first.unwrap_or(0))),
        ("UUID", _) => plain("uuid".to_owned(), DataType::Uuid),
        _ => return Err(MysqlError::unsupported(format!("the type {ty}"))),
    })
}

fn enumerated(members: &[EnumMember]) -> ColumnType {
    let label = |member: &EnumMember| match member {
        EnumMember::Name(name) | EnumMember::NamedValue(name, _) => name.clone(),
    };
    let labels: Vec<String> = members.iter().map(label).collect();
    let shown: Vec<String> =
        labels.iter().map(|label| format!("'{}'", label.replace('\'', "''"))).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1);
    ColumnType {
        shown: format!("enum({})", shown.join(",")),
        ty: varchar(longest as u64),
        range: None,
        labels,
    }
}

/// The type that CAST and CONVERT name.
pub(super) fn cast_type(ty: &DataType) -> Result<DataType, MysqlError> {
    let (word, args, unsigned) = split(ty);
    let first = args.first().copied();
    Ok(match word.as_str() {
        "" | "INTEGER" | "INT" if matches!(ty, DataType::Unsigned | DataType::UnsignedInteger) => {
            DataType::BigInt(None)
        }
        "" | "INTEGER" | "INT" | "BIGINT" => {
            let _ = unsigned;
            DataType::BigInt(None)
        }
        "CHAR" | "CHARACTER" | "NCHAR" | "VARCHAR" => match first {
            Some(length) => varchar(length),
            None => DataType::Text,
        },
        "DECIMAL" | "NUMERIC" => {
            let (precision, scale) = (first.unwrap_or(10), args.get(1).copied().unwrap_or(0));
            DataType::Numeric(ExactNumberInfo::PrecisionAndScale(precision, scale as i64))
        }
        "DOUBLE" | "DOUBLE PRECISION" | "REAL" => DataType::DoublePrecision,
        "FLOAT" => DataType::Real,
        "DATE" => DataType::Date,
        "DATETIME" | "TIMESTAMP" => timestamp(first.unwrap_or(0)),
        "TIME" => DataType::Time(Some(first.unwrap_or(0)), TimezoneInfo::None),
        "YEAR" => DataType::SmallInt(None),
        "BINARY" | "VARBINARY" => DataType::Bytea,
        "JSON" => DataType::Text,
        _ => return Err(MysqlError::unsupported(format!("CAST to {ty}"))),
    })
}
