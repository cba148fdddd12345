//! Which key an operation uses.

use crate::workload::KeyChoice;
use crate::zipf::Zipf;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// Draws keys.
pub(crate) enum Keys {
    Uniform { count: u32 },
    Zipfian(Zipf),
    Hotspot { count: u32, hot: u32, share: f64 },
}

impl Keys {
    /// `choice` has been validated.
    pub fn new(choice: KeyChoice, count: u32) -> Keys {
        match choice {
            KeyChoice::Uniform => Keys::Uniform { count },
            KeyChoice::Zipfian { exponent } => Keys::Zipfian(Zipf::new(count, exponent)),
            KeyChoice::Hotspot { keys, operations } => {
                let hot = ((f64::from(count) * keys).round() as u32).clamp(1, count);
                Keys::Hotspot { count, hot, share: operations }
            }
        }
    }

    pub fn draw(&self, random: &mut Pcg64Mcg) -> u32 {
        match self {
            Keys::Uniform { count } => random.random_range(0..*count),
            Keys::Zipfian(zipf) => zipf.draw(random),
            Keys::Hotspot { count, hot, share } => {
                if *hot == *count || random.random_bool(*share) {
                    random.random_range(0..*hot)
                } else {
                    random.random_range(*hot..*count)
                }
            }
        }
    }
}
