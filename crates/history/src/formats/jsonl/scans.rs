//! Groups of keys and scans of them, as JSON.
//!
//! ```text
//! {"seriatim":1,"groups":{"booking":["booking[1]","booking[2]"]}}
//! {"session":1,"ops":[["r","booking[1]",7],["scan","booking",{"seen":[0]}]]}
//! ```
//!
//! Sets of keys are positions in the group, ascending: a number, or the first and the last one of
//! neighbours.

use super::super::build::Builder;
use super::super::json;
use super::super::json::{Json, Members};
use crate::intervals::Intervals;
use crate::model::History;
use crate::scans::{Group, ScanContent};
use rustc_hash::FxHashMap;

/// The groups of a header.
#[derive(Default)]
pub(super) struct Groups {
    numbers: FxHashMap<Box<str>, u32>,
    lens: Vec<u32>,
}

impl Groups {
    /// Takes over the member `groups` of a header.
    pub fn read(&mut self, field: Option<Json>, builder: &mut Builder) -> Result<(), String> {
        let groups = match field {
            None | Some(Json::Null) => return Ok(()),
            Some(Json::Object(groups)) => groups,
            Some(_) => return Err("`groups` must be an object of names and their keys".to_owned()),
        };
        let mut group_of: FxHashMap<_, String> = FxHashMap::default();
        for (name, keys) in groups.into_vec() {
            let Json::Array(keys) = keys else {
                return Err(format!("the group `{name}` must be an array of keys, found {keys}"));
            };
            let mut group = Group { name: name.as_str().into(), keys: Vec::new() };
            for key in &keys {
                let atom = json::atom(key).map_err(|text| format!("group `{name}`: {text}"))?;
                let key = builder.key(atom.clone());
                if let Some(other) = group_of.insert(key, name.clone()) {
                    return Err(format!("the key {atom} is in the group `{other}` already"));
                }
                group.keys.push(key);
            }
            self.numbers.insert(group.name.clone(), self.lens.len() as u32);
            self.lens.push(group.keys.len() as u32);
            builder.columns.groups.push(group);
        }
        Ok(())
    }

    /// The scan of an operation `["scan", name, content]`.
    pub fn scan(&self, name: &Json, content: &Json) -> Result<ScanContent, String> {
        let name = name.as_str().unwrap_or_default();
        let group = self.numbers.get(name).copied();
        let group = group.ok_or_else(|| format!("no group of the header is called `{name}`"))?;
        let Json::Object(fields) = content else {
            return Err("expected a scan like [\"scan\",\"g\",{\"seen\":[0,[2,5]]}]".to_owned());
        };
        let len = self.lens[group as usize];
        let set = |field: &str| fields.get(field).map(|set| positions(field, set, len)).transpose();
        let members = set("members")?;
        let seen = set("seen")?.unwrap_or_default();
        let unchanged = set("unchanged")?.unwrap_or_default();
        let known = ["members", "seen", "unchanged"];
        if let Some(strange) = fields.names().find(|field| !known.contains(field)) {
            return Err(format!("a scan has members, seen and unchanged keys, not `{strange}`"));
        }
        if let Some(both) = seen.and(&unchanged).first() {
            return Err(format!("position {both} cannot be both seen and unchanged"));
        }
        let all = members.clone().unwrap_or_else(|| Intervals::below(len));
        if let Some(strange) = seen.or(&unchanged).without(&all).first() {
            return Err(format!("position {strange} is not among the members of the scan"));
        }
        Ok(ScanContent { group, members, seen, unchanged })
    }
}

fn positions(field: &str, set: &Json, len: u32) -> Result<Intervals, String> {
    let bad = || {
        format!("`{field}` must be ascending positions below {len}, like [0,[2,5]], found {set}")
    };
    let number = |value: &Json| {
        value.as_u64().filter(|&number| number < u64::from(len)).map(|number| number as u32)
    };
    let mut positions = Intervals::none();
    for item in set.as_array().ok_or_else(bad)? {
        let (first, last) = match item {
            Json::Array(pair) => match &pair[..] {
                [first, last] => (number(first), number(last)),
                _ => (None, None),
            },
            item => (number(item), number(item)),
        };
        let (first, last) = first.zip(last).ok_or_else(bad)?;
        if first > last || !positions.push(first, last + 1) {
            return Err(bad());
        }
    }
    Ok(positions)
}

/// The member `groups` of a header.
pub(super) fn groups_json(history: &History) -> Json {
    let group = |group: &Group| {
        let keys = group.keys.iter().map(|&key| json::of_atom(&history.key_name(key)));
        (group.name.to_string(), Json::Array(keys.collect()))
    };
    Json::Object(Members::new(history.groups().iter().map(group).collect()).unwrap_or_default())
}

/// A scan as an operation.
pub(super) fn scan_json(history: &History, scan: &ScanContent) -> Json {
    let mut fields = Vec::new();
    let mut set = |field: &str, positions: &Intervals| {
        let item = |(start, end): (u32, u32)| match end - start {
            1 => Json::Int(start.into()),
            _ => vec![Json::Int(start.into()), Json::Int((end - 1).into())].into(),
        };
        fields.push((field.to_owned(), Json::Array(positions.iter().map(item).collect())));
    };
    if let Some(members) = &scan.members {
        set("members", members);
    }
    for (field, positions) in [("seen", &scan.seen), ("unchanged", &scan.unchanged)] {
        if !positions.is_empty() {
            set(field, positions);
        }
    }
    let name = &*history.groups()[scan.group as usize].name;
    let content = Json::Object(Members::new(fields).unwrap_or_default());
    vec!["scan".into(), name.into(), content].into()
}
