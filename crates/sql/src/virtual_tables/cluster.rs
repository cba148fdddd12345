//! Databases, roles, schemas, settings, sessions and their locks.

use super::facts::OWNER;
use super::fixed;
use super::maker::{Maker, flag, oid, text};
use crate::catalog::Object;
use crate::catalog::extensions::extensions;
use crate::env::Env;
use crate::locks::{Mode, Owner, Target};
use crate::roles::{Attribute, Role};
use crate::types::{Datum, Interval, Oid, Zone};

/// The databases.
pub(super) fn pg_database(env: &Env, maker: &mut Maker) {
    for database in env.cluster.databases() {
        let is_template = matches!(database.name.as_str(), "template0" | "template1");
        maker.add([
            ("oid", oid(database.oid)),
            ("datname", text(&database.name)),
            ("datdba", oid(OWNER)),
            ("encoding", Datum::Int4(6)),
            ("datlocprovider", text("c")),
            ("datistemplate", flag(is_template)),
            ("datallowconn", flag(database.name != "template0")),
            ("datconnlimit", Datum::Int4(-1)),
            ("datfrozenxid", Datum::Oid(717)),
            ("datminmxid", Datum::Oid(1)),
            ("dattablespace", Datum::Oid(1663)),
            ("datcollate", text("C")),
            ("datctype", text("C")),
        ]);
    }
}

/// The user, who may do everything, and the roles that PostgreSQL always has.
pub(super) fn pg_authid(env: &Env, maker: &mut Maker) {
    maker.add([
        ("oid", oid(OWNER)),
        ("rolname", text(&env.user)),
        ("rolsuper", flag(true)),
        ("rolinherit", flag(true)),
        ("rolcreaterole", flag(true)),
        ("rolcreatedb", flag(true)),
        ("rolcanlogin", flag(true)),
        ("rolreplication", flag(true)),
        ("rolbypassrls", flag(true)),
        ("rolconnlimit", Datum::Int4(-1)),
    ]);
    for (name, role) in made_roles(env) {
        maker.add(role_columns(&name, &role, Datum::Null));
    }
}

/// The roles that were made, except for the user, who is told of already.
fn made_roles(env: &Env) -> impl Iterator<Item = (String, Role)> {
    let user = std::sync::Arc::clone(&env.user);
    env.cluster.roles.all().into_iter().filter(move |(name, _)| **name != *user)
}

fn role_columns(name: &str, role: &Role, password: Datum) -> [(&'static str, Datum); 11] {
    let has = |attribute| flag(role.has(attribute));
    [
        ("oid", oid(role.oid)),
        ("rolname", text(name)),
        ("rolsuper", has(Attribute::Superuser)),
        ("rolinherit", has(Attribute::Inherit)),
        ("rolcreaterole", has(Attribute::CreateRole)),
        ("rolcreatedb", has(Attribute::CreateDb)),
        ("rolcanlogin", has(Attribute::Login)),
        ("rolreplication", has(Attribute::Replication)),
        ("rolbypassrls", has(Attribute::BypassRls)),
        ("rolconnlimit", Datum::Int4(role.limit)),
        ("rolpassword", password),
    ]
}

/// The same, as everybody may see it.
pub(super) fn pg_roles(env: &Env, maker: &mut Maker) {
    maker.add([
        ("oid", oid(OWNER)),
        ("rolname", text(&env.user)),
        ("rolsuper", flag(true)),
        ("rolinherit", flag(true)),
        ("rolcreaterole", flag(true)),
        ("rolcreatedb", flag(true)),
        ("rolcanlogin", flag(true)),
        ("rolreplication", flag(true)),
        ("rolbypassrls", flag(true)),
        ("rolconnlimit", Datum::Int4(-1)),
        ("rolpassword", text("********")),
    ]);
    for (name, role) in made_roles(env) {
        maker.add(role_columns(&name, &role, text("********")));
    }
    for row in fixed::rows("pg_authid") {
        let (Datum::Oid(role), Datum::Text(name)) = (&row[0], &row[1]) else { continue };
        maker.add([
            ("oid", Datum::Oid(*role)),
            ("rolname", text(name)),
            ("rolsuper", flag(false)),
            ("rolinherit", flag(true)),
            ("rolcreaterole", flag(false)),
            ("rolcreatedb", flag(false)),
            ("rolcanlogin", flag(false)),
            ("rolreplication", flag(false)),
            ("rolbypassrls", flag(false)),
            ("rolconnlimit", Datum::Int4(-1)),
            ("rolpassword", text("********")),
        ]);
    }
}

/// pg_user and pg_shadow.
pub(super) fn pg_user(env: &Env, maker: &mut Maker) {
    maker.add([
        ("usename", text(&env.user)),
        ("usesysid", oid(OWNER)),
        ("usecreatedb", flag(true)),
        ("usesuper", flag(true)),
        ("userepl", flag(true)),
        ("usebypassrls", flag(true)),
        ("passwd", text("********")),
    ]);
    for (name, role) in made_roles(env).filter(|(_, role)| role.has(Attribute::Login)) {
        maker.add([
            ("usename", text(&name)),
            ("usesysid", oid(role.oid)),
            ("usecreatedb", flag(role.has(Attribute::CreateDb))),
            ("usesuper", flag(role.has(Attribute::Superuser))),
            ("userepl", flag(role.has(Attribute::Replication))),
            ("usebypassrls", flag(role.has(Attribute::BypassRls))),
            ("passwd", text("********")),
        ]);
    }
}

/// The schemas.
pub(super) fn pg_namespace(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Schema(it) = object else { continue };
        let owner = if it.oid == crate::catalog::schema::PUBLIC { Oid(6171) } else { OWNER };
        maker.add([("oid", oid(it.oid)), ("nspname", text(&it.name)), ("nspowner", oid(owner))]);
    }
}

/// The extensions that were created.
pub(super) fn pg_extension(env: &Env, maker: &mut Maker) {
    for it in env.catalog.extensions() {
        maker.add([
            ("oid", oid(it.oid)),
            ("extname", text(it.known.name)),
            ("extowner", oid(OWNER)),
            ("extnamespace", oid(it.schema)),
            ("extrelocatable", flag(true)),
            ("extversion", text(it.known.version)),
        ]);
    }
}

/// The extensions that can be created.
pub(super) fn pg_available_extensions(env: &Env, maker: &mut Maker) {
    for it in extensions() {
        let is_created = env.catalog.extensions().any(|created| created.known.name == it.name);
        let installed = if is_created { text(it.version) } else { Datum::Null };
        maker.add([
            ("name", text(it.name)),
            ("default_version", text(it.version)),
            ("installed_version", installed),
            ("comment", text(it.comment)),
        ]);
    }
}

/// The settings of the session.
pub(super) fn pg_settings(env: &Env, maker: &mut Maker) {
    // name, setting, unit, category, short_desc, extra_desc, context, vartype, source, min_val,
    // max_val, enumvals, boot_val, reset_val, sourcefile, sourceline, pending_restart
    for row in fixed::rows("pg_settings") {
        let mut row = row.clone();
        let Datum::Text(name) = &row[0] else { continue };
        let own = env.settings.find(name);
        if let Some(own) = own {
            let in_units = match &row[2] {
                Datum::Text(unit) => in_units(&own, unit).unwrap_or(own),
                _ => own,
            };
            let is_changed = !matches!(&row[1], Datum::Text(it) if **it == *in_units);
            row[1] = Datum::text(in_units);
            if is_changed {
                row[8] = text("session");
            }
        }
        maker.rows.push(row);
    }
}

/// A value with a unit of its own as a number of the setting's unit.
fn in_units(value: &str, unit: &str) -> Option<String> {
    let split = value.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = value[..split].trim().parse().ok()?;
    let size = |unit: &str| {
        Some(match unit {
            "us" => 0.001,
            "ms" => 1.0,
            "s" => 1000.0,
            "min" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            "B" => 1.0,
            "kB" => 1024.0,
            "8kB" => 8192.0,
            "MB" => 1_048_576.0,
            "GB" => 1_073_741_824.0,
            "TB" => 1_099_511_627_776.0,
            _ => return None,
        })
    };
    let scaled = number * size(value[split..].trim())? / size(unit)?;
    Some(format!("{scaled:.0}"))
}

/// The sessions of all databases.
pub(super) fn pg_stat_activity(env: &Env, maker: &mut Maker) {
    for entry in env.cluster.sessions() {
        let activity = entry.activity();
        let state = match (activity.running, activity.begun) {
            (true, _) => "active",
            (false, Some(_)) => "idle in transaction",
            (false, None) => "idle",
        };
        let time = |time: Option<i64>| time.map_or(Datum::Null, Datum::Timestamp);
        let begun = activity.begun.or(activity.running.then_some(activity.query_started));
        maker.add([
            ("datid", oid(entry.database)),
            ("datname", text(&entry.database_name)),
            ("pid", Datum::Int4(entry.number as i32)),
            ("usesysid", oid(OWNER)),
            ("usename", text(&entry.user)),
            ("application_name", text(&activity.application)),
            ("backend_start", Datum::Timestamp(entry.started)),
            ("xact_start", time(begun)),
            ("query_start", Datum::Timestamp(activity.query_started)),
            ("state_change", Datum::Timestamp(activity.query_started)),
            ("state", text(state)),
            ("query", text(&activity.query)),
            ("backend_type", text("client backend")),
        ]);
    }
}

/// The session of whoever holds a lock.
pub(super) fn session_of(env: &Env, owner: Owner) -> Option<u32> {
    let sessions = env.cluster.sessions();
    let is_it = |number: u32| Owner(u64::MAX - u64::from(number)) == owner;
    let found = sessions.iter().find(|it| is_it(it.number) || it.transaction() == owner);
    found.map(|it| it.number)
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::AccessShare => "AccessShareLock",
        Mode::RowShare | Mode::KeyShare | Mode::RowForShare | Mode::Gap => "RowShareLock",
        Mode::RowExclusive | Mode::InsertIntention => "RowExclusiveLock",
        Mode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
        Mode::Share => "ShareLock",
        Mode::ShareRowExclusive => "ShareRowExclusiveLock",
        Mode::Exclusive | Mode::NoKeyUpdate | Mode::Update => "ExclusiveLock",
        Mode::AccessExclusive => "AccessExclusiveLock",
    }
}

/// Locks of tables and of applications. Locks of rows are not listed, as PostgreSQL does not.
pub(super) fn pg_locks(env: &Env, maker: &mut Maker) {
    for (target, owner, mode, granted) in env.database.locks.all() {
        let pid = session_of(env, owner).map_or(Datum::Null, |pid| Datum::Int4(pid as i32));
        let common = |kind: &str| (text(kind), text(mode_name(mode)), flag(granted));
        match target {
            Target::Object(relation) => {
                let (kind, mode, granted) = common("relation");
                maker.add([
                    ("locktype", kind),
                    ("database", oid(env.database.oid)),
                    ("relation", oid(relation)),
                    ("virtualtransaction", Datum::text(format!("{}/1", owner.0))),
                    ("pid", pid),
                    ("mode", mode),
                    ("granted", granted),
                    ("fastpath", flag(false)),
                ]);
            }
            Target::Advisory(_, key, is_pair) => {
                let (kind, mode, granted) = common("advisory");
                let (high, low) = ((key as u64 >> 32) as u32, key as u32);
                maker.add([
                    ("locktype", kind),
                    ("database", oid(env.database.oid)),
                    ("classid", Datum::Oid(high)),
                    ("objid", Datum::Oid(low)),
                    ("objsubid", Datum::Int2(if is_pair { 2 } else { 1 })),
                    ("virtualtransaction", Datum::text(format!("{}/1", owner.0))),
                    ("pid", pid),
                    ("mode", mode),
                    ("granted", granted),
                    ("fastpath", flag(false)),
                ]);
            }
            Target::Row(..) | Target::Key(..) | Target::Gap(..) | Target::KeyGap(..) => {}
        }
    }
}

/// The zones that there are.
pub(super) fn pg_timezone_names(env: &Env, maker: &mut Maker) {
    for name in jiff::tz::db().available() {
        let Some(zone) = Zone::named(name.as_str()) else { continue };
        let info = zone.at(env.style.statement_time);
        let micros = i64::from(info.offset) * 1_000_000;
        maker.add([
            ("name", text(&zone.name)),
            ("abbrev", text(&info.abbreviation)),
            ("utc_offset", Datum::Interval(Interval { months: 0, days: 0, micros })),
            ("is_dst", flag(info.daylight)),
        ]);
    }
}

/// One row for each database, with nothing counted.
pub(super) fn pg_stat_database(env: &Env, maker: &mut Maker) {
    for database in env.cluster.databases() {
        let connected = database.connections.load(std::sync::atomic::Ordering::Relaxed);
        maker.add([
            ("datid", oid(database.oid)),
            ("datname", text(&database.name)),
            ("numbackends", Datum::Int4(connected as i32)),
        ]);
        maker.count_nothing();
    }
}
