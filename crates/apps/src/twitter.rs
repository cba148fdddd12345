//! A small Twitter: which users a user follows and what a user tweeted, one cell each.
//!
//! User A looks at B's timeline in one session, sees there that A does not follow B yet, and
//! follows B in another session: the feed of A must then show all tweets that A saw. That A did not
//! follow B at the look is what puts the look before the follow in every serial order.

use crate::app::App;
use crate::db::{Db, DbError, Operation, Transaction};
use crate::value::Value;
use std::fmt;

/// B tweets; A looks at B's timeline in one session and follows B in another.
#[derive(Debug)]
pub struct Twitter;

pub(crate) fn tweets(user: &str) -> String {
    format!("tweets:{user}")
}

pub(crate) fn following(user: &str) -> String {
    format!("following:{user}")
}

/// What a user does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Tweet(&'static str, i64),
    Follow(&'static str, &'static str),
    Unfollow(&'static str, &'static str),
    /// What a user tweeted.
    Timeline(&'static str),
    /// What the users tweeted that a user follows.
    Feed(&'static str),
    /// The users that a user follows.
    Following(&'static str),
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Tweet(user, _) => write!(f, "{user} tweets"),
            Op::Follow(user, other) => write!(f, "{user} follows {other}"),
            Op::Unfollow(user, other) => write!(f, "{user} unfollows {other}"),
            Op::Timeline(user) => write!(f, "timeline of {user}"),
            Op::Feed(user) => write!(f, "feed of {user}"),
            Op::Following(user) => write!(f, "followed by {user}"),
        }
    }
}

impl Transaction for Op {
    fn body(&self, db: &mut dyn Db) -> Result<Option<Value>, DbError> {
        match *self {
            Op::Tweet(user, number) => change(db, &tweets(user), |all| all.with(number.into())),
            Op::Follow(user, other) => {
                change(db, &following(user), |all| all.with_new(other.into()))
            }
            Op::Unfollow(user, other) => {
                change(db, &following(user), |all| all.without(&other.into()))
            }
            Op::Timeline(user) => db.read(&tweets(user)).map(Some),
            Op::Feed(user) => feed(db, user),
            Op::Following(user) => db.read(&following(user)).map(Some),
        }
    }

    /// What was changed is not shown.
    fn answer(&self, left: Option<Value>) -> Value {
        match self {
            Op::Tweet(..) | Op::Follow(..) | Op::Unfollow(..) => Value::Null,
            Op::Timeline(_) | Op::Feed(_) | Op::Following(_) => left.unwrap_or(Value::Null),
        }
    }
}

fn change(
    db: &mut dyn Db,
    key: &str,
    by: impl Fn(&Value) -> Value,
) -> Result<Option<Value>, DbError> {
    let all = by(&db.read(key)?);
    db.write(key, all.clone())?;
    Ok(Some(all))
}

/// The tweets of all users that a user follows, inside of a transaction.
fn feed(db: &mut dyn Db, user: &str) -> Result<Option<Value>, DbError> {
    let mut all = Vec::new();
    for other in db.read(&following(user))?.items() {
        if let Value::Text(other) = other {
            all.extend(db.read(&tweets(other))?.items().to_vec());
        }
    }
    Ok(Some(Value::from(all)))
}

impl App for Twitter {
    fn name(&self) -> &'static str {
        "twitter"
    }

    fn assertion(&self) -> &'static str {
        "the feed shows every tweet that was seen before following"
    }

    fn load(&self) -> Vec<(String, Value)> {
        let nothing = || Value::from(Vec::new());
        vec![(tweets("b"), nothing()), (following("a"), nothing())]
    }

    fn clients(&self) -> usize {
        3
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        match client {
            0 => (1..=3).try_for_each(|number| Op::Tweet("b", number).run(db).map(drop)),
            1 => {
                let operations = [Op::Timeline("b"), Op::Following("a"), Op::Timeline("b")];
                operations.iter().try_for_each(|operation| operation.run(db).map(&mut *see))
            }
            _ => {
                Op::Follow("a", "b").run(db)?;
                (0..2).try_for_each(|_| Op::Feed("a").run(db).map(&mut *see))
            }
        }
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let ([shown, followed, ..], feeds) = (&seen[1][..], &seen[2]) else { return Ok(Ok(())) };
        if followed.has(&"b".into()) {
            return Ok(Ok(()));
        }
        let missing = shown.items().iter().find(|tweet| feeds.iter().any(|feed| !feed.has(tweet)));
        Ok(missing.map_or(Ok(()), |tweet| {
            Err(format!("tweet {tweet} was seen before following, but the feed lacks it"))
        }))
    }
}

/// Whether the feeds of A, who follows B in the one session, have all tweets of B that A saw in the
/// other session before seeing that A does not follow B yet.
pub(crate) fn misses_nothing(
    looked: &[(&Op, &Value)],
    read: &[(&Op, &Value)],
) -> Result<(), String> {
    let is_unaware = |(operation, users): &(&Op, &Value)| {
        matches!(operation, Op::Following(_)) && !users.has(&"b".into())
    };
    let until = looked.iter().rposition(is_unaware).unwrap_or(0);
    let from = read
        .iter()
        .position(|(operation, _)| matches!(operation, Op::Follow(_, "b")))
        .unwrap_or(read.len());
    let shown =
        looked[..until].iter().filter(|(operation, _)| matches!(operation, Op::Timeline("b")));
    let feeds: Vec<&Value> = read[from..]
        .iter()
        .filter(|(operation, _)| matches!(operation, Op::Feed(_)))
        .map(|(_, feed)| *feed)
        .collect();
    let mut tweets = shown.flat_map(|(_, tweets)| tweets.items());
    let missing = tweets.find(|tweet| feeds.iter().any(|feed| !feed.has(tweet)));
    missing.map_or(Ok(()), |tweet| {
        Err(format!("tweet {tweet} was seen before following, but the feed lacks it"))
    })
}
