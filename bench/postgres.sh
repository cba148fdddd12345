#!/usr/bin/env bash
# The mock database beside a real PostgreSQL server, in the same run: pgbench, and a load of TPC-C.
#
#   bench/postgres.sh HOST PORT [SECONDS]
#
# HOST and PORT are a real server that the user postgres may use without a password. Each row of pgbench takes SECONDS
# (default 8), real and mock alternating. PYTHON names a Python with psycopg 3 for the load (default: that of suites/).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -ge 2 ] || fail "usage: bench/postgres.sh HOST PORT [SECONDS]"
real_host=$1 real_port=$2 seconds=${3:-8}
for tool in pgbench psql; do command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install postgresql-contrib"; done
python=${PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites/venv/bin/python}
ours=${SERIATIM:-}
if [ -z "$ours" ]; then
    cargo build --release --quiet --locked
    ours="$CARGO_TARGET_DIR/release/seriatim"
fi
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$work"' EXIT

# start NAME LEVEL CHOOSER: a mock; sets port and pid.
start() {
    "$ours" serve --postgres 127.0.0.1:0 --level "$2" --chooser "$3" 2>"$work/$1.log" &
    pid=$!
    servers+=("$pid")
    for _ in $(seq 50); do
        port=$(sed -n 's#^listening on postgres://127.0.0.1:\([0-9]*\).*#\1#p' "$work/$1.log")
        [ -n "$port" ] && return
        sleep 0.1
    done
    fail "the mock does not start: $(cat "$work/$1.log")"
}

database() { psql -q -h "$1" -p "$2" -U postgres -d postgres -c "DROP DATABASE IF EXISTS $3" -c "CREATE DATABASE $3" 2>/dev/null; }
prepare() { database "$1" "$2" seriatim_bench && pgbench -q -h "$1" -p "$2" -U postgres -i -s 1 seriatim_bench >/dev/null 2>&1; }
# tps HOST PORT ARGUMENTS…
tps() { pgbench -n -h "$1" -p "$2" -U postgres -T "$seconds" "${@:3}" seriatim_bench 2>/dev/null | awk '/^tps/ { printf "%.0f\n", $3 }'; }
# median HOST PORT MODE: of a point SELECT, microseconds.
median() {
    pgbench -n -h "$1" -p "$2" -U postgres -S -M "$3" -T "$seconds" --log --log-prefix="$work/log" seriatim_bench >/dev/null 2>&1
    cat "$work"/log.* | awk '{ print $3 }' | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
    rm -f "$work"/log.*
}
memory() { awk '/VmRSS/ { printf "%d", $2 / 1024 }' "/proc/$1/status"; }

start ser ser latest; ser_port=$port ser_pid=$pid
start cc cc random; cc_port=$port cc_pid=$pid
prepare "$real_host" "$real_port"; prepare 127.0.0.1 "$ser_port"; prepare 127.0.0.1 "$cc_port"

printf '| pgbench | clients | real, tps | SER/latest, tps | of real | CC/random, tps | of real |\n|---|---|---|---|---|---|---|\n'
for mode in simple extended prepared; do
    for clients in 1 16; do
        real=$(tps "$real_host" "$real_port" -M "$mode" -c "$clients")
        ser=$(tps 127.0.0.1 "$ser_port" -M "$mode" -c "$clients")
        cc=$(tps 127.0.0.1 "$cc_port" -M "$mode" -c "$clients")
        printf '| TPC-B, %s | %s | %s | %s | %s | %s | %s |\n' "$mode" "$clients" "$real" "$ser" "$(ratio "$ser" "$real")" "$cc" "$(ratio "$cc" "$real")"
    done
done
printf '\n| median of a point SELECT, one client | real, µs | SER/latest, µs | CC/random, µs |\n|---|---|---|---|\n'
for mode in simple extended prepared; do
    printf '| %s | %s | %s | %s |\n' "$mode" "$(median "$real_host" "$real_port" "$mode")" "$(median 127.0.0.1 "$ser_port" "$mode")" \
        "$(median 127.0.0.1 "$cc_port" "$mode")"
done
printf '\nMemory of the mock afterwards: SER/latest %s MB, CC/random %s MB.\n' "$(memory "$ser_pid")" "$(memory "$cc_pid")"

[ -x "$python" ] || { echo "no load of TPC-C: $python is missing (suites/sqlalchemy.sh makes it)"; exit 0; }
database "$real_host" "$real_port" seriatim_bench
printf '\n| load of TPC-C, one warehouse | real, s | mock, s | mock, MB |\n|---|---|---|---|\n'
for how in copy insert; do
    start "tpcc-$how" ser latest
    load() { "$python" bench/tpcc_load.py "postgresql://postgres@$1:$2/$3" "$how" | sed -n 's/^.*: \([0-9.]*\) s in all/\1/p'; }
    real=$(load "$real_host" "$real_port" seriatim_bench)
    mock=$(load 127.0.0.1 "$port" postgres)
    printf '| %s | %s | %s | %s |\n' "$how" "$real" "$mock" "$(memory "$pid")"
done
psql -q -h "$real_host" -p "$real_port" -U postgres -d postgres -c 'DROP DATABASE seriatim_bench'
