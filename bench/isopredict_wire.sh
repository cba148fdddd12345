#!/usr/bin/env bash
# IsoPredict's Tables 4 and 5 over the wire: the SQL clients of examples/benchmarks are observed by
# `seriatim observe -- CMD` and led into what `seriatim predict` says by `seriatim replay -- CMD`,
# with locks, as every database has them, and without, as in the paper.
#
#   bench/isopredict_wire.sh [SIZE…]
#
# SIZE is small (4 transactions a session, the default) or large (8). SEEDS (default: 10000 20000 …
# 100000) are the runs, JOBS (2) says how many are done at once. SERIATIM names the program if it is
# built already, PYTHON a Python with psycopg 3 (default: that of suites/). RAW (default
# bench/isopredict-wire.tsv) keeps what was counted; runs that are in it are not done again.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=${PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites/venv/bin/python}
[ -x "$python" ] || fail "no Python with psycopg 3: suites/setup.sh installs it, or PYTHON names it"
if [ -z "${SERIATIM:-}" ]; then
    cargo build --release --quiet --locked
    SERIATIM="$CARGO_TARGET_DIR/release/seriatim"
fi
export SERIATIM PYTHONDONTWRITEBYTECODE=1
exec "$python" bench/isopredict_wire.py "${@:-small}"
