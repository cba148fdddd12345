//! Wikipedia: two users, two pages; read a page (registered or not), watch and unwatch it, update it.
//!
//! A page has a latest revision, a revision has a text. An update adds both, moves the page to the new revision, notes the change in
//! `recentchanges` and `logging`, and counts the edits of the user. An update is one transaction here; the new revision's number
//! comes from the client, where the original takes it from a sequence.

use super::{Dice, Step, add, column, insert, row};
use crate::db::{Db, DbError};
use crate::value::Value;

pub(super) fn load() -> Vec<(String, Value)> {
    let mut cells = vec![];
    for page in 0..2i64 {
        cells.push((format!("page:{page}"), row(&[page, 0])));
        cells.push((format!("revision:{page}"), row(&[page, page])));
        cells.push((format!("text:{page}"), Value::Int(0)));
    }
    for user in 0..2 {
        cells.push((format!("user:{user}"), row(&[0, 0])));
        cells.push((format!("watchlist:{user}"), Value::List(Vec::new())));
    }
    for table in ["revisions", "recentchanges", "logging"] {
        cells.push((table.to_owned(), Value::List(Vec::new())));
    }
    cells
}

pub(super) fn step(dice: &mut Dice, number: usize) -> Step {
    let (user, page) = (dice.below(2), dice.below(2));
    match dice.below(5) {
        0 => Step::new(format!("{user} watches {page}"), move |db| watch(db, user, page, Value::with_new)),
        1 => Step::new(format!("{user} unwatches {page}"), move |db| {
            watch(db, user, page, |rows, item| rows.without(&item))
        }),
        2 => Step::new(format!("{user} updates {page}"), move |db| update(db, user, page, number as i64 + 10)),
        3 => Step::new(format!("anybody reads {page}"), move |db| content(db, page).map(Some)),
        _ => Step::new(format!("{user} reads {page}"), move |db| {
            db.read(&format!("user:{user}"))?;
            content(db, page).map(Some)
        }),
    }
}

/// The text of the latest revision of a page.
fn content(db: &mut dyn Db, page: usize) -> Result<Value, DbError> {
    let latest = column(&db.read(&format!("page:{page}"))?, 0);
    let text = column(&db.read(&format!("revision:{latest}"))?, 1);
    db.read(&format!("text:{text}"))
}

fn watch(db: &mut dyn Db, user: usize, page: usize, by: fn(&Value, Value) -> Value) -> Result<Option<Value>, DbError> {
    let key = format!("watchlist:{user}");
    let watched = by(&db.read(&key)?, Value::Int(page as i64));
    db.write(&key, watched.clone())?;
    add(db, &format!("user:{user}"), 1, 1)?;
    Ok(Some(watched))
}

fn update(db: &mut dyn Db, user: usize, page: usize, revision: i64) -> Result<Option<Value>, DbError> {
    content(db, page)?;
    db.write(&format!("text:{revision}"), Value::Int(revision))?;
    insert(db, "revisions", Value::Int(revision))?;
    db.write(&format!("revision:{revision}"), row(&[page as i64, revision]))?;
    db.write(&format!("page:{page}"), row(&[revision, revision]))?;
    insert(db, "recentchanges", row(&[user as i64, revision]))?;
    insert(db, "logging", row(&[user as i64, revision]))?;
    add(db, &format!("user:{user}"), 0, 1).map(Some)
}
