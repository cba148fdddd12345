//! Violations that were found in real databases, of a collection that lies beside the clone.
//! Without it this test is reported as skipped.

#[allow(dead_code)] // Each test uses a part of it.
mod common;

use common::explained;
use seriatim_history::History;
use seriatim_isolation::Anomaly;
use seriatim_report::style::strip;
use seriatim_report::text::{self, Layout};
use std::path::Path;

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn real_violations() {
    let folder = Path::new("../../../shared/histories/real");
    let page = |file: &str, kind| {
        let told = explained(&read(folder, file)).unwrap();
        assert_eq!(told.kind, kind, "{file}");
        strip(&text::violation(&told, &Layout::default()))
    };
    let galera = page("galera-lost-update.txt", Anomaly::LostUpdate);
    let postgres = page("pg_ser_bug.txt", Anomaly::WriteSkew);
    let yugabyte = page("yugabyte_tcc.txt", Anomaly::FracturedReadCausal);
    insta::assert_snapshot!([galera, postgres, yugabyte].join("\n"));
}

/// A history whose places are called by the name of the file alone.
fn read(folder: &Path, file: &str) -> History {
    let options = seriatim_history::formats::ReadOptions::default();
    seriatim_history::formats::read_path(&folder.join(file), file, &options).unwrap().0
}
