//! What every page has around its content: one file that loads nothing, from nowhere. The policy in
//! it allows the style and the script of the page by their hashes, and nothing else.
//!
//! **Invariant:** a page is smaller than two megabytes, whatever it is about. Whatever may be many
//! or long is put on it through its one [`Room`], which leaves out what does not fit.

use super::diagram::short;
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

/// What a page may have beside its style, its script, and the tags around what is counted.
const BYTES_MAX: usize = 1_800_000;
/// With less than this no further anomaly is begun.
const FULL: usize = 4_000;
/// Characters of a name in a heading.
const TITLE_MAX: usize = 300;

/// How much a page may still grow, and how many pictures it has.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    left: usize,
    pictures: usize,
}

impl Room {
    /// The room of a page.
    pub fn of_a_page() -> Room {
        Room { left: BYTES_MAX, pictures: 0 }
    }

    /// The room of a part of a page that is put together elsewhere, where so many pictures come
    /// before.
    #[cfg(feature = "json")]
    pub fn of_a_part(pictures: usize) -> Room {
        Room { left: BYTES_MAX / 8, pictures }
    }

    /// The number of the next picture, which no other one of the page has.
    pub fn next_picture(&mut self) -> usize {
        self.pictures += 1;
        self.pictures - 1
    }

    /// How many pictures there are.
    pub fn pictures(&self) -> usize {
        self.pictures
    }

    /// Whether there is no room for anything worth saying.
    pub fn is_full(&self) -> bool {
        self.left < FULL
    }

    /// Takes so many bytes, for what is around other things, if there are as many.
    pub fn take(&mut self, bytes: usize) -> bool {
        let is_enough = bytes <= self.left;
        self.left -= if is_enough { bytes } else { 0 };
        is_enough
    }

    /// This, if it fits.
    pub fn fit(&mut self, told: Markup) -> Option<Markup> {
        self.left = self.left.checked_sub(told.0.len())?;
        Some(told)
    }

    /// As many as fit of those that are told one after the other, and how many do not.
    pub fn rows<T>(
        &mut self,
        all: impl IntoIterator<Item = T>,
        told: impl Fn(T) -> Markup,
    ) -> (Markup, usize) {
        let mut all = all.into_iter();
        let mut shown = String::new();
        while let Some(row) = all.next() {
            match self.fit(told(row)) {
                Some(row) => shown += &row.0,
                None => return (PreEscaped(shown), 1 + all.count()),
            }
        }
        (PreEscaped(shown), 0)
    }

    /// Lets a part of a page take no more than a share of what is left.
    pub fn share<R>(&mut self, of: usize, put: impl FnOnce(&mut Room) -> R) -> R {
        let mut part = Room { left: self.left / of.max(1), pictures: self.pictures };
        let before = part.left;
        let done = put(&mut part);
        self.left -= before - part.left;
        self.pictures = part.pictures;
        done
    }
}

/// A name as a heading.
pub(crate) fn title(name: &str) -> String {
    short(name, TITLE_MAX)
}

/// A page with this content.
pub(crate) fn page(about: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(*POLICY);
                meta name="referrer" content="no-referrer";
                title { (title(about)) }
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
