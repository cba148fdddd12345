//! Pieces of syntax trees.

use super::names::{exact, object};
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
    ObjectNamePart, UnaryOperator, Value, helpers::attached_token::AttachedToken,
};

pub(super) fn text(value: impl Into<String>) -> Expr {
    Expr::Value(Value::SingleQuotedString(value.into()).into())
}

pub(super) fn number(value: impl ToString) -> Expr {
    Expr::Value(Value::Number(value.to_string(), false).into())
}

pub(super) fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

pub(super) fn bytes(value: &[u8]) -> Expr {
    let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    cast(text(format!("\\x{digits}")), DataType::Bytea)
}

pub(super) fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, format: None }
}

pub(super) fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

pub(super) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    let (left, right) = (Box::new(nested(left)), Box::new(nested(right)));
    Expr::BinaryOp { left, op, right }
}

pub(super) fn not(expr: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(expr)) }
}

pub(super) fn both(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(left), Some(right)) => Some(binary(left, BinaryOperator::And, right)),
        (left, right) => left.or(right),
    }
}

pub(super) fn case(conditions: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let when = |(condition, result)| CaseWhen { condition, result };
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: conditions.into_iter().map(when).collect(),
        else_result: otherwise.map(Box::new),
    }
}

pub(super) fn excluded(column: &str) -> Expr {
    Expr::CompoundIdentifier(vec![exact("excluded"), exact(column)])
}

fn arguments(args: Vec<Expr>, clauses: Vec<FunctionArgumentClause>) -> FunctionArguments {
    let arg = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
    let args = args.into_iter().map(arg).collect();
    FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses })
}

fn function(name: &str, args: FunctionArguments) -> Expr {
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args,
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
    })
}

/// A call of a function by its name here.
pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    function(name, arguments(args, Vec::new()))
}

/// A name of one part.
pub(super) fn target(name: &str) -> ObjectName {
    object(name)
}
