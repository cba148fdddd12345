//! What is asked of the executor by what stands below it.

use super::Env;
use crate::catalog::builtin::Proc;
use crate::error::Result;
use crate::ir::Expr;
use crate::types::Datum;

/// The executor, for a binder that has to know what it runs and for domains that have checks.
pub trait Executor: std::fmt::Debug + Send + Sync {
    /// Whether it runs a function that looks at the session, the catalog or sequences.
    fn runs(&self, proc: &Proc) -> bool;

    /// The value of an expression over a value that stands for its placeholder.
    fn value_over(&self, env: &Env, expr: &Expr, value: &Datum) -> Result<Datum>;
}
