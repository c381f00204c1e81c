# SPDX-License-Identifier: MIT
"""The files of .vscode/: their commands exist, and the problem matcher reads a real report."""

import json
import re
import shlex

import pytest

from lab_runs import lab
from lab_tool.chapters import all_chapters
from lab_tool.command_line import parsed
from test_setup import captured
from this_build import BUILD, ROOT

NAIVE = "chapters/04_last_block_guard/naive_last_block_guard.cu"


def settings_of(name):
    return json.loads((ROOT / ".vscode" / name).read_text(encoding="utf-8"))


TASKS = {task["label"]: task for task in settings_of("tasks.json")["tasks"]}


def test_the_tasks_that_a_course_needs_are_there():
    commands = " ".join(task["command"] for task in TASKS.values())
    for verb in ("run", "test", "racecheck", "learn"):
        assert f"./lab {verb}" in commands


@pytest.mark.parametrize("label", [name for name in TASKS if TASKS[name]["command"][:1] == "."])
def test_lab_understands_the_tasks(label):
    words = shlex.split(TASKS[label]["command"].replace("${relativeFile}", NAIVE))
    if words[1] == "learn" and not (ROOT / "lab_tool/verbs/exercises.py").exists():
        pytest.skip("the exercises are not here")
    verb, _ = parsed(words[1:])
    assert verb == words[1]


def matcher_of_racecheck():
    matchers = TASKS["racecheck this .cu file"]["problemMatcher"]
    return next(matcher["pattern"] for matcher in matchers if isinstance(matcher, dict))


def test_the_problem_matcher_reads_a_real_report():
    result = lab("racecheck", "--build", str(BUILD), NAIVE, "--", "1", folder=ROOT)
    assert result.returncode == 1, result.stderr
    pattern = matcher_of_racecheck()
    problems = [
        (match[pattern["message"]], match[pattern["file"]], int(match[pattern["line"]]))
        for match in map(re.compile(pattern["regexp"]).match, result.stdout.splitlines())
        if match
    ]
    races = re.findall(r"^race \(", result.stdout, re.M)
    assert len(problems) == 2 * len(races) > 0, result.stdout
    lines = (ROOT / NAIVE).read_text(encoding="utf-8").splitlines()
    for message, file, line in problems:
        assert re.match(r"(written|read|updated)\b.* by block \d+ thread \d+$", message)
        assert file == NAIVE
        # The report shows the line's own text below it.
        assert f"{file}:{line}\n      {lines[line - 1].strip()}\n" in result.stdout


def debugged_programs():
    """[(a program, its configuration)]."""
    launch = settings_of("launch.json")
    found = []
    for each in launch["configurations"]:
        name = each["program"].rpartition("/")[2]
        asked = name == "${input:program}"
        found += [(name, each) for name in (launch["inputs"][0]["options"] if asked else [name])]
    return found


def test_every_chapter_can_be_debugged():
    programs = [row.program for row in all_chapters()]
    assert sorted(name for name, _ in debugged_programs()) == sorted(programs)
    for configuration in settings_of("launch.json")["configurations"]:
        assert configuration["preLaunchTask"] in TASKS
        assert "/build-debug/chapters/" in configuration["program"]
        sourced = re.findall(r"source \$\{workspaceFolder\}/([^\s\"]+)", json.dumps(configuration))
        assert [path for path in sourced if (ROOT / path).is_file()] == sourced != []


@pytest.mark.parametrize(
    "program,configuration", debugged_programs(), ids=lambda each: str(each)[:20]
)
def test_every_program_takes_the_options_that_it_is_debugged_with(program, configuration):
    result = captured([BUILD / "chapters" / program, *configuration["args"]], timeout=500)
    assert result.returncode == 0, result.stderr
