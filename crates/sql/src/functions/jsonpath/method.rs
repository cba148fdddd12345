//! Methods of items.

use super::execute::{Executor, error, path_code};
use crate::error::Result;
use crate::types::io::scalars::parse_float8;
use crate::types::json::Json;
use crate::types::jsonpath::Method;
use crate::types::numeric::Numeric;

impl Executor<'_> {
    /// What a method makes of an item; `keyvalue` makes one value for each pair.
    pub(super) fn method(&self, method: Method, item: &Json) -> Result<Vec<Json>> {
        Ok(vec![match method {
            Method::Type => Json::string(item.type_name()),
            Method::Size => self.size(item)?,
            Method::Abs => numeric(item, method)?.map_number(|number| Ok(number.abs()))?,
            Method::Floor => numeric(item, method)?.map_number(Numeric::floor)?,
            Method::Ceiling => numeric(item, method)?.map_number(Numeric::ceil)?,
            Method::Double => double(item)?,
            Method::KeyValue => return key_values(item, self.root),
        }])
    }

    fn size(&self, item: &Json) -> Result<Json> {
        match item {
            Json::Array(elements) => Ok(Json::number(Numeric::from_i64(elements.len() as i64))),
            _ if self.lax => Ok(Json::number(Numeric::from_i64(1))),
            _ => {
                let message = "jsonpath item method .size() can only be applied to an array";
                Err(error(path_code::ARRAY_NOT_FOUND, message))
            }
        }
    }
}

struct Number<'n>(&'n Numeric);

impl Number<'_> {
    fn map_number(self, function: impl Fn(&Numeric) -> Result<Numeric>) -> Result<Json> {
        function(self.0).map(Json::number)
    }
}

fn numeric(item: &Json, method: Method) -> Result<Number<'_>> {
    match item {
        Json::Number(number) => Ok(Number(number)),
        _ => {
            let name = method.name();
            let message =
                format!("jsonpath item method .{name}() can only be applied to a numeric value");
            Err(error(path_code::NON_NUMERIC_ITEM, message))
        }
    }
}

fn double(item: &Json) -> Result<Json> {
    let value = match item {
        Json::Number(number) => number.to_f64(),
        Json::String(text) => parse_float8(text).map_err(|_| not_a_double())?,
        _ => {
            let message =
                "jsonpath item method .double() can only be applied to a string or numeric value";
            return Err(error(path_code::NON_NUMERIC_ITEM, message));
        }
    };
    if value.is_finite() {
        return Ok(Json::number(Numeric::from_f64(value)));
    }
    let message = match item {
        Json::Number(_) => {
            "numeric argument of jsonpath item method .double() is out of range for type \
             double precision"
        }
        _ => return Err(not_a_double()),
    };
    Err(error(path_code::NON_NUMERIC_ITEM, message))
}

fn not_a_double() -> crate::error::SqlError {
    let message = "string argument of jsonpath item method .double() is not a valid \
                   representation of a double precision number";
    error(path_code::NON_NUMERIC_ITEM, message)
}

/// Pairs with the key, the value and an identifier of the object: 0 is the root. PostgreSQL takes
/// the place of other objects in memory, which cannot be repeated here; they are all 1.
fn key_values(item: &Json, root: &Json) -> Result<Vec<Json>> {
    let Json::Object(pairs) = item else {
        let message = "jsonpath item method .keyvalue() can only be applied to an object";
        return Err(error(path_code::OBJECT_NOT_FOUND, message));
    };
    let is_root = matches!(root, Json::Object(of_root) if std::sync::Arc::ptr_eq(of_root, pairs));
    let id = Json::number(Numeric::from_i64(i64::from(!is_root)));
    let pair = |(key, value): &(std::sync::Arc<str>, Json)| {
        Json::object(vec![
            ("key".into(), Json::String(key.clone())),
            ("value".into(), value.clone()),
            ("id".into(), id.clone()),
        ])
    };
    Ok(pairs.iter().map(pair).collect())
}
