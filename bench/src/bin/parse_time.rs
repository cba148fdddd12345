//! Prints how many operations a history has and how long it takes to read it: `parse_time FILE
//! [THREADS [TIMES]]`.

use seriatim::history::formats::{ReadOptions, read_path};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: parse_time FILE [THREADS [TIMES]]")?;
    let threads = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let times: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let options = ReadOptions { threads, ..ReadOptions::default() };
    for _ in 0..times {
        let start = Instant::now();
        let (history, format) = read_path(Path::new(&path), &path, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        let (ops, txns) = (history.op_count(), history.txn_count());
        println!("{format}: {ops} operations, {txns} transactions, {seconds:.3} s");
    }
    Ok(())
}
