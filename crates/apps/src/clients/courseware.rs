//! Courseware: open and remove courses, register and remove students, enrol, list enrolments.

use super::Slot;
use crate::courseware::{COURSE, OTHER_COURSE, Op, database, student};
use crate::value::Value;
use crate::workload::Random;

/// Anything with two students and two courses.
pub(super) fn anything(random: &mut Random) -> Op {
    let student = student(random.index(2));
    let course = Value::from(if random.coin() { COURSE } else { OTHER_COURSE });
    match random.case(6) {
        0 => Op::Register(student),
        1 => Op::Deregister(student),
        2 => Op::Create(course),
        3 => Op::Remove(course),
        _ => Op::Enrol(student, course),
    }
}

/// A database in which no student is registered and no course exists.
pub(super) fn empty() -> Vec<(String, Value)> {
    database(&[], &[])
}

/// What client number `client` does first if there is nothing yet.
pub(super) fn preparing(client: usize) -> Vec<Op> {
    let mut first = if client == 0 { vec![Op::Create(COURSE.into())] } else { Vec::new() };
    first.push(Op::Register(student(client)));
    first
}

/// What client number `client` does of what may overfill the course.
pub(super) fn overfilling(random: &mut Random, client: usize) -> Op {
    match random.case(6) {
        0 => Op::Register(student(client)),
        1 => Op::Create(COURSE.into()),
        2 => Op::Enrol(student(client), OTHER_COURSE.into()),
        _ => Op::Enrol(student(client), COURSE.into()),
    }
}

/// What client number `client` does of what may leave enrolments in the course when it is removed.
pub(super) fn removing(random: &mut Random, client: usize) -> Op {
    match random.case(8) {
        0 => Op::Register(student(client)),
        1 => Op::Create(COURSE.into()),
        2 => Op::Roll(COURSE.into()),
        3 | 4 => Op::Remove(COURSE.into()),
        _ => Op::Enrol(student(client), COURSE.into()),
    }
}

/// Two students and two courses.
pub(super) fn load() -> Vec<(String, Value)> {
    database(&["s0", "s1"], &["c0", "c1"])
}

/// A transaction of three students; one of them may not be registered yet.
pub(super) fn transaction(random: &mut Random, _: Slot) -> Op {
    let student = Value::from(format!("s{}", random.below(3)));
    let course = Value::from(format!("c{}", random.below(2)));
    match random.below(6) {
        0 => Op::Create(course),
        1 => Op::Remove(course),
        2 => Op::Register(student),
        3 => Op::Deregister(student),
        4 => Op::Enrol(student, course),
        _ => Op::Roll(course),
    }
}
