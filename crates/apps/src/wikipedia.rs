//! Wikipedia: pages with revisions, users who edit and watch them.
//!
//! The workload of MonkeyDB and IsoPredict: 90 % anonymous page views, 7 % edits; of 2 users and 2
//! pages always the first (and no user at all in 26 % of the draws). Their code gives each revision
//! the same text and makes a page point to revision 1 whatever was written, and reads all revisions
//! for debugging; here a revision has its own text, a page points to its latest revision, and that
//! read is left out. An edit is two transactions, or four if another user watches the page. Their
//! A15 and A16 fail only if a user has more edits than rows, which no lost update brings about (the
//! paper: "not sensitive enough"), and read weakly themselves; here both numbers must be the same,
//! and they are read as they are at the end.

use crate::app::App;
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{End, Random, Workload, attempt, look};

const USER: Table = Table("useracct");
const PAGE: Table = Table("page");
const REVISION: Table = Table("revision");
const TEXT: Table = Table("text");
const CHANGES: Table = Table("recentchanges");
const LOGGING: Table = Table("logging");
const WATCHLIST: Table = Table("watchlist");
const IP_BLOCKS: Table = Table("ipblocks");
const RESTRICTIONS: Table = Table("page_restrictions");
const GROUPS: Table = Table("user_groups");
pub(crate) const USERS: i64 = 2;
pub(crate) const PAGES: i64 = 2;
/// Revisions of each page at first.
const REVISIONS: i64 = 3;
const ANONYMOUS_PERCENT: i64 = 26;
const NOW: &str = "20260101000000";

/// The application.
#[derive(Debug)]
pub struct Wikipedia(pub Workload);

#[derive(Clone, Copy)]
enum Kind {
    AddWatchList,
    RemoveWatchList,
    UpdatePage,
    GetPageAnonymous,
    GetPageAuthenticated,
}

const WEIGHTS: [(Kind, i64); 5] = [
    (Kind::AddWatchList, 1),
    (Kind::RemoveWatchList, 1),
    (Kind::UpdatePage, 7),
    (Kind::GetPageAnonymous, 90),
    (Kind::GetPageAuthenticated, 1),
];

fn title(page: i64) -> Value {
    Value::from(format!("Page {page}"))
}

fn pages() -> impl Iterator<Item = String> {
    (1..=PAGES).map(|page| page.to_string())
}

fn watch_key(user: i64, page: i64) -> String {
    format!("{user}-{page}")
}

/// The row that attempt `number` of a client adds to any table.
fn new_key(client: usize, number: usize) -> String {
    format!("{client}-{number}")
}

/// The page of that title with its latest revision and text; `None` if something is missing.
fn get_page(db: &mut dyn Db, page: i64) -> Result<Option<String>, DbError> {
    let found = PAGE.select(db, pages(), "title", &title(page))?;
    let Some(page) = found.first() else { return Ok(None) };
    PAGE.look_at(db, page, ["namespace", "touched", "len"])?;
    RESTRICTIONS.exists(db, page)?;
    IP_BLOCKS.exists(db, "address")?;
    let latest = PAGE.get(db, page, "latest")?.to_string();
    if !REVISION.exists(db, &latest)? {
        return Ok(None);
    }
    let [_, _, _, text] =
        REVISION.columns(db, &latest, ["page", "user", "timestamp", "text_id"])?;
    let text = text.to_string();
    if !TEXT.exists(db, &text)? {
        return Ok(None);
    }
    TEXT.look_at(db, &text, ["old_text"])?;
    Ok(Some(page.clone()))
}

fn view(db: &mut dyn Db, page: i64) -> Result<End, DbError> {
    Ok(if get_page(db, page)?.is_some() { End::Commit } else { End::Abort })
}

fn view_as(db: &mut dyn Db, user: i64, page: i64) -> Result<End, DbError> {
    let user = user.to_string();
    if USER.exists(db, &user)? {
        USER.look_at(db, &user, ["name", "touched", "editcount"])?;
    }
    GROUPS.exists(db, &user)?;
    IP_BLOCKS.exists(db, &user)?;
    view(db, page)
}

/// An edit of a page.
pub(crate) struct Edit {
    pub user: i64,
    pub page: i64,
    /// The row that it adds to several tables.
    pub key: String,
}

/// Which transaction of an edit is next: the second one is the last unless another user watches the
/// page.
#[derive(Clone, Default, Debug)]
pub enum Phase {
    /// The first: look at the page.
    #[default]
    View,
    /// The second: write the new revision.
    Write,
    /// The third: tell the users who watch the page.
    Notify(Vec<i64>),
    /// The fourth: count the edit.
    Count(Vec<i64>),
}

/// A transaction with its parameters.
#[derive(Clone, Copy)]
pub(crate) enum Txn {
    Watch { user: i64, page: i64 },
    Unwatch { user: i64, page: i64 },
    View { page: i64 },
    ViewAs { user: i64, page: i64 },
}

impl Txn {
    /// Does it, inside of a transaction.
    pub fn run(self, db: &mut dyn Db) -> Result<End, DbError> {
        match self {
            Txn::Watch { user, page } => watch(db, user, page),
            Txn::Unwatch { user, page } => unwatch(db, user, page),
            Txn::View { page } => view(db, page),
            Txn::ViewAs { user, page } => view_as(db, user, page),
        }
    }
}

impl Edit {
    /// Writes the new revision; the other users who watch the page.
    fn write(&self, db: &mut dyn Db) -> Result<Vec<i64>, DbError> {
        let (key, page) = (self.key.as_str(), self.page.to_string());
        TEXT.insert(db, key, &[("old_text", Value::from(format!("text of {key}")))])?;
        let revision = [
            ("page", Value::Int(self.page)),
            ("user", Value::Int(self.user)),
            ("text_id", key.into()),
            ("timestamp", NOW.into()),
        ];
        REVISION.insert(db, key, &revision)?;
        let page_cells = [
            ("latest", key.into()),
            ("touched", NOW.into()),
            ("len", Value::Int(key.len() as i64)),
        ];
        PAGE.update(db, &page, &page_cells)?;
        CHANGES.insert(
            db,
            key,
            &[("user", Value::Int(self.user)), ("page", Value::Int(self.page))],
        )?;
        let mut watchers = Vec::new();
        for user in (1..=USERS).filter(|&user| user != self.user) {
            if WATCHLIST.exists(db, &watch_key(user, self.page))? {
                watchers.push(user);
            }
        }
        Ok(watchers)
    }

    /// Counts the edit.
    fn count(&self, db: &mut dyn Db) -> Result<End, DbError> {
        LOGGING.insert(
            db,
            &self.key,
            &[("user", Value::Int(self.user)), ("page", Value::Int(self.page))],
        )?;
        let user = self.user.to_string();
        if USER.exists(db, &user)? {
            let edits = USER.int(db, &user, "editcount")?;
            USER.update(
                db,
                &user,
                &[("editcount", Value::Int(edits + 1)), ("touched", NOW.into())],
            )?;
        }
        Ok(End::Commit)
    }

    /// Does one of its transactions; what comes behind it.
    pub fn transaction(
        &self,
        db: &mut dyn Db,
        phase: &Phase,
    ) -> Result<(End, Option<Phase>), DbError> {
        Ok(match phase {
            Phase::View => (view(db, self.page)?, Some(Phase::Write)),
            Phase::Write => {
                let watchers = self.write(db)?;
                if watchers.is_empty() {
                    (self.count(db)?, None)
                } else {
                    (End::Commit, Some(Phase::Notify(watchers)))
                }
            }
            Phase::Notify(watchers) => {
                self.notify(db, watchers)?;
                (End::Commit, Some(Phase::Count(watchers.clone())))
            }
            Phase::Count(watchers) => {
                look_at_watchers(db, watchers)?;
                (self.count(db)?, None)
            }
        })
    }

    /// Does it, in two transactions, or in four if another user watches the page; whether the last
    /// one committed.
    fn run(&self, db: &mut dyn Db) -> Result<bool, DbError> {
        let mut phase = Phase::View;
        loop {
            let mut next = None;
            let committed = attempt(db, |db| {
                let (end, then) = self.transaction(db, &phase)?;
                next = then;
                Ok(end)
            })?;
            phase = match (next, phase) {
                (Some(next), _) if committed => next,
                // An edit counts, even if the users who watch the page could not be told of it.
                (_, Phase::Notify(watchers)) => Phase::Count(watchers),
                _ => return Ok(committed),
            };
        }
    }

    /// Tells the users who watch the page.
    fn notify(&self, db: &mut dyn Db, watchers: &[i64]) -> Result<(), DbError> {
        watchers
            .iter()
            .try_for_each(|&user| WATCHLIST.set(db, &watch_key(user, self.page), "notified", NOW))
    }
}

/// Reads the names of the users who watch a page.
fn look_at_watchers(db: &mut dyn Db, watchers: &[i64]) -> Result<(), DbError> {
    watchers.iter().try_for_each(|user| USER.look_at(db, &user.to_string(), ["name"]))
}

fn watch(db: &mut dyn Db, user: i64, page: i64) -> Result<End, DbError> {
    WATCHLIST.insert(db, &watch_key(user, page), &[("notified", Value::Null)])?;
    USER.set(db, &user.to_string(), "touched", NOW)?;
    Ok(End::Commit)
}

fn unwatch(db: &mut dyn Db, user: i64, page: i64) -> Result<End, DbError> {
    if WATCHLIST.exists(db, &watch_key(user, page))? {
        WATCHLIST.delete(db, &watch_key(user, page))?;
    }
    USER.set(db, &user.to_string(), "touched", NOW)?;
    Ok(End::Commit)
}

/// User and page of a transaction: the first of each, or no user.
fn draw(random: &mut Random) -> (i64, i64) {
    (if random.percent(ANONYMOUS_PERCENT) { 0 } else { 1 }, 1)
}

/// How often a user stands in a table that edits add rows to.
fn rows_of(db: &mut dyn Db, table: Table, rows: &[String], user: i64) -> Result<i64, DbError> {
    Ok(table.select(db, rows.iter().cloned(), "user", &Value::Int(user))?.len() as i64)
}

/// The initial content; always the same one.
pub(crate) fn rows() -> Vec<(String, Value)> {
    let mut random = Random::of_seed(0);
    let mut rows = Vec::new();
    for user in 1..=USERS {
        let cells = [("name", Value::from(format!("user {user}"))), ("editcount", Value::Int(0))];
        rows.extend(USER.load(&user.to_string(), &cells));
    }
    for page in 1..=PAGES {
        let latest = page * 10 + REVISIONS;
        let cells =
            [("title", title(page)), ("namespace", Value::Int(0)), ("latest", Value::Int(latest))];
        rows.extend(PAGE.load(&page.to_string(), &cells));
        for revision in page * 10 + 1..=latest {
            let key = revision.to_string();
            rows.extend(
                REVISION
                    .load(&key, &[("page", Value::Int(page)), ("text_id", Value::Int(revision))]),
            );
            rows.extend(TEXT.load(&key, &[("old_text", Value::from(format!("text of {key}")))]));
        }
        for user in 1..=USERS {
            if random.percent(50) {
                rows.extend(WATCHLIST.load(&watch_key(user, page), &[]));
            }
        }
    }
    rows
}

impl App for Wikipedia {
    fn name(&self) -> &'static str {
        "wikipedia"
    }

    fn assertion(&self) -> &'static str {
        "the edits of a user are counted as they are logged (A15 to A17)"
    }

    fn workload(&self) -> Option<Workload> {
        Some(self.0)
    }

    fn load(&self) -> Vec<(String, Value)> {
        rows()
    }

    fn clients(&self) -> usize {
        self.0.sessions
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        let mut random = self.0.random(client);
        for number in 0..self.0.transactions {
            let kind = random.weighted(&WEIGHTS);
            let (user, page) = draw(&mut random);
            let mut one = |txn: Txn| attempt(db, |db| txn.run(db));
            let committed = match kind {
                Kind::AddWatchList => one(Txn::Watch { user: 1, page }),
                Kind::RemoveWatchList => one(Txn::Unwatch { user: 1, page }),
                Kind::UpdatePage => Edit { user, page, key: new_key(client, number) }.run(db),
                Kind::GetPageAnonymous => one(Txn::View { page }),
                Kind::GetPageAuthenticated => one(Txn::ViewAs { user, page }),
            }?;
            see(if committed { "done" } else { "refused" }.into());
        }
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let of =
            |client: usize| (0..self.0.transactions).map(move |number| new_key(client, number));
        let rows: Vec<String> = (0..self.0.sessions).flat_map(of).collect();
        look(db, |db| {
            for user in 0..=USERS {
                let (changes, logged) =
                    (rows_of(db, CHANGES, &rows, user)?, rows_of(db, LOGGING, &rows, user)?);
                // The edits of users who are not logged in are not counted.
                let edits =
                    if user == 0 { changes } else { USER.int(db, &user.to_string(), "editcount")? };
                let said = [("A15", "changes", changes), ("A16", "log entries", logged)];
                if let Some((number, what, count)) =
                    said.into_iter().find(|said| user > 0 && edits != said.2)
                {
                    return Ok(Err(format!(
                        "{number}: user {user} has {edits} edits and {count} {what}"
                    )));
                }
                if changes != logged {
                    return Ok(Err(format!(
                        "A17: user {user} has {changes} changes and {logged} log entries"
                    )));
                }
            }
            Ok(Ok(()))
        })
    }
}
