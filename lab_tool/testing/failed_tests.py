# SPDX-License-Identifier: MIT
"""What to show of a failed test: its failures, the first one first, and not what is around them."""

import re

from engine.command.paths import shown

MOST_LINES = 100  # of one test

# Catch2 draws these above and below the name of a test case, and below its place.
RULE = r"-{60,}\n"
CATCH2_CASE = re.compile(
    rf"^{RULE}(?P<name>[^\n]+)\n(?P<sections>(?:(?!{RULE})[^\n]*\n)*){RULE}[^\n]+\n\.{{60,}}\n"
    rf"(?P<body>.*?)(?=^{RULE}|^={{60,}}\n|\Z)",
    re.M | re.S,
)
CATCH2_FAILURE = re.compile(
    r"^(?P<path>\S[^\n]*):(?P<line>\d+): FAILED:\n(?P<text>.*?)(?=^\S[^\n]*:\d+: |\Z)", re.M | re.S
)
NO_DIFFERENCE = re.compile(r'\s*"(.*)" == \{ \}\s*', re.S)  # a text was expected to be absent
PYTEST_FAILURES = re.compile(r"^=+ (?:FAILURES|ERRORS) =+$", re.M)
MESSAGES = ("with message:", "with messages:", "explicitly with message:")


def report_of(result, folder):
    """The lines about a test, as Meson has recorded it in the build folder; none if it has passed."""
    if result["result"] in ("OK", "SKIP", "EXPECTEDFAIL"):
        return []
    printed, errors = result.get("stdout", ""), result.get("stderr", "")
    failures = _of_catch2(printed, folder)
    if failures:
        # A fault's report comes before what Catch2 makes of it, the seed after it.
        seeds = [line for line in errors.splitlines() if line.startswith("seed: ")]
        reports = [line for line in errors.splitlines() if line not in seeds]
        lines = [*reports, *failures, *seeds]
    else:
        begin = PYTEST_FAILURES.search(printed)
        lines = (printed[begin.start() :] if begin else printed).rstrip().splitlines()
        lines += errors.rstrip().splitlines()
        if not begin:  # what happened last tells most
            lines = lines[-MOST_LINES:]
    if len(lines) > MOST_LINES:
        log = shown(folder / "meson-logs" / "testlog.txt")
        lines[MOST_LINES:] = [f"... and {len(lines) - MOST_LINES} more lines; {log} has them all"]
    return [f"--- {result['name']}: {result['result']}", *lines, ""]


def _of_catch2(text, folder):
    """Each failed test case with its first failure, and how many more it has."""
    first = {}
    count = {}
    for case in CATCH2_CASE.finditer(text):
        name = case["name"]
        for failure in CATCH2_FAILURE.finditer(case["body"]):
            count[name] = count.get(name, 0) + 1
            first.setdefault(name, _failure(failure, case["sections"], folder))
    lines = []
    for name, of_case in first.items():
        lines += [name, *of_case]
        if count[name] > 1:
            others = count[name] - 1
            lines.append(f"  and {others} more {'failure' if others == 1 else 'failures'} of it")
        lines.append("")
    return lines


def _failure(failure, sections, folder):
    place = f"{shown(folder / failure['path'])}:{failure['line']}"
    expression, *rest = failure["text"].rstrip().split("\nwith expansion:\n")
    details = rest[0] if rest else ""
    expansion = re.split(r"^with messages?:\n", details, maxsplit=1, flags=re.M)[0]
    difference = NO_DIFFERENCE.fullmatch(expansion)
    if difference:
        what = " ".join(difference[1].split())
        details = details[len(expansion) :]
    elif expression.startswith("explicitly with message:\n"):
        what, details = expression.split("\n", 1)[1].strip(), ""
    else:
        what = " ".join(expression.split())
    under = [line for line in details.splitlines() if line and line not in MESSAGES]
    return [
        *(f"  {line.strip()}" for line in sections.splitlines() if line.strip()),
        f"  {place}: {what}",
        *(f"    {line.strip()}" for line in under),
    ]
