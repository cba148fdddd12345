"""PyMySQL: types in and out, transactions, errors, prepared text, several results."""
import datetime
import decimal
import os

import pymysql
from pymysql.constants import CLIENT


def connect(**more):
    return pymysql.connect(
        host=os.environ["MYSQL_HOST"], port=int(os.environ["MYSQL_TCP_PORT"]),
        user=os.environ.get("MYSQL_USER", "root"), password=os.environ.get("MYSQL_PWD", ""),
        database=os.environ["MYSQL_DATABASE"], **more,
    )


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


connection = connect(autocommit=False)
cursor = connection.cursor()
cursor.execute("DROP TABLE IF EXISTS item")
cursor.execute(
    "CREATE TABLE item (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE,"
    " price DECIMAL(10,2), made DATETIME(6), day DATE, data BLOB, is_on TINYINT(1) DEFAULT 0,"
    " size DOUBLE) ENGINE=InnoDB"
)
at = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)
row = ("naïve 'quote' \\ \"x\"", decimal.Decimal("12.50"), at, at.date(), b"\x00\xff'\\bytes", True, 1.5)
cursor.execute(
    "INSERT INTO item (name, price, made, day, data, is_on, size) VALUES (%s,%s,%s,%s,%s,%s,%s)", row
)
equal(cursor.lastrowid, 1)
equal(cursor.rowcount, 1)
cursor.execute("SELECT name, price, made, day, data, is_on, size FROM item WHERE id = %s", (1,))
equal(cursor.fetchone(), row[:5] + (1, 1.5))
equal([column[0] for column in cursor.description][:2], ["name", "price"])
connection.rollback()
cursor.execute("SELECT COUNT(*) FROM item")
equal(cursor.fetchone(), (0,))
cursor.executemany("INSERT INTO item (name) VALUES (%s)", [("a",), ("b",), ("c",)])
equal(cursor.rowcount, 3)
connection.commit()
try:
    cursor.execute("INSERT INTO item (name) VALUES ('a')")
    raise AssertionError("a duplicate was let in")
except pymysql.err.IntegrityError as error:
    equal(error.args, (1062, "Duplicate entry 'a' for key 'name'"))
# The transaction goes on after an error.
cursor.execute("UPDATE item SET price = 1 WHERE name IN ('a', 'b')")
equal(cursor.rowcount, 2)
connection.commit()
for statement, number in [
    ("SELECT * FROM nosuch", 1146), ("SELECT nosuch FROM item", 1054), ("SELEC 1", 1064),
    ("INSERT INTO item (name) VALUES (NULL)", 1048),
]:
    try:
        cursor.execute(statement)
        raise AssertionError(f"{statement} was let in")
    except pymysql.MySQLError as error:
        equal(error.args[0], number)
connection.ping()
connection.select_db(os.environ["MYSQL_DATABASE"])
several = connect(client_flag=CLIENT.MULTI_STATEMENTS).cursor()
several.execute("SELECT 1; SELECT 2, 'x'")
equal(several.fetchall(), ((1,),))
several.nextset()
equal(several.fetchall(), ((2, "x"),))
named = connect(cursorclass=pymysql.cursors.DictCursor).cursor()
named.execute("SELECT id AS Id, COUNT(*) OVER () AS n FROM item ORDER BY id LIMIT 1")
equal(set(named.fetchone()), {"Id", "n"})
# Two sessions: the second waits for the first.
other = connect(autocommit=False)
second = other.cursor()
second.execute("SET innodb_lock_wait_timeout = 1")
cursor.execute("SELECT id FROM item WHERE name = 'a' FOR UPDATE")
try:
    second.execute("UPDATE item SET price = 2 WHERE name = 'a'")
    raise AssertionError("a locked row was changed")
except pymysql.err.OperationalError as error:
    equal(error.args[0], 1205)
connection.commit()
print("pymysql: ok")
