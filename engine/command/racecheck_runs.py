# SPDX-License-Identifier: MIT
"""Runs a racecheck program with many schedules, and makes one result of what they found."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
from typing import NamedTuple, Optional

from engine.command.diagnostics import VARIABLE, records_of
from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.command.output import RED, say, say_fitted
from engine.command.paths import shown
from engine.command.processes import MEMORY_SIGNALS, run_bounded, signal_name

MOST_OUTPUT = 4000  # characters of a failed run
KEPT_OUTPUT = 4 * MOST_OUTPUT  # bytes of any run
REPORT, DIAGNOSTICS = "report.json", "diagnostics"  # the files' names
SECONDS_TO_REPORT = 15  # that a program whose time is over gets to say what it has found
MERGE_SECONDS = 60  # for the reports of all schedules


class CheckedRun(NamedTuple):
    seed: int
    code: Optional[int]  # None if the program was stopped
    report: Optional[dict]  # what the checker wrote, if it did
    output: str  # the end of it
    left_out: int = 0  # bytes before that
    diagnostics: tuple = ()  # what the backend has recorded


def standard_input():
    """What each run reads as its standard input; a terminal is left alone, with many runs."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    try:
        return sys.stdin.buffer.read()
    except (OSError, ValueError):  # closed, or no file, as under a test
        return b""


def check_once(
    program, options, seed, timeout, lenient, given=b"", programs=None, counts="0", settings=None,
    server=None,
):  # fmt: skip
    """Runs a racecheck program, one of `programs`, with one seed's schedule and the input given; by its
    RunServer, if there is one that can.

    With `counts` "1" its report has what each launch did, in numbers, as well, and with "unseen" the launches
    that changed memory by stores that were not seen; `settings` go into the program's environment.
    """
    with tempfile.TemporaryDirectory(prefix="lab-racecheck-") as folder:
        variables = {
            **variables_of_run(folder, seed, lenient),
            "LAB_RACECHECK_SECONDS": str(timeout),
            "LAB_RACECHECK_SECONDS_OPTION": "--timeout",
            "LAB_RACECHECK_COUNTS": counts,
            **(settings or {}),
        }
        patience = timeout + SECONDS_TO_REPORT
        run = server.run(variables, patience, KEPT_OUTPUT, given) if server else None
        if run is None:
            command, environment = [str(program), *options], {**inherited(), **variables}
            run = run_bounded(command, environment, patience, KEPT_OUTPUT, given, programs)
        return checked_run(folder, seed, run)


def inherited():
    """The environment of a run, but for its own variables: one test is one case, however many it runs."""
    return {name: value for name, value in os.environ.items() if name != "LAB_TEST_LOG"}


def variables_of_run(folder, seed, lenient):
    """Those of a program which writes into the folder what was found."""
    return {
        "LAB_RACECHECK_SEED": str(seed),
        "LAB_RACECHECK_REPORT": os.path.join(folder, REPORT),
        "LAB_RACECHECK_LENIENT": "1" if lenient else "0",
        VARIABLE: os.path.join(folder, DIAGNOSTICS),
    }


def checked_run(folder, seed, run):
    """A CheckedRun from a BoundedRun that had such variables."""
    reports = [_report_in(path) for path in paths_of_reports(folder)]
    records = records_of(os.path.join(folder, DIAGNOSTICS))
    return CheckedRun(seed, run.code, _of_all(reports), run.output, run.left_out, records)


def paths_of_reports(folder):
    """That of each process that fork() has made of the program, the first one's first."""
    found = pathlib.Path(folder).glob(f"{REPORT}*")
    return sorted(path for path in found if path.suffix != ".temporary")


def _report_in(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _of_all(reports):
    """One report of what all processes have found; None if there is none."""
    readable = [each for each in reports if each]
    if not readable:
        return None
    made, *others = readable
    for other in others:
        for key, value in other.items():
            if isinstance(value, (int, list)) and not isinstance(value, bool) and key != "seed":
                made[key] = made.get(key, type(value)()) + value
            else:
                made[key] = made.get(key) or value
    if len(readable) < len(reports):
        made["is_interim"] = True
    return made


class MergeReports(NamedTuple):
    """The program that merges reports, and what its reader knows."""

    program: str  # merge_reports, in the build folder
    own_file: str = ""  # the one file that the reader knows: its lines are called "line 12"
    first_line: int = 1  # of that file, which is line 1 to the reader


class MalformedReport(CommandError, ValueError):
    """A report is none that the race checker writes."""


def merged_findings(runs, merging):
    """One finding for each diagnosis of an element, the worst first, as cudacheck check --json has them:
    of the first seed that shows it, with the texts made for the reader that `merging` names.

    Raises MalformedReport, if a program has written something else than its report.
    """
    found = [(run.seed, run.report["findings"] if run.report else []) for run in runs]
    lines = [json.dumps({"seed": seed, "findings": findings}) for seed, findings in found]
    options = ["--first-line", str(merging.first_line)]
    if merging.own_file:
        options += ["--own-file", str(merging.own_file)]
    try:
        result = subprocess.run(
            [merging.program, *options],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            encoding="utf-8",
            timeout=MERGE_SECONDS,
            check=False,
        )
    except OSError as error:
        raise CommandError(f"{merging.program} could not be started: {error.strerror}.") from error
    except subprocess.TimeoutExpired:
        raise MalformedReport(
            f"the reports have too many findings: {MERGE_SECONDS} s were not enough to merge them."
        ) from None
    if result.returncode != 0:
        why = result.stderr.strip() or f"merge_reports ended with {result.returncode}"
        raise MalformedReport(f"the reports can't be merged: {why}.")
    return json.loads(result.stdout)


def problem_of(run, timeout, option="--timeout"):
    """What went wrong with one run besides its findings, as a sentence; None for nothing."""
    stopped = f"the program was stopped after {timeout:g} s ({option})"
    if run.report and run.report.get("ended_by_time"):
        return f"{stopped}; what it had found by then is in this report"
    if run.report and run.report.get("is_interim"):
        ended = stopped if run.code is None else _sudden_end(run.code)
        return f"{ended}; what it had found when its last launch ended is in this report"
    if run.code is None:
        return f"{stopped}, and did not say what it had found"
    if run.code < 0:
        return _sudden_end(run.code)
    if run.report is None:
        return f"the program ended with {run.code} and without a report"
    if run.report["ended_in_kernel"]:
        return "a kernel ended the program by exit()"
    if run.report["failed_launches"]:
        return "a kernel did not come to its end"
    if run.code == 1 and run.report["launches"] and not run.report["accesses"]:
        return "no kernel accesses memory that threads share, so nothing was checked"
    if run.code != 0 and not run.report["findings"]:
        return f"the program ended with {run.code}"
    return None


def _sudden_end(code):
    if code >= 0:
        return "a process of the program ended in a way that the race checker can't see, such as exec()"
    where = ", in code of the host, where a debugger names the line"
    is_fault = -code in MEMORY_SIGNALS
    return f"the program was ended by {signal_name(-code)}{where if is_fault else ''}"


def say_result(program, seeds, runs, timeout, lenient, merging, option="--timeout"):
    """Says what the runs of one program have found, and returns it as a dictionary."""
    for run in runs:
        if run.code in (WRONG_USE, NOTHING_COULD_RUN):
            say(run.output.strip())
            return {"code": run.code}

    findings = merged_findings(runs, merging)
    problems = [(run, problem_of(run, timeout, option)) for run in runs]
    problems = [(run, sentence) for run, sentence in problems if sentence]
    accesses = sum(run.report["accesses"] for run in runs if run.report)
    forgotten = sum(run.report["forgotten_reads"] for run in runs if run.report)
    _say_findings(findings)
    for run, sentence in problems[:1]:
        say(f"\nseed {run.seed}: {sentence}; {len(problems)} of {schedules_text(len(seeds))} so")
        _say_output(run)
    failed = f"; {len(problems)} of {schedules_text(len(seeds))} failed" if problems else ""
    checked = f"{accesses:,} accesses checked in {schedules_text(len(seeds))}"
    if any(not run.report or run.report.get("is_interim") for run in runs):
        checked = f"at least {checked}" if accesses else f"an unknown number of {checked[2:]}"
    say(f"\n{checked}, {len(findings)} found{failed}")
    reasons = {run.report.get("why_lines_are_missing") for run in runs if run.report}
    for why in sorted(filter(None, reasons)):
        say(f"Accesses are reported without their lines: {why}.")
    if accesses == 0 and not problems:
        say("Not one access of a kernel was seen, so nothing was checked. Was its launch refused?")
        _say_output(runs[0])
    unseen = unseen_stores(runs)
    for launch in unseen[:1]:
        say(sentence_of_unseen(launch))
    if forgotten:
        say(
            f"There was no room to remember {forgotten:,} reads; "
            "a later write that races with one of them was not reported."
        )
    counted = next((run for run in runs if run.report and "launch_counts" in run.report), None)
    if counted:
        say(f"\nCounted at seed {counted.seed}:")
        for line in lines_of_counts(counted.report):
            say(line)
    serious = [item for item in findings if not (lenient and item["severity"] == "strict")]
    counts = {"launch_counts": counted.report["launch_counts"]} if counted else {}
    return {
        "program": shown(program),
        "seeds": [seeds[0], len(seeds)],
        "accesses": accesses,
        "forgotten_reads": forgotten,
        "findings": findings,
        **counts,
        "problems": [{"seed": run.seed, "problem": sentence} for run, sentence in problems],
        **({"unseen_stores": unseen} if unseen else {}),
        "code": 1 if serious or problems or unseen or accesses == 0 else 0,
    }


def unseen_stores(runs):
    """The launches that changed global memory by stores that the race checker did not see, of the run that
    compared it."""
    reports = [run.report for run in runs if run.report]
    launches = [
        launch
        for report in reports
        for launch in [*report.get("unseen_stores", ()), *report.get("launch_counts", ())]
        if launch["completed"] and launch.get("unseen_bytes_stored")
    ]
    keys = ("kernel", "file", "line", "unseen_bytes_stored")
    return [{key: launch[key] for key in keys} for launch in launches]


def sentence_of_unseen(launch):
    return (
        f"{launch['file']}:{launch['line']}: not all is checked: {launch['kernel']} has changed "
        f"{launch['unseen_bytes_stored']:,} bytes of global memory by stores that the race checker "
        "does not see. Store by an assignment, not by `new` or by functions of the C library."
    )


def schedules_text(number):
    return "1 schedule" if number == 1 else f"{number} schedules"


def _say_output(run):
    kept = run.output.strip()[-MOST_OUTPUT:]
    left_out = run.left_out + len(run.output.encode()) - len(kept.encode())
    if left_out > MOST_OUTPUT:
        say(f"  (The program printed {left_out:,} bytes more before this.)")
    say(textwrap.indent(kept, "  "))


def _say_findings(findings):
    for item in findings:
        heading, *lines = item["text"].rstrip().splitlines()
        say()
        say_fitted(heading, RED)
        for line in [*lines, *(f"  {note}" for note in item["notes"])]:
            say_fitted(line)


# What is counted of each launch: keys of the report, and their names. Of the first ones there is the most per
# thread as well.
PER_THREAD = {
    "global_loads": "global loads",
    "global_stores": "global stores",
    "global_atomics": "global atomics",
    "shared_loads": "shared loads",
    "shared_stores": "shared stores",
    "shared_atomics": "shared atomics",
    "fences": "fences",
}
PER_BLOCK = {
    "global_bytes_loaded": "global bytes loaded",
    "global_bytes_stored": "global bytes stored",
    "block_barriers": "block barriers",
    "warp_barriers": "warp barriers",
    "grid_barriers": "grid barriers",
}
COLUMNS = ("total", "most_per_block", "most_per_thread")
HEAD = ("total", "most per block", "most per thread")


def lines_of_counts(report):
    """The tables of a run's report, as lines. Launches that did the same have one table.

    Rows of zeros are left out. There must be counts in the report (LAB_RACECHECK_COUNTS).
    """
    launches = report["launch_counts"]
    distinct = []
    for launch in launches:
        same = next((entry for entry in distinct if entry[0] == launch), None)
        if same:
            same[1] += 1
        else:
            distinct.append([launch, 1])
    lines = []
    for launch, times in distinct:
        lines += ["", *_lines_of_launch(launch, times)]
    if report["launches"] > len(launches):
        left_out = report["launches"] - len(launches)
        lines += ["", f"{left_out:,} launches after the first {len(launches):,} were not counted."]
    return lines


def _lines_of_launch(launch, times):
    blocks, threads = (_size_text(launch[key]) for key in ("blocks", "threads"))
    kernel = launch["kernel"] or "a kernel"
    place = f" at {launch['file']}:{launch['line']}" if launch["file"] else ""
    lines = [f"{kernel}<<<{blocks}, {threads}>>>{place}" + (f", {times} times" * (times > 1))]
    if not launch["completed"]:
        lines.append(
            f"  It did not come to its end; blocks that had begun: {launch['blocks_begun']:,}"
        )
    rows = [
        (name, *(f"{launch[key][column]:,}" if column in launch[key] else "" for column in COLUMNS))
        for key, name in {**PER_THREAD, **PER_BLOCK}.items()
        if launch[key]["total"]
    ]
    if rows:
        lines += [_row_text(("", *HEAD)), *map(_row_text, rows)]
    else:
        lines.append("  no access to memory that threads share, no fence, no barrier")
    fixed, sized = launch["static_shared_bytes"], launch["dynamic_shared_bytes"]
    if fixed or sized:
        lines.append(f"  shared memory per block: {fixed:,} bytes static, {sized:,} bytes dynamic")
    return lines


def _row_text(cells):
    name, *numbers = cells
    return (f"  {name:<20}" + "".join(f"{number:>17}" for number in numbers)).rstrip()


def _size_text(size):
    """As a launch has it: 8, or (2, 3, 1)."""
    return str(size[0]) if size[1:] == [1, 1] else f"({', '.join(map(str, size))})"
