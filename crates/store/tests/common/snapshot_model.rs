//! What one node of PostgreSQL does, said literally: a whole copy of the state for each commit.

use seriatim_isolation::Level;
use std::collections::{BTreeMap, BTreeSet};

/// Members of one group, with what they hold.
pub type State = BTreeMap<u32, u64>;

/// What a client does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    Read(u32),
    Scan,
    Write(u32, u64),
    Commit,
}

/// What it is told.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Told {
    State(State),
    Done,
    Failed,
}

/// Goes through all sequences of decisions.
#[derive(Default)]
pub struct Decisions {
    path: Vec<(usize, usize)>,
    depth: usize,
}

impl Decisions {
    pub fn decide(&mut self, options: usize) -> usize {
        if self.depth == self.path.len() {
            self.path.push((0, options));
        }
        self.depth += 1;
        self.path[self.depth - 1].0
    }

    pub fn advance(&mut self) -> bool {
        self.depth = 0;
        while self.path.pop_if(|(taken, options)| *taken + 1 >= *options).is_some() {}
        let Some(last) = self.path.last_mut() else { return false };
        last.0 += 1;
        true
    }
}

#[derive(Clone)]
struct Txn {
    level: Level,
    /// The position of its snapshot, and the least one that its answers prove.
    snapshot: Option<(usize, usize)>,
    own: State,
    read: BTreeSet<u32>,
}

struct Commit {
    txn: Txn,
    /// The state behind it.
    state: State,
}

#[derive(Default)]
struct Client {
    arrival: usize,
    seen: usize,
    txn: Option<Txn>,
    failed: bool,
}

/// How many members there may be: what a scan reads.
pub const MEMBERS: u32 = 3;

/// The model.
pub struct Model<'d> {
    pub decisions: &'d mut Decisions,
    commits: Vec<Commit>,
    clients: Vec<Client>,
    acknowledged: usize,
}

impl Model<'_> {
    pub fn new(decisions: &mut Decisions, clients: usize) -> Model<'_> {
        let clients = (0..clients).map(|_| Client::default()).collect();
        Model { decisions, commits: Vec::new(), clients, acknowledged: 0 }
    }

    pub fn arrived(&mut self, client: usize) {
        self.clients[client].arrival = self.acknowledged;
    }

    pub fn answered(&mut self, client: usize) {
        let client = &mut self.clients[client];
        let proven = client.txn.as_ref().and_then(|txn| txn.snapshot).map_or(0, |(_, it)| it);
        client.seen = client.seen.max(proven);
        self.acknowledged = self.acknowledged.max(client.seen);
    }

    fn state(&self, position: usize) -> State {
        position.checked_sub(1).map_or(State::new(), |last| self.commits[last].state.clone())
    }

    /// The first position that shows what `position` shows of a member.
    fn since(&self, member: u32, position: usize) -> usize {
        let before = self.commits[..position].iter();
        before.clone().rposition(|it| it.txn.own.contains_key(&member)).map_or(0, |it| it + 1)
    }

    pub fn run(&mut self, number: usize, level: Level, op: Op) -> Told {
        let client = &mut self.clients[number];
        let mut txn = client.txn.take().unwrap_or(Txn {
            level,
            snapshot: None,
            own: State::new(),
            read: BTreeSet::new(),
        });
        if op != Op::Commit && (level == Level::ReadCommitted || txn.snapshot.is_none()) {
            let (bound, now) = (client.arrival.max(client.seen), self.commits.len());
            let free = if client.failed { 1 } else { now - bound + 1 };
            let position = if client.failed { now } else { bound + self.decisions.decide(free) };
            txn.snapshot = Some((position, bound));
        }
        match self.act(&mut txn, op) {
            Some(told) => {
                let client = &mut self.clients[number];
                if op == Op::Commit {
                    (client.failed, client.seen) = (false, self.commits.len() + 1);
                    let mut state = self.state(self.commits.len());
                    state.extend(txn.own.clone());
                    self.commits.push(Commit { txn, state });
                } else {
                    client.txn = Some(txn);
                }
                told
            }
            None => {
                let client = &mut self.clients[number];
                (client.failed, client.seen) = (true, self.commits.len());
                Told::Failed
            }
        }
    }

    fn act(&self, txn: &mut Txn, op: Op) -> Option<Told> {
        // One that commits at once has a snapshot that shows everything.
        let (position, proven) = txn.snapshot.unwrap_or((self.commits.len(), self.commits.len()));
        let see = |txn: &mut Txn, member: u32| {
            if !txn.own.contains_key(&member) {
                txn.read.insert(member);
                let (_, proven) = txn.snapshot.unwrap_or((position, proven));
                txn.snapshot = Some((position, proven.max(self.since(member, position))));
            }
        };
        let mut visible = self.state(position);
        visible.extend(txn.own.clone());
        match op {
            Op::Read(member) => {
                see(txn, member);
                visible.retain(|it, _| *it == member);
                Some(Told::State(visible))
            }
            Op::Scan => {
                (0..MEMBERS).for_each(|member| see(txn, member));
                Some(Told::State(visible))
            }
            Op::Write(member, value) => {
                if txn.level != Level::ReadCommitted && !txn.own.contains_key(&member) {
                    if self.is_changed(member, position) {
                        return None;
                    }
                    let proven = proven.max(self.since(member, position));
                    txn.snapshot = Some((position, proven));
                }
                txn.own.insert(member, value);
                Some(Told::Done)
            }
            Op::Commit => {
                let lost = |&member: &u32| self.is_changed(member, position);
                let may = match txn.level {
                    Level::ReadCommitted => true,
                    Level::SnapshotIsolation => !txn.own.keys().any(lost),
                    _ => !txn.own.keys().any(lost) && !self.closes_cycle(txn),
                };
                may.then_some(Told::Done)
            }
        }
    }

    fn is_changed(&self, member: u32, position: usize) -> bool {
        self.commits[position..].iter().any(|it| it.txn.own.contains_key(&member))
    }

    /// Whether the serializable transactions with this one have a cycle of dependencies and of
    /// snapshots that show what was committed before.
    fn closes_cycle(&self, last: &Txn) -> bool {
        let all: Vec<&Txn> = self.commits.iter().map(|it| &it.txn).chain([last]).collect();
        let now = all.len() - 1;
        let snapshot = |txn: &Txn| txn.snapshot.map_or(now, |(_, proven)| proven);
        let edge = |from: usize, to: usize| {
            let (a, b) = (all[from], all[to]);
            let both = |one: &State, other: &State| one.keys().any(|it| other.contains_key(it));
            let overwritten = snapshot(a) <= to && a.read.iter().any(|it| b.own.contains_key(it));
            let read = from < snapshot(b) && b.read.iter().any(|it| a.own.contains_key(it));
            let ww = from < to && both(&a.own, &b.own);
            overwritten || read || ww || from < snapshot(b)
        };
        let nodes: Vec<usize> =
            (0..all.len()).filter(|&it| all[it].level == Level::Serializable).collect();
        let (mut found, mut todo) = (BTreeSet::new(), vec![now]);
        while let Some(from) = todo.pop() {
            let next = nodes.iter().filter(|&&to| to != from && edge(from, to));
            todo.extend(next.copied().filter(|&to| found.insert(to)).collect::<Vec<_>>());
        }
        found.contains(&now)
    }
}
