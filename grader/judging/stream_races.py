# SPDX-License-Identifier: MIT
"""Whether the results depend on the order in which a device does the work of several streams.

The race checker runs launches one after the other, so it can't see what is missing between two
streams. But every order that CUDA allows must give right results, and the CPU backend can do the
work in some of them.
"""

import textwrap

from grader.judging.results import SECONDS, WIDTH, first_failure

ORDERS = ("first", "last")  # of two streams either one goes first, as far as events let it


def stream_lines(cases, source, run_cases, seconds=SECONDS):
    """Lines about a result that is wrong in another order of the streams; none if all are right.

    `run_cases` takes an environment, and returns how the program ended within `seconds`, and its
    CaseResults.
    """
    for order in ORDERS:
        run, results = run_cases({"LAB_STREAM_ORDER": order})
        failure = first_failure(cases, run, results, seconds)
        if failure:
            return _lines(failure, run.diagnostics, cases, source)
    return []


def _lines(failure, records, cases, source):
    """The last of `records` tells of the order."""
    lines = [f"All {len(cases)} results are right, and still nothing orders two of your streams."]
    overtaken = [record for record in records if record.kind == "stream_order"]
    if overtaken:
        early, late = (overtaken[-1].place(name).line for name in ("at", "overtaken_at"))
        text = source.read_text(encoding="utf-8", errors="replace").splitlines()
        lines += ["", f"The kernel of line {early} can run before that of line {late}:", ""]
        for number in (late, early):
            words = text[number - 1].strip() if number <= len(text) else ""
            lines += [f"  line {number}", f"      {words}"]
    lines += ["", f"CUDA allows that order, and then ({cases[failure.number].name}):"]
    lines += [f"  {failure.lines[0]}"]
    missing = (
        "Missing: an event. It is recorded in the one stream, after the work that must be done, "
        "and the other stream waits for it before it goes on."
    )
    return [*lines, "", *textwrap.wrap(missing, WIDTH)]
