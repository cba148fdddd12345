//! Statements after names and types are resolved, before anything is decided about how they run.

mod expr;
mod query;
mod walk;

pub use expr::{
    BoolTest, CallKind, Callee, Collated, Expr, ExprKind, Quantified, Subquery, SubscriptPart,
};
pub use query::{
    AggCall, Assignment, Body, ConflictAction, ConflictTarget, Cte, Distinct, Frame, FrameBound,
    FrameExclusion, FrameUnit, From, FromFunction, FunctionCall, Grouping, InsertSource, JoinKind,
    LockStrength, MergeAction, MergeArm, MergeWhen, Modify, ModifyKind, OnConflict, OutColumn,
    Overriding, Query, RowLock, Select, SetCall, SetOp, SortKey, TableRef, WaitPolicy, WindowCall,
};
