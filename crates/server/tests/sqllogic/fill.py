#!/usr/bin/env python3
"""Writes what a real PostgreSQL answers into the files of this folder.

To add a test, write its statement as a paragraph of its own, without `statement` or `query` before
it; several may follow each other, each ending in a semicolon at the end of a line. Statements that
are records already are asked again. `skipif`, `onlyif` and `connection` stay as they are.

Usage: fill.py URL FILE... where URL is that of a server for tests, in which a database is made for
each file. Needs psycopg.
"""
import re
import sys

from psycopg import pq

TYPES = {
    "B": [16],
    "S": [21],
    "I": [23],
    "L": [20],
    "N": [1700],
    "F": [700, 701],
    "T": [25, 1043, 1042, 19, 18, 705],
    "D": [1082, 1083, 1266, 1114, 1184, 1186],
    "J": [114, 3802],
}
LETTERS = {oid: letter for letter, oids in TYPES.items() for oid in oids}
RECORD = re.compile(r"(statement|query)\b")
PREFIX = re.compile(r"(skipif|onlyif|connection) (\S+)$")


def shown(value):
    """A value on one line, so that every other value is shown differently."""
    if value is None:
        return "NULL"
    text = value.decode()
    if text == "":
        return "(empty)"
    text = text.replace("\\", "\\\\") if re.search(r"[\n\t\r]", text) else text
    text = text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return text[:-1] + "\\s" if text.endswith(" ") else text


class Lines:
    def __init__(self, text):
        self.lines, self.at = text.splitlines(), 0

    def peek(self):
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take(self):
        self.at += 1
        return self.lines[self.at - 1]

    def paragraph(self, stop=None):
        """Lines up to an empty one, which is taken, too, or up to `stop`."""
        found = []
        while self.peek():
            found.append(self.take())
            if found[-1] == stop:
                return found[:-1], True
        self.at += 1
        return found, False


def raw(lines):
    """A statement without a record: up to a semicolon at the end of a line."""
    found = []
    while lines.peek():
        found.append(lines.take())
        if found[-1].endswith(";"):
            break
    return "\n".join(found).removesuffix(";")


def records(text):
    """Comments and empty lines as text, statements as (head or None, prefixes, sql, old)."""
    lines, prefixes = Lines(text), []
    while lines.peek() is not None:
        line = lines.peek()
        if PREFIX.match(line):
            prefixes.append(lines.take())
        elif line.startswith("#"):
            yield lines.take()
        elif not line:
            yield lines.take()
        elif RECORD.match(line):
            start = lines.at
            head = lines.take()
            sql, has_results = lines.paragraph("----")
            if has_results:
                lines.paragraph()
                if "error" in head and lines.peek() == "":
                    lines.take()
            yield head, prefixes, "\n".join(sql), "\n".join(lines.lines[start : lines.at]).rstrip()
            prefixes = []
        else:
            yield None, prefixes, raw(lines), None
            prefixes = []


def outside(sql):
    """The statement without what is in parentheses and strings."""
    sql = re.sub(r"'(?:[^']|'')*'", "", sql)
    while True:
        shorter = re.sub(r"\([^()]*\)", "", sql)
        if shorter == sql:
            return sql.lower()
        sql = shorter


def head_of_query(head, sql, result):
    letters = "".join(LETTERS.get(result.ftype(n), "?") for n in range(result.nfields)) or "?"
    if head and head.startswith("query") and "error" not in head:
        mode = " rowsort" if "rowsort" in head else ""
    else:
        many = result.ntuples > 1 and "order by" not in outside(sql)
        mode = " rowsort" if many else ""
    return f"query {letters}{mode}", mode


def filled(connection, head, sql):
    result = connection.exec_(sql.encode())
    if result.status == pq.ExecStatus.FATAL_ERROR:
        code = result.error_field(pq.DiagnosticField.SQLSTATE).decode()
        # Only the SQLSTATE is compared where the message is another one here.
        if head and re.match(r"statement error \(", head):
            return f"statement error ({code})\n{sql}\n"
        message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY).decode()
        return f"statement error\n{sql}\n----\n[{code}] {message}\n\n"
    if result.nfields == 0 and result.status == pq.ExecStatus.TUPLES_OK:
        return f"statement ok\n{sql}\n"
    if result.status == pq.ExecStatus.TUPLES_OK:
        line, mode = head_of_query(head, sql, result)
        cells = range(result.nfields)
        rows = [[shown(result.get_value(r, c)) for c in cells] for r in range(result.ntuples)]
        rows = sorted(rows) if mode else rows
        return "\n".join([line, sql, "----"] + ["\t".join(row) for row in rows]) + "\n"
    count = result.command_tuples
    tag = result.command_status.split()[0]
    if count is not None and tag in (b"INSERT", b"UPDATE", b"DELETE", b"MERGE"):
        return f"statement count {count}\n{sql}\n"
    return f"statement ok\n{sql}\n"


def connect(url, database):
    connection = pq.PGconn.connect(f"{url.rsplit('/', 1)[0]}/{database}".encode())
    if connection.status != pq.ConnStatus.OK:
        sys.exit(connection.error_message.decode())
    connection.exec_(b"SET client_min_messages = error")
    return connection


def fill(url, path):
    admin = connect(url, "postgres")
    name = "fill_" + re.sub(r"\W", "_", path.rsplit("/", 1)[-1].removesuffix(".slt"))
    admin.exec_(f"DROP DATABASE IF EXISTS {name}".encode())
    made = admin.exec_(f"CREATE DATABASE {name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'".encode())
    if made.status != pq.ExecStatus.COMMAND_OK:
        sys.exit(made.error_message.decode())
    connections, output, count = {}, [], 0
    for record in records(open(path).read()):
        if isinstance(record, str):
            output.append(record + "\n")
            continue
        head, prefixes, sql, old = record
        output.extend(prefix + "\n" for prefix in prefixes)
        count += 1
        if any(prefix.startswith("onlyif") for prefix in prefixes):
            output.append(old + "\n\n")
            continue
        wanted = [prefix.split()[1] for prefix in prefixes if prefix.startswith("connection")]
        key = wanted[0] if wanted else "default"
        if key not in connections:
            connections[key] = connect(url, name)
        output.append(filled(connections[key], head, sql) + "\n")
    for connection in connections.values():
        connection.finish()
    admin.exec_(f"DROP DATABASE {name}".encode())
    admin.finish()
    # An error message ends with two empty lines, everything else with one.
    text = re.sub(r"\n{3,}", "\n\n", "".join(output)).rstrip("\n") + "\n"
    text = re.sub(r"(\n----\n\[\w{5}\] [^\n]*\n)", r"\1\n", text)
    open(path, "w").write(text)
    print(f"{path}: {count} statements")


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        fill(sys.argv[1], argument)
