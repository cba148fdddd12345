//! The least that any checker of a text history has to do: read the file and split it into numbers.
//! `bench/weak.sh` measures us against it. `split_numbers FILE` prints how many numbers there are,
//! their sum, and the time; one thread.

use std::io::Read;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        return Err(std::io::Error::other("usage: split_numbers FILE"));
    };
    let start = Instant::now();
    let mut file = std::fs::File::open(path)?;
    let mut buffer = vec![0u8; 1 << 20];
    let (mut count, mut sum, mut number, mut inside) = (0u64, 0u64, 0u64, false);
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        for &byte in &buffer[..length] {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
                inside = true;
            } else if inside {
                count += 1;
                sum = sum.wrapping_add(number);
                number = 0;
                inside = false;
            }
        }
    }
    println!("{count} numbers, sum {sum}, {:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}
