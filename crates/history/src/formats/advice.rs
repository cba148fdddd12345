//! Which format to write if one cannot hold a history: only those that can, which is found out by
//! trying.

use super::{Format, write_as};
use crate::error::WriteError;
use crate::model::History;
use std::io;

/// What is offered, the simplest first. The last holds every history.
const OFFERED: [Format; 4] = [Format::Plume, Format::DbcopHist, Format::ElleEdn, Format::Jsonl];

/// The same error, with the formats that hold the whole history.
pub(super) fn advised(history: &History, error: WriteError) -> WriteError {
    let WriteError::Unsupported { format, what, hint } = error else { return error };
    let fits = |other: &Format| {
        other.code() != format && write_as(history, *other, &mut io::sink()).is_ok()
    };
    let codes: Vec<&str> = OFFERED.into_iter().filter(fits).map(Format::code).collect();
    let advice = match codes.as_slice() {
        [] => None,
        [only] => Some(format!("write {only} instead")),
        [others @ .., last] => Some(format!("write {} or {last} instead", others.join(", "))),
    };
    let reason = Some(hint).filter(|hint| !hint.is_empty());
    let hint = reason.into_iter().chain(advice).collect::<Vec<_>>().join("; ");
    WriteError::Unsupported { format, what, hint }
}

#[cfg(test)]
mod tests {
    use crate::formats::{Format, write};
    use crate::notation;
    use std::io;

    fn refused(history: &str, format: Format) -> String {
        write(&notation::parse(history).unwrap(), format, &mut io::sink()).unwrap_err().to_string()
    }

    #[test]
    fn only_formats_that_hold_the_history_are_offered() {
        let words = refused("a: w(x,hello)", Format::Viper);
        assert!(words.ends_with("; write elle or jsonl instead"), "{words}");
        let names = refused("a: w(x,1)", Format::DbcopBincode);
        assert!(names.ends_with("write dbcop-hist, elle or jsonl instead"), "{names}");
    }
}
