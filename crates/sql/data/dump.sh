#!/bin/sh
# Writes what PostgreSQL's catalogs say about built-in types, functions, operators, casts and
# aggregates, which name resolution and pg_catalog stand on. Needs a PostgreSQL 15:
#   PGHOST=… PGPORT=… PGUSER=… ./dump.sh
set -eu
cd "$(dirname "$0")"
dump() { psql -XAtq -F "$(printf '\t')" -P null='\N' -d template1 -c "$2" > "$1.tsv"; }
dump types "SELECT oid, typname, typlen, typbyval, typtype, typcategory, typispreferred, typdelim,
    typrelid, typelem, typarray, typinput, typoutput, typreceive, typsend, typmodin, typmodout,
    typalign, typstorage, typcollation, typsubscript
  FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typrelid = 0
    AND NOT EXISTS (SELECT FROM pg_type e WHERE e.oid = pg_type.typelem AND e.typrelid <> 0)
  ORDER BY oid"
dump procs "SELECT oid, proname, prokind, proisstrict, proretset, provolatile, pronargs,
    pronargdefaults, prorettype, array_to_string(proargtypes, ' '), provariadic,
    array_to_string(proallargtypes, ' '), array_to_string(proargmodes, ' '),
    array_to_string(proargnames, ' '), pg_get_expr(proargdefaults, 0), prosrc, procost
  FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
    AND prolang IN (12, 13, 14) ORDER BY oid"
dump operators "SELECT oid, oprname, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult,
    oprcom, oprnegate, oprcode::oid FROM pg_operator
  WHERE oprnamespace = 'pg_catalog'::regnamespace ORDER BY oid"
dump casts "SELECT castsource, casttarget, castfunc, castcontext, castmethod FROM pg_cast ORDER BY oid"
dump aggregates "SELECT aggfnoid::oid, aggkind, aggnumdirectargs, aggtransfn::oid, aggfinalfn::oid,
    aggsortop, aggtranstype, agginitval FROM pg_aggregate ORDER BY 1"
