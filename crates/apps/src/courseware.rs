//! Courseware: students, courses with a capacity, enrolments; each a set in one cell.
//!
//! Enrolling checks that the student is registered, the course active and not full. Removing a
//! course takes its enrolments away. Under serializability a course never has more enrolments than
//! its capacity, and a removed course has none.

use crate::app::App;
use crate::db::{Db, DbError, transact};
use crate::harness::Operation;
use crate::value::Value;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;

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

/// A database in which nobody is registered and no course exists.
pub(crate) fn nothing_loaded() -> Vec<(String, Value)> {
    [STUDENTS, COURSES, ENROLMENTS].map(|key| (key.to_owned(), Value::List([].into()))).into()
}

pub(crate) fn loaded() -> Vec<(String, Value)> {
    let list = |names: &[&str]| names.iter().map(|&name| Value::from(name)).collect::<Value>();
    vec![
        (STUDENTS.to_owned(), list(&["s0", "s1", "s2"])),
        (COURSES.to_owned(), list(&[COURSE, OTHER_COURSE])),
        (ENROLMENTS.to_owned(), Value::from(Vec::new())),
    ]
}

fn student(client: usize) -> Value {
    Value::from(format!("s{client}"))
}

fn enrolment(student: &Value, course: &str) -> Value {
    Value::from(vec![student.clone(), course.into()])
}

fn enrolled_in<'e>(enrolments: &'e Value, course: &str) -> Vec<&'e Value> {
    enrolments
        .items()
        .iter()
        .filter(|enrolment| enrolment.items().get(1) == Some(&course.into()))
        .collect()
}

/// Enrols a student, inside of a transaction: only if the student is registered and the course
/// active and not full.
pub(crate) fn enrol_in(
    db: &mut dyn Db,
    student: &Value,
    course: &str,
) -> Result<Option<Value>, DbError> {
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
    db.write(ENROLMENTS, others.cloned().collect::<Value>())?;
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

fn deregister(db: &mut dyn Db, student: &Value) -> Result<Value, DbError> {
    transact(db, |db| {
        let students = db.read(STUDENTS)?;
        db.write(STUDENTS, students.without(student))?;
        Ok(Some(()))
    })?;
    Ok("deregistered".into())
}

fn create_course(db: &mut dyn Db, course: &str) -> Result<Value, DbError> {
    transact(db, |db| {
        let courses = db.read(COURSES)?;
        db.write(COURSES, courses.with_new(course.into()))?;
        Ok(Some(()))
    })?;
    Ok("created".into())
}

/// Who is enrolled in a course.
fn roll(db: &mut dyn Db, course: &str) -> Result<Value, DbError> {
    let enrolments = transact(db, |db| db.read(ENROLMENTS).map(Some))?.unwrap_or(Value::Null);
    let students =
        enrolled_in(&enrolments, course).into_iter().filter_map(|one| one.items().first().cloned());
    Ok(students.collect::<Value>())
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
        see(register(db, Value::from(format!("new{client}")))?);
        see(enrol(db, &student(client), COURSE)?);
        see(enrol(db, &student(client), OTHER_COURSE)?);
        Ok(())
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        // The second answer of each client is about this course.
        let enrolled =
            seen.iter().filter(|answers| answers.get(1) == Some(&"enrolled".into())).count();
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
        match client {
            0 => {
                see(register(db, Value::from("new0".to_owned()))?);
                see(enrol(db, &student(0), COURSE)?);
                see(enrol(db, &student(0), OTHER_COURSE)?);
            }
            1 => {
                see(register(db, Value::from("new1".to_owned()))?);
                see(enrol(db, &student(1), OTHER_COURSE)?);
                see(enrol(db, &student(1), COURSE)?);
            }
            _ => {
                see(remove_course(db, COURSE)?);
                see(roll(db, COURSE)?);
                see(roll(db, COURSE)?);
            }
        }
        Ok(())
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

/// What a client of a random harness does, with one of two students and one of two courses.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Register(Value),
    Deregister(Value),
    Create(&'static str),
    Remove(&'static str),
    Enrol(Value, &'static str),
    Roll(&'static str),
}

impl Op {
    /// What client number `client` does first if there is nothing yet.
    pub fn preparing(client: usize) -> Vec<Op> {
        let mut first = if client == 0 { vec![Op::Create(COURSE)] } else { Vec::new() };
        first.push(Op::Register(student(client)));
        first
    }

    /// What client number `client` does of what may overfill the course.
    pub fn of_overflow(random: &mut Pcg64Mcg, client: usize) -> Op {
        match random.random_range(0..6) {
            0 => Op::Register(student(client)),
            1 => Op::Create(COURSE),
            2 => Op::Enrol(student(client), OTHER_COURSE),
            _ => Op::Enrol(student(client), COURSE),
        }
    }

    /// What client number `client` does of what may leave enrolments in the course when it is
    /// removed.
    pub fn of_removal(random: &mut Pcg64Mcg, client: usize) -> Op {
        match random.random_range(0..8) {
            0 => Op::Register(student(client)),
            1 => Op::Create(COURSE),
            2 => Op::Roll(COURSE),
            3 | 4 => Op::Remove(COURSE),
            _ => Op::Enrol(student(client), COURSE),
        }
    }

    /// Whether this got somebody into the course.
    fn enrols(&self, answer: &Value) -> Option<&Value> {
        match self {
            Op::Enrol(student, COURSE) if *answer == "enrolled".into() => Some(student),
            _ => None,
        }
    }

    pub fn random(random: &mut Pcg64Mcg) -> Op {
        let student = student(random.random_range(0..2));
        let course = if random.random_bool(0.5) { COURSE } else { OTHER_COURSE };
        match random.random_range(0..6) {
            0 => Op::Register(student),
            1 => Op::Deregister(student),
            2 => Op::Create(course),
            3 => Op::Remove(course),
            _ => Op::Enrol(student, course),
        }
    }
}

impl Operation for Op {
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError> {
        match self {
            Op::Register(student) => register(db, student.clone()),
            Op::Deregister(student) => deregister(db, student),
            Op::Create(course) => create_course(db, course),
            Op::Remove(course) => remove_course(db, course),
            Op::Enrol(student, course) => enrol(db, student, course),
            Op::Roll(course) => roll(db, course),
        }
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
    Ok(match enrolled_in(&enrolments, COURSE).first() {
        Some(one) if !courses.has(&COURSE.into()) => {
            Err(format!("the course was removed, and {one} is enrolled"))
        }
        _ => Ok(()),
    })
}
