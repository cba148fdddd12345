#!/usr/bin/env bash
# MonkeyDB's Figures 14 and 15 over the wire: SmallBank, Voter, TPC-C and Wikipedia as SQL clients
# (examples/benchmarks), and how many runs break which assertion.
#
#   bench/monkeydb_wire.sh [POSTGRES_URL]
#
# POSTGRES_URL is a real server for comparison, like postgresql://postgres@127.0.0.1:5432, on which
# databases called seriatim_… are made and dropped. RUNS (default 100) is the number of runs of each
# kind, JOBS (2) how many are done at once. SERIATIM names the program if it is built already,
# PYTHON a Python with psycopg 3 (default: that of suites/). RAW (default bench/monkeydb-wire.tsv)
# keeps what was counted; kinds of runs that are in it already are not done again. Prints tables,
# and draws bench/monkeydb-wire.svg.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=${PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites/venv/bin/python}
[ -x "$python" ] || fail "no Python with psycopg 3: suites/setup.sh installs it, or PYTHON names it"
if [ -z "${SERIATIM:-}" ]; then
    cargo build --release --quiet --locked
    SERIATIM="$CARGO_TARGET_DIR/release/seriatim"
fi
export SERIATIM PYTHONDONTWRITEBYTECODE=1
exec "$python" bench/monkeydb_wire.py "${1:-}"
