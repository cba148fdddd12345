//! ALTER, DROP and COMMENT.

use super::ast::*;
use super::cursor::Cursor;
use crate::error::Result;
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    /// After ALTER.
    pub(super) fn alter(&mut self) -> Result<Utility> {
        let Some(word) = self.word() else { return Err(self.error()) };
        match word.as_str() {
            "table" => self.alter_relation(ObjectKind::Table),
            "view" => self.alter_relation(ObjectKind::View),
            "index" => self.alter_relation(ObjectKind::Index),
            "sequence" => self.alter_relation(ObjectKind::Sequence),
            "materialized" => {
                self.need("materialized")?;
                self.alter_relation(ObjectKind::MaterializedView)
            }
            "schema" => self.alter_schema(),
            "type" => self.alter_type(),
            "domain" => self.alter_domain(),
            "database" => self.alter_database(),
            "role" | "user" | "group" if !self.is("user mapping") => self.alter_role(),
            "default" => Ok(self.accepted("ALTER DEFAULT PRIVILEGES")),
            "system" => Ok(self.accepted("ALTER SYSTEM")),
            "collation" => Ok(self.unsupported("ALTER COLLATION")),
            _ => self.alter_other(),
        }
    }

    pub(super) fn accepted(&mut self, tag: &'static str) -> Utility {
        self.skip_rest();
        Utility::Accepted(tag)
    }

    pub(super) fn unsupported(&mut self, what: &'static str) -> Utility {
        self.skip_rest();
        Utility::Unsupported(what)
    }

    fn alter_relation(&mut self, kind: ObjectKind) -> Result<Utility> {
        self.parser.advance_token();
        if self.is("all in tablespace") {
            return Ok(self.unsupported("ALTER … ALL IN TABLESPACE"));
        }
        let if_exists = self.eat("if exists");
        self.eat("only");
        let name = self.name()?;
        self.eat_token(&Token::Mul);
        if self.eat("rename to") {
            let to = self.ident()?;
            return Ok(Utility::Rename { kind, name, if_exists, to });
        }
        if self.eat("set schema") {
            let schema = self.ident()?;
            return Ok(Utility::SetSchema { kind, name, if_exists, schema });
        }
        if kind == ObjectKind::Sequence && !self.is("owner to") {
            let options = self.sequence_options()?;
            return Ok(Utility::AlterSequence { name, if_exists, options });
        }
        let changes = self.list(Self::table_change)?;
        Ok(Utility::AlterTable(AlterTable { name, if_exists, kind, changes }))
    }

    fn table_change(&mut self) -> Result<TableChange> {
        if self.eat("add") {
            return self.add_change();
        }
        if self.eat("drop") {
            return self.drop_change();
        }
        if self.eat("rename constraint") {
            let from = self.ident()?;
            self.need("to")?;
            return Ok(TableChange::RenameConstraint { from, to: self.ident()? });
        }
        if self.eat("rename") {
            self.eat("column");
            let from = self.ident()?;
            self.need("to")?;
            return Ok(TableChange::RenameColumn { from, to: self.ident()? });
        }
        if self.eat("validate constraint") {
            return Ok(TableChange::Validate(self.ident()?));
        }
        if self.eat("alter constraint") {
            let name = self.ident()?;
            let mut made = TableConstraint {
                name: None,
                kind: ConstraintDef::Check(String::new()),
                deferrable: false,
                deferred: false,
                not_valid: false,
            };
            self.constraint_attributes(&mut made)?;
            let (deferrable, deferred) = (made.deferrable, made.deferred);
            return Ok(TableChange::AlterConstraint { name, deferrable, deferred });
        }
        if self.eat("alter") {
            self.eat("column");
            let column = self.ident()?;
            return self.column_change(column);
        }
        self.other_change()
    }

    /// Changes of what does not matter here.
    fn other_change(&mut self) -> Result<TableChange> {
        let is_named = ["owner to", "cluster on", "set tablespace", "set access method"];
        if is_named.into_iter().any(|words| self.eat(words)) {
            self.ident()?;
        } else if self.eat("set logged")
            || self.eat("set unlogged")
            || self.eat("set without cluster")
            || self.eat("set without oids")
        {
            // Nothing to do.
        } else if self.is("set") || self.is("reset") {
            self.parser.advance_token();
            self.skip_parentheses()?;
        } else if self.eat("replica identity") {
            self.eat("using index");
            self.ident()?;
        } else if self.is("enable") || self.is("disable") {
            return self.switch_change();
        } else if self.is("force row") || self.is("no force") {
            self.skip_rest();
            return Ok(TableChange::Unsupported("row level security"));
        } else if self.is("inherit") || self.is("no") || self.is("attach") || self.is("detach") {
            self.skip_rest();
            return Ok(TableChange::Unsupported("inheritance of tables"));
        } else if self.is("of") || self.is("not of") {
            self.skip_rest();
            return Ok(TableChange::Unsupported("a table of a type"));
        } else {
            return Err(self.error());
        }
        Ok(TableChange::Nothing)
    }

    /// ENABLE or DISABLE of triggers and rules.
    fn switch_change(&mut self) -> Result<TableChange> {
        let enabled = self.eat("enable");
        if !enabled {
            self.need("disable")?;
        }
        let for_one_only = enabled && (self.eat("always") || self.eat("replica"));
        if self.eat("trigger") {
            let all = !for_one_only && self.eat("all");
            let user = !all && !for_one_only && self.eat("user");
            let name = if all || user { None } else { Some(self.ident()?) };
            return Ok(match (all, name) {
                (true, _) => TableChange::SwitchTriggers { enabled },
                (_, Some(name)) => TableChange::SwitchNamed { what: "trigger", name },
                _ => TableChange::Nothing,
            });
        }
        if self.eat("rule") {
            return Ok(TableChange::SwitchNamed { what: "rule", name: self.ident()? });
        }
        self.skip_rest();
        Ok(TableChange::Unsupported("row level security"))
    }

    fn add_change(&mut self) -> Result<TableChange> {
        let is_constraint = match self.word().as_deref() {
            Some("constraint" | "check" | "exclude") => true,
            Some("primary") => self.is("primary key"),
            Some("foreign") => self.is("foreign key"),
            Some("unique") => !matches!(
                self.parser.peek_nth_token_ref(1).token,
                Token::Word(ref word) if !["nulls", "using"].contains(&&*word.value.to_lowercase())
            ),
            _ => false,
        };
        if is_constraint {
            return Ok(TableChange::AddConstraint(self.table_constraint()?));
        }
        self.eat("column");
        let if_not_exists = self.eat("if not exists");
        let column = Box::new(self.column_def()?);
        Ok(TableChange::AddColumn { column, if_not_exists })
    }

    fn drop_change(&mut self) -> Result<TableChange> {
        if self.eat("constraint") {
            let if_exists = self.eat("if exists");
            let name = self.ident()?;
            let cascade = self.behavior();
            return Ok(TableChange::DropConstraint { name, if_exists, cascade });
        }
        self.eat("column");
        let if_exists = self.eat("if exists");
        let name = self.ident()?;
        let cascade = self.behavior();
        Ok(TableChange::DropColumn { name, if_exists, cascade })
    }

    /// CASCADE or RESTRICT.
    pub(super) fn behavior(&mut self) -> bool {
        let cascade = self.eat("cascade");
        self.eat("restrict");
        cascade
    }

    fn column_change(&mut self, column: String) -> Result<TableChange> {
        use TableChange as C;
        if self.eat("set data type") || self.eat("type") {
            let ty = self.data_type()?;
            let collation = self.collation()?;
            let using = if self.eat("using") { Some(self.expr()?.1) } else { None };
            return Ok(C::SetType { column, ty, collation, using });
        }
        if self.eat("set default") {
            let default = Some(self.default_text()?);
            return Ok(C::SetDefault { column, default });
        }
        if self.eat("drop default") {
            return Ok(C::SetDefault { column, default: None });
        }
        if self.eat("set not null") {
            return Ok(C::NotNull { column, not_null: true });
        }
        if self.eat("drop not null") {
            return Ok(C::NotNull { column, not_null: false });
        }
        if self.eat("drop identity") {
            let if_exists = self.eat("if exists");
            return Ok(C::DropIdentity { column, if_exists });
        }
        if self.eat("drop expression") {
            let if_exists = self.eat("if exists");
            return Ok(C::DropExpression { column, if_exists });
        }
        if self.eat("add generated") {
            let always = self.eat("always");
            if !always {
                self.need("by default")?;
            }
            self.need("as identity")?;
            let identity = self.identity(always)?;
            return Ok(C::AddIdentity { column, identity });
        }
        self.identity_change(column)
    }

    fn identity_change(&mut self, column: String) -> Result<TableChange> {
        let (mut always, mut options, mut any) = (None, Vec::new(), false);
        loop {
            if self.eat("set generated always") {
                always = Some(true);
            } else if self.eat("set generated by default") {
                always = Some(false);
            } else if self.is("restart") {
                options.extend(self.sequence_options()?);
            } else if self.is("set statistics")
                || self.is("set storage")
                || self.is("set compression")
            {
                self.need("set")?;
                self.parser.advance_token();
                self.eat_token(&Token::Minus);
                self.parser.advance_token();
                return Ok(TableChange::Nothing);
            } else if self.is("set") && self.parser.peek_nth_token_ref(1).token == Token::LParen {
                self.need("set")?;
                self.skip_parentheses()?;
                return Ok(TableChange::Nothing);
            } else if self.eat("reset") {
                self.skip_parentheses()?;
                return Ok(TableChange::Nothing);
            } else if self.eat("set") {
                options.extend(self.sequence_options()?);
            } else if any {
                return Ok(TableChange::SetIdentity { column, always, options });
            } else {
                return Err(self.error());
            }
            any = true;
        }
    }

    fn alter_schema(&mut self) -> Result<Utility> {
        self.need("schema")?;
        let name = self.name()?;
        if self.eat("owner to") {
            return Ok(self.accepted("ALTER SCHEMA"));
        }
        self.need("rename to")?;
        let to = self.ident()?;
        Ok(Utility::Rename { kind: ObjectKind::Schema, name, if_exists: false, to })
    }

    fn alter_database(&mut self) -> Result<Utility> {
        self.need("database")?;
        let name = self.ident()?;
        if self.eat("rename to") {
            let to = self.ident()?;
            return Ok(Utility::RenameDatabase { name, to });
        }
        self.skip_rest();
        Ok(Utility::AlterDatabase { name })
    }

    fn alter_type(&mut self) -> Result<Utility> {
        self.need("type")?;
        let name = self.name()?;
        if self.eat("owner to") {
            return Ok(self.accepted("ALTER TYPE"));
        }
        if self.eat("rename to") {
            let to = self.ident()?;
            return Ok(Utility::Rename { kind: ObjectKind::Type, name, if_exists: false, to });
        }
        if self.eat("set schema") {
            let schema = self.ident()?;
            let kind = ObjectKind::Type;
            return Ok(Utility::SetSchema { kind, name, if_exists: false, schema });
        }
        let change = if self.eat("add value") {
            let if_not_exists = self.eat("if not exists");
            let label = self.string()?;
            let place = if self.eat("before") {
                Some((true, self.string()?))
            } else if self.eat("after") {
                Some((false, self.string()?))
            } else {
                None
            };
            TypeChange::AddValue { label, if_not_exists, place }
        } else if self.eat("rename value") {
            let from = self.string()?;
            self.need("to")?;
            TypeChange::RenameValue { from, to: self.string()? }
        } else if self.eat("rename attribute") {
            let from = self.ident()?;
            self.need("to")?;
            let to = self.ident()?;
            self.behavior();
            TypeChange::RenameAttribute { from, to }
        } else if self.eat("add attribute") {
            let name = self.ident()?;
            let ty = self.data_type()?;
            self.behavior();
            TypeChange::AddAttribute { name, ty }
        } else if self.eat("drop attribute") {
            let if_exists = self.eat("if exists");
            let name = self.ident()?;
            self.behavior();
            TypeChange::DropAttribute { name, if_exists }
        } else if self.is("alter attribute") {
            return Ok(self.unsupported("ALTER TYPE … ALTER ATTRIBUTE"));
        } else {
            return Err(self.error());
        };
        Ok(Utility::AlterType { name, change })
    }

    fn alter_domain(&mut self) -> Result<Utility> {
        self.need("domain")?;
        let name = self.name()?;
        if self.eat("owner to") {
            return Ok(self.accepted("ALTER DOMAIN"));
        }
        if self.eat("rename to") {
            let to = self.ident()?;
            return Ok(Utility::Rename { kind: ObjectKind::Domain, name, if_exists: false, to });
        }
        if self.eat("set schema") {
            let schema = self.ident()?;
            let kind = ObjectKind::Domain;
            return Ok(Utility::SetSchema { kind, name, if_exists: false, schema });
        }
        let change = if self.eat("set default") {
            DomainChange::Default(Some(self.default_text()?))
        } else if self.eat("drop default") {
            DomainChange::Default(None)
        } else if self.eat("set not null") {
            DomainChange::NotNull(true)
        } else if self.eat("drop not null") {
            DomainChange::NotNull(false)
        } else if self.eat("drop constraint") {
            let if_exists = self.eat("if exists");
            let name = self.ident()?;
            self.behavior();
            DomainChange::DropConstraint { name, if_exists }
        } else if self.eat("rename constraint") {
            let from = self.ident()?;
            self.need("to")?;
            DomainChange::RenameConstraint { from, to: self.ident()? }
        } else if self.eat("validate constraint") {
            DomainChange::Validate(self.ident()?)
        } else {
            self.need("add")?;
            let named = if self.eat("constraint") { Some(self.ident()?) } else { None };
            self.need("check")?;
            let text = self.parenthesized()?;
            let not_valid = self.eat("not valid");
            DomainChange::AddCheck { name: named, text, not_valid }
        };
        Ok(Utility::AlterDomain { name, change })
    }

    /// After DROP.
    pub(super) fn drop_statement(&mut self) -> Result<Utility> {
        let Some(word) = self.word() else { return Err(self.error()) };
        let kind = match word.as_str() {
            "table" => ObjectKind::Table,
            "view" => ObjectKind::View,
            "index" => ObjectKind::Index,
            "sequence" => ObjectKind::Sequence,
            "schema" => ObjectKind::Schema,
            "type" => ObjectKind::Type,
            "domain" => ObjectKind::Domain,
            "materialized" => {
                self.need("materialized")?;
                if !self.is("view") {
                    return Err(self.error());
                }
                ObjectKind::MaterializedView
            }
            "database" => return self.drop_database(),
            "role" | "user" | "group" if !self.is("user mapping") => return self.drop_role(),
            "owned" => return Ok(self.accepted("DROP OWNED")),
            "extension" => ObjectKind::Extension,
            "collation" => {
                self.parser.advance_token();
                let if_exists = self.eat("if exists");
                let names = self.names()?;
                let cascade = self.behavior();
                return Ok(Utility::DropCollation { names, if_exists, cascade });
            }
            _ => return self.drop_other(),
        };
        self.parser.advance_token();
        if kind == ObjectKind::Index {
            self.eat("concurrently");
        }
        let if_exists = self.eat("if exists");
        let names = self.names()?;
        let cascade = self.behavior();
        Ok(Utility::Drop(Drop { kind, names, if_exists, cascade }))
    }

    fn drop_database(&mut self) -> Result<Utility> {
        self.need("database")?;
        let if_exists = self.eat("if exists");
        let name = self.ident()?;
        self.eat("with");
        let mut force = false;
        if self.eat_token(&Token::LParen) {
            self.need("force")?;
            force = true;
            self.need_token(&Token::RParen)?;
        }
        Ok(Utility::DropDatabase { name, if_exists, force })
    }

    /// After COMMENT.
    pub(super) fn comment(&mut self) -> Result<Utility> {
        self.need("on")?;
        let Some(word) = self.word() else { return Err(self.error()) };
        self.parser.advance_token();
        let relation = |kind: ObjectKind, it: &mut Self| -> Result<CommentOn> {
            Ok(CommentOn::Relation(kind, it.name()?))
        };
        let on = match word.as_str() {
            "table" => relation(ObjectKind::Table, self)?,
            "view" => relation(ObjectKind::View, self)?,
            "index" => relation(ObjectKind::Index, self)?,
            "sequence" => relation(ObjectKind::Sequence, self)?,
            "materialized" => {
                self.need("view")?;
                relation(ObjectKind::MaterializedView, self)?
            }
            "schema" => relation(ObjectKind::Schema, self)?,
            "type" | "domain" => CommentOn::Type(self.name()?),
            "column" => {
                let (position, mut parts) = self.dotted()?;
                let column = parts.pop().unwrap_or_default();
                let Some(name) = parts.pop() else { return Err(self.error()) };
                CommentOn::Column(Name { schema: parts.pop(), name, position }, column)
            }
            "constraint" => {
                let name = self.ident()?;
                self.need("on")?;
                self.eat("domain");
                CommentOn::Constraint { name, table: self.name()? }
            }
            _ => {
                while !self.is("is") && !self.is_end() {
                    self.parser.advance_token();
                }
                CommentOn::Other
            }
        };
        self.need("is")?;
        let text = if self.eat("null") { None } else { Some(self.string()?) };
        Ok(Utility::Comment { on, text })
    }
}
