#!/bin/sh
# Makes the lists in expected/: the names of the tests that pass on a real PostgreSQL server, of
# the part that ci.sh runs.
#
#     suites/expected.sh postgresql://postgres@127.0.0.1:5432/postgres
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -eq 1 ] || fail "usage: suites/expected.sh URL"
. "$suites/part.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
RESULTS="$work/sqlalchemy.tsv" "$suites/sqlalchemy.sh" "$1" -k "$sqlalchemy_part"
# shellcheck disable=SC2086 # labels are words
RESULTS="$work/django.tsv" "$suites/django.sh" "$1" $django_part
for suite in sqlalchemy django; do
    sed -n 's/^passed\t\([^\t]*\).*/\1/p' "$work/$suite.tsv" | LC_ALL=C sort -u \
        > "$suites/expected/$suite.txt"
done
