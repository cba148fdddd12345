//! Parts of a history that share neither sessions nor keys have no cycle in common: each is
//! searched by itself.

use super::facts::Facts;
use super::scan::Broken;
use rustc_hash::FxHashMap;
use seriatim_history::{KeyId, OpId};

/// How many parts there are for each thread at most: some take longer than others, but each costs a
/// copy of the graph.
const PARTS_A_THREAD: usize = 4;

/// The keys of the parts that have something broken; parts are taken together if there are too
/// many.
pub(crate) fn split(facts: &Facts<'_>, broken: &[Broken], threads: usize) -> Vec<Vec<KeyId>> {
    let mut links = Links::new(facts);
    let mut number: FxHashMap<u32, usize> = FxHashMap::default();
    for place in broken {
        let next = number.len();
        number.entry(links.root(key_of(facts, place).0)).or_insert(next);
    }
    let count = number.len().min(threads.max(1) * PARTS_A_THREAD);
    let mut parts = vec![Vec::new(); count];
    for key in facts.keys() {
        if let Some(number) = number.get(&links.root(key.0)) {
            parts[number % count].push(key);
        }
    }
    parts
}

fn key_of(facts: &Facts<'_>, place: &Broken) -> KeyId {
    match *place {
        Broken::Read { version, .. } | Broken::Chosen { version, .. } => facts.key_of(version),
        Broken::Overlap { earlier, .. } => facts.key_of(earlier),
        Broken::Value { read } => facts.read(read).key,
    }
}

/// Which keys and sessions belong together: union and find. Keys come first, then sessions.
struct Links {
    parent: Vec<u32>,
}

impl Links {
    fn new(facts: &Facts<'_>) -> Links {
        let (keys, sessions) = (facts.key_count(), facts.history.session_count() as u32);
        let mut links = Links { parent: (0..keys + sessions).collect() };
        for txn in facts.history.txns().filter(|txn| facts.index.counts[txn.index()]) {
            let session = keys + facts.session(txn).0;
            for op in facts.history.ops_of(txn) {
                links.join(facts.history.op(OpId(op)).key.0, session);
            }
        }
        links
    }

    fn root(&mut self, mut item: u32) -> u32 {
        while self.parent[item as usize] != item {
            let above = self.parent[item as usize];
            self.parent[item as usize] = self.parent[above as usize];
            item = above;
        }
        item
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a as usize] = b;
    }
}
