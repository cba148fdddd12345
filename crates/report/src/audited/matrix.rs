//! The table of a database: its settings and the levels that were seen violated.

use super::Audited;
use crate::prose::clean;
use crate::style::{BOLD, paint};
use crate::text::grouped;

/// A table of several settings: which levels were seen violated.
pub fn matrix(all: &[Audited]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let names: Vec<&str> = first.levels.iter().map(|(level, _)| level.code()).collect();
    let widest = all.iter().map(|it| it.setting.chars().count()).max().unwrap_or(0).max(8);
    let mut page = format!("\n{}\n  {:widest$}", paint(BOLD, &clean(&first.product)), "");
    names.iter().for_each(|name| page += &format!("  {name:>4}"));
    page += "  promises\n";
    for audited in all {
        page += &format!("  {:widest$}", audited.setting);
        for (_, kept) in &audited.levels {
            page += match kept {
                Some(true) => "     ·",
                Some(false) => "     x",
                None => "     ?",
            };
        }
        page += &format!("  {}\n", audited.promise);
    }
    page + "  x violated, · not seen violated, ? undecided\n"
}

/// The same as Markdown.
pub fn markdown(all: &[Audited]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let mut page = format!("| {} |", clean(&first.product));
    first.levels.iter().for_each(|(level, _)| page += &format!(" {level} |"));
    page += " promises | seen |\n|---|";
    first.levels.iter().for_each(|_| page += "---|");
    page += "---|---|\n";
    for audited in all {
        page += &format!("| {} |", audited.setting);
        for (_, kept) in &audited.levels {
            page += match kept {
                Some(true) => " · |",
                Some(false) => " x |",
                None => " ? |",
            };
        }
        let seen: Vec<String> = audited
            .anomalies
            .iter()
            .map(|(name, count)| format!("{name} {}", grouped(*count)))
            .collect();
        page += &format!(" {} | {} |\n", audited.promise, seen.join(", "));
    }
    page
}
