"""The file of results: a line for each test with its outcome, name and first line of its error,
separated by tabs. The outcomes are passed, failed and skipped."""

import os
import signal

# A test that hangs costs no more than this; suites take a second or less for nearly every test.
TEST_SECONDS = int(os.environ.get("TEST_SECONDS", "120"))


class Outcomes:
    """Writes each outcome at once, so that a run that is cut off shows how far it came."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def write(self, outcome, name, error=""):
        lines = error.strip().splitlines()
        first = lines[0].strip() if lines else ""
        self.file.write("\t".join([outcome, name, first.replace("\t", " ")[:300]]) + "\n")
        self.file.flush()


def read(path):
    """The outcomes of a file by name: pairs of outcome and error. A name that occurs several
    times has passed if it has passed each time."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            outcome, name, error = (line.rstrip("\n").split("\t") + ["", ""])[:3]
            if name not in found or found[name][0] == "passed":
                found[name] = (outcome, error)
    return found


class TestTimeout(Exception):
    """A test took longer than TEST_SECONDS."""


def _ring(signum, frame):
    raise TestTimeout(f"no result within {TEST_SECONDS} s")


def start_clock():
    """From now on the main thread has TEST_SECONDS until it is interrupted."""
    signal.signal(signal.SIGALRM, _ring)
    signal.alarm(TEST_SECONDS)


def stop_clock():
    signal.alarm(0)
