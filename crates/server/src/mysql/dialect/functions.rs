//! Functions of MySQL, as what they are here. A function that is not listed is an error, also if
//! there is one of its name here: it could mean something else.

use super::super::error::MysqlError;
use super::build::{binary, call, case, cast, nested, null, number, text};
use super::known::Known;
use super::types;
use sqlparser::ast::{
    BinaryOperator as Op, DataType, DateTimeField, DuplicateTreatment, Expr, ExtractSyntax,
    Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, TimezoneInfo, Value,
};

type Made = Result<Expr, MysqlError>;

/// Functions that are the same here.
const SAME: &[&str] = &[
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "char_length",
    "coalesce",
    "concat_ws",
    "cos",
    "cot",
    "count",
    "cume_dist",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "lag",
    "last_value",
    "lead",
    "left",
    "ln",
    "lower",
    "lpad",
    "ltrim",
    "max",
    "md5",
    "min",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pi",
    "power",
    "radians",
    "rank",
    "repeat",
    "replace",
    "reverse",
    "right",
    "row_number",
    "rpad",
    "rtrim",
    "sign",
    "sin",
    "sqrt",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "avg",
    "tan",
    "upper",
    "var_pop",
    "var_samp",
    "ascii",
    "octet_length",
    "bit_and",
    "bit_or",
];

/// Those with another name.
const RENAMED: &[(&str, &str)] = &[
    ("ceiling", "ceil"),
    ("character_length", "char_length"),
    ("lcase", "lower"),
    ("ucase", "upper"),
    ("ifnull", "coalesce"),
    ("nvl", "coalesce"),
    ("pow", "power"),
    ("rand", "random"),
    ("std", "stddev_pop"),
    ("stddev", "stddev_pop"),
    ("variance", "var_pop"),
    ("log10", "log"),
];

fn plain_args(function: &Function) -> Result<Vec<Expr>, MysqlError> {
    let FunctionArguments::List(list) = &function.args else { return Ok(Vec::new()) };
    let arg = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr.clone()),
        other => Err(MysqlError::unsupported(other)),
    };
    list.args.iter().map(arg).collect()
}

fn is_star(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return false };
    matches!(list.args[..], [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)])
}

fn renamed(mut function: Function, name: &str) -> Expr {
    function.name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]);
    Expr::Function(function)
}

/// What a call of MySQL is here; its arguments have been translated.
pub(super) fn translate(mut function: Function, known: &Known<'_>) -> Made {
    let name = match &function.name.0[..] {
        [ObjectNamePart::Identifier(ident)] => ident.value.to_lowercase(),
        _ => return Err(MysqlError::unsupported(format!("the function {}", function.name))),
    };
    if matches!(function.args, FunctionArguments::None) {
        function.args = FunctionArguments::List(sqlparser::ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: Vec::new(),
            clauses: Vec::new(),
        });
    }
    if name == "group_concat" {
        return group_concat(function);
    }
    if let Some((_, here)) = RENAMED.iter().find(|(it, _)| *it == name) {
        return Ok(renamed(function, here));
    }
    if name == "count" && has_several(&function) {
        return Err(MysqlError::unsupported("COUNT(DISTINCT) of several expressions"));
    }
    if SAME.contains(&name.as_str()) || is_star(&function) {
        return Ok(renamed(function, &name));
    }
    let args = plain_args(&function)?;
    if let Some(made) = of_session(&name, &args, known)? {
        return Ok(made);
    }
    if let Some(made) = of_time(&name, &args)? {
        return Ok(made);
    }
    match of_values(&name, args)? {
        Some(made) => Ok(made),
        None if is_known(&name) => {
            Err(MysqlError::unsupported(format!("the function {}", name.to_uppercase())))
        }
        None => {
            let message = format!("FUNCTION {}.{} does not exist", known.database(), name);
            Err(MysqlError::new(1305, "42000", message))
        }
    }
}

fn has_several(function: &Function) -> bool {
    matches!(&function.args, FunctionArguments::List(list) if list.args.len() > 1)
}

/// Whether MySQL has it, as far as that is worth a better word.
fn is_known(name: &str) -> bool {
    let families = ["json_", "st_", "regexp_", "bit_", "inet", "aes_", "uuid_", "xml"];
    families.iter().any(|family| name.starts_with(family))
        || matches!(name, "substring_index" | "format" | "sec_to_time")
}

fn of_session(name: &str, args: &[Expr], known: &Known<'_>) -> Result<Option<Expr>, MysqlError> {
    Ok(Some(match (name, args) {
        ("last_insert_id", []) => number(known.last_insert_id),
        ("last_insert_id", _) => {
            return Err(MysqlError::unsupported("LAST_INSERT_ID with an argument"));
        }
        ("row_count", []) => number(known.row_count),
        ("found_rows", []) => number(known.found_rows),
        ("database" | "schema", []) => match known.selected {
            Some(database) => cast(text(database), DataType::Text),
            None => null(),
        },
        ("version", []) => cast(text(super::super::VERSION), DataType::Text),
        ("connection_id", []) => number(known.connection),
        ("user" | "current_user" | "session_user" | "system_user", []) => {
            cast(text(format!("{}@localhost", known.user)), DataType::Text)
        }
        ("current_role", []) => null(),
        ("values" | "value", [Expr::Identifier(column)]) => super::build::excluded(&column.value),
        ("sleep", [time]) => {
            let text = format!("SELECT 0 FROM pg_sleep({time})");
            let query = seriatim_sql::parse::query(&text)
                .map_err(|error| MysqlError::of(&error, known.database()))?;
            Expr::Subquery(Box::new(query))
        }
        ("get_lock", [name, ..]) => as_flag(call("pg_try_advisory_lock", vec![hashed(name)])),
        ("release_lock", [name]) => as_flag(call("pg_advisory_unlock", vec![hashed(name)])),
        _ => return Ok(None),
    }))
}

fn hashed(name: &Expr) -> Expr {
    cast(call("hashtext", vec![as_text(name.clone())]), DataType::BigInt(None))
}

fn as_flag(truth: Expr) -> Expr {
    cast(truth, DataType::Int(None))
}

fn as_text(expr: Expr) -> Expr {
    cast(expr, DataType::Text)
}

/// A moment: a literal is read as one.
pub(super) fn moment(expr: &Expr) -> Expr {
    let ty = match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) if text.len() <= DATE_LENGTH => DataType::Date,
            _ => DataType::Timestamp(None, TimezoneInfo::None),
        },
        _ => return expr.clone(),
    };
    cast(expr.clone(), ty)
}

/// How long a date is as text.
const DATE_LENGTH: usize = 10;

fn timestamp(digits: u64) -> DataType {
    DataType::Timestamp(Some(digits), TimezoneInfo::None)
}

/// When the statement began, cut to so many digits of a second.
fn now(args: &[Expr]) -> Expr {
    let digits: u64 = match args.first() {
        Some(Expr::Value(value)) => value.value.to_string().parse().unwrap_or(0),
        _ => 0,
    };
    let exact = cast(call("statement_timestamp", Vec::new()), timestamp(6));
    let unit = if digits == 0 {
        "second"
    } else if digits <= 3 {
        "milliseconds"
    } else {
        "us"
    };
    match unit {
        "us" => cast(exact, timestamp(digits.min(6))),
        unit => cast(call("date_trunc", vec![text(unit), exact]), timestamp(digits.min(6))),
    }
}

fn part(field: DateTimeField, of: &Expr) -> Expr {
    let expr = Box::new(moment(of));
    let found = Expr::Extract { field, syntax: ExtractSyntax::From, expr };
    cast(call("trunc", vec![found]), DataType::Int(None))
}

fn of_time(name: &str, args: &[Expr]) -> Result<Option<Expr>, MysqlError> {
    use DateTimeField as F;
    let today = || cast(call("statement_timestamp", Vec::new()), DataType::Date);
    let clock = || cast(now(args), DataType::Time(Some(0), TimezoneInfo::None));
    Ok(Some(match (name, args) {
        (
            "now" | "current_timestamp" | "localtime" | "localtimestamp" | "sysdate"
            | "utc_timestamp",
            args,
        ) => now(args),
        ("curdate" | "current_date" | "utc_date", []) => today(),
        ("curtime" | "current_time" | "utc_time", _) => clock(),
        ("unix_timestamp", []) => seconds(&call("statement_timestamp", Vec::new())),
        ("unix_timestamp", [at]) => seconds(&moment(at)),
        ("from_unixtime", [at]) => {
            let at = cast(at.clone(), DataType::DoublePrecision);
            cast(call("to_timestamp", vec![at]), timestamp(0))
        }
        ("date", [at]) => cast(at.clone(), DataType::Date),
        ("time", [at]) => cast(at.clone(), DataType::Time(None, TimezoneInfo::None)),
        ("timestamp", [at]) => cast(at.clone(), timestamp(6)),
        ("year", [at]) => part(F::Year, at),
        ("month", [at]) => part(F::Month, at),
        ("day" | "dayofmonth", [at]) => part(F::Day, at),
        ("hour", [at]) => part(F::Hour, at),
        ("minute", [at]) => part(F::Minute, at),
        ("second", [at]) => part(F::Second, at),
        ("quarter", [at]) => part(F::Quarter, at),
        ("dayofyear", [at]) => part(F::Doy, at),
        ("dayofweek", [at]) => binary(part(F::Dow, at), Op::Plus, number(1)),
        ("weekday", [at]) => binary(part(F::Isodow, at), Op::Minus, number(1)),
        ("microsecond", [at]) => binary(part(F::Microseconds, at), Op::Modulo, number(1_000_000)),
        ("date_add" | "adddate", [at, by @ (Expr::Interval(_) | Expr::BinaryOp { .. })]) => {
            binary(moment(at), Op::Plus, by.clone())
        }
        ("date_sub" | "subdate", [at, by @ (Expr::Interval(_) | Expr::BinaryOp { .. })]) => {
            binary(moment(at), Op::Minus, by.clone())
        }
        ("datediff", [to, from]) => {
            binary(cast(to.clone(), DataType::Date), Op::Minus, cast(from.clone(), DataType::Date))
        }
        ("last_day", [at]) => last_day(at),
        ("convert_tz", [at, from, to]) => {
            let there = call("timezone", vec![zone(from), moment(at)]);
            call("timezone", vec![zone(to), there])
        }
        ("timestampdiff", [Expr::Identifier(unit), from, to]) => {
            difference(&unit.value, &moment(from), &moment(to))?
        }
        ("date_format", [at, Expr::Value(format)]) => {
            let Value::SingleQuotedString(format) = &format.value else { return Ok(None) };
            call("to_char", vec![moment(at), text(template(format)?)])
        }
        _ => return Ok(None),
    }))
}

/// A time zone: a name, or how far it is from UTC.
fn zone(expr: &Expr) -> Expr {
    let Expr::Value(value) = expr else { return expr.clone() };
    match &value.value {
        Value::SingleQuotedString(name) if name.starts_with(['+', '-']) => {
            cast(expr.clone(), DataType::Interval { fields: None, precision: None })
        }
        Value::SingleQuotedString(name) if name == "SYSTEM" => text("UTC"),
        _ => expr.clone(),
    }
}

fn seconds(at: &Expr) -> Expr {
    let field = DateTimeField::Epoch;
    let found = Expr::Extract { field, syntax: ExtractSyntax::From, expr: Box::new(at.clone()) };
    cast(call("floor", vec![found]), DataType::BigInt(None))
}

fn last_day(at: &Expr) -> Expr {
    let month = call("date_trunc", vec![text("month"), moment(at)]);
    let interval =
        |text_of: &str| cast(text(text_of), DataType::Interval { fields: None, precision: None });
    let next = binary(month, Op::Plus, interval("1 month"));
    cast(nested(binary(next, Op::Minus, interval("1 day"))), DataType::Date)
}

fn difference(unit: &str, from: &Expr, to: &Expr) -> Made {
    let unit = unit.to_uppercase();
    let months = || {
        let age = call("age", vec![to.clone(), from.clone()]);
        let part = |field| {
            let (expr, syntax) = (Box::new(age.clone()), ExtractSyntax::From);
            Expr::Extract { field, syntax, expr }
        };
        let years = binary(part(DateTimeField::Year), Op::Multiply, number(12));
        cast(nested(binary(years, Op::Plus, part(DateTimeField::Month))), DataType::BigInt(None))
    };
    let apart = |seconds_of_unit: u64| {
        let at = |it: &Expr| cast(it.clone(), timestamp(6));
        let between = nested(binary(at(to), Op::Minus, at(from)));
        let field = DateTimeField::Epoch;
        let (syntax, expr) = (ExtractSyntax::From, Box::new(between));
        let seconds = Expr::Extract { field, syntax, expr };
        cast(call("div", vec![seconds, number(seconds_of_unit)]), DataType::BigInt(None))
    };
    let over = |count: u32| {
        let months = cast(months(), numeric());
        cast(call("div", vec![months, number(count)]), DataType::BigInt(None))
    };
    Ok(match unit.as_str() {
        "SECOND" => apart(1),
        "MINUTE" => apart(60),
        "HOUR" => apart(3600),
        "DAY" => apart(86_400),
        "WEEK" => apart(604_800),
        "MONTH" => months(),
        "QUARTER" => over(3),
        "YEAR" => over(12),
        _ => return Err(MysqlError::unsupported(format!("TIMESTAMPDIFF by {unit}"))),
    })
}

/// A format of DATE_FORMAT as a template of `to_char`.
fn template(format: &str) -> Result<String, MysqlError> {
    let (mut made, mut letters) = (String::new(), format.chars());
    while let Some(letter) = letters.next() {
        if letter != '%' {
            match letter.is_alphanumeric() || letter == '"' || letter == '\\' {
                true => made.push_str(&format!("\"{letter}\"")),
                false => made.push(letter),
            }
            continue;
        }
        made.push_str(match letters.next() {
            Some('Y') => "YYYY",
            Some('y') => "YY",
            Some('m') => "MM",
            Some('c') => "FMMM",
            Some('d') => "DD",
            Some('e') => "FMDD",
            Some('H') => "HH24",
            Some('k') => "FMHH24",
            Some('h' | 'I') => "HH12",
            Some('l') => "FMHH12",
            Some('i') => "MI",
            Some('s' | 'S') => "SS",
            Some('f') => "US",
            Some('p') => "AM",
            Some('M') => "FMMonth",
            Some('b') => "Mon",
            Some('W') => "FMDay",
            Some('a') => "Dy",
            Some('j') => "DDD",
            Some('T') => "HH24:MI:SS",
            Some('r') => "HH12:MI:SS AM",
            Some('%') => "%",
            other => {
                let shown = other.map_or(String::new(), String::from);
                return Err(MysqlError::unsupported(format!("the format %{shown}")));
            }
        });
    }
    Ok(made)
}

fn of_values(name: &str, args: Vec<Expr>) -> Result<Option<Expr>, MysqlError> {
    let mut args = args;
    let count = args.len();
    let mut next = || args.remove(0);
    Ok(Some(match (name, count) {
        ("if", 3) => {
            let (condition, then) = (next(), next());
            case(vec![(condition, then)], Some(next()))
        }
        ("isnull", 1) => Expr::IsNull(Box::new(next())),
        ("concat", 1..) => {
            let first = as_text(next());
            let joined = |left: Expr, right: Expr| {
                let (left, right) = (Box::new(left), Box::new(as_text(right)));
                Expr::BinaryOp { left, op: Op::StringConcat, right }
            };
            nested(args.into_iter().fold(first, joined))
        }
        ("length", 1) => call("octet_length", vec![next()]),
        ("locate", 2) => {
            let (part, whole) = (as_text(next()), as_text(next()));
            call("strpos", vec![whole, part])
        }
        ("instr", 2) => {
            let (whole, part) = (as_text(next()), as_text(next()));
            call("strpos", vec![whole, part])
        }
        ("find_in_set", 2) => {
            let (value, list) = (as_text(next()), as_text(next()));
            let list = call("string_to_array", vec![list, text(",")]);
            let place = call("array_position", vec![list.clone(), value.clone()]);
            let is_unknown =
                binary(Expr::IsNull(Box::new(value)), Op::Or, Expr::IsNull(Box::new(list)));
            let found = call("coalesce", vec![place, number(0)]);
            case(vec![(is_unknown, null())], Some(found))
        }
        ("substring" | "substr" | "mid", 2..=3) => substring(args),
        ("space", 1) => call("repeat", vec![text(" "), next()]),
        ("log", 1) => call("ln", vec![next()]),
        ("log2", 1) => {
            let found = call("log", vec![number("2.0"), cast(next(), numeric())]);
            cast(found, DataType::DoublePrecision)
        }
        ("mod", 2) => {
            let (left, right) = (next(), next());
            binary(left, Op::Modulo, right)
        }
        ("round", 1) => call("round", vec![next()]),
        ("round" | "truncate", 2) => {
            let (value, digits) = (cast(next(), numeric()), next());
            call(if name == "round" { "round" } else { "trunc" }, vec![value, digits])
        }
        ("greatest" | "least", 2..) => {
            let is_null = |arg: &Expr| (Expr::IsNull(Box::new(arg.clone())), null());
            let nulls = args.iter().map(is_null).collect();
            case(nulls, Some(call(name, args)))
        }
        ("uuid", 0) => as_text(call("gen_random_uuid", Vec::new())),
        ("sha2", 2) => {
            let bytes = call("convert_to", vec![as_text(next()), text("UTF8")]);
            call("encode", vec![call("sha256", vec![bytes]), text("hex")])
        }
        ("strcmp", 2) => {
            let (one, other) = (as_text(next()), as_text(next()));
            let less = binary(one.clone(), Op::Lt, other.clone());
            let equal = binary(one, Op::Eq, other);
            case(vec![(less, number(-1)), (equal, number(0))], Some(number(1)))
        }
        ("field", 2..) => {
            let value = next();
            let arm =
                |(place, it): (usize, Expr)| (binary(value.clone(), Op::Eq, it), number(place + 1));
            case(args.into_iter().enumerate().map(arm).collect(), Some(number(0)))
        }
        ("elt", 2..) => {
            let value = next();
            let arm =
                |(place, it): (usize, Expr)| (binary(value.clone(), Op::Eq, number(place + 1)), it);
            case(args.into_iter().enumerate().map(arm).collect(), None)
        }
        ("char_length", 1) => call("char_length", vec![next()]),
        ("binary", 1) => next(),
        ("any_value", 1) => call("min", vec![next()]),
        _ => return Ok(None),
    }))
}

fn numeric() -> DataType {
    DataType::Numeric(sqlparser::ast::ExactNumberInfo::None)
}

/// SUBSTRING, in which a negative place counts from the end.
pub(super) fn substring(args: Vec<Expr>) -> Expr {
    let mut args = args.into_iter();
    let whole = as_text(args.next().unwrap_or_else(null));
    let from = args.next().unwrap_or_else(|| number(1));
    let length = args.next();
    let size = call("char_length", vec![whole.clone()]);
    let end = binary(binary(size, Op::Plus, from.clone()), Op::Plus, number(1));
    let from = match &from {
        Expr::Value(_) => from,
        _ => case(vec![(binary(from.clone(), Op::Lt, number(0)), end)], Some(from)),
    };
    let from = cast(from, DataType::Int(None));
    let nothing = binary(from.clone(), Op::LtEq, number(0));
    let mut inner = vec![whole, from];
    if let Some(length) = length {
        inner.push(cast(call("greatest", vec![length, number(0)]), DataType::Int(None)));
    }
    case(vec![(nothing, text(""))], Some(call("substr", inner)))
}

fn group_concat(mut function: Function) -> Made {
    let FunctionArguments::List(mut list) = function.args else {
        return Err(MysqlError::unsupported("GROUP_CONCAT of nothing"));
    };
    let mut separator = ",".to_owned();
    let mut clauses = Vec::new();
    for clause in list.clauses {
        match clause {
            FunctionArgumentClause::Separator(value) => {
                separator = value.value.into_string().unwrap_or_default();
            }
            order @ FunctionArgumentClause::OrderBy(_) => clauses.push(order),
            other => return Err(MysqlError::unsupported(format!("GROUP_CONCAT with {other}"))),
        }
    }
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    if is_distinct && !clauses.is_empty() {
        return Err(MysqlError::unsupported("GROUP_CONCAT with DISTINCT and ORDER BY"));
    }
    let mut joined: Option<Expr> = None;
    for arg in list.args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg else {
            return Err(MysqlError::unsupported("GROUP_CONCAT of this"));
        };
        let expr = as_text(expr);
        joined = Some(match joined {
            Some(before) => {
                let (left, right) = (Box::new(before), Box::new(expr));
                Expr::BinaryOp { left, op: Op::StringConcat, right }
            }
            None => expr,
        });
    }
    let unnamed = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
    list.args = vec![unnamed(joined.unwrap_or_else(null)), unnamed(text(separator))];
    list.clauses = clauses;
    function.args = FunctionArguments::List(list);
    Ok(renamed(function, "string_agg"))
}

/// What CAST, CONVERT and BINARY are.
pub(super) fn converted(expr: Expr, ty: &DataType) -> Made {
    // Texts are compared by their bytes already.
    if matches!(ty, DataType::Binary(None)) {
        return Ok(as_text(expr));
    }
    Ok(cast(expr, types::cast_type(ty)?))
}
