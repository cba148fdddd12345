//! Rows that come while a statement looks for them: whatever the store takes for there must be
//! found.

mod common;

use common::{connect, run};
use seriatim_sql::cells::{
    Cell, CellSession, CellStore, CellTxn, Group, HeapId, Lock, RowNo, RowSet, Statement, TxnLevel,
};
use seriatim_sql::database::Cluster;
use seriatim_sql::error::Result;
use seriatim_sql::memory::Memory;
use seriatim_sql::types::Datum;
use std::fmt;
use std::sync::{Arc, Mutex};

type Event = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// A store where something happens when next somebody reads what an index has for a key, or a whole
/// column.
#[derive(Clone)]
struct Eventful {
    inner: Arc<Memory>,
    event: Event,
}

impl fmt::Debug for Eventful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Eventful")
    }
}

impl CellStore for Eventful {
    fn session(&self) -> Box<dyn CellSession> {
        Box::new(EventfulSession { inner: self.inner.session(), event: Arc::clone(&self.event) })
    }
}

struct EventfulSession {
    inner: Box<dyn CellSession>,
    event: Event,
}

impl CellSession for EventfulSession {
    fn begin(&mut self, level: Option<TxnLevel>) -> Result<Box<dyn CellTxn>> {
        let inner = self.inner.begin(level)?;
        Ok(Box::new(EventfulTxn { inner, event: Arc::clone(&self.event) }))
    }
}

struct EventfulTxn {
    inner: Box<dyn CellTxn>,
    event: Event,
}

impl EventfulTxn {
    fn happen(&self) {
        let event = self.event.lock().unwrap().take();
        if let Some(event) = event {
            event();
        }
    }
}

impl CellTxn for EventfulTxn {
    fn begin_statement(&mut self, statement: &Statement<'_>) -> Result<()> {
        self.inner.begin_statement(statement)
    }

    fn read(&mut self, cell: Cell) -> Result<Option<Datum>> {
        self.inner.read(cell)
    }

    fn read_column(
        &mut self,
        heap: HeapId,
        column: u16,
        rows: RowSet<'_>,
    ) -> Result<Vec<(RowNo, Datum)>> {
        if matches!(rows, RowSet::All(_)) {
            self.happen();
        }
        self.inner.read_column(heap, column, rows)
    }

    fn read_group(&mut self, group: Group) -> Result<()> {
        if matches!(group, Group::Key(..)) {
            self.happen();
        }
        self.inner.read_group(group)
    }

    fn enter_group(&mut self, group: Group, row: RowNo) -> Result<()> {
        self.inner.enter_group(group, row)
    }

    fn read_latest(&mut self, cell: Cell) -> Result<Option<Datum>> {
        self.inner.read_latest(cell)
    }

    fn peek(&self, cell: Cell) -> Option<Datum> {
        self.inner.peek(cell)
    }

    fn write(&mut self, cell: Cell, value: Datum) -> Result<()> {
        self.inner.write(cell, value)
    }

    fn mark(&mut self) -> usize {
        self.inner.mark()
    }

    fn roll_back_to(&mut self, mark: usize) {
        self.inner.roll_back_to(mark);
    }

    fn hand_over(&mut self, lock: Lock, exclusive: bool) -> Result<()> {
        self.inner.hand_over(lock, exclusive)
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.inner.commit()
    }

    fn abort(self: Box<Self>) {
        self.inner.abort();
    }
}

/// What a query finds among the bookings 1 and, from the moment on when the store is asked, 2.
fn found(query: &str) -> String {
    let event = Event::default();
    let store = Eventful { inner: Arc::default(), event: Arc::clone(&event) };
    let cluster = Arc::new(Cluster::new(Arc::new(store)));
    let (mut reader, mut writer) = (connect(&cluster), connect(&cluster));
    run(&mut reader, "CREATE TABLE booking (id int PRIMARY KEY, room int)");
    run(&mut reader, "CREATE INDEX ON booking (room)");
    run(&mut reader, "INSERT INTO booking VALUES (1, 7)");
    *event.lock().unwrap() = Some(Box::new(move || {
        assert_eq!(run(&mut writer, "INSERT INTO booking VALUES (2, 7)"), "INSERT 0 1");
    }));
    let found = run(&mut reader, query);
    assert!(event.lock().unwrap().is_none(), "nothing was looked for");
    found
}

#[test]
fn a_row_that_comes_just_before_its_key_is_read_is_found() {
    assert_eq!(found("SELECT id FROM booking WHERE room = 7"), "1\n2");
}

#[test]
fn a_row_that_comes_just_before_the_table_is_read_is_found() {
    assert_eq!(found("SELECT id FROM booking"), "1\n2");
    assert_eq!(found("SELECT count(*) FROM booking"), "2");
}
