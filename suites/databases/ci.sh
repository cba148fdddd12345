#!/bin/sh
# The tests that need real databases, on servers that this starts: PostgreSQL alone, with a hot
# standby and in a network namespace, MariaDB with and without innodb_snapshot_isolation, Galera of
# three nodes, Redis with a replica. All of them are in a temporary folder on loopback ports of
# their own (that in the namespace beside it) and are ended whatever happens. `setup.sh` installs
# what it needs.
#
#     suites/databases/ci.sh                     all of it, within three minutes
#     suites/databases/ci.sh --count             how many tests these are
#     suites/databases/ci.sh COMMAND             a command of yours instead, with the variables set
set -eu
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/servers.sh"

if [ "${1:-}" = --count ]; then
    grep -c '^#\[ignore' "$suites/../../crates/audit/tests/real_databases.rs"
    exit
fi
begun=$(date +%s)
said() { say "$1 ($(($(date +%s) - begun)) s since the beginning)"; }
begin_servers

set_ports() {
    pg=$1 standby=$2 own_pg=$3 maria=$4 snapshot=$5 own_maria=$6 redis=$7 replica=$8
}
# shellcheck disable=SC2046 # ports are words
set_ports $(free_ports 8)

start_galeras() {
    peers="127.0.0.1:$4,127.0.0.1:$5,127.0.0.1:$6"
    start_galera 1 "$1" "$4" "$7" "${10}" "$peers" --wsrep-new-cluster
    start_galera 2 "$2" "$5" "$8" "${11}" "$peers"
    start_galera 3 "$3" "$6" "$9" "${12}" "$peers"
}
galera_ports=$(free_ports 12)
galera_urls() {
    for port in "$1" "$2" "$3"; do printf 'mysql://test:test@127.0.0.1:%s/test ' "$port"; done
}

make_postgres "$work/postgres"
for name in postgres-own postgres-away; do cp -a "$work/postgres" "$work/$name"; done
make_mariadb "$work/mariadb"
for name in mariadb-snapshot mariadb-own galera1 galera2 galera3; do
    cp -a "$work/mariadb" "$work/$name"
done

# Each waits for its own. The cluster takes longest.
# shellcheck disable=SC2086
start_galeras $galera_ports &
cluster=$!
start_postgres postgres "$pg"
"$pgbin/psql" -X -q -h 127.0.0.1 -p "$pg" -U postgres -c "CREATE ROLE weak LOGIN" postgres
start_standby standby "$standby" "$pg"
make_namespace
start_postgres_away postgres-away "$pg"
# Texts compare as those of the mock do.
start_mariadb mariadb "$maria" --character-set-server=utf8mb4 --collation-server=utf8mb4_bin
start_mariadb mariadb-snapshot "$snapshot" --innodb-snapshot-isolation=ON
start_redis redis "$redis" --repl-diskless-sync-delay 0
start_redis replica "$replica" --replicaof 127.0.0.1 "$redis"
await 20 replica follows "$replica"
said "PostgreSQL, MariaDB and Redis are running"
wait "$cluster" || fail "the cluster does not start"
said "Galera is running"

export SERIATIM_TEST_PG="postgres://postgres@127.0.0.1:$pg/postgres"
export SERIATIM_TEST_PG_STANDBY="postgres://postgres@127.0.0.1:$standby/postgres"
export SERIATIM_TEST_PG_OWN="postgres://postgres@127.0.0.1:$own_pg/postgres"
SERIATIM_TEST_PG_COMMAND="$(as_words postgres) $pgbin/postgres -D $work/postgres-own -p $own_pg"
export SERIATIM_TEST_PG_COMMAND
export SERIATIM_TEST_PG_NAMESPACE="$namespace"
export SERIATIM_TEST_PG_AWAY="postgres://postgres@${away:-}:$pg/postgres"
export SERIATIM_TEST_MYSQL="mysql://test:test@127.0.0.1:$maria/test"
export SERIATIM_TEST_MYSQL_SNAPSHOT="mysql://test:test@127.0.0.1:$snapshot/test"
export SERIATIM_TEST_MYSQL_OWN="mysql://test:test@127.0.0.1:$own_maria/test"
SERIATIM_TEST_MYSQL_COMMAND="$(as_words mysql) $(mariadb_words "$work/mariadb-own" "$own_maria") --init-file=$work/mariadb-own/init.sql"
export SERIATIM_TEST_MYSQL_COMMAND
# shellcheck disable=SC2086
SERIATIM_TEST_GALERA=$(galera_urls $galera_ports)
export SERIATIM_TEST_GALERA
export SERIATIM_TEST_REDIS="redis://127.0.0.1:$redis"
export SERIATIM_TEST_REDIS_REPLICA="redis://127.0.0.1:$replica"
library=$(find "$cache/duckdb" -name libduckdb.so 2>/dev/null | head -n 1)
export SERIATIM_DUCKDB="${SERIATIM_DUCKDB:-$library}"

if [ $# -gt 0 ]; then
    "$@"
    exit
fi
cd "$suites/../.."
# Not more at a time: what a scenario calls blocked is a matter of time.
cargo nextest run -p seriatim-audit --all-features --locked --run-ignored only \
    --test-threads 2 -E 'binary(real_databases)'
said "audits done"
# Clients list the roles of a server, of which a new one has one.
"$pgbin/psql" -X -q -h 127.0.0.1 -p "$pg" -U postgres -c "DROP ROLE weak" postgres
cargo nextest run -p seriatim-server --all-features --locked --no-fail-fast -E \
    'test(a_real_) or binary(random_sql)'
said "the mock's tests on real servers done"
