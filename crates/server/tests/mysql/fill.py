#!/usr/bin/env python3
"""Writes what a real MariaDB answers to statements: fill.py HOST PORT USER PASSWORD FILE.sql…

Each FILE.sql has statements that end with a semicolon at the end of a line; FILE.slt beside it gets
them with their answers. `-- skip: reason` before a statement keeps the mock from being asked. The
server is to have utf8mb4_bin as its collation, which is what the mock has.
"""
import pathlib
import sys

import pymysql
from pymysql.constants import FIELD_TYPE as F

LETTERS = {
    **dict.fromkeys([F.TINY, F.SHORT, F.LONG, F.LONGLONG, F.INT24, F.YEAR], "I"),
    **dict.fromkeys([F.NEWDECIMAL, F.DECIMAL], "N"),
    **dict.fromkeys([F.FLOAT, F.DOUBLE], "F"),
    **dict.fromkeys([F.DATE, F.TIME, F.DATETIME, F.TIMESTAMP], "D"),
    **dict.fromkeys([F.VARCHAR, F.VAR_STRING, F.STRING, F.BLOB, F.LONG_BLOB], "T"),
    F.NULL: "?",
}


def shown(value):
    if value is None:
        return "NULL"
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if text == "":
        return "(empty)"
    if any(c in text for c in "\n\t\r"):
        text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
        text = text.replace("\r", "\\r")
    return text[:-1] + "\\s" if text.endswith(" ") else text


def statements(text):
    skip, lines = None, []
    for line in text.splitlines():
        if line.startswith("-- skip: "):
            skip = line[9:]
        elif line.startswith("--") or not line.strip():
            continue
        else:
            lines.append(line)
            if line.rstrip().endswith(";"):
                yield "\n".join(lines).rstrip().rstrip(";"), skip
                skip, lines = None, []


def record(cursor, sql, skip):
    head = f"# {skip}\nskipif seriatim\n" if skip else ""
    try:
        cursor.execute(sql)
    except pymysql.MySQLError as error:
        return f"{head}statement error \\[{error.args[0]} \n{sql}\n"
    if cursor.description is None and sql.split()[0].upper() in ("ALTER", "CREATE"):
        return f"{head}statement ok\n{sql}\n"
    if cursor.description is None:
        return f"{head}statement count {cursor.rowcount}\n{sql}\n"
    letters = "".join(LETTERS.get(column[1], "?") for column in cursor.description)
    rows = "\n".join("\t".join(shown(value) for value in row) for row in cursor.fetchall())
    return f"{head}query {letters}\n{sql}\n----\n{rows}\n" if rows else f"{head}query {letters}\n{sql}\n----\n"


def main():
    host, port, user, password, *files = sys.argv[1:]
    for name in files:
        path = pathlib.Path(name)
        connection = pymysql.connect(
            host=host, port=int(port), user=user, password=password, autocommit=True,
            charset="utf8mb4", conv={}, use_unicode=False,
        )
        cursor = connection.cursor()
        database = f"slt_{path.stem}"
        cursor.execute(f"DROP DATABASE IF EXISTS {database}")
        cursor.execute(f"CREATE DATABASE {database}")
        cursor.execute(f"USE {database}")
        cursor.execute("SET NAMES utf8mb4 COLLATE utf8mb4_bin")
        made = [record(cursor, sql, skip) for sql, skip in statements(path.read_text())]
        path.with_suffix(".slt").write_text("\n".join(made))
        cursor.execute(f"DROP DATABASE {database}")
        print(f"{path.with_suffix('.slt').name}: {len(made)} statements")


main()
