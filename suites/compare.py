#!/usr/bin/env python3
"""Compares two files of results: of the tests that pass on the real server, how many pass on the
mock, and what is the first line of the error of each that does not."""

import argparse
import sys

from outcomes import read


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real", help="results on the real server, or a list of names that passed")
    parser.add_argument("mock", help="results on the mock")
    parser.add_argument("--at-least", type=float, default=0, metavar="P", help="percent to reach")
    return parser.parse_args()


def expected(path):
    """Names that passed on the real server. A line without a tab is such a name."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip()]
    if lines and "\t" not in lines[0]:
        return sorted(set(lines))
    return sorted(name for name, (outcome, _) in read(path).items() if outcome == "passed")


def main():
    args = arguments()
    wanted = expected(args.real)
    mock = read(args.mock)
    rest = [name for name in wanted if mock.get(name, ("",))[0] != "passed"]
    for name in rest:
        outcome, error = mock.get(name, ("not run", ""))
        print(f"{name}\t{outcome}\t{error}")
    passed = len(wanted) - len(rest)
    percent = 100 * passed / len(wanted) if wanted else 0
    print(f"{passed} of {len(wanted)} that pass on the real server: {percent:.2f} %")
    return percent < args.at_least or not wanted


sys.exit(main())
