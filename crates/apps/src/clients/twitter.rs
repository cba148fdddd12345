//! Twitter: follow, unfollow, tweet, read a feed, read a timeline.

use super::Slot;
use crate::twitter::{Op, following, tweets};
use crate::value::Value;
use crate::workload::Random;

const USERS: [&str; 3] = ["a", "b", "c"];

/// Anything with two users; `unique` is tweeted by no other operation.
pub(super) fn anything(random: &mut Random, unique: i64) -> Op {
    let (user, other) = if random.coin() { ("a", "b") } else { ("b", "a") };
    match random.case(5) {
        0 => Op::Tweet(user, unique),
        1 => Op::Follow(user, other),
        2 => Op::Unfollow(user, other),
        3 => Op::Timeline(user),
        _ => Op::Feed(user),
    }
}

/// What three clients do that may leave tweets out of a feed: B and others tweet; A looks around; A
/// follows B as operation number `follow`, and reads the feed of A.
pub(super) fn missing(
    random: &mut Random,
    (client, number): (usize, usize),
    follow: usize,
    unique: i64,
) -> Op {
    match (client, random.case(3)) {
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

/// Three users: each follows those behind.
pub(super) fn load() -> Vec<(String, Value)> {
    let of = |user: &str| {
        let others = USERS.iter().filter(|&&other| other > user).map(|&other| Value::from(other));
        [(following(user), others.collect()), (tweets(user), Value::from(Vec::new()))]
    };
    USERS.iter().flat_map(|user| of(user)).collect()
}

/// A transaction of these users.
pub(super) fn transaction(random: &mut Random, slot: Slot) -> Op {
    let (user, other) = (USERS[random.below(3)], USERS[random.below(3)]);
    match random.below(5) {
        0 => Op::Follow(user, other),
        1 => Op::Unfollow(user, other),
        2 => Op::Tweet(user, slot.number()),
        3 => Op::Feed(user),
        _ => Op::Timeline(user),
    }
}
