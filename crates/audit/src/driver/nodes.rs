//! Several nodes that keep one database: replicas, a cluster. Sessions are spread over them, and
//! each stays with its node.

use super::{Client, Driver, DriverError, Speaker};
use crate::setting::Setting;
use crate::workload::Workload;
use seriatim_isolation::Level;
use std::ops::Range;

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
        self.writer().make(registers)
    }

    fn has_arrived(&self, register: u64) -> Result<bool, DriverError> {
        for (_, driver) in &self.nodes {
            if !sees(driver.as_ref(), register)? {
                return Ok(false);
            }
        }
        Ok(true)
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

    /// Scripts write, so that their sessions are on nodes that can be written to.
    fn speak(&self, session: u32) -> Result<Box<dyn Speaker>, DriverError> {
        let writers = || self.nodes.iter().filter(|(role, _)| *role == Role::All);
        let place = session as usize % writers().count().max(1);
        let found = writers().nth(place);
        found.map_or(self.writer(), |(_, driver)| driver.as_ref()).speak(session)
    }

    fn prefix(&self) -> &str {
        self.writer().prefix()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Sent;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A node that sees what is there after it was looked at a few times.
    struct Node {
        product: &'static str,
        promise: Level,
        behind: Arc<AtomicU32>,
    }

    struct Look(Arc<AtomicU32>);

    impl Client for Look {
        fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
            Ok(())
        }

        fn read(&mut self, _: u64) -> Result<(Option<i64>, Sent), DriverError> {
            let is_behind = self.0.load(Ordering::SeqCst) > 0;
            if is_behind {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
            Ok(((!is_behind).then_some(0), Sent::default()))
        }

        fn write(&mut self, _: u64, _: i64) -> Result<Sent, DriverError> {
            Err(DriverError::unable("writes"))
        }

        fn commit(&mut self) -> Result<(), DriverError> {
            Ok(())
        }

        fn rollback(&mut self) -> Result<(), DriverError> {
            Ok(())
        }
    }

    impl Driver for Node {
        fn product(&self) -> String {
            self.product.to_owned()
        }

        fn settings(&self) -> Vec<Setting> {
            vec![Setting::Serializable]
        }

        fn promise(&self, _: Setting) -> Level {
            self.promise
        }

        fn make(&self, _: Range<u64>) -> Result<(), DriverError> {
            Ok(())
        }

        fn connect(&self, _: u32) -> Result<Box<dyn Client>, DriverError> {
            Ok(Box::new(Look(Arc::clone(&self.behind))))
        }
    }

    fn node(product: &'static str, promise: Level, behind: u32) -> (Box<Node>, Arc<AtomicU32>) {
        let behind = Arc::new(AtomicU32::new(behind));
        (Box::new(Node { product, promise, behind: Arc::clone(&behind) }), behind)
    }

    #[test]
    fn sessions_are_spread_and_promise_what_all_nodes_do() {
        let (standby, _) = node("S", Level::SnapshotIsolation, 0);
        let (primary, _) = node("P", Level::Serializable, 0);
        let nodes = Nodes::new(vec![(Role::Read, standby), (Role::All, primary)]).unwrap();
        assert_eq!(nodes.product(), "S and P");
        assert_eq!(nodes.promise(Setting::Serializable), Level::SnapshotIsolation);
        let places: Vec<_> = (0..4).map(|session| nodes.node(session).unwrap()).collect();
        assert_eq!(places, [0, 1, 0, 1]);
        assert_eq!((nodes.role(2), nodes.role(3)), (Role::Read, Role::All));
        assert_eq!(nodes.writer().product(), "P");
    }

    #[test]
    fn nodes_of_one_kind_are_counted() {
        let nodes = (0..3).map(|_| (Role::All, node("P", Level::Serializable, 0).0 as _));
        assert_eq!(Nodes::new(nodes.collect()).unwrap().product(), "P, 3 nodes");
    }

    #[test]
    fn registers_have_arrived_when_every_node_sees_them() {
        let (first, _) = node("P", Level::Serializable, 0);
        let (second, behind) = node("P", Level::Serializable, 3);
        let nodes = Nodes::new(vec![(Role::All, first), (Role::Read, second)]).unwrap();
        nodes.make(0..5).unwrap();
        let looks: Vec<bool> = (0..4).map(|_| nodes.has_arrived(4).unwrap()).collect();
        assert_eq!(looks, [false, false, false, true]);
        assert_eq!(behind.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn one_node_must_be_written_to() {
        let (only, _) = node("P", Level::Serializable, 0);
        assert!(Nodes::new(vec![(Role::Read, only)]).is_err());
        let error = crate::open(&["read=redis://127.0.0.1:1", "read=redis://127.0.0.1:1"]);
        assert!(error.err().unwrap().to_string().contains("a node that is written to"));
    }
}
