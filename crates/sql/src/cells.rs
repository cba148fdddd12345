//! What SQL asks of a transactional store of cells, and nothing else: the store may be a table in
//! memory, or a database that returns any version that its isolation level allows.
//!
//! A row is a number in its heap; whether it exists is column 0, and each of its columns is a cell.
//! A cell that no transaction has written yet has the value that it has in the heap's base, which
//! is the initial state.
//!
//! A scan also reads the absence of rows that come later. So rows stand in *groups*: all rows of a
//! heap, or those that have ever had a key in an index. Reading a group says that all rows that
//! enter it later were absent, and entering it is a write that overwrites this absence.

use crate::error::Result;
use crate::types::Datum;
use std::sync::Arc;

/// Where the rows of a table are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct HeapId(pub u32);

/// A row of a heap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RowNo(pub u32);

/// A key of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct KeyNo(pub u32);

/// A place that holds a value. Column 0 says whether the row exists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Cell {
    /// The heap.
    pub heap: HeapId,
    /// The row.
    pub row: RowNo,
    /// The column, from 1; [`Cell::EXISTENCE`].
    pub column: u16,
}

impl Cell {
    /// The column that says whether a row exists.
    pub const EXISTENCE: u16 = 0;
}

/// Rows that are read together, with those that will come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Group {
    /// All rows of a heap.
    Heap(HeapId),
    /// The rows that have ever had a key of an index (the heap that the index has for itself).
    Key(HeapId, KeyNo),
}

/// Which rows are meant.
#[derive(Clone, Copy, Debug)]
pub enum RowSet<'r> {
    /// All of the heap, which had so many a moment ago. What has come since, and is read, is
    /// returned as well: a row that a transaction has read must not be missing from its result.
    All(u32),
    /// These.
    These(&'r [RowNo]),
}

/// By which snapshots a transaction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snapshots {
    /// By none: each read returns what the store likes.
    None,
    /// Each statement has one.
    Statement,
    /// The transaction has one, from its first statement on.
    Transaction,
}

/// One transaction on a store of cells.
pub trait CellTxn: Send {
    /// A statement begins: it sees one version of each cell.
    fn begin_statement(&mut self, statement: &Statement<'_>) -> Result<()>;

    /// The present statement has returned this.
    fn end_statement(&mut self, _returned: &Returned<'_>) {}

    /// The value of a cell as this transaction may see it; `None` is its initial value.
    fn read(&mut self, cell: Cell) -> Result<Option<Datum>>;

    /// The same for a column of many rows: those that are not initial.
    fn read_column(
        &mut self,
        heap: HeapId,
        column: u16,
        rows: RowSet<'_>,
    ) -> Result<Vec<(RowNo, Datum)>>;

    /// All rows that enter the group from now on are absent for this transaction.
    fn read_group(&mut self, group: Group) -> Result<()>;

    /// A row enters a group.
    fn enter_group(&mut self, group: Group, row: RowNo) -> Result<()>;

    /// The latest committed value of a cell, or what this transaction wrote: what a lock shows.
    fn read_latest(&mut self, cell: Cell) -> Result<Option<Datum>>;

    /// The same for those who keep constraints: no read of the application.
    fn peek(&self, cell: Cell) -> Option<Datum>;

    /// Writes a cell.
    fn write(&mut self, cell: Cell, value: Datum) -> Result<()>;

    /// By which snapshots it reads.
    fn snapshots(&self) -> Snapshots {
        Snapshots::None
    }

    /// With snapshots: whether whoever locks and changes rows does so as in InnoDB, see
    /// `execute/innodb.rs`.
    fn is_innodb(&self) -> bool {
        false
    }

    /// With snapshots: whether others have changed a cell since.
    fn is_changed(&mut self, _cell: Cell) -> Result<bool> {
        Ok(false)
    }

    /// With snapshots: the value of a cell by the snapshot, for those who keep constraints.
    fn glimpse(&mut self, cell: Cell) -> Result<Option<Datum>> {
        Ok(self.peek(cell))
    }

    /// With snapshots: whether another transaction that is open has written a cell.
    fn is_pending(&self, _cell: Cell) -> bool {
        false
    }

    /// Whether the columns of a row that is new may be initial, so that only its existence is
    /// written. To other transactions that is the same, because they read no column of a row that
    /// does not exist for them; but the history does not tell who wrote the columns.
    fn takes_columns_as_initial(&self) -> bool {
        false
    }

    /// Where the transaction stands, for [`CellTxn::roll_back_to`].
    fn mark(&mut self) -> usize;

    /// Takes back what was written since.
    fn roll_back_to(&mut self, mark: usize);

    /// Got a lock: what its last exclusive holder committed is visible from now on, and what this
    /// one commits will be to the next holder, if it holds it exclusively.
    fn hand_over(&mut self, lock: Lock, exclusive: bool) -> Result<()>;

    /// Ends it.
    fn commit(self: Box<Self>) -> Result<()>;

    /// Ends it as if it had not been.
    fn abort(self: Box<Self>);
}

/// Something that is locked, as far as the store is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lock {
    /// A row.
    Row(HeapId, RowNo),
    /// A table or another object.
    Object(u32),
    /// A number that applications choose, and how it was given.
    Advisory(i64, bool),
}

/// What is told of a statement, for the history.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'s> {
    /// Its text.
    pub text: &'s str,
    /// Its parameters, as text.
    pub params: &'s [Option<String>],
    /// Whether its client wants to read the newest versions.
    pub latest: bool,
    /// How it reads.
    pub reads: Reads,
}

/// How a statement reads, where that depends on what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// By the snapshot.
    Snapshot,
    /// What it locks, as it is then.
    Locked,
}

/// What is told of the result of a statement, for the history.
#[derive(Clone, Copy, Debug)]
pub enum Returned<'s> {
    /// Rows: how many, and the first of them as text.
    Rows(u64, &'s [Vec<Option<String>>]),
    /// What was done: `UPDATE 1`.
    Done(&'s str),
}

/// How a transaction is to run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum TxnLevel {
    /// READ UNCOMMITTED
    ReadUncommitted,
    /// READ COMMITTED
    #[default]
    ReadCommitted,
    /// REPEATABLE READ
    RepeatableRead,
    /// SERIALIZABLE
    Serializable,
}

/// The transactions of one connection, one at a time.
pub trait CellSession: Send {
    /// Its number in the store, as histories call it.
    fn number(&self) -> u32 {
        0
    }

    /// Begins one, at the level that was asked for if one was.
    fn begin(&mut self, level: Option<TxnLevel>) -> Result<Box<dyn CellTxn>>;

    /// What the client asks next has arrived. Matters to stores in which time does.
    fn arrived(&mut self) {}

    /// The client is about to be answered.
    fn answered(&mut self) {}
}

/// A store of cells.
pub trait CellStore: Send + Sync + std::fmt::Debug {
    /// A new connection.
    fn session(&self) -> Box<dyn CellSession>;

    /// Where values go that the store does not want to remember: from then on they are initial. A
    /// store that remembers everything has no use for it.
    fn set_base(&self, _base: Arc<dyn Base>) {}

    /// What cells are called in histories. A store that keeps none has no use for it.
    fn set_names(&self, _names: Arc<dyn Names>) {}
}

/// Keeps the initial values of cells.
pub trait Base: Send + Sync {
    /// These are initial from now on. Is called while the store is locked, and asks it nothing.
    fn settle(&self, cells: Vec<(Cell, Datum)>);

    /// What a cell holds initially; nothing of a row that does not exist initially. Is called while
    /// the store is locked, and asks it nothing.
    fn initial(&self, cell: Cell) -> Option<Datum>;
}

/// What things are called in histories. No two have the same name, and names do not change.
pub trait Names: Send + Sync {
    /// All rows of a table, or a column of them: `item`, `item.stock`.
    fn column(&self, heap: HeapId, column: u16) -> String;

    /// A cell: `item[7].stock`, and for its existence `item[7]`.
    fn cell(&self, cell: Cell) -> String;

    /// The rows that have ever had a key of an index: `item(name='x')`.
    fn key(&self, index: HeapId, key: KeyNo) -> String;

    /// A table or another object that is locked.
    fn object(&self, oid: u32) -> String;
}
