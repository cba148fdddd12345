"""A plugin of pytest that writes the file of results."""

import os
import re

import pytest

from outcomes import Outcomes, start_clock, stop_clock

outcomes = Outcomes(os.environ["RESULTS"])
failures = {}
skips = set()


def name_of(nodeid):
    """The name of a test without its file and without the server's version."""
    return re.sub(r"_postgresql\+psycopg_[0-9_]+", "", nodeid.split("::", 1)[-1])


def error_of(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash else str(report.longrepr)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    start_clock()
    try:
        return (yield)
    finally:
        stop_clock()


def pytest_runtest_logreport(report):
    name = name_of(report.nodeid)
    if report.failed:
        failures.setdefault(name, error_of(report))
    elif report.skipped:
        skips.add(name)
    if report.when == "teardown":
        finish(name)


def finish(name):
    if name in failures:
        outcomes.write("failed", name, failures.pop(name))
    elif name in skips:
        skips.remove(name)
        outcomes.write("skipped", name)
    else:
        outcomes.write("passed", name)


def pytest_collectreport(report):
    if report.failed:
        outcomes.write("failed", report.nodeid, error_of(report))
