//! Courseware: students, courses with a capacity, enrolments; each a set in one cell.
//!
//! Enrolling checks that the student is registered, the course active and not full. Removing a
//! course takes its enrolments away. Under serializability a course never has more enrolments than
//! its capacity, and a removed course has none.

use crate::app::App;
use crate::db::{Db, DbError, Operation, Transaction, transact};
use crate::value::Value;
use std::collections::BTreeSet;
use std::fmt;

const STUDENTS: &str = "students";
const COURSES: &str = "courses";
const ENROLMENTS: &str = "enrolments";
pub(crate) const COURSE: &str = "databases";
pub(crate) const OTHER_COURSE: &str = "logic";
const CAPACITY: usize = 2;
const ENROLLED: &str = "enrolled";
const REMOVED: &str = "removed";

/// Three students enrol in a course with two places.
#[derive(Debug)]
pub struct Overflow;

/// A student enrols in a course that is removed, others in another course.
#[derive(Debug)]
pub struct RemovedCourse;

/// A database with these students and courses, and no enrolments.
pub(crate) fn database(students: &[&str], courses: &[&str]) -> Vec<(String, Value)> {
    let list = |names: &[&str]| names.iter().map(|&name| Value::from(name)).collect::<Value>();
    vec![
        (STUDENTS.to_owned(), list(students)),
        (COURSES.to_owned(), list(courses)),
        (ENROLMENTS.to_owned(), list(&[])),
    ]
}

fn loaded() -> Vec<(String, Value)> {
    database(&["s0", "s1", "s2"], &[COURSE, OTHER_COURSE])
}

/// The student of a client.
pub(crate) fn student(client: usize) -> Value {
    Value::from(format!("s{client}"))
}

fn enrolment(student: &Value, course: &Value) -> Value {
    Value::from(vec![student.clone(), course.clone()])
}

fn enrolled_in<'e>(enrolments: &'e Value, course: &Value) -> Vec<&'e Value> {
    enrolments.items().iter().filter(|enrolment| enrolment.items().get(1) == Some(course)).collect()
}

/// What a user does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Register(Value),
    Deregister(Value),
    Create(Value),
    Remove(Value),
    Enrol(Value, Value),
    /// The students of a course.
    Roll(Value),
}

impl Op {
    /// A student enrols in a course.
    fn enrol(client: usize, course: &str) -> Op {
        Op::Enrol(student(client), course.into())
    }

    /// The student that this got into the course of the assertion.
    fn enrols(&self, answer: &Value) -> Option<&Value> {
        match self {
            Op::Enrol(student, course) => {
                let is_told = *course == COURSE.into() && *answer == ENROLLED.into();
                is_told.then_some(student)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Register(student) => write!(f, "register {student}"),
            Op::Deregister(student) => write!(f, "deregister {student}"),
            Op::Create(course) => write!(f, "open {course}"),
            Op::Remove(course) => write!(f, "remove {course}"),
            Op::Enrol(student, course) => write!(f, "enrol {student} in {course}"),
            Op::Roll(_) => write!(f, "enrolments"),
        }
    }
}

impl Transaction for Op {
    fn body(&self, db: &mut dyn Db) -> Result<Option<Value>, DbError> {
        match self {
            Op::Register(student) => change(db, STUDENTS, |rows| rows.with_new(student.clone())),
            Op::Deregister(student) => change(db, STUDENTS, |rows| rows.without(student)),
            Op::Create(course) => change(db, COURSES, |rows| rows.with_new(course.clone())),
            Op::Remove(course) => remove_course(db, course),
            Op::Enrol(student, course) => enrol(db, student, course),
            Op::Roll(_) => db.read(ENROLMENTS).map(Some),
        }
    }

    fn answer(&self, left: Option<Value>) -> Value {
        match self {
            Op::Register(_) => "registered".into(),
            Op::Deregister(_) => "deregistered".into(),
            Op::Create(_) => "created".into(),
            Op::Remove(_) => REMOVED.into(),
            Op::Enrol(..) => if left.is_some() { ENROLLED } else { "refused" }.into(),
            Op::Roll(course) => {
                let enrolments = left.unwrap_or(Value::Null);
                let enrolled = enrolled_in(&enrolments, course).into_iter();
                enrolled.filter_map(|one| one.items().first().cloned()).collect()
            }
        }
    }
}

/// Changes one of the sets.
fn change(
    db: &mut dyn Db,
    set: &str,
    by: impl Fn(&Value) -> Value,
) -> Result<Option<Value>, DbError> {
    let rows = by(&db.read(set)?);
    db.write(set, rows.clone())?;
    Ok(Some(rows))
}

/// Enrols a student, inside of a transaction: only if the student is registered and the course
/// active and not full.
fn enrol(db: &mut dyn Db, student: &Value, course: &Value) -> Result<Option<Value>, DbError> {
    if !db.read(STUDENTS)?.has(student) || !db.read(COURSES)?.has(course) {
        return Ok(None);
    }
    let enrolments = db.read(ENROLMENTS)?;
    if enrolled_in(&enrolments, course).len() >= CAPACITY {
        return Ok(None);
    }
    let enrolments = enrolments.with_new(enrolment(student, course));
    db.write(ENROLMENTS, enrolments.clone())?;
    Ok(Some(enrolments))
}

/// Removes a course and its enrolments, inside of a transaction.
fn remove_course(db: &mut dyn Db, course: &Value) -> Result<Option<Value>, DbError> {
    let courses = db.read(COURSES)?;
    db.write(COURSES, courses.without(course))?;
    let enrolments = db.read(ENROLMENTS)?;
    let others = enrolments.items().iter().filter(|one| one.items().get(1) != Some(course));
    db.write(ENROLMENTS, others.cloned().collect::<Value>())?;
    Ok(Some(REMOVED.into()))
}

impl App for Overflow {
    fn name(&self) -> &'static str {
        "courseware-overflow"
    }

    fn assertion(&self) -> &'static str {
        "no more students are enrolled in a course than it has places"
    }

    fn load(&self) -> Vec<(String, Value)> {
        loaded()
    }

    fn clients(&self) -> usize {
        3
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        let operations = [
            Op::Register(format!("new{client}").into()),
            Op::enrol(client, COURSE),
            Op::enrol(client, OTHER_COURSE),
        ];
        operations.iter().try_for_each(|operation| operation.run(db).map(&mut *see))
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        // The second answer of each client is about this course.
        let enrolled =
            seen.iter().filter(|answers| answers.get(1) == Some(&ENROLLED.into())).count();
        Ok(if enrolled <= CAPACITY {
            Ok(())
        } else {
            Err(format!(
                "the course has {CAPACITY} places, and {enrolled} students were told that they \
                 have one"
            ))
        })
    }
}

impl App for RemovedCourse {
    fn name(&self) -> &'static str {
        "courseware-removed"
    }

    fn assertion(&self) -> &'static str {
        "a removed course has no enrolments"
    }

    fn load(&self) -> Vec<(String, Value)> {
        loaded()
    }

    fn clients(&self) -> usize {
        3
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        let operations = match client {
            0 => [Op::Register("new0".into()), Op::enrol(0, COURSE), Op::enrol(0, OTHER_COURSE)],
            1 => [Op::Register("new1".into()), Op::enrol(1, OTHER_COURSE), Op::enrol(1, COURSE)],
            _ => [Op::Remove(COURSE.into()), Op::Roll(COURSE.into()), Op::Roll(COURSE.into())],
        };
        operations.iter().try_for_each(|operation| operation.run(db).map(&mut *see))
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        // What the last client saw of the course after it had removed it.
        let enrolled = seen[2].iter().skip(1).flat_map(|roll| roll.items());
        Ok(match enrolled.into_iter().next() {
            Some(student) => Err(format!("the course was removed, and {student} is enrolled")),
            None => Ok(()),
        })
    }
}

/// Whether no more students got into the course than it has places.
pub(crate) fn is_not_overfull<'a>(
    answered: impl Iterator<Item = (&'a Op, &'a Value)>,
) -> Result<(), String> {
    let told: BTreeSet<String> = answered
        .filter_map(|(operation, answer)| operation.enrols(answer))
        .map(Value::to_string)
        .collect();
    if told.len() <= CAPACITY {
        return Ok(());
    }
    Err(format!(
        "the course has {CAPACITY} places, and {} students were told that they have one",
        told.len()
    ))
}

/// Whether all courses with enrolments are there.
pub(crate) fn has_no_stray_enrolments(db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
    let state = transact(db, |db| Ok(Some((db.read(COURSES)?, db.read(ENROLMENTS)?))))?;
    let (courses, enrolments) = state.unwrap_or((Value::Null, Value::Null));
    Ok(match enrolled_in(&enrolments, &COURSE.into()).first() {
        Some(one) if !courses.has(&COURSE.into()) => {
            Err(format!("the course was removed, and {one} is enrolled"))
        }
        _ => Ok(()),
    })
}
