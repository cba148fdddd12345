//! Inputs that are wrong end in an error that says where and why, in reasonable time, and never in
//! a panic.

use proptest::prelude::*;
use seriatim_history::ReadError;
use seriatim_history::formats::{
    Format, ReadOptions, detect, is_history_directory, read_bytes, read_path, write, write_path,
};
use seriatim_history::notation;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, threads: 2, ..ReadOptions::default() }
}

fn error(bytes: &[u8], format: Option<Format>) -> String {
    match read_bytes(bytes, "h", &options(format)) {
        Ok(_) => panic!(
            "expected an error for {:?}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(100)])
        ),
        Err(error) => error.to_string(),
    }
}

/// A small valid file of each format.
fn sample(format: Format) -> Vec<u8> {
    let text = match format {
        Format::Awdit => "a: w(1,1) w(2,2) | r(1,1) w(1,3) | r(1,3)",
        Format::IsoPredict => "a: w(1,1) r(2,nil) | r(1,1) w(2,3) | r(2,3)",
        _ => "a: w(1,1) w(2,2) r(3,nil) | r(1,1) w(1,3) | r(1,3)",
    };
    let history =
        notation::parse(&text.replace("(1", "(k1").replace("(2", "(k2").replace("(3", "(k3"))
            .unwrap();
    let mut jsonl = Vec::new();
    write(&history, Format::Jsonl, &mut jsonl).unwrap();
    let numbered = String::from_utf8(jsonl)
        .unwrap()
        .replace("\"k1\"", "1")
        .replace("\"k2\"", "2")
        .replace("\"k3\"", "3");
    let (history, _) = read_bytes(numbered.as_bytes(), "h", &options(Some(Format::Jsonl))).unwrap();
    let mut bytes = Vec::new();
    write(&history, format, &mut bytes).unwrap_or_else(|error| panic!("{format}: {error}"));
    bytes
}

#[test]
fn samples_are_recognised_and_read() {
    for &format in Format::ALL {
        let bytes = sample(format);
        let (history, found) = read_bytes(&bytes, "h", &options(None))
            .unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(found, format);
        assert_eq!(history.txn_count(), 3, "{format}");
    }
}

#[test]
fn nothing_is_an_error_that_says_so() {
    for bytes in [&b""[..], b"\n\n", b"# only a comment\n"] {
        assert!(error(bytes, None).contains("no transactions"));
    }
    for &format in Format::ALL {
        let message = error(b"", Some(format));
        let binary = matches!(format, Format::DbcopBincode);
        assert!(
            message.contains("no transactions") || (binary && message.contains("truncated")),
            "{format}: {message}"
        );
    }
}

#[test]
fn garbage_is_no_history_in_any_format() {
    let garbage: Vec<u8> =
        (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert!(
        error(&garbage, None).contains("not a history in any format"),
        "{}",
        error(&garbage, None)
    );
    for &format in Format::ALL {
        error(&garbage, Some(format));
    }
}

#[test]
fn a_truncated_file_is_an_error_or_a_shorter_history() {
    for &format in Format::ALL {
        let bytes = sample(format);
        let whole = read_bytes(&bytes, "h", &options(Some(format))).unwrap().0.op_count();
        for len in 0..bytes.len() {
            match read_bytes(&bytes[..len], "h", &options(Some(format))) {
                Ok((history, _)) => assert!(history.op_count() <= whole, "{format} {len}"),
                Err(error) => {
                    assert!(error.to_string().starts_with('h'), "{format} {len}: {error}")
                }
            }
        }
    }
}

#[cfg(feature = "compression")]
#[test]
fn a_truncated_or_damaged_compressed_file_says_so() {
    let directory = Scratch::new("compressed");
    let history = notation::parse("a: w(x,1) | r(x,1)").unwrap();
    for (ending, name) in [("gz", "gzip"), ("zst", "zstd")] {
        let path = directory.0.join(format!("h.jsonl.{ending}"));
        write_path(&history, Format::Jsonl, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(read_path(&path, "h", &options(None)).unwrap().1, Format::Jsonl);
        let message = error(&bytes[..bytes.len() - 5], None);
        assert!(message.contains(&format!("the {name} stream is truncated")), "{message}");
        let twice = [bytes.clone(), bytes.clone()].concat();
        // The header of the second part is not the first line any more.
        assert!(error(&twice, None).contains("session"));
        let mut damaged = bytes;
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        error(&damaged, None);
    }
}

#[test]
fn numbers_that_do_not_fit_are_named() {
    let cases = [
        (Format::Plume, "w(1,99999999999999999999,0,0)"),
        (Format::Awdit, "w 1 99999999999999999999"),
        (Format::DbcopHist, "[x:=99999999999999999999]"),
        (Format::ElleEdn, "{:type :ok, :process 0, :value [[:w 1 99999999999999999999]]}"),
        (Format::IsoPredict, "WRITE KEY[x] Txn(99999999999999999999, 0)"),
    ];
    for (format, text) in cases {
        let message = error(text.as_bytes(), Some(format));
        assert!(
            message.contains("99999999999999999999") && message.contains("does not fit"),
            "{message}"
        );
        assert!(message.starts_with("h:1:"), "{message}");
    }
    let jsonl = br#"{"session":1,"ops":[["w",1,99999999999999999999]]}"#;
    assert!(error(jsonl, None).contains("not an integer of 64 bits"));
}

#[test]
fn an_operation_that_is_wrong_is_where_the_error_says() {
    let jsonl = b"{\"seriatim\":1}\n\
                  {\"session\":1,\"ops\":[[\"w\",\"k\",1],[\"w\",\"k\",2],[\"w\",\"k\"]]}\n";
    let message = error(jsonl, None);
    assert!(
        message.starts_with("h:2:45: ") && message.contains("found `[\"w\",\"k\"]`"),
        "{message}"
    );
    let large = error(br#"{"session":1,"ops":[["w","k",123456789012345678901234567890]]}"#, None);
    assert!(
        large.starts_with("h:1:21: the number 123456789012345678901234567890 is not"),
        "{large}"
    );
    let edn = b"{:type :ok, :process 0, :value [[:w 1 1]]}\n{:type :ok, :process 0,\n :value [[:w \
                1 2] [:q 1 3]]}\n";
    let message = error(edn, None);
    assert!(message.starts_with("h:3:19: expected an operation"), "{message}");
    let json = br#"[{"type":"ok","process":0,"value":[["w",1,1],["w",1,1.5]]}]"#;
    let message = error(json, None);
    assert!(message.starts_with("h:1:46: ") && message.contains("1.5"), "{message}");
}

#[test]
fn one_transaction_in_two_sessions_names_both_lines() {
    let message = error(b"w(1,1,0,7)\nw(1,2,1,7)\n", None);
    assert!(message.starts_with("h:2:1:") && message.contains("line 1"), "{message}");
}

#[test]
fn a_line_of_100_megabytes_ends_soon() {
    let start = Instant::now();
    for byte in [b'a', b'"', b'1'] {
        let line = vec![byte; 100 << 20];
        error(&line, None);
        assert!(start.elapsed() < Duration::from_secs(60), "{}", byte as char);
    }
    let line = vec![b'['; 100 << 20];
    // One format for each parser.
    for format in [
        Format::Plume,
        Format::Awdit,
        Format::DbcopHist,
        Format::ElleEdn,
        Format::Jsonl,
        Format::Cobra,
    ] {
        error(&line, Some(format));
        assert!(start.elapsed() < Duration::from_secs(120), "{format}");
    }
}

#[test]
fn directories_without_a_history_and_files_that_cannot_be_read() {
    let directory = Scratch::new("directory");
    let read = |shown: &str| read_path(&directory.0, shown, &options(None)).unwrap_err();
    assert!(read("d").to_string().starts_with("d: not a history"), "{}", read("d"));
    for name in ["a.txt", "b.txt"] {
        std::fs::write(directory.0.join(name), "hello").unwrap();
    }
    assert!(read("d/").to_string().contains("a.txt, b.txt"), "{}", read("d/"));
    // A log that leads nowhere cannot be opened, not even by the superuser.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", directory.0.join("T1.log")).unwrap();
        match read("d/") {
            ReadError::Io { file, .. } => assert_eq!(&*file, "d/T1.log"),
            other => panic!("{other}"),
        }
    }
    let missing = read_path(&directory.0.join("missing"), "missing", &options(None)).unwrap_err();
    assert!(missing.to_string().starts_with("missing: "), "{missing}");
}

#[test]
fn logs_of_one_number_stay_different_sessions() {
    let directory = Scratch::new("numbers");
    let (history, _) = read_bytes(b"w(1,1,0,0)", "h", &options(None)).unwrap();
    let mut bytes = Vec::new();
    write(&history, Format::Cobra, &mut bytes).unwrap();
    std::fs::write(directory.0.join("J1.log"), &bytes).unwrap();
    bytes[8] = 5;
    let last = bytes.len() - 1;
    bytes[last] = 5;
    std::fs::write(directory.0.join("T1.log"), &bytes).unwrap();
    let (history, format) = read_path(&directory.0, "d", &options(None)).unwrap();
    assert_eq!((format, history.session_count(), history.txn_count()), (Format::Cobra, 2, 2));
    let names: Vec<String> =
        history.sessions().map(|session| history.session_name(session).to_string()).collect();
    assert_eq!(names, ["d/J1.log", "d/T1.log"]);
}

#[cfg(not(feature = "compression"))]
#[test]
fn a_compressed_file_names_the_feature_that_reads_it() {
    let directory = Scratch::new("slim");
    let history = notation::parse("a: w(x,1) | r(x,1)").unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"w(1,1,0,0)").unwrap();
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0].to_vec();
    for (ending, name, bytes) in [("gz", "gzip", gzip.finish().unwrap()), ("zst", "zstd", zstd)] {
        let message = error(&bytes, None);
        let wanted = format!("h: compressed with {name}; enable the feature `compression`");
        assert!(message.starts_with(&wanted), "{message}");
        // A log of a directory that cannot be read is an error, not a session less.
        let logs = Scratch::new(&format!("slim-{ending}"));
        std::fs::write(logs.0.join(format!("T0.log.{ending}")), &bytes).unwrap();
        let message = read_path(&logs.0, "d", &options(None)).unwrap_err().to_string();
        assert!(message.starts_with(&format!("d/T0.log.{ending}: compressed")), "{message}");
        let path = directory.0.join(format!("h.jsonl.{ending}"));
        let message = write_path(&history, Format::Jsonl, &path).unwrap_err().to_string();
        assert!(message.contains("feature `compression`") && !path.exists(), "{message}");
    }
}

#[cfg(feature = "compression")]
#[test]
fn compressed_logs_and_logs_without_an_ending_are_one_history() {
    let (history, _) = read_bytes(b"w(1,1,0,0)", "h", &options(None)).unwrap();
    let mut bytes = Vec::new();
    write(&history, Format::Cobra, &mut bytes).unwrap();
    let cobra = Scratch::new("compressed-logs");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&bytes).unwrap();
    std::fs::write(cobra.0.join("T0.log.gz"), gzip.finish().unwrap()).unwrap();
    assert!(is_history_directory(&cobra.0));
    assert_eq!(read_path(&cobra.0, "d", &options(None)).unwrap().1, Format::Cobra);
    for name in ["J0", "J0.json", "J0.log"] {
        let viper = Scratch::new(&format!("viper-{name}"));
        std::fs::write(viper.0.join(name), "{\"value\": [[\"w\", 1, 2, true]]}\n").unwrap();
        assert!(is_history_directory(&viper.0), "{name}");
        let (history, format) = read_path(&viper.0, "d", &options(None)).unwrap();
        assert_eq!(format, Format::Viper, "{name}");
        assert_eq!(history.session_name(seriatim_history::SessionId(0)).to_string(), "0", "{name}");
    }
}

#[test]
fn logs_of_other_programs_make_no_history() {
    let store = Scratch::new("store");
    let file = |name: &str, content: &[u8]| std::fs::write(store.0.join(name), content).unwrap();
    file("jepsen.log", b"2024-01-01 INFO jepsen.core - Starting\n");
    file("empty.log", b"");
    file("a.txt", b"w(1,1,0,0)");
    assert!(!is_history_directory(&store.0));
    file("history.edn", b"{:type :ok, :process 0, :value [[:w 1 1]]}\n");
    file("results.edn", b"{:valid? true}\n");
    assert!(is_history_directory(&store.0));
    assert_eq!(read_path(&store.0, "d", &options(None)).unwrap().1, Format::ElleEdn);
    // Beside a client's log, the text is noise; a damaged log is not.
    let (history, _) = read_bytes(b"w(1,1,0,0)", "h", &options(None)).unwrap();
    let mut bytes = Vec::new();
    write(&history, Format::Cobra, &mut bytes).unwrap();
    file("T3.log", &bytes);
    let (history, format) = read_path(&store.0, "d", &options(None)).unwrap();
    assert_eq!((format, history.txn_count()), (Format::Cobra, 1));
    assert_eq!(history.session_count(), 2, "the empty log is a session");
    file("T4.log", b"not a log");
    let error = read_path(&store.0, "d", &options(None)).unwrap_err().to_string();
    assert!(error.starts_with("d/T4.log at byte 0"), "{error}");
}

#[test]
fn writing_is_all_or_nothing() {
    let directory = Scratch::new("writing");
    let path = directory.0.join("h.txt");
    std::fs::write(&path, "precious").unwrap();
    let lists = notation::parse("a: a(l,1)").unwrap();
    assert!(
        write_path(&lists, Format::Plume, &path).unwrap_err().to_string().contains("write elle")
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(&directory.0).unwrap().count(), 1);
    let (history, _) = read_bytes(b"w(1,1,0,0)", "h", &options(None)).unwrap();
    let error = write_path(&history, Format::Cobra, &directory.0).unwrap_err().to_string();
    assert!(error.contains("not empty"), "{error}");
    #[cfg(target_os = "linux")]
    assert!(write_path(&history, Format::Plume, std::path::Path::new("/dev/full")).is_err());
    write_path(&history, Format::Plume, &path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "w(1,1,0,0)\n");
}

/// A directory that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("seriatim-bad-inputs-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Changes to a file: where, and what to put there.
fn mutate(bytes: &[u8], changes: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for &(at, kind, byte) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = at % bytes.len();
        match kind % 4 {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => bytes[at] = b"0123456789-()[]{}\",:= \n"[usize::from(byte) % 23],
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_reader_panics_on_damaged_files(
        format in prop::sample::select(Format::ALL),
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..8),
    ) {
        let bytes = mutate(&sample(format), &changes);
        let _ = read_bytes(&bytes, "h", &options(Some(format)));
        let _ = read_bytes(&bytes, "h", &options(None));
    }

    #[test]
    fn no_reader_panics_on_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = detect(&bytes);
        for &format in Format::ALL {
            let _ = read_bytes(&bytes, "h", &options(Some(format)));
        }
    }

    /// What only Clojure writes, and registers; with and without what is not understood.
    #[test]
    fn no_reader_panics_on_damaged_edn(
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..12),
        skip_unknown in any::<bool>(),
    ) {
        let text = b"#_{:a #_ #_ b c} ^{:m 1} #:j{:type :ok, :process 0x1F, :time ##Inf, \
                     :re #\"a\\\"b\", :value #v ([:w 017 2r101] #_[:w 1 2])}\n\
                     {:type :invoke :process 1 :f :cas :value [7 [nil 2]] :c \\u0041 :r 1/2}\n\
                     {:type :ok :process 1 :f :cas :value [7 [nil 2]]}\n\
                     {:type :fail :process \\a :f :transfer :value #{\"\\ud83d\\ude00\\101\"}}\n";
        let bytes = mutate(text, &changes);
        let edn = ReadOptions { skip_unknown, ..options(Some(Format::ElleEdn)) };
        let _ = read_bytes(&bytes, "h", &edn);
    }
}

#[test]
fn text_in_utf_16_is_named_as_such() {
    let text = "{:type :ok, :process 0, :value [[:w 1 1]]}\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    let inputs =
        [marked(b"\xff\xfe", &little), marked(b"\xfe\xff", &big), little.clone(), big.clone()];
    for bytes in inputs {
        for format in [None, Some(Format::ElleEdn), Some(Format::Plume)] {
            assert_eq!(
                error(&bytes, format),
                "h at byte 0: this is text in UTF-16, expected UTF-8; convert it, for example \
                 with `iconv -f UTF-16 -t UTF-8`"
            );
        }
    }
}

#[test]
fn transactions_of_unknown_content_are_kept_or_refused() {
    let edn = b"{:type :ok :process 0 :f :txn :value [[:w 1 1] [:r 2 9]]}\n\
                {:type :ok :process 1 :f :transfer :value {:from 1}}\n";
    let skipping = ReadOptions { skip_unknown: true, ..ReadOptions::default() };
    let (history, _) = read_bytes(edn, "h", &skipping).unwrap();
    for &format in Format::ALL.iter().filter(|&&format| format != Format::Jsonl) {
        let refused = write(&history, format, &mut Vec::new()).unwrap_err().to_string();
        assert!(refused.contains("transactions of unknown content are missing"), "{refused}");
        assert!(refused.ends_with("write jsonl instead"), "{refused}");
    }
    let mut jsonl = Vec::new();
    write(&history, Format::Jsonl, &mut jsonl).unwrap();
    let (copy, _) = read_bytes(&jsonl, "copy", &options(None)).unwrap();
    assert_eq!((copy.unknown_content(), copy.op_count()), (1, 1));
    let alone = edn.split_inclusive(|&byte| byte == b'\n').next().unwrap();
    let (other, _) = read_bytes(alone, "h", &options(None)).unwrap();
    assert_ne!(copy.fingerprint(), other.fingerprint());
    let bad = b"{\"seriatim\":1,\"unknown_content\":-1}\n{\"session\":1,\"ops\":[]}\n";
    assert!(error(bad, None).contains("`unknown_content` must be a number of transactions"));
}

#[test]
fn an_input_without_a_transaction_is_an_error_in_every_format() {
    for text in ["", "\n\n", "[]", "[ ]\n", "{}", "()", "[[]]", "{\"data\":[]}", "{\"seriatim\":1}"]
    {
        let message = error(text.as_bytes(), None);
        assert!(message.contains("no transactions"), "{text}: {message}");
    }
    for format in [Format::DbcopJson, Format::ElleEdn, Format::ElleJson, Format::Jsonl] {
        let message = error(b"[]", Some(format));
        assert!(message.contains("no transactions"), "{format}: {message}");
    }
}

#[test]
fn a_key_that_is_a_register_and_a_list_is_an_error_at_both_places() {
    let edn = "{:type :ok, :process 0, :value [[:w :x 1]]}\n\
               {:type :ok, :process 1, :value [[:append :x 2]]}\n";
    let told = "h:2: the key :x is appended to here, but written in line 1; a key is a register";
    assert!(error(edn.as_bytes(), None).starts_with(told), "{}", error(edn.as_bytes(), None));
    let json = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",\"x\",1]]}\n\
                {\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",\"x\",1]]}\n";
    let told = "h:2: the key x is read as a register here, but appended to in line 1";
    assert!(error(json.as_bytes(), None).starts_with(told), "{}", error(json.as_bytes(), None));
    let jsonl = "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n\
                 {\"session\":2,\"ops\":[[\"r\",\"x\",[1]]]}\n";
    let told = "h:2: the key x is read as a list here, but written in line 1";
    assert!(error(jsonl.as_bytes(), None).starts_with(told), "{}", error(jsonl.as_bytes(), None));
}
