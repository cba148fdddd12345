//! How many orders of the steps of a scenario are tried.

/// All orders of all scenarios but one, of whose 9,240 it is so many; `SERIATIM_ORDERS=10000` tries
/// these, too.
const ORDERS: usize = 800;

pub fn timings() -> usize {
    std::env::var("SERIATIM_ORDERS").ok().and_then(|it| it.parse().ok()).unwrap_or(ORDERS)
}
