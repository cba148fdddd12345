//! Twitter: three users; follow, unfollow, tweet, read a feed, read a timeline.

use super::{Slot, Step};
use crate::twitter::{feed_in, follow_in, following, tweet_in, tweets};
use crate::value::Value;
use crate::workload::Random;

const USERS: [&str; 3] = ["a", "b", "c"];

pub(super) fn load() -> Vec<(String, Value)> {
    let of = |user: &str| {
        let others = USERS.iter().filter(|&&other| other > user).map(|&other| Value::from(other));
        [(following(user), others.collect()), (tweets(user), Value::from(Vec::new()))]
    };
    USERS.iter().flat_map(|user| of(user)).collect()
}

pub(super) fn step(random: &mut Random, slot: Slot) -> Step {
    let (user, other) = (USERS[random.below(3)], USERS[random.below(3)]);
    match random.below(5) {
        0 => Step::new(format!("{user} follows {other}"), move |db| follow_in(db, user, other)),
        1 => Step::new(format!("{user} unfollows {other}"), move |db| {
            let left = db.read(&following(user))?.without(&other.into());
            db.write(&following(user), left.clone())?;
            Ok(Some(left))
        }),
        2 => Step::new(format!("{user} tweets"), move |db| {
            tweet_in(db, user, &Value::Int(slot.number()))
        }),
        3 => Step::new(format!("feed of {user}"), move |db| feed_in(db, user)),
        _ => Step::new(format!("timeline of {user}"), move |db| db.read(&tweets(user)).map(Some)),
    }
}
