"""psycopg 3: parameters, prepared statements, both formats, COPY, pipelines, cursors on the
server, errors, savepoints, notices, cancelling, and many types there and back."""

import datetime as dt
import ipaddress
import os
import threading
import time
import uuid
from decimal import Decimal

import psycopg
from psycopg import errors
from psycopg.rows import dict_row
from psycopg.types.json import Json, Jsonb

UTC = dt.timezone.utc


def equal(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def raises(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def encryption(conn):
    wanted = os.environ["PGSSLMODE"] != "disable"
    equal(conn.pgconn.ssl_in_use, wanted)


VALUES = [
    ("boolean", True),
    ("smallint", -32768),
    ("integer", 2**31 - 1),
    ("bigint", -(2**63)),
    ("numeric", Decimal("12345678901234567890.123450")),
    ("numeric", Decimal("NaN")),
    ("real", 0.5),
    ("double precision", 1e300),
    ("text", "grüße, 世界 \\ ' \" \n"),
    ("varchar(10)", "abc"),
    ("bytea", bytes(range(256))),
    ("date", dt.date(2024, 2, 29)),
    ("time", dt.time(23, 59, 59, 999999)),
    ("timestamp", dt.datetime(1999, 12, 31, 23, 59, 59, 1)),
    ("timestamptz", dt.datetime(2024, 7, 1, 12, 0, tzinfo=UTC)),
    ("interval", dt.timedelta(days=3, seconds=7, microseconds=5)),
    ("uuid", uuid.UUID("12345678-1234-5678-1234-567812345678")),
    ("json", {"a": [1, None, "x"], "b": {}}),
    ("jsonb", [1.5, True, {"k": "v"}]),
    ("integer[]", [1, None, 3]),
    ("text[]", ["a,b", 'quo"te', None, ""]),
    ("integer[]", [[1, 2], [3, 4]]),
    ("numeric[]", [Decimal("1.10"), Decimal("-2")]),
    ("uuid[]", [uuid.UUID(int=0)]),
    ("timestamptz[]", [dt.datetime(2000, 1, 1, tzinfo=UTC)]),
    ("inet", ipaddress.ip_interface("10.0.0.1/8")),
    ("integer", None),
]


def wrap(kind, value):
    if kind == "json":
        return Json(value)
    if kind == "jsonb":
        return Jsonb(value)
    return value


def types(conn):
    """Each value goes through a column, in text and in binary, in both directions."""
    for kind, value in VALUES:
        conn.execute(f"CREATE TABLE t (v {kind})")
        for mark in ("%s", "%t", "%b"):
            conn.execute("DELETE FROM t")
            conn.execute(f"INSERT INTO t VALUES ({mark})", [wrap(kind, value)])
            for binary in (False, True):
                (got,) = conn.execute("SELECT v FROM t", binary=binary).fetchone()
                same = got == value or (got != got and value != value)
                assert same, f"{kind} {mark} binary={binary}: {got!r} instead of {value!r}"
        conn.execute("DROP TABLE t")


def parameters(conn):
    """The server infers the types of parameters from where they stand."""
    equal(conn.execute("SELECT %s::int + 1, %s || 'b'", [41, "a"]).fetchone(), (42, "ab"))
    equal(conn.execute("SELECT 3 = ANY(%s)", [[1, 2, 3]]).fetchone(), (True,))
    equal(conn.execute("SELECT * FROM generate_series(%s::int, %s::int)", [1, 3]).fetchall(),
          [(1,), (2,), (3,)])
    row = conn.execute("SELECT 1 AS one, 'x'::varchar(7) AS x, 1.5::numeric(4, 2) AS n")
    description = [(c.name, c.type_code, c.display_size, c.precision, c.scale)
                   for c in row.description]
    equal(description, [("one", 23, None, None, None), ("x", 1043, 7, None, None),
                        ("n", 1700, None, 4, 2)])


def prepared(conn):
    """The same statement many times, prepared on the server, while its table changes."""
    conn.execute("CREATE TABLE p (id int PRIMARY KEY, name text)")
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO p VALUES (%s, %s)", [(i, f"n{i}") for i in range(50)])
        equal(cur.rowcount, 50)
    for i in range(12):
        got = conn.execute("SELECT name FROM p WHERE id = %s", [i], prepare=True).fetchone()
        equal(got, (f"n{i}",))
    count = conn.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0]
    assert count >= 1, "nothing is prepared"
    cur = conn.execute("UPDATE p SET name = upper(name) WHERE id < %s RETURNING id", [3])
    equal(sorted(cur.fetchall()), [(0,), (1,), (2,)])
    upsert = "INSERT INTO p VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name"
    equal(conn.execute(upsert, [1, "new"]).rowcount, 1)
    equal(conn.execute("SELECT name FROM p WHERE id = 1").fetchone(), ("new",))


def transactions(conn):
    """Errors, the failed transaction, and savepoints, by psycopg's own blocks."""
    conn.execute("CREATE TABLE a (id int PRIMARY KEY, n int CHECK (n > 0))")
    with conn.transaction():
        conn.execute("INSERT INTO a VALUES (1, 1)")
        error = raises(errors.CheckViolation, lambda: in_savepoint(conn, "INSERT INTO a VALUES (2, 0)"))
        equal((error.sqlstate, error.diag.constraint_name, error.diag.table_name), ("23514", "a_n_check", "a"))
        conn.execute("INSERT INTO a VALUES (3, 3)")
    equal(conn.execute("SELECT id FROM a ORDER BY id").fetchall(), [(1,), (3,)])

    error = raises(errors.UniqueViolation, lambda: conn.execute("INSERT INTO a VALUES (1, 1)"))
    equal(error.diag.message_detail, "Key (id)=(1) already exists.")
    raises(errors.UndefinedTable, lambda: conn.execute("SELECT * FROM nowhere"))
    error = raises(errors.UndefinedColumn, lambda: conn.execute("SELECT nothing FROM a"))
    equal(error.diag.statement_position, "8")

    conn.autocommit = False
    raises(errors.DivisionByZero, lambda: conn.execute("SELECT 1/0"))
    raises(errors.InFailedSqlTransaction, lambda: conn.execute("SELECT 1"))
    equal(conn.info.transaction_status.name, "INERROR")
    conn.rollback()
    conn.execute("DELETE FROM a")
    equal(conn.info.transaction_status.name, "INTRANS")
    conn.rollback()
    conn.autocommit = True
    equal(conn.execute("SELECT count(*) FROM a").fetchone(), (2,))


def in_savepoint(conn, statement):
    with conn.transaction():
        conn.execute(statement)


def copying(conn):
    """COPY in text, CSV and binary."""
    conn.execute("CREATE TABLE c (id int, name text, at timestamptz, tags text[])")
    at = dt.datetime(2024, 1, 2, 3, 4, 5, 600, tzinfo=UTC)
    rows = [(i, None if i % 7 == 0 else f"tab\t{i}\\n", at, ["x", str(i)]) for i in range(500)]
    for option in ("", "(FORMAT BINARY)"):
        conn.execute("DELETE FROM c")
        with conn.cursor().copy(f"COPY c FROM STDIN {option}") as copy:
            copy.set_types(["int4", "text", "timestamptz", "text[]"])
            for row in rows:
                copy.write_row(row)
        equal(conn.execute("SELECT * FROM c ORDER BY id").fetchall(), rows)
        with conn.cursor().copy(f"COPY (SELECT * FROM c ORDER BY id) TO STDOUT {option}") as copy:
            copy.set_types(["int4", "text", "timestamptz", "text[]"])
            equal(list(copy.rows()), rows)
    with conn.cursor().copy("COPY c (id, name) TO STDOUT (FORMAT CSV)") as copy:
        data = b"".join(bytes(block) for block in copy)
    equal(data.split(b"\n")[1], b"1,tab\t1\\n")

    def broken():
        with conn.cursor().copy("COPY c (id) FROM STDIN") as copy:
            copy.write("1\nx\n")

    error = raises(errors.InvalidTextRepresentation, broken)
    equal(error.diag.context, 'COPY c, line 2, column id: "x"')


def cursors(conn):
    """A cursor on the server, in pieces and backwards; a statement in pieces of rows."""
    with conn.transaction():
        with conn.cursor("named", scrollable=True) as cur:
            cur.execute("SELECT generate_series(1, 1000)")
            equal(cur.fetchone(), (1,))
            equal(len(cur.fetchmany(99)), 99)
            cur.scroll(-1)
            equal(cur.fetchone(), (100,))
            equal(sum(1 for _ in cur), 900)
    with conn.cursor(row_factory=dict_row) as cur:
        streamed = list(cur.stream("SELECT n, n * n AS square FROM generate_series(1, 20) AS n"))
    equal(streamed[-1], {"n": 20, "square": 400})


def pipeline(conn):
    """Many statements before the first answer; an error in the middle."""
    conn.execute("CREATE TABLE q (id int PRIMARY KEY)")
    with conn.pipeline():
        cursors = [conn.execute("INSERT INTO q VALUES (%s) RETURNING id", [i]) for i in range(20)]
    equal([cur.fetchone()[0] for cur in cursors], list(range(20)))

    def broken():
        with conn.pipeline(), conn.transaction():
            conn.execute("INSERT INTO q VALUES (20)")
            conn.execute("INSERT INTO q VALUES (1)")
            conn.execute("INSERT INTO q VALUES (21)")

    raises(errors.UniqueViolation, broken)
    equal(conn.execute("SELECT max(id) FROM q").fetchone(), (19,))


def notices(conn):
    seen = []
    conn.add_notice_handler(lambda diag: seen.append((diag.severity, diag.message_primary)))
    conn.execute("DROP TABLE IF EXISTS no_such_table")
    equal(seen, [("NOTICE", 'table "no_such_table" does not exist, skipping')])


def cancelling(conn):
    """Another thread cancels; a timeout cancels; the connection goes on."""
    threading.Timer(0.5, conn.cancel_safe).start()
    before = time.monotonic()
    raises(errors.QueryCanceled, lambda: conn.execute("SELECT pg_sleep(60)"))
    assert time.monotonic() - before < 20, "the cancel request came late"
    conn.execute("SET statement_timeout = 200")
    error = raises(errors.QueryCanceled, lambda: conn.execute("SELECT pg_sleep(60)"))
    equal(str(error).splitlines()[0], "canceling statement due to statement timeout")
    conn.execute("RESET statement_timeout")
    equal(conn.execute("SELECT 1").fetchone(), (1,))


def locks(conn):
    """Two sessions: a row lock is seen, and NOWAIT and SKIP LOCKED do not wait."""
    conn.execute("CREATE TABLE l (id int PRIMARY KEY)")
    conn.execute("INSERT INTO l VALUES (1), (2)")
    with psycopg.connect() as other:
        other.execute("SELECT * FROM l WHERE id = 1 FOR UPDATE")
        raises(errors.LockNotAvailable, lambda: conn.execute("SELECT * FROM l FOR UPDATE NOWAIT"))
        equal(conn.execute("SELECT id FROM l FOR UPDATE SKIP LOCKED").fetchall(), [(2,)])
        other.rollback()
    equal(conn.execute("SELECT pg_try_advisory_lock(7), pg_advisory_unlock(7)").fetchone(), (True, True))


def main():
    parts = [encryption, types, parameters, prepared, transactions, copying, cursors, pipeline,
             notices, cancelling, locks]
    for part in parts:
        with psycopg.connect(autocommit=True) as conn:
            part(conn)


main()
