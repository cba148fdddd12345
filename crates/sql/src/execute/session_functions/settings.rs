//! current_setting and set_config.

use super::{Asked, Exec, Function};
use crate::error::{Result, SqlError, code};
use crate::settings::Settings;
use crate::transaction::SettingChange;
use crate::types::Datum;

/// A setting, also if this statement has set it.
fn find(exec: &Exec<'_>, name: &str) -> Option<String> {
    let is_it = |change: &&SettingChange| change.name.eq_ignore_ascii_case(name);
    let changed = exec.txn.setting_changes.iter().rev().find(is_it);
    changed.map(|change| change.value.clone()).or_else(|| exec.env.settings.find(name))
}

fn current_setting(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let name = asked.text(0)?;
    match find(exec, name) {
        Some(value) => Ok(Datum::text(value)),
        None if asked.flag(1) => Ok(Datum::Null),
        None => Err(SqlError::new(
            code::UNDEFINED_OBJECT,
            format!("unrecognized configuration parameter \"{name}\""),
        )),
    }
}

/// The value is checked now and set when the statement ends.
fn set_config(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(Datum::Text(name)) = asked.args.first() else {
        return Err(SqlError::new(code::NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
    };
    let value = match asked.args.get(1) {
        Some(Datum::Text(value)) => Some(&**value),
        _ => None,
    };
    let mut settings = Settings::clone(&exec.env.settings);
    settings.set(name, value)?;
    let value = settings.find(name).unwrap_or_default();
    let change =
        SettingChange { name: name.to_string(), value: value.clone(), local: asked.flag(2) };
    exec.txn.setting_changes.push(change);
    Ok(Datum::text(value))
}

pub(super) const FUNCTIONS: &[(&str, Function)] =
    &[("current_setting", current_setting), ("set_config", set_config)];
