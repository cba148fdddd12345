#!/bin/sh
# Writes what extensions bring: their types and functions. Those whose types are all built in are
# listed with their signatures, of the others only the names. Needs a PostgreSQL 15 with its
# contrib modules, and an empty database to create them in:
#   PGHOST=… PGPORT=… PGUSER=… PGDATABASE=… ./dump_extensions.sh
set -eu
cd "$(dirname "$0")"
run() { psql -XAtq -F "$(printf '\t')" -P null='\N' -c "$1"; }
for name in citext hstore pgcrypto; do run "CREATE EXTENSION IF NOT EXISTS $name"; done
# Members of an extension of a catalog.
members="SELECT objid FROM pg_depend d WHERE d.refobjid = e.oid AND d.deptype = 'e' AND d.classid ="
# What has the name of something built in is found there, or not at all.
is_new="NOT EXISTS (SELECT FROM pg_proc b
    WHERE b.proname = p.proname AND b.pronamespace = 'pg_catalog'::regnamespace)
  AND NOT 'internal'::regtype = ANY (p.prorettype || p.proargtypes::oid[])"
is_plain="NOT EXISTS (SELECT FROM unnest(p.prorettype || p.proargtypes::oid[]) AS t
    WHERE t >= 16384)"
run "SELECT extname, extversion, obj_description(oid, 'pg_extension'),
    array_to_string(ARRAY(SELECT typname FROM pg_type
      WHERE oid IN ($members 'pg_type'::regclass) AND typelem = 0 ORDER BY 1), ' '),
    array_to_string(ARRAY(SELECT DISTINCT proname FROM pg_proc p
      WHERE oid IN ($members 'pg_proc'::regclass) AND NOT $is_plain
        AND $is_new ORDER BY 1), ' ')
  FROM pg_extension e WHERE extname <> 'plpgsql' ORDER BY 1" > extensions.tsv
# Identifiers that PostgreSQL leaves free: real ones are those of the database.
run "SELECT extname, 8000 + row_number() OVER (ORDER BY extname, p.oid), proname, prokind,
    proisstrict, proretset, provolatile, pronargs, pronargdefaults, prorettype,
    array_to_string(proargtypes, ' '), provariadic, array_to_string(proallargtypes, ' '),
    array_to_string(proargmodes, ' '), array_to_string(proargnames, ' '),
    pg_get_expr(proargdefaults, 0), prosrc
  FROM pg_extension e JOIN pg_proc p ON p.oid IN ($members 'pg_proc'::regclass)
  WHERE $is_plain AND $is_new AND extname <> 'plpgsql' ORDER BY 1, 2" > extension_procs.tsv
