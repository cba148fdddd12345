#!/bin/sh
# Django's own tests for its PostgreSQL backend, against any PostgreSQL server:
#
#     suites/django.sh postgresql://postgres@127.0.0.1:5432/postgres [labels]
#
# A label is a folder of Django's tests, or a module, class or test in it. A line for each test
# (outcome, name, first line of the error) goes to the file $RESULTS, django.tsv if that is not
# set. The URL's user must be allowed to create databases.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || fail "usage: suites/django.sh URL [labels]"
DATABASE_URL=$1
shift
[ $# -ge 1 ] || set -- basic bulk_create aggregation aggregation_regress annotations expressions \
    queries lookup ordering select_related prefetch_related select_for_update transactions update \
    delete get_or_create many_to_many many_to_one constraints indexes migrations schema \
    introspection backends model_fields custom_lookups db_functions

RESULTS=$(realpath -m "${RESULTS:-django.tsv}")
export RESULTS DATABASE_URL
need_source django Django
cd "$source/tests"
PYTHONPATH="$suites/django:$suites" "$python" runtests.py --settings settings --noinput \
    --parallel 1 "$@" || [ $? -eq 1 ]
say "results are in $RESULTS"
