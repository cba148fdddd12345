//! Intervals sorted by their ends: which of a range begins last, and which is the last one of a
//! prefix that begins after some time. A tree of maxima answers both in O(log n).

/// The latest begins of ranges of intervals.
#[derive(Default, Debug)]
pub(crate) struct LatestBegins {
    /// The leaves are the begins, padded to a power of two; node n has the children 2n and 2n + 1.
    tree: Vec<i64>,
    leaves: usize,
}

impl LatestBegins {
    /// Takes over the begins of other intervals.
    pub fn fill(&mut self, begins: impl ExactSizeIterator<Item = i64>) {
        self.leaves = begins.len().next_power_of_two();
        self.tree.clear();
        self.tree.resize(2 * self.leaves, i64::MIN);
        for (place, begin) in begins.enumerate() {
            self.tree[self.leaves + place] = begin;
        }
        for node in (1..self.leaves).rev() {
            self.tree[node] = self.tree[2 * node].max(self.tree[2 * node + 1]);
        }
    }

    /// The latest begin of the intervals from `first` to before `end`; the earliest time for none.
    pub fn latest(&self, first: usize, end: usize) -> i64 {
        let (mut low, mut high) = (first + self.leaves, end + self.leaves);
        let mut latest = i64::MIN;
        while low < high {
            if low % 2 == 1 {
                latest = latest.max(self.tree[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                latest = latest.max(self.tree[high]);
            }
            low /= 2;
            high /= 2;
        }
        latest
    }

    /// The last of the intervals before `end` that begins after `time`.
    pub fn last_after(&self, end: usize, time: i64) -> Option<usize> {
        let mut node = self.leaves + end;
        if end == self.leaves {
            node = Some(1).filter(|&root| self.tree[root] > time)?;
        } else {
            // Upwards until there is one to the left.
            while node.is_multiple_of(2) || self.tree[node - 1] <= time {
                node = Some(node / 2).filter(|&parent| parent > 1)?;
            }
            node -= 1;
        }
        while node < self.leaves {
            node = 2 * node + usize::from(self.tree[2 * node + 1] > time);
        }
        Some(node - self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_says_what_a_walk_says() {
        let mut random = 7u64;
        let mut below = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % bound
        };
        let mut latest = LatestBegins::default();
        for length in 0..40usize {
            let begins: Vec<i64> = (0..length).map(|_| below(20) as i64).collect();
            latest.fill(begins.iter().copied());
            for _ in 0..200 {
                let end = below(length as u64 + 1) as usize;
                let first = below(end as u64 + 1) as usize;
                let time = below(22) as i64 - 1;
                let expected = begins[first..end].iter().copied().max().unwrap_or(i64::MIN);
                assert_eq!(latest.latest(first, end), expected, "{begins:?} {first} {end}");
                let expected = begins[..end].iter().rposition(|&begin| begin > time);
                assert_eq!(latest.last_after(end, time), expected, "{begins:?} {end} {time}");
            }
        }
    }
}
