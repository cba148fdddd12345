//! What is done to a network namespace: for a while what it sends is lost, or late. What others
//! send to it arrives, which no connection notices that waits for an answer.

use std::time::Duration;

/// Commands of the shell by which a namespace is shaped, and is as before.
pub(crate) struct Shape {
    pub begin: String,
    pub end: String,
}

/// All that it sends is lost.
pub(crate) fn partition(namespace: &str) -> Shape {
    // Not every kernel has netem. A bucket of one byte lets no packet pass either.
    let lost = "tc -n \"$n\" qdisc add dev $d root netem loss 100% 2>/dev/null || \
                tc -n \"$n\" qdisc add dev $d root tbf rate 8bit burst 1 limit 1";
    shape(namespace, lost)
}

/// All that it sends is late by so much.
pub(crate) fn delay(namespace: &str, by: Duration) -> Shape {
    let late = format!("tc -n \"$n\" qdisc add dev $d root netem delay {}ms", by.as_millis());
    shape(namespace, &late)
}

fn shape(namespace: &str, how: &str) -> Shape {
    let each = |what: &str| {
        format!(
            "n={}; all=$(ip -n \"$n\" -o link show up) || exit 1; \
             for d in $(echo \"$all\" | cut -d: -f2 | cut -d@ -f1); do \
             [ $d = lo ] || {{ {what}; }} || failed=1; done; [ -z \"$failed\" ]",
            quoted(namespace)
        )
    };
    Shape { begin: each(how), end: each("tc -n \"$n\" qdisc del dev $d root") }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
