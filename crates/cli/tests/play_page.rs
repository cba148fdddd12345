//! The page of `seriatim play` in a real browser.

#[path = "common/browser.rs"]
mod browser;
mod common;
#[path = "common/playing.rs"]
mod playing;

use browser::Browser;
use common::Folder;
use playing::Play;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Names and values that would be markup, in a history with a lost update.
const HOSTILE: &str = concat!(
    r#"{"seriatim":1,"initial":{"<b>k</b>\" onload=\"x":0}}"#,
    "\n",
    r#"{"session":"<script>alert(1)</script>","txn":"t","status":"committed","ops":["#,
    r#"["r","<b>k</b>\" onload=\"x",0],"#,
    r#"["w","<b>k</b>\" onload=\"x","</style><svg onload=alert(3)>"]]}"#,
    "\n",
    r#"{"session":"'\"><iframe src=//127.0.0.1>","txn":"&amp;","status":"committed","ops":"#,
    r#"[["r","<b>k</b>\" onload=\"x",0],["w","<b>k</b>\" onload=\"x","</script>"]]}"#,
    "\n",
);

/// A browser at a page, which waits for answers.
struct Page<'p> {
    browser: &'p Browser,
}

impl<'p> Page<'p> {
    fn open(browser: &'p Browser, url: &str) -> Page<'p> {
        browser.go(url);
        let page = Page { browser };
        page.wait("document.querySelectorAll('.lane').length > 0");
        page
    }

    /// Waits until something is true, for as long as a slow machine may need.
    fn wait(&self, what: &str) {
        let began = Instant::now();
        while self.browser.eval(&format!("return Boolean({what})")) != Value::Bool(true) {
            let said = self.browser.eval("return document.body.innerText");
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the answer to what was done last.
    fn settle(&self, steps: usize) {
        self.wait(&format!(
            "!document.body.hasAttribute('aria-busy') && \
             document.getElementById('count').textContent.startsWith('step {steps}') && \
             !document.getElementById('said').textContent.includes('thinks')"
        ));
    }

    fn click(&self, selector: &str) {
        let found = self.browser.eval(&format!(
            "const it = document.querySelector(`{selector}`); if (it) it.click(); return !!it"
        ));
        assert_eq!(found, Value::Bool(true), "{selector}");
    }

    fn text(&self, selector: &str) -> String {
        let text = self.browser.eval(&format!(
            "return [...document.querySelectorAll(`{selector}`)].map(it => it.innerText).join('|')"
        ));
        text.as_str().unwrap().to_owned()
    }

    /// Goes on with a session that does not read.
    fn go(&self, session: usize, steps: usize) {
        self.click(&format!(".next[data-lane=\"{session}\"] button.go"));
        self.settle(steps);
    }

    fn is_quiet(&self, own: &str) {
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
        assert_eq!(self.browser.requests(own), Vec::<String>::new());
    }
}

#[test]
fn a_person_steps_picks_goes_back_and_changes_the_level() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=lost-update&l=pc"));
    assert_eq!(page.text(".lane .soft"), "1|2");
    // Both read what is there in the beginning, and write.
    for (steps, session) in [0, 1, 0, 1, 0, 1].into_iter().enumerate() {
        page.go(session, steps + 1);
    }
    assert!(page.text("#assertion").contains("broken"), "{}", page.text("#assertion"));
    assert!(page.text("#anomalies h3").contains("lost update"), "{}", page.text("#anomalies"));
    assert!(browser.eval("return document.querySelectorAll('#anomalies svg').length") == json!(1));
    let address = || browser.eval("return location.hash").as_str().unwrap().to_owned();
    // The link says which program of that name it is, and has the token once all is over.
    let link = address();
    let (program, rest) = link.split_once("&l=").unwrap();
    assert!(program.starts_with("#p=lost-update&h="), "{link}");
    assert_eq!(rest, "pc&s=0:i,1:i,0,1,0,1&token=0:0,1:0");
    assert_eq!(page.text("#behaviour code"), "0:0,1:0");
    assert!(page.text("#command code").contains("--replay 0:0,1:0"), "{}", page.text("#command"));
    // At snapshot isolation the second commit is refused, with the reason.
    page.click("#levels input[value=si]");
    page.wait("document.querySelectorAll('.cell.refused').length === 1");
    assert!(page.text("#assertion").contains("not broken so far"));
    page.click(".cell.refused button");
    page.wait("!document.getElementById('why').hidden");
    assert!(page.text("#why-title").contains("may not commit: lost update"));
    assert!(page.text("#why-told").contains("a contradiction"), "{}", page.text("#why-told"));
    // Now the session begins again; what it read before may not be committed any more, while the
    // new version may.
    assert_eq!(page.text(".next[data-lane=\"1\"] button.version .value"), "5|3");
    page.click(".next[data-lane=\"1\"] li:last-child button");
    page.settle(7);
    page.go(1, 8);
    page.go(1, 9);
    assert!(page.text("#assertion").contains("holds"), "{}", page.text("#assertion"));
    page.click("#back");
    page.settle(8);
    assert!(page.text(".next[data-lane=\"1\"]").contains("commit"));
    assert!(!address().contains("token="), "{}", address());
    page.is_quiet(&play.url(""));
}

/// What the page says to an address that it does not play, which it must leave as it is.
fn refuses(browser: &Browser, play: &Play, link: &str) -> String {
    browser.go(&play.url(link));
    let page = Page { browser };
    page.wait("document.getElementById('said').textContent.includes('link')");
    assert_eq!(browser.eval("return location.hash"), json!(link));
    assert_eq!(browser.eval("return document.querySelectorAll('.lane').length"), json!(0));
    page.text("#said")
}

#[test]
fn a_link_is_played_only_where_its_program_is() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let before = "session solo { begin write(x, 1) commit }\n";
    let path = folder.file("my.tx", before);
    let play = Play::start(&[&path]);
    let page = Page::open(&browser, &play.url(""));
    page.go(0, 1);
    let link = browser.eval("return location.hash").as_str().unwrap().to_owned();
    // The same link means the same when the file has changed, and where there is no such file.
    folder.file("my.tx", "session other { begin write(y, 2) commit }\n");
    for play in [Play::start(&[&path]), Play::start(&[])] {
        let page = Page::open(&browser, &play.url(&link));
        page.settle(1);
        assert_eq!(page.text("#text").trim(), before.trim());
        assert!(page.text(".cell").contains("solo-1"), "{}", page.text(".cell"));
    }
    let said = refuses(&browser, &play, "#p=gone.tx&l=cc&s=0,0");
    assert!(said.contains("gone.tx, which is not offered here"), "{said}");
    let said = refuses(&browser, &play, "#p=lost-update&h=0123456789&l=pc&s=0:i");
    assert!(said.contains("another version of lost-update"), "{said}");
    for damaged in ["#t=%%%&l=cc", "#p=lost-update&l=weird", "#t=_w&l=cc"] {
        assert!(refuses(&browser, &play, damaged).contains("damaged"), "{damaged}");
    }
    // From there another program can be chosen.
    browser.eval(
        "const it = document.getElementById('program'); it.value = 'long-fork'; \
         it.dispatchEvent(new Event('change'))",
    );
    page.settle(0);
    // A link that comes while something is played leaves that as it is.
    browser.eval("location.hash = '#p=gone.tx&l=cc'");
    page.wait("document.getElementById('said').textContent.includes('gone.tx')");
    assert!(page.text(".lane").contains("news_a"), "{}", page.text(".lane"));
    assert_eq!(browser.eval("return location.hash"), json!("#p=gone.tx&l=cc"));
}

#[test]
fn a_link_with_a_token_alone_shows_its_behaviour() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=write-skew&l=si&token=0:0.0,1:0.0"));
    page.wait("document.getElementById('assertion').textContent.includes('broken')");
    assert_eq!(page.text("#behaviour code"), "0:0.0,1:0.0");
    page.is_quiet(&play.url(""));
}

#[test]
fn what_cannot_be_played_leaves_the_page_as_it_is() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=lost-update&l=pc"));
    page.go(0, 1);
    let before = browser.eval("return location.hash");
    browser.eval(
        "document.getElementById('edit').open = true; document.getElementById('own').value = \
         'session a { begin x := commit }'; document.getElementById('play-own').click()",
    );
    page.wait("document.getElementById('own-said').textContent.includes('line 1')");
    assert_eq!(browser.eval("return document.getElementById('program').value"), "lost-update");
    assert_eq!(browser.eval("return location.hash"), before);
    // The next step is one of the program that is shown.
    page.go(1, 2);
    assert!(page.text(".cell").contains("ben-1"), "{}", page.text(".cell"));
}

#[test]
fn keys_are_left_to_what_has_the_focus() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=write-skew&l=si&s=0:i,1:i"));
    page.settle(2);
    let press = |selector: &str, key: &str| {
        let pressed = browser.eval(&format!(
            "const it = document.querySelector(`{selector}`); it.focus(); \
             return it.dispatchEvent(new KeyboardEvent('keydown', \
             {{ key: '{key}', bubbles: true, cancelable: true }}))"
        ));
        // What the game takes does nothing else.
        pressed == Value::Bool(false)
    };
    let is_left = [
        ("#text", "ArrowLeft"),
        (".scroll", "ArrowLeft"),
        ("#copy", "a"),
        ("#copy", "1"),
        ("summary", "0"),
        (".skip", "Backspace"),
        ("#own", "a"),
    ];
    for (selector, key) in is_left {
        assert!(!press(selector, key), "{selector} {key}");
    }
    page.settle(2);
    assert!(press(".next button", "ArrowLeft"));
    page.settle(1);
    // A button that is disabled hands the focus on.
    browser.eval("document.getElementById('back').focus()");
    page.click("#back");
    page.settle(0);
    let focused = "return document.activeElement.closest('.next') !== null";
    assert_eq!(browser.eval(focused), Value::Bool(true));
    assert!(press(".next button", "2"));
    page.is_quiet(&play.url(""));
}

#[test]
fn choices_vanish_at_a_stronger_level_and_come_back() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let link = "#p=non-monotonic-read&l=true&s=0,0,0,1:0.0";
    let page = Page::open(&browser, &play.url(link));
    page.settle(4);
    let offered = || page.text(".next[data-lane=\"1\"] button.version .value");
    assert_eq!(offered(), "0|1");
    page.click("#levels input[value=rc]");
    page.wait("document.querySelectorAll('.next .no').length === 1");
    assert_eq!(offered(), "1");
    let no = page.text(".next .no");
    assert!(no.contains("not allowed") && no.contains("non-monotonic read"), "{no}");
    page.click(".next .no button");
    page.wait("document.querySelector('#why svg') !== null");
    page.click("#levels input[value=true]");
    page.wait("document.querySelectorAll('.next .no').length === 0");
    page.click(".next[data-lane=\"1\"] button.version");
    page.settle(5);
    // A choice that was made and is not allowed elsewhere waits there.
    page.click("#levels input[value=ser]");
    page.wait("!document.getElementById('stopped').hidden");
    assert!(page.text("#stopped").contains("does not allow this version"));
    page.click("#levels input[value=true]");
    page.settle(5);
    assert!(browser.eval("return document.getElementById('stopped').hidden") == json!(true));
    page.is_quiet(&play.url(""));
}

#[test]
fn the_adversary_plays_and_the_keyboard_is_enough() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=write-skew&l=si"));
    page.settle(0);
    browser.type_into("body", "a");
    page.wait("document.getElementById('assertion').textContent.includes('broken')");
    assert!(page.text("#said").contains("the assertion breaks"), "{}", page.text("#said"));
    assert!(page.text("#anomalies h3").contains("write skew"));
    browser.type_into("body", "0");
    page.settle(0);
    // The number of a session: at a read its first version gets the focus.
    browser.type_into("body", "1");
    assert_eq!(
        browser.eval("return document.activeElement.closest('.next').dataset.lane"),
        json!("0")
    );
    // Enter picks it, and the focus stays in the session.
    page.browser.type_into(".next[data-lane=\"0\"] button.version", "\u{E007}");
    page.settle(1);
    assert_eq!(
        browser.eval("return document.activeElement.closest('.next').dataset.lane"),
        json!("0")
    );
    assert!(page.text("#said").contains("alice-1 reads duty[1] = 1"), "{}", page.text("#said"));
    browser.type_into("body", "\u{E003}");
    page.settle(0);
    page.click(".next[data-lane=\"1\"] [data-pick]");
    page.settle(1);
    page.is_quiet(&play.url(""));
}

#[test]
fn two_browsers_on_one_server_do_not_disturb_each_other() {
    let (Some(one), Some(two)) = (Browser::open(), Browser::open()) else { return };
    let play = Play::start(&[]);
    let first = Page::open(&one, &play.url("#p=lost-update&l=pc"));
    let second = Page::open(&two, &play.url("#p=long-fork&l=cc"));
    first.settle(0);
    second.settle(0);
    first.go(0, 1);
    second.go(0, 1);
    second.go(0, 2);
    first.go(1, 2);
    assert!(first.text(".cell").contains("ben-1") && !first.text(".cell").contains("news"));
    assert!(second.text(".cell").contains("news_a-1"), "{}", second.text(".cell"));
    // A link is the game: the other browser sees the same.
    let link = one.eval("return location.href").as_str().unwrap().to_owned();
    let same = Page::open(&two, &link);
    same.settle(2);
    assert_eq!(same.text(".cell"), first.text(".cell"));
}

#[test]
fn a_program_of_ones_own_is_played_and_stands_in_the_link() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url(""));
    page.settle(0);
    let write = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        browser.eval(&format!(
            "document.getElementById('edit').open = true; document.getElementById('own').value = \
             {text}; document.getElementById('play-own').click()"
        ));
    };
    write("session a { begin x := commit }");
    page.wait("document.getElementById('own-said').textContent.includes('line 1')");
    write("# Grüße\nsession solo { begin write(x, 1) commit }\nassert final(x) == 1");
    page.wait("document.querySelector('.lane').innerText.includes('solo')");
    page.go(0, 1);
    page.go(0, 2);
    assert!(page.text("#assertion").contains("holds"));
    let link = browser.eval("return location.href").as_str().unwrap().to_owned();
    let again = Page::open(&browser, &link);
    again.settle(2);
    assert!(again.text("#text").contains("# Grüße"), "{}", again.text("#text"));
    // The first program was wrong, which the server said with a status of its own.
    assert_eq!(browser.requests(&play.url("")), Vec::<String>::new());
}

#[test]
fn names_that_are_markup_are_shown_as_text() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let path = folder.file("history.jsonl", HOSTILE);
    let play = Play::start(&[&path, "--level", "pc"]);
    let page = Page::open(&browser, &play.url(""));
    page.settle(0);
    for (steps, session) in [0, 1, 0, 1, 0, 1].into_iter().enumerate() {
        page.go(session, steps + 1);
    }
    page.wait("document.querySelectorAll('#anomalies svg').length > 0");
    let text = page.text("body");
    for name in ["<script>alert(1)</script>", "<iframe src=//127.0.0.1>", "<svg onload=alert(3)>"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let count = |selector: &str| {
        browser.eval(&format!("return document.querySelectorAll(`{selector}`).length"))
    };
    assert_eq!(count("img, iframe, object, embed, [onload], main script"), 0);
    page.is_quiet(&play.url(""));
}

#[test]
fn the_page_fits_a_phone_a_wall_and_the_night() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    for width in [360, 800, 1280, 2560] {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        for link in ["#p=dirty-write&l=cc&s=0,0,0,1,1,1", "#p=lost-update&l=pc&s=0:i,1:i,0,1,0,1"] {
            let page = Page::open(&browser, &play.url(link));
            page.settle(6);
            let wide = browser.eval("return document.documentElement.scrollWidth");
            assert!(wide.as_i64().unwrap() <= width, "{wide} of {width}: {link}");
        }
    }
    let paper = |value: &str| {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        browser.devtools("Emulation.setEmulatedMedia", &features);
        browser.eval("return getComputedStyle(document.body).backgroundColor")
    };
    assert_eq!(paper("light"), "rgb(255, 255, 255)");
    assert_eq!(paper("dark"), "rgb(13, 17, 23)");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
