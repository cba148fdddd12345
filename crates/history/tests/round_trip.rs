//! What a format can hold comes back from it unchanged: random histories, written and read.

use proptest::prelude::*;
use seriatim_history::formats::{Format, ReadOptions, read_bytes, read_path, write, write_path};
use seriatim_history::{
    Atom, Columns, History, Initial, KeyId, KeyNames, Names, Op, OpId, OpKind, Status, TxnId,
    Value, ValueKind, WriteError,
};

/// What a format is able to express.
#[derive(Clone, Copy)]
struct Shape {
    aborted: bool,
    unknown: bool,
    lists: bool,
    text_keys: bool,
    initial_reads: bool,
    thin_air: bool,
    times: bool,
    /// Whether transactions without operations survive.
    empty_txns: bool,
    /// Whether values come back as they were, not only which of them are equal.
    exact_values: bool,
}

const NOTHING: Shape = Shape {
    aborted: false,
    unknown: false,
    lists: false,
    text_keys: false,
    initial_reads: true,
    thin_air: true,
    times: false,
    empty_txns: true,
    exact_values: true,
};

fn shape(format: Format) -> Shape {
    match format {
        Format::Plume => Shape { aborted: true, empty_txns: false, ..NOTHING },
        Format::Awdit => Shape { initial_reads: false, empty_txns: false, ..NOTHING },
        Format::DbcopBincode | Format::DbcopJson => Shape { aborted: true, ..NOTHING },
        Format::DbcopHist => Shape { aborted: true, text_keys: true, ..NOTHING },
        Format::ElleEdn | Format::ElleJson => Shape {
            aborted: true,
            unknown: true,
            lists: true,
            text_keys: true,
            times: true,
            ..NOTHING
        },
        Format::IsoPredict => Shape {
            text_keys: true,
            thin_air: false,
            empty_txns: false,
            exact_values: false,
            ..NOTHING
        },
        Format::Cobra => Shape { exact_values: false, ..NOTHING },
        Format::Viper => NOTHING,
        _ => Shape {
            aborted: true,
            unknown: true,
            lists: true,
            text_keys: true,
            times: true,
            ..NOTHING
        },
    }
}

/// A random transaction: session, a number that decides its status, and operations as numbers.
type RawTxn = (u32, u8, Vec<(u8, u8, u8)>);

fn raw_history() -> impl Strategy<Value = Vec<RawTxn>> {
    let op = (0u8..4, 0u8..5, any::<u8>());
    prop::collection::vec((0u32..4, any::<u8>(), prop::collection::vec(op, 0..6)), 1..12)
}

/// What the keys start with, and whether values are written twice.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Values {
    /// No key has an initial value; every write of a key has its own value.
    Nothing,
    /// All keys start as 0; every write of a key has its own value.
    Zero,
    /// Keys start as 0 or with another value, which transactions may write, too; and they write
    /// values twice.
    Open { yields: bool },
}

fn values() -> impl Strategy<Value = Values> {
    prop_oneof![
        Just(Values::Nothing),
        Just(Values::Zero),
        any::<bool>().prop_map(|yields| Values::Open { yields }),
    ]
}

/// The initial values of single keys, if these are open. Keys 1 and 3 are lists where there are
/// lists.
const OPEN_INITIAL: [(u32, u64); 3] = [(0, 0), (2, 2003), (4, 77)];

/// Makes a history that the shape allows.
fn build(raw: &[RawTxn], shape: Shape, start: Values) -> History {
    let (initial_zero, open) = (start != Values::Nothing, matches!(start, Values::Open { .. }));
    let mut columns = Columns::default();
    let mut written: Vec<Vec<u64>> = vec![Vec::new(); 5];
    let mut clock = 0;
    let mut times = Vec::new();
    for (session, fate, ops) in raw {
        let status = match fate % 8 {
            0 if shape.aborted => Status::Aborted,
            1 if shape.unknown => Status::Unknown,
            _ => Status::Committed,
        };
        let txn = columns.push_txn(*session, status);
        let begin = clock;
        clock += 10;
        times.push((begin, if status == Status::Unknown { i64::MAX } else { clock }));
        for &(kind, key, choice) in ops {
            let values = &mut written[key as usize];
            // Odd keys are lists where lists are allowed.
            let is_list = shape.lists && key % 2 == 1;
            if kind == 0 {
                let value = match choice % 8 {
                    0 if open && !is_list => 0,
                    1 if open && !is_list && !values.is_empty() => {
                        values[choice as usize % values.len()]
                    }
                    _ => (values.len() as u64 + 1) * 3 + u64::from(key) * 1000,
                };
                values.push(value);
                let kind = if is_list { OpKind::Append } else { OpKind::Write };
                columns.push_op(txn, kind, KeyId(key.into()), Value::small(value).unwrap());
                continue;
            }
            let known: Vec<u64> = values.clone();
            let value = match known.get(choice as usize % (known.len() + 2)) {
                Some(_) if is_list => {
                    let items = known.iter().take(1 + choice as usize % known.len());
                    columns.lists.push(items.map(|&v| Value::small(v).unwrap()).collect());
                    Value::list(columns.lists.len() as u32 - 1)
                }
                Some(&value) => Value::small(value).unwrap(),
                // Whether nil was read or nothing is known cannot be told there.
                None if status != Status::Committed || !shape.initial_reads => continue,
                None if choice % 16 == 3 && shape.thin_air && !is_list => {
                    Value::small(999_999).unwrap()
                }
                None if open && !is_list && choice % 3 > 0 => {
                    let explicit = OPEN_INITIAL.iter().find(|(of, _)| *of == u32::from(key));
                    Value::small(explicit.map_or(0, |(_, value)| *value)).unwrap()
                }
                None if initial_zero && !open && !is_list => Value::small(0).unwrap(),
                None => Value::NULL,
            };
            columns.push_op(txn, OpKind::Read, KeyId(key.into()), value);
        }
    }
    columns.session_count = 4;
    // Traces call sessions by numbers from 1.
    let names = if shape.exact_values { [7, 3, 12, 5] } else { [1, 2, 3, 4] };
    columns.session_names = Names::Numbers(names.to_vec());
    columns.txn_names = Names::Numbers((0..raw.len() as i64).map(|i| i * 2 + 100).collect());
    columns.key_names = match shape.text_keys {
        true => KeyNames::Table(
            ["x", "y\"z", "k_2", "ключ", "9x"].map(|name| Atom::Str(name.into())).to_vec(),
        ),
        false => KeyNames::Numbers { count: 5 },
    };
    if shape.times {
        columns.txn_times = Some(times);
    }
    if initial_zero {
        let yields_to_writes = start != Values::Open { yields: false };
        columns.initial =
            Initial { default: Value::small(0), yields_to_writes, ..Initial::default() };
    }
    if open {
        let explicit = OPEN_INITIAL.map(|(key, value)| (KeyId(key), Value::small(value).unwrap()));
        columns.initial.values =
            explicit.into_iter().filter(|(key, _)| !shape.lists || key.0 % 2 == 0).collect();
    }
    columns.finish().unwrap()
}

/// A history as plain data, values by name: sessions of transactions with operations.
type Plain = Vec<Vec<PlainTxn>>;

/// A transaction of it: kind, key and value of each operation.
type PlainTxn = (Status, Vec<(OpKind, String, String)>);

fn plain(history: &History, shape: Shape) -> Plain {
    let mut numbers: Vec<(KeyId, Value)> = Vec::new();
    let mut sessions = Vec::new();
    let mut order: Vec<_> = history.sessions().collect();
    order.sort_by_key(|&session| history.session_name(session));
    for session in order {
        let mut txns = Vec::new();
        for txn in history.txns_of(session).map(TxnId) {
            let ops: Vec<_> =
                history.ops_of(txn).map(|op| history.op(seriatim_history::OpId(op))).collect();
            let ops = ops.into_iter().filter(|op| {
                // Register text drops the reads of aborted transactions.
                shape.empty_txns
                    || history.status(txn) != Status::Aborted
                    || op.kind != OpKind::Read
            });
            let ops: Vec<_> = ops
                .map(|op| {
                    let text = if let Some(source) = initial_source(history, op) {
                        source.to_owned()
                    } else if shape.exact_values || matches!(op.value.kind(), ValueKind::List(_)) {
                        history.value_text(op.value)
                    } else {
                        let known = numbers.iter().position(|&other| other == (op.key, op.value));
                        known
                            .unwrap_or_else(|| {
                                numbers.push((op.key, op.value));
                                numbers.len() - 1
                            })
                            .to_string()
                    };
                    (op.kind, history.key_name(op.key).to_string(), text)
                })
                .collect();
            if shape.empty_txns || !ops.is_empty() {
                txns.push((history.status(txn), ops));
            }
        }
        if !txns.is_empty() {
            sessions.push(merge_aborted(txns, shape));
        }
    }
    if shape.exact_values {
        sessions.sort_by_key(|txns| format!("{txns:?}"));
    }
    sessions
}

/// Whether a read is of the initial value for certain, or perhaps; `None` if it is not.
fn initial_source(history: &History, read: Op) -> Option<&'static str> {
    if read.kind != OpKind::Read {
        return None;
    }
    let ops = || (0..history.op_count() as u32).map(|op| history.op(OpId(op)));
    let written =
        || ops().any(|op| op.kind != OpKind::Read && (op.key, op.value) == (read.key, read.value));
    match history.initial().value_of(read.key) == Some(read.value) {
        _ if read.value == Value::NULL => Some("initial"),
        true if !written() => Some("initial"),
        true if !history.initial().yields(read.key) => Some("contested"),
        _ => None,
    }
}

/// Register text cannot tell neighbouring aborted transactions apart: compare them as one.
fn merge_aborted(txns: Vec<PlainTxn>, shape: Shape) -> Vec<PlainTxn> {
    let mut merged: Vec<PlainTxn> = Vec::new();
    for (status, mut ops) in txns {
        match merged.last_mut() {
            Some((Status::Aborted, last)) if status == Status::Aborted && !shape.empty_txns => {
                last.append(&mut ops)
            }
            _ => merged.push((status, ops)),
        }
    }
    merged
}

fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, threads: 2, ..ReadOptions::default() }
}

fn check(format: Format, raw: &[RawTxn], values: Values) -> Result<(), TestCaseError> {
    let shape = shape(format);
    let history = build(raw, shape, values);
    // What is open may be more than a format can say; but then it must say so.
    let may_refuse =
        !shape.exact_values || (matches!(values, Values::Open { .. }) && format != Format::Jsonl);
    let expected = plain(&history, shape);
    let back = if format.is_directory_format() {
        let directory = std::env::temp_dir()
            .join(format!("seriatim-round-trip-{}-{format}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        match write_path(&history, format, &directory) {
            Err(WriteError::Unsupported { .. }) if may_refuse => return Ok(()),
            result => result.map_err(|error| TestCaseError::fail(error.to_string()))?,
        }
        let result = read_path(&directory, "dir", &options(None));
        let _ = std::fs::remove_dir_all(&directory);
        result
    } else {
        let mut bytes = Vec::new();
        match write(&history, format, &mut bytes) {
            // Reading an intermediate write, for example, is more than a trace can say.
            Err(WriteError::Unsupported { .. }) if may_refuse => return Ok(()),
            result => result.map_err(|error| TestCaseError::fail(error.to_string()))?,
        }
        if expected.is_empty() {
            prop_assert!(read_bytes(&bytes, "h", &options(Some(format))).is_err());
            return Ok(());
        }
        read_bytes(&bytes, "h", &options(Some(format)))
    };
    let (back, found) = match back {
        Ok(back) => back,
        Err(error) if expected.is_empty() || history.op_count() == 0 => {
            prop_assert!(
                error.to_string().contains("no transactions")
                    || error.to_string().contains("not a history")
            );
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    prop_assert_eq!(found, format);
    prop_assert_eq!(plain(&back, shape), expected);
    prop_assert_eq!(back.has_times(), shape.times);
    if shape.times && format == Format::Jsonl {
        let times = |h: &History| {
            h.txns_in_file_order().into_iter().map(|txn| h.times(txn)).collect::<Vec<_>>()
        };
        prop_assert_eq!(times(&back), times(&history));
    }
    Ok(())
}

#[test]
fn what_is_open_is_not_decided_by_writing_it() {
    let text = "{\"seriatim\":1,\"initial\":{\"1\":7}}\n\
                {\"session\":1,\"txn\":1,\"ops\":[[\"w\",1,7]]}\n\
                {\"session\":2,\"txn\":2,\"ops\":[[\"r\",1,7]]}\n";
    let (history, _) = read_bytes(text.as_bytes(), "h", &options(None)).unwrap();
    for &format in
        Format::ALL.iter().filter(|format| !matches!(format, Format::Jsonl | Format::Viper))
    {
        let path =
            std::env::temp_dir().join(format!("seriatim-open-{}-{format}", std::process::id()));
        let error = write_path(&history, format, &path).map(|()| format).unwrap_err();
        assert!(
            !path.exists() && matches!(error, WriteError::Unsupported { .. }),
            "{format}: {error}"
        );
        assert!(error.to_string().contains("jsonl"), "{error}");
    }
}

macro_rules! round_trips {
    ($($name:ident: $format:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig {
                cases: 300,
                failure_persistence: None,
                ..ProptestConfig::default()
            })]
            $(
                #[test]
                fn $name(raw in raw_history(), values in values()) {
                    check($format, &raw, values)?;
                }
            )*
        }
    };
}

round_trips! {
    plume: Format::Plume;
    cobra: Format::Cobra;
    dbcop_bincode: Format::DbcopBincode;
    dbcop_hist: Format::DbcopHist;
    dbcop_json: Format::DbcopJson;
    awdit: Format::Awdit;
    elle_edn: Format::ElleEdn;
    elle_json: Format::ElleJson;
    isopredict: Format::IsoPredict;
    viper: Format::Viper;
    jsonl: Format::Jsonl;
}
