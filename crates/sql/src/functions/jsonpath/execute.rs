//! What a path finds.
//!
//! In lax mode an array is unwrapped where one of its elements is wanted, anything else is wrapped
//! where an array is wanted, and what is not there is nothing. In strict mode these are errors.
//! Items are found one by one, so that an error leaves those before it.

use super::predicate::Truth;
use crate::error::{Result, SqlError, code};
use crate::types::json::Json;
use crate::types::jsonpath::{Chain, Depth, Operator, Path, Start, Step};
use crate::types::numeric::Numeric;

/// Codes of errors that only paths have.
pub(super) mod path_code {
    pub const ARRAY_NOT_FOUND: &str = "22039";
    pub const INVALID_SUBSCRIPT: &str = "22033";
    pub const MEMBER_NOT_FOUND: &str = "2203A";
    pub const NUMBER_NOT_FOUND: &str = "2203B";
    pub const OBJECT_NOT_FOUND: &str = "2203C";
    pub const NON_NUMERIC_ITEM: &str = "22036";
    pub const SINGLETON_REQUIRED: &str = "22038";
}

/// What a path is executed on.
pub struct Executor<'j> {
    pub(super) root: &'j Json,
    pub(super) variables: Option<&'j Json>,
    pub(super) lax: bool,
}

/// What `@` and `last` are here, and whether structural errors count.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub current: &'s Json,
    pub array_size: Option<i64>,
    pub ignore: bool,
}

/// Finds what a path leads to; items that were found before an error stay.
pub fn execute(
    path: &Path,
    root: &Json,
    variables: Option<&Json>,
    found: &mut Vec<Json>,
) -> Result<()> {
    let executor = Executor { root, variables, lax: path.lax };
    let scope = Scope { current: root, array_size: None, ignore: path.lax };
    executor.chain(&path.item, scope, found)
}

/// As [`execute`], where only matters whether something is found.
pub fn probe(
    path: &Path,
    root: &Json,
    variables: Option<&Json>,
    found: &mut Vec<Json>,
) -> Result<()> {
    let executor = Executor { root, variables, lax: path.lax };
    let scope = Scope { current: root, array_size: None, ignore: path.lax };
    executor.probe(&path.item, scope, found)
}

pub(super) fn error(code: &'static str, message: impl Into<String>) -> SqlError {
    SqlError::new(code, message)
}

/// Whether an error ends everything, also where errors are suppressed.
pub(super) fn is_fatal(error: &SqlError) -> bool {
    matches!(error.code(), code::STATEMENT_TOO_COMPLEX | code::FEATURE_NOT_SUPPORTED)
        || error.code() == code::UNDEFINED_OBJECT
}

impl Executor<'_> {
    pub(super) fn chain(
        &self,
        chain: &Chain,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        let steps = &chain.steps;
        let start = match &chain.start {
            Start::Root => return self.steps(steps, self.root, scope, found),
            Start::Current => return self.steps(steps, scope.current, scope, found),
            Start::Signed(operator, inside) => {
                return self.signed(*operator, inside, steps, scope, found);
            }
            Start::Last => match scope.array_size {
                Some(size) => Json::number(Numeric::from_i64(size - 1)),
                None => {
                    let message = "evaluating jsonpath LAST outside of array subscript";
                    return Err(SqlError::internal(message));
                }
            },
            Start::Null => Json::Null,
            Start::Bool(value) => Json::Bool(*value),
            Start::Number(number) => Json::Number(number.clone()),
            Start::String(text) => Json::string(text),
            Start::Variable(name) => self.variable(name)?,
            Start::Arithmetic(operator, left, right) => {
                self.arithmetic(*operator, left, right, scope)?
            }
            Start::Predicate(predicate) => match self.predicate(predicate, scope)? {
                Truth::True => Json::Bool(true),
                Truth::False => Json::Bool(false),
                Truth::Unknown => Json::Null,
            },
        };
        self.steps(steps, &start, scope, found)
    }

    /// As [`Executor::chain`], where only matters whether something is found: in lax mode a sign
    /// before what is no number is then no error.
    pub(super) fn probe(
        &self,
        chain: &Chain,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        match &chain.start {
            Start::Signed(_, inside) if self.lax && chain.steps.is_empty() => {
                let items = self.unwrapped(inside, scope)?;
                found.extend(items.into_iter().filter(|item| matches!(item, Json::Number(_))));
                Ok(())
            }
            _ => self.chain(chain, scope, found),
        }
    }

    fn variable(&self, name: &str) -> Result<Json> {
        let value = self.variables.and_then(|variables| variables.get(name));
        value.cloned().ok_or_else(|| {
            let message = format!("could not find jsonpath variable \"{name}\"");
            error(code::UNDEFINED_OBJECT, message)
        })
    }

    /// Everything that a chain finds, arrays unwrapped in lax mode.
    pub(super) fn unwrapped(&self, chain: &Chain, scope: Scope<'_>) -> Result<Vec<Json>> {
        let mut items = Vec::new();
        self.chain(chain, scope, &mut items)?;
        if !self.lax || !items.iter().any(|item| matches!(item, Json::Array(_))) {
            return Ok(items);
        }
        let unwrap = |item: Json| match item {
            Json::Array(elements) => elements.to_vec(),
            other => vec![other],
        };
        Ok(items.into_iter().flat_map(unwrap).collect())
    }

    fn operand(
        &self,
        side: &str,
        operator: Operator,
        chain: &Chain,
        scope: Scope<'_>,
    ) -> Result<Numeric> {
        match self.unwrapped(chain, scope)?.as_slice() {
            [Json::Number(number)] => Ok((**number).clone()),
            _ => {
                let symbol = operator.symbol();
                let message = format!(
                    "{side} operand of jsonpath operator {symbol} is not a single numeric value"
                );
                Err(error(path_code::SINGLETON_REQUIRED, message))
            }
        }
    }

    fn arithmetic(
        &self,
        operator: Operator,
        left: &Chain,
        right: &Chain,
        scope: Scope<'_>,
    ) -> Result<Json> {
        let left = self.operand("left", operator, left, scope)?;
        let right = self.operand("right", operator, right, scope)?;
        let result = match operator {
            Operator::Add => left.add(&right),
            Operator::Subtract => left.sub(&right),
            Operator::Multiply => left.mul(&right),
            Operator::Divide => left.div(&right),
            Operator::Modulo => left.rem(&right),
        };
        result.map(Json::number)
    }

    fn signed(
        &self,
        operator: Operator,
        inside: &Chain,
        steps: &[Step],
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        for item in self.unwrapped(inside, scope)? {
            let Json::Number(number) = item else {
                let symbol = operator.symbol();
                let message =
                    format!("operand of unary jsonpath operator {symbol} is not a numeric value");
                return Err(error(path_code::NUMBER_NOT_FOUND, message));
            };
            let value = match operator {
                Operator::Subtract => Json::number(number.neg()),
                _ => Json::Number(number),
            };
            self.steps(steps, &value, scope, found)?;
        }
        Ok(())
    }

    /// Goes on with the accessors that are left.
    pub(super) fn steps(
        &self,
        steps: &[Step],
        item: &Json,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        self.steps_from(steps, item, self.lax, scope, found)
    }

    /// `unwrap` says whether an array may be unwrapped for the first accessor.
    fn steps_from(
        &self,
        steps: &[Step],
        item: &Json,
        unwrap: bool,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else {
            found.push(item.clone());
            return Ok(());
        };
        if unwrap
            && unwraps(step)
            && let Json::Array(elements) = item
        {
            for element in elements.iter() {
                self.steps_from(steps, element, false, scope, found)?;
            }
            return Ok(());
        }
        match step {
            Step::Key(key) => self.key(key, rest, item, scope, found),
            Step::AnyKey => self.any_key(rest, item, scope, found),
            Step::AnyElement => self.any_element(rest, item, scope, found),
            Step::Elements(subscripts) => self.elements(subscripts, rest, item, scope, found),
            Step::AnyDepth(first, last) => {
                let scope = Scope { ignore: true, ..scope };
                if *first == Depth::At(0) {
                    self.steps(rest, item, scope, found)?;
                }
                self.any_depth((*first, *last), 1, rest, item, scope, found)
            }
            Step::Method(method) => {
                for value in self.method(*method, item)? {
                    self.steps(rest, &value, scope, found)?;
                }
                Ok(())
            }
            Step::Datetime(_) => Err(SqlError::unsupported("jsonpath item method .datetime()")),
            Step::Filter(predicate) => {
                let inside = Scope { current: item, ..scope };
                match self.predicate(predicate, inside)? {
                    Truth::True => self.steps(rest, item, scope, found),
                    _ => Ok(()),
                }
            }
        }
    }

    fn key(
        &self,
        key: &str,
        rest: &[Step],
        item: &Json,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        if let Some(value) = item.get(key) {
            return self.steps(rest, value, scope, found);
        }
        if scope.ignore {
            return Ok(());
        }
        let message = match item {
            Json::Object(_) => format!("JSON object does not contain key \"{key}\""),
            _ => "jsonpath member accessor can only be applied to an object".into(),
        };
        Err(error(path_code::MEMBER_NOT_FOUND, message))
    }

    fn any_key(
        &self,
        rest: &[Step],
        item: &Json,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        match item {
            Json::Object(pairs) => {
                pairs.iter().try_for_each(|(_, value)| self.steps(rest, value, scope, found))
            }
            _ if scope.ignore => Ok(()),
            _ => {
                let message = "jsonpath wildcard member accessor can only be applied to an object";
                Err(error(path_code::OBJECT_NOT_FOUND, message))
            }
        }
    }

    fn any_element(
        &self,
        rest: &[Step],
        item: &Json,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        match item {
            Json::Array(elements) => {
                elements.iter().try_for_each(|value| self.steps(rest, value, scope, found))
            }
            _ if self.lax => self.steps(rest, item, scope, found),
            _ if scope.ignore => Ok(()),
            _ => {
                let message = "jsonpath wildcard array accessor can only be applied to an array";
                Err(error(path_code::ARRAY_NOT_FOUND, message))
            }
        }
    }

    /// A subscript: one number, cut to an integer.
    fn subscript(&self, chain: &Chain, scope: Scope<'_>) -> Result<i64> {
        let mut items = Vec::new();
        self.chain(chain, scope, &mut items)?;
        let [Json::Number(number)] = items.as_slice() else {
            let message = "jsonpath array subscript is not a single numeric value";
            return Err(error(path_code::INVALID_SUBSCRIPT, message));
        };
        let whole = number.trunc(0)?.to_i64().filter(|whole| i32::try_from(*whole).is_ok());
        whole.ok_or_else(|| {
            let message = "jsonpath array subscript is out of integer range";
            error(path_code::INVALID_SUBSCRIPT, message)
        })
    }

    fn elements(
        &self,
        subscripts: &[(Chain, Option<Chain>)],
        rest: &[Step],
        item: &Json,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        let elements = match item {
            Json::Array(elements) => &elements[..],
            _ if self.lax => std::slice::from_ref(item),
            _ if scope.ignore => return Ok(()),
            _ => {
                let message = "jsonpath array accessor can only be applied to an array";
                return Err(error(path_code::ARRAY_NOT_FOUND, message));
            }
        };
        let size = elements.len() as i64;
        // Subscripts are about the item itself, with its own `last`.
        let inside = Scope { array_size: Some(size), ..scope };
        for (from, to) in subscripts {
            let from = self.subscript(from, inside)?;
            let to = match to {
                Some(to) => self.subscript(to, inside)?,
                None => from,
            };
            if !scope.ignore && (from < 0 || from > to || to >= size) {
                let message = "jsonpath array subscript is out of bounds";
                return Err(error(path_code::INVALID_SUBSCRIPT, message));
            }
            for at in from.max(0)..=to.min(size - 1) {
                self.steps(rest, &elements[at as usize], scope, found)?;
            }
        }
        Ok(())
    }

    /// Everything below an item between two depths. Values are at most as deep as json may be.
    fn any_depth(
        &self,
        bounds: (Depth, Depth),
        depth: u32,
        rest: &[Step],
        item: &Json,
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        let (first, last) = bounds;
        if Depth::At(depth) > last {
            return Ok(());
        }
        let children: Vec<&Json> = match item {
            Json::Array(elements) => elements.iter().collect(),
            Json::Object(pairs) => pairs.iter().map(|(_, value)| value).collect(),
            _ => return Ok(()),
        };
        for child in children {
            // The last depth is where there is nothing below.
            let leaf = first == Depth::Last && last == Depth::Last && child.is_scalar();
            if Depth::At(depth) >= first || leaf {
                self.steps(rest, child, scope, found)?;
            }
            self.any_depth(bounds, depth + 1, rest, child, scope, found)?;
        }
        Ok(())
    }
}

/// Whether an accessor wants the elements of an array instead of the array.
fn unwraps(step: &Step) -> bool {
    use crate::types::jsonpath::Method;
    match step {
        Step::Key(_) | Step::AnyKey | Step::Filter(_) | Step::Datetime(_) => true,
        Step::Method(method) => !matches!(method, Method::Type | Method::Size),
        Step::AnyElement | Step::Elements(_) | Step::AnyDepth(..) => false,
    }
}
