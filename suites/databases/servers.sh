# Servers of real databases, for tests: each on free loopback ports, in one temporary folder, ended
# whatever happens. Sourced after ../lib.sh, never run.

# The folder of everything that is started here; $work/pids has the processes.
namespace=""
begin_servers() {
    work=$(mktemp -d)
    chmod 755 "$work"
    : > "$work/pids"
    trap end_servers EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

end_servers() {
    status=$?
    trap - EXIT
    # shellcheck disable=SC2046 # processes are words
    kill -CONT $(cat "$work/pids") 2>/dev/null || true
    # Nothing of what they hold is needed: PostgreSQL ends at once so, the others are asked to.
    # shellcheck disable=SC2046
    kill -QUIT $(cat "$work/pids") 2>/dev/null || true
    for _ in $(seq 20); do
        alive=""
        while read -r pid; do if kill -0 "$pid" 2>/dev/null; then alive="$alive $pid"; fi; done \
            < "$work/pids"
        if [ -z "$alive" ]; then break; fi
        sleep 0.1
    done
    # shellcheck disable=SC2086
    [ -z "$alive" ] || kill -KILL $alive 2>/dev/null || true
    [ -z "$namespace" ] || ip netns del "$namespace" 2>/dev/null || true
    rm -rf "$work"
    exit "$status"
}

# N ports that nothing uses, below those that outgoing connections get.
free_ports() {
    python3 - "$1" <<'PYTHON'
import random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    one = socket.socket()
    try:
        one.bind(("127.0.0.1", random.randrange(20000, 32000)))
        held.append(one)
    except OSError:
        one.close()
print(*(one.getsockname()[1] for one in held))
PYTHON
}

# Servers refuse to run as root.
as() {
    user=$1 && shift
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid="$user" --regid="$user" --init-groups "$@"
    else
        "$@"
    fi
}

# What stands before the command of a server, for those who start it themselves.
as_words() {
    if [ "$(id -u)" -eq 0 ]; then
        echo "setpriv --reuid=$1 --regid=$1 --init-groups"
    fi
}

folder_of() {
    mkdir -p "$2"
    chmod 700 "$2"
    if [ "$(id -u)" -eq 0 ]; then chown "$1" "$2"; fi
}

# Starts a server in the background: user, name of its log, command.
launch() {
    who=$1 log="$work/$2.log" && shift 2
    # `exec`, so that the process that is remembered is the server itself.
    # shellcheck disable=SC2046 # no words at all if this is not root
    ( exec $(as_words "$who") "$@" ) > "$log" 2>&1 < /dev/null &
    echo $! >> "$work/pids"
}

# Waits for a command to succeed: seconds, name of the log to show if it does not, command.
await() {
    left=$(($1 * 10)) log="$work/$2.log" && shift 2
    until "$@" > /dev/null 2>&1; do
        left=$((left - 1))
        if [ "$left" -le 0 ]; then
            tail -n 20 "$log" >&2
            fail "not ready: $*"
        fi
        sleep 0.1
    done
}

pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)

# A folder for PostgreSQL.
make_postgres() {
    folder_of postgres "$1"
    as postgres "$pgbin/initdb" -D "$1" -U postgres -A trust --no-sync -E UTF8 --locale=C \
        > "$1.init.log" 2>&1 || { cat "$1.init.log" >&2; fail "initdb has failed"; }
    cat >> "$1/postgresql.conf" <<END
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
wal_level = replica
deadlock_timeout = 50ms
fsync = off
END
}

is_postgres_ready() { "$pgbin/pg_isready" -h 127.0.0.1 -p "$1" -U postgres; }

start_postgres() {
    launch postgres "$1" "$pgbin/postgres" -D "$work/$1" -p "$2"
    await 30 "$1" is_postgres_ready "$2"
}

# A network namespace of its own, whose other end has the address before its own; none where that
# is not allowed. It goes with its devices when the servers end.
make_namespace() {
    away=198.18.$(($$ / 60 % 256)).$(($$ % 60 * 4 + 2))
    here=${away%.*}.$((${away##*.} - 1))
    namespace=seriatim-$$
    { ip netns add "$namespace" && ip link add "st$$" type veth peer name away netns "$namespace" &&
        ip addr add "$here/30" dev "st$$" && ip link set "st$$" up &&
        ip -n "$namespace" addr add "$away/30" dev away && ip -n "$namespace" link set away up &&
        ip -n "$namespace" link set lo up; } > "$work/namespace.log" 2>&1 || {
        ip netns del "$namespace" 2>/dev/null || true
        [ -z "${CI:-}" ] || { cat "$work/namespace.log" >&2; fail "no network namespaces"; }
        say "left out: there are no network namespaces here"
        namespace=""
    }
}

# In the namespace, if there is one: name, port.
start_postgres_away() {
    [ -n "$namespace" ] || return 0
    echo "listen_addresses = '$away'" >> "$work/$1/postgresql.conf"
    echo "host all all $here/32 trust" >> "$work/$1/pg_hba.conf"
    launch root "$1" ip netns exec "$namespace" $(as_words postgres) "$pgbin/postgres" \
        -D "$work/$1" -p "$2"
    await 30 "$1" "$pgbin/pg_isready" -h "$away" -p "$2" -U postgres
}

# A hot standby of a primary, which is behind a little.
start_standby() {
    folder_of postgres "$work/$1"
    as postgres "$pgbin/pg_basebackup" -h 127.0.0.1 -p "$3" -U postgres -D "$work/$1" -R \
        -X stream -c fast --no-sync || fail "pg_basebackup has failed"
    launch postgres "$1" "$pgbin/postgres" -D "$work/$1" -p "$2" \
        -c recovery_min_apply_delay=30ms -c hot_standby=on
    await 30 "$1" is_postgres_ready "$2"
}

# A folder for MariaDB, with a user test whose password is test, and one who may only look.
make_mariadb() {
    folder_of mysql "$1"
    as mysql mariadb-install-db --no-defaults --datadir="$1" --skip-test-db \
        --auth-root-authentication-method=normal > "$1.init.log" 2>&1 ||
        { tail -n 20 "$1.init.log" >&2; fail "mariadb-install-db has failed"; }
    cat > "$1/init.sql" <<END
CREATE DATABASE IF NOT EXISTS test;
CREATE USER IF NOT EXISTS test@'%' IDENTIFIED BY 'test';
GRANT ALL PRIVILEGES ON *.* TO test@'%' WITH GRANT OPTION;
CREATE USER IF NOT EXISTS weak@'%' IDENTIFIED BY 'secret';
GRANT SELECT ON test.* TO weak@'%';
END
    if [ "$(id -u)" -eq 0 ]; then chown mysql "$1/init.sql"; fi
}

mariadbd=$(PATH="$PATH:/usr/sbin" command -v mariadbd || true)

# The command of a MariaDB in a folder on a port.
mariadb_words() {
    echo "$mariadbd --no-defaults --datadir=$1 --port=$2 --bind-address=127.0.0.1" \
        "--socket=$1/socket --pid-file=$1/pid --skip-name-resolve --max-connections=200" \
        "--innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2" \
        "--innodb-lock-wait-timeout=5"
}

is_mariadb_ready() {
    mariadb --no-defaults -h 127.0.0.1 -P "$1" -utest -ptest -e 'SELECT 1'
}

# Name, port, further options.
start_mariadb() {
    name=$1 port=$2 && shift 2
    # shellcheck disable=SC2046 # the command is words
    launch mysql "$name" $(mariadb_words "$work/$name" "$port") \
        --init-file="$work/$name/init.sql" "$@"
    await 60 "$name" is_mariadb_ready "$port"
}

galera=/usr/lib/galera/libgalera_smm.so

is_galera_synced() {
    state=$(mariadb --no-defaults -h 127.0.0.1 -P "$1" -utest -ptest -NBe \
        "SHOW STATUS LIKE 'wsrep_local_state_comment'" | cut -f 2)
    [ "$state" = Synced ]
}

# A node of a cluster: its number, its four ports (SQL, group, IST, SST), the group's ports.
start_galera() {
    node=galera$1 sql=$2 group=$3 ist=$4 sst=$5 peers=$6 && shift 6
    # shellcheck disable=SC2046
    launch mysql "$node" $(mariadb_words "$work/$node" "$sql") --binlog-format=ROW \
        --innodb-autoinc-lock-mode=2 --init-file="$work/$node/init.sql" --wsrep-on=ON \
        --wsrep-provider="$galera" --wsrep-cluster-name=seriatim-test \
        --wsrep-cluster-address="gcomm://$peers" --wsrep-node-name="$node" \
        --wsrep-node-address=127.0.0.1 --wsrep-node-incoming-address="127.0.0.1:$sql" \
        --wsrep-sst-method=rsync --wsrep-sst-receive-address="127.0.0.1:$sst" \
        --wsrep-slave-threads=2 --wsrep-provider-options="gmcast.listen_addr=tcp://127.0.0.1:$group;ist.recv_addr=127.0.0.1:$ist;gcache.size=32M;evs.suspect_timeout=PT20S;evs.inactive_timeout=PT40S" \
        "$@"
    await 90 "$node" is_galera_synced "$sql"
}

is_redis_ready() { redis-cli -p "$1" PING | grep -q PONG; }
follows() { redis-cli -p "$1" INFO replication | grep -q master_link_status:up; }

# Name, port, further options.
start_redis() {
    name=$1 port=$2 && shift 2
    mkdir -p "$work/$name"
    if [ "$(id -u)" -eq 0 ]; then chown redis "$work/$name"; fi
    launch redis "$name" redis-server --bind 127.0.0.1 --port "$port" --dir "$work/$name" \
        --save '' --appendonly no --daemonize no "$@"
    await 20 "$name" is_redis_ready "$port"
}
