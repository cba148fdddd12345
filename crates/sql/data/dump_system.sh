#!/bin/sh
# Writes the relations of pg_catalog and information_schema with their columns, and the rows of
# those catalogs that PostgreSQL fills itself and that nobody changes. Needs a PostgreSQL 15:
#   PGHOST=… PGPORT=… PGUSER=… ./dump_system.sh
set -eu
cd "$(dirname "$0")"
run() { psql -XAtq -F "$(printf '\t')" -P null='\N' -d template1 -c "$1"; }

# Relation, schema, name, kind, row type, column number, name, type that clients see, declared
# type, whether null is refused.
run "SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltype, a.attnum, a.attname,
    CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, a.atttypid, a.attnotnull
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
  WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
    AND a.attnum > 0 ORDER BY c.oid, a.attnum" > system_columns.tsv

# The columns of a relation as plain numbers and text; what has no meaning here is null.
list() {
    run "SELECT string_agg(CASE
        WHEN atttypid = 'regproc'::regtype THEN attname || '::oid'
        WHEN atttypid IN ('pg_node_tree'::regtype, 'aclitem[]'::regtype, 'anyarray'::regtype)
            THEN 'NULL'
        ELSE quote_ident(attname) END, ', ' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = '$1'::regclass AND attnum > 0"
}
rows() {
    echo "@$1"
    run "SELECT $(list "pg_catalog.$1") FROM pg_catalog.$1 WHERE $2 ORDER BY 1"
}
no_toast="relnamespace IN (11, 'information_schema'::regnamespace) AND oid < 16384"
{
    rows pg_class "$no_toast"
    rows pg_type "oid < 16384 AND typnamespace <> 'pg_toast'::regnamespace"
    rows pg_index "indrelid IN (SELECT oid FROM pg_class WHERE $no_toast)"
    rows pg_constraint "oid < 16384"
    rows pg_am true
    rows pg_collation true
    rows pg_language true
    rows pg_opclass true
    rows pg_opfamily true
    rows pg_amop "amopmethod = 403 OR amopmethod = 405"
    rows pg_range true
    rows pg_tablespace true
    rows pg_extension true
    rows pg_authid "oid <> 10 AND oid < 16384"
    rows pg_ts_config true
    rows pg_ts_dict true
    rows pg_ts_parser true
    rows pg_ts_template true
    rows pg_description "classoid IN ('pg_namespace'::regclass, 'pg_am'::regclass,
        'pg_language'::regclass, 'pg_extension'::regclass)"
    rows pg_shdescription "objoid IN (1, 4, 5)"
    # Settings as they are where nobody has set them.
    echo '@pg_settings'
    run "SELECT name, boot_val, unit, category, short_desc, extra_desc, context, vartype, 'default',
        min_val, max_val, enumvals, boot_val, boot_val, NULL, NULL, false
      FROM pg_settings ORDER BY name"
    rows pg_available_extensions "name = 'plpgsql'"
} > system_rows.tsv
run "SELECT word, catcode, barelabel, catdesc, baredesc FROM pg_get_keywords()" > keywords.tsv
