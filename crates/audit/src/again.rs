//! Recordings of audits, read round by round: in memory that does not grow with the file.

use crate::error::AuditError;
use crate::fault::FaultDone;
use crate::lost::Losses;
use crate::record::nanoseconds;
use crate::round::Tally;
use crate::workload::Workload;
use serde_json::{Value, json};
use seriatim_history::formats::{Format, ReadOptions, read_bytes};
use seriatim_history::{History, ReadError, Spot, Status};
use seriatim_isolation::Level;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// The rounds of a recording.
#[derive(Debug)]
pub struct Recording {
    lines: BufReader<File>,
    header: String,
    /// The first line of the next round.
    next: Option<String>,
    /// How many lines have been read.
    count: u64,
}

/// A round of a recording.
#[derive(Debug)]
pub struct RecordedRound {
    /// Its number.
    pub number: u64,
    lines: Vec<u8>,
    /// Which line of the file the first one behind the header is.
    first_line: u64,
    /// What is told of it when it is over. One that was cut has none.
    pub(crate) end: Option<RoundEnd>,
}

/// What the mark at the end of a round tells of it: what its transactions do not say.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RoundEnd {
    pub round: u64,
    pub workload: Workload,
    pub tally: Tally,
    pub losses: Losses,
    /// What was done to the servers since the round before.
    pub faults: Vec<FaultDone>,
    /// How long it took, and when it ended.
    pub time: Duration,
    pub ended: Duration,
}

impl RoundEnd {
    pub fn json(&self) -> Value {
        json!({
            "round": self.round,
            "workload": self.workload.code(),
            "tally": self.tally.json(),
            "lost": self.losses.json(),
            "faults": self.faults.iter().map(FaultDone::json).collect::<Vec<_>>(),
            "time": nanoseconds(self.time),
            "ended": nanoseconds(self.ended),
        })
    }

    fn from_json(value: &Value) -> Option<RoundEnd> {
        let time = |name: &str| value[name].as_u64().map(Duration::from_nanos);
        Some(RoundEnd {
            round: value["round"].as_u64()?,
            workload: Workload::of_code(value["workload"].as_str()?)?,
            tally: Tally::from_json(&value["tally"])?,
            losses: Losses::from_json(&value["lost"]),
            faults: value["faults"].as_array()?.iter().filter_map(FaultDone::from_json).collect(),
            time: time("time")?,
            ended: time("ended")?,
        })
    }
}

/// What a mark says, if a line is one.
fn mark(line: &str) -> Option<Value> {
    let may_be_one = line.contains("\"whole\"") && !line.contains("\"ops\"");
    let value: Value = may_be_one.then(|| serde_json::from_str(line).ok())??;
    value.get("whole").is_some().then_some(value)
}

impl Recording {
    /// Opens a recording.
    pub fn open(path: &Path) -> Result<Recording, AuditError> {
        let mut lines = BufReader::new(File::open(path)?);
        let mut header = String::new();
        lines.read_line(&mut header)?;
        if !header.contains("\"source\":\"audit\"") {
            return Err(AuditError::NoRecording);
        }
        let mut recording = Recording { lines, header, next: None, count: 1 };
        recording.next = recording.line()?;
        Ok(recording)
    }

    /// The setting that it was recorded at, as the header has it, and the database.
    pub fn about(&self) -> (String, String) {
        let header: serde_json::Value = serde_json::from_str(&self.header).unwrap_or_default();
        let text = |name: &str| header[name].as_str().unwrap_or_default().to_owned();
        (text("database"), text("isolation"))
    }

    /// How many sessions there were and what decided what they did; recordings of earlier versions
    /// do not say.
    pub(crate) fn sizes(&self) -> (Option<u32>, Option<u64>) {
        let header: serde_json::Value = serde_json::from_str(&self.header).unwrap_or_default();
        let sessions = header["sessions"].as_u64().and_then(|count| u32::try_from(count).ok());
        (sessions, header["seed"].as_u64())
    }

    /// What the database promised at that setting; recordings of earlier versions do not say.
    pub fn promise(&self) -> Option<Level> {
        let header: serde_json::Value = serde_json::from_str(&self.header).ok()?;
        header["promise"].as_str()?.parse().ok()
    }

    fn line(&mut self) -> Result<Option<String>, AuditError> {
        let mut line = String::new();
        loop {
            line.clear();
            let length = self.lines.read_line(&mut line)?;
            self.count += 1;
            // The last line may be half written.
            if length == 0 || !line.ends_with('\n') {
                return Ok(None);
            }
            if !line.trim().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    /// The next round.
    pub fn round(&mut self) -> Result<Option<RecordedRound>, AuditError> {
        let Some(first) = self.next.take() else { return Ok(None) };
        let first_line = self.count;
        let number = self.round_of(&first)?;
        let mut lines = self.header.clone().into_bytes();
        lines.extend_from_slice(first.as_bytes());
        let mut end = None;
        while let Some(line) = self.line()? {
            if let Some(mark) = mark(&line) {
                end = RoundEnd::from_json(&mark).filter(|end| end.round == number);
            } else if self.round_of(&line)? != number {
                self.next = Some(line);
                break;
            }
            lines.extend_from_slice(line.as_bytes());
        }
        Ok(Some(RecordedRound { number, lines, first_line, end }))
    }

    /// The round of the line that was just read.
    fn round_of(&self, line: &str) -> Result<u64, AuditError> {
        round_of(line).map_err(|problem| AuditError::Line { line: self.count, problem })
    }
}

impl RecordedRound {
    /// A round whose lines are at hand.
    pub(crate) fn new(number: u64, lines: Vec<u8>) -> RecordedRound {
        RecordedRound { number, lines, first_line: 2, end: None }
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().filter(|&&byte| byte == b'\n').nth(1).is_none()
    }

    /// How the transactions of its sessions ended: without those of the audit, which made registers
    /// and rows and read them in the end.
    pub(crate) fn tally(&self) -> Result<Tally, AuditError> {
        if let Some(end) = &self.end {
            return Ok(end.tally);
        }
        let history = self.history()?;
        let mut tally = Tally::default();
        for txn in history.txns() {
            let session = history.session_name(history.session_of(txn)).to_string();
            let own = session.split_once('.').map_or("", |(_, name)| name);
            if own.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            match history.status(txn) {
                Status::Committed => tally.committed += 1,
                Status::Aborted => tally.aborted += 1,
                Status::Unknown => tally.unknown += 1,
            }
        }
        Ok(tally)
    }

    /// What happened in it.
    pub fn history(&self) -> Result<History, AuditError> {
        let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
        let read = read_bytes(&self.lines, "the recording", &options);
        read.map(|(history, _)| history).map_err(|error| self.placed(error))
    }

    /// An error with its place in the file instead of the round.
    fn placed(&self, error: ReadError) -> AuditError {
        match error {
            ReadError::Syntax { spot: Spot { line: Some(line), .. }, problem, .. } if line > 1 => {
                AuditError::Line { line: self.first_line + line - 2, problem }
            }
            other => AuditError::Read(other.to_string()),
        }
    }
}

/// The round that a line belongs to: sessions are called `round.number`.
fn round_of(line: &str) -> Result<u64, String> {
    let session = line.split_once("\"session\":\"").map(|(_, rest)| rest);
    let round = session.and_then(|rest| rest.split_once('.')).map(|(round, _)| round);
    round.and_then(|round| round.parse().ok()).ok_or_else(|| {
        let shown: String = line.chars().take(60).collect();
        format!("expected a transaction of a session of a round, found `{}`", shown.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lost::LostWrite;

    #[test]
    fn what_is_told_of_a_round_is_the_same_after_it_was_written_down() {
        let lost = LostWrite { key: "3".to_owned(), value: 8, acknowledged: 9 };
        let fault = FaultDone {
            at: Duration::from_millis(7),
            took: Duration::from_millis(8),
            what: "kill".to_owned(),
            problem: Some("no".to_owned()),
        };
        let end = RoundEnd {
            round: 5,
            workload: Workload::Own,
            tally: Tally { committed: 1, lost_connections: 2, ..Tally::default() },
            losses: Losses::of(vec![lost]),
            faults: vec![fault.clone(), FaultDone { problem: None, ..fault }],
            time: Duration::from_millis(250),
            ended: Duration::from_secs(3),
        };
        assert_eq!(RoundEnd::from_json(&end.json()), Some(end));
        assert_eq!(RoundEnd::from_json(&json!({ "whole": true })), None);
    }
}
