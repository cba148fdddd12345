//! CREATE EXTENSION.

use super::Ddl;
use crate::catalog::extensions::extensions;
use crate::catalog::{Extension, Object};
use crate::error::{Result, SqlError, code};

impl Ddl<'_> {
    pub(super) fn create_extension(
        &mut self,
        name: &str,
        if_not_exists: bool,
        schema: Option<&str>,
    ) -> Result<()> {
        // PL/pgSQL is there from the beginning, though nothing can be written in it.
        if name == "plpgsql" || self.catalog().extensions().any(|it| it.known.name == name) {
            let message = format!("extension \"{name}\" already exists");
            if !if_not_exists {
                return Err(SqlError::new(code::DUPLICATE_OBJECT, message));
            }
            self.notice(code::DUPLICATE_OBJECT, format!("{message}, skipping"));
            return Ok(());
        }
        let Some(known) = extensions().iter().find(|it| it.name == name) else {
            return Err(SqlError::unsupported(format!("the extension \"{name}\"")));
        };
        let schema = match schema {
            Some(schema) => self.catalog().need_schema(schema)?,
            None => self.env.path.first().ok_or_else(|| {
                let message = "no schema has been selected to create in";
                SqlError::new(code::INVALID_SCHEMA_NAME, message)
            })?,
        };
        let oid = self.new_oid();
        self.put(oid, Object::Extension(Extension { oid, schema, known }));
        Ok(())
    }
}
