//! The store as a store of cells for SQL: reads return any version that the level allows, or what
//! one node of a server could return.
//!
//! A column of a table is a group of keys, and so is whether its rows exist; a row is a member. The
//! rows that have ever had a key of an index are a group, too, which is only there to be entered. A
//! lock is a key that its holders read and write, so that what a holder committed is visible to the
//! next one by the axioms alone. On a node locks are no keys: what is visible follows from
//! snapshots.

use crate::config::Config;
use crate::picks::Picks;
use serde::{Serialize, Serializer};
use seriatim_history::{StatementContent, advisory_lock, lock_of};
use seriatim_isolation::{Level, Order};
use seriatim_sql::catalog::HeapId;
use seriatim_sql::cells::{
    Base, Cell, CellSession, CellStore, CellTxn, Group, KeyNo, Lock, Names, Reads, Returned, RowNo,
    RowSet, Snapshots, Statement, TxnLevel,
};
use seriatim_sql::error::code;
use seriatim_sql::functions::{Call, Style};
use seriatim_sql::settings::Settings;
use seriatim_sql::types::{Field, TypeKind, TypeLookup};
use seriatim_sql::{Datum, Oid, SqlError};
use seriatim_store::{
    Asker, Atom, Choice, Chooser, Glance, Node, Session, SettledCell, Store, StoreError, ToAtom,
    Txn, TxnName, json_atom,
};
use std::fmt;
use std::sync::{Arc, OnceLock};

type Result<T> = seriatim_sql::Result<T>;

/// A store for SQL, as a server is configured. On a node, transactions that ask for no level are at
/// the level of the configuration, too: PostgreSQL's default is read committed.
pub fn open(config: &Config, forced: bool) -> std::result::Result<StoreCells, StoreError> {
    with_chooser(config, Picks::new(config.chooser, config.seed).chooser(), forced)
}

/// The same with another chooser than the one of the configuration.
pub fn with_chooser(
    config: &Config,
    chooser: Box<dyn Chooser>,
    forced: bool,
) -> std::result::Result<StoreCells, StoreError> {
    let mut builder = Store::<CellValue>::builder(config.level)
        .chooser(chooser)
        .clock(seriatim_store::Clock::Monotonic)
        .order(config.order);
    // Every SQL server shows a connection what it has committed itself.
    if config.order != Order::None {
        builder = builder.sessions_at_rc();
    }
    if let Some(node) = config.node {
        builder = builder.node(node);
    }
    if let Some(horizon) = config.horizon {
        builder = builder.horizon(horizon);
    }
    if let Some(turns) = &config.turns {
        builder = builder.in_turn(turns.clone(), config.turn_wait_max);
    }
    if config.serial {
        builder = builder.serial(config.turn_wait_max);
    }
    let store = builder.build()?;
    if let Some(questions) = &config.questions {
        store.set_asker(Arc::clone(questions) as Arc<dyn Asker>);
    }
    Ok(StoreCells::new(store, forced))
}

/// What a cell holds, in a history.
#[derive(Clone, Debug)]
pub struct CellValue(pub Datum);

impl ToAtom for CellValue {
    fn to_atom(&self) -> Atom {
        json_atom(self)
    }
}

impl Serialize for CellValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.0 {
            Datum::Null => serializer.serialize_str("NULL"),
            Datum::Bool(value) => serializer.serialize_bool(*value),
            Datum::Int2(value) => serializer.serialize_i16(*value),
            Datum::Int4(value) => serializer.serialize_i32(*value),
            Datum::Int8(value) => serializer.serialize_i64(*value),
            Datum::Text(text) => serializer.serialize_str(text),
            other => serializer.serialize_str(&shown(other)),
        }
    }
}

/// A value as text, without a session.
fn shown(value: &Datum) -> String {
    let style: Style = Settings::default().style(0, 0);
    let call = Call { args: &[], result: Oid::TEXT, style: &style, types: &NoTypes };
    let ty = match value {
        Datum::Timestamp(_) => Oid::TIMESTAMP,
        Datum::Date(_) => Oid::DATE,
        Datum::Numeric(_) => Oid::NUMERIC,
        _ => Oid::TEXT,
    };
    seriatim_sql::types::output(value, ty, &call)
}

/// Built-in types only.
struct NoTypes;

impl TypeLookup for NoTypes {
    fn kind(&self, _: Oid) -> Option<TypeKind> {
        Some(TypeKind::Composite(Arc::from(Vec::<Field>::new())))
    }
    fn type_name(&self, ty: Oid, _: i32) -> String {
        ty.to_string()
    }
    fn array_of(&self, _: Oid) -> Option<Oid> {
        None
    }
    fn reg_in(&self, _: Oid, _: &str) -> Result<u32> {
        Ok(0)
    }
    fn reg_out(&self, _: Oid, value: u32) -> String {
        value.to_string()
    }
    fn check_domain(&self, _: Oid, _: &Datum) -> Result<()> {
        Ok(())
    }
}

/// The store, for SQL.
pub struct StoreCells {
    store: Store<CellValue>,
    /// Whether the level of the store holds whatever transactions ask for.
    forced: bool,
    /// Who keeps the initial values of tables.
    base: OnceLock<Arc<dyn Base>>,
}

impl fmt::Debug for StoreCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreCells({:?})", self.store)
    }
}

impl StoreCells {
    /// SQL on this store. Transactions that ask for no level get the store's; `forced` gives it to
    /// all.
    pub fn new(store: Store<CellValue>, forced: bool) -> StoreCells {
        StoreCells { store, forced, base: OnceLock::new() }
    }
}

impl StoreCells {
    /// What has happened so far.
    pub fn history(&self) -> seriatim_history::History {
        self.store.history_on(|group, member| {
            let Kind::Column(heap, column) = Kind::of(group) else { return None };
            let cell = Cell { heap, row: RowNo(member), column };
            self.base.get()?.initial(cell).map(CellValue)
        })
    }

    /// What goes on right now, of the last transactions.
    pub fn glance(&self, txns_max: usize, ops_max: usize) -> Glance {
        self.store.glance(txns_max, ops_max)
    }

    /// The version that each read got, and for each the number of its statement in its
    /// transaction.
    pub fn choices(&self) -> Vec<(Choice, u32)> {
        self.store.choices().into_iter().zip(self.store.choice_statements()).collect()
    }

    /// The transaction of each statement, in the order in which they began.
    pub fn statement_order(&self) -> Vec<TxnName> {
        self.store.statement_order()
    }

    /// Who picks versions from now on.
    pub fn set_chooser(&self, chooser: impl Chooser + 'static) {
        self.store.set_chooser(chooser);
    }
}

impl CellStore for StoreCells {
    fn session(&self) -> Box<dyn CellSession> {
        Box::new(StoreSession {
            session: self.store.session(),
            store: self.store.clone(),
            forced: self.forced,
        })
    }

    fn set_base(&self, base: Arc<dyn Base>) {
        // A store has one keeper all its life.
        let _ = self.base.set(Arc::clone(&base));
        self.store.set_base(move |cells| base.settle(cells.into_iter().filter_map(cell).collect()));
    }

    fn set_names(&self, names: Arc<dyn Names>) {
        let of_groups = Arc::clone(&names);
        self.store.set_member_names(
            move |group, member| Kind::of(group).name(&*names, Some(member)),
            move |group| Kind::of(group).name(&*of_groups, None),
        );
    }
}

/// The cell of a table that a member is. Entries of indexes and locks are none: nothing asks what
/// they hold.
fn cell(settled: SettledCell<CellValue>) -> Option<(Cell, Datum)> {
    let Kind::Column(heap, column) = Kind::of(settled.group) else { return None };
    Some((Cell { heap, row: RowNo(settled.member), column }, settled.value?.0))
}

struct StoreSession {
    session: Session<CellValue>,
    store: Store<CellValue>,
    forced: bool,
}

impl CellSession for StoreSession {
    fn number(&self) -> u32 {
        self.session.number()
    }

    fn begin(&mut self, level: Option<TxnLevel>) -> Result<Box<dyn CellTxn>> {
        let asked_level = level;
        let asked = level.filter(|_| !self.forced).map(|level| match level {
            TxnLevel::ReadUncommitted | TxnLevel::ReadCommitted => Level::ReadCommitted,
            TxnLevel::RepeatableRead => Level::SnapshotIsolation,
            TxnLevel::Serializable => Level::Serializable,
        });
        let level = asked.unwrap_or_else(|| self.store.level());
        let txn = self.session.begin_at(level).map_err(told)?;
        let node = txn.node();
        let snapshots = match (node, level) {
            (None, _) => Snapshots::None,
            // InnoDB keeps the snapshot of a transaction, but writes beside it.
            (Some(Node::Mysql), _) | (_, Level::ReadCommitted) => Snapshots::Statement,
            (Some(_), _) => Snapshots::Transaction,
        };
        let is_innodb = node == Some(Node::Mysql);
        let is_dirty = is_innodb && !self.forced && asked_level == Some(TxnLevel::ReadUncommitted);
        let forgets = self.store.has_horizon();
        Ok(Box::new(StoreTxn { txn, snapshots, forgets, is_innodb, is_dirty }))
    }

    fn arrived(&mut self) {
        self.session.arrived();
    }

    fn answered(&mut self) {
        self.session.answered();
    }
}

/// What the client is told.
fn told(error: StoreError) -> SqlError {
    match error {
        StoreError::SerializationFailure(_) => SqlError::new(
            code::SERIALIZATION_FAILURE,
            "could not serialize access due to read/write dependencies among transactions",
        )
        .hint("The transaction might succeed if retried."),
        StoreError::ConcurrentUpdate => SqlError::new(
            code::SERIALIZATION_FAILURE,
            "could not serialize access due to concurrent update",
        ),
        StoreError::Ended => SqlError::new(
            code::SERIALIZATION_FAILURE,
            "could not serialize access: the transaction has been aborted",
        )
        .hint("The transaction might succeed if retried."),
        other => SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, other.to_string()),
    }
}

/// What the groups of the store are for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Column(HeapId, u16),
    Key(HeapId, u32),
    RowLocks(HeapId),
    ObjectLocks,
    AdvisoryLocks(bool),
}

impl Kind {
    /// The number of a group: what it is for in the uppermost bits, then two numbers.
    fn group(self) -> seriatim_store::Group {
        let (kind, high, low) = match self {
            Kind::Column(heap, column) => (0, heap.0, u32::from(column)),
            Kind::Key(index, key) => (1, index.0, key),
            Kind::RowLocks(heap) => (2, heap.0, 0),
            Kind::ObjectLocks => (3, 0, 0),
            Kind::AdvisoryLocks(pair) => (4, 0, u32::from(pair)),
        };
        seriatim_store::Group(kind << 61 | u64::from(high) << 32 | u64::from(low))
    }

    fn of(group: seriatim_store::Group) -> Kind {
        let (high, low) = ((group.0 << 3 >> 35) as u32, group.0 as u32);
        match group.0 >> 61 {
            0 => Kind::Column(HeapId(high), low as u16),
            1 => Kind::Key(HeapId(high), low),
            2 => Kind::RowLocks(HeapId(high)),
            3 => Kind::ObjectLocks,
            _ => Kind::AdvisoryLocks(low != 0),
        }
    }

    /// What a group is called, and its members.
    fn name(self, names: &dyn Names, member: Option<u32>) -> String {
        let row = |heap, column, row| names.cell(Cell { heap, row: RowNo(row), column });
        match (self, member) {
            (Kind::Column(heap, column), None) => names.column(heap, column),
            (Kind::Column(heap, column), Some(member)) => row(heap, column, member),
            (Kind::Key(index, key), None) => names.key(index, KeyNo(key)),
            (Kind::Key(index, key), Some(member)) => {
                format!("{}[#{member}]", names.key(index, KeyNo(key)))
            }
            (Kind::RowLocks(heap), None) => {
                format!("locks of rows of {}", names.column(heap, Cell::EXISTENCE))
            }
            (Kind::RowLocks(heap), Some(member)) => lock_of(row(heap, Cell::EXISTENCE, member)),
            (Kind::ObjectLocks, None) => "locks of tables".to_owned(),
            (Kind::ObjectLocks, Some(member)) => lock_of(names.object(member)),
            (Kind::AdvisoryLocks(pair), None) => {
                format!("advisory locks{}", if pair { " by pairs" } else { "" })
            }
            (Kind::AdvisoryLocks(pair), Some(member)) => {
                advisory_lock(format!("{member}{}", if pair { " of a pair" } else { "" }))
            }
        }
    }
}

struct StoreTxn {
    txn: Txn<CellValue>,
    snapshots: Snapshots,
    /// Whether the store forgets old transactions, so that nobody asks for a whole history.
    forgets: bool,
    /// Whether locks and snapshots are those of InnoDB.
    is_innodb: bool,
    /// Whether it reads what others have not committed. The history does not have these reads.
    is_dirty: bool,
}

impl StoreTxn {
    /// A column as it is now, also where nobody has committed it.
    fn dirty_column(&self, heap: HeapId, column: u16, rows: RowSet<'_>) -> Vec<(RowNo, Datum)> {
        let group = Kind::Column(heap, column).group();
        let now = |row: RowNo| {
            let pending = self.txn.pending_member(group, row.0);
            let value = pending.unwrap_or_else(|| self.txn.peek_member(group, row.0));
            Some((row, value?.0))
        };
        match rows {
            RowSet::All(count) => (0..count).map(RowNo).filter_map(now).collect(),
            RowSet::These(rows) => rows.iter().copied().filter_map(now).collect(),
        }
    }

    fn put(&mut self, kind: Kind, member: u32, value: Datum) -> Result<()> {
        self.txn.write_member(kind.group(), member, CellValue(value)).map_err(told)
    }

    fn latest(&mut self, kind: Kind, member: u32) -> Result<Option<Datum>> {
        let value = self.txn.read_latest_member(kind.group(), member).map_err(told)?;
        Ok(value.map(|value| value.0))
    }
}

impl CellTxn for StoreTxn {
    fn begin_statement(&mut self, statement: &Statement<'_>) -> Result<()> {
        let params = statement.params.iter().map(|param| param.as_deref().map(Into::into));
        self.txn.set_reads_latest(statement.latest);
        self.txn.begin_statement(StatementContent {
            text: statement.text.into(),
            params: params.collect(),
            returned: None,
            latest: statement.latest,
        });
        if statement.reads == Reads::Snapshot {
            self.txn.fix_snapshot();
        }
        Ok(())
    }

    fn is_innodb(&self) -> bool {
        self.is_innodb
    }

    fn end_statement(&mut self, returned: &Returned<'_>) {
        let row = |row: &Vec<Option<String>>| {
            row.iter().map(|value| value.as_deref().map(Into::into)).collect()
        };
        self.txn.end_statement(match *returned {
            Returned::Done(done) => seriatim_history::Returned::Done(done.into()),
            Returned::Rows(count, first) => {
                seriatim_history::Returned::Rows { count, first: first.iter().map(row).collect() }
            }
        });
    }

    fn read(&mut self, cell: Cell) -> Result<Option<Datum>> {
        let rows = [cell.row];
        let found = self.read_column(cell.heap, cell.column, RowSet::These(&rows))?;
        Ok(found.into_iter().next().map(|(_, value)| value))
    }

    fn read_column(
        &mut self,
        heap: HeapId,
        column: u16,
        rows: RowSet<'_>,
    ) -> Result<Vec<(RowNo, Datum)>> {
        if self.is_dirty {
            return Ok(self.dirty_column(heap, column, rows));
        }
        let group = Kind::Column(heap, column).group();
        let found = match rows {
            RowSet::All(_) => self.txn.read_group(group, None),
            RowSet::These(rows) => {
                let members: Vec<u32> = rows.iter().map(|row| row.0).collect();
                self.txn.read_group(group, Some(&members))
            }
        };
        let mut found: Vec<(RowNo, Datum)> = found
            .map_err(told)?
            .into_iter()
            .filter_map(|(member, value)| Some((RowNo(member), value?.0)))
            .collect();
        if let RowSet::All(_) = rows {
            found.sort_by_key(|(row, _)| *row);
        }
        Ok(found)
    }

    fn read_group(&mut self, group: Group) -> Result<()> {
        // The rows of a heap are read with their existence.
        if let Group::Key(index, key) = group
            && !self.is_dirty
        {
            let group = Kind::Key(index, key.0).group();
            self.txn.read_group(group, None).map_err(told)?;
        }
        Ok(())
    }

    fn enter_group(&mut self, group: Group, row: RowNo) -> Result<()> {
        match group {
            Group::Heap(_) => Ok(()),
            Group::Key(index, key) => self.put(Kind::Key(index, key.0), row.0, Datum::Bool(true)),
        }
    }

    fn read_latest(&mut self, cell: Cell) -> Result<Option<Datum>> {
        self.latest(Kind::Column(cell.heap, cell.column), cell.row.0)
    }

    fn peek(&self, cell: Cell) -> Option<Datum> {
        let group = Kind::Column(cell.heap, cell.column).group();
        self.txn.peek_member(group, cell.row.0).map(|value| value.0)
    }

    fn write(&mut self, cell: Cell, value: Datum) -> Result<()> {
        self.put(Kind::Column(cell.heap, cell.column), cell.row.0, value)
    }

    fn snapshots(&self) -> Snapshots {
        self.snapshots
    }

    fn is_changed(&mut self, cell: Cell) -> Result<bool> {
        let group = Kind::Column(cell.heap, cell.column).group();
        self.txn.is_member_changed(group, cell.row.0).map_err(told)
    }

    fn glimpse(&mut self, cell: Cell) -> Result<Option<Datum>> {
        let group = Kind::Column(cell.heap, cell.column).group();
        let value = self.txn.glimpse_member(group, cell.row.0).map_err(told)?;
        Ok(value.map(|value| value.0))
    }

    fn is_pending(&self, cell: Cell) -> bool {
        let group = Kind::Column(cell.heap, cell.column).group();
        self.txn.is_member_pending(group, cell.row.0)
    }

    fn takes_columns_as_initial(&self) -> bool {
        self.forgets
    }

    fn mark(&mut self) -> usize {
        self.txn.mark().unwrap_or(0)
    }

    fn roll_back_to(&mut self, mark: usize) {
        // One that has ended has nothing left to take back.
        let _ = self.txn.roll_back_to(mark);
    }

    fn hand_over(&mut self, lock: Lock, exclusive: bool) -> Result<()> {
        // Snapshots and the newest versions of locked rows show what is to be seen.
        if self.snapshots != Snapshots::None {
            self.txn.note_lock();
            return Ok(());
        }
        let (kind, member) = match lock {
            Lock::Row(heap, row) => (Kind::RowLocks(heap), row.0),
            Lock::Object(oid) => (Kind::ObjectLocks, oid),
            Lock::Advisory(number, pair) => {
                // Two numbers that fall together hand over more than they must, nothing worse.
                (Kind::AdvisoryLocks(pair), (number ^ (number >> 32)) as u32)
            }
        };
        self.latest(kind, member)?;
        if exclusive {
            self.put(kind, member, Datum::Bool(true))?;
        }
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.txn.commit().map_err(told)
    }

    fn abort(self: Box<Self>) {
        self.txn.abort();
    }
}
