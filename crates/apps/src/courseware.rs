//! Courseware: students, courses with a capacity, enrolments; each a set in one cell.
//!
//! Enrolling checks that the student is registered, the course active and not full. Removing a course takes its enrolments away.
//! Under serializability a course never has more enrolments than its capacity, and a removed course has none.

use crate::app::App;
use crate::db::{Db, DbError, transact};
use crate::value::Value;

pub(crate) const STUDENTS: &str = "students";
pub(crate) const COURSES: &str = "courses";
pub(crate) const ENROLMENTS: &str = "enrolments";
const COURSE: &str = "databases";
const OTHER_COURSE: &str = "logic";
pub(crate) const CAPACITY: usize = 2;

/// Three students enrol in a course with two places.
pub struct Overflow;

/// A student enrols in a course that is removed, others in another course.
pub struct RemovedCourse;

fn loaded() -> Vec<(String, Value)> {
    let list = |names: &[&str]| Value::List(names.iter().map(|&name| name.into()).collect());
    vec![
        (STUDENTS.to_owned(), list(&["s0", "s1", "s2"])),
        (COURSES.to_owned(), list(&[COURSE, OTHER_COURSE])),
        (ENROLMENTS.to_owned(), Value::List(Vec::new())),
    ]
}

fn student(client: usize) -> Value {
    Value::Text(format!("s{client}"))
}

fn enrolment(student: &Value, course: &str) -> Value {
    Value::List(vec![student.clone(), course.into()])
}

fn enrolled_in<'e>(enrolments: &'e Value, course: &str) -> Vec<&'e Value> {
    enrolments.items().iter().filter(|enrolment| enrolment.items().get(1) == Some(&course.into())).collect()
}

/// Enrols a student, inside of a transaction: only if the student is registered and the course active and not full.
pub(crate) fn enrol_in(db: &mut dyn Db, student: &Value, course: &str) -> Result<Option<Value>, DbError> {
    if !db.read(STUDENTS)?.has(student) || !db.read(COURSES)?.has(&course.into()) {
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

/// Enrols a student; what the user sees is whether it worked.
fn enrol(db: &mut dyn Db, student: &Value, course: &str) -> Result<Value, DbError> {
    let done = transact(db, |db| enrol_in(db, student, course))?;
    Ok(if done.is_some() { "enrolled" } else { "refused" }.into())
}

/// Removes a course and its enrolments, inside of a transaction.
pub(crate) fn remove_course_in(db: &mut dyn Db, course: &str) -> Result<Option<Value>, DbError> {
    let courses = db.read(COURSES)?;
    db.write(COURSES, courses.without(&course.into()))?;
    let enrolments = db.read(ENROLMENTS)?;
    let others = enrolments.items().iter().filter(|one| one.items().get(1) != Some(&course.into()));
    db.write(ENROLMENTS, Value::List(others.cloned().collect()))?;
    Ok(Some("removed".into()))
}

/// Removes a course and its enrolments.
fn remove_course(db: &mut dyn Db, course: &str) -> Result<Value, DbError> {
    transact(db, |db| remove_course_in(db, course))?;
    Ok("removed".into())
}

fn register(db: &mut dyn Db, student: Value) -> Result<Value, DbError> {
    transact(db, |db| {
        let students = db.read(STUDENTS)?;
        db.write(STUDENTS, students.with_new(student.clone()))?;
        Ok(Some(()))
    })?;
    Ok("registered".into())
}

/// What is in the cells at the end.
fn final_state(db: &mut dyn Db) -> Result<(Value, Value), DbError> {
    let state = transact(db, |db| Ok(Some((db.read(COURSES)?, db.read(ENROLMENTS)?))))?;
    Ok(state.unwrap_or((Value::Null, Value::Null)))
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

    fn run(&self, client: usize, db: &mut dyn Db, see: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        see(register(db, Value::Text(format!("new{client}")))?);
        see(enrol(db, &student(client), COURSE)?);
        see(enrol(db, &student(client), OTHER_COURSE)?);
        Ok(())
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        // The second answer of each client is about this course.
        let enrolled = seen.iter().filter(|answers| answers.get(1) == Some(&"enrolled".into())).count();
        Ok(if enrolled <= CAPACITY {
            Ok(())
        } else {
            Err(format!("the course has {CAPACITY} places, and {enrolled} students were told that they have one"))
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

    fn run(&self, client: usize, db: &mut dyn Db, see: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        let newcomer = Value::Text(format!("new{client}"));
        see(register(db, newcomer.clone())?);
        see(match client {
            0 => enrol(db, &student(client), COURSE)?,
            1 => enrol(db, &student(client), OTHER_COURSE)?,
            _ => remove_course(db, COURSE)?,
        });
        see(enrol(db, &newcomer, OTHER_COURSE)?);
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let (courses, enrolments) = final_state(db)?;
        let left = enrolled_in(&enrolments, COURSE);
        Ok(match left.first() {
            Some(one) if !courses.has(&COURSE.into()) => Err(format!("the course was removed, but {one} is enrolled")),
            _ => Ok(()),
        })
    }
}
