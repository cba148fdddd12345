//! Several nodes that keep one database: replicas, a cluster. Sessions are spread over them, and
//! each stays with its node.

use super::{Client, Driver, DriverError, Speaker};
use crate::setting::Setting;
use crate::workload::Workload;
use seriatim_isolation::Level;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long nodes may take to see what was made on another.
const SEEN_MAX: Duration = Duration::from_secs(60);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What sessions may do on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Read and write.
    All,
    /// Read only.
    Read,
}

/// Nodes with their roles.
pub struct Nodes {
    nodes: Vec<(Role, Box<dyn Driver>)>,
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} nodes)", self.product(), self.nodes.len())
    }
}

impl Nodes {
    /// These nodes, of which one at least may be written to. Their drivers must use one prefix.
    pub fn new(nodes: Vec<(Role, Box<dyn Driver>)>) -> Result<Nodes, DriverError> {
        if !nodes.iter().any(|(role, _)| *role == Role::All) {
            let text = "all nodes are for reading; one must be written to".to_owned();
            return Err(DriverError::Other(text));
        }
        Ok(Nodes { nodes })
    }

    /// The first node that may be written to.
    fn writer(&self) -> &dyn Driver {
        let found = self.nodes.iter().find(|(role, _)| *role == Role::All);
        // `new` has looked.
        found.map_or(self.nodes[0].1.as_ref(), |(_, driver)| driver.as_ref())
    }

    fn place(&self, session: u32) -> usize {
        session as usize % self.nodes.len()
    }

    fn of(&self, session: u32) -> &dyn Driver {
        self.nodes[self.place(session)].1.as_ref()
    }

    /// Waits until a node sees a register.
    fn wait_for(driver: &dyn Driver, register: u64) -> Result<(), DriverError> {
        let begun = Instant::now();
        loop {
            let seen = sees(driver, register);
            match seen {
                Ok(true) => return Ok(()),
                Err(error) if begun.elapsed() > SEEN_MAX => return Err(error),
                Ok(false) if begun.elapsed() > SEEN_MAX => {
                    let (product, time) = (driver.product(), SEEN_MAX.as_secs());
                    let text = format!(
                        "{product} has not seen what was written on another node for {time} s: is \
                         it a node of the same database, and does it follow?"
                    );
                    return Err(DriverError::Other(text));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
    }
}

/// Whether a node sees a register.
fn sees(driver: &dyn Driver, register: u64) -> Result<bool, DriverError> {
    let mut client = driver.connect(0)?;
    let setting = driver.settings().last().copied().unwrap_or(Setting::Serializable);
    client.begin(setting)?;
    let (value, _) = client.read(register)?;
    client.rollback()?;
    Ok(value.is_some())
}

impl Driver for Nodes {
    fn product(&self) -> String {
        let products: Vec<String> = self.nodes.iter().map(|(_, driver)| driver.product()).collect();
        if products.iter().all(|product| *product == products[0]) {
            return format!("{}, {} nodes", products[0], products.len());
        }
        products.join(" and ")
    }

    fn settings(&self) -> Vec<Setting> {
        self.writer().settings()
    }

    fn setting_name(&self, setting: Setting) -> String {
        self.writer().setting_name(setting)
    }

    /// What all of them promise.
    fn promise(&self, setting: Setting) -> Level {
        let promises = self.nodes.iter().map(|(_, driver)| driver.promise(setting));
        promises.min().unwrap_or(Level::Unconstrained)
    }

    fn can(&self, workload: Workload) -> bool {
        self.nodes.iter().all(|(_, driver)| driver.can(workload))
    }

    fn set_up(&self) -> Result<(), DriverError> {
        self.writer().set_up()
    }

    fn make(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let Some(last) = registers.clone().last() else { return Ok(()) };
        self.writer().make(registers)?;
        self.nodes.iter().try_for_each(|(_, driver)| Nodes::wait_for(driver.as_ref(), last))
    }

    fn retire(&self, registers: Range<u64>) -> Result<(), DriverError> {
        self.writer().retire(registers)
    }

    /// Whichever node can still be reached does it.
    fn clean_up(&self) -> Result<(), DriverError> {
        let mut cleaned = Err(DriverError::unable("node that can be written to"));
        for (_, driver) in self.nodes.iter().filter(|(role, _)| *role == Role::All) {
            cleaned = driver.clean_up();
            if cleaned.is_ok() {
                break;
            }
        }
        cleaned
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client>, DriverError> {
        self.of(session).connect(session)
    }

    fn node(&self, session: u32) -> Option<usize> {
        Some(self.place(session))
    }

    fn role(&self, session: u32) -> Role {
        self.nodes[self.place(session)].0
    }

    fn speak(&self, session: u32) -> Result<Box<dyn Speaker>, DriverError> {
        self.of(session).speak(session)
    }

    fn prefix(&self) -> &str {
        self.writer().prefix()
    }
}
