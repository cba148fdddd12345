//! Sequences.

use super::Ddl;
use super::create_table::persistence;
use crate::catalog::{Object, Relation, Sequence};
use crate::error::{Result, SqlError, code};
use crate::locks::Mode;
use crate::parse::ast::{CreateSequence, Lifetime, Name, SequenceOption};
use crate::types::Oid;
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn create_sequence(&mut self, create: &CreateSequence) -> Result<()> {
        let schema = self.target_schema(&create.name, create.lifetime)?;
        if self.skip_existing(schema, &create.name, create.if_not_exists)? {
            return Ok(());
        }
        let (name, lifetime) = (&create.name.name, create.lifetime);
        let mut made = self.sequence(schema, name, lifetime, Oid::INT8, &create.options)?;
        self.set_owner(&mut made, &create.options)?;
        self.put(made.oid, Object::Sequence(Arc::new(made)));
        Ok(())
    }

    /// A sequence with options, which is not in the catalog yet.
    pub(super) fn sequence(
        &mut self,
        schema: Oid,
        name: &str,
        lifetime: Lifetime,
        ty: Oid,
        options: &[SequenceOption],
    ) -> Result<Sequence> {
        let mut made = Sequence {
            oid: self.new_oid(),
            name: name.into(),
            schema,
            persistence: persistence(lifetime),
            ty,
            start: 1,
            increment: 1,
            min: 1,
            max: i64::MAX,
            cache: 1,
            cycle: false,
            owner: None,
            comment: None,
        };
        self.apply(&mut made, options, true)?;
        Ok(made)
    }

    /// Applies options; whether the sequence is new says what is left as it was.
    fn apply(&self, to: &mut Sequence, options: &[SequenceOption], is_new: bool) -> Result<()> {
        use SequenceOption as O;
        let (old_ty, old_increment) = (to.ty, to.increment);
        let (mut min, mut max, mut start) = (None, None, None);
        for option in options {
            match option {
                O::Type(ty) => {
                    let (ty, _) = self.env.binder(self.text).data_type(ty)?;
                    if !matches!(ty, Oid::INT2 | Oid::INT4 | Oid::INT8) {
                        return Err(invalid(
                            "sequence type must be smallint, integer, or bigint".to_owned(),
                        ));
                    }
                    to.ty = ty;
                }
                O::Increment(0) => return Err(invalid("INCREMENT must not be zero".to_owned())),
                O::Increment(by) => to.increment = *by,
                O::Min(value) => min = Some(*value),
                O::Max(value) => max = Some(*value),
                O::Start(value) => start = Some(*value),
                O::Cache(value) if *value < 1 => {
                    return Err(invalid(format!("CACHE ({value}) must be greater than zero")));
                }
                O::Cache(value) => to.cache = *value,
                O::Cycle(value) => to.cycle = *value,
                O::Restart(_) | O::OwnedBy(_) | O::Name(_) => {}
            }
        }
        let (least, most) = bounds(to.ty);
        let (old_least, old_most) = bounds(old_ty);
        let up = to.increment > 0;
        let was_up = old_increment > 0;
        // Limits that were those of the type or direction follow these.
        let default_max = if up { most } else { -1 };
        let default_min = if up { 1 } else { least };
        let followed_max = is_new || (to.ty != old_ty && to.max == old_most && was_up);
        let followed_min = is_new || (to.ty != old_ty && to.min == old_least && !was_up);
        match max {
            Some(Some(value)) => to.max = value,
            Some(None) => to.max = default_max,
            None if followed_max => to.max = default_max,
            None => {}
        }
        match min {
            Some(Some(value)) => to.min = value,
            Some(None) => to.min = default_min,
            None if followed_min => to.min = default_min,
            None => {}
        }
        if to.max > most || to.max < least {
            let ty = self.type_shown(to.ty);
            return Err(invalid(format!(
                "MAXVALUE ({}) is out of range for sequence data type {ty}",
                to.max
            )));
        }
        if to.min > most || to.min < least {
            let ty = self.type_shown(to.ty);
            return Err(invalid(format!(
                "MINVALUE ({}) is out of range for sequence data type {ty}",
                to.min
            )));
        }
        if to.min >= to.max {
            return Err(invalid(format!(
                "MINVALUE ({}) must be less than MAXVALUE ({})",
                to.min, to.max
            )));
        }
        match start {
            Some(value) => to.start = value,
            None if is_new => to.start = if up { to.min } else { to.max },
            None => {}
        }
        if to.start < to.min {
            return Err(invalid(format!(
                "START value ({}) cannot be less than MINVALUE ({})",
                to.start, to.min
            )));
        }
        if to.start > to.max {
            return Err(invalid(format!(
                "START value ({}) cannot be greater than MAXVALUE ({})",
                to.start, to.max
            )));
        }
        Ok(())
    }

    fn type_shown(&self, ty: Oid) -> String {
        use crate::types::TypeLookup;
        self.env.type_name(ty, -1)
    }

    fn set_owner(&mut self, to: &mut Sequence, options: &[SequenceOption]) -> Result<()> {
        for option in options {
            let SequenceOption::OwnedBy(owner) = option else { continue };
            if to.owner.is_some_and(|(_, _, is_identity)| is_identity) {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "cannot change ownership of identity sequence",
                ));
            }
            to.owner = match owner {
                None => None,
                Some((name, column)) => {
                    let table = self.need_table(name, Mode::AccessShare)?;
                    if table.schema != to.schema {
                        return Err(SqlError::new(
                            code::OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "sequence must be in same schema as table it is linked to",
                        ));
                    }
                    Some((table.oid, self.need_column(&table, column)?, false))
                }
            };
        }
        Ok(())
    }

    pub(super) fn alter_sequence(
        &mut self,
        name: &Name,
        if_exists: bool,
        options: &[SequenceOption],
    ) -> Result<()> {
        let sequence = match self.find(name) {
            Some(Relation::Sequence(sequence)) => sequence,
            Some(_) => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not a sequence", name.name),
                ));
            }
            None if if_exists => {
                let message = format!("relation \"{}\" does not exist, skipping", name.shown());
                self.notice(code::UNDEFINED_TABLE, message);
                return Ok(());
            }
            None => return Err(Self::no_relation(name)),
        };
        self.change_sequence(&sequence, options)
    }

    /// Changes options of a sequence.
    pub(super) fn change_sequence(
        &mut self,
        sequence: &Arc<Sequence>,
        options: &[SequenceOption],
    ) -> Result<()> {
        self.lock(sequence.oid, Mode::ShareRowExclusive)?;
        let mut changed = Sequence::clone(sequence);
        self.apply(&mut changed, options, false)?;
        self.set_owner(&mut changed, options)?;
        let restart = options.iter().find_map(|it| match it {
            SequenceOption::Restart(value) => Some(value.unwrap_or(changed.start)),
            _ => None,
        });
        if let Some(value) = restart {
            check_restart(&changed, value)?;
            let before = self.env.database.last_value(changed.oid);
            self.env.database.set_value(&changed, value, false)?;
            self.txn.restarted.push((changed.oid, before));
        } else if let Some(last) = self.env.database.last_value(changed.oid) {
            check_restart(&changed, last)?;
        }
        self.put(changed.oid, Object::Sequence(Arc::new(changed)));
        Ok(())
    }
}

fn check_restart(sequence: &Sequence, value: i64) -> Result<()> {
    if value < sequence.min {
        return Err(invalid(format!(
            "RESTART value ({value}) cannot be less than MINVALUE ({})",
            sequence.min
        )));
    }
    if value > sequence.max {
        return Err(invalid(format!(
            "RESTART value ({value}) cannot be greater than MAXVALUE ({})",
            sequence.max
        )));
    }
    Ok(())
}

fn invalid(message: String) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

fn bounds(ty: Oid) -> (i64, i64) {
    match ty {
        Oid::INT2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Oid::INT4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}
