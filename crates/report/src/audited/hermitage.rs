//! The scenarios of Hermitage: which anomalies happen at which setting.

use crate::prose::clean;
use crate::style::{BOLD, paint};

/// The scenarios on a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hermitage {
    /// The database with its version.
    pub product: String,
    /// Its settings.
    pub settings: Vec<String>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
}

/// A scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Whether its anomaly happened, at each setting; `None` if it was not played.
    pub happened: Vec<Option<bool>>,
}

fn mark(happened: Option<bool>) -> &'static str {
    match happened {
        Some(true) => "x",
        Some(false) => "·",
        None => "?",
    }
}

impl Hermitage {
    /// The table as text.
    pub fn text(&self) -> String {
        let widest = |names: &mut dyn Iterator<Item = &String>| {
            names.map(|name| name.chars().count()).max().unwrap_or(0)
        };
        let first = widest(&mut self.scenarios.iter().map(|it| &it.name));
        let title = format!("{}: Hermitage", clean(&self.product));
        let mut page = format!("\n{}\n  {:first$}", paint(BOLD, &title), "");
        self.settings.iter().for_each(|name| page += &format!("  {name}"));
        page.push('\n');
        for scenario in &self.scenarios {
            page += &format!("  {:first$}", scenario.name);
            for (setting, happened) in self.settings.iter().zip(&scenario.happened) {
                page += &format!("  {:>1$}", mark(*happened), setting.chars().count());
            }
            page.push('\n');
        }
        page + "  x happened, · prevented, ? not played\n"
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let mut page = format!("| {}: scenario |", clean(&self.product));
        self.settings.iter().for_each(|name| page += &format!(" {name} |"));
        page += "\n|---|";
        self.settings.iter().for_each(|_| page += "---|");
        page.push('\n');
        for scenario in &self.scenarios {
            page += &format!("| {} |", scenario.name);
            scenario.happened.iter().for_each(|it| page += &format!(" {} |", mark(*it)));
            page.push('\n');
        }
        page
    }

    /// The line, without a line end, as [`crate::schema::AUDIT`] describes it.
    pub fn json(&self) -> String {
        let scenarios: serde_json::Map<String, serde_json::Value> = self
            .scenarios
            .iter()
            .map(|scenario| {
                let cells = self.settings.iter().zip(&scenario.happened);
                let cells = cells.map(|(name, happened)| (name.clone(), (*happened).into()));
                (scenario.name.clone(), serde_json::Value::Object(cells.collect()))
            })
            .collect();
        serde_json::json!({ "database": self.product, "hermitage": scenarios }).to_string()
    }
}
