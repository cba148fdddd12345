# The command-line client: what it asks when it connects, tables, and the shape of its answers.
set -eu
client() {
    mariadb --protocol=tcp --host="$MYSQL_HOST" --port="$MYSQL_TCP_PORT" --user="$MYSQL_USER" "$@"
}
ask() { client --batch "$MYSQL_DATABASE" -e "$1"; }
ask "DROP TABLE IF EXISTS cli; CREATE TABLE cli (id INT PRIMARY KEY, name VARCHAR(20))"
ask "INSERT INTO cli VALUES (1, 'ann'), (2, NULL)"
expected=$(printf 'id\tname\n1\tann\n2\tNULL')
[ "$(ask 'SELECT * FROM cli ORDER BY id')" = "$expected" ]
[ "$(ask 'SELECT COUNT(*) FROM cli WHERE id > 1' | tail -1)" = 1 ]
ask 'SHOW TABLES' | grep -q '^cli$'
ask 'DESCRIBE cli' | grep -q '^id.*PRI'
ask 'SHOW CREATE TABLE cli' | grep -q 'PRIMARY KEY'
if ask 'SELECT * FROM nosuch' 2>/dev/null; then exit 1; fi
ask 'SELECT * FROM nosuch' 2>&1 | grep -q 'ERROR 1146 (42S02)'
printf 'status\nuse %s\nselect 1;\n' "$MYSQL_DATABASE" |
    client "$MYSQL_DATABASE" >/dev/null
echo "mariadb: ok"
