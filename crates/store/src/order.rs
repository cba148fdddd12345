//! An order of the transactions that respects every known constraint, kept while constraints come and go.
//!
//! Pearce and Kelly's dynamic topological order: an edge that agrees with the order costs nothing; one that does not costs a
//! search among the transactions between its ends, and either shows a cycle or moves only those that must move. Taking an edge
//! away costs nothing: the order still respects the others.

/// Constraints that hold by themselves (session order, reads), asked for while searching.
pub(crate) trait Known {
    /// Calls `visit` with each direct successor of `txn`.
    fn successors(&self, txn: u32, visit: &mut dyn FnMut(u32));
    /// Calls `visit` with each direct predecessor of `txn`.
    fn predecessors(&self, txn: u32, visit: &mut dyn FnMut(u32));
}

/// An order of the transactions 0, 1, 2, …
#[derive(Clone, Default, Debug)]
pub(crate) struct Order {
    position: Vec<u32>,
    /// Edges that were added, both ways.
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    /// Marks of the search, by its number.
    seen: Vec<u32>,
    search: u32,
}

impl Order {
    /// Adds a transaction at the end.
    pub fn push(&mut self) {
        self.position.push(self.position.len() as u32);
        self.after.push(Vec::new());
        self.before.push(Vec::new());
        self.seen.push(0);
    }

    /// The place of `txn`.
    pub fn position(&self, txn: u32) -> u32 {
        self.position[txn as usize]
    }

    /// Adds all of `edges`, or none if they would close a cycle.
    pub fn try_add(&mut self, known: &impl Known, edges: &[(u32, u32)]) -> bool {
        for (done, &(from, to)) in edges.iter().enumerate() {
            if !self.make_room(known, from, to) {
                self.remove(&edges[..done]);
                return false;
            }
            self.after[from as usize].push(to);
            self.before[to as usize].push(from);
        }
        true
    }

    /// Takes edges away that were added before.
    pub fn remove(&mut self, edges: &[(u32, u32)]) {
        for &(from, to) in edges.iter().rev() {
            remove_one(&mut self.after[from as usize], to);
            remove_one(&mut self.before[to as usize], from);
        }
    }

    /// Changes the order so that `from` comes before `to`; false if `to` must come before `from`.
    fn make_room(&mut self, known: &impl Known, from: u32, to: u32) -> bool {
        let (low, high) = (self.position(to), self.position(from));
        if high < low {
            return true;
        }
        let Some(mut forward) = self.collect(known, to, high, from, Direction::Forward) else { return false };
        let Some(mut backward) = self.collect(known, from, low, to, Direction::Backward) else { return false };
        let by_position = |txn: &u32| self.position[*txn as usize];
        forward.sort_unstable_by_key(by_position);
        backward.sort_unstable_by_key(by_position);
        let moved: Vec<u32> = backward.into_iter().chain(forward).collect();
        let mut places: Vec<u32> = moved.iter().map(by_position).collect();
        places.sort_unstable();
        for (txn, place) in moved.into_iter().zip(places) {
            self.position[txn as usize] = place;
        }
        true
    }

    /// All that is reachable from `start` without passing position `limit`; `None` if `target` is.
    fn collect(
        &mut self,
        known: &impl Known,
        start: u32,
        limit: u32,
        target: u32,
        direction: Direction,
    ) -> Option<Vec<u32>> {
        if start == target {
            return None;
        }
        self.search += 1;
        let Order { position, after, before, seen, search } = self;
        let mut found = vec![start];
        seen[start as usize] = *search;
        let mut next = 0;
        while let Some(&txn) = found.get(next) {
            next += 1;
            let mut visit = |other: u32| {
                let place = position[other as usize];
                let inside = if direction == Direction::Forward { place <= limit } else { place >= limit };
                if inside && seen[other as usize] != *search {
                    seen[other as usize] = *search;
                    found.push(other);
                }
            };
            match direction {
                Direction::Forward => {
                    known.successors(txn, &mut visit);
                    after[txn as usize].iter().copied().for_each(visit);
                }
                Direction::Backward => {
                    known.predecessors(txn, &mut visit);
                    before[txn as usize].iter().copied().for_each(visit);
                }
            }
            if seen[target as usize] == *search {
                return None;
            }
        }
        Some(found)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

fn remove_one(edges: &mut Vec<u32>, edge: u32) {
    if let Some(place) = edges.iter().rposition(|&other| other == edge) {
        edges.swap_remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Known for Nothing {
        fn successors(&self, _: u32, _: &mut dyn FnMut(u32)) {}
        fn predecessors(&self, _: u32, _: &mut dyn FnMut(u32)) {}
    }

    #[test]
    fn random_edges_are_taken_exactly_if_they_close_no_cycle() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as u32
        };
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..300 {
            let mut order = Order::default();
            (0..12).for_each(|_| order.push());
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for _ in 0..40 {
                let edge = (random(12), random(12));
                let closes = reaches(&edges, edge.1, edge.0);
                assert_eq!(order.try_add(&Nothing, &[edge]), !closes);
                if closes {
                    refused += 1;
                } else {
                    taken += 1;
                    edges.push(edge);
                }
                if random(5) == 0 && !edges.is_empty() {
                    let gone = edges.swap_remove(random(edges.len() as u64) as usize);
                    order.remove(&[gone]);
                }
                assert!(edges.iter().all(|&(from, to)| order.position(from) < order.position(to)));
            }
        }
        assert!(taken > 1000 && refused > 1000, "{taken} {refused}");
    }

    fn reaches(edges: &[(u32, u32)], from: u32, to: u32) -> bool {
        let mut found = vec![from];
        let mut next = 0;
        while next < found.len() {
            for &(a, b) in edges {
                if a == found[next] && !found.contains(&b) {
                    found.push(b);
                }
            }
            next += 1;
        }
        found.contains(&to)
    }
}
