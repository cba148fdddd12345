"""SmallBank, Voter, TPC-C and Wikipedia as clients of PostgreSQL.

    python3 run.py APP setup                                           makes and fills the tables
    python3 run.py APP sql                                             prints that as statements
    python3 run.py APP run --sessions 3 --transactions 4 --seed 10000  runs, and checks afterwards
    python3 run.py APP work --sessions 3 …                             runs without checking
    python3 run.py APP check                                           checks

APP is smallbank, voter, tpcc or wikipedia; DATABASE_URL says where the database is. Each session is
a thread with a connection of its own, at the isolation level that the database has by default. The
seed decides what each session does, and so does SERIATIM_RUN, if it is set, in its place. What the
database or the application refuses counts as done and is not tried again. Every assertion that
fails at the end is a line `FAILED A5: …`; the exit code is 1 if there is one.
"""
import argparse
import importlib
import os
import sys
import threading
from collections import Counter
from random import Random

import psycopg
from psycopg import errors

from common import UserAbort

APPS = "smallbank", "voter", "tpcc", "wikipedia"
# No statement and no connection waits for longer than this.
WAIT_SECONDS_MAX = 30
# What a database may answer to a transaction that is to be given up: it does not fit with others
# (40001, 40P01), or inserts a key that another transaction has inserted (23505).
REFUSALS = errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation


def connect(url):
    options = f"-c statement_timeout={WAIT_SECONDS_MAX * 1000}"
    return psycopg.connect(url, connect_timeout=WAIT_SECONDS_MAX, options=options)


def statements(app):
    """All statements of the set-up."""
    yield from (f"{table.strip()};" for table in app.TABLES.split(";") if table.strip())
    yield from app.rows()


def set_up(app, url):
    with connect(url) as db:
        for statement in statements(app):
            db.execute(statement)


def plan(app, session, transactions, seed):
    """What a session is to do; nothing but the seed decides it."""
    random = Random(f"{seed}, session {session}")
    return [app.draw(random, session, number) for number in range(transactions)]


def attempt(db, transaction, parameters):
    """Does a transaction, or gives it up. What became of it."""
    try:
        transaction(db, *parameters)
        db.commit()
        return "committed"
    except REFUSALS:
        db.rollback()
        return "refused"
    except UserAbort:
        db.rollback()
        return "aborted"


class Session(threading.Thread):
    """One client and what it has to do."""

    def __init__(self, db, work, start):
        super().__init__(daemon=True)
        self.db, self.work, self.start_line = db, work, start
        self.outcomes, self.error = Counter(), None

    def run(self):
        try:
            self.start_line.wait(WAIT_SECONDS_MAX)
            for transaction, parameters in self.work:
                self.outcomes[attempt(self.db, transaction, parameters)] += 1
        except Exception as error:  # told by the thread that waits for this one
            self.error = error


def run_sessions(app, url, sessions, transactions, seed):
    """Runs all sessions to their ends; how many transactions had which outcome."""
    # Connections are opened one after the other, so that the n-th is always that of session n.
    connections = [connect(url) for _ in range(sessions)]
    start = threading.Barrier(sessions)
    clients = [
        Session(db, plan(app, session, transactions, seed), start)
        for session, db in enumerate(connections)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    for db in connections:
        db.close()
    for client in clients:
        if client.error:
            raise client.error
    return sum((client.outcomes for client in clients), Counter())


def failures(app, url):
    """The assertions that do not hold, by what is in the database now."""
    with connect(url) as db:
        # A mock database is told to return the latest values; elsewhere this changes nothing.
        db.execute("SET seriatim.reads = 'latest'")
        db.commit()
        db.read_only = True
        return list(app.check(db))


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("app", choices=APPS)
    parser.add_argument("task", choices=["setup", "sql", "run", "work", "check"])
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--transactions", type=int, default=4)
    parser.add_argument("--seed", type=int, default=10000)
    return parser.parse_args()


def main():
    args = arguments()
    app = importlib.import_module(args.app)
    if args.task == "sql":
        print("\n".join(statements(app)))
        return 0
    url = os.environ.get("DATABASE_URL")
    if not url:
        print("run.py: DATABASE_URL is not set", file=sys.stderr)
        return 3
    if args.task == "setup":
        set_up(app, url)
        return 0
    if args.task != "check":
        seed = int(os.environ.get("SERIATIM_RUN", args.seed))
        outcomes = run_sessions(app, url, args.sessions, args.transactions, seed)
        print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    failed = failures(app, url) if args.task != "work" else []
    for assertion, what in failed:
        print(f"FAILED {assertion}: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
