//! Reads that wait for a person: the page of a running server shows them, and takes answers.

use seriatim_store::{Asker, Question, TxnName};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The reads that wait.
pub struct Questions {
    wait_max: Duration,
    inner: Mutex<Inner>,
    answered: Condvar,
}

#[derive(Default)]
struct Inner {
    next: u64,
    open: BTreeMap<u64, Pending>,
    is_closed: bool,
}

/// A read that waits.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub question: Question,
    pub since: Instant,
    answer: Option<Option<TxnName>>,
    /// Whether it must not wait any longer.
    is_given_up: bool,
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Questions({})", self.lock().open.len())
    }
}

impl Questions {
    /// Questions that wait for at most so long.
    pub fn new(wait_max: Duration) -> Questions {
        Questions { wait_max, inner: Mutex::default(), answered: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long each waits.
    pub(crate) fn wait_max(&self) -> Duration {
        self.wait_max
    }

    /// Those that wait now, oldest first.
    pub(crate) fn open(&self) -> Vec<(u64, Pending)> {
        self.lock().open.iter().map(|(&id, pending)| (id, pending.clone())).collect()
    }

    /// Answers one; whether it waits and has that version.
    pub(crate) fn answer(&self, id: u64, writer: Option<TxnName>) -> bool {
        let mut inner = self.lock();
        let Some(pending) = inner.open.get_mut(&id) else { return false };
        if !pending.question.versions.iter().any(|(of, _)| *of == writer) {
            return false;
        }
        pending.answer = Some(writer);
        self.answered.notify_all();
        true
    }

    /// Those that wait now get no answer.
    pub(crate) fn give_up(&self) {
        self.lock().open.values_mut().for_each(|pending| pending.is_given_up = true);
        self.answered.notify_all();
    }

    /// Nothing waits from now on.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.give_up();
    }
}

impl Asker for Questions {
    fn ask(&self, question: Question) -> Option<Option<TxnName>> {
        let mut inner = self.lock();
        if inner.is_closed {
            return None;
        }
        let (id, since) = (inner.next, Instant::now());
        inner.next += 1;
        let pending = Pending { question, since, answer: None, is_given_up: false };
        inner.open.insert(id, pending);
        loop {
            let left = self.wait_max.saturating_sub(since.elapsed());
            let is_over = |pending: &Pending| {
                pending.answer.is_some() || pending.is_given_up || left.is_zero()
            };
            if inner.open.get(&id).is_none_or(is_over) {
                return inner.open.remove(&id).and_then(|pending| pending.answer);
            }
            let waited = self.answered.wait_timeout(inner, left);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_isolation::Level;
    use seriatim_store::{Latest, Store};
    use std::sync::Arc;

    const LONG: Duration = Duration::from_secs(60);

    fn store(questions: &Arc<Questions>) -> Store<i64> {
        let store: Store<i64> =
            Store::<i64>::builder(Level::Causal).chooser(Latest).build().unwrap();
        store.set_asker(Arc::clone(questions) as Arc<dyn Asker>);
        store.load("x", 0);
        for value in 1..3 {
            let mut txn = store.session().begin().unwrap();
            txn.write("x", value).unwrap();
            txn.commit().unwrap();
        }
        store
    }

    /// What a session reads while `act` happens as soon as its question is there.
    fn read_while(questions: &Arc<Questions>, act: impl FnOnce(u64, &Store<i64>)) -> Option<i64> {
        let store = store(questions);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let session = store.session();
                let mut txn = session.begin().unwrap();
                let read = txn.read("x").unwrap();
                txn.commit().unwrap();
                read
            });
            let id = loop {
                match questions.open().first() {
                    Some((id, _)) => break *id,
                    None => std::thread::yield_now(),
                }
            };
            act(id, &store);
            reader.join().unwrap()
        })
    }

    #[test]
    fn a_read_waits_for_a_person_and_the_store_does_not() {
        let questions = Arc::new(Questions::new(LONG));
        let read = read_while(&questions, |id, store| {
            // Others go on meanwhile.
            let mut txn = store.session().begin().unwrap();
            txn.write("y", 7).unwrap();
            txn.commit().unwrap();
            let (_, pending) = &questions.open()[0];
            let values: Vec<_> =
                pending.question.versions.iter().map(|(_, value)| value.as_deref()).collect();
            assert_eq!(values, [Some("0"), Some("1"), Some("2")]);
            assert!(!questions.answer(id + 1, None), "nobody asks that");
            assert!(!questions.answer(id, Some(TxnName { session: 9, txn: 9 })), "no version");
            assert!(questions.answer(id, Some(TxnName { session: 0, txn: 0 })));
        });
        assert_eq!(read, Some(1));
        assert!(questions.open().is_empty());
    }

    #[test]
    fn without_an_answer_a_read_returns_the_latest_version() {
        let questions = Arc::new(Questions::new(Duration::from_millis(5)));
        let mut txn = store(&questions).session().begin().unwrap();
        assert_eq!(txn.read("x"), Ok(Some(2)));
        drop(txn);
        let questions = Arc::new(Questions::new(LONG));
        assert_eq!(read_while(&questions, |_, _| questions.close()), Some(2));
        // After that nothing waits at all.
        let mut txn = store(&questions).session().begin().unwrap();
        assert_eq!(txn.read("x"), Ok(Some(2)));
    }
}
