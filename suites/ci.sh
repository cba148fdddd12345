#!/bin/sh
# The part of the suites that belongs to every change, within five minutes on two cores: real
# clients, and of SQLAlchemy's and Django's tests those that say the most. Needs no PostgreSQL
# server: expected/ has the names of the tests that pass on one.
#
#     SERIATIM=path/to/seriatim suites/ci.sh
#     suites/ci.sh --count                       how many tests these are
set -eu
. "$(dirname "$0")/lib.sh"
# The clients, each without TLS and with it, and the tests of the suites.
if [ "${1:-}" = --count ]; then
    cat "$suites"/expected/*.txt | wc -l | { read -r tests; echo $((tests + 14)); }
    exit
fi
[ -x "${SERIATIM:-}" ] || fail "SERIATIM must name the program seriatim"

# What of the suites, as patterns of names in expected/ too (expected.sh makes these lists).
. "$suites/part.sh"

work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

# A certificate for this machine that clients can verify.
need_packages openssl
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout "$work/key.pem" -out "$work/cert.pem" \
    -subj /CN=localhost -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null ||
    fail "openssl cannot make a certificate"

# Starts the mock on a free port, which it says when it is ready.
start() {
    : > "$work/server.log"
    "$SERIATIM" serve --postgres 127.0.0.1:0 --level ser --chooser latest \
        --tls-cert "$work/cert.pem" --tls-key "$work/key.pem" 2> "$work/server.log" &
    server=$!
    for _ in $(seq 100); do
        port=$(sed -n 's#^listening on postgres://127.0.0.1:\([0-9]*\).*#\1#p' "$work/server.log")
        if [ -n "$port" ]; then return; fi
        sleep 0.1
    done
    cat "$work/server.log" >&2
    fail "the server does not start"
}

failed=""
check() { "$@" || failed="$failed
  $*"; }

begun=$(date +%s)
said() { say "$1 ($(($(date +%s) - begun)) s since the beginning)"; }
need_python
start
url=postgresql://postgres@127.0.0.1:$port/postgres

PGSSLROOTCERT="$work/cert.pem" check "$suites/clients.sh" 127.0.0.1 "$port"
said "clients done"

say "SQLAlchemy: $(wc -l < "$suites/expected/sqlalchemy.txt") tests"
RESULTS="$work/sqlalchemy.tsv" "$suites/sqlalchemy.sh" "$url" -k "$sqlalchemy_part" \
    > "$work/sqlalchemy.log" 2>&1 || { tail -n 30 "$work/sqlalchemy.log" >&2; }
check "$python" "$suites/compare.py" --at-least 99 "$suites/expected/sqlalchemy.txt" \
    "$work/sqlalchemy.tsv"
said "SQLAlchemy done"

say "Django: $(wc -l < "$suites/expected/django.txt") tests"
# shellcheck disable=SC2086 # labels are words
RESULTS="$work/django.tsv" "$suites/django.sh" "$url" $django_part > "$work/django.log" 2>&1 ||
    { tail -n 30 "$work/django.log" >&2; }
check "$python" "$suites/compare.py" --at-least 98 "$suites/expected/django.txt" "$work/django.tsv"
said "Django done"

kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; failed="$failed
  the server did not survive"; }
[ -z "$failed" ] || { say "failed:$failed"; exit 1; }
