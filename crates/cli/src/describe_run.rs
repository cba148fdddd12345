//! What a report needs to know about a run of an application on the mock store: the reads that a
//! failure needs, under the names that the history gives to transactions, and what the checker
//! says.

use seriatim_apps::App;
use seriatim_history::{History, SessionId, TxnId};
use seriatim_report::runs::{Application, BlamedRead, StoreTxn};
use seriatim_report::{Checked, Times};
use seriatim_store::{Choice, TxnName};
use std::time::{Duration, Instant};

/// An application as reports name it.
pub fn application(app: &dyn App) -> Application<'_> {
    Application { name: app.name(), assertion: app.assertion() }
}

/// How long the checker may take for a run that has been told of otherwise.
const CHECK_MAX: Duration = Duration::from_secs(30);

/// The history of a run, checked at every level.
pub fn checked(name: &str, history: &History) -> Checked {
    let start = Instant::now();
    let report = seriatim_check::Checker::new().budget(CHECK_MAX).check(history);
    let times = Times { total: start.elapsed(), ..Times::default() };
    let input = format!("the run of {name}");
    let counts = history.counts();
    let (duplicate, kinds) = (None, Vec::new());
    Checked { input, format: "store", counts, report, times, duplicate, kinds }
}

/// The reads that a failure needs.
pub fn blamed(weak: &[Choice], history: &History) -> Vec<BlamedRead> {
    let one = |choice: &Choice| BlamedRead {
        reader: named(history, choice.reader),
        read: choice.read,
        key: choice.key.to_string(),
        writer: choice.writer.map(|writer| named(history, writer)),
    };
    weak.iter().map(one).collect()
}

fn named(history: &History, name: TxnName) -> StoreTxn {
    StoreTxn { id: id(history, name), session: name.session, number: name.txn }
}

/// The name of a transaction of the store in the history.
pub fn id(history: &History, name: TxnName) -> Option<String> {
    if name.session as usize >= history.session_count() {
        return None;
    }
    let txn = history.txns_of(SessionId(name.session)).nth(name.txn as usize)?;
    Some(format!("t{}", history.txn_name(TxnId(txn))))
}
