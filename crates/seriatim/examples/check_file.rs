//! Does a recorded history satisfy a level?
//!
//!     cargo run -p seriatim --example check_file -- examples/histories/stock.jsonl si

use seriatim::{History, Level, check, report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: check_file FILE [LEVEL]")?;
    let level: Level = arguments.next().as_deref().unwrap_or("serializable").parse()?;
    let history = History::open(&file)?;
    let report = check(&history, level);
    if report.holds(level) {
        println!("{file}: {level} holds");
    } else if report.violates(level) {
        println!("{file}: {level} is violated");
    } else {
        println!("{file}: {level} is undecided");
    }
    // Each kind of anomaly with the smallest instance that was found, as prose.
    for group in &report.anomalies {
        println!("{} × {}", group.count, group.kind.info().name);
        println!("  {}", report::summary(&group.exemplar));
    }
    Ok(())
}
