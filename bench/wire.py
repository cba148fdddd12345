"""A mock database for one run, and where the clients are; used by the programs beside it."""
import os
import re
import subprocess
import sys
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent.parent / "examples" / "benchmarks"
RUN = str(CLIENTS / "run.py")
sys.path.insert(0, str(CLIENTS))
import run as driver  # noqa: E402 (it is an example, no package)

APPS = driver.APPS

SECONDS_MAX = 30


class Mock:
    """A mock database with flags of `seriatim serve`; its address while it runs."""

    def __init__(self, flags):
        self.process = subprocess.Popen(
            [os.environ["SERIATIM"], "serve", "--postgres", "127.0.0.1:0", *flags],
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stderr.readline()
        address = re.search(r"postgres://([0-9.:]+)", line)
        if not address:
            self.process.kill()
            raise SystemExit(f"the mock database did not start: {line}")
        self.url = f"postgresql://postgres@{address[1]}/postgres"

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stderr.close()
