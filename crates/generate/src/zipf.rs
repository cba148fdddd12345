//! The zipfian distribution: key `k` of `n`, counted from 1, is drawn with a probability
//! proportional to `k^-s`.
//!
//! Rejection sampling below a hat that is 1 up to the first key and `x^-s` from there on: its
//! integral can be inverted, so that a draw takes two random numbers, or a few more if it is
//! rejected, and no table. The draws are those of the crate `rand_distr`, number for number, so
//! that a seed keeps its history; the crate itself would bring three others into every project
//! that depends on the library.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// Draws keys from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipf {
    /// How many keys there are.
    count: u32,
    /// The exponent `s`.
    exponent: f64,
    /// The integral of the hat.
    area: f64,
    /// `1 / (1 - s)`; not used if `s` is 1.
    root: f64,
}

impl Zipf {
    /// `exponent` is finite and not negative.
    pub fn new(count: u32, exponent: f64) -> Zipf {
        let root = if exponent == 1.0 { 0.0 } else { 1.0 / (1.0 - exponent) };
        let n = f64::from(count);
        let area = match exponent == 1.0 {
            true => 1.0 + n.ln(),
            false => (n.powf(1.0 - exponent) - exponent) * root,
        };
        Zipf { count, exponent, area, root }
    }

    pub fn draw(&self, random: &mut Pcg64Mcg) -> u32 {
        loop {
            let point = self.under_hat(random.random());
            let key = (point + 1.0).floor();
            let accepted = key.powf(-self.exponent);
            // Right of the first key the hat is lower than 1.
            let accepted = if key > 1.0 { accepted * point.powf(self.exponent) } else { accepted };
            if random.random::<f64>() < accepted {
                // Rounding must not lead behind the last key.
                return (key as u32).clamp(1, self.count.max(1)) - 1;
            }
        }
    }

    /// The point left of which the share `part` of the hat lies.
    fn under_hat(&self, part: f64) -> f64 {
        let area = part * self.area;
        if area <= 1.0 {
            area
        } else if self.exponent == 1.0 {
            (area - 1.0).exp()
        } else {
            (area * (1.0 - self.exponent) + self.exponent).powf(self.root)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn keys_are_drawn_as_often_as_the_distribution_says() {
        const DRAWS: u32 = 200_000;
        for (count, exponent) in [(1, 0.99), (2, 1.0), (10, 0.0), (10, 0.99), (10, 1.0), (50, 2.5)]
        {
            let zipf = Zipf::new(count, exponent);
            let mut random = Pcg64Mcg::seed_from_u64(7);
            let mut seen = vec![0u32; count as usize];
            (0..DRAWS).for_each(|_| seen[zipf.draw(&mut random) as usize] += 1);
            let weight = |key: u32| f64::from(key + 1).powf(-exponent);
            let all: f64 = (0..count).map(weight).sum();
            for key in 0..count {
                let share = weight(key) / all;
                let expected = f64::from(DRAWS) * share;
                // Five standard deviations of a binomial distribution.
                let tolerance = 5.0 * (expected * (1.0 - share)).sqrt() + 1e-9;
                let found = f64::from(seen[key as usize]);
                assert!((found - expected).abs() <= tolerance, "{count} {exponent} {key}: {found}");
            }
        }
    }

    #[test]
    fn a_seed_keeps_its_draws() {
        let draws = |exponent| -> Vec<u32> {
            let mut random = Pcg64Mcg::seed_from_u64(42);
            let zipf = Zipf::new(1000, exponent);
            (0..12).map(|_| zipf.draw(&mut random)).collect()
        };
        // As `rand_distr` 0.6 draws them.
        assert_eq!(draws(0.99), [36, 6, 0, 5, 0, 185, 21, 1, 10, 299, 58, 5]);
        assert_eq!(draws(1.0), [34, 6, 0, 5, 0, 176, 19, 1, 9, 287, 54, 5]);
    }
}
