"""Observes, predicts and replays the four applications; called by isopredict_wire.sh."""
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from wire import APPS, RUN, Mock

SERIATIM = os.environ["SERIATIM"]
JOBS = int(os.environ.get("JOBS", "2"))
SEEDS = os.environ.get("SEEDS", " ".join(str(n * 10000) for n in range(1, 11))).split()
RAW = Path(os.environ.get("RAW", Path(__file__).parent / "isopredict-wire.tsv"))
TRANSACTIONS = {"small": 4, "large": 8}
LEVELS = "cc", "rc"
BOUNDARIES = "strict", "relaxed"
SECONDS_MAX = 300

# Found and validated (diverged) of ten: Exact-Strict and Approx-Relaxed of Tables 4 and 5.
PAPER = {
    "cc small smallbank": ("4 4 (0)", "10 9 (1)"),
    "cc small voter": ("0 0 (0)", "0 0 (0)"),
    "cc small tpcc": ("9 9 (0)", "10 10 (0)"),
    "cc small wikipedia": ("0 0 (0)", "2 2 (1)"),
    "cc large smallbank": ("5 5 (1), 4 T/O", "10 10 (0)"),
    "cc large voter": ("0 0 (0), 9 T/O", "0 0 (0)"),
    "cc large tpcc": ("3 3 (0), 4 T/O", "10 10 (2)"),
    "cc large wikipedia": ("1 1 (0), 8 T/O", "2 2 (2)"),
    "rc small smallbank": ("10 10 (0)", "10 10 (0)"),
    "rc small voter": ("10 10 (2)", "10 10 (10)"),
    "rc small tpcc": ("10 10 (0)", "10 10 (3)"),
    "rc small wikipedia": ("7 7 (2), 2 unknown", "7 7 (7)"),
    "rc large smallbank": ("10 9 (1)", "10 10 (1)"),
    "rc large voter": ("10 10 (2)", "10 10 (10)"),
    "rc large tpcc": ("10 10 (2)", "10 10 (4)"),
    "rc large wikipedia": ("10 10 (1)", "10 9 (10)"),
}


def seriatim(*words):
    """Calls the program: its exit code and what it writes."""
    done = subprocess.run(
        [SERIATIM, *words], capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if done.returncode >= 3:
        raise SystemExit(f"seriatim {shlex.join(words)}: {done.stderr}")
    return done.stdout


def client(app, task, *flags):
    return [sys.executable, RUN, app, task, *flags]


def tried(app, seed, size):
    """The flags that say how a run is set up and checked, and the run."""
    work = client(app, "work", "--seed", seed, "--transactions", str(TRANSACTIONS[size]))
    setup, check = shlex.join(client(app, "setup")), shlex.join(client(app, "check"))
    return ["--setup", setup, "--check", check, "--", *work], work


def predict(run, level, boundary, output):
    said = seriatim(
        *["predict", run, "--level", level, "--boundary", boundary],
        *["--format", "json", "--output", output],
    )
    return json.loads(said)["answer"]


def without_locks(app, work, scratch):
    """The same run on a database without locks, one transaction at a time."""
    init, run = f"{scratch}/init.sql", f"{scratch}/lockless.jsonl"
    sql = subprocess.run(client(app, "sql"), capture_output=True, text=True, check=True)
    Path(init).write_text(sql.stdout)
    flags = ["--level", "ser", "--chooser", "latest", "--serial", "--locks", "off"]
    with Mock([*flags, "--init", init, "--save", run]) as url:
        environment = {**os.environ, "DATABASE_URL": url}
        subprocess.run(work, env=environment, timeout=SECONDS_MAX, check=True, capture_output=True)
    return run


def once(job):
    """One observed run: a line of raw numbers for each level and boundary."""
    size, app, seed = job
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        run, prediction = f"{scratch}/run.jsonl", f"{scratch}/prediction.json"
        words, work = tried(app, seed, size)
        seriatim("observe", "--output", run, *words)
        lockless = without_locks(app, work, scratch)
        for level in LEVELS:
            for boundary in BOUNDARIES:
                free = predict(lockless, level, boundary, prediction)
                answer = predict(run, level, boundary, prediction)
                verdict, assertion = "-", "-"
                if answer == "found":
                    said = json.loads(seriatim("replay", prediction, "--format", "json", *words))
                    verdict, assertion = said["outcome"], said["assertion"]
                line = [size, app, seed, level, boundary, free, answer, verdict, assertion]
                lines.append("\t".join(line))
    return lines


def measure(sizes):
    RAW.touch()
    done = {tuple(line.split("\t")[:3]) for line in RAW.read_text().splitlines()}
    jobs = [(size, app, seed) for size in sizes for seed in SEEDS for app in APPS]
    jobs = [job for job in jobs if job not in done]
    with ProcessPoolExecutor(JOBS) as pool, RAW.open("a") as raw:
        for lines in pool.map(once, jobs):
            print("\n".join(lines), file=raw, flush=True)


COLUMNS = [
    ("validated", "validated"),
    ("diverged, unserializable", "diverged-unserializable"),
    ("diverged, serializable", "diverged-serializable"),
    ("as predicted, serializable", "as-predicted-serializable"),
]


def report():
    counts = defaultdict(Counter)
    for line in RAW.read_text().splitlines():
        size, app, _, level, boundary, free, answer, verdict, assertion = line.split("\t")
        row = counts[level, size, app, boundary]
        row.update(["runs", answer, verdict, assertion, f"free {free}"])
    names = " | ".join(name for name, _ in COLUMNS)
    print(f"| level | size | program | boundary | runs | found | {names} | assertion broke"
          " | found without locks | paper: found validated (diverged) |")
    print("|---|---|---|---|---|---|" + "---|" * (len(COLUMNS) + 3))
    for level in LEVELS:
        for size in TRANSACTIONS:
            for app in APPS:
                for boundary in BOUNDARIES:
                    if (level, size, app, boundary) in counts:
                        print_row(counts[level, size, app, boundary], level, size, app, boundary)


def print_row(row, level, size, app, boundary):
    verdicts = " | ".join(str(row[verdict]) for _, verdict in COLUMNS)
    paper = PAPER[f"{level} {size} {app}"][BOUNDARIES.index(boundary)]
    print(f"| {level} | {size} | {app} | {boundary} | {row['runs']} | {row['found']} | {verdicts}"
          f" | {row['broke']} | {row['free found']} | {paper} |")


if __name__ == "__main__":
    measure(sys.argv[1:])
    report()
