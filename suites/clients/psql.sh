#!/bin/sh
# psql runs a script with meta-commands and prints what it prints on PostgreSQL, byte for byte;
# then a script that fails, variables, and \copy from and to files.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() { echo "psql: $*" >&2; exit 1; }

cd "$work"
printf '10\tmilk\t1.05\n11\ttea, green\t\\N\n' > items.txt
printf 'id,name,price\n12,"a ""quoted"" name",7.5\n13,,\n' > items.csv
psql -X -v ON_ERROR_STOP=0 -f "$here/psql.sql" > out.txt 2>&1 || die "the script ended early"
sed "s#$work/##g; s#$here/##g" out.txt > plain.txt
diff -u "$here/psql.out" plain.txt >&2 || die "prints something else than on PostgreSQL"

# \copy wrote these.
[ "$(cat written.csv)" = "id,name
10,milk
11,\"tea, green\"
12,\"a \"\"quoted\"\" name\"
13,$(printf '')" ] || die "\\copy wrote: $(cat written.csv)"

# A script stops at its first error if it is asked to, and says where it was.
printf 'SELECT 1;\nSELECT no_such_column;\nSELECT 3;\n' > stops.sql
status=0
psql -X -v ON_ERROR_STOP=1 -f stops.sql > stops.txt 2>&1 || status=$?
[ $status -eq 3 ] || die "status $status after an error in a script"
grep -q 'psql:stops.sql:2: ERROR:  column "no_such_column" does not exist' stops.txt || die "$(cat stops.txt)"

# One transaction around a script: nothing of it stays.
printf 'CREATE TABLE never (a int);\nSELECT 1/0;\n' > single.sql
psql -X -q -1 -v ON_ERROR_STOP=1 -f single.sql > single.txt 2>&1 && die "no error of 1/0"
[ "$(psql -XAtc "SELECT to_regclass('never') IS NULL")" = t ] || die "-1 did not roll back"

# Variables, and several statements of one -c in one transaction.
[ "$(echo "SELECT :'name' || :number;" | psql -XAt -v "name=it's" -v number=7)" = "it's7" ] ||
    die "variables"
psql -X -q -c "CREATE TABLE never (a int); SELECT 1/0" > /dev/null 2>&1 && die "no error of 1/0"
[ "$(psql -XAtc "SELECT to_regclass('never') IS NULL")" = t ] || die "-c did not roll back"

# Ctrl-C cancels a statement and leaves the connection in use.
cancelled=$(timeout -s INT 2 psql -XAt -c 'SELECT pg_sleep(60)' 2>&1 || true)
case $cancelled in
    *"canceling statement due to user request"*) ;;
    *) die "after SIGINT: $cancelled" ;;
esac
