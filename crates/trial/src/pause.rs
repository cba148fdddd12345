//! Stops a run before each weak read, so that a person can look at the application.

use seriatim_store::{Choice, Chooser, PendingRead, Script, TxnName};
use std::collections::HashSet;
use std::sync::Arc;

/// Why a run stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pause {
    /// A read is about to return an old version.
    WeakRead {
        /// The transaction.
        reader: TxnName,
        /// The statement, if it is known.
        statement: Option<String>,
        /// What is read.
        key: String,
        /// Whose version is returned; nobody's is the initial one.
        writer: Option<TxnName>,
    },
    /// A connection goes on where another one was.
    Switch {
        /// The number of the connection.
        connection: u32,
    },
}

/// Is told why a run stops; the run goes on when it returns.
pub type Pauser = Arc<dyn Fn(Pause) + Send + Sync>;

/// A script with pauses.
pub(crate) struct PausingScript {
    script: Script,
    weak: HashSet<(TxnName, u32)>,
    pauser: Pauser,
}

impl PausingScript {
    pub fn new(script: Script, weak: &[Choice], pauser: Pauser) -> PausingScript {
        let weak = weak.iter().map(|choice| (choice.reader, choice.read)).collect();
        PausingScript { script, weak, pauser }
    }
}

impl Chooser for PausingScript {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        let place = self.script.choose(read);
        if self.weak.contains(&(read.reader, read.number)) {
            (self.pauser)(Pause::WeakRead {
                reader: read.reader,
                statement: read.statement().map(|content| content.text.to_string()),
                key: read.key.to_owned(),
                writer: read.versions[place].writer,
            });
        }
        place
    }
}
