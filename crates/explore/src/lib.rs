//! Every behaviour of a transactional program under an isolation level, each exactly once.

mod bits;
mod ce;
mod closure;
mod describe;
mod dfs;
mod end;
mod engine;
mod error;
mod explain;
mod explorer;
mod isolation;
pub mod lang;
mod model;
mod ordered;
mod program;
mod reader;
mod token;
mod trail;
mod valid;
mod work;

pub use end::End;
pub use engine::Algorithm;
pub use error::{ExploreError, Place};
pub use explain::{Counterexample, replay};
pub use explorer::{Exploration, Explorer, Observer, Property, explore};
pub use isolation::Isolation;
pub use model::{Model, model};
pub use program::{Client, Local, Program, Session, Stop, Tx, Value};
pub use work::{Found, Group, Part, Tally, Work};
