#!/usr/bin/env python3
"""Writes what a real PostgreSQL says into files of statements.

A file has statements on lines with `> ` and answers on lines with `< `; the answers are replaced.
Usage: expect.py FILE... with PGHOST, PGPORT, PGUSER and PGDATABASE of a server for tests.
"""
import re
import subprocess
import sys


def statements(text):
    found, inside = [], False
    for line in text.splitlines():
        if line.startswith("> "):
            if inside:
                found[-1] += "\n" + line[2:]
            else:
                found.append(line[2:])
            inside = True
        elif line.startswith("#"):
            found.append(line)
            inside = False
        else:
            inside = False
    return found


def answer(lines):
    said, skipping = [], False
    for line in lines:
        note = re.match(r"(NOTICE|WARNING|INFO):  (\w{5}): (.*)", line)
        error = re.match(r"(ERROR|FATAL):  (\w{5}): (.*)", line)
        if note:
            said.append("NOTE: " + note[3])
        elif error:
            said.append(f"ERROR {error[2]}: {error[3]}")
        elif re.match(r"(LINE \d+:|LOCATION:|CONTEXT:|STATEMENT:|QUERY:|SCHEMA NAME:|TABLE NAME:|COLUMN NAME:|CONSTRAINT NAME:|DATATYPE NAME:) ", line):
            skipping = line.startswith("LINE")
            continue
        elif line.startswith("DETAIL:  "):
            said.append("DETAIL: " + line[9:])
        elif line.startswith("HINT:  "):
            said.append("HINT: " + line[7:])
        elif skipping and re.match(r"\s*\^$", line):
            pass
        else:
            said.append(line)
        skipping = False
    return [line for line in said if line]


def main():
    for path in sys.argv[1:]:
        all_of_it = statements(open(path).read())
        script = ""
        for number, sql in enumerate(all_of_it):
            if not sql.startswith("#"):
                script += f"\\echo =={number}==\n{sql}\n;\n"
        command = ["psql", "-X", "-A", "-t", "-F", "|", "-v", "VERBOSITY=verbose"]
        out = subprocess.run(command, input=script, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT).stdout
        parts = {}
        for line in out.splitlines():
            mark = re.match(r"==(\d+)==$", line)
            if mark:
                now = parts.setdefault(int(mark[1]), [])
            else:
                now.append(line)
        with open(path, "w") as file:
            for number, sql in enumerate(all_of_it):
                if sql.startswith("#"):
                    file.write(sql + "\n\n")
                    continue
                for line in sql.split("\n"):
                    file.write("> " + line + "\n")
                for line in answer(parts.get(number, [])):
                    file.write("< " + line + "\n")
                file.write("\n")


main()
