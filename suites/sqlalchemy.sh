#!/bin/sh
# SQLAlchemy's own suite for dialects, on its psycopg dialect, against any PostgreSQL server:
#
#     suites/sqlalchemy.sh postgresql://postgres@127.0.0.1:5432/postgres [arguments of pytest]
#
# A line for each test (outcome, name, first line of the error) goes to the file $RESULTS,
# sqlalchemy.tsv if that is not set. The URL's user must be allowed to create databases.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || fail "usage: suites/sqlalchemy.sh URL [arguments of pytest]"
url=$1
shift

RESULTS=$(realpath -m "${RESULTS:-sqlalchemy.tsv}")
export RESULTS
need_source sqlalchemy SQLAlchemy
dburi=$("$python" "$suites/sqlalchemy/database.py" "$url")
cd "$source"
# Its options stop at 250 failures; the rest would count as not run.
PYTHONPATH="$suites/sqlalchemy:$suites" "$python" -m pytest -o addopts="" -p no:cacheprovider \
    -p record --tb short -q --maxfail 1000000 --dburi "$dburi" \
    test/dialect/test_suite.py "$@" || [ $? -eq 1 ]
say "results are in $RESULTS"
