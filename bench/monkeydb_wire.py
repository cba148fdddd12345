"""Counts which assertions of the four applications break; called by monkeydb_wire.sh."""
import importlib
import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import psycopg

from monkeydb_wire_report import report
from wire import APPS, Mock, driver

BENCH = Path(__file__).resolve().parent
RUNS = int(os.environ.get("RUNS", "100"))
JOBS = int(os.environ.get("JOBS", "2"))
RAW = Path(os.environ.get("RAW", BENCH / "monkeydb-wire.tsv"))
# MonkeyDB's paper, section 9: so many transactions a session in ten seconds.
TRANSACTIONS = {2: 6, 3: 4}

# How long a run is, in parts of that. MonkeyDB looks for the key of an INSERT with a weak read;
# tables without primary keys ("keyless") come near to that.
LENGTHS = {"plain": 1, "keyless": 1, "long": 4}
WEAK = "rc", "cc"

# Database, level, locks, chooser, variant. Without locks is the semantics of the paper.
KINDS = [
    *[("mock", level, "off", "random", "plain") for level in (*WEAK, "ser")],
    *[("mock", level, "off", "random", "keyless") for level in (*WEAK, "ser")],
    *[("mock", level, "off", "adversary", "plain") for level in (*WEAK, "ser")],
    *[("mock", level, "on", "random", "plain") for level in (*WEAK, "ser")],
    *[("mock", level, "on", "adversary", "plain") for level in (*WEAK, "ser")],
    ("postgres", "rc", "on", "-", "plain"),
    *[("mock", level, "off", "random", "long") for level in WEAK],
]


def mock(kind, init, seed):
    """A mock database with what the set-up makes as its initial state."""
    _, level, locks, chooser, _ = kind
    flags = ["--level", level, "--locks", locks, "--chooser", chooser, "--seed", str(seed)]
    return Mock([*flags, "--init", init])


class Real:
    """A fresh copy of a filled database on a real server."""

    def __init__(self, server, app):
        self.server, self.app, self.name = server, app, f"seriatim_run_{os.getpid()}"

    def __enter__(self):
        with psycopg.connect(f"{self.server}/postgres", autocommit=True) as db:
            db.execute(f"DROP DATABASE IF EXISTS {self.name}")
            db.execute(f"CREATE DATABASE {self.name} TEMPLATE seriatim_{self.app}")
        return f"{self.server}/{self.name}"

    def __exit__(self, *_):
        with psycopg.connect(f"{self.server}/postgres", autocommit=True) as db:
            db.execute(f"DROP DATABASE IF EXISTS {self.name}")


def fill_real(server, name):
    """A database to copy, with the tables of an application."""
    with psycopg.connect(f"{server}/postgres", autocommit=True) as db:
        db.execute(f"DROP DATABASE IF EXISTS seriatim_{name}")
        db.execute(f"CREATE DATABASE seriatim_{name}")
    driver.set_up(importlib.import_module(name), f"{server}/seriatim_{name}")


def once(job):
    """One run: which assertions broke, and what became of its transactions."""
    kind, name, sessions, seed, init, server = job
    app = importlib.import_module(name)
    transactions = TRANSACTIONS[sessions] * LENGTHS[kind[-1]]
    place = Real(server, name) if kind[0] == "postgres" else mock(kind, init, seed)
    with place as url:
        outcomes = driver.run_sessions(app, url, sessions, transactions, seed)
        return sorted({assertion for assertion, _ in driver.failures(app, url)}), outcomes


def count(pool, kind, name, sessions, init, server):
    """All runs of one kind, as a line of the raw numbers."""
    jobs = [(kind, name, sessions, seed, init, server) for seed in range(1, RUNS + 1)]
    counts, failed = Counter(), 0
    for broken, outcomes in pool.map(once, jobs):
        counts.update(broken)
        counts.update(outcomes)
        failed += bool(broken)
    said = " ".join(f"{what}={number}" for what, number in sorted(counts.items()))
    return "\t".join([*kind, name, str(sessions), str(RUNS), str(failed), said])


KEYS = re.compile(r",?\s*PRIMARY KEY( \([^)]*\))?")


def init_file(scratch, name, variant):
    return Path(scratch) / f"{name}-{variant}.sql"


def wanted(server):
    """All kinds of runs, those first that matter most."""
    for kind in KINDS:
        if kind[0] == "postgres" and not server:
            continue
        for name in APPS:
            # Only TPC-C inserts rows whose keys it computes from what it read.
            if kind[-1] == "keyless" and name != "tpcc":
                continue
            for sessions in TRANSACTIONS:
                yield kind, name, sessions


def measure(server, scratch):
    done = {tuple(line.split("\t")[:7]) for line in RAW.read_text().splitlines()}
    for name in APPS:
        text = "\n".join(driver.statements(importlib.import_module(name)))
        for variant in LENGTHS:
            content = KEYS.sub("", text) if variant == "keyless" else text
            init_file(scratch, name, variant).write_text(content)
        if server:
            fill_real(server, name)
    with ProcessPoolExecutor(JOBS) as pool, RAW.open("a") as raw:
        for kind, name, sessions in wanted(server):
            if (*kind, name, str(sessions)) not in done:
                init = init_file(scratch, name, kind[-1])
                line = count(pool, kind, name, sessions, init, server)
                print(line, file=raw, flush=True)


def main():
    RAW.touch()
    with tempfile.TemporaryDirectory() as scratch:
        measure(sys.argv[1], scratch)
    tables, picture = report(RAW.read_text())
    print(tables)
    (BENCH / "monkeydb-wire.svg").write_text(picture)


if __name__ == "__main__":
    main()
