//! A small Twitter: whom a user follows and what a user tweeted, one cell each.
//!
//! A user looks at B's timeline in one session, sees there that she does not follow B yet, and
//! follows B in another session: her feed must then show all tweets that she saw. That she did not
//! follow B when she looked is what puts the look before the follow in every serial order.

use crate::app::App;
use crate::db::{Db, DbError, transact};
use crate::harness::Operation;
use crate::value::Value;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// B tweets; A looks at B's timeline in one session and follows B in another.
pub struct Twitter;

pub(crate) fn tweets(user: &str) -> String {
    format!("tweets:{user}")
}

pub(crate) fn following(user: &str) -> String {
    format!("following:{user}")
}

/// Adds a tweet, inside of a transaction.
pub(crate) fn tweet_in(
    db: &mut dyn Db,
    user: &str,
    text: &Value,
) -> Result<Option<Value>, DbError> {
    let all = db.read(&tweets(user))?.with(text.clone());
    db.write(&tweets(user), all.clone())?;
    Ok(Some(all))
}

/// Lets a user follow another one, inside of a transaction.
pub(crate) fn follow_in(
    db: &mut dyn Db,
    user: &str,
    other: &str,
) -> Result<Option<Value>, DbError> {
    let all = db.read(&following(user))?.with_new(other.into());
    db.write(&following(user), all.clone())?;
    Ok(Some(all))
}

fn tweet(db: &mut dyn Db, user: &str, text: Value) -> Result<(), DbError> {
    transact(db, |db| tweet_in(db, user, &text))?;
    Ok(())
}

fn follow(db: &mut dyn Db, user: &str, other: &str) -> Result<(), DbError> {
    transact(db, |db| follow_in(db, user, other))?;
    Ok(())
}

fn unfollow(db: &mut dyn Db, user: &str, other: &str) -> Result<(), DbError> {
    transact(db, |db| {
        let old = db.read(&following(user))?;
        db.write(&following(user), old.without(&other.into()))?;
        Ok(Some(()))
    })?;
    Ok(())
}

fn timeline(db: &mut dyn Db, user: &str) -> Result<Value, DbError> {
    Ok(transact(db, |db| db.read(&tweets(user)).map(Some))?.unwrap_or(Value::Null))
}

fn whom_follows(db: &mut dyn Db, user: &str) -> Result<Value, DbError> {
    Ok(transact(db, |db| db.read(&following(user)).map(Some))?.unwrap_or(Value::Null))
}

/// The tweets of everybody whom a user follows, inside of a transaction.
pub(crate) fn feed_in(db: &mut dyn Db, user: &str) -> Result<Option<Value>, DbError> {
    let mut all = Vec::new();
    for other in db.read(&following(user))?.items() {
        if let Value::Text(other) = other {
            all.extend(db.read(&tweets(other))?.items().to_vec());
        }
    }
    Ok(Some(Value::from(all)))
}

fn feed(db: &mut dyn Db, user: &str) -> Result<Value, DbError> {
    Ok(transact(db, |db| feed_in(db, user))?.unwrap_or(Value::Null))
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
            0 => (1..=3).try_for_each(|number| tweet(db, "b", Value::Int(number))),
            1 => {
                see(timeline(db, "b")?);
                see(whom_follows(db, "a")?);
                see(timeline(db, "b")?);
                Ok(())
            }
            _ => {
                follow(db, "a", "b")?;
                see(feed(db, "a")?);
                see(feed(db, "a")?);
                Ok(())
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

/// What a client of a random harness does, for one of two users.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Tweet(&'static str, i64),
    Follow(&'static str, &'static str),
    Unfollow(&'static str, &'static str),
    Timeline(&'static str),
    Feed(&'static str),
    Following(&'static str),
}

impl Op {
    /// What the three clients do: B and others tweet; A looks around; A follows B as operation
    /// number `follow`, and reads her feed.
    pub fn of_missing(
        random: &mut Pcg64Mcg,
        client: usize,
        number: usize,
        follow: usize,
        unique: i64,
    ) -> Op {
        match (client, random.random_range(0..3)) {
            (0, 0) => Op::Tweet("c", unique),
            (0, _) => Op::Tweet("b", unique),
            (1, 0) => Op::Following("a"),
            (1, 1) => Op::Timeline("c"),
            (1, _) => Op::Timeline("b"),
            _ if number == follow => Op::Follow("a", "b"),
            (_, 0) => Op::Follow("a", "c"),
            _ => Op::Feed("a"),
        }
    }

    pub fn random(random: &mut Pcg64Mcg, unique: i64) -> Op {
        let (user, other) = if random.random_bool(0.5) { ("a", "b") } else { ("b", "a") };
        match random.random_range(0..5) {
            0 => Op::Tweet(user, unique),
            1 => Op::Follow(user, other),
            2 => Op::Unfollow(user, other),
            3 => Op::Timeline(user),
            _ => Op::Feed(user),
        }
    }
}

impl Operation for Op {
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError> {
        match *self {
            Op::Tweet(user, number) => tweet(db, user, Value::Int(number)).map(|()| Value::Null),
            Op::Follow(user, other) => follow(db, user, other).map(|()| Value::Null),
            Op::Unfollow(user, other) => unfollow(db, user, other).map(|()| Value::Null),
            Op::Timeline(user) => timeline(db, user),
            Op::Feed(user) => feed(db, user),
            Op::Following(user) => whom_follows(db, user),
        }
    }
}

/// Whether the feeds of A, who follows B in the one session, have all tweets of B that A saw in the
/// other session before seeing that she does not follow B yet.
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
