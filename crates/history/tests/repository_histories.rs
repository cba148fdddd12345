//! The histories of the repository are recognised by their content, in every format.

use seriatim_history::formats::{Format, ReadOptions, read_path};
use std::path::Path;

const FOLDER: &str = "../../histories";

#[test]
fn every_history_is_recognised() {
    let table = std::fs::read_to_string(format!("{FOLDER}/EXPECTED.tsv")).unwrap();
    let mut seen = Vec::new();
    for line in table.lines().skip(1) {
        let [file, code] = line.split('\t').take(2).collect::<Vec<_>>()[..] else {
            panic!("a row has a file and a format: {line}")
        };
        let path = Path::new(FOLDER).join(file);
        let (history, format) = read_path(&path, file, &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format.code(), code, "{file}");
        assert!(history.op_count() > 0, "{file}");
        seen.push(format);
    }
    assert!(Format::ALL.iter().all(|format| seen.contains(format)), "{seen:?}");
}
