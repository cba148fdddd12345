//! What every page has around its content: one file that loads nothing, from nowhere. The policy in
//! it allows the style and the script of the page by their hashes, and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// How pages look: pictures, and what is around them.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", super::draw::STYLE, include_str!("page.css")));
/// What pages do. Without it they say the same.
const SCRIPT: &str = include_str!("page.js");

static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&STYLE),
        hash(SCRIPT)
    )
});

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A page with this content.
pub(crate) fn page(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(*POLICY);
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE.as_str())) }
            }
            body {
                main { (content) }
                footer { p { "Made by seriatim. This file needs nothing else." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}
