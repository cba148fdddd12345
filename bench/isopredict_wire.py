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

from wire import APPS, RUN

SERIATIM = os.environ["SERIATIM"]
JOBS = int(os.environ.get("JOBS", "2"))
SEEDS = os.environ.get("SEEDS", " ".join(str(n * 10000) for n in range(1, 11))).split()
RAW = Path(os.environ.get("RAW", Path(__file__).parent / "isopredict-wire.tsv"))
TRANSACTIONS = {"small": 4, "large": 8}
LEVELS = "cc", "rc"
LOCKS = "on", "off"
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
    """The words that say how a run is set up and checked, and what it runs."""
    work = client(app, "work", "--seed", seed, "--transactions", str(TRANSACTIONS[size]))
    setup, check = shlex.join(client(app, "setup")), shlex.join(client(app, "check"))
    return ["--setup", setup, "--check", check, "--", *work]


def predict(run, level, boundary, output):
    said = seriatim(
        *["predict", run, "--level", level, "--boundary", boundary],
        *["--format", "json", "--output", output],
    )
    return json.loads(said)["answer"]


def once(job):
    """One observed run: a line of raw numbers for each level and boundary."""
    size, app, seed = job
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        run, prediction = f"{scratch}/run.jsonl", f"{scratch}/prediction.json"
        words = tried(app, seed, size)
        for locks in LOCKS:
            seriatim("observe", "--locks", locks, "--output", run, *words)
            for level in LEVELS:
                for boundary in BOUNDARIES:
                    answer = predict(run, level, boundary, prediction)
                    verdict, assertion = "-", "-"
                    if answer == "found":
                        said = json.loads(seriatim("replay", prediction, "--format", "json", *words))
                        verdict, assertion = said["outcome"], said["assertion"]
                    line = [size, app, seed, locks, level, boundary, answer, verdict, assertion]
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
        size, app, _, locks, level, boundary, answer, verdict, assertion = line.split("\t")
        counts[level, size, app, boundary, locks].update(["runs", answer, verdict, assertion])
    names = " | ".join(name for name, _ in COLUMNS)
    print(f"| level | size | program | boundary | locks | runs | found | {names} | assertion broke"
          " | paper: found validated (diverged) |")
    print("|---|---|---|---|---|---|---|" + "---|" * (len(COLUMNS) + 2))
    for level in LEVELS:
        for size in TRANSACTIONS:
            for app in APPS:
                for boundary in BOUNDARIES:
                    for locks in reversed(LOCKS):
                        row = counts.get((level, size, app, boundary, locks))
                        if row:
                            print_row(row, level, size, app, boundary, locks)


def print_row(row, level, size, app, boundary, locks):
    verdicts = " | ".join(str(row[verdict]) for _, verdict in COLUMNS)
    paper = PAPER[f"{level} {size} {app}"][BOUNDARIES.index(boundary)] if locks == "off" else ""
    print(f"| {level} | {size} | {app} | {boundary} | {locks} | {row['runs']} | {row['found']}"
          f" | {verdicts} | {row['broke']} | {paper} |")


if __name__ == "__main__":
    measure(sys.argv[1:])
    report()
