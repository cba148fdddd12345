//! Recording what an application does: its own client stays what it is, and each call of it is
//! told to a recorder.

use crate::driver::Sent;
use crate::record::{Outcome, RecordedTxn, Recorder};
use serde_json::{Value, json};
use std::fmt::Display;

impl Recorder {
    /// A session of the application: transactions, one after the other, on one connection. Each
    /// session has a name of its own. A connection that was made again is another session.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// # #[derive(Default)]
    /// # struct Shop(BTreeMap<&'static str, i64>);
    /// # impl Shop {
    /// #     fn begin(&mut self) {}
    /// #     fn get(&mut self, key: &str) -> Option<i64> { self.0.get(key).copied() }
    /// #     fn set(&mut self, key: &'static str, value: i64) { self.0.insert(key, value); }
    /// #     fn commit(&mut self) -> Result<(), String> { Ok(()) }
    /// # }
    /// use seriatim_audit::Recorder;
    /// use serde_json::json;
    ///
    /// let path = std::env::temp_dir().join(format!("shop-{}.jsonl", std::process::id()));
    /// let recorder = Recorder::new(&path, &json!({ "source": "the shop" }))?;
    ///
    /// let mut client = Shop::default();
    /// let mut session = recorder.session("ann");
    /// for _ in 0..2 {
    ///     let mut txn = session.begin();
    ///     client.begin();
    ///     txn.statement("SELECT stock FROM item WHERE id = 7");
    ///     let stock = txn.read("item 7", client.get("item 7"));
    ///     // Before it is sent: it may have been done, whatever is answered.
    ///     txn.statement("UPDATE item SET stock = $1 WHERE id = 7");
    ///     txn.write("item 7", stock.unwrap_or(10) - 1);
    ///     client.set("item 7", stock.unwrap_or(10) - 1);
    ///     match client.commit() {
    ///         Ok(()) => txn.commit(),
    ///         // An error that does not say so leaves open whether it happened.
    ///         Err(error) if error.contains("rolled back") => txn.abort(),
    ///         Err(_) => txn.unknown(),
    ///     }
    /// }
    /// recorder.finish().expect("all of it is on disk");
    ///
    /// // `seriatim check shop.jsonl` says which levels it fits; and so does the library:
    /// # use seriatim_history::formats::{ReadOptions, read_bytes};
    /// # use seriatim_check::Checker;
    /// let bytes = std::fs::read(&path)?;
    /// let (history, _) = read_bytes(&bytes, "shop.jsonl", &ReadOptions::default())?;
    /// let report = Checker::new().check(&history);
    /// assert!(report.anomalies.is_empty());
    /// assert_eq!(history.txn_count(), 2);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn session(&self, name: impl Display) -> SessionRecorder<'_> {
        SessionRecorder { recorder: self, name: name.to_string() }
    }
}

/// Records a session of an application.
#[derive(Debug)]
pub struct SessionRecorder<'r> {
    recorder: &'r Recorder,
    name: String,
}

impl SessionRecorder<'_> {
    /// A transaction, which begins before the client is told to begin it.
    pub fn begin(&mut self) -> TxnRecorder<'_> {
        let begin = self.recorder.now();
        self.recorder.open();
        let (recorder, session) = (self.recorder, self.name.as_str());
        let (ops, statements) = (Vec::new(), Vec::new());
        TxnRecorder { recorder, session, begin, ops, statements, is_over: false }
    }
}

/// Records a transaction. One that is dropped before its end is told has an unknown outcome.
#[derive(Debug)]
pub struct TxnRecorder<'s> {
    recorder: &'s Recorder,
    session: &'s str,
    begin: u64,
    ops: Vec<Value>,
    /// Statements, and how many operations came before each.
    statements: Vec<(String, usize)>,
    is_over: bool,
}

impl TxnRecorder<'_> {
    /// What is told from now on belongs to this statement, which explanations will show.
    pub fn statement(&mut self, text: impl Display) {
        self.statements.push((text.to_string(), self.ops.len()));
    }

    /// What was read of a key, which is handed back; nothing is what was there before everything.
    pub fn read<V: Clone + Into<Value>>(
        &mut self,
        key: impl Display,
        value: Option<V>,
    ) -> Option<V> {
        let found = value.clone().map_or(Value::Null, Into::into);
        self.ops.push(json!(["r", key.to_string(), found]));
        value
    }

    /// What is about to be written to a key. A checker wants to know which write a read has seen:
    /// the more different values are, the more is found.
    pub fn write(&mut self, key: impl Display, value: impl Into<Value>) {
        self.ops.push(json!(["w", key.to_string(), value.into()]));
    }

    /// The elements of a list that was read.
    pub fn read_list<V: Into<Value>>(
        &mut self,
        key: impl Display,
        elements: impl IntoIterator<Item = V>,
    ) {
        let elements: Vec<Value> = elements.into_iter().map(Into::into).collect();
        self.ops.push(json!(["r", key.to_string(), elements]));
    }

    /// An element that is about to be appended to a list.
    pub fn append(&mut self, key: impl Display, element: impl Into<Value>) {
        self.ops.push(json!(["append", key.to_string(), element.into()]));
    }

    /// It committed: the client has said so.
    pub fn commit(mut self) {
        self.end(Outcome::Committed);
    }

    /// It has no effect: it was taken back, or refused.
    pub fn abort(mut self) {
        self.end(Outcome::Aborted);
    }

    /// Nobody knows what became of it: the connection was lost while it was committed.
    pub fn unknown(mut self) {
        self.end(Outcome::Unknown);
    }

    fn end(&mut self, outcome: Outcome) {
        self.is_over = true;
        let ops = std::mem::take(&mut self.ops);
        let mut ends: Vec<usize> = self.statements.iter().skip(1).map(|(_, at)| *at).collect();
        ends.push(ops.len());
        let statements = std::mem::take(&mut self.statements).into_iter().zip(ends);
        let mut statements: Vec<(Sent, usize)> = statements
            .map(|((text, first), end)| (Sent { text, rows: None }, end - first))
            .collect();
        // What came before the first statement belongs to none.
        let told: usize = statements.iter().map(|(_, count)| count).sum();
        if told < ops.len() && !statements.is_empty() {
            statements.insert(0, (Sent::default(), ops.len() - told));
        }
        let (begin, end) = (self.begin, self.recorder.now());
        let session = self.session.to_owned();
        self.recorder.record(&RecordedTxn { session, begin, end, outcome, ops, statements });
        self.recorder.close();
    }
}

impl Drop for TxnRecorder<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(Outcome::Unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::again::RecordedRound;
    use seriatim_history::Status;

    fn recorded(work: impl Fn(&mut SessionRecorder<'_>)) -> seriatim_history::History {
        let recorder = Recorder::of_rounds(None, &json!({}), String::new()).unwrap();
        work(&mut recorder.session("ann"));
        RecordedRound::new(0, recorder.take_round()).history().unwrap()
    }

    #[test]
    fn a_transaction_that_nobody_ends_has_an_unknown_outcome() {
        let history = recorded(|session| {
            session.begin().write("x", 1);
            let mut txn = session.begin();
            txn.append("l", 2);
            txn.read_list("l", [2]);
            txn.abort();
        });
        let found: Vec<Status> = history.txns().map(|txn| history.status(txn)).collect();
        assert_eq!(found, [Status::Unknown, Status::Aborted]);
    }

    #[test]
    fn operations_belong_to_the_statement_before_them() {
        let history = recorded(|session| {
            let mut txn = session.begin();
            assert_eq!(txn.read("x", None::<i64>), None);
            txn.statement("first");
            txn.write("x", 1);
            txn.write("y", 2);
            txn.statement("second");
            txn.commit();
        });
        let statements = history.statements().iter();
        let texts: Vec<&str> = statements.map(|statement| &*statement.content.text).collect();
        assert_eq!(texts, ["first", "second"]);
        let op = history.txns().flat_map(|txn| history.ops_of(txn)).nth(2).unwrap();
        let found = history.statement_of(seriatim_history::OpId(op)).unwrap();
        assert_eq!(&*found.content.text, "first");
    }
}
