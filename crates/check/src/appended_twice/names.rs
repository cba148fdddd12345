//! Explanations of a part, in the words of the whole.

use crate::outcome::{Edge, OpRef, Origin, Reason, Refs, TxnRef, Violation, Why};
use seriatim_history::{History, OpId};

/// Names operations and transactions of a part of a history as the whole does.
pub(super) struct Names<'a> {
    pub whole: &'a History,
    pub part: &'a History,
    /// The operations of the whole that are the part.
    pub kept: &'a [OpId],
}

impl Names<'_> {
    /// The same explanation. An element to blame keeps its place in its list.
    pub fn violation(&self, mut violation: Violation) -> Violation {
        violation.ops.iter_mut().for_each(|op| self.op(op));
        self.edges(&mut violation.cycle);
        violation
    }

    fn edges(&self, edges: &mut [Edge]) {
        for edge in edges {
            self.txn(&mut edge.from);
            self.txn(&mut edge.to);
            self.reason(&mut edge.reason);
        }
    }

    fn reason(&self, reason: &mut Reason) {
        match reason {
            Reason::SessionOrder | Reason::Initial | Reason::RealTime { .. } => {}
            Reason::WriteRead { write, read, origin } => {
                self.ops([write, read]);
                self.origin(origin);
            }
            Reason::Overwritten { read, source, other, visible } => {
                self.ops([read, source, other]);
                self.edges(visible);
            }
            Reason::VersionOrder { earlier, later, read } => self.ops([earlier, later, read]),
            Reason::WriteWrite { earlier, later, why } => {
                self.ops([earlier, later]);
                self.why(why);
            }
            Reason::ReadWrite { read, source, origin, overwrite, why } => {
                self.ops([read, source, overwrite]);
                self.origin(origin);
                self.why(why);
            }
        }
    }

    fn why(&self, why: &mut Why) {
        match why {
            Why::Known(edges) | Why::Otherwise(edges) => self.edges(edges),
            Why::Listed(read) => self.op(read),
            Why::Initial | Why::Supposed | Why::Repeated | Why::TooDeep => {}
        }
    }

    fn origin(&self, origin: &mut Origin) {
        if let Origin::Others(others) = origin {
            for excluded in others {
                self.op(&mut excluded.write);
                self.edges(&mut excluded.cycle);
            }
        }
    }

    fn ops<const N: usize>(&self, ops: [&mut OpRef; N]) {
        ops.into_iter().for_each(|op| self.op(op));
    }

    fn op(&self, op: &mut OpRef) {
        let Some(id) = op.id else { return };
        let original = self.kept[id.index()];
        let mut element = op.element.take();
        if let Some(element) = &mut element {
            let place = element.position.saturating_sub(1) as usize;
            if let Some(value) = list_element(self.whole, original, place) {
                element.value = value;
            }
        }
        *op = OpRef { element, ..Refs(self.whole).op(original) };
    }

    fn txn(&self, txn: &mut TxnRef) {
        let first = txn.id.and_then(|id| self.part.ops_of(id).next());
        if let Some(first) = first {
            *txn = Refs(self.whole).txn(self.whole.txn_of(self.kept[first as usize]));
        }
    }
}

/// An element of the list that `read` returned.
fn list_element(history: &History, read: OpId, place: usize) -> Option<String> {
    match Refs(history).op(read).value {
        crate::outcome::ValueRef::List(elements) => elements.get(place).cloned(),
        _ => None,
    }
}
