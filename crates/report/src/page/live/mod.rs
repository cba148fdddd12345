//! The page that shows what goes on in a running server, and asks a person what reads return.

use maud::{DOCTYPE, html};
use std::sync::LazyLock;

pub use super::play::{ICON, POLICY};

/// How the page looks: as that of `play`.
pub static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", *super::play::STYLE, include_str!("live.css")));
/// What the page does.
pub const SCRIPT: &str = include_str!("live.js");

/// What is told of a transaction.
const COLUMNS: [&str; 4] = ["transaction", "level", "status", "operations"];

/// The page, without what the server tells.
pub fn page() -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { "Seriatim: live" }
                link rel="icon" type="image/svg+xml" href="live/icon.svg";
                link rel="stylesheet" href="live/page.css";
                script src="live/page.js" defer {}
            }
            body.play.live {
                header {
                    h1 { "Seriatim " span.soft { "live" } }
                    p id="about" {}
                    button type="button" id="pause" aria-pressed="false" { "Pause" }
                }
                noscript { p.banner { "This page needs its script: it asks the server." } }
                main {
                    p.said id="said" role="status" aria-live="polite" {}
                    p.away id="news" role="alert" {}
                    section id="asked" hidden aria-labelledby="asked-title" {
                        h2 id="asked-title" { "Reads that wait for you" }
                        div id="questions" {}
                    }
                    section aria-labelledby="open-title" {
                        h2 id="open-title" { "Sessions" }
                        div id="open" {}
                        p.soft id="others" hidden {}
                    }
                    section aria-labelledby="past-title" {
                        h2 id="past-title" { "What happened, latest first" }
                        div.table tabindex="0" role="region" aria-labelledby="past-title" {
                            table {
                                thead {
                                    tr {
                                        @for name in COLUMNS { th scope="col" { (name) } }
                                    }
                                }
                                tbody id="past" {}
                            }
                        }
                        p.soft {
                            "The history so far, to be checked: "
                            a id="history" href="history" download="history.jsonl" { "/history" }
                            "."
                        }
                    }
                }
            }
        }
    };
    page.into_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_its_own_files_and_nothing_else() {
        let page = page();
        for never in ["http:", "https:", "//", "style=", "onclick", "<style"] {
            assert!(!page.contains(never), "{never}");
        }
        for never in ["eval(", "Function(", "http:", "https:", "innerHTML", "document.write"] {
            assert!(!SCRIPT.contains(never), "{never}");
        }
    }
}
