//! Enums, composite types and domains.

use super::Ddl;
use crate::catalog::{Domain, Object, UserType, UserTypeKind};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{CreateDomain, DomainChange, Lifetime, Name, TypeChange};
use crate::types::{Datum, EnumValue, Field, Oid, TypeLookup};
use sqlparser::ast::DataType;
use std::sync::Arc;

impl Ddl<'_> {
    fn add_type(&mut self, name: &Name, kind: UserTypeKind) -> Result<()> {
        let schema = self.target_schema(name, Lifetime::Permanent)?;
        if self.catalog().find_type(Some(schema), &name.name, &self.env.path).is_some() {
            return Err(SqlError::new(
                code::DUPLICATE_OBJECT,
                format!("type \"{}\" already exists", name.name),
            ));
        }
        let (oid, array) = (self.new_oid(), self.new_oid());
        let name = name.name.as_str().into();
        let made = UserType { oid, array, schema, name, kind, comment: None };
        self.put(oid, Object::Type(Arc::new(made)));
        Ok(())
    }

    pub(super) fn create_enum(&mut self, name: &Name, labels: &[String]) -> Result<()> {
        let mut values: Vec<Arc<EnumValue>> = Vec::new();
        for label in labels {
            check_label(label)?;
            if values.iter().any(|it| *it.label == **label) {
                return Err(SqlError::new(
                    code::UNIQUE_VIOLATION,
                    "duplicate key value violates unique constraint \
                     \"pg_enum_typid_label_index\"",
                ));
            }
            let order = values.len() as f32 + 1.0;
            values.push(Arc::new(EnumValue { order, label: label.as_str().into() }));
        }
        self.add_type(name, UserTypeKind::Enum(values.into()))
    }

    pub(super) fn create_composite(
        &mut self,
        name: &Name,
        fields: &[(String, DataType)],
    ) -> Result<()> {
        let mut made: Vec<Field> = Vec::new();
        for (field, ty) in fields {
            let (ty, typmod) = self.env.binder(self.text).data_type(ty)?;
            if made.iter().any(|it| *it.name == **field) {
                return Err(SqlError::new(
                    code::DUPLICATE_COLUMN,
                    format!("column \"{field}\" specified more than once"),
                ));
            }
            made.push(Field { name: field.as_str().into(), ty, typmod });
        }
        self.add_type(name, UserTypeKind::Composite(made.into()))
    }

    pub(super) fn create_domain(&mut self, create: &CreateDomain) -> Result<()> {
        let (base, typmod) = self.env.binder(self.text).data_type(&create.ty)?;
        let mut checks = Vec::new();
        for (name, text) in &create.checks {
            self.env.binder("").domain_check(text, base)?;
            let name = self.check_name(&create.name.name, name.as_deref(), &checks);
            checks.push((self.new_oid(), name, Arc::from(text.as_str())));
        }
        let domain = Domain {
            base,
            typmod,
            not_null: create.not_null,
            default: create.default.as_deref().map(Into::into),
            checks,
        };
        self.add_type(&create.name, UserTypeKind::Domain(domain))
    }

    fn check_name(
        &self,
        domain: &str,
        given: Option<&str>,
        others: &[(Oid, Arc<str>, Arc<str>)],
    ) -> Arc<str> {
        if let Some(name) = given {
            return name.into();
        }
        let mut name = format!("{domain}_check");
        let mut number = 1;
        while others.iter().any(|(_, it, _)| **it == *name) {
            name = format!("{domain}_check{number}");
            number += 1;
        }
        name.into()
    }

    /// A type of users by its name.
    pub(super) fn need_type(&self, name: &Name) -> Result<Arc<UserType>> {
        let missing = || {
            SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("type \"{}\" does not exist", name.shown()),
            )
        };
        self.find_type(name).ok_or_else(missing)
    }

    pub(super) fn find_type(&self, name: &Name) -> Option<Arc<UserType>> {
        let schema = match &name.schema {
            Some(schema) => Some(self.catalog().schema(schema)?),
            None => None,
        };
        let oid = self.catalog().find_type(schema, &name.name, &self.env.path)?;
        self.catalog().user_type(oid).cloned()
    }

    pub(super) fn put_type(&mut self, ty: UserType) {
        self.put(ty.oid, Object::Type(Arc::new(ty)));
    }

    pub(super) fn alter_type(&mut self, name: &Name, change: &TypeChange) -> Result<()> {
        let ty = self.need_type(name)?;
        let mut changed = UserType::clone(&ty);
        changed.kind = match (&ty.kind, change) {
            (UserTypeKind::Enum(values), TypeChange::AddValue { label, if_not_exists, place }) => {
                match self.add_value(values, label, *if_not_exists, place.as_ref())? {
                    Some(values) => UserTypeKind::Enum(values),
                    None => return Ok(()),
                }
            }
            (UserTypeKind::Enum(values), TypeChange::RenameValue { from, to }) => {
                UserTypeKind::Enum(renamed(values, from, to)?)
            }
            (UserTypeKind::Composite(fields), change) => {
                UserTypeKind::Composite(self.changed_fields(&ty, fields, change)?)
            }
            _ => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("{} is not an enum", self.env.type_name(ty.oid, -1)),
                ));
            }
        };
        self.put_type(changed);
        Ok(())
    }

    /// Whether a column may hold values of the type.
    fn is_used(&self, ty: Oid) -> bool {
        let array = self.catalog().array_of(ty);
        self.catalog().objects().any(|(_, object)| match object {
            Object::Table(table) => {
                table.live().any(|(_, column)| column.ty == ty || Some(column.ty) == array)
            }
            _ => false,
        })
    }

    fn add_value(
        &mut self,
        values: &[Arc<EnumValue>],
        label: &str,
        if_not_exists: bool,
        place: Option<&(bool, String)>,
    ) -> Result<Option<Arc<[Arc<EnumValue>]>>> {
        check_label(label)?;
        if values.iter().any(|it| *it.label == *label) {
            let message = format!("enum label \"{label}\" already exists");
            if if_not_exists {
                self.notice(code::DUPLICATE_OBJECT, format!("{message}, skipping"));
                return Ok(None);
            }
            return Err(SqlError::new(code::DUPLICATE_OBJECT, message));
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(|left, right| left.order.total_cmp(&right.order));
        let at = match place {
            None => sorted.len(),
            Some((before, neighbor)) => {
                let found = sorted.iter().position(|it| *it.label == **neighbor);
                let found = found.ok_or_else(|| {
                    SqlError::new(
                        code::INVALID_PARAMETER_VALUE,
                        format!("\"{neighbor}\" is not an existing enum label"),
                    )
                })?;
                if *before { found } else { found + 1 }
            }
        };
        let below = at.checked_sub(1).map(|place| sorted[place].order);
        let above = sorted.get(at).map(|it| it.order);
        let order = match (below, above) {
            (None, None) => 1.0,
            (Some(below), None) => below + 1.0,
            (None, Some(above)) => above - 1.0,
            (Some(below), Some(above)) => (below + above) / 2.0,
        };
        sorted.insert(at, Arc::new(EnumValue { order, label: label.into() }));
        Ok(Some(sorted.into()))
    }

    fn changed_fields(
        &mut self,
        ty: &UserType,
        fields: &[Field],
        change: &TypeChange,
    ) -> Result<Arc<[Field]>> {
        let mut made = fields.to_vec();
        let place = |name: &str| fields.iter().position(|it| *it.name == *name);
        let missing = |name: &str| {
            SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", ty.name),
            )
        };
        match change {
            TypeChange::RenameAttribute { from, to } => {
                let place = place(from).ok_or_else(|| missing(from))?;
                made[place].name = to.as_str().into();
            }
            TypeChange::AddAttribute { .. } | TypeChange::DropAttribute { .. }
                if self.is_used(ty.oid) =>
            {
                return Err(SqlError::unsupported("changing a composite type that is in use"));
            }
            TypeChange::AddAttribute { name, ty } => {
                let (ty, typmod) = self.env.binder(self.text).data_type(ty)?;
                made.push(Field { name: name.as_str().into(), ty, typmod });
            }
            TypeChange::DropAttribute { name, if_exists } => match place(name) {
                Some(place) => {
                    made.remove(place);
                }
                None if *if_exists => {}
                None => return Err(missing(name)),
            },
            _ => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("{} is not an enum", ty.name),
                ));
            }
        }
        Ok(made.into())
    }

    pub(super) fn alter_domain(&mut self, name: &Name, change: &DomainChange) -> Result<()> {
        let ty = self.need_type(name)?;
        let UserTypeKind::Domain(domain) = &ty.kind else {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("{} is not a domain", name.shown()),
            ));
        };
        let mut domain = domain.clone();
        let find = |domain: &Domain, name: &str| {
            let found = domain.checks.iter().position(|(_, it, _)| **it == *name);
            found.ok_or_else(|| {
                SqlError::new(
                    code::UNDEFINED_OBJECT,
                    format!("constraint \"{name}\" of domain \"{}\" does not exist", ty.name),
                )
            })
        };
        match change {
            DomainChange::Default(text) => domain.default = text.as_deref().map(Into::into),
            DomainChange::NotNull(not_null) => {
                domain.not_null = *not_null;
                if *not_null {
                    self.check_domain_values(ty.oid, None)?;
                }
            }
            DomainChange::AddCheck { name: given, text, not_valid } => {
                self.env.binder("").domain_check(text, domain.base)?;
                if !not_valid {
                    self.check_domain_values(ty.oid, Some((text, domain.base)))?;
                }
                let name = self.check_name(&ty.name, given.as_deref(), &domain.checks);
                domain.checks.push((self.new_oid(), name, text.as_str().into()));
            }
            DomainChange::DropConstraint { name, if_exists } => match find(&domain, name) {
                Ok(place) => {
                    domain.checks.remove(place);
                }
                Err(error) if *if_exists => {
                    self.notice("00000", format!("{}, skipping", error.message()));
                }
                Err(error) => return Err(error),
            },
            DomainChange::RenameConstraint { from, to } => {
                let place = find(&domain, from)?;
                domain.checks[place].1 = to.as_str().into();
            }
            DomainChange::Validate(name) => {
                let place = find(&domain, name)?;
                let text = domain.checks[place].2.to_string();
                self.check_domain_values(ty.oid, Some((&text, domain.base)))?;
            }
        }
        let mut changed = UserType::clone(&ty);
        changed.kind = UserTypeKind::Domain(domain);
        self.put_type(changed);
        Ok(())
    }

    /// Checks all values of a domain: that they are not null, or a condition.
    fn check_domain_values(&mut self, ty: Oid, check: Option<(&str, Oid)>) -> Result<()> {
        let expr = match check {
            Some((text, base)) => Some(self.env.binder("").domain_check(text, base)?),
            None => None,
        };
        let tables: Vec<_> = self
            .catalog()
            .objects()
            .filter_map(|(_, object)| match object {
                Object::Table(table) => Some(Arc::clone(table)),
                _ => None,
            })
            .filter(|table| table.live().any(|(_, column)| column.ty == ty))
            .collect();
        for table in tables {
            let rows = self.exec().all_rows(&table)?;
            for (number, column) in table.live().filter(|(_, column)| column.ty == ty) {
                for row in &rows {
                    let value = &row[number as usize - 1];
                    let (is_bad, code, what) = match &expr {
                        None => (value.is_null(), code::NOT_NULL_VIOLATION, "contains null values"),
                        Some(expr) => {
                            let held = crate::execute::value_over(&self.env, expr, value)?;
                            let is_bad = matches!(held, Datum::Bool(false));
                            let what = "contains values that violate the new constraint";
                            (is_bad, code::CHECK_VIOLATION, what)
                        }
                    };
                    if is_bad {
                        return Err(SqlError::new(
                            code,
                            format!(
                                "column \"{}\" of table \"{}\" {what}",
                                column.name, table.name
                            ),
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

fn renamed(values: &[Arc<EnumValue>], from: &str, to: &str) -> Result<Arc<[Arc<EnumValue>]>> {
    let Some(place) = values.iter().position(|it| *it.label == *from) else {
        return Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("\"{from}\" is not an existing enum label"),
        ));
    };
    if values.iter().any(|it| *it.label == *to) {
        return Err(SqlError::new(
            code::DUPLICATE_OBJECT,
            format!("enum label \"{to}\" already exists"),
        ));
    }
    let mut values = values.to_vec();
    values[place] = Arc::new(EnumValue { order: values[place].order, label: to.into() });
    Ok(values.into())
}

fn check_label(label: &str) -> Result<()> {
    if label.len() <= 63 {
        return Ok(());
    }
    Err(SqlError::new(code::INVALID_NAME, format!("invalid enum label \"{label}\""))
        .detail("Labels must be 63 bytes or less."))
}
