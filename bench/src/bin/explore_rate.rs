//! How many histories a second: three sessions that change and read one shopping cart, three
//! transactions each.
//!
//! Run with `cargo run --release --manifest-path bench/Cargo.toml --bin explore_rate [THREADS]`.

use seriatim::explore::{Explorer, Program};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args().nth(1).and_then(|threads| threads.parse().ok()).unwrap_or(1);
    let mut program: Program<i64, i64> = Program::new();
    for session in 0..3i64 {
        program
            .session()
            .transaction(move |tx, _| {
                let cart = tx.read("cart")?;
                tx.write("cart", cart + session)
            })
            .transaction(|tx, seen| {
                *seen = tx.read("cart")?;
                Ok(())
            })
            .transaction(|tx, _| {
                let cart = tx.read("cart")?;
                tx.write("cart", cart / 2)
            });
    }
    for level in seriatim::explore::LEVELS {
        let budget = std::time::Duration::from_secs(20);
        let result =
            Explorer::new(&program, level).threads(threads).budget(budget).run(&|_| Ok(()))?;
        let (histories, ends) = (result.tally.histories, result.tally.ends);
        let rate = ends as f64 / result.elapsed.as_secs_f64();
        println!(
            "{level}: {histories} histories, {ends} ends, {rate:.0} ends/s, complete: {}",
            result.is_complete
        );
    }
    Ok(())
}
