//! CREATE.

use super::ast::*;
use super::cursor::Cursor;
use crate::catalog::Action;
use crate::error::{Result, SqlError, code};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    /// After CREATE.
    pub(super) fn create(&mut self) -> Result<Utility> {
        let or_replace = self.eat("or replace");
        let _ = self.eat("global") || self.eat("local");
        let lifetime = match self.eat("temporary") || self.eat("temp") {
            true => Lifetime::Temporary,
            false => Lifetime::Permanent,
        };
        self.eat("unlogged");
        let Some(word) = self.word() else { return Err(self.error()) };
        match word.as_str() {
            "table" => self.create_table(lifetime),
            "unique" | "index" => self.create_index(),
            "sequence" => self.create_sequence(lifetime),
            "view" | "materialized" | "recursive" => self.create_view(or_replace, lifetime),
            "schema" => self.create_schema(),
            "type" => self.create_type(),
            "domain" => self.create_domain(),
            "database" => self.create_database(),
            "extension" => self.create_extension(),
            "collation" => self.create_collation(),
            "role" | "user" | "group" if !self.is("user mapping") => self.create_role(),
            _ => self.create_other(),
        }
    }

    fn create_table(&mut self, lifetime: Lifetime) -> Result<Utility> {
        self.need("table")?;
        let if_not_exists = self.eat("if not exists");
        let name = self.name()?;
        if self.is("partition of") || self.is("of") {
            return Ok(self.give_up("CREATE TABLE … OF"));
        }
        // (a, b) AS … names columns only; so does AS without them.
        if let Some(columns) = self.columns_before_as()? {
            return self.create_table_as(name, lifetime, if_not_exists, columns);
        }
        let mut table = CreateTable {
            name,
            lifetime,
            if_not_exists,
            columns: Vec::new(),
            constraints: Vec::new(),
            likes: Vec::new(),
        };
        self.need_token(&Token::LParen)?;
        if !self.eat_token(&Token::RParen) {
            self.list(|it| it.table_element(&mut table))?;
            self.need_token(&Token::RParen)?;
        }
        if self.is("inherits") {
            return Ok(self.give_up("INHERITS"));
        }
        if self.is("partition by") {
            return Ok(self.give_up("PARTITION BY"));
        }
        table.lifetime = self.table_options(lifetime)?;
        Ok(Utility::CreateTable(table))
    }

    fn give_up(&mut self, what: &'static str) -> Utility {
        self.skip_rest();
        Utility::Unsupported(what)
    }

    fn columns_before_as(&mut self) -> Result<Option<Vec<String>>> {
        if self.is("as") || self.is("with") || self.is("on") || self.is("tablespace") {
            return Ok(Some(Vec::new()));
        }
        let mut place = 1;
        if !self.is_token(&Token::LParen) {
            return Ok(None);
        }
        // Names and commas, one after the other.
        loop {
            let wants_comma = place % 2 == 0;
            match &self.parser.peek_nth_token_ref(place).token {
                Token::Word(_) if !wants_comma => place += 1,
                Token::Comma if wants_comma => place += 1,
                _ => break,
            }
        }
        let closed = self.parser.peek_nth_token_ref(place).token == Token::RParen;
        let next = self.word_at(place + 1);
        let goes_on = matches!(next.as_deref(), Some("as" | "with" | "on" | "tablespace"));
        if closed && goes_on && place > 1 {
            return self.ident_list().map(Some);
        }
        Ok(None)
    }

    fn create_table_as(
        &mut self,
        name: Name,
        lifetime: Lifetime,
        if_not_exists: bool,
        columns: Vec<String>,
    ) -> Result<Utility> {
        let lifetime = self.table_options(lifetime)?;
        self.need("as")?;
        if self.is("execute") {
            return Ok(self.give_up("CREATE TABLE AS EXECUTE"));
        }
        let (query, _) = self.query()?;
        let with_data = self.with_data()?;
        let is_into = false;
        Ok(Utility::CreateTableAs(CreateTableAs {
            name,
            lifetime,
            if_not_exists,
            columns,
            query,
            with_data,
            is_into,
        }))
    }

    pub(super) fn with_data(&mut self) -> Result<bool> {
        if self.eat("with no data") {
            return Ok(false);
        }
        self.eat("with data");
        Ok(true)
    }

    /// USING, WITH (…), ON COMMIT, TABLESPACE.
    fn table_options(&mut self, lifetime: Lifetime) -> Result<Lifetime> {
        let mut lifetime = lifetime;
        loop {
            if self.eat("using") {
                self.access_method()?;
            } else if self.eat("tablespace") {
                self.ident()?;
            } else if self.eat("without oids") {
            } else if self.is("with") && !self.is("with data") && !self.is("with no") {
                self.need("with")?;
                self.skip_parentheses()?;
            } else if self.eat("on commit preserve rows") {
            } else if self.is("on commit") {
                if lifetime == Lifetime::Permanent {
                    return Err(SqlError::new(
                        code::INVALID_TABLE_DEFINITION,
                        "ON COMMIT can only be used on temporary tables",
                    ));
                }
                self.need("on commit")?;
                if self.eat("delete rows") {
                    lifetime = Lifetime::DeleteRows;
                } else {
                    self.need("drop")?;
                    lifetime = Lifetime::Drop;
                }
            } else {
                return Ok(lifetime);
            }
        }
    }

    /// How the rows of a table are kept: there is one way.
    fn access_method(&mut self) -> Result<()> {
        let name = self.ident()?;
        if name == "heap" {
            return Ok(());
        }
        let message = format!("access method \"{name}\" does not exist");
        Err(SqlError::new(code::UNDEFINED_OBJECT, message))
    }

    fn table_element(&mut self, table: &mut CreateTable) -> Result<()> {
        if self.eat("like") {
            let like = self.like()?;
            table.likes.push((table.columns.len(), like));
        } else if self.is_table_constraint() {
            let constraint = self.table_constraint()?;
            table.constraints.push(constraint);
        } else {
            let column = self.column_def()?;
            table.columns.push(column);
        }
        Ok(())
    }

    fn like(&mut self) -> Result<Like> {
        let table = self.name()?;
        let mut like = Like {
            table,
            defaults: false,
            constraints: false,
            identity: false,
            generated: false,
            indexes: false,
            comments: false,
        };
        while let Some(word @ ("including" | "excluding")) = self.word().as_deref() {
            let on = word == "including";
            self.parser.advance_token();
            let what = self.ident()?;
            let all = what == "all";
            let set = |flag: &mut bool, name: &str| {
                if all || what == name {
                    *flag = on;
                }
            };
            set(&mut like.defaults, "defaults");
            set(&mut like.constraints, "constraints");
            set(&mut like.identity, "identity");
            set(&mut like.generated, "generated");
            set(&mut like.indexes, "indexes");
            set(&mut like.comments, "comments");
        }
        Ok(like)
    }

    fn is_table_constraint(&self) -> bool {
        match self.word().as_deref() {
            Some("constraint" | "check") => true,
            Some("unique") => {
                self.parser.peek_nth_token_ref(1).token == Token::LParen || self.is("unique nulls")
            }
            Some("primary") => self.is("primary key"),
            Some("foreign") => self.is("foreign key"),
            Some("exclude") => {
                matches!(self.parser.peek_nth_token_ref(1).token, Token::LParen)
                    || self.is("exclude using")
            }
            _ => false,
        }
    }

    /// A constraint of a table.
    pub(super) fn table_constraint(&mut self) -> Result<TableConstraint> {
        let name = if self.eat("constraint") { Some(self.ident()?) } else { None };
        let kind = if self.eat("primary key") {
            self.key_constraint(true)?
        } else if self.eat("unique") {
            self.key_constraint(false)?
        } else if self.eat("check") {
            ConstraintDef::Check(self.parenthesized()?)
        } else if self.eat("foreign key") {
            let columns = self.ident_list()?;
            self.need("references")?;
            ConstraintDef::ForeignKey(self.references(columns)?)
        } else if self.is("exclude") {
            return Err(SqlError::unsupported("an exclusion constraint"));
        } else {
            return Err(self.error());
        };
        let mut constraint =
            TableConstraint { name, kind, deferrable: false, deferred: false, not_valid: false };
        self.constraint_attributes(&mut constraint)?;
        if constraint.deferrable && matches!(constraint.kind, ConstraintDef::Check(_)) {
            let message = "CHECK constraints cannot be marked DEFERRABLE";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(constraint)
    }

    fn key_constraint(&mut self, primary: bool) -> Result<ConstraintDef> {
        if self.eat("using index") {
            let index = self.ident()?;
            return Ok(ConstraintDef::UsingIndex { index, primary });
        }
        let nulls_not_distinct = self.eat("nulls not distinct");
        self.eat("nulls distinct");
        let columns = self.ident_list()?;
        let include = if self.eat("include") { self.ident_list()? } else { Vec::new() };
        self.index_storage()?;
        Ok(if primary {
            ConstraintDef::PrimaryKey { columns, include }
        } else {
            ConstraintDef::Unique { columns, include, nulls_not_distinct }
        })
    }

    fn index_storage(&mut self) -> Result<()> {
        if self.is("with") && self.parser.peek_nth_token_ref(1).token == Token::LParen {
            self.need("with")?;
            self.skip_parentheses()?;
        }
        if self.eat("using index tablespace") {
            self.ident()?;
        }
        Ok(())
    }

    /// DEFERRABLE and the like.
    pub(super) fn constraint_attributes(&mut self, to: &mut TableConstraint) -> Result<()> {
        loop {
            if self.eat("not deferrable") {
                to.deferrable = false;
            } else if self.eat("deferrable") {
                to.deferrable = true;
            } else if self.eat("initially deferred") {
                (to.deferrable, to.deferred) = (true, true);
            } else if self.eat("initially immediate") {
                to.deferred = false;
            } else if self.eat("not valid") {
                to.not_valid = true;
            } else if self.eat("no inherit") {
            } else {
                return Ok(());
            }
        }
    }

    /// After REFERENCES.
    fn references(&mut self, columns: Vec<String>) -> Result<ForeignKeyDef> {
        let table = self.name()?;
        let referenced = self.maybe_ident_list()?;
        let mut key = ForeignKeyDef {
            columns,
            table,
            referenced,
            on_delete: Action::NoAction,
            on_update: Action::NoAction,
            set_columns: Vec::new(),
            match_full: false,
        };
        loop {
            if self.eat("match full") {
                key.match_full = true;
            } else if self.eat("match simple") {
            } else if self.is("match partial") {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "MATCH PARTIAL not yet implemented",
                ));
            } else if self.eat("on delete") {
                (key.on_delete, key.set_columns) = self.action()?;
            } else if self.eat("on update") {
                let (action, columns) = self.action()?;
                if !columns.is_empty() {
                    let what = if action == Action::SetNull { "SET NULL" } else { "SET DEFAULT" };
                    return Err(SqlError::new(
                        code::FEATURE_NOT_SUPPORTED,
                        format!(
                            "a column list with {what} is only supported for ON DELETE actions"
                        ),
                    ));
                }
                key.on_update = action;
            } else {
                return Ok(key);
            }
        }
    }

    /// What happens, and to which columns if not to all.
    fn action(&mut self) -> Result<(Action, Vec<String>)> {
        let action = if self.eat("no action") {
            Action::NoAction
        } else if self.eat("restrict") {
            Action::Restrict
        } else if self.eat("cascade") {
            Action::Cascade
        } else if self.eat("set null") {
            Action::SetNull
        } else if self.eat("set default") {
            Action::SetDefault
        } else {
            return Err(self.error());
        };
        let sets = matches!(action, Action::SetNull | Action::SetDefault);
        let columns = if sets { self.maybe_ident_list()? } else { Vec::new() };
        Ok((action, columns))
    }

    /// A column with its constraints.
    pub(super) fn column_def(&mut self) -> Result<ColumnDef> {
        let name = self.ident()?;
        let ty = self.data_type()?;
        let mut column = ColumnDef {
            name,
            ty,
            collation: None,
            not_null: None,
            default: None,
            generated: None,
            identity: None,
            constraints: Vec::new(),
        };
        while self.column_option(&mut column)? {}
        Ok(column)
    }

    fn column_option(&mut self, column: &mut ColumnDef) -> Result<bool> {
        let name = if self.eat("constraint") { Some(self.ident()?) } else { None };
        let own = || vec![column.name.clone()];
        if let Some(collation) = self.collation()? {
            column.collation = Some(collation);
            return Ok(true);
        }
        let kind = if self.eat("not null") {
            column.not_null = Some(true);
            return Ok(true);
        } else if self.eat("null") {
            if column.not_null == Some(true) {
                return Err(SqlError::new(
                    code::SYNTAX_ERROR,
                    format!(
                        "conflicting NULL/NOT NULL declarations for column \"{}\"",
                        column.name
                    ),
                ));
            }
            return Ok(true);
        } else if self.eat("default") {
            column.default = Some(self.default_text()?);
            return Ok(true);
        } else if self.eat("generated") {
            self.generated(column)?;
            return Ok(true);
        } else if self.eat("primary key") {
            self.index_storage()?;
            ConstraintDef::PrimaryKey { columns: own(), include: Vec::new() }
        } else if self.eat("unique") {
            let nulls_not_distinct = self.eat("nulls not distinct");
            self.eat("nulls distinct");
            self.index_storage()?;
            ConstraintDef::Unique { columns: own(), include: Vec::new(), nulls_not_distinct }
        } else if self.eat("check") {
            ConstraintDef::Check(self.parenthesized()?)
        } else if self.eat("references") {
            ConstraintDef::ForeignKey(self.references(own())?)
        } else if self.eat("storage") || self.eat("compression") {
            self.ident()?;
            return Ok(true);
        } else if name.is_some() {
            return Err(self.error());
        } else {
            return Ok(false);
        };
        let mut constraint =
            TableConstraint { name, kind, deferrable: false, deferred: false, not_valid: false };
        // NOT NULL of the column must not be taken for NOT DEFERRABLE.
        self.constraint_attributes(&mut constraint)?;
        if constraint.deferrable && matches!(constraint.kind, ConstraintDef::Check(_)) {
            return Err(SqlError::new(code::SYNTAX_ERROR, "misplaced DEFERRABLE clause"));
        }
        column.constraints.push(constraint);
        Ok(true)
    }

    /// After GENERATED.
    fn generated(&mut self, column: &mut ColumnDef) -> Result<()> {
        if self.eat("always as identity") {
            column.identity = Some(self.identity(true)?);
        } else if self.eat("by default as identity") {
            column.identity = Some(self.identity(false)?);
        } else {
            self.need("always as")?;
            column.generated = Some(self.parenthesized()?);
            self.need("stored")?;
        }
        Ok(())
    }

    pub(super) fn identity(&mut self, always: bool) -> Result<IdentityDef> {
        let mut options = Vec::new();
        if self.eat_token(&Token::LParen) {
            options = self.sequence_options()?;
            self.need_token(&Token::RParen)?;
        }
        Ok(IdentityDef { always, options })
    }

    pub(super) fn sequence_options(&mut self) -> Result<Vec<SequenceOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        Ok(options)
    }

    fn sequence_option(&mut self) -> Result<Option<SequenceOption>> {
        use SequenceOption as O;
        let option = if self.eat("as") {
            O::Type(self.data_type()?)
        } else if self.eat("increment") {
            self.eat("by");
            O::Increment(self.integer()?)
        } else if self.eat("minvalue") {
            O::Min(Some(self.integer()?))
        } else if self.eat("maxvalue") {
            O::Max(Some(self.integer()?))
        } else if self.eat("no minvalue") {
            O::Min(None)
        } else if self.eat("no maxvalue") {
            O::Max(None)
        } else if self.eat("start") {
            self.eat("with");
            O::Start(self.integer()?)
        } else if self.eat("restart") {
            let given = self.eat("with");
            let number = matches!(
                self.parser.peek_token_ref().token,
                Token::Number(..) | Token::Minus | Token::Plus
            );
            O::Restart(if given || number { Some(self.integer()?) } else { None })
        } else if self.eat("cache") {
            O::Cache(self.integer()?)
        } else if self.eat("cycle") {
            O::Cycle(true)
        } else if self.eat("no cycle") {
            O::Cycle(false)
        } else if self.eat("sequence name") {
            O::Name(self.name()?)
        } else if self.eat("owned by none") {
            O::OwnedBy(None)
        } else if self.eat("owned by") {
            let (position, mut parts) = self.dotted()?;
            let column = parts.pop().unwrap_or_default();
            let Some(name) = parts.pop() else {
                return Err(SqlError::new(code::SYNTAX_ERROR, "invalid OWNED BY option")
                    .hint("Specify OWNED BY table.column or OWNED BY NONE."));
            };
            O::OwnedBy(Some((Name { schema: parts.pop(), name, position }, column)))
        } else {
            return Ok(None);
        };
        Ok(Some(option))
    }
}
