//! CREATE COLLATION and DROP COLLATION.

use super::Ddl;
use crate::catalog::{IndexedExpr, NamedCollation, Object};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{CreateCollation, Name};
use crate::types::{Collation, Oid};
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn create_collation(&mut self, create: &CreateCollation) -> Result<()> {
        let schema = match &create.name.schema {
            Some(schema) => self.catalog().need_schema(schema)?,
            None => self.env.path.first().ok_or_else(|| {
                let message = "no schema has been selected to create in";
                SqlError::new(code::INVALID_SCHEMA_NAME, message)
            })?,
        };
        let name = &create.name.name;
        let is_it = |it: &&Arc<NamedCollation>| it.schema == schema && *it.name == **name;
        if self.catalog().collations_of_users().any(|it| is_it(&it)) {
            let message = format!("collation \"{name}\" already exists");
            if !create.if_not_exists {
                return Err(SqlError::new(code::DUPLICATE_OBJECT, message));
            }
            self.notice(code::DUPLICATE_OBJECT, format!("{message}, skipping"));
            return Ok(());
        }
        let oid = self.new_oid();
        let made = self.made_collation(oid, schema, create)?;
        self.put(oid, Object::Collation(Arc::new(made)));
        Ok(())
    }

    fn made_collation(
        &self,
        oid: Oid,
        schema: Oid,
        create: &CreateCollation,
    ) -> Result<NamedCollation> {
        let name = create.name.name.as_str();
        if let Some(from) = &create.from {
            let from = self.need_collation(from)?;
            let old = self.catalog().collation(from)?;
            let (provider, locale) = self.catalog().collation_source(from);
            let collation = match &locale {
                Some(locale) if provider == 'i' => {
                    Collation::of_icu(oid, name, locale, old.deterministic)?
                }
                _ => Collation::of_bytes(oid, name),
            };
            return Ok(NamedCollation {
                oid,
                schema,
                name: name.into(),
                provider,
                locale,
                collation: Arc::new(collation),
            });
        }
        let parameters = |message: &str| SqlError::new(code::INVALID_OBJECT_DEFINITION, message);
        let locale = match (&create.locale, &create.lc_collate, &create.lc_ctype) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err(SqlError::new(code::SYNTAX_ERROR, "conflicting or redundant options")
                    .detail("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE."));
            }
            (Some(locale), ..) => locale,
            _ if create.provider == "icu" => {
                return Err(parameters("parameter \"locale\" must be specified"));
            }
            (None, Some(collate), Some(ctype)) if collate == ctype => collate,
            (None, Some(_), Some(_)) => {
                return Err(SqlError::unsupported("LC_COLLATE that is not LC_CTYPE"));
            }
            (None, None, _) => {
                return Err(parameters("parameter \"lc_collate\" must be specified"));
            }
            (None, _, None) => return Err(parameters("parameter \"lc_ctype\" must be specified")),
        };
        let (provider, collation) = match create.provider.as_str() {
            "icu" => ('i', Collation::of_icu(oid, name, locale, create.deterministic)?),
            "libc" if !create.deterministic => {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "nondeterministic collations not supported with this provider",
                ));
            }
            "libc" if matches!(locale.as_str(), "C" | "POSIX" | "C.utf8" | "C.UTF-8") => {
                ('c', Collation::of_bytes(oid, name))
            }
            "libc" => {
                return Err(SqlError::unsupported(format!("the locale \"{locale}\" of libc")));
            }
            other => {
                let message = format!("unrecognized collation provider: {other}");
                return Err(SqlError::new(code::INVALID_OBJECT_DEFINITION, message));
            }
        };
        Ok(NamedCollation {
            oid,
            schema,
            name: name.into(),
            provider,
            locale: Some(locale.as_str().into()),
            collation: Arc::new(collation),
        })
    }

    /// The identifier of a collation.
    pub(super) fn need_collation(&self, name: &Name) -> Result<Oid> {
        let found =
            self.catalog().need_collation(name.schema.as_deref(), &name.name, &self.env.path);
        found.map_err(|error| error.at(name.position))
    }

    /// The collation that is named for something of a type.
    pub(super) fn collation_for(&self, name: Option<&Name>, ty: Oid) -> Result<Option<Oid>> {
        let Some(name) = name else { return Ok(None) };
        let oid = self.need_collation(name)?;
        // Locales that are not known here are refused at once.
        self.catalog().collation(oid)?;
        let usual = crate::catalog::system::type_collation(self.catalog(), ty);
        if usual == Oid::NONE {
            use crate::types::TypeLookup;
            let ty = self.env.type_name(ty, -1);
            let message = format!("collations are not supported by type {ty}");
            return Err(SqlError::new(code::DATATYPE_MISMATCH, message).at(name.position));
        }
        Ok((oid != usual).then_some(oid))
    }

    /// A collation by its name, as it would be written.
    pub(super) fn collation_written(&self, oid: Oid) -> Option<Name> {
        let name = self.catalog().collation_name(oid)?.to_string();
        let schema = match self.catalog().get(oid) {
            Some(Object::Collation(it)) => self.catalog().schema_name(it.schema).to_string(),
            _ => "pg_catalog".to_owned(),
        };
        Some(Name { schema: Some(schema), name, position: 0 })
    }

    /// Rows that are there already may be equal under another collation.
    pub(super) fn check_unique_collation(
        &self,
        table: Oid,
        column: u16,
        collation: Option<Oid>,
    ) -> Result<()> {
        let Some(collation) = self.catalog().own_collation(collation)? else { return Ok(()) };
        let Some(table) = self.catalog().table(table) else { return Ok(()) };
        let mut indexes = table.indexes.iter().filter_map(|&oid| self.catalog().index(oid));
        let is_over = |what: &IndexedExpr| matches!(what, IndexedExpr::Column(it) if *it == column);
        let is_unique = indexes.any(|it| it.unique && it.keys.iter().any(|key| is_over(&key.what)));
        if is_unique && !collation.deterministic {
            let what = format!("a unique index under the collation \"{}\"", collation.name);
            return Err(SqlError::unsupported(what));
        }
        Ok(())
    }

    pub(super) fn drop_collations(
        &mut self,
        names: &[Name],
        if_exists: bool,
        cascade: bool,
    ) -> Result<()> {
        for name in names {
            let oid = match self.need_collation(name) {
                Ok(oid) => oid,
                Err(_) if if_exists => {
                    let message = format!("collation \"{}\" does not exist", name.shown());
                    self.notice("00000", format!("{message}, skipping"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let shown = name.shown();
            let Some(Object::Collation(_)) = self.catalog().get(oid) else {
                return Err(SqlError::new(
                    code::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!(
                        "cannot drop collation {shown} because it is required by the database \
                         system"
                    ),
                ));
            };
            if let Some(user) = self.user_of_collation(oid) {
                if cascade {
                    return Err(SqlError::unsupported("DROP COLLATION … CASCADE"));
                }
                return Err(SqlError::new(
                    code::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!("cannot drop collation {shown} because other objects depend on it"),
                )
                .detail(format!("{user} depends on collation {shown}"))
                .hint("Use DROP ... CASCADE to drop the dependent objects too."));
            }
            self.txn.edit.remove(oid);
            self.env.catalog = Arc::clone(self.txn.edit.catalog());
        }
        Ok(())
    }

    fn user_of_collation(&self, oid: Oid) -> Option<String> {
        self.catalog().objects().find_map(|(_, object)| match object {
            Object::Table(it) => {
                let column = it.live().find(|(_, column)| column.collation == Some(oid));
                column.map(|(_, column)| format!("column {} of table {}", column.name, it.name))
            }
            Object::View(it) => {
                let column = it.columns.iter().find(|column| column.collation == Some(oid));
                column.map(|_| format!("view {}", it.name))
            }
            Object::Index(it) => {
                let key = it.keys.iter().find(|key| key.collation == Some(oid));
                key.map(|_| format!("index {}", it.name))
            }
            _ => None,
        })
    }
}
