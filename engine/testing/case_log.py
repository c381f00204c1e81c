# SPDX-License-Identifier: MIT
"""A plugin of pytest: tells who runs the tests about each test case, and Meson if all were skipped.

Test cases are counted, not files. So, like the C++ test binaries, a run appends one line for
each test case to the file that LAB_TEST_LOG names: result, test file and case, with tabs.
"""

import os
import pathlib

from run_python_test import SKIPPED, UNFINISHED

results = {}  # of each test case, by pytest's name for it


def pytest_runtest_logreport(report):
    """Called after a case is prepared, after it is run and after it is cleaned up."""
    if report.failed:
        results[report.nodeid] = "failed"
    elif report.skipped:
        results.setdefault(report.nodeid, "passed" if hasattr(report, "wasxfail") else "skipped")
    elif report.when == "call":
        results.setdefault(report.nodeid, "passed")


def pytest_sessionfinish(session, exitstatus):
    log = os.environ.get("LAB_TEST_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.writelines(line_of(nodeid, result) for nodeid, result in results.items())
    record = pathlib.Path(os.environ.get("LAB_TEST_INPUTS", ""))
    if os.environ.get("LAB_TEST_PROCESS") == str(os.getpid()) and record.is_file():
        finished = record.with_name(record.name[: -len(UNFINISHED)])
        record.replace(finished)
        if exitstatus != 0:  # it may have ended before it read all that it reads
            finished.unlink()
    if exitstatus == 0 and set(results.values()) == {"skipped"}:
        session.exitstatus = SKIPPED


def line_of(nodeid, result):
    path, *case = nodeid.split("::")
    return f"{result}\t{pathlib.Path(path).stem}\t{'.'.join(case)}\n"
