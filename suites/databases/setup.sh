#!/bin/sh
# The servers that ci.sh starts, installed at once as Debian packages, and DuckDB's library. Ends
# with status 3, and says what is missing, where that is not allowed.
set -eu
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/servers.sh"

missing=""
has python3 || missing="$missing python3"
has setpriv || missing="$missing util-linux"
[ -n "$pgbin" ] && [ -x "$pgbin/postgres" ] || missing="$missing postgresql"
[ -n "$mariadbd" ] && has mariadb-install-db || missing="$missing mariadb-server"
[ -f "$galera" ] || missing="$missing galera-4"
has ip && has tc || missing="$missing iproute2"
has rsync || missing="$missing rsync"
has redis-server || missing="$missing redis-server"
has npm || missing="$missing nodejs npm"
# shellcheck disable=SC2086 # packages are words
[ -z "$missing" ] || install $missing

# npm's bindings are the smallest package that has the library of DuckDB.
here=$(cd "$(dirname "$0")" && pwd)
if ! cmp -s "$here/package.json" "$cache/duckdb/installed.json"; then
    say "installing DuckDB's library into $cache/duckdb"
    rm -rf "$cache/duckdb" && mkdir -p "$cache/duckdb"
    cp "$here/package.json" "$cache/duckdb/package.json"
    npm install --silent --no-audit --no-fund --prefix "$cache/duckdb" >&2 ||
        cannot "cannot install the packages of $here/package.json"
    cp "$here/package.json" "$cache/duckdb/installed.json"
fi
say "the databases are there"
