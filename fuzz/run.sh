#!/bin/sh
# Runs every fuzz target for SECONDS (60 by default), JOBS at a time (2 by default), and fails on a crash.
# Usage: fuzz/run.sh [SECONDS] [TARGET…]
# Leaks are not looked for: what a thread that is ending still holds is taken for one.
# cargo-fuzz needs unstable compiler flags: without a nightly toolchain, RUSTC_BOOTSTRAP=1 lets the stable one take them.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 0 ] && shift
jobs=${JOBS:-2}
targets=${*:-$(cargo fuzz list)}
export RUSTC_BOOTSTRAP=1
sh ./seed.sh
cargo fuzz build
logs=$(mktemp -d)
status=0
printf '%s\n' $targets | xargs -P "$jobs" -I{} sh -c '
  cargo fuzz run {} -- -detect_leaks=0 -max_total_time='"$seconds"' -timeout=10 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    > "'"$logs"'/{}.log" 2>&1 && echo "ok    {} $(grep -o "stat::number_of_executed_units: *[0-9]*" "'"$logs"'/{}.log" | grep -o "[0-9]*$") runs" \
    || { echo "CRASH {}: see '"$logs"'/{}.log"; exit 1; }' || status=1
exit $status
