#!/bin/sh
# The examples, tried by `seriatim fuzz` as their pages say: each is found wanting within 20 runs, by
# the statement that a person would name, and nothing is found where it is guarded. Needs what
# suites/setup.sh installs.
#
#     SERIATIM=path/to/seriatim examples/ci.sh
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites"
PATH="$cache/venv/bin:$PATH" NODE_PATH="$cache/node/node_modules" PYTHONDONTWRITEBYTECODE=1
export PATH NODE_PATH PYTHONDONTWRITEBYTECODE
fail() { printf 'examples/ci.sh: %s\n' "$*" >&2; exit 1; }
[ -x "${SERIATIM:-}" ] || fail "SERIATIM must name the program seriatim"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

shop='python3 manage.py migrate -v 0 && python3 fill.py'
tickets='psql -qv ON_ERROR_STOP=1 -f tables.sql'

# finds FOLDER SETUP WORDS [FLAG… --] COMMAND…: a failure within 20 runs, whose report has these
# words.
finds() {
    folder=$1 setup=$2 words=$3
    shift 3
    cd "$examples/$folder"
    status=0
    case "$*" in *" -- "*) ;; *) set -- -- "$@" ;; esac
    "$SERIATIM" fuzz --runs 20 --setup "$setup" "$@" > "$work/report" 2>&1 || status=$?
    [ "$status" -eq 1 ] || { cat "$work/report"; fail "$folder: $*: exit code $status, not 1"; }
    tr '\n' ' ' < "$work/report" | tr -s ' ' | grep -qF "$words" ||
        { cat "$work/report"; fail "$folder: $*: the report does not say: $words"; }
}

# passes FOLDER SETUP [FLAG… --] COMMAND…: nothing is found in a few runs.
passes() {
    folder=$1 setup=$2
    shift 2
    cd "$examples/$folder"
    case "$*" in *" -- "*) ;; *) set -- -- "$@" ;; esac
    "$SERIATIM" fuzz --runs "${RUNS:-10}" --setup "$setup" "$@" > "$work/report" 2>&1 ||
        { cat "$work/report"; fail "$folder: $*: something was found, or it did not run"; }
}

finds shop "$shop" 'helps: FOR UPDATE on SELECT "shop_item"' python3 two_customers.py
finds shop "$shop" 'helps: FOR UPDATE on SELECT "shop_voucher"' python3 two_customers.py voucher
finds tickets "$tickets" 'SELECT count(*) FROM ticket WHERE show = $1' node --test
finds visits 'python3 setup.py' 'FOR UPDATE on SELECT visits FROM page' \
    --clients 2 --check 'python3 check.py' -- python3 count.py
finds benchmarks 'python3 run.py voter setup' 'SELECT * FROM votes WHERE phone_number = $1' \
    python3 run.py voter run --transactions 1
# What others wrote: its set-up takes long, and so does each run, so that little of it is tried.
(
    PATH="$cache/oscar/bin:$PATH"
    finds oscar 'python3 manage.py migrate -v 0 && python3 fill.py' '"partner_stockrecord"' \
        --timeout 10m --budget 20s -- python3 two_customers.py last_item
)
for guard in lock atomic serializable; do
    export SHOP_GUARD=$guard
    passes shop "$shop" python3 two_customers.py
    passes shop "$shop" python3 two_customers.py voucher
done
for guard in lock atomic serializable; do
    export TICKETS_GUARD=$guard
    passes tickets "$tickets" node --test
done
for guard in lock atomic; do
    export VISITS_GUARD=$guard
    passes visits 'python3 setup.py' --clients 2 --check 'python3 check.py' -- python3 count.py
done
printf '== examples: 6 failures found and blamed, 11 guarded variants held\n' >&2
