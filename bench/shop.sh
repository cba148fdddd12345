#!/usr/bin/env bash
# The shop of examples/ on the mock and on a real PostgreSQL: how long runs of its test take,
# alternating, two at once, each run on a fresh copy of the state; and how long the copy takes.
#
#   bench/shop.sh HOST PORT [RUNS]
#
# HOST and PORT are a real server that trusts the user postgres; databases called seriatim_shop… are
# made there and dropped. RUNS (default 1000) are done in ten turns of each side. GUARD (default
# lock) keeps the test from failing. SERIATIM names the program if it is built already, and RESTORE
# the example `restore` of crates/trial.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -ge 2 ] || fail "usage: bench/shop.sh HOST PORT [RUNS]"
venv=${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites/venv
[ -x "$venv/bin/python" ] || fail "no Python with Django: suites/setup.sh installs it"
if [ -z "${SERIATIM:-}" ]; then
    cargo build --release --quiet --locked
    SERIATIM="$CARGO_TARGET_DIR/release/seriatim"
fi
if [ -z "${RESTORE:-}" ]; then
    cargo build --release --quiet --locked -p seriatim-trial --example restore
    RESTORE="$CARGO_TARGET_DIR/release/examples/restore"
fi
export PGHOST=$1 PGPORT=$2 PGUSER=postgres PGDATABASE=seriatim_shop SHOP_GUARD=${GUARD:-lock}
export PYTHONDONTWRITEBYTECODE=1 PATH="$venv/bin:$PATH"
runs=${3:-1000} turns=10
cd examples/shop
setup='python3 manage.py migrate -v 0 && python3 fill.py'
copies=$(mktemp) dump=$(mktemp)
drop() { for name in seriatim_shop seriatim_shop_0 seriatim_shop_1; do
    dropdb --if-exists --force "$name" 2>/dev/null || true; done; }
trap 'drop; rm -f "$copies" "$dump"' EXIT
drop
createdb "$PGDATABASE"
sh -c "$setup"
# What a set-up left behind is read back in each turn, so that Django's migrations count for no side.
pg_dump -O -x > "$dump"
again="psql -qX -v ON_ERROR_STOP=1 -f $dump"

# One run on a copy of the state of the real server.
real() {
    local name=seriatim_shop_$1
    local start=$EPOCHREALTIME
    psql -qd postgres -c "DROP DATABASE IF EXISTS $name" -c "CREATE DATABASE $name TEMPLATE seriatim_shop"
    spent "$start" >> "$copies"
    PGDATABASE=$name python3 two_customers.py || fail "the test fails on the real server"
}
spent() { awk -v start="$1" -v end="$EPOCHREALTIME" 'BEGIN { print end - start }'; }
worker() { local run; for run in $(seq $((runs / turns / 2))); do real "$1"; done; }
mock=0 server=0
for turn in $(seq "$turns"); do
    start=$EPOCHREALTIME
    "$SERIATIM" fuzz --seed "$turn" --runs $((runs / turns)) --jobs 2 --setup "$again" \
        -- python3 two_customers.py > /dev/null || fail "the test fails on the mock"
    took=$(spent "$start")
    mock=$(awk -v a="$mock" -v b="$took" 'BEGIN { print a + b }')
    start=$EPOCHREALTIME
    worker 0 2>/dev/null & first=$!
    worker 1 2>/dev/null || fail "a run on the real server has failed"
    wait "$first"
    took=$(spent "$start")
    server=$(awk -v a="$server" -v b="$took" 'BEGIN { print a + b }')
done
echo "| runs | mock, set-up included | real server |"
echo "|---|---|---|"
echo "| $runs | $mock s | $server s |"
echo
median=$(sort -n "$copies" | awk '{ all[NR] = $1 } END { print 1000 * all[int((NR + 1) / 2)] }')
echo "the state again on the real server: $median ms at the median"
echo "on the mock:"
"$RESTORE" "$again" 200
