//! Causal pasts: how far into each session what a transaction has seen reaches.

/// The source of reads that no write explains: the initial transaction.
pub(crate) const INITIAL: u32 = u32::MAX;

/// A causal past: for each session how many of its committed transactions are in it, by session,
/// without those of which none is. Sessions of which everything is settled may be missing, too.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Past(Vec<(u32, u32)>);

impl Past {
    #[inline]
    pub fn of(&self, session: u32) -> u32 {
        self.place(session).map_or(0, |place| self.0[place].1)
    }

    fn place(&self, session: u32) -> Result<usize, usize> {
        // Without a horizon the sessions are mostly all there.
        match self.0.get(session as usize) {
            Some(&(other, _)) if other == session => Ok(session as usize),
            _ => self.0.binary_search_by_key(&session, |&(other, _)| other),
        }
    }

    /// Adds another past; whether that is something new.
    pub fn join(&mut self, other: &Past) -> bool {
        let is_like = self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(mine, theirs)| mine.0 == theirs.0);
        if !is_like {
            return other
                .0
                .iter()
                .fold(false, |new, &(session, count)| self.reach(session, count) | new);
        }
        let mut new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= mine.1 < theirs.1;
            mine.1 = mine.1.max(theirs.1);
        }
        new
    }

    /// How many transactions are in it.
    pub fn size(&self) -> u64 {
        self.0.iter().map(|&(_, count)| u64::from(count)).sum()
    }

    /// Whether a session other than `own` has a part in it.
    pub fn has_others(&self, own: u32) -> bool {
        self.0.iter().any(|&(session, count)| session != own && count > 0)
    }

    /// Adds the first `count` transactions of `session`; whether that is something new.
    pub fn reach(&mut self, session: u32, count: u32) -> bool {
        match self.place(session) {
            Ok(place) if self.0[place].1 >= count => return false,
            Ok(place) => self.0[place].1 = count,
            Err(_) if count == 0 => return false,
            Err(place) => self.0.insert(place, (session, count)),
        }
        true
    }

    /// Leaves sessions out that do not matter any more.
    pub fn retain(&mut self, matters: impl Fn(u32) -> bool) {
        self.0.retain(|&(session, _)| matters(session));
        self.0.shrink_to_fit();
    }
}
