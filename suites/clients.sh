#!/bin/sh
# Real clients do real work on a PostgreSQL server, first without TLS and then with it:
#
#     suites/clients.sh HOST PORT [clients]
#
# Each client is a program in clients/ that ends with a status other than 0 if anything differs
# from what PostgreSQL does. Who connects is said by PGUSER (postgres) and PGPASSWORD. With
# PGSSLROOTCERT the server's certificate is verified; TLS=off leaves out the second half.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -ge 2 ] || fail "usage: suites/clients.sh HOST PORT [clients]"
PGHOST=$1 PGPORT=$2
shift 2
[ $# -ge 1 ] || set -- psql pgbench psycopg sqlalchemy django jdbc node

# What a person has set for psql must not change what it prints.
unset PGOPTIONS PGSERVICE PGDATESTYLE PGCLIENTENCODING PGSSLCERT PGSSLKEY
export PGHOST PGPORT PGUSER="${PGUSER:-postgres}" PGCONNECT_TIMEOUT=20
export PGTZ=UTC LC_ALL=C.UTF-8 TZ=UTC PAGER=cat

limited() { timeout "${CLIENT_SECONDS:-120}" "$@"; }

run() {
    case $1 in
        psql | pgbench) limited sh "$suites/clients/$1.sh" ;;
        psycopg | sqlalchemy | django) limited "$python" "$suites/clients/${1}_client.py" ;;
        jdbc) limited java -cp "$jar" "$suites/clients/JdbcClient.java" ;;
        node) NODE_PATH="$cache/node/node_modules" limited node "$suites/clients/node_client.js" ;;
    esac
}

# Every client has a database of its own, so that the failure of one leaves nothing to the next.
with_client() {
    psql -Xq -d postgres -c "SET client_min_messages = warning" \
        -c "DROP DATABASE IF EXISTS client_$1" -c "CREATE DATABASE client_$1" ||
        fail "cannot make a database for $1"
    export PGDATABASE="client_$1"
    if run "$1"; then
        say "$1, sslmode $PGSSLMODE: ok"
    else
        say "$1, sslmode $PGSSLMODE: FAILED"
        failed="$failed $1/$PGSSLMODE"
    fi
}

with_all() {
    export PGSSLMODE="$1"
    shift
    for client in "$@"; do with_client "$client"; done
}

need_packages "$@"
has pgbench || PATH="$PATH:$(pgbench_folder)"
for client in "$@"; do
    case $client in
        psycopg | sqlalchemy | django) need_python ;;
        node) need_node ;;
    esac
done
failed=""
with_all disable "$@"
if [ "${TLS:-on}" = on ]; then
    if [ -n "${PGSSLROOTCERT:-}" ]; then with_all verify-full "$@"; else with_all require "$@"; fi
fi
[ -z "$failed" ] || { say "failed:$failed"; exit 1; }
