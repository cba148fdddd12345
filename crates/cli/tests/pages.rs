//! Pages and pictures that commands write beside their results, and what a browser makes of them.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::{Folder, run};
use serde_json::{Value, json};

/// Names and values that would be markup, in a history with a lost update.
const HOSTILE: &str = concat!(
    r#"{"seriatim":1,"initial":{"<b>k</b>\" onload=\"x":0}}"#,
    "\n",
    r#"{"session":"<script>alert(1)</script>","txn":"</title><img src=x onerror=alert(2)>","#,
    r#""status":"committed","ops":[["r","<b>k</b>\" onload=\"x",0],"#,
    r#"["w","<b>k</b>\" onload=\"x","</style><svg onload=alert(3)>"]]}"#,
    "\n",
    r#"{"session":"'\"><iframe src=//127.0.0.1>","txn":"&amp;","status":"committed","ops":"#,
    r#"[["r","<b>k</b>\" onload=\"x",0],["w","<b>k</b>\" onload=\"x","</script>"]]}"#,
    "\n",
);

const STOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/histories/stock.jsonl");

/// A page of `check`, its address and its text.
fn page(folder: &Folder, input: &str) -> (String, String) {
    let path = folder.at("page.html");
    let ran = run(&["check", input, "--html", &path]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    (format!("file://{path}"), std::fs::read_to_string(&path).unwrap())
}

#[test]
fn every_command_that_explains_writes_a_page() {
    let folder = Folder::new();
    let program =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/programs/write-skew.tx").to_owned();
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/histories/deposits.txt");
    let recording =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../histories/databases/mariadb-rr.jsonl");
    let (html, svg, small) = (folder.at("p.html"), folder.at("p.svg"), folder.at("small.jsonl"));
    let relaxed = ["--level", "causal", "--boundary", "relaxed"];
    let predict = [&["predict", trace][..], &relaxed, &["--html", &html, "--svg", &svg]].concat();
    let commands = [
        vec!["check", STOCK, "--html", &html, "--svg", &svg],
        vec!["minimize", STOCK, "-l", "si", "-o", &small, "--html", &html, "--svg", &svg],
        vec!["explore", &program, "--level", "si", "--html", &html, "--svg", &svg],
        vec!["audit", "--again", recording, "--html", &html, "--svg", &svg],
        predict,
    ];
    for command in commands {
        let ran = run(&command);
        assert!(matches!(ran.code, Some(0 | 1)), "{command:?}: {ran:?}");
        let page = std::fs::read_to_string(&html).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{command:?}");
        assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"));
        // Nothing is loaded, from nowhere.
        assert!(!page.contains("src=") && !page.contains("http-equiv=\"refresh"), "{command:?}");
        std::fs::remove_file(&html).unwrap();
        if command.contains(&svg.as_str()) {
            let picture = std::fs::read_to_string(&svg).unwrap();
            assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{command:?}");
            std::fs::remove_file(&svg).unwrap();
        }
    }
}

#[test]
fn pages_are_not_written_over_inputs_or_to_standard_output() {
    let folder = Folder::new();
    let input = folder.file("history.jsonl", HOSTILE.as_bytes());
    let ran = run(&["check", &input, "--html", &input]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&input).unwrap(), HOSTILE);
    let ran = run(&["check", &input, "--html", "-"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("let --html and --svg name files"), "{ran:?}");
}

#[test]
fn a_page_takes_no_file_that_something_else_is_written_to() {
    let folder = Folder::new();
    let same = folder.at("same.jsonl");
    let ran = run(&["minimize", STOCK, "-l", "si", "-o", &same, "--html", &same]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("named twice"), "{ran:?}");
}

#[test]
fn a_page_says_everything_without_its_script() {
    let folder = Folder::new();
    let (_, text) = page(&folder, STOCK);
    for said in ["violates snapshot isolation", "lost update: 1 instance", "a contradiction"] {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn the_picture_of_the_documentation_is_the_one_that_is_drawn() {
    let folder = Folder::new();
    let svg = folder.at("p.svg");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command = common::seriatim();
    command.current_dir(root).args([
        "check",
        "-q",
        "examples/histories/stock.jsonl",
        "--svg",
        &svg,
    ]);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let kept = format!("{root}/docs/pictures/lost-update.svg");
    let (drawn, kept) = (std::fs::read_to_string(&svg), std::fs::read_to_string(kept));
    assert_eq!(drawn.unwrap(), kept.unwrap(), "draw it again with check --svg");
}

#[test]
fn a_large_history_makes_a_small_page() {
    let folder = Folder::new();
    let history = folder.at("large.jsonl");
    let plant = ["--plant", "long-fork", "--sessions", "20", "--transactions", "1000"];
    let made = run(&[&["generate", "--level", "ser", &history][..], &plant].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let (_, text) = page(&folder, &history);
    assert!(text.len() < 400_000, "{}", text.len());
    assert!(text.contains("long fork: 1 instance"), "{}", text.len());
}

#[test]
fn a_browser_shows_names_as_text_and_asks_nobody() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let input = folder.file("history.jsonl", HOSTILE.as_bytes());
    let (url, _) = page(&folder, &input);
    browser.go(&url);
    let text = browser.eval("return document.body.innerText").to_string();
    for name in ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "<iframe src="] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let count = |selector: &str| {
        browser.eval(&format!("return document.querySelectorAll(\"{selector}\").length"))
    };
    assert_eq!(count("img, iframe, b, object, embed"), 0);
    assert_eq!(count("script"), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.requests("file://"), Vec::<String>::new());
}

#[test]
fn a_proof_can_be_stepped_through_and_opened() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let (url, _) = page(&folder, STOCK);
    browser.go(&url);
    // What is lit: steps of the proof, and edges of the picture by their steps.
    let lit = || {
        browser.eval(
            "return [[...document.querySelectorAll('ol.steps > li')].map(li => \
             li.classList.contains('lit')), [...document.querySelectorAll('g.edge.lit')].map(g => \
             g.dataset.step)]",
        )
    };
    let nothing = json!([[false, false], []]);
    assert_eq!(lit(), nothing);
    browser.eval("document.querySelector('nav.steps button[data-by=\"1\"]').click()");
    assert_eq!(lit(), json!([[true, false], ["1"]]));
    browser.type_into("figure.proof", "\u{E014}");
    assert_eq!(lit(), json!([[false, true], ["2"]]));
    browser.type_into("figure.proof", "\u{E00C}");
    assert_eq!(lit(), nothing);
    // An inferred edge opens to what it rests on.
    let is_open = || browser.eval("return document.querySelector('ol.steps details').open");
    assert_eq!(is_open(), Value::Bool(false));
    browser.eval(
        "document.querySelector('g.edge.inferred').dispatchEvent(new MouseEvent('click', \
         {bubbles: true}))",
    );
    assert_eq!(is_open(), Value::Bool(true));
    assert_eq!(lit(), json!([[false, true], ["2"]]));
    let shown = || {
        browser
            .eval("return [...document.querySelectorAll('#n0 tbody tr')].map(row => !row.hidden)")
    };
    assert_eq!(shown(), json!([true, true]));
    browser.eval("document.querySelectorAll('details').forEach(it => { it.open = true })");
    browser.type_into("input[data-filters]", "ann-1");
    assert_eq!(shown(), json!([true, false]));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_page_fits_a_phone_and_the_night() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let (url, _) = page(&folder, STOCK);
    for width in [360, 800, 2560] {
        let metrics =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        browser.go(&url);
        let wide = browser.eval("return document.documentElement.scrollWidth");
        assert!(wide.as_i64().unwrap() <= width, "{wide} of {width}");
    }
    let paper = || browser.eval("return getComputedStyle(document.body).backgroundColor");
    let light = |value: &str| {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        browser.devtools("Emulation.setEmulatedMedia", &features);
        paper()
    };
    assert_eq!(light("light"), "rgb(255, 255, 255)");
    assert_eq!(light("dark"), "rgb(13, 17, 23)");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
