# SPDX-License-Identifier: MIT
"""`cudacheck -- COMMAND`: each program that the command starts, and nvcc has made, runs under the race
checker.

The program itself asks for that (engine/toolkit/started_program.cpp), by the variable EACH_PROGRAM.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

from engine.command.arguments import whole_number
from engine.command.checking import (
    DEFAULT_SECONDS,
    DEFAULT_SEEDS,
    MOST_SECONDS,
    MOST_SEEDS,
    RESULTS,
    built_merge_reports,
)
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import counted, say, say_problem
from engine.command.output_files import NamedOutputs, add_force
from engine.command.paths import ENGINE
from engine.command.processes import BoundedRun, run_program
from engine.command.racecheck_runs import (
    CheckedRun,
    MergeReports,
    checked_run,
    inherited,
    say_result,
    schedules_text,
    standard_input,
    variables_of_run,
)
from engine.command.schedules import scheduled_runs

EACH_PROGRAM = "LAB_EACH_PROGRAM"
SETTINGS = "settings.json"
BUILT = "built"  # a file that bin/nvcc makes if it compiles: the command may be a build alone
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def add_options(parser):
    parser.add_argument(
        "--seeds",
        type=whole_number(1, MOST_SEEDS),
        default=DEFAULT_SEEDS,
        metavar="N",
        help=f"run each program with N different schedules (default: {DEFAULT_SEEDS})",
    )
    parser.add_argument(
        "--lenient",
        action="store_true",
        help="let findings pass that only the strict reading of the memory model forbids",
    )
    parser.add_argument(
        "--timeout",
        type=whole_number(1, MOST_SECONDS),
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help=f"stop a run after so many seconds (default: {DEFAULT_SECONDS})",
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found to FILE as well")
    parser.add_argument(
        "--junit", metavar="FILE.xml", help="the same as JUnit, a case for each program"
    )
    parser.add_argument(
        "--sarif", metavar="FILE.sarif", help="the same as SARIF, for the lines of a change"
    )
    add_force(parser)


def run_command(arguments, place):
    """Runs the command, and says what its programs have found; returns the exit code."""
    command = arguments.program_options
    if not command:
        raise CommandError("cudacheck -- needs a command, such as make test.", WRONG_USE)
    outputs = NamedOutputs(arguments.force, [])
    writers = [
        (outputs.add("--json", arguments.json, RESULTS), _json),
        (outputs.add("--junit", arguments.junit, rb"<testsuite "), _junit),
        (outputs.add("--sarif", arguments.sarif, rb'\{\n  "\$schema": '), _sarif),
    ]
    with tempfile.TemporaryDirectory(prefix="lab-each-") as folder:
        each = pathlib.Path(folder, "each")
        words = [sys.executable, str(ENGINE / "cudacheck"), "--started", folder]
        each.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        each.chmod(0o755)
        settings = {
            "seeds": arguments.seeds,
            "timeout": arguments.timeout,
            "lenient": arguments.lenient,
        }
        settings["input"] = _identity(0)
        pathlib.Path(folder, SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
        os.environ[EACH_PROGRAM] = str(each)
        code = run_program(command)
        del os.environ[EACH_PROGRAM]
        was_built = each.with_name(BUILT).exists()
        paths = sorted(pathlib.Path(folder).glob("*.run"))
        records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    results = _results(records, arguments, MergeReports(built_merge_reports(command[0], place)))
    for output, content in writers:
        if output:
            output.write(content(results))
    code = code if code >= 0 else 128 - code
    if was_built and not results:
        return code
    bad = [result for result in results if result["code"]]
    say(
        f"\n{counted(len(results), 'program')} with kernels, {len(bad) or 'none'} with something to fix"
    )
    if not results:
        say_problem(
            "no program was checked; engine/bin/nvcc must have built it, under cudacheck -- as well."
        )
    return 1 if bad or not results else code


def _results(records, arguments, merging):
    """What each program has found, said and returned; without those that launch nothing."""
    results = []
    for record in records:
        runs = [CheckedRun(**run) for run in record["runs"]]
        name = shlex.join([os.path.relpath(record["program"]), *record["options"]])
        if record["form"] != "checked":
            why = "was built without the race checker; build it anew under cudacheck --"
            say(f"\n{name} {why}.")
            result = {"problems": [{"seed": 0, "problem": why}], "code": 1}
        elif any(not run.report or run.report["launches"] for run in runs):
            say(f"\n{name}: {schedules_text(len(runs))}")
            seeds = range(len(runs))
            result = say_result(
                pathlib.Path(record["program"]),
                seeds,
                runs,
                arguments.timeout,
                arguments.lenient,
                merging,
            )
        else:
            continue
        known = {"program": name, "folder": record["folder"], "findings": [], "problems": []}
        results.append({**known, **result, "program": name})
    return results


def _json(results):
    return json.dumps(results, indent=2) + "\n"


def _junit(results):
    failed = sum(bool(result["code"]) for result in results)
    root = ElementTree.Element(
        "testsuite", name="cudacheck", tests=str(len(results)), failures=str(failed)
    )
    for result in results:
        case = ElementTree.SubElement(
            root, "testcase", classname="cudacheck", name=result["program"]
        )
        found = [each["text"] for each in result["findings"]]
        found += [each["problem"] for each in result["problems"]]
        if result["code"]:
            message = found[0].splitlines()[0] if found else "nothing was checked"
            ElementTree.SubElement(case, "failure", message=message).text = "\n".join(found)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _sarif(results):
    found = []
    for result in results:
        for each in result["findings"]:
            accesses = filter(None, (each.get("first"), each.get("second")))
            found.append(
                {
                    "ruleId": each["kind"],
                    "level": "warning" if each["severity"] == "strict" else "error",
                    "message": {"text": each["text"]},
                    "locations": [
                        _location(result, access) for access in accesses if access["file"]
                    ],
                }
            )
    run = {"tool": {"driver": {"name": "cudacheck"}}, "results": found}
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _location(result, access):
    """The file is named as the compiler has known it, from a folder that may be the program's own."""
    folders = (result["folder"], os.path.dirname(result["program"]), "")
    paths = [os.path.normpath(os.path.join(folder, access["file"])) for folder in folders]
    path = os.path.relpath(next(filter(os.path.isfile, paths), access["file"]))
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": access["line"]}}
    return {"physicalLocation": place}


def run_started(words):
    """Runs a program that has asked for it, and keeps what was found; returns its exit code.

    The first schedule is the run that its caller sees, and has its input.
    """
    folder, form, program, *options = words
    folder = pathlib.Path(folder)
    del os.environ[EACH_PROGRAM]
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    record = {
        "folder": os.getcwd(),
        "program": program,
        "options": options,
        "form": form,
        "runs": [],
    }
    lenient, timeout = settings["lenient"], settings["timeout"]
    given = None if _identity(0) == settings["input"] else standard_input()
    code = 0
    if form == "checked":
        with tempfile.TemporaryDirectory(prefix="lab-racecheck-") as place:
            variables = {
                **inherited(),
                **variables_of_run(place, 0, lenient),
                "LAB_RACECHECK_COUNTS": "unseen",
            }
            seen = subprocess.run([program, *options], env=variables, input=given, check=False)
            code = seen.returncode
            runs = [checked_run(place, 0, BoundedRun(code, "", 0))]
        seeds = (
            [*range(1, settings["seeds"])] if runs[0].report and runs[0].report["launches"] else []
        )
        check = [(pathlib.Path(program), options)]
        with scheduled_runs(check, seeds, timeout, lenient, given or b"") as finished:
            runs += finished[0]()
        record["runs"] = [run._replace(diagnostics=())._asdict() for run in runs]
        found = any(run.report and run.report["findings"] for run in runs)
        code = code or int(found)
    name = f"{time.time_ns()}-{os.getpid()}"
    path = folder / f"{name}.temporary"
    path.write_text(json.dumps(record), encoding="utf-8")
    path.rename(folder / f"{name}.run")
    if form != "checked":
        os.execv(program, [program, *options])
    return code if code >= 0 else 128 - code


def _identity(descriptor):
    """Which file or device it is; None if it is closed."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return f"{status.st_dev}:{status.st_ino}"
