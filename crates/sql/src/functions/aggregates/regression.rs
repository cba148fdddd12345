//! Correlation, covariance and linear regression over pairs (the first argument is Y), by the
//! recurrence that [`super::variance`] has for one number.

use super::variance::float;
use super::{Accumulator, Call, Start};
use crate::error::Result;
use crate::functions::float::overflow;
use crate::types::Datum;

/// Sums over the pairs, and sums of squared differences from the means.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Sums {
    fn add(&mut self, y: f64, x: f64) -> Result<()> {
        let before = *self;
        self.count += 1.0;
        self.x += x;
        self.y += y;
        if before.count == 0.0 {
            self.first(y, x);
            return Ok(());
        }
        let dx = x * self.count - self.x;
        let dy = y * self.count - self.y;
        let scale = 1.0 / (self.count * before.count);
        self.xx += dx * dx * scale;
        self.yy += dy * dy * scale;
        self.xy += dx * dy * scale;
        self.check(&before, y, x)
    }

    fn first(&mut self, y: f64, x: f64) {
        if !x.is_finite() {
            (self.xx, self.xy) = (f64::NAN, f64::NAN);
        }
        if !y.is_finite() {
            (self.yy, self.xy) = (f64::NAN, f64::NAN);
        }
    }

    /// Infinity from finite numbers is an overflow, from others not a number.
    fn check(&mut self, before: &Sums, y: f64, x: f64) -> Result<()> {
        let all = [self.x, self.y, self.xx, self.yy, self.xy];
        if !all.iter().any(|sum| sum.is_infinite()) {
            return Ok(());
        }
        let from_x = before.x.is_infinite() || x.is_infinite();
        let from_y = before.y.is_infinite() || y.is_infinite();
        let lost = (self.x.is_infinite() || self.xx.is_infinite()) && !from_x
            || (self.y.is_infinite() || self.yy.is_infinite()) && !from_y
            || self.xy.is_infinite() && !from_x && !from_y;
        if lost {
            return Err(overflow());
        }
        for sum in [&mut self.xx, &mut self.yy, &mut self.xy] {
            if sum.is_infinite() {
                *sum = f64::NAN;
            }
        }
        Ok(())
    }

    fn any(&self, value: f64) -> Option<f64> {
        (self.count >= 1.0).then_some(value)
    }

    fn slope(&self) -> Option<f64> {
        self.any(self.xy / self.xx).filter(|_| self.xx != 0.0)
    }

    fn intercept(&self) -> Option<f64> {
        let value = (self.y - self.x * self.xy / self.xx) / self.count;
        self.any(value).filter(|_| self.xx != 0.0)
    }

    fn r2(&self) -> Option<f64> {
        if self.yy == 0.0 && self.xx != 0.0 {
            return self.any(1.0);
        }
        self.any((self.xy * self.xy) / (self.xx * self.yy)).filter(|_| self.xx != 0.0)
    }

    fn correlation(&self) -> Option<f64> {
        let varies = self.xx != 0.0 && self.yy != 0.0;
        self.any(self.xy / (self.xx * self.yy).sqrt()).filter(|_| varies)
    }

    fn covariance_sample(&self) -> Option<f64> {
        (self.count >= 2.0).then(|| self.xy / (self.count - 1.0))
    }
}

struct Regression {
    sums: Sums,
    result: fn(&Sums) -> Option<f64>,
}

impl Accumulator for Regression {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.sums.add(float(args, 0)?, float(args, 1)?)
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok((self.result)(&self.sums).map_or(Datum::Null, Datum::Float8))
    }
}

fn regression(result: fn(&Sums) -> Option<f64>) -> Box<dyn Accumulator> {
    Box::new(Regression { sums: Sums::default(), result })
}

/// The accumulator of this name, if it is about pairs.
pub(super) fn find(name: &str) -> Option<Start> {
    Some(match name {
        "regr_count" => super::new::<super::simple::Count>,
        "regr_sxx" => |_| regression(|sums| sums.any(sums.xx)),
        "regr_syy" => |_| regression(|sums| sums.any(sums.yy)),
        "regr_sxy" => |_| regression(|sums| sums.any(sums.xy)),
        "regr_avgx" => |_| regression(|sums| sums.any(sums.x / sums.count)),
        "regr_avgy" => |_| regression(|sums| sums.any(sums.y / sums.count)),
        "regr_r2" => |_| regression(Sums::r2),
        "regr_slope" => |_| regression(Sums::slope),
        "regr_intercept" => |_| regression(Sums::intercept),
        "covar_pop" => |_| regression(|sums| sums.any(sums.xy / sums.count)),
        "covar_samp" => |_| regression(Sums::covariance_sample),
        "corr" => |_| regression(Sums::correlation),
        _ => return None,
    })
}
