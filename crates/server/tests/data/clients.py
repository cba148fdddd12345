#!/usr/bin/env python3
"""Asks a real PostgreSQL what it answers to the statements that real clients send.

Usage: clients.py URL STATEMENTS.json > clients.json, where STATEMENTS.json is a list of texts. They
are prepared, described and executed one after the other in a database that is made for that, with
parameters of the types that the server infers. This is done twice: what differs is left out, as is
what is about the server. Needs psycopg.
"""
import json
import sys

from psycopg import pq

# What the clients had done before.
BEFORE = {
    'INSERT INTO sa_user (name, bal) SELECT p0::VARCHAR, p1::NUMERIC(10, 2) FROM (VALUES (\'ann\'': [
        "CREATE TABLE sa_user (id serial PRIMARY KEY, name varchar(50) NOT NULL UNIQUE,"
        " bal numeric(10, 2) NOT NULL, created timestamp DEFAULT now())",
        "CREATE TABLE sa_post (id serial PRIMARY KEY, uid int NOT NULL REFERENCES sa_user (id),"
        " title text NOT NULL)",
    ],
    'SAVEPOINT "s': ["BEGIN"],
    'SELECT COUNT(*) AS "__count" FROM "app_author"': ["COMMIT"],
}
# What is about the server and not about the statements.
OWN = ["pg_catalog.pg_database", "version()", "pg_table_size("]
NUMBERS = {20, 21, 23}
TEXTS = {19, 25, 1043}
OTHERS = {
    16: "t", 18: "r", 26: "1259", 2205: "1259", 1082: "2024-01-01", 1114: "2024-01-01",
    1184: "2024-01-01", 701: "1.5", 1700: "1.5", 3802: "{}", 1009: "{1}", 1015: "{1}",
}


def parameter(sql, ty, place):
    if "to_regtype($1)" in sql:
        return "int4"
    if ty in NUMBERS:
        return "1"
    return str(place + 1) if ty in TEXTS else OTHERS[ty]


def text(value):
    return None if value is None else value.decode()


def ask(connection, sql):
    entry = {"sql": sql}
    made = connection.prepare(b"", sql.encode())
    if made.status != pq.ExecStatus.FATAL_ERROR:
        described = connection.describe_prepared(b"")
        types = [described.param_type(n) for n in range(described.nparams)]
        entry["types"] = types
        entry["parameters"] = [parameter(sql, ty, place) for place, ty in enumerate(types)]
        made = connection.exec_prepared(b"", [value.encode() for value in entry["parameters"]])
    elif b"multiple commands" in made.error_message:
        made = connection.exec_(sql.encode())
    if made.status == pq.ExecStatus.FATAL_ERROR:
        entry["error"] = text(made.error_field(pq.DiagnosticField.SQLSTATE))
        return entry
    columns = range(made.nfields)
    entry["columns"] = [[text(made.fname(n)), made.ftype(n)] for n in columns]
    rows = [[text(made.get_value(row, n)) for n in columns] for row in range(made.ntuples)]
    entry["rows"] = sorted(rows, key=lambda row: [(value is None, value or "") for value in row])
    entry["tag"] = text(made.command_status)
    return entry


def all_statements(statements):
    for sql in statements:
        found = [more for start, more in BEFORE.items() if sql.startswith(start)]
        yield from [more for several in found for more in several] + [sql]


def run(url, statements):
    admin = pq.PGconn.connect(url.encode())
    admin.exec_(b"DROP DATABASE IF EXISTS clients")
    admin.exec_(b"CREATE DATABASE clients TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    connection = pq.PGconn.connect(f"{url.rsplit('/', 1)[0]}/clients".encode())
    entries = [ask(connection, sql) for sql in all_statements(statements)]
    connection.finish()
    admin.exec_(b"DROP DATABASE clients")
    return entries


def main():
    statements = json.load(open(sys.argv[2]))
    first, second = (run(sys.argv[1], statements) for _ in range(2))
    for one, other in zip(first, second):
        is_own = any(word in one["sql"] for word in OWN)
        if "rows" in one and (is_own or one["rows"] != other["rows"]):
            del one["rows"]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in first)
    print(f"[\n{lines}\n]")


if __name__ == "__main__":
    main()
