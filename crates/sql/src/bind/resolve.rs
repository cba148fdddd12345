//! Which function or operator is meant: the rules of PostgreSQL's chapters on operator and function
//! type resolution, over PostgreSQL's own tables.

use super::Binder;
use super::coerce::{is_any_compatible, is_any_element, is_polymorphic};
use crate::catalog::builtin::{CastContext, Operator, Proc, builtin};
use crate::error::{Result, SqlError, code};
use crate::functions;
use crate::ir::{CallKind, Callee, Expr, ExprKind};
use crate::types::Oid;

/// A function that fits, with the types that its arguments are to be converted to.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub proc: &'static Proc,
    /// One for each argument that was given.
    pub args: Vec<Oid>,
    /// Whether the last ones are gathered into an array.
    pub gathers: bool,
    /// For each given argument its place in the declaration, if it was named.
    pub places: Vec<usize>,
}

/// What becomes of polymorphic types.
#[derive(Debug)]
pub(super) struct Resolved {
    pub args: Vec<Oid>,
    pub result: Oid,
    /// What anyelement stands for.
    pub element: Option<Oid>,
}

impl Binder<'_> {
    /// What runs a function.
    pub(super) fn callee(&self, proc: &'static Proc) -> Result<Callee> {
        let run = if proc.returns_set {
            match functions::set_function(proc.oid, proc.source) {
                Some(function) => CallKind::Set(function),
                None if self.context.runs(proc) => CallKind::Session,
                None => return Err(missing_function(proc)),
            }
        } else if let Some(function) = functions::function(proc.oid, proc.source) {
            CallKind::Plain(function)
        } else if self.context.runs(proc) {
            CallKind::Session
        } else {
            return Err(missing_function(proc));
        };
        Ok(Callee { proc, run })
    }

    /// The operator of a name for arguments of these types.
    pub(super) fn find_operator(
        &self,
        name: &str,
        left: Option<Oid>,
        right: Oid,
    ) -> Result<&'static Operator> {
        if let Some(found) = self.exact_operator(name, left, right) {
            return Ok(found);
        }
        let types: Vec<Oid> = left.into_iter().chain([right]).collect();
        let fits = |operator: &&'static Operator| {
            left.is_some() == (operator.left != Oid::NONE)
                && operator_args(operator)
                    .zip(&types)
                    .all(|(want, &have)| self.can_coerce(have, want, CastContext::Implicit))
                && self.agree(&operator_args(operator).collect::<Vec<Oid>>(), &types)
        };
        let fitting: Vec<&'static Operator> =
            builtin().operators_named(name).filter(fits).collect();
        let lists: Vec<Vec<Oid>> =
            fitting.iter().map(|operator| operator_args(operator).collect()).collect();
        match self.select_best(&types, &lists) {
            Selected::One(place) => Ok(fitting[place]),
            Selected::None => Err(self.no_operator(name, left, right)),
            Selected::Several => Err(SqlError::new(
                code::AMBIGUOUS_FUNCTION,
                format!("operator is not unique: {}", self.operator_text(name, left, right)),
            )
            .hint(
                "Could not choose a best candidate operator. You might need to add explicit type \
                 casts.",
            )),
        }
    }

    /// Whether polymorphic arguments can all be of one type.
    fn agree(&self, declared: &[Oid], given: &[Oid]) -> bool {
        self.element_type(declared, given, is_any_element).is_ok()
            && self.compatible_type(declared, given).is_ok()
    }

    fn exact_operator(
        &self,
        name: &str,
        left: Option<Oid>,
        right: Oid,
    ) -> Option<&'static Operator> {
        let base = |ty: Oid| self.catalog.base_type(ty);
        let exact = |left: Oid, right: Oid| {
            builtin().operators_named(name).find(|it| it.left == left && it.right == right)
        };
        let Some(left) = left else { return exact(Oid::NONE, base(right)) };
        // A literal without a type is taken for what the other side is.
        let (one, other) = match (left, right) {
            (Oid::UNKNOWN, Oid::UNKNOWN) => (left, right),
            (Oid::UNKNOWN, right) => (base(right), base(right)),
            (left, Oid::UNKNOWN) => (base(left), base(left)),
            (left, right) => (base(left), base(right)),
        };
        exact(left, right).or_else(|| exact(one, other))
    }

    fn operator_text(&self, name: &str, left: Option<Oid>, right: Oid) -> String {
        let left = left.map_or(String::new(), |ty| format!("{} ", self.type_name(ty)));
        format!("{left}{name} {}", self.type_name(right))
    }

    fn no_operator(&self, name: &str, left: Option<Oid>, right: Oid) -> SqlError {
        SqlError::new(
            code::UNDEFINED_FUNCTION,
            format!("operator does not exist: {}", self.operator_text(name, left, right)),
        )
        .hint(if left.is_some() {
            "No operator matches the given name and argument types. You might need to add explicit \
             type casts."
        } else {
            "No operator matches the given name and argument type. You might need to add an \
             explicit type cast."
        })
    }

    /// An operator applied to its arguments.
    pub(super) fn operator_call(
        &mut self,
        name: &str,
        left: Option<Expr>,
        right: Expr,
    ) -> Result<Expr> {
        if !self.is_mysql() {
            return self.operator_of(name, left, right);
        }
        match (left, name) {
            (Some(left), "/" | "%") => self.mysql_division(name, left, right),
            (left, _) => {
                let (left, right) = self.mysql_sides(name, left, right)?;
                let moves_date = self.moves_date(name, left.as_ref(), &right);
                let made = self.operator_of(name, left, right)?;
                match moves_date {
                    true => self.coerce(made, Oid::DATE, -1, CastContext::Explicit),
                    false => Ok(made),
                }
            }
        }
    }

    /// The same by PostgreSQL's rules alone.
    pub(super) fn plain_operator(&mut self, name: &str, left: Expr, right: Expr) -> Result<Expr> {
        self.operator_of(name, Some(left), right)
    }

    fn operator_of(&mut self, name: &str, left: Option<Expr>, right: Expr) -> Result<Expr> {
        let operator = self.find_operator(name, left.as_ref().map(|expr| expr.ty), right.ty)?;
        let proc = builtin()
            .proc(operator.proc)
            .ok_or_else(|| SqlError::unsupported(format!("operator {name}")))?;
        let args: Vec<Expr> = left.into_iter().chain([right]).collect();
        let types = proc.args.clone();
        self.call(proc, args, &types, false)
    }

    /// A function applied to arguments, which are converted to `types`.
    pub(super) fn call(
        &mut self,
        proc: &'static Proc,
        args: Vec<Expr>,
        types: &[Oid],
        variadic: bool,
    ) -> Result<Expr> {
        let given: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let resolved = self.resolve_polymorphic(proc, types, &given)?;
        let mut converted = Vec::with_capacity(args.len());
        for (arg, &ty) in args.into_iter().zip(&resolved.args) {
            converted.push(self.coerce(arg, ty, -1, CastContext::Implicit)?);
        }
        if let Some(made) = self.collated_call(proc, &mut converted, resolved.result)? {
            return Ok(made);
        }
        let callee = self.callee(proc)?;
        let kind = ExprKind::Call { callee, args: converted, variadic };
        Ok(Expr { kind, ty: resolved.result, typmod: -1 })
    }

    /// What polymorphic arguments and results are for arguments of these types.
    pub(super) fn resolve_polymorphic(
        &self,
        proc: &'static Proc,
        declared: &[Oid],
        given: &[Oid],
    ) -> Result<Resolved> {
        if !is_polymorphic(proc.result) && !declared.iter().any(|&ty| is_polymorphic(ty)) {
            let (args, result) = (declared.to_vec(), proc.result);
            return Ok(Resolved { args, result, element: None });
        }
        let element = self.element_type(declared, given, is_any_element)?;
        let compatible = self.compatible_type(declared, given)?;
        let concrete = |ty: Oid| {
            let element = if is_any_compatible(ty) { compatible } else { element };
            self.concrete(ty, element)
        };
        let args = declared.iter().map(|&ty| concrete(ty)).collect::<Result<Vec<Oid>>>()?;
        Ok(Resolved { args, result: concrete(proc.result)?, element })
    }

    pub(super) fn concrete(&self, ty: Oid, element: Option<Oid>) -> Result<Oid> {
        if !is_polymorphic(ty) {
            return Ok(ty);
        }
        let undecided = || {
            let message =
                "could not determine polymorphic type because input has type unknown".to_owned();
            SqlError::new(code::DATATYPE_MISMATCH, message)
        };
        let element = element.ok_or_else(undecided)?;
        match ty {
            Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY => {
                let missing = || {
                    let name = self.type_name(element);
                    let message = format!("could not find array type for data type {name}");
                    SqlError::new(code::UNDEFINED_OBJECT, message)
                };
                if element == Oid::ANYELEMENT {
                    return Ok(Oid::ANYARRAY);
                }
                self.catalog.array_of(element).ok_or_else(missing)
            }
            _ => Ok(element),
        }
    }

    /// The one element type of anyelement, anyarray and so on.
    fn element_type(
        &self,
        declared: &[Oid],
        given: &[Oid],
        is_meant: fn(Oid) -> bool,
    ) -> Result<Option<Oid>> {
        let mut found: Option<Oid> = None;
        for (&want, &have) in declared.iter().zip(given) {
            if !is_meant(want) || have == Oid::UNKNOWN {
                continue;
            }
            let element = match want {
                Oid::ANYARRAY if have == Oid::ANYARRAY => Oid::ANYELEMENT,
                Oid::ANYARRAY => match self.catalog.element_of(self.catalog.base_type(have)) {
                    Some(element) => element,
                    None => continue,
                },
                _ => have,
            };
            match found {
                Some(other) if other != element => {
                    let (one, two) = (self.type_name(other), self.type_name(element));
                    return Err(SqlError::new(
                        code::DATATYPE_MISMATCH,
                        format!("arguments declared \"{}\" are not all alike", want_name(want)),
                    )
                    .detail(format!("{one} versus {two}")));
                }
                _ => found = Some(element),
            }
        }
        // Only literals without a type: they are text.
        let any = declared.iter().zip(given).any(|(&want, _)| is_meant(want));
        Ok(found.or(any.then_some(Oid::TEXT)))
    }

    fn compatible_type(&self, declared: &[Oid], given: &[Oid]) -> Result<Option<Oid>> {
        let mut types = Vec::new();
        for (&want, &have) in declared.iter().zip(given) {
            if !is_any_compatible(want) {
                continue;
            }
            if have != Oid::UNKNOWN && want == Oid::ANYCOMPATIBLEARRAY {
                types.extend(self.catalog.element_of(self.catalog.base_type(have)));
            } else {
                types.push(have);
            }
        }
        if types.is_empty() {
            return Ok(None);
        }
        self.common_type(&types, "arguments of anycompatible family").map(Some)
    }

    /// The function of a name for these arguments.
    pub(super) fn find_function(
        &self,
        name: &str,
        given: &[Oid],
        names: &[Option<String>],
        variadic: bool,
    ) -> Result<Candidate> {
        let mut fitting: Vec<Candidate> = Vec::new();
        for proc in builtin().procs_named(name) {
            fitting.extend(self.candidate(proc, given, names, variadic));
        }
        for extension in self.catalog.extensions() {
            let known = extension.known;
            if known.unsupported.contains(&name) {
                let what = format!("the function {name} of the extension \"{}\"", known.name);
                return Err(SqlError::unsupported(what));
            }
            for proc in known.procs.iter().filter(|proc| proc.name == name) {
                fitting.extend(self.candidate(proc, given, names, variadic));
            }
        }
        // One that takes the arguments as they are is better than one that gathers them.
        if fitting.iter().any(|candidate| !candidate.gathers) {
            let plain: Vec<Candidate> =
                fitting.iter().filter(|candidate| !candidate.gathers).cloned().collect();
            if plain.iter().any(|it| it.args.as_slice() == given) {
                fitting = plain;
            }
        }
        let lists: Vec<Vec<Oid>> = fitting.iter().map(|it| it.args.clone()).collect();
        match self.select_best(given, &lists) {
            Selected::One(place) => Ok(fitting.swap_remove(place)),
            Selected::None => Err(self.no_function(name, given)),
            Selected::Several => Err(SqlError::new(
                code::AMBIGUOUS_FUNCTION,
                format!("function {}({}) is not unique", name, self.type_list(given)),
            )
            .hint(
                "Could not choose a best candidate function. You might need to add explicit type \
                 casts.",
            )),
        }
    }

    pub(super) fn type_list(&self, types: &[Oid]) -> String {
        types.iter().map(|&ty| self.type_name(ty)).collect::<Vec<String>>().join(", ")
    }

    fn no_function(&self, name: &str, given: &[Oid]) -> SqlError {
        SqlError::new(
            code::UNDEFINED_FUNCTION,
            format!("function {}({}) does not exist", name, self.type_list(given)),
        )
        .hint(
            "No function matches the given name and argument types. You might need to add explicit \
             type casts.",
        )
    }

    /// Whether a function can be called like that.
    fn candidate(
        &self,
        proc: &'static Proc,
        given: &[Oid],
        names: &[Option<String>],
        variadic: bool,
    ) -> Option<Candidate> {
        let (count, declared) = (given.len(), proc.args.len());
        let has_variadic = proc.variadic != Oid::NONE;
        let gathers = has_variadic && !variadic && count >= declared;
        let (args, places) = if names.iter().any(Option::is_some) {
            let places = named_places(proc, names)?;
            (places.iter().map(|&place| proc.args[place]).collect::<Vec<Oid>>(), places)
        } else if gathers && proc.variadic != Oid::ANY {
            let fixed = proc.args[..declared - 1].iter().copied();
            let rest = std::iter::repeat_n(proc.variadic, count - declared + 1);
            (fixed.chain(rest).collect(), (0..count).collect())
        } else if gathers {
            let fixed = proc.args[..declared - 1].iter().copied();
            let rest = std::iter::repeat_n(Oid::ANY, count - declared + 1);
            (fixed.chain(rest).collect(), (0..count).collect())
        } else if count <= declared && count + proc.defaults >= declared {
            (proc.args[..count].to_vec(), (0..count).collect())
        } else {
            return None;
        };
        let fits = args
            .iter()
            .zip(given)
            .all(|(&want, &have)| self.can_coerce(have, want, CastContext::Implicit))
            && self.agree(&args, given);
        let gathers = gathers && proc.variadic != Oid::ANY;
        fits.then_some(Candidate { proc, args, gathers, places })
    }

    /// The best of several lists of types, all of which the given types can be converted to.
    fn select_best(&self, given: &[Oid], lists: &[Vec<Oid>]) -> Selected {
        let exact = |list: &Vec<Oid>| list.iter().zip(given).all(|(want, have)| want == have);
        if let Some(place) = lists.iter().position(exact) {
            return Selected::One(place);
        }
        let mut left: Vec<usize> = (0..lists.len()).collect();
        let base: Vec<Oid> = given
            .iter()
            .map(|&ty| if ty == Oid::UNKNOWN { ty } else { self.catalog.base_type(ty) })
            .collect();
        keep_best(&mut left, |place| {
            let matches = |(want, have): (&Oid, &Oid)| *have != Oid::UNKNOWN && want == have;
            lists[place].iter().zip(&base).filter(|&pair| matches(pair)).count()
        });
        keep_best(&mut left, |place| {
            let matches = |(&want, &have): (&Oid, &Oid)| {
                have != Oid::UNKNOWN && (want == have || self.is_preferred(want, have))
            };
            lists[place].iter().zip(&base).filter(|&pair| matches(pair)).count()
        });
        if left.len() > 1 {
            self.by_unknown(&base, lists, &mut left);
        }
        if left.len() > 1 {
            self.by_same_type(&base, lists, &mut left);
        }
        match left[..] {
            [] => Selected::None,
            [one] => Selected::One(one),
            _ => Selected::Several,
        }
    }

    fn is_preferred(&self, want: Oid, have: Oid) -> bool {
        let (category, preferred) = self.catalog.category(want);
        preferred && category == self.catalog.category(have).0
    }

    /// Literals without a type: strings are preferred, then what all agree on.
    fn by_unknown(&self, given: &[Oid], lists: &[Vec<Oid>], left: &mut Vec<usize>) {
        let mut categories: Vec<(usize, u8, bool)> = Vec::new();
        for (place, &ty) in given.iter().enumerate() {
            if ty != Oid::UNKNOWN {
                continue;
            }
            let all: Vec<(u8, bool)> =
                left.iter().map(|&it| self.catalog.category(lists[it][place])).collect();
            let first = all[0].0;
            let category = if all.iter().any(|&(category, _)| category == b'S') {
                b'S'
            } else if all.iter().all(|&(category, _)| category == first) {
                first
            } else {
                return;
            };
            let has_preferred = all.iter().any(|&(it, preferred)| it == category && preferred);
            categories.push((place, category, has_preferred));
        }
        let fits = |list: &[Oid]| {
            categories.iter().all(|&(place, category, has_preferred)| {
                let (found, preferred) = self.catalog.category(list[place]);
                found == category && (!has_preferred || preferred)
            })
        };
        let fitting: Vec<usize> =
            left.iter().copied().filter(|&place| fits(&lists[place])).collect();
        if !fitting.is_empty() {
            *left = fitting;
        }
    }

    /// Literals without a type are taken for what all others are.
    fn by_same_type(&self, given: &[Oid], lists: &[Vec<Oid>], left: &mut Vec<usize>) {
        let mut known = given.iter().copied().filter(|&ty| ty != Oid::UNKNOWN);
        let Some(first) = known.next() else { return };
        if !given.contains(&Oid::UNKNOWN) || known.any(|ty| ty != first) {
            return;
        }
        // No type is both the array and its element.
        let is_array = |want: &Oid| matches!(*want, Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY);
        let is_element = |want: &Oid| super::coerce::is_polymorphic(*want) && !is_array(want);
        let fits = |list: &[Oid]| {
            let is_both = list.iter().any(is_array) && list.iter().any(is_element);
            !is_both && list.iter().all(|&want| self.can_coerce(first, want, CastContext::Implicit))
        };
        let fitting: Vec<usize> =
            left.iter().copied().filter(|&place| fits(&lists[place])).collect();
        if fitting.len() == 1 {
            *left = fitting;
        }
    }
}

enum Selected {
    None,
    One(usize),
    Several,
}

fn keep_best(left: &mut Vec<usize>, score: impl Fn(usize) -> usize) {
    let best = left.iter().map(|&place| score(place)).max().unwrap_or(0);
    left.retain(|&place| score(place) == best);
}

fn operator_args(operator: &Operator) -> impl Iterator<Item = Oid> + use<> {
    let left = operator.left;
    (left != Oid::NONE).then_some(left).into_iter().chain([operator.right])
}

fn want_name(ty: Oid) -> &'static str {
    match ty {
        Oid::ANYARRAY => "anyarray",
        Oid::ANYENUM => "anyenum",
        _ => "anyelement",
    }
}

/// The places of named arguments; those without a name come first.
fn named_places(proc: &Proc, names: &[Option<String>]) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let place = match name {
            None => place,
            Some(name) => {
                proc.names.iter().take(proc.args.len()).position(|it| *it == name.as_str())?
            }
        };
        if places.contains(&place) || place >= proc.args.len() {
            return None;
        }
        places.push(place);
    }
    let first_default = proc.args.len() - proc.defaults;
    (0..first_default).all(|place| places.contains(&place)).then_some(places)
}

fn missing_function(proc: &Proc) -> SqlError {
    SqlError::unsupported(format!("function {}", proc.name))
}
