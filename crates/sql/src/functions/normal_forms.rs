//! Unicode's normal forms.

use super::arguments::Entry;
use crate::error::{Result, SqlError, code};
use unicode_normalization::UnicodeNormalization;

fn normalized(text: &str, form: &str) -> Result<String> {
    Ok(match form.to_uppercase().as_str() {
        "NFC" => text.nfc().collect(),
        "NFD" => text.nfd().collect(),
        "NFKC" => text.nfkc().collect(),
        "NFKD" => text.nfkd().collect(),
        _ => {
            let message = format!("invalid normalization form: {form}");
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
        }
    })
}

fn is_normalized(text: &str, form: &str) -> Result<bool> {
    Ok(normalized(text, form)? == text)
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "unicode_normalize_func", (text: &str, form: &str) => normalized(text, form);
    "unicode_is_normalized", (text: &str, form: &str) => is_normalized(text, form);
}];
