//! CREATE, ALTER and DROP ROLE, GRANT and REVOKE, SET ROLE.

use super::ast::{RoleChange, RoleName, SetValue, Utility};
use super::cursor::Cursor;
use crate::error::Result;
use crate::roles::Attribute;
use sqlparser::tokenizer::Token;

/// Words that say what a role can do; with NO before them that it cannot.
const ATTRIBUTES: [(&str, Attribute); 7] = [
    ("superuser", Attribute::Superuser),
    ("inherit", Attribute::Inherit),
    ("createrole", Attribute::CreateRole),
    ("createdb", Attribute::CreateDb),
    ("login", Attribute::Login),
    ("replication", Attribute::Replication),
    ("bypassrls", Attribute::BypassRls),
];

impl Cursor<'_> {
    /// The name of a role, or a word for one.
    pub(super) fn role_name(&mut self) -> Result<RoleName> {
        if self.eat("current_user") || self.eat("current_role") {
            return Ok(RoleName::Current);
        }
        if self.eat("session_user") {
            return Ok(RoleName::Session);
        }
        if self.eat("public") {
            return Ok(RoleName::Public);
        }
        Ok(RoleName::Named(self.ident()?))
    }

    /// After CREATE, at ROLE, USER or GROUP.
    pub(super) fn create_role(&mut self) -> Result<Utility> {
        let is_user = self.is("user");
        self.parser.advance_token();
        let name = self.ident()?;
        let mut change = RoleChange::default();
        change.attributes.extend(is_user.then_some((Attribute::Login, true)));
        self.role_options(&mut change)?;
        Ok(Utility::CreateRole { name, change })
    }

    /// After ALTER, at ROLE, USER or GROUP.
    pub(super) fn alter_role(&mut self) -> Result<Utility> {
        let is_group = self.is("group");
        self.parser.advance_token();
        if !is_group && self.is("all") {
            return Ok(self.accepted("ALTER ROLE"));
        }
        let name = self.role_name()?;
        if self.eat("rename to") {
            return Ok(Utility::RenameRole { name, to: self.ident()? });
        }
        let mut change = RoleChange::default();
        if is_group && (self.eat("add user") || self.eat("drop user")) {
            change.roles = self.list(Self::role_name)?;
        } else if self.is("set") || self.is("reset") || self.is("in database") {
            // Settings that sessions begin with: as everything of ALTER SYSTEM.
            self.skip_rest();
        } else {
            self.role_options(&mut change)?;
        }
        Ok(Utility::AlterRole { name, change })
    }

    fn role_options(&mut self, change: &mut RoleChange) -> Result<()> {
        self.eat("with");
        while !self.is_end() {
            self.role_option(change)?;
        }
        Ok(())
    }

    fn role_option(&mut self, change: &mut RoleChange) -> Result<()> {
        let word = self.word().unwrap_or_default();
        let found = ATTRIBUTES.iter().find_map(|&(name, attribute)| {
            let on = word == name;
            (on || word.strip_prefix("no") == Some(name)).then_some((attribute, on))
        });
        if found.is_some() {
            change.attributes.extend(found);
            self.parser.advance_token();
        } else if self.eat("connection limit") {
            let limit = self.integer()?;
            change.limit = Some(i32::try_from(limit).map_err(|_| self.error())?);
        } else if self.is("password") || self.is("encrypted password") {
            // Whoever knows the password of the server may be anybody.
            self.eat("encrypted");
            self.need("password")?;
            if !self.eat("null") {
                self.string()?;
            }
        } else if self.eat("valid until") {
            self.string()?;
        } else if self.eat("sysid") {
            self.integer()?;
        } else if ["in role", "in group", "role", "admin", "user"].iter().any(|it| self.eat(it)) {
            change.roles.extend(self.list(Self::role_name)?);
        } else {
            return Err(self.error());
        }
        Ok(())
    }

    /// After DROP, at ROLE, USER or GROUP.
    pub(super) fn drop_role(&mut self) -> Result<Utility> {
        self.parser.advance_token();
        let if_exists = self.eat("if exists");
        let names = self.list(Self::role_name)?;
        Ok(Utility::DropRole { names, if_exists })
    }

    /// After GRANT or REVOKE: what is granted on tables and schemas must be there, and so must the
    /// roles.
    pub(super) fn grant(&mut self, is_grant: bool) -> Result<Utility> {
        let to = if is_grant { "to" } else { "from" };
        if !is_grant {
            let _ = self.eat("grant option for") || self.eat("admin option for");
        }
        let is_role = self.comes_before(to, "on");
        let mut roles = Vec::new();
        let (mut relations, mut schemas) = (Vec::new(), Vec::new());
        if is_role {
            roles = self.list(Self::role_name)?;
        } else {
            self.skip_to("on");
            self.need("on")?;
            if self.eat("schema") {
                schemas = self.list(Self::ident)?;
            } else if self.eat("table") || self.names_tables(to) {
                relations = self.names()?;
            } else {
                self.skip_to(to);
            }
        }
        self.need(to)?;
        self.eat("group");
        roles.extend(self.list(Self::role_name)?);
        self.skip_rest();
        let tag = match (is_grant, is_role) {
            (true, true) => "GRANT ROLE",
            (true, false) => "GRANT",
            (false, true) => "REVOKE ROLE",
            (false, false) => "REVOKE",
        };
        Ok(Utility::Grant { tag, roles, relations, schemas })
    }

    /// Whether a word comes, and before another one.
    fn comes_before(&self, first: &str, second: &str) -> bool {
        let mut place = 0;
        loop {
            match &self.parser.peek_nth_token_ref(place).token {
                Token::EOF | Token::SemiColon => return false,
                _ if self.word_at(place).as_deref() == Some(first) => return true,
                _ if self.word_at(place).as_deref() == Some(second) => return false,
                _ => place += 1,
            }
        }
    }

    fn skip_to(&mut self, word: &str) {
        while !self.is_end() && !self.is(word) {
            self.parser.advance_token();
        }
    }

    /// Whether names of tables come without a word before them: commas, dots or `to` follow.
    fn names_tables(&self, to: &str) -> bool {
        match &self.parser.peek_nth_token_ref(1).token {
            Token::Comma | Token::Period => true,
            _ => self.word_at(1).as_deref() == Some(to),
        }
    }

    /// SET ROLE or SET SESSION AUTHORIZATION, if that is next.
    pub(super) fn set_role(&mut self, local: bool) -> Result<Option<Utility>> {
        let name = if self.eat("session authorization") {
            "session_authorization"
        } else if self.is("role") && !self.is("role to") && !self.is_assigned() {
            self.need("role")?;
            "role"
        } else {
            return Ok(None);
        };
        let value = match self.eat("default") {
            true => SetValue::Default,
            false => SetValue::Text(self.ident().or_else(|_| self.string())?),
        };
        Ok(Some(Utility::Set { name: name.to_owned(), value, local }))
    }

    fn is_assigned(&self) -> bool {
        self.parser.peek_nth_token_ref(1).token == Token::Eq
    }
}
