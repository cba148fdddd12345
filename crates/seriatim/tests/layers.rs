//! The floors of ARCHITECTURE.md, kept: a crate depends on crates of lower floors, and on the same
//! floor only as named; heavy dependencies stay above the library, and procedural macros out of
//! what it is by default; modules import each other in no cycle; lines are at most 100 columns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Each crate with its floor and the crates of the same floor that it may use.
const FLOORS: [(&str, u32, &[&str]); 17] = [
    ("history", 1, &[]),
    ("isolation", 2, &[]),
    ("verify", 2, &["isolation"]),
    ("check", 3, &["verify"]),
    ("generate", 3, &[]),
    ("store", 3, &[]),
    ("explore", 3, &["check"]),
    ("predict", 3, &["check"]),
    ("apps", 3, &["store"]),
    ("report", 4, &[]),
    ("runs", 4, &[]),
    ("sql", 4, &[]),
    ("seriatim", 5, &[]),
    ("server", 5, &[]),
    ("trial", 5, &["server"]),
    ("audit", 5, &[]),
    ("cli", 6, &[]),
];

/// What only the server, those who stand on it and the command line may depend on.
const HEAVY: [&str; 10] = [
    "anstream",
    "axum",
    "clap",
    "hyper",
    "indicatif",
    "nix",
    "pgwire",
    "rustls",
    "tokio",
    "terminal_size",
];

/// What a crate is built with, on every system and on some.
const BUILT_WITH: [&str; 2] = ["dependencies", "build-dependencies"];
/// What only its tests use.
const TESTED_WITH: [&str; 1] = ["dev-dependencies"];

/// The crates in the sections `kinds` of a manifest, also in those of a target and in sections that
/// a dependency has to itself.
fn dependencies(manifest: &str, kinds: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_inside = false;
    for line in manifest.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            let (section, last) = header.rsplit_once('.').unwrap_or(("", header));
            is_inside = kinds.contains(&last);
            let section = section.rsplit('.').next().unwrap_or_default();
            if kinds.contains(&section) {
                found.insert(last.to_owned());
            }
        } else if is_inside && !line.is_empty() {
            found.insert(dependency(line));
        }
    }
    found
}

/// The crate of a line like `name.workspace = true` or `alias = { package = "name" }`.
fn dependency(line: &str) -> String {
    let package = line.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
    let alias = || line.split(['.', '=', ' ']).next().unwrap_or_default();
    package.unwrap_or_else(alias).to_owned()
}

fn manifests(kinds: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let folders = std::fs::read_dir(CRATES).unwrap().map(|entry| entry.unwrap().path());
    let manifest = |folder: PathBuf| {
        let name = folder.file_name()?.to_str()?.to_owned();
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        Some((name, dependencies(&text, kinds)))
    };
    folders.filter_map(manifest).collect()
}

#[test]
fn dependencies_are_found_wherever_a_manifest_has_them() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\n# no = 1\n\
                    b = { version = \"1\" }\n[dependencies.c]\nversion = \"1\"\n\
                    [build-dependencies]\nd = \"1\"\n[target.'cfg(unix)'.dependencies]\n\
                    alias = { package = \"e\", version = \"1\" }\n\
                    [target.x86_64-unknown-linux-gnu.dependencies.f]\nversion = \"1\"\n\
                    [dev-dependencies]\ng = \"1\"\n[lints]\nworkspace = true\n";
    let found = |kinds| dependencies(manifest, kinds).into_iter().collect::<String>();
    assert_eq!((found(&BUILT_WITH), found(&TESTED_WITH)), ("abcdef".to_owned(), "g".to_owned()));
}

fn floor(name: &str) -> u32 {
    FLOORS.iter().find(|floor| floor.0 == name).unwrap_or_else(|| panic!("no floor: {name}")).1
}

/// The crates of this workspace among dependencies.
fn own(dependencies: &BTreeSet<String>) -> impl Iterator<Item = &str> {
    dependencies.iter().filter_map(|name| match name.as_str() {
        "seriatim" => Some("seriatim"),
        other => other.strip_prefix("seriatim-"),
    })
}

#[test]
fn every_crate_has_a_floor_and_depends_on_lower_ones() {
    let manifests = manifests(&BUILT_WITH);
    let known: Vec<&str> = manifests.keys().map(String::as_str).collect();
    let mut floors = FLOORS.map(|floor| floor.0);
    floors.sort_unstable();
    assert_eq!(known, floors);
    for (name, number, beside) in FLOORS {
        for other in own(&manifests[name]) {
            let may = floor(other) < number || beside.contains(&other);
            assert!(may, "{name} on floor {number} depends on {other} on floor {}", floor(other));
        }
    }
}

/// Tests compare a crate with those beside it, but with nothing that stands on it.
#[test]
fn tests_use_nothing_of_a_higher_floor() {
    let manifests = manifests(&TESTED_WITH);
    for (name, number, _) in FLOORS {
        let higher: Vec<&str> =
            own(&manifests[name]).filter(|other| floor(other) > number).collect();
        assert!(higher.is_empty(), "{name} on floor {number} is tested with {higher:?}");
    }
    assert!(manifests["store"].contains("seriatim-check"), "the section is found");
}

#[test]
fn the_verifier_knows_histories_and_definitions_and_nothing_of_a_search() {
    let allowed = ["rustc-hash", "seriatim-history", "seriatim-isolation"];
    let found = &manifests(&BUILT_WITH)["verify"];
    assert!(found.iter().all(|name| allowed.contains(&name.as_str())), "{found:?}");
}

/// What pages need of a history, callers take from it beforehand.
#[test]
fn the_report_looks_into_no_history_and_judges_none() {
    let report = &manifests(&BUILT_WITH)["report"];
    assert!(!report.contains("seriatim-verify"), "{report:?}");
    let mut files = Vec::new();
    sources(&Path::new(CRATES).join("report/src"), &mut files);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        assert!(words.all(|word| word != "History"), "{}", path.display());
    }
}

#[test]
fn heavy_dependencies_stay_with_the_server_and_the_command_line() {
    for (name, found) in manifests(&BUILT_WITH) {
        let heavy: Vec<&String> =
            found.iter().filter(|name| HEAVY.contains(&name.as_str())).collect();
        let may = ["server", "trial", "audit", "cli"].contains(&name.as_str());
        assert!(may || heavy.is_empty(), "{name} depends on {heavy:?}");
    }
}

/// What a project that writes tests compiles: building `syn` and what stands on it took longer than
/// all that it would have written.
#[test]
fn the_slim_library_needs_no_procedural_macro() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .args(["tree", "--package", "seriatim", "--edges", "normal,build", "--prefix", "none"])
        .args(["--locked", "--offline"])
        .current_dir(CRATES)
        .output()
        .unwrap();
    let (found, problem) =
        (String::from_utf8_lossy(&tree.stdout), String::from_utf8_lossy(&tree.stderr));
    assert!(found.contains("seriatim-check"), "{problem}");
    let macros: Vec<&str> = found.lines().filter(|line| line.contains("(proc-macro)")).collect();
    assert!(macros.is_empty(), "{macros:?}");
}

/// All Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Which modules of its crate, by their first names, a file of `module` imports outside of tests.
fn imports(module: &str, text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1).map(str::to_owned));
    let named = paths.flat_map(|path| match path.strip_prefix('{') {
        // `use crate::{output, whole_files};`
        Some(several) => several.split([',', '}']).map(str::trim).map(str::to_owned).collect(),
        None => vec![path],
    });
    let first = named.map(|path| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        path.chars().take_while(|&c| is_name(c)).collect::<String>()
    });
    first.filter(|name| !name.is_empty() && name != module).collect()
}

/// For each module of a crate the modules that it imports.
fn module_graph(crate_folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let (src, mut files) = (crate_folder.join("src"), Vec::new());
    sources(&src, &mut files);
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files {
        let inside = path.strip_prefix(&src).unwrap();
        let is_test = inside.components().any(|part| part.as_os_str() == "tests.rs");
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        // The roots re-export what the modules have.
        if is_test || module == "lib" || module == "main" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let found = imports(&module, &text);
        graph.entry(module).or_default().extend(found);
    }
    graph
}

/// A module is done when all that it imports is; modules that never are stand in a cycle.
#[test]
fn no_modules_of_a_crate_import_each_other_in_a_cycle() {
    let mut edges = 0;
    for (name, _, _) in FLOORS {
        let mut graph = module_graph(&Path::new(CRATES).join(name));
        edges += graph.values().map(BTreeSet::len).sum::<usize>();
        for (module, imported) in &graph {
            let unknown = imported.iter().find(|other| !graph.contains_key(*other));
            assert_eq!(unknown, None, "{name}: {module} imports from the root of the crate");
        }
        while let Some(done) = graph.iter().find(|(_, on)| on.is_empty()).map(|(m, _)| m.clone()) {
            graph.remove(&done);
            graph.values_mut().for_each(|on| {
                on.remove(&done);
            });
        }
        assert!(graph.is_empty(), "{name}: {graph:?}");
    }
    assert!(edges > 400, "{edges}");
}

#[test]
fn lines_have_at_most_100_columns() {
    let mut files = Vec::new();
    for folder in ["", "../bench/src", "../fuzz/src", "../fuzz/fuzz_targets"] {
        sources(&Path::new(CRATES).join(folder), &mut files);
    }
    assert!(files.len() > 250, "{}", files.len());
    let mut long = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().enumerate();
        let wide = lines.filter(|(_, line)| line.chars().count() > 100);
        long.extend(wide.map(|(number, _)| format!("{}:{}", path.display(), number + 1)));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}
