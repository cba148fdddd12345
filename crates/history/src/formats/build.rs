//! Names to numbers for the readers that need no extra speed: a layer over [`Columns`].

use super::text::Source;
use super::unknown_values::{self, Doubt};
use crate::atom::{Atom, Value};
use crate::columns::{Columns, ColumnsError};
use crate::error::ReadError;
use crate::ids::KeyId;
use crate::mixed_keys::{MixedKey, ONE_KIND};
use crate::model::{History, KeyNames, Names, OpKind, Status};
use crate::place::{PlaceUnit, Places};
use crate::scans::ScanContent;
use rustc_hash::FxHashMap;

/// A history in the making.
#[derive(Default)]
pub(super) struct Builder {
    pub columns: Columns,
    keys: FxHashMap<Atom, KeyId>,
    key_names: Vec<Atom>,
    sessions: FxHashMap<Atom, u32>,
    session_names: Vec<Atom>,
    txn_names: Vec<Atom>,
    places: Vec<u32>,
    /// What may be missing, of a recording that ends before its end.
    pub cut: Option<Doubt>,
}

impl Builder {
    /// The key of this name.
    pub fn key(&mut self, name: Atom) -> KeyId {
        if let Some(&key) = self.keys.get(&name) {
            return key;
        }
        let key = KeyId::from(self.key_names.len());
        self.key_names.push(name.clone());
        self.keys.insert(name, key);
        key
    }

    /// The keys so far.
    pub fn key_names(&self) -> &[Atom] {
        &self.key_names
    }

    /// The session of this name.
    pub fn session(&mut self, name: Atom) -> u32 {
        if let Some(&session) = self.sessions.get(&name) {
            return session;
        }
        let session = self.session_names.len() as u32;
        self.session_names.push(name.clone());
        self.sessions.insert(name, session);
        session
    }

    /// Starts a transaction without a name.
    pub fn txn(&mut self, session: u32, status: Status) -> u32 {
        self.columns.push_txn(session, status)
    }

    /// Starts a transaction with a name. Either all have one or none.
    pub fn named_txn(&mut self, session: u32, status: Status, name: Atom) -> u32 {
        self.txn_names.push(name);
        self.columns.push_txn(session, status)
    }

    /// The value that stands for `atom`.
    pub fn value(&mut self, atom: Atom) -> Value {
        self.columns.atoms.value(atom)
    }

    /// What a read of a list returned; an empty list is what the initial transaction left.
    pub fn list(&mut self, items: impl IntoIterator<Item = Atom>) -> Value {
        let items: Box<[Value]> =
            items.into_iter().map(|item| self.columns.atoms.value(item)).collect();
        if items.is_empty() {
            return Value::NULL;
        }
        self.columns.lists.push(items);
        Value::list((self.columns.lists.len() - 1) as u32)
    }

    /// Adds an operation that stands at line or byte `place`.
    pub fn op(&mut self, txn: u32, kind: OpKind, key: KeyId, value: Value, place: u64) {
        self.columns.push_op(txn, kind, key, value);
        self.places.push(u32::try_from(place).unwrap_or(u32::MAX));
    }

    /// Adds a scan that stands in this line.
    pub fn scan(&mut self, txn: u32, content: ScanContent, line: u64) {
        self.columns.push_scan(txn, content, u32::try_from(line).unwrap_or(u32::MAX));
    }

    /// The history, if it has a transaction.
    pub fn finish(mut self, source: &Source, unit: PlaceUnit) -> Result<History, ReadError> {
        if self.columns.txns.is_empty() {
            return Err(source.no_transactions());
        }
        self.refuse_mixed_keys(source)?;
        self.leave_out_unknown();
        if self.columns.files.is_empty() {
            self.columns.files = vec![source.name.clone()];
        }
        if !self.session_names.is_empty() {
            self.columns.session_count = self.session_names.len() as u32;
            self.columns.session_names = Names::Table(self.session_names);
        }
        if !self.txn_names.is_empty() {
            self.columns.txn_names = Names::Table(self.txn_names);
        }
        self.columns.key_names = KeyNames::Table(self.key_names);
        self.columns.place_unit = unit;
        self.columns.op_places = Places::Each(self.places);
        let lines: Vec<u32> = self.columns.scans.iter().map(|scan| scan.line).collect();
        let names = self.columns.key_names.clone();
        self.columns.finish().map_err(|error| match error {
            ColumnsError::NotUnchanged { scan, key } => {
                let problem = format!(
                    "a scan cannot have found the key {} unchanged: it must be written by exactly \
                     one transaction that did not abort, with another value than its initial one",
                    names.get(key)
                );
                source.at(lines[scan].into(), 0, problem)
            }
            error => ReadError::TooLarge { file: source.name.clone(), source: error },
        })
    }

    /// Reads of what nobody is known to have written, if somebody else may have. Of a recording
    /// that was cut a transaction is missing only if another one has read from it.
    fn leave_out_unknown(&mut self) {
        let cut = self.cut.take();
        let is_cut = cut.is_some();
        let mut doubt = cut.unwrap_or_default();
        if self.columns.unknown_content > 0 {
            doubt.after = 0;
        } else if !is_cut {
            return;
        }
        let changed = unknown_values::leave_out(&mut self.columns, &mut self.places, &doubt);
        if is_cut && changed > 0 {
            self.columns.unknown_content += 1;
        }
    }

    /// Only text formats have lists, so that places are lines here.
    fn refuse_mixed_keys(&self, source: &Source) -> Result<(), ReadError> {
        let Some(mixed) = MixedKey::find(&self.columns, self.key_names.len()) else {
            return Ok(());
        };
        let line = self.places[mixed.later];
        let problem = mixed.problem(&self.columns, &self.key_names, self.places[mixed.earlier]);
        Err(source.at_with_hint(line.into(), 0, problem, Some(ONE_KIND.to_owned())))
    }
}
