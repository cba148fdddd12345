//! How rows are written in COPY.

use crate::error::{Result, SqlError, code};

/// How rows are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyFormat {
    /// Whether it is the binary format.
    pub binary: bool,
    /// Whether it is CSV.
    pub csv: bool,
    /// What separates columns.
    pub delimiter: char,
    /// What null looks like.
    pub null: String,
    /// Whether the first line has the names.
    pub header: bool,
    /// What quotes values in CSV.
    pub quote: char,
    /// What escapes quotes in CSV.
    pub escape: char,
    /// Columns that are always quoted; `*` is all.
    pub force_quote: Vec<String>,
    /// Columns that are never null.
    pub force_not_null: Vec<String>,
    /// Columns that are null also if they are quoted.
    pub force_null: Vec<String>,
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

fn refused(message: impl Into<String>) -> SqlError {
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
}

type CopyOption = (String, Option<String>, Vec<String>);

impl CopyFormat {
    /// The format that options ask for.
    pub(super) fn of(options: &[CopyOption], from: bool) -> Result<CopyFormat> {
        let (mut binary, mut csv, mut header) = (false, false, false);
        let (mut delimiter, mut null, mut quote, mut escape) = (None, None, None, None);
        let (mut force_quote, mut force_not_null) = (Vec::new(), Vec::new());
        let mut force_null = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value, list) in options {
            if seen.contains(&name.as_str()) {
                return Err(SqlError::new(code::SYNTAX_ERROR, "conflicting or redundant options"));
            }
            seen.push(name);
            let text = value.clone().unwrap_or_default();
            match name.as_str() {
                "format" => match text.as_str() {
                    "text" => {}
                    "csv" => csv = true,
                    "binary" => binary = true,
                    other => {
                        return Err(invalid(format!("COPY format \"{other}\" not recognized")));
                    }
                },
                "freeze" | "encoding" => {}
                "delimiter" => delimiter = Some(text),
                "null" => null = Some(text),
                "quote" => quote = Some(text),
                "escape" => escape = Some(text),
                "header" => {
                    header = match value.as_deref().map(str::to_lowercase).as_deref() {
                        None | Some("true" | "on" | "1") => true,
                        Some("false" | "off" | "0") => false,
                        Some("match") => {
                            return Err(SqlError::unsupported("HEADER MATCH of COPY"));
                        }
                        Some(_) => {
                            return Err(SqlError::new(
                                code::SYNTAX_ERROR,
                                "header requires a Boolean value or \"match\"",
                            ));
                        }
                    };
                }
                "force_quote" if text == "*" => force_quote = vec!["*".to_owned()],
                "force_quote" => force_quote = list.clone(),
                "force_not_null" => force_not_null = list.clone(),
                "force_null" => force_null = list.clone(),
                other => {
                    return Err(SqlError::new(
                        code::SYNTAX_ERROR,
                        format!("option \"{other}\" not recognized"),
                    ));
                }
            }
        }
        if binary && (delimiter.is_some() || null.is_some() || header) {
            let what = match (&delimiter, &null) {
                (Some(_), _) => "DELIMITER",
                (None, Some(_)) => "NULL",
                _ => "HEADER",
            };
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                format!("cannot specify {what} in BINARY mode"),
            ));
        }
        if !csv {
            let given = [
                ("quote", quote.is_some()),
                ("escape", escape.is_some()),
                ("force quote", !force_quote.is_empty()),
                ("force not null", !force_not_null.is_empty()),
                ("force null", !force_null.is_empty()),
            ];
            if let Some((what, _)) = given.iter().find(|(_, given)| *given) {
                return Err(refused(format!("COPY {what} available only in CSV mode")));
            }
        }
        if from && !force_quote.is_empty() {
            return Err(refused("COPY force quote only available using COPY TO"));
        }
        if !from && (!force_null.is_empty() || !force_not_null.is_empty()) {
            return Err(refused("COPY force null only available using COPY FROM"));
        }
        let delimiter = one(delimiter, if csv { ',' } else { '\t' }, "delimiter")?;
        let quote = one(quote, '"', "quote")?;
        let escape = one(escape, quote, "escape")?;
        if csv && delimiter == quote {
            return Err(invalid("COPY delimiter and quote must be different"));
        }
        let bad = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
        if !csv && bad.contains(delimiter) {
            return Err(invalid(format!("COPY delimiter cannot be \"{delimiter}\"")));
        }
        let null = null.unwrap_or_else(|| if csv { String::new() } else { "\\N".to_owned() });
        if null.contains(['\r', '\n']) {
            return Err(invalid("COPY null representation cannot use newline or carriage return"));
        }
        Ok(CopyFormat {
            binary,
            csv,
            delimiter,
            null,
            header,
            quote,
            escape,
            force_quote,
            force_not_null,
            force_null,
        })
    }

    /// An error if an option names a column that is not copied.
    pub(super) fn check_columns(&self, columns: &[&str]) -> Result<()> {
        let lists = [
            ("FORCE_QUOTE", &self.force_quote),
            ("FORCE_NOT_NULL", &self.force_not_null),
            ("FORCE_NULL", &self.force_null),
        ];
        for (what, list) in lists {
            for name in list {
                if name != "*" && !columns.contains(&name.as_str()) {
                    return Err(SqlError::new(
                        code::INVALID_COLUMN_REFERENCE,
                        format!("{what} column \"{name}\" not referenced by COPY"),
                    ));
                }
            }
        }
        Ok(())
    }
}

fn one(given: Option<String>, default: char, what: &str) -> Result<char> {
    let Some(given) = given else { return Ok(default) };
    let mut characters = given.chars();
    match (characters.next(), characters.next()) {
        (Some('\n' | '\r'), None) if what == "delimiter" => {
            Err(invalid("COPY delimiter cannot be newline or carriage return"))
        }
        (Some(one), None) if one.is_ascii() => Ok(one),
        _ => Err(refused(format!("COPY {what} must be a single one-byte character"))),
    }
}
