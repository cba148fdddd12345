//! The axioms of the weak levels, as edges that an order of the transactions breaks.
//!
//! For a read of x in t3 from t1, and another writer t2 of x that t3 has seen (φ of the level),
//! every commit order must put t2 before t1. Instead of listing all these edges we look at one
//! order at a time: with the versions of x sorted by the order, only versions between t1 and t3 can
//! be both seen by t3 (what it saw comes before it) and out of place. In a history without
//! anomalies and with a fair order most reads have no version there, so most reads cost O(1).
//!
//! The same walk, with another scope, finds the edges that contradict the causal order by
//! themselves, and those that lie on a cycle, once a level is known to be violated.
//!
//! Per read at most the last such t2 is reported: earlier ones come before it in the order anyway,
//! or are found when the search looks at the next order. Cost of a read with g versions in between:
//! min(g, reads of t3) lookups at RC and RA, hence O(n^1.5) in all; min(g, k) amortised at CC,
//! hence O(n·k).

use super::clocks::{Clocks, LazyClocks, count_of};
use super::edges::Inferred;
use super::graph::Components;
use crate::index::{Index, Source};
use crate::parallel;
use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, OpId, SessionId, TxnId};
use seriatim_isolation::Level;
use std::ops::Range;

/// Which inferred edges to look for.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// Those that the order breaks.
    Broken,
    /// Those that contradict the causal order by themselves: t1 is in the causal past of t2, or is
    /// the initial transaction. The clocks answer for sources in their sessions; the order must
    /// extend the causal order.
    AgainstCausality(&'a LazyClocks<'a>),
    /// Those inside a strongly connected component. The order must be that of the components.
    InCycle(&'a Components),
    /// All of them, several for each read: as many as the cost below says, so only where nothing
    /// else ends soon.
    All,
}

/// A search for inferred edges, at most one for each read (except with [`Scope::All`]).
pub(crate) struct EdgeSearch<'a> {
    pub scope: Scope<'a>,
    pub history: &'a History,
    pub index: &'a Index,
    pub level: Level,
    /// The place of each transaction in the order.
    pub position: &'a [u32],
    /// Needed for [`Level::Causal`].
    pub clocks: Option<&'a LazyClocks<'a>>,
    /// Reads to pass over (by operation), as they are reported already.
    pub excluded: Option<&'a [bool]>,
    pub threads: usize,
}

/// Into how many parts the work of one thread is cut.
const SHARES: usize = 32;

/// How many reads are looked at together, to wait for the memory once.
const BATCH: usize = 16;

/// Transactions with more operations than this are looked at one by one, with a table of what they
/// read.
const LARGE_TXN_OPS: u32 = 64;

/// The versions of one key, sorted by the order.
#[derive(Default)]
struct Key<'a> {
    /// The number of the first version of the key.
    base: usize,
    /// Writers in the order of transactions (session by session).
    writers: &'a [TxnId],
    /// Positions of the writers and the writers, sorted by position.
    sorted: Vec<Placed>,
    /// For each writer its rank in `sorted`.
    rank: Vec<u32>,
    /// Room for sorting.
    places: Vec<u64>,
    /// How many writers come before the last reader that asked; readers come in order.
    passed: usize,
    pointers: Pointers,
}

/// A writer and its place in the order.
#[derive(Clone, Copy)]
struct Placed {
    position: u32,
    writer: TxnId,
    session: SessionId,
}

/// For a reader's session, how far each session's writers of the key are seen: moves forward only,
/// since a session's causal past grows. This makes CC O(n·k) without a search per read and session.
#[derive(Default)]
struct Pointers {
    known: bool,
    reader_session: Option<SessionId>,
    /// Per session that writes the key: the session and its writers (indices of `writers`).
    segments: Vec<(SessionId, Range<u32>)>,
    next: Vec<u32>,
    /// For each session of the block the place in it of the next writer that is not seen: most
    /// readers see no more than the one before them, and one comparison of rows tells.
    limits: Vec<u32>,
    /// The last in the order of all writers that are seen.
    last: Option<TxnId>,
}

/// A read with versions between its source and its transaction.
#[derive(Clone, Copy)]
struct Suspect {
    reader: TxnId,
    read: OpId,
    /// The writer that it read from, or the initial transaction.
    source: Source,
    /// Versions `between.0..between.1` of the sorted versions come after the source and before the
    /// reader.
    between: (u32, u32),
}

impl EdgeSearch<'_> {
    /// Edges in the scope that every commit order of the level has to respect.
    pub fn find(&self) -> Vec<Inferred> {
        // Reads of keys that many write cost more than others, so that equal shares of the reads
        // are not equal work.
        let ranges =
            parallel::split_by_weight(&self.index.reads.start, self.threads.max(1) * SHARES);
        let found = parallel::run_each(&ranges, self.threads, |keys| self.find_in(keys.clone()));
        found.into_iter().flatten().collect()
    }

    fn find_in(&self, keys: Range<usize>) -> Vec<Inferred> {
        let mut found = Vec::new();
        let mut large: Vec<(Suspect, KeyId)> = Vec::new();
        let mut key = Key::default();
        let mut suspects: Vec<Suspect> = Vec::new();
        for number in keys.map(KeyId::from) {
            let versions = self.index.versions.range(number);
            let reads = self.index.reads.range(number);
            if versions.is_empty() || reads.is_empty() {
                continue;
            }
            self.sort_versions(&mut key, versions);
            suspects.clear();
            suspects.extend(reads.filter_map(|read| self.suspect(&key, read)));
            for batch in suspects.chunks(BATCH) {
                self.fetch_clocks(batch);
                for suspect in batch {
                    let size = self.history.ops_of(suspect.reader).len() as u32;
                    if self.level != Level::Causal && size > LARGE_TXN_OPS {
                        large.push((*suspect, number));
                    } else if matches!(self.scope, Scope::All) {
                        self.all_seen(&mut key, suspect, &mut found);
                    } else if let Some(seen) = self.last_seen(&mut key, suspect) {
                        found.push(Inferred { from: seen, to: suspect.source, read: suspect.read });
                    }
                }
            }
        }
        self.large_txns(large, &mut found);
        found
    }

    /// Touches the clocks that `batch` will ask for, if there are any yet: they are far apart in
    /// memory, and it can fetch several at once if they are asked for at once.
    fn fetch_clocks(&self, batch: &[Suspect]) {
        if let (Level::Causal, Some(clocks)) =
            (self.level, self.clocks.and_then(|lazy| lazy.clocks.get()))
        {
            clocks.fetch(batch.iter().map(|suspect| suspect.reader));
        }
    }

    fn sort_versions<'a>(&'a self, key: &mut Key<'a>, versions: Range<usize>) {
        key.base = versions.start;
        key.writers = &self.index.versions.txn[versions];
        key.pointers.reader_session = None;
        key.pointers.segments.clear();
        key.pointers.known = false;
        key.passed = 0;
        key.places.clear();
        let places = key.writers.iter().enumerate();
        key.places.extend(
            places.map(|(local, &w)| u64::from(self.position[w.index()]) << 32 | local as u64),
        );
        if !key.places.is_sorted() {
            key.places.sort_unstable();
        }
        key.sorted.clear();
        key.rank.clear();
        key.rank.resize(key.writers.len(), 0);
        for (rank, &place) in key.places.iter().enumerate() {
            let local = place as u32 as usize;
            key.rank[local] = rank as u32;
            key.sorted.push(self.placed((place >> 32) as u32, key.writers[local]));
        }
    }

    fn placed(&self, position: u32, writer: TxnId) -> Placed {
        Placed { position, writer, session: self.index.session_of(writer) }
    }

    /// The read as a suspect, if some version may make an edge in the scope.
    #[inline]
    fn suspect(&self, key: &Key<'_>, read: usize) -> Option<Suspect> {
        let reads = &self.index.reads;
        let reader = reads.txn[read];
        let version = reads.source[read].version();
        let rank = version.map(|version| key.rank[version.index() - key.base]);
        let between = match self.scope {
            Scope::InCycle(components) => self.in_component(key, rank?, components)?,
            Scope::All => (0, key.sorted.len() as u32),
            _ => self.behind_source(
                key,
                rank.map_or(0, |rank| rank + 1),
                self.position[reader.index()],
            )?,
        };
        let op = reads.op[read];
        if self.excluded.is_some_and(|excluded| excluded[op.index()]) {
            return None;
        }
        let source = rank.map_or(Source::INITIAL, |rank| key.sorted[rank as usize].writer.into());
        Some(Suspect { reader, read: op, source, between })
    }

    /// The versions from rank `first` on that come before position `limit`, if there are any.
    #[inline]
    fn behind_source(&self, key: &Key<'_>, first: u32, limit: u32) -> Option<(u32, u32)> {
        if key.sorted.get(first as usize)?.position >= limit {
            return None;
        }
        let rest = &key.sorted[first as usize..];
        Some((first, first + count_before(rest, limit) as u32))
    }

    /// The versions in the component of the version of rank `rank`, if there are others. Members of
    /// a component are neighbours in the order.
    fn in_component(
        &self,
        key: &Key<'_>,
        rank: u32,
        components: &Components,
    ) -> Option<(u32, u32)> {
        let source = key.sorted[rank as usize].writer;
        let together = |version: &&Placed| components.together(version.writer, source);
        let before = key.sorted[..rank as usize].iter().rev().take_while(together).count() as u32;
        let after = key.sorted[rank as usize + 1..].iter().take_while(together).count() as u32;
        (before + after > 0).then_some((rank - before, rank + 1 + after))
    }

    /// Whether an edge from `writer` to `source` is in the scope, given that the reader has seen
    /// `writer`.
    #[inline]
    fn in_scope(&self, writer: TxnId, source: Source) -> bool {
        let Some(source) = source.txn() else { return self.is_initial_in_scope() };
        match self.scope {
            _ if writer == source => false,
            Scope::Broken => self.is_behind(writer, source),
            Scope::AgainstCausality(clocks) => {
                let session = self.index.session_of(source);
                clocks.sessions.contains(&session)
                    && self.is_behind(writer, source)
                    && clocks.get().reaches(source, session, writer)
            }
            Scope::InCycle(components) => components.together(writer, source),
            Scope::All => true,
        }
    }

    /// Whether an edge to the initial transaction is in the scope.
    #[inline]
    fn is_initial_in_scope(&self) -> bool {
        match self.scope {
            Scope::Broken | Scope::All => true,
            // No block has the session of the initial transaction: the first one reports its reads.
            Scope::AgainstCausality(clocks) => clocks.sessions.start == SessionId(0),
            Scope::InCycle(_) => false,
        }
    }

    /// The last version between source and reader that the reader has seen by the rule of the
    /// level.
    fn last_seen(&self, key: &mut Key<'_>, suspect: &Suspect) -> Option<TxnId> {
        match self.level {
            Level::ReadCommitted => self.last_read_from(key, suspect, self.ops_before(suspect)),
            Level::Causal => self.last_in_causal_past(key, suspect),
            _ => {
                let ops = self.history.ops_of(suspect.reader);
                let read_from = self.last_read_from(key, suspect, ops);
                key.pass(suspect.reader);
                self.later(read_from, self.own_session_writer(&key.writers[..key.passed], suspect))
            }
        }
    }

    /// Edges from all versions that the reader has seen by the rule of the level; of each session
    /// the last one at CC, since session order does the rest.
    fn all_seen(&self, key: &mut Key<'_>, suspect: &Suspect, found: &mut Vec<Inferred>) {
        let mut add = |writer: TxnId| {
            if Source::from(writer) != suspect.source {
                found.push(Inferred { from: writer, to: suspect.source, read: suspect.read });
            }
        };
        if self.level == Level::Causal {
            let Some(clocks) = self.clocks else { return };
            let Key { writers, pointers, .. } = key;
            pointers.advance(self, clocks.get(), writers, suspect.reader);
            return pointers.last_of_each(writers).for_each(add);
        }
        let rc = self.level == Level::ReadCommitted;
        let ops = if rc { self.ops_before(suspect) } else { self.history.ops_of(suspect.reader) };
        let sources = &self.index.source_txn[ops.start as usize..ops.end as usize];
        sources
            .iter()
            .filter_map(|source| source.txn())
            .filter(|&source| self.is_between(&key.sorted, source))
            .for_each(&mut add);
        if !rc {
            key.pass(suspect.reader);
            self.own_session_writer(&key.writers[..key.passed], suspect).into_iter().for_each(add);
        }
    }

    fn ops_before(&self, suspect: &Suspect) -> Range<u32> {
        self.history.ops_of(suspect.reader).start..suspect.read.0
    }

    fn later(&self, a: Option<TxnId>, b: Option<TxnId>) -> Option<TxnId> {
        [a, b].into_iter().flatten().max_by_key(|&writer| self.position[writer.index()])
    }

    /// The last version that one of `ops` (of a transaction of bounded size) read from.
    fn last_read_from(&self, key: &Key<'_>, suspect: &Suspect, ops: Range<u32>) -> Option<TxnId> {
        let sources = &self.index.source_txn[ops.start as usize..ops.end as usize];
        let between = &key.sorted[suspect.between.0 as usize..suspect.between.1 as usize];
        let in_scope = |writer: &TxnId| self.in_scope(*writer, suspect.source);
        if between.len() <= 4 {
            let mut writers = between.iter().rev().map(|version| version.writer);
            let is_read = |writer: TxnId| sources.contains(&writer.into());
            return writers.find(|writer| is_read(*writer) && in_scope(writer));
        }
        let known = sources
            .iter()
            .filter_map(|source| source.txn())
            .filter(|&source| self.is_between(between, source));
        let seen = known.filter(in_scope);
        seen.max_by_key(|&writer| self.position[writer.index()])
    }

    /// Whether `writer` is one of `between`, which is sorted by position.
    fn is_between(&self, between: &[Placed], writer: TxnId) -> bool {
        let position = self.position[writer.index()];
        if between.first().is_none_or(|first| position < first.position) {
            return false;
        }
        between.binary_search_by_key(&position, |other| other.position).is_ok()
    }

    /// The last of the writers of the key before the reader, if it is of the reader's session and
    /// in the scope.
    fn own_session_writer(&self, before: &[TxnId], suspect: &Suspect) -> Option<TxnId> {
        let last = *before.last()?;
        let same_session = self.index.session_of(last) == self.index.session_of(suspect.reader);
        (same_session && self.in_scope(last, suspect.source)).then_some(last)
    }

    fn is_behind(&self, writer: TxnId, source: TxnId) -> bool {
        self.position[writer.index()] > self.position[source.index()]
    }

    fn last_in_causal_past(&self, key: &mut Key<'_>, suspect: &Suspect) -> Option<TxnId> {
        let lazy = self.clocks?;
        let block = &lazy.sessions;
        let between = &key.sorted[suspect.between.0 as usize..suspect.between.1 as usize];
        // Few versions are asked for one by one, many by one pointer for each session.
        if between.len() <= count_of(block) {
            if !between.iter().any(|version| block.contains(&version.session)) {
                return None;
            }
            let clocks = lazy.get();
            let seen = |version: &&Placed| {
                block.contains(&version.session)
                    && clocks.reaches(version.writer, version.session, suspect.reader)
                    && version.writer != suspect.reader
                    && self.in_scope(version.writer, suspect.source)
            };
            return between.iter().rev().find(seen).map(|version| version.writer);
        }
        let Key { writers, pointers, .. } = key;
        pointers.advance(self, lazy.get(), writers, suspect.reader);
        // If the last one in the order is not behind the source, no other is.
        if matches!(self.scope, Scope::Broken) {
            return pointers.last.filter(|&last| self.in_scope(last, suspect.source));
        }
        pointers
            .last_of_each(writers)
            .filter(|&writer| self.in_scope(writer, suspect.source))
            .max_by_key(|&writer| self.position[writer.index()])
    }

    /// Suspects of large transactions, transaction by transaction with a table of the first read
    /// from each source: a lookup costs O(1), so a read costs min(versions in between, sources of
    /// the transaction).
    fn large_txns(&self, mut suspects: Vec<(Suspect, KeyId)>, found: &mut Vec<Inferred>) {
        suspects.sort_unstable_by_key(|(suspect, _)| suspect.read);
        let mut sorted_keys = SortedKeys { search: self, keys: FxHashMap::default() };
        for of_one in suspects.chunk_by(|(a, _), (b, _)| a.reader == b.reader) {
            let first_reads = self.first_reads(of_one[0].0.reader);
            let mut in_order: Vec<(OpId, TxnId)> =
                first_reads.iter().map(|(&source, &op)| (op, source)).collect();
            in_order.sort_unstable();
            let mut asked: FxHashMap<KeyId, OpId> = FxHashMap::default();
            for (suspect, key) in of_one {
                let since = asked
                    .insert(*key, suspect.read)
                    .filter(|_| self.may_skip_answered())
                    .unwrap_or(OpId(0));
                let end =
                    if self.level == Level::ReadCommitted { suspect.read } else { OpId(u32::MAX) };
                let window = in_order.partition_point(|&(op, _)| op < since)
                    ..in_order.partition_point(|&(op, _)| op < end);
                let sources = &in_order[window];
                let sorted = sorted_keys.get(*key);
                let between = &sorted[suspect.between.0 as usize..suspect.between.1 as usize];
                let is_seen = |writer: TxnId| {
                    let first = first_reads.get(&writer);
                    first.is_some_and(|&first| first >= since && first < end)
                        && self.in_scope(writer, suspect.source)
                };
                let mut seen: Vec<TxnId> = if between.len() <= sources.len() {
                    between
                        .iter()
                        .map(|version| version.writer)
                        .filter(|&writer| is_seen(writer))
                        .collect()
                } else {
                    let candidates = sources.iter().map(|&(_, writer)| writer);
                    candidates
                        .filter(|&writer| is_seen(writer) && self.is_between(between, writer))
                        .collect()
                };
                if self.level != Level::ReadCommitted {
                    let writers = self.index.versions.writers(*key);
                    let before = writers.partition_point(|&writer| writer < suspect.reader);
                    seen.extend(self.own_session_writer(&writers[..before], suspect));
                }
                if !matches!(self.scope, Scope::All) {
                    let last =
                        seen.iter().copied().max_by_key(|&writer| self.position[writer.index()]);
                    seen = last.into_iter().collect();
                }
                let edge = |from| Inferred { from, to: suspect.source, read: suspect.read };
                found.extend(seen.into_iter().map(edge));
            }
        }
    }

    /// At RC a transaction that polls a key has to be asked, at each poll, only about what it read
    /// since the poll before: what it read earlier precedes what that poll returned, which precedes
    /// what this one returns.
    fn may_skip_answered(&self) -> bool {
        self.level == Level::ReadCommitted && matches!(self.scope, Scope::Broken | Scope::All)
    }

    fn first_reads(&self, reader: TxnId) -> FxHashMap<TxnId, OpId> {
        let mut first = FxHashMap::default();
        for op in self.history.ops_of(reader).map(OpId) {
            if let Some(source) = self.index.source_of(op).txn() {
                first.entry(source).or_insert(op);
            }
        }
        first
    }
}

/// How many of `versions`, sorted by position, come before `limit`; fast if these are few, as they
/// usually are.
fn count_before(versions: &[Placed], limit: u32) -> usize {
    let mut reach = 1;
    while reach < versions.len() && versions[reach].position < limit {
        reach *= 2;
    }
    let from = reach / 2;
    from + versions[from..versions.len().min(reach + 1)]
        .partition_point(|version| version.position < limit)
}

/// Sorted versions of keys, kept from the first use.
struct SortedKeys<'s, 'a> {
    search: &'s EdgeSearch<'a>,
    keys: FxHashMap<KeyId, Vec<Placed>>,
}

impl SortedKeys<'_, '_> {
    fn get(&mut self, key: KeyId) -> &[Placed] {
        self.keys.entry(key).or_insert_with(|| {
            let placed =
                |&writer: &TxnId| self.search.placed(self.search.position[writer.index()], writer);
            let writers = self.search.index.versions.writers(key);
            let mut sorted: Vec<Placed> = writers.iter().map(placed).collect();
            sorted.sort_unstable_by_key(|version| version.position);
            sorted
        })
    }
}

impl Key<'_> {
    /// Moves past the writers before `reader`.
    fn pass(&mut self, reader: TxnId) {
        while self.writers.get(self.passed).is_some_and(|&writer| writer < reader) {
            self.passed += 1;
        }
    }
}

impl Pointers {
    /// Moves to what `reader` sees. Readers of one session come in session order.
    fn advance(
        &mut self,
        search: &EdgeSearch<'_>,
        clocks: &Clocks,
        writers: &[TxnId],
        reader: TxnId,
    ) {
        if !self.known {
            self.known = true;
            self.find_segments(search.index, clocks, writers);
        }
        let session = search.index.session_of(reader);
        if self.reader_session != Some(session) {
            self.reader_session = Some(session);
            self.restart(clocks, writers);
        }
        if clocks.exceeds(reader, &self.limits) {
            self.see_more(search, clocks, writers, reader);
        }
    }

    /// Nothing is seen.
    fn restart(&mut self, clocks: &Clocks, writers: &[TxnId]) {
        self.last = None;
        self.next.clear();
        self.next.extend(self.segments.iter().map(|(_, segment)| segment.start));
        self.limits.clear();
        self.limits.resize(count_of(clocks.sessions()), u32::MAX);
        for (session, segment) in &self.segments {
            self.limits[clocks.column(*session)] =
                clocks.place_in_session(*session, writers[segment.start as usize]);
        }
    }

    fn see_more(
        &mut self,
        search: &EdgeSearch<'_>,
        clocks: &Clocks,
        writers: &[TxnId],
        reader: TxnId,
    ) {
        let own = search.index.session_of(reader);
        for ((session, segment), next) in self.segments.iter().zip(&mut self.next) {
            // The clock of a transaction includes itself, but a transaction is no obstacle to its
            // own reads.
            let bound = if *session == own { reader } else { clocks.bound(*session, reader) };
            let before = *next;
            while *next < segment.end && writers[*next as usize] < bound {
                *next += 1;
            }
            if *next > before {
                self.last = search.later(self.last, Some(writers[*next as usize - 1]));
                let unseen = (*next < segment.end).then(|| writers[*next as usize]);
                self.limits[clocks.column(*session)] =
                    unseen.map_or(u32::MAX, |writer| clocks.place_in_session(*session, writer));
            }
        }
    }

    /// The last writer that is seen of each session that has one.
    fn last_of_each<'w>(&'w self, writers: &'w [TxnId]) -> impl Iterator<Item = TxnId> + 'w {
        let seen = self
            .segments
            .iter()
            .zip(&self.next)
            .filter(|((_, segment), next)| **next > segment.start);
        seen.map(|(_, &next)| writers[next as usize - 1])
    }

    fn find_segments(&mut self, index: &Index, clocks: &Clocks, writers: &[TxnId]) {
        let mut start = 0;
        for run in writers.chunk_by(|a, b| index.session_of(*a) == index.session_of(*b)) {
            let session = index.session_of(run[0]);
            if clocks.sessions().contains(&session) {
                self.segments.push((session, start..start + run.len() as u32));
            }
            start += run.len() as u32;
        }
    }
}
