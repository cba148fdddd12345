//! Wikipedia: read a page (registered or not), watch and unwatch it, edit it; two users, two pages.
//! An edit is two transactions, or four if another user watches the page.

use super::program::{LAYOUT, Slot, Step};
use crate::value::Value;
use crate::wikipedia::{self, Edit, PAGES, Txn, USERS};
use crate::workload::Random;

pub(super) fn load() -> Vec<(String, Value)> {
    LAYOUT.arrange(wikipedia::rows())
}

pub(super) fn step(random: &mut Random, slot: Slot) -> Step {
    let (user, page) = (random.between(1, USERS), random.between(1, PAGES));
    let (name, txn) = match random.below(5) {
        0 => (format!("{user} watches {page}"), Txn::Watch { user, page }),
        1 => (format!("{user} unwatches {page}"), Txn::Unwatch { user, page }),
        2 => {
            let edit = Edit { user, page, key: slot.key() };
            return Step::edit(edit);
        }
        3 => (format!("anybody views {page}"), Txn::View { page }),
        _ => (format!("{user} views {page}"), Txn::ViewAs { user, page }),
    };
    Step::silent(name, move |db| txn.run(db))
}
