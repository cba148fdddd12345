#!/bin/sh
# pgbench makes its tables in both ways and runs its three built-in scripts in its three query
# modes; afterwards the balances agree with the history.
set -eu
die() { echo "pgbench: $*" >&2; exit 1; }
ask() { psql -XAt -c "$1"; }

quiet() {
    if ! "$@" > "$log" 2>&1; then cat "$log" >&2; die "failed: $*"; fi
}

# Runs one script; every transaction must have been processed in the end.
bench() {
    quiet pgbench -n -b "$1" -M "$2" -c "$3" -j 2 -t 25 --max-tries=0 --latency-limit=30000
    wanted=$((25 * $3))
    grep -q "transactions actually processed: $wanted/$wanted" "$log" || { cat "$log" >&2; die "$*"; }
    grep -q "number of failed transactions: 0 " "$log" || { cat "$log" >&2; die "$*"; }
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quiet pgbench -i -q -s 1
[ "$(ask 'SELECT count(*), sum(abalance), min(aid), max(aid) FROM pgbench_accounts')" = "100000|0|1|100000" ] ||
    die "accounts after init"
quiet pgbench -i -q -s 1 -I dtGvpf
[ "$(ask 'SELECT count(*) FROM pgbench_accounts')" = 100000 ] || die "accounts made by the server"

for mode in simple extended prepared; do
    bench tpcb-like $mode 1
    bench simple-update $mode 1
    bench select-only $mode 4
done
bench tpcb-like prepared 4
[ "$(ask 'SELECT count(*) FROM pgbench_history')" = 250 ] || die "rows of the history"
[ "$(ask 'SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)')" = t ] ||
    die "the balances differ from the history"
