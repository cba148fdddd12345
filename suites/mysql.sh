#!/bin/sh
# Real clients of MySQL do real work on a server:
#
#     suites/mysql.sh HOST PORT [clients]
#
# Each client is a program in mysql/ that ends with a status other than 0 if anything differs from
# what MariaDB does. Who connects is said by MYSQL_USER (root) and MYSQL_PWD, and where by
# MYSQL_DATABASE (test). The server is to compare texts by utf8mb4_bin, as the mock does.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -ge 2 ] || fail "usage: suites/mysql.sh HOST PORT [clients]"
MYSQL_HOST=$1 MYSQL_TCP_PORT=$2
shift 2
[ $# -ge 1 ] || set -- mariadb pymysql sqlalchemy django node
export MYSQL_HOST MYSQL_TCP_PORT MYSQL_USER="${MYSQL_USER:-root}" MYSQL_PWD="${MYSQL_PWD:-root}"
export MYSQL_DATABASE="${MYSQL_DATABASE:-test}"

limited() { timeout "${CLIENT_SECONDS:-120}" "$@"; }

run() {
    case $1 in
        mariadb)
            has mariadb || install mariadb-client
            limited sh "$suites/mysql/mariadb.sh" ;;
        pymysql | sqlalchemy | django)
            need_python
            limited "$python" "$suites/mysql/${1}_client.py" ;;
        node)
            need_node
            NODE_PATH="$cache/node/node_modules" limited node "$suites/mysql/node_client.js" ;;
        *) fail "no client is called $1" ;;
    esac
}

failed=""
for client in "$@"; do
    if run "$client"; then say "$client: ok"; else failed="$failed $client"; fi
done
[ -z "$failed" ] || { say "failed:$failed"; exit 1; }
