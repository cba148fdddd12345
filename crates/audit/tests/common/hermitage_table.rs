//! What the scenarios of Hermitage were seen to do on real databases, in `data/hermitage.tsv`: `x`
//! the anomaly happened, `.` it did not, `o` it did, but not in the order of the scenario's steps.

/// The column of a database at a setting: of each scenario its name and what happened.
pub fn column(name: &str) -> Vec<(&'static str, char)> {
    let mut lines = include_str!("../data/hermitage.tsv").lines();
    let heads = lines.next().expect("a line with the names of the columns").split('\t');
    let place = heads.clone().position(|head| head == name);
    let place = place.unwrap_or_else(|| panic!("no column {name}"));
    let row = |line: &'static str| {
        let mut cells = line.split('\t');
        let scenario = cells.next().expect("the name of a scenario");
        (scenario, cells.nth(place - 1).and_then(|cell| cell.chars().next()).expect("a cell"))
    };
    lines.map(row).collect()
}

/// One cell.
#[allow(dead_code)]
pub fn cell(name: &str, scenario: &str) -> char {
    let found = column(name).into_iter().find(|(other, _)| *other == scenario);
    found.unwrap_or_else(|| panic!("no row {scenario}")).1
}
