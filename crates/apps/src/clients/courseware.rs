//! Courseware: open and remove courses, register and remove students, enrol, list enrolments.

use super::{Slot, Step};
use crate::courseware::{COURSES, ENROLMENTS, STUDENTS, enrol_in, remove_course_in};
use crate::value::Value;
use crate::workload::Random;

pub(super) fn load() -> Vec<(String, Value)> {
    let list = |names: &[&str]| names.iter().map(|&name| Value::from(name)).collect::<Value>();
    vec![
        (STUDENTS.to_owned(), list(&["s0", "s1"])),
        (COURSES.to_owned(), list(&["c0", "c1"])),
        (ENROLMENTS.to_owned(), list(&[])),
    ]
}

pub(super) fn step(random: &mut Random, _: Slot) -> Step {
    let (student, course) = (format!("s{}", random.below(3)), format!("c{}", random.below(2)));
    let change =
        |name: String, table: &'static str, by: fn(&Value, Value) -> Value, item: String| {
            Step::new(name, move |db| {
                let rows = by(&db.read(table)?, item.as_str().into());
                db.write(table, rows.clone())?;
                Ok(Some(rows))
            })
        };
    match random.below(6) {
        0 => change(format!("open {course}"), COURSES, Value::with_new, course),
        1 => Step::new(format!("remove {course}"), move |db| remove_course_in(db, &course)),
        2 => change(format!("register {student}"), STUDENTS, Value::with_new, student),
        3 => change(
            format!("deregister {student}"),
            STUDENTS,
            |rows, item| rows.without(&item),
            student,
        ),
        4 => Step::new(format!("enrol {student} in {course}"), move |db| {
            enrol_in(db, &student.as_str().into(), &course)
        }),
        _ => Step::new("enrolments".to_owned(), |db| db.read(ENROLMENTS).map(Some)),
    }
}
