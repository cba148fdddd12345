//! What the fields of a date and time mean.
//!
//! Fields are taken from left to right. Each says which parts it gives; a part that is given twice
//! is an error. Zones are resolved at the end, because their offset depends on the date.

use super::abbreviations::{self, Meaning};
use super::calendar::{Civil, JULIAN_OF_2000, month_days};
use super::decode_time::{decode_time, fraction, leading_integer, parse_offset};
use super::fields::Fields;
use super::keywords::{self, Label, Meridian, Special, Word};
use super::lex::{Field, Kind};
use super::{DAY, HOUR, MINUTE, SECOND, clock, parts};
use crate::error::{SqlError, code};
use crate::types::Style;
use crate::types::Zone;

/// Why a text is no date, time or interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseError {
    /// It does not look like one.
    Format,
    /// A field is out of range.
    Field,
    /// Month or day are out of range, perhaps because of their order.
    MonthDay,
    /// The offset of the zone is out of range.
    Zone,
    /// A field of an interval is out of range.
    Interval,
    /// With an error of its own.
    Other(SqlError),
}

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A date, perhaps with a time.
    DateTime,
    /// A time, perhaps with a date that decides about the zone.
    Time,
}

/// What has been read so far.
pub struct Decoder<'s> {
    pub(super) style: &'s Style,
    pub(super) mode: Mode,
    pub(super) given: Fields,
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) day_of_year: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) micros: i64,
    pub(super) offset: i64,
    pub(super) text_month: bool,
    pub(super) two_digits: bool,
    pub(super) special: Option<Special>,
    julian: bool,
    bc: bool,
    label: Option<Label>,
    meridian: Option<Meridian>,
    zone: Option<Zone>,
    dynamic: Option<(String, &'static str)>,
}

impl<'s> Decoder<'s> {
    /// Nothing read.
    pub fn new(style: &'s Style, mode: Mode) -> Decoder<'s> {
        Decoder {
            style,
            mode,
            given: Fields::NONE,
            year: 0,
            month: 0,
            day: 0,
            day_of_year: 0,
            hour: 0,
            minute: 0,
            second: 0,
            micros: 0,
            offset: 0,
            text_month: false,
            two_digits: false,
            special: None,
            julian: false,
            bc: false,
            label: None,
            meridian: None,
            zone: None,
            dynamic: None,
        }
    }

    /// Reads all fields.
    pub fn decode(&mut self, fields: &[Field]) -> Result<(), ParseError> {
        for at in 0..fields.len() {
            let given = self.field(fields, at)?;
            if self.given.any_of(given) {
                return Err(ParseError::Format);
            }
            self.given |= given;
        }
        match self.mode {
            Mode::DateTime if self.special.is_some() => Ok(()),
            Mode::DateTime => self.finish_date_time(),
            Mode::Time => self.finish_time(),
        }
    }

    /// Days since 2000-01-01.
    pub fn days(&self) -> i64 {
        Civil::new(self.year, self.month, self.day).days()
    }

    /// Microseconds since midnight.
    pub fn time(&self) -> i64 {
        self.hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.micros
    }

    fn field(&mut self, fields: &[Field], at: usize) -> Result<Fields, ParseError> {
        let Field { kind, text } = &fields[at];
        match kind {
            Kind::Date => self.date_field(fields, at),
            Kind::Time => self.time_field(text),
            Kind::Signed => {
                self.offset = parse_offset(text)?;
                Ok(Fields::ZONE)
            }
            Kind::Number => match self.label.take() {
                Some(label) => self.labelled_number(label, text),
                None => self.number_field(fields, at),
            },
            Kind::Word | Kind::SignedWord => self.word(text, fields.get(at + 1)),
        }
    }

    fn time_field(&mut self, text: &str) -> Result<Fields, ParseError> {
        if self.label.take().is_some_and(|label| label != Label::Time) {
            return Err(ParseError::Format);
        }
        let time = decode_time(text, false)?;
        (self.hour, self.minute) = (time.hour, time.minute);
        (self.second, self.micros) = (time.second, time.micros);
        if self.mode == Mode::DateTime && self.time_overflows() {
            return Err(ParseError::Field);
        }
        Ok(Fields::TIME)
    }

    pub(super) fn time_overflows(&self) -> bool {
        !(0..=24).contains(&self.hour)
            || !(0..60).contains(&self.minute)
            || !(0..=60).contains(&self.second)
            || self.time() > DAY
    }

    fn date_field(&mut self, fields: &[Field], at: usize) -> Result<Fields, ParseError> {
        let text = &fields[at].text;
        if self.label == Some(Label::Julian) {
            return self.julian_with_zone(text);
        }
        if self.takes_date(fields, at) {
            return self.date(text);
        }
        if self.label.is_none() && !text.starts_with(|c: char| c.is_ascii_digit()) {
            self.zone = Some(zone_named(text)?);
            return Ok(Fields::ZONE);
        }
        self.time_with_zone(text)
    }

    /// Whether a field that looks like a date is one; otherwise it names a zone or ends with one.
    fn takes_date(&self, fields: &[Field], at: usize) -> bool {
        match self.mode {
            Mode::DateTime => {
                self.label.is_none() && !self.given.all_of(Fields::MONTH | Fields::DAY)
            }
            Mode::Time => {
                at == 0
                    && fields.len() >= 2
                    && (fields[fields.len() - 1].kind == Kind::Date || fields[1].kind == Kind::Time)
            }
        }
    }

    fn julian_with_zone(&mut self, text: &str) -> Result<Fields, ParseError> {
        let (value, rest) = leading_integer(text)?;
        self.set_julian(value)?;
        self.offset = parse_offset(rest)?;
        self.label = None;
        Ok(Fields::DATE | Fields::TIME | Fields::ZONE)
    }

    fn set_julian(&mut self, day: i64) -> Result<(), ParseError> {
        if day < 0 {
            return Err(ParseError::Field);
        }
        self.set_date(Civil::from_days(day - JULIAN_OF_2000));
        self.julian = true;
        Ok(())
    }

    pub(super) fn set_date(&mut self, date: Civil) {
        (self.year, self.month, self.day) = (date.year, date.month, date.day);
    }

    fn set_time(&mut self, time: i64) {
        (self.hour, self.minute, self.second, self.micros) = clock(time);
    }

    /// `hhmmss-zz`, perhaps behind a `T`.
    fn time_with_zone(&mut self, text: &str) -> Result<Fields, ParseError> {
        if self.label.take().is_some_and(|label| label != Label::Time)
            || self.given.all_of(Fields::TIME)
        {
            return Err(ParseError::Format);
        }
        let at = text.find('-').ok_or(ParseError::Format)?;
        self.offset = parse_offset(&text[at..])?;
        let given = match self.mode {
            Mode::DateTime => self.given,
            Mode::Time => self.given | Fields::DATE,
        };
        Ok(self.number_run(&text[..at], given)? | Fields::ZONE)
    }

    /// A number behind a word that says what it is.
    fn labelled_number(&mut self, label: Label, text: &str) -> Result<Fields, ParseError> {
        let (value, rest) = leading_integer(text)?;
        let fraction_allowed = matches!(label, Label::Julian | Label::Time | Label::Second);
        if !rest.is_empty() && (!rest.starts_with('.') || !fraction_allowed) {
            return Err(ParseError::Format);
        }
        match label {
            Label::Julian => {
                self.set_julian(value)?;
                if rest.is_empty() {
                    return Ok(Fields::DATE);
                }
                self.set_time((fraction(rest)? * DAY as f64).round_ties_even() as i64);
                Ok(Fields::DATE | Fields::TIME)
            }
            Label::Time => match self.number_run(text, self.given | Fields::DATE)? {
                Fields::TIME => Ok(Fields::TIME),
                _ => Err(ParseError::Format),
            },
            _ => self.labelled_part(label, value, rest),
        }
    }

    fn labelled_part(
        &mut self,
        label: Label,
        value: i64,
        rest: &str,
    ) -> Result<Fields, ParseError> {
        let minutes = self.given.all_of(Fields::MONTH | Fields::HOUR);
        let (part, field) = match label {
            Label::Year => (&mut self.year, Fields::YEAR),
            Label::Month if !minutes => (&mut self.month, Fields::MONTH),
            // A second `m` behind hours means minutes.
            Label::Month | Label::Minute => (&mut self.minute, Fields::MINUTE),
            Label::Day => (&mut self.day, Fields::DAY),
            Label::Hour => (&mut self.hour, Fields::HOUR),
            Label::Second if rest.is_empty() => (&mut self.second, Fields::SECOND),
            Label::Second => {
                self.micros = (fraction(rest)? * SECOND as f64).round_ties_even() as i64;
                (&mut self.second, Fields::SECONDS)
            }
            _ => return Err(ParseError::Format),
        };
        *part = value;
        Ok(field)
    }

    fn word(&mut self, text: &str, next: Option<&Field>) -> Result<Fields, ParseError> {
        // Abbreviations of zones come before words: no word is one.
        if let Some(meaning) = abbreviations::find(text) {
            return Ok(self.abbreviation(text, meaning));
        }
        let Some(word) = keywords::word(text) else {
            self.zone = Some(Zone::named(text).ok_or(ParseError::Format)?);
            return Ok(Fields::ZONE);
        };
        match word {
            Word::Ignored => Ok(Fields::NONE),
            Word::Special(special) => self.special_word(special),
            Word::Month(month) if self.mode == Mode::DateTime => Ok(self.month_word(month)),
            Word::Weekday if self.mode == Mode::DateTime => Ok(Fields::WEEKDAY),
            Word::Month(_) | Word::Weekday => Err(ParseError::Format),
            Word::Meridian(meridian) => {
                self.meridian = Some(meridian);
                Ok(Fields::MERIDIAN)
            }
            Word::Era(bc) => {
                self.bc = bc;
                Ok(Fields::ERA)
            }
            Word::DaylightModifier => {
                self.offset += 3600;
                Ok(Fields::DAYLIGHT_MODIFIER | Fields::DAYLIGHT_ZONE)
            }
            Word::Label(label) => self.label_word(label, next),
        }
    }

    fn label_word(&mut self, label: Label, next: Option<&Field>) -> Result<Fields, ParseError> {
        if label == Label::Time {
            let undated = self.mode == Mode::DateTime && !self.given.all_of(Fields::DATE);
            let kinds = [Kind::Number, Kind::Time, Kind::Date];
            if undated || !next.is_some_and(|next| kinds.contains(&next.kind)) {
                return Err(ParseError::Format);
            }
        }
        self.label = Some(label);
        Ok(Fields::NONE)
    }

    fn abbreviation(&mut self, text: &str, meaning: Meaning) -> Fields {
        match meaning {
            Meaning::Fixed(seconds, daylight) => {
                self.offset = i64::from(seconds);
                if daylight { Fields::ZONE | Fields::DAYLIGHT_ZONE } else { Fields::ZONE }
            }
            Meaning::Zone(name) => {
                self.dynamic = Some((text.to_string(), name));
                Fields::ZONE | Fields::DYNAMIC_ZONE
            }
        }
    }

    fn month_word(&mut self, month: i64) -> Fields {
        // A number that was taken for the month before was the day.
        let misread = self.given.any_of(Fields::MONTH)
            && !self.text_month
            && !self.given.any_of(Fields::DAY)
            && (1..=31).contains(&self.month);
        let given = if misread {
            self.day = self.month;
            Fields::DAY
        } else {
            Fields::MONTH
        };
        self.text_month = true;
        self.month = month;
        given
    }

    /// The local time in which the transaction began.
    fn now(&self) -> i64 {
        let now = self.style.transaction_time;
        now + i64::from(self.style.zone.offset_at(now)) * SECOND
    }

    fn special_word(&mut self, special: Special) -> Result<Fields, ParseError> {
        let now = parts(self.now());
        let today = now.date.days();
        match (special, self.mode) {
            (Special::Now, Mode::Time) => {
                self.set_time(now.time);
                return Ok(Fields::TIME);
            }
            (Special::Midnight, _) => {
                self.set_time(0);
                self.offset = 0;
                return Ok(Fields::TIME | Fields::ZONE);
            }
            (_, Mode::Time) => return Err(ParseError::Format),
            (Special::Now, _) => {
                self.set_date(now.date);
                self.set_time(now.time);
                self.offset = i64::from(self.style.zone.offset_at(self.style.transaction_time));
                return Ok(Fields::DATE | Fields::TIME | Fields::ZONE);
            }
            (Special::Yesterday, _) => self.set_date(Civil::from_days(today - 1)),
            (Special::Today, _) => self.set_date(Civil::from_days(today)),
            (Special::Tomorrow, _) => self.set_date(Civil::from_days(today + 1)),
            (Special::Epoch | Special::Infinity | Special::NegInfinity, _) => {
                self.special = Some(special);
                return Ok(Fields::DATE | Fields::TIME | Fields::ZONE);
            }
        }
        Ok(Fields::DATE)
    }

    fn finish_date_time(&mut self) -> Result<(), ParseError> {
        self.validate_date()?;
        self.apply_meridian()?;
        if !self.given.all_of(Fields::DATE) {
            return Err(ParseError::Format);
        }
        self.resolve_zone(self.days())
    }

    fn finish_time(&mut self) -> Result<(), ParseError> {
        self.validate_date()?;
        self.apply_meridian()?;
        if self.time_overflows() {
            return Err(ParseError::Field);
        }
        if !self.given.all_of(Fields::TIME) {
            return Err(ParseError::Format);
        }
        let dated = self.given.all_of(Fields::DATE);
        // A zone whose offset changes needs a date; abbreviations and the session use today's.
        let named = self.zone.as_ref();
        if named.is_some_and(|zone| !dated && zone.rules.to_fixed_offset().is_err()) {
            return Err(ParseError::Format);
        }
        let days = if dated { self.days() } else { parts(self.now()).date.days() };
        self.resolve_zone(days)
    }

    fn resolve_zone(&mut self, days: i64) -> Result<(), ParseError> {
        let unknown = self.zone.is_some() || self.dynamic.is_some();
        let missing = !self.given.any_of(Fields::ZONE);
        if !unknown && !missing {
            return Ok(());
        }
        if self.given.any_of(Fields::DAYLIGHT_MODIFIER) {
            return Err(ParseError::Format);
        }
        let local = days.saturating_mul(DAY).saturating_add(self.time());
        let offset = if let Some(zone) = &self.zone {
            zone.offset_of_local(local)
        } else if let Some((abbreviation, name)) = &self.dynamic {
            offset_of_dynamic(abbreviation, name, local)
        } else {
            self.style.zone.offset_of_local(local)
        };
        self.offset = i64::from(offset);
        Ok(())
    }

    fn apply_meridian(&mut self) -> Result<(), ParseError> {
        let Some(meridian) = self.meridian else { return Ok(()) };
        if self.hour > 12 {
            return Err(ParseError::Field);
        }
        match meridian {
            Meridian::Am if self.hour == 12 => self.hour = 0,
            Meridian::Pm if self.hour != 12 => self.hour += 12,
            _ => {}
        }
        Ok(())
    }

    fn validate_date(&mut self) -> Result<(), ParseError> {
        if self.given.any_of(Fields::YEAR) && !self.julian {
            self.adjust_year()?;
        }
        if self.given.any_of(Fields::DAY_OF_YEAR) {
            let first = Civil::new(self.year, 1, 1).days();
            self.set_date(Civil::from_days(first + self.day_of_year - 1));
        }
        let month_wrong = self.given.any_of(Fields::MONTH) && !(1..=12).contains(&self.month);
        let day_wrong = self.given.any_of(Fields::DAY) && !(1..=31).contains(&self.day);
        if month_wrong || day_wrong {
            return Err(ParseError::MonthDay);
        }
        if self.given.all_of(Fields::DATE) && self.day > month_days(self.year, self.month) {
            return Err(ParseError::Field);
        }
        Ok(())
    }

    /// Years BC are counted from 0 downwards; years of two digits are from 1970 to 2069.
    fn adjust_year(&mut self) -> Result<(), ParseError> {
        if self.bc {
            if self.year <= 0 {
                return Err(ParseError::Field);
            }
            self.year = 1 - self.year;
        } else if self.two_digits {
            match self.year {
                0..70 => self.year += 2000,
                70..100 => self.year += 1900,
                _ => {}
            }
        } else if self.year <= 0 {
            return Err(ParseError::Field);
        }
        Ok(())
    }
}

fn zone_named(text: &str) -> Result<Zone, ParseError> {
    let message = || format!("time zone \"{text}\" not recognized");
    Zone::named(text)
        .ok_or_else(|| ParseError::Other(SqlError::new(code::INVALID_PARAMETER_VALUE, message())))
}

/// The offset of an abbreviation that has meant different offsets, at a local time.
pub(super) fn offset_of_dynamic(abbreviation: &str, zone: &str, local: i64) -> i32 {
    let Some(zone) = Zone::named(zone) else { return 0 };
    let guess = i64::from(zone.offset_of_local(local)) * SECOND;
    zone.offset_of_abbreviation(abbreviation, local.saturating_sub(guess)).0
}
