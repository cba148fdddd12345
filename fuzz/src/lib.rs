//! What the fuzz targets do with their bytes.

use flate2::read::GzEncoder;
use seriatim_history::formats::{Format, ReadOptions, read_bytes, write};
use seriatim_history::{History, OpId};
use std::io::Read;

/// Reads bytes as a history; what comes out must be consistent, and our own format must hold it.
pub fn read_and_walk(bytes: &[u8], format: Option<Format>) {
    let options = ReadOptions { format, threads: 2, ..ReadOptions::default() };
    let Ok((history, format)) = read_bytes(bytes, "fuzz", &options) else { return };
    walk(&history);
    let mut jsonl = Vec::new();
    write(&history, Format::Jsonl, &mut jsonl).expect("our own format holds everything");
    let again = ReadOptions { format: Some(Format::Jsonl), threads: 1, ..ReadOptions::default() };
    let (copy, _) = read_bytes(&jsonl, "copy", &again).expect("we read what we write");
    assert_eq!((copy.txn_count(), copy.op_count()), (history.txn_count(), history.op_count()));
    // It may refuse, but not panic, and what it writes it must read.
    let mut same = Vec::new();
    if !format.is_directory_format() && write(&history, format, &mut same).is_ok() && !same.is_empty() {
        let again = ReadOptions { format: Some(format), threads: 1, ..ReadOptions::default() };
        if let Err(error) = read_bytes(&same, "same", &again) {
            assert!(error.to_string().contains("no transactions"), "{error}");
        }
    }
}

fn walk(history: &History) {
    assert!(history.txn_count() > 0);
    for txn in history.txns() {
        let session = history.session_of(txn);
        assert!(history.txns_of(session).contains(&txn.0));
        history.txn_name(txn).to_string();
        history.session_name(session).to_string();
        for op in history.ops_of(txn).map(OpId) {
            let content = history.op(op);
            history.key_name(content.key).to_string();
            history.value_text(content.value);
            history.place(op).expect("everything comes from a file").to_string();
        }
    }
}

/// The bytes as a damaged compressed file, and as the content of a good one.
pub fn compressed(bytes: &[u8]) {
    for magic in [&[0x1f, 0x8b, 8, 0][..], &[0x28, 0xb5, 0x2f, 0xfd]] {
        read_and_walk(&[magic, bytes].concat(), None);
    }
    let mut gzip = Vec::new();
    GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut gzip).expect("memory does not fail");
    read_and_walk(&gzip, None);
    let zstd = zstd::encode_all(bytes, 1).expect("memory does not fail");
    read_and_walk(&zstd, None);
}
