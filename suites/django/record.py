"""Django's runner of tests, which also writes the file of results."""

import os
import unittest

from django.test.runner import DiscoverRunner

from outcomes import Outcomes, start_clock, stop_clock


class RecordingResult(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.outcomes = Outcomes(os.environ["RESULTS"])
        self.ended = None

    def startTest(self, test):
        super().startTest(test)
        self.ended = None
        start_clock()

    def stopTest(self, test):
        stop_clock()
        outcome, error = self.ended or ("failed", "ended without a result")
        self.outcomes.write(outcome, test.id(), error)
        super().stopTest(test)

    def end(self, outcome, error=""):
        """The first failure stays: later ones come from cleaning up."""
        if self.ended is None or self.ended[0] != "failed":
            self.ended = (outcome, error)

    def fail(self, test, err):
        error = f"{err[0].__name__}: {err[1]}"
        # A class or module that could not be set up is no test and never started.
        if isinstance(test, unittest.TestCase):
            self.end("failed", error)
        else:
            self.outcomes.write("failed", test.id(), error)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.end("passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.fail(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fail(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.fail(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, unittest.TestCase):
            self.end("skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.end("skipped")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.end("failed", "passed although a failure was expected")


class RecordingRunner(DiscoverRunner):
    def get_resultclass(self):
        return RecordingResult
