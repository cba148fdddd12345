//! A database that may return anything its isolation level allows.
mod engine;
mod log;
mod order;
mod search;
mod weak;
mod witness;
#[cfg(test)]
mod tests;
