//! Voter: callers vote for a contestant by telephone, each number once. All votes of the workload
//! come from one number.

use crate::app::App;
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{End, Workload, attempt, look};

const CONTESTANTS: Table = Table("contestants");
const AREA_CODES: Table = Table("area_code_state");
const VOTES: Table = Table("votes");
const CONTESTANT: &str = "1";
const AREA_CODE: i64 = 205;
const AREA_CODES_COUNT: i64 = 305;
const PHONE: i64 = 2_050_000_001;
const VOTES_MAX: usize = 1;

/// The application.
#[derive(Debug)]
pub struct Voter(pub Workload);

impl Voter {
    /// All votes that there can be.
    fn votes(&self) -> Vec<String> {
        let of =
            |client: usize| (0..self.0.transactions).map(move |number| vote_key(client, number));
        (0..self.0.sessions).flat_map(of).collect()
    }
}

fn vote_key(client: usize, number: usize) -> String {
    format!("{client}-{number}")
}

fn vote(db: &mut dyn Db, votes: Vec<String>, key: &str, id: i64) -> Result<(End, bool), DbError> {
    if !CONTESTANTS.exists(db, CONTESTANT)? {
        return Ok((End::Commit, false));
    }
    CONTESTANTS.look_at(db, CONTESTANT, ["contestant_number"])?;
    let mine = VOTES.select(db, votes, "phone_number", &Value::Int(PHONE))?;
    for vote in &mine {
        VOTES.look_at(db, vote, ["vote_id", "state", "contestant_number", "created"])?;
    }
    if mine.len() >= VOTES_MAX {
        return Ok((End::Commit, false));
    }
    let area = AREA_CODE.to_string();
    let state = if AREA_CODES.exists(db, &area)? {
        AREA_CODES.get(db, &area, "state")?
    } else {
        Value::Null
    };
    VOTES.insert(
        db,
        key,
        &[
            ("vote_id", Value::Int(id)),
            ("phone_number", Value::Int(PHONE)),
            ("state", state),
            ("contestant_number", Value::Int(1)),
            ("created", "1970-01-01 00:00:00".into()),
        ],
    )?;
    Ok((End::Commit, true))
}

impl App for Voter {
    fn name(&self) -> &'static str {
        "voter"
    }

    fn assertion(&self) -> &'static str {
        "no telephone number votes more than once (A14)"
    }

    fn workload(&self) -> Option<Workload> {
        Some(self.0)
    }

    fn load(&self) -> Vec<(String, Value)> {
        let contestant =
            [("contestant_number", Value::Int(1)), ("contestant_name", "Edwina Burnam".into())];
        let mut rows = CONTESTANTS.load(CONTESTANT, &contestant);
        for code in AREA_CODE - 4..AREA_CODE - 4 + AREA_CODES_COUNT {
            rows.extend(
                AREA_CODES
                    .load(&code.to_string(), &[("state", Value::from(format!("S{}", code % 50)))]),
            );
        }
        rows
    }

    fn clients(&self) -> usize {
        self.0.sessions
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        for number in 0..self.0.transactions {
            let mut counted = false;
            attempt(db, |db| {
                let (end, voted) =
                    vote(db, self.votes(), &vote_key(client, number), number as i64)?;
                counted = voted;
                Ok(end)
            })?;
            see(if counted { "counted" } else { "refused" }.into());
        }
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let votes =
            look(db, |db| VOTES.select(db, self.votes(), "phone_number", &Value::Int(PHONE)))?;
        Ok(if votes.len() <= VOTES_MAX {
            Ok(())
        } else {
            Err(format!("A14: {} votes of the number {PHONE} were counted", votes.len()))
        })
    }
}
