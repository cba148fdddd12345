//! Sets of positions as intervals: the rows that a scan is about are mostly neighbours.

/// A set of numbers: ascending half-open intervals that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Intervals(Vec<(u32, u32)>);

impl Intervals {
    /// No number.
    pub fn none() -> Intervals {
        Intervals::default()
    }

    /// All numbers below `end`.
    pub fn below(end: u32) -> Intervals {
        Intervals(if end == 0 { Vec::new() } else { vec![(0, end)] })
    }

    /// Adds the numbers from `start` up to, not including, `end`. They must not be below the end
    /// of what is there already; whether they were not.
    pub fn push(&mut self, start: u32, end: u32) -> bool {
        if start >= end {
            return start == end;
        }
        match self.0.last_mut() {
            Some(last) if last.1 > start => return false,
            Some(last) if last.1 == start => last.1 = end,
            _ => self.0.push((start, end)),
        }
        true
    }

    /// The intervals.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }

    /// Every number.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().flat_map(|(start, end)| start..end)
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.iter().map(|(start, end)| u64::from(end - start)).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One more than the largest number; 0 if there is none.
    pub fn end(&self) -> u32 {
        self.0.last().map_or(0, |&(_, end)| end)
    }

    /// The smallest number.
    pub fn first(&self) -> Option<u32> {
        self.0.first().map(|&(start, _)| start)
    }

    /// Whether `number` is one of them.
    pub fn contains(&self, number: u32) -> bool {
        let after = self.0.partition_point(|&(start, _)| start <= number);
        after > 0 && number < self.0[after - 1].1
    }

    /// Those that are in one of both.
    #[must_use]
    pub fn or(&self, other: &Intervals) -> Intervals {
        self.combined(other, |one, two| one || two)
    }

    /// Those that are in both.
    #[must_use]
    pub fn and(&self, other: &Intervals) -> Intervals {
        self.combined(other, |one, two| one && two)
    }

    /// Those that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Intervals) -> Intervals {
        self.combined(other, |one, two| one && !two)
    }

    /// Walks along the boundaries of both; between two of them membership does not change.
    fn combined(&self, other: &Intervals, keep: fn(bool, bool) -> bool) -> Intervals {
        let boundaries = |set: &Intervals| -> Vec<u32> {
            set.iter().flat_map(|(start, end)| [start, end]).collect()
        };
        let (one, two) = (boundaries(self), boundaries(other));
        let (mut i, mut j) = (0, 0);
        let mut result = Intervals::default();
        let mut from = None;
        while i < one.len() || j < two.len() {
            let at = match (one.get(i), two.get(j)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&a), None) | (None, Some(&a)) => a,
                (None, None) => break,
            };
            i += usize::from(one.get(i) == Some(&at));
            j += usize::from(two.get(j) == Some(&at));
            // Between an odd boundary and the next even one lies an interval.
            let kept = keep(i % 2 == 1, j % 2 == 1);
            match from {
                Some(start) if !kept => {
                    result.push(start, at);
                    from = None;
                }
                None if kept => from = Some(at),
                _ => {}
            }
        }
        result
    }
}

impl FromIterator<u32> for Intervals {
    /// From numbers in any order.
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Intervals {
        let mut numbers: Vec<u32> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut intervals = Intervals::default();
        for number in numbers {
            // Ids end far below the largest number.
            intervals.push(number, number.saturating_add(1));
        }
        intervals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn of(bits: u32) -> Intervals {
        (0..8).filter(|bit| bits >> bit & 1 == 1).collect()
    }

    /// Every pair of sets of numbers below eight, against sets.
    #[test]
    fn they_are_sets() {
        for a in 0..256 {
            let one = of(a);
            let set = |intervals: &Intervals| intervals.numbers().collect::<BTreeSet<u32>>();
            assert_eq!(one.count(), u64::from(a.count_ones()));
            assert_eq!(one.first(), set(&one).first().copied());
            for number in 0..9 {
                assert_eq!(one.contains(number), a >> number & 1 == 1);
            }
            for b in (0..256).step_by(3) {
                let two = of(b);
                assert_eq!(one.or(&two), of(a | b));
                assert_eq!(one.and(&two), of(a & b));
                assert_eq!(one.without(&two), of(a & !b));
            }
        }
    }

    #[test]
    fn what_does_not_ascend_is_refused() {
        let mut intervals = Intervals::none();
        assert!(intervals.push(3, 5) && intervals.push(5, 7) && intervals.push(9, 9));
        assert_eq!(intervals.iter().collect::<Vec<_>>(), [(3, 7)]);
        assert!(!intervals.push(6, 8) && !intervals.push(10, 9));
    }
}
