//! Which transactions have another number after they were written in a format: a user who looks for
//! transaction 17 of the input in a report about the output should know.

use super::{Format, cobra, elle, plume};
use crate::atom::Atom;
use crate::model::{History, Names};

/// How many transactions with a number in the input get another one. Numbers that no input gave are
/// not missed.
pub(super) fn renumbered(history: &History, format: Format) -> usize {
    if matches!(history.txn_names, Names::Implicit { .. }) {
        return 0;
    }
    let number = |place: usize| Some(place as i128);
    let written: Vec<Option<i128>> = match format {
        Format::Jsonl => return 0,
        Format::Plume => plume::txn_numbers(history),
        Format::Cobra => cobra::txn_numbers(history),
        Format::ElleEdn | Format::ElleJson => elle::txn_numbers(history),
        Format::DbcopBincode | Format::DbcopHist | Format::DbcopJson | Format::Viper => {
            (1..=history.txn_count()).map(number).collect()
        }
        Format::Awdit => (0..history.txn_count()).map(number).collect(),
        Format::IsoPredict => vec![None; history.txn_count()],
    };
    let differs = |(name, written): (Atom, Option<i128>)| match name {
        Atom::Int(number) => written != Some(number),
        _ => false,
    };
    history
        .txns()
        .map(|txn| history.txn_name(txn))
        .zip(written)
        .filter(|pair| differs(pair.clone()))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ReadOptions, read_bytes, write};

    /// What is counted is what is different when it is read back.
    fn compare(text: &str) {
        let (history, _) = read_bytes(text.as_bytes(), "h", &ReadOptions::default()).unwrap();
        for &format in Format::ALL.iter().filter(|format| !format.is_directory_format()) {
            let mut bytes = Vec::new();
            if write(&history, format, &mut bytes).is_err() {
                continue;
            }
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            let (back, _) = read_bytes(&bytes, "back", &options).unwrap();
            let pairs = history.txns().zip(back.txns());
            let differ =
                pairs.filter(|&(txn, copy)| history.txn_name(txn) != back.txn_name(copy)).count();
            assert_eq!(renumbered(&history, format), differ, "{format}: {text}");
        }
    }

    #[test]
    fn what_is_counted_is_what_differs_when_it_is_read_back() {
        compare("w(1,1,1,10)\nr(1,1,2,20)\nw(2,1,1,3)\n");
        compare("w(1,1,1,1)\nr(1,1,1,2)\nw(2,1,2,3)\n");
        compare("w(1,1,1,0)\nr(1,1,1,1)\nw(2,1,2,2)\n");
        let line = |session: u32, txn: u32, time: u32, op: &str| {
            let end = time + 1;
            format!(
                "{{\"session\":{session},\"txn\":{txn},\"begin\":{time},\"end\":{end},\
                 \"ops\":[[{op}]]}}\n"
            )
        };
        compare(
            &(line(1, 7, 1, "\"w\",1,1")
                + &line(2, 8, 3, "\"r\",1,1")
                + &line(1, 9, 5, "\"w\",1,2")),
        );
    }
}
