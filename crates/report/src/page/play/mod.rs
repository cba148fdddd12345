//! The page on which programs are played. What it shows comes from a server as JSON; only what
//! explains an anomaly comes as markup, made here by the template as on every other page.
//!
//! The script and the style are files of their own, so that the policy of the page need not allow
//! anything that stands in it.

use super::frame::Room;
use super::proof;
use crate::prose;
use crate::text;
use maud::{DOCTYPE, Markup, html};
use serde::Serialize;
use seriatim_check::{Report, Violation};
use seriatim_isolation::Anomaly;
use std::sync::LazyLock;

/// How the page looks.
pub static STYLE: LazyLock<String> = LazyLock::new(|| {
    format!("{}{}{}", super::draw::STYLE, include_str!("../page.css"), include_str!("play.css"))
});
/// What the page does: beside what every page does.
pub const SCRIPT: &str = concat!(include_str!("../page.js"), include_str!("play.js"));
/// What may be on the page and where it may go: its own server.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src \
                          'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                          frame-ancestors 'none'";

/// The anomalies that no program shows, and why.
pub const NOT_PLAYED: [(&[Anomaly], &str); 5] = [
    (
        &[Anomaly::ThinAirRead, Anomaly::AbortedRead, Anomaly::IntermediateRead],
        "A read returns what is there initially or what a committed transaction wrote last, also \
         without any isolation.",
    ),
    (
        &[Anomaly::FutureRead, Anomaly::NotMyOwnWrite, Anomaly::NotMyLastWrite],
        "A transaction that has written a key reads its own last write of it.",
    ),
    (
        &[Anomaly::CyclicCausality],
        "What a transaction wrote can be read once it has committed, and not before.",
    ),
    (
        &[
            Anomaly::WriteCycle,
            Anomaly::IncompatibleOrder,
            Anomaly::DuplicateElement,
            Anomaly::LostElement,
        ],
        "Only lists show in which order their elements were written, and programs have no lists; a \
         history with lists can be played, with an append as a read and a write.",
    ),
    (
        &[Anomaly::StaleRead, Anomaly::RealTimeCycle],
        "These need clocks, and a program has none: strict serializability is no level here.",
    ),
];

/// Its icon: a cycle of two transactions.
pub const ICON: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='M3 \
                        9a5 5 0 0 1 9-3M13 7a5 5 0 0 1-9 3' fill='none' stroke='#c2255c' \
                        stroke-width='2'/><path d='M12.6 2.5v4h-4zM3.4 13.5v-4h4z' \
                        fill='#c2255c'/></svg>";

/// An explanation.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The name of the anomaly.
    pub title: String,
    /// Its other names, and which levels forbid it.
    pub names: String,
    /// What happened, in a few sentences.
    pub said: String,
    /// The same with its picture and its proof, as markup.
    pub html: String,
}

/// Why something is not allowed; `number` tells the pictures of a page apart.
pub fn reason(violated: &Violation, number: usize) -> Fragment {
    Fragment {
        title: violated.kind.info().name.to_owned(),
        names: String::new(),
        said: prose::summary(violated),
        html: section(violated, number),
    }
}

/// The anomalies of a history, at most so many; `number` is that of the first picture.
pub fn anomalies(report: &Report, anomalies_max: usize, number: usize) -> Vec<Fragment> {
    let groups = report.anomalies.iter().take(anomalies_max).enumerate();
    let told = groups.map(|(place, group)| Fragment {
        title: group.kind.info().name.to_owned(),
        names: text::names_and_levels(group),
        said: prose::summary(&group.exemplar),
        html: section(&group.exemplar, number + place),
    });
    told.collect()
}

fn section(violated: &Violation, number: usize) -> String {
    let title = violated.kind.info().name;
    let (id, mut room) = (number.to_string(), Room::of_a_part(number));
    html! { section.anomaly { (proof::violation(violated, title, &id, &mut room)) } }.into_string()
}

/// The page, without what a game puts into it.
pub fn page() -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { "Seriatim: play" }
                link rel="icon" type="image/svg+xml" href="icon.svg";
                link rel="stylesheet" href="play.css";
                script src="play.js" defer {}
            }
            body.play {
                a.skip href="#table" { "To the table" }
                header { (head()) }
                noscript {
                    p.banner { "This page needs its script: the sessions are stepped here." }
                }
                div.desk {
                    aside { (aside()) }
                    main { (table()) }
                }
                footer { p { "Served by seriatim on this machine; nothing leaves it." } }
            }
        }
    };
    page.into_string() + "\n"
}

fn head() -> Markup {
    html! {
        h1 { "Seriatim " span.soft { "play" } }
        div.pick {
            label for="program" { "Program" }
            select id="program" {}
        }
    }
}

fn aside() -> Markup {
    html! {
        section aria-labelledby="levels-title" {
            h2 id="levels-title" { "Isolation level" }
            p.soft {
                "The level decides which versions a read may return. The marks say which levels "
                "the history so far satisfies."
            }
            fieldset id="levels" { legend.away { "Level of the transactions" } }
        }
        section aria-labelledby="assertion-title" {
            h2 id="assertion-title" { "Assertion" }
            p id="assertion" {}
        }
        section aria-labelledby="text-title" {
            h2 id="text-title" { "Program" }
            p.soft id="about" {}
            pre id="text" tabindex="0" aria-label="The text of the program" {}
            details id="edit" {
                summary { "Write your own" }
                label for="own" { "A program (" code { "seriatim explain language" } ")" }
                textarea id="own" rows="14" spellcheck="false" autocomplete="off" {}
                button type="button" id="play-own" { "Play this program" }
                p.bad id="own-said" role="alert" {}
            }
        }
        section aria-labelledby="share-title" {
            h2 id="share-title" { "Share" }
            p.soft {
                "The address of this page holds the program, the level and every choice; it stays "
                "in the browser."
            }
            button type="button" id="copy" { "Copy the link" }
            p id="behaviour" hidden {
                "The token of this behaviour, which the link has, too: " code {}
            }
            p id="command" hidden { "The same in a terminal: " code {} }
            label for="token" { "A token of " code { "explore" } }
            div.row {
                input id="token" type="text" spellcheck="false" autocomplete="off"
                    placeholder="0:0.0,1:0.0";
                button type="button" id="use-token" { "Show it" }
            }
        }
        details {
            summary { "What no program shows" }
            p.soft {
                "There is a ready program for each anomaly that a program can show. The others "
                "cannot come up here, at any level:"
            }
            dl.never {
                @for (anomalies, why) in NOT_PLAYED {
                    dt { (names(anomalies)) }
                    dd { (why) }
                }
            }
        }
        details {
            summary { "Keys" }
            dl.keys {
                dt { kbd { "1" } " to " kbd { "9" } }
                dd { "the session of that number goes on; at a read its versions get the focus" }
                dt { kbd { "←" } " or " kbd { "Backspace" } }
                dd { "one step back" }
                dt { kbd { "a" } }
                dd { "the adversary plays on" }
                dt { kbd { "0" } }
                dd { "begin again" }
            }
        }
    }
}

fn names(anomalies: &[Anomaly]) -> String {
    anomalies.iter().map(|anomaly| anomaly.info().name).collect::<Vec<_>>().join(", ")
}

fn table() -> Markup {
    html! {
        div.tools role="toolbar" aria-label="The game" {
            button type="button" id="back" { "← Back" }
            button type="button" id="again" { "Begin again" }
            button.strong type="button" id="attack" { "Let the adversary play on" }
            output id="count" {}
        }
        p.said id="said" role="status" aria-live="polite" {}
        div.banner id="stopped" hidden {}
        div.scroll tabindex="0" role="region" aria-label="The sessions, time goes down" {
            div id="table" tabindex="-1" {}
        }
        section id="why" tabindex="-1" hidden aria-labelledby="why-title" {
            h2 id="why-title" {}
            div id="why-told" {}
        }
        section id="found" hidden {
            h2 { "What the history shows" }
            div id="anomalies" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_its_own_files_and_nothing_else() {
        let page = page();
        let loaded = |attribute: &str| {
            let parts = page.split(attribute).skip(1);
            parts.map(|part| part.split('"').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(loaded(" src="), ["play.js"]);
        assert_eq!(loaded("<link rel=\"stylesheet\" href="), ["play.css"]);
        for never in ["http:", "https:", "//", "style=", "onclick", "<style"] {
            assert!(!page.contains(never), "{never}");
        }
        for never in ["http:", "https:", "@import", "url("] {
            assert!(!STYLE.contains(never), "{never}");
        }
        for never in ["eval(", "Function(", "http:", "https:", "document.write"] {
            assert!(!SCRIPT.contains(never), "{never}");
        }
    }
}
