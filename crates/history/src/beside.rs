//! What stands beside the operations of a history: scans, of which only some reads are operations,
//! and the statements that the operations belong to.

use crate::ids::{OpId, TxnId};
use crate::model::History;
use crate::scans::{Group, Scan};
use crate::statements::Statement;

impl History {
    /// The groups of keys.
    pub fn groups(&self) -> &[Group] {
        self.scans.as_ref().map_or(&[], |scans| &scans.groups)
    }

    /// The scans, in the order of their operations.
    pub fn scans(&self) -> &[Scan] {
        self.scans.as_ref().map_or(&[], |scans| &scans.scans)
    }

    /// The scans of a transaction, in program order.
    pub fn scans_of(&self, txn: TxnId) -> &[Scan] {
        let scans = self.scans();
        let first = scans.partition_point(|scan| scan.txn < txn);
        let after = scans.partition_point(|scan| scan.txn <= txn);
        &scans[first..after]
    }

    /// The scan that an operation belongs to.
    pub fn scan_of(&self, op: OpId) -> Option<&Scan> {
        let scans = self.scans();
        let after = scans.partition_point(|scan| scan.ops.end <= op.0);
        scans.get(after).filter(|scan| scan.ops.contains(&op.0))
    }

    /// Whether only those reads of scans are among the operations that matter where session order
    /// counts: there would be too many others. A level may then hold without sessions for the
    /// operations alone, and yet not for all that the scans read.
    pub fn scans_need_sessions(&self) -> bool {
        self.scans.as_ref().is_some_and(|scans| scans.need_sessions)
    }
}

impl History {
    /// The statements, in the order of their operations.
    pub fn statements(&self) -> &[Statement] {
        self.statements.as_ref().map_or(&[], |statements| &statements.0)
    }

    /// The statements of a transaction, in program order.
    pub fn statements_of(&self, txn: TxnId) -> &[Statement] {
        let all = self.statements();
        let first = all.partition_point(|statement| statement.txn < txn);
        let after = all.partition_point(|statement| statement.txn <= txn);
        &all[first..after]
    }

    /// The statement that an operation belongs to.
    pub fn statement_of(&self, op: OpId) -> Option<&Statement> {
        let all = self.statements();
        let at = all.partition_point(|statement| statement.ops.end <= op.0);
        all.get(at).filter(|statement| statement.ops.contains(&op.0))
    }
}
