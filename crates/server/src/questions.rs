//! Reads that wait for a person: the page of a running server shows them, and takes answers.

use crate::waiting;
use seriatim_store::{Asker, Question, TxnName};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many reads may wait at a time; others return the latest version.
const OPEN_MAX: usize = 64;
/// So many transactions are known whose present statement asks no more.
const SPARED_MAX: usize = 1_000;
/// How often a read that waits looks whether its client still does.
const LOOK: Duration = Duration::from_millis(100);

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
    /// By session: the transaction and the number of the statement that asks no more.
    spared: BTreeMap<u32, (TxnName, u64)>,
    is_closed: bool,
    /// How many ask that nothing waits for now.
    pauses: usize,
}

/// What a person says to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The version of this writer, `None` for the initial one.
    Version(Option<TxnName>),
    /// The latest version, also at all other reads of this statement.
    LatestForStatement,
}

/// A read that waits.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub question: Arc<Question>,
    pub since: Instant,
    answer: Option<Answer>,
    /// Whether it must not wait any longer.
    is_given_up: bool,
}

impl Pending {
    fn is_over(&self) -> bool {
        self.answer.is_some() || self.is_given_up
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Questions({})", self.lock().open.len())
    }
}

impl Inner {
    fn spare(&mut self, question: &Question) {
        let Question { reader, statement_number, .. } = *question;
        self.spared.insert(reader.session, (reader, statement_number));
        if self.spared.len() > SPARED_MAX {
            // That of another session: those that ended are not told apart, and it asks again.
            let other = self.spared.keys().find(|&&session| session != reader.session).copied();
            if let Some(session) = other {
                self.spared.remove(&session);
            }
        }
    }

    fn asks(&self, question: &Question) -> bool {
        let spared = self.spared.get(&question.reader.session);
        let is_spared = spared == Some(&(question.reader, question.statement_number));
        !self.is_closed && self.pauses == 0 && self.open.len() < OPEN_MAX && !is_spared
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
        let inner = self.lock();
        let waiting = inner.open.iter().filter(|(_, pending)| !pending.is_over());
        waiting.map(|(&id, pending)| (id, pending.clone())).collect()
    }

    /// Answers one; whether it waits and has that version.
    pub(crate) fn answer(&self, id: u64, answer: Answer) -> bool {
        let mut inner = self.lock();
        let Some(pending) = inner.open.get_mut(&id).filter(|pending| !pending.is_over()) else {
            return false;
        };
        let question = Arc::clone(&pending.question);
        match answer {
            Answer::Version(writer) if !question.versions.iter().any(|(of, _)| *of == writer) => {
                return false;
            }
            Answer::Version(_) => pending.answer = Some(answer),
            Answer::LatestForStatement => {
                pending.answer = Some(answer);
                inner.spare(&question);
            }
        }
        self.answered.notify_all();
        true
    }

    /// Those that wait now get no answer.
    pub(crate) fn give_up(&self) {
        self.lock().open.values_mut().for_each(|pending| pending.is_given_up = true);
        self.answered.notify_all();
    }

    /// Until what is returned is dropped nothing waits.
    pub(crate) fn pause(&self) -> Pause<'_> {
        self.lock().pauses += 1;
        self.give_up();
        Pause(self)
    }

    /// Nothing waits from now on.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.give_up();
    }
}

/// While it is there nobody is asked.
pub(crate) struct Pause<'q>(&'q Questions);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.lock().pauses -= 1;
    }
}

impl Asker for Questions {
    fn ask(&self, question: Question) -> Option<Option<TxnName>> {
        let mut inner = self.lock();
        if !inner.asks(&question) {
            return None;
        }
        let (id, since) = (inner.next, Instant::now());
        inner.next += 1;
        let question = Arc::new(question);
        let pending = Pending { question, since, answer: None, is_given_up: false };
        inner.open.insert(id, pending);
        loop {
            let left = self.wait_max.saturating_sub(since.elapsed());
            let is_over = left.is_zero()
                || waiting::is_in_vain()
                || inner.open.get(&id).is_none_or(Pending::is_over);
            if is_over {
                return match inner.open.remove(&id)?.answer? {
                    Answer::Version(writer) => Some(writer),
                    Answer::LatestForStatement => None,
                };
            }
            let waited = self.answered.wait_timeout(inner, left.min(LOOK));
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
            let version = |session, txn| Answer::Version(Some(TxnName { session, txn }));
            assert!(!questions.answer(id + 1, Answer::Version(None)), "nobody asks that");
            assert!(!questions.answer(id, version(9, 9)), "no version");
            assert!(questions.answer(id, version(0, 0)));
            assert!(!questions.answer(id, Answer::Version(None)), "answered already");
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

    /// Reads keys one by one, and all that begin with a letter, on a thread of its own.
    fn reader<'s>(
        scope: &'s std::thread::Scope<'s, '_>,
        store: &'s Store<i64>,
        act: impl FnOnce(&mut seriatim_store::Txn<i64>) -> Vec<i64> + Send + 's,
    ) -> std::thread::ScopedJoinHandle<'s, Vec<i64>> {
        scope.spawn(move || {
            let session = store.session();
            let mut txn = session.begin().unwrap();
            let read = act(&mut txn);
            txn.commit().unwrap();
            read
        })
    }

    fn first(questions: &Questions) -> (u64, Pending) {
        loop {
            match questions.open().into_iter().next() {
                Some(found) => break found,
                None => std::thread::yield_now(),
            }
        }
    }

    #[test]
    fn a_statement_may_be_told_to_ask_no_more_and_the_next_one_asks_again() {
        let questions = Arc::new(Questions::new(LONG));
        let store = store(&questions);
        for (number, key) in ["k1", "k2", "k3"].into_iter().enumerate() {
            let mut txn = store.session().begin().unwrap();
            txn.write(key, number as i64).unwrap();
            txn.commit().unwrap();
        }
        std::thread::scope(|scope| {
            let reading = reader(scope, &store, |txn| {
                let scanned = txn.scan("k").unwrap().into_iter().map(|(_, value)| value);
                scanned.chain(txn.read("x").unwrap()).collect()
            });
            let (id, pending) = first(&questions);
            assert_eq!(pending.question.key, "k1");
            assert!(questions.answer(id, Answer::LatestForStatement));
            let (id, pending) = first(&questions);
            assert_eq!(pending.question.key, "x");
            assert!(questions.answer(id, Answer::Version(None)));
            assert_eq!(reading.join().unwrap(), [0, 1, 2, 0]);
        });
    }

    #[test]
    fn a_read_whose_client_has_left_waits_no_longer() {
        let questions = Arc::new(Questions::new(LONG));
        let store = store(&questions);
        let client = waiting::Waits::default();
        let interrupt = Arc::new(seriatim_sql::interrupt::Interrupt::default());
        std::thread::scope(|scope| {
            let (store, questions) = (&store, &questions);
            let work = client.work(|| store.session().begin().unwrap().read("x"));
            let of_http = scope.spawn(work);
            first(questions);
            drop(client);
            assert_eq!(of_http.join().unwrap(), Ok(Some(2)));
            let cancelled = Arc::clone(&interrupt);
            let of_sql = reader(scope, store, move |txn| {
                waiting::works_for(cancelled);
                txn.read("x").unwrap().into_iter().collect()
            });
            first(questions);
            interrupt.cancel();
            assert_eq!(of_sql.join().unwrap(), [2]);
        });
    }

    #[test]
    fn during_a_pause_nobody_is_asked() {
        let questions = Arc::new(Questions::new(LONG));
        let store = store(&questions);
        let pause = questions.pause();
        std::thread::scope(|scope| {
            let read = |txn: &mut seriatim_store::Txn<i64>| txn.read("x").unwrap().into_iter();
            let reading = reader(scope, &store, move |txn| read(txn).collect());
            assert_eq!(reading.join().unwrap(), [2]);
            drop(pause);
            let asked = reader(scope, &store, move |txn| read(txn).collect());
            first(&questions);
            questions.give_up();
            assert_eq!(asked.join().unwrap(), [2]);
        });
    }

    #[test]
    fn only_so_many_reads_wait_and_the_others_return_the_latest_version() {
        let questions = Arc::new(Questions::new(LONG));
        let store = store(&questions);
        std::thread::scope(|scope| {
            let read = |txn: &mut seriatim_store::Txn<i64>| {
                txn.read("x").unwrap().into_iter().collect::<Vec<i64>>()
            };
            let waiting: Vec<_> = (0..OPEN_MAX).map(|_| reader(scope, &store, read)).collect();
            while questions.open().len() < OPEN_MAX {
                std::thread::yield_now();
            }
            assert_eq!(reader(scope, &store, read).join().unwrap(), [2]);
            questions.give_up();
            waiting.into_iter().for_each(|it| assert_eq!(it.join().unwrap(), [2]));
        });
    }
}
