//! The extensions that a database can have, and what they bring: functions that are found like
//! built-in ones once the extension is there, and names of what is not supported here.

use super::builtin::{Proc, read_proc};
use std::sync::OnceLock;

/// An extension, in a version.
#[derive(Debug)]
pub struct KnownExtension {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What it is for.
    pub comment: &'static str,
    /// Its types, none of which is supported.
    pub types: Vec<&'static str>,
    /// Its functions with such types.
    pub unsupported: Vec<&'static str>,
    /// Its other functions.
    pub procs: Vec<Proc>,
}

const EXTENSIONS: &str = include_str!("../../data/extensions.tsv");
const PROCS: &str = include_str!("../../data/extension_procs.tsv");

/// All extensions.
pub fn extensions() -> &'static [KnownExtension] {
    static ALL: OnceLock<Vec<KnownExtension>> = OnceLock::new();
    ALL.get_or_init(|| EXTENSIONS.lines().map(read).collect())
}

fn read(line: &'static str) -> KnownExtension {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    let (name, version, comment) = (next(), next(), next());
    let (types, unsupported) = (next().split(' '), next().split(' '));
    let own = PROCS.lines().filter_map(|line| line.split_once('\t')).filter(|(of, _)| *of == name);
    KnownExtension {
        name,
        version,
        comment,
        types: types.filter(|it| !it.is_empty()).collect(),
        unsupported: unsupported.filter(|it| !it.is_empty()).collect(),
        procs: own.map(|(_, rest)| read_proc(&rest.split('\t').collect::<Vec<_>>())).collect(),
    }
}
