//! The format that the name of a file asks for, for writing. For reading the content decides.

use super::Format;
use std::path::Path;

/// Endings and the formats that files with them usually have.
const ENDINGS: &[(&str, &[Format])] = &[
    ("jsonl", &[Format::Jsonl]),
    ("edn", &[Format::ElleEdn]),
    ("json", &[Format::ElleJson, Format::DbcopJson]),
    ("txt", &[Format::Plume]),
    ("hist", &[Format::DbcopHist]),
    ("bincode", &[Format::DbcopBincode]),
    ("log", &[Format::Cobra, Format::Viper]),
];

/// The formats that a file called `path` may be meant to have, `.gz` and `.zst` aside; none if the
/// name says nothing.
///
/// Register text is the usual `.txt`; AWDIT's text and traces have to be asked for.
pub fn formats_of_name(path: &Path) -> &'static [Format] {
    let ending =
        |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let ending = match ending(path).as_deref() {
        Some("gz" | "zst") => path.file_stem().and_then(|stem| ending(Path::new(stem))),
        _ => ending(path),
    };
    let entry = ENDINGS.iter().find(|(known, _)| ending.as_deref() == Some(*known));
    entry.map_or(&[], |(_, formats)| formats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_mean_formats_and_compression_does_not_hide_them() {
        let formats = |name: &str| formats_of_name(Path::new(name));
        assert_eq!(formats("a/b.c.jsonl"), [Format::Jsonl]);
        assert_eq!(formats("out.TXT.gz"), [Format::Plume]);
        assert_eq!(formats("out.edn.zst"), [Format::ElleEdn]);
        assert_eq!(formats("out.json"), [Format::ElleJson, Format::DbcopJson]);
        for name in ["out", "-", "out.gz", "out.dat", ".jsonl", "txt", "dir/"] {
            assert!(formats(name).is_empty(), "{name}");
        }
    }
}
