# SPDX-License-Identifier: MIT
"""What an editor shows of the course: clangd's errors, the tasks of VS Code, a session in gdb; and the
cells of the notebook, run one after the other as scripts in a clone of this checkout.
"""

import concurrent.futures
import json
import os
import re
import shutil
import sys

import pytest

from engine.command.build_folder import BuildFolder
from engine.command.output_files import write_whole
from lab_runs import lab, needs_racecheck
from lab_tool.builds.editor_database import DATABASE, cuda_files, write_database
from lab_tool.chapters import all_chapters
from test_setup import captured, printed
from this_build import BUILD, ROOT

CLANGD = shutil.which("clangd")
GDB = shutil.which("gdb")
CUDA_THREADS = ROOT / "engine/cpu_backend/debugger/cuda_threads.py"
DEBUGGED_PROGRAM = os.environ.get("DEBUGGED_PROGRAM")  # on the CPU backend
NAIVE = "chapters/04_last_block_guard/naive_last_block_guard.cu"


# clangd -----------------------------------------------------------------------------------------


@pytest.fixture
def database():
    """What `./lab setup` writes, for the build folder of this test; afterwards the user's is back."""
    before = DATABASE.read_bytes() if DATABASE.is_file() else None
    yield json.loads(write_database(BuildFolder(BUILD, {})).read_text(encoding="utf-8"))
    if before is None:
        DATABASE.unlink()
    else:
        write_whole(DATABASE, before.decode())


def errors_of(path):
    """The errors that clangd sees in a file, each with its line."""
    # Of one line alone it also tries what an editor offers to do there.
    result = captured([CLANGD, f"--check={path}", "--check-lines=1-1"], cwd=ROOT, timeout=900)
    assert "All checks completed" in result.stderr, result.stderr
    found = re.findall(r"^E\[[\d:.]+\] (\[\w+\] Line .*)", result.stderr, re.M)
    if not found:
        assert result.returncode == 0, result.stderr
    return [f"{path}: {line}" for line in found]


@pytest.mark.skipif(CLANGD is None, reason="clangd is not here")
def test_no_error_in_the_chapters(database):
    assert {str(path) for path in cuda_files()} <= {entry["file"] for entry in database}
    files = [
        path for path in cuda_files() if path.relative_to(ROOT).parts[0] in ("chapters", "docs")
    ]
    assert len(files) > 20
    if os.environ.get("LAB_EVERY_FILE") != "1":
        # The others include what these do: to read Catch2 takes clangd most of its time.
        files = [path for path in files if not path.name.endswith("_test.cu")]
        seen_folders = {path.parent: path for path in files}  # one of each folder
        files = sorted(seen_folders.values())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert [line for lines in pool.map(errors_of, files) for line in lines] == []


# VS Code ----------------------------------------------------------------------------------------


def settings_of(name):
    return json.loads((ROOT / ".vscode" / name).read_text(encoding="utf-8"))


TASKS = {task["label"]: task for task in settings_of("tasks.json")["tasks"]}


@needs_racecheck
def test_the_problem_matcher_reads_a_real_report():
    matchers = TASKS["racecheck this .cu file"]["problemMatcher"]
    pattern = next(matcher["pattern"] for matcher in matchers if isinstance(matcher, dict))
    result = lab("racecheck", "--build", str(BUILD), NAIVE, "--", "1", folder=ROOT)
    assert result.returncode == 1, result.stderr
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


def test_every_chapter_can_be_debugged():
    launch = settings_of("launch.json")
    names = []
    for each in launch["configurations"]:
        name = each["program"].rpartition("/")[2]
        names += launch["inputs"][0]["options"] if name == "${input:program}" else [name]
        assert each["preLaunchTask"] in TASKS
        assert "/build-debug/chapters/" in each["program"]
        sourced = re.findall(r"source \$\{workspaceFolder\}/([^\s\"]+)", json.dumps(each))
        assert [path for path in sourced if (ROOT / path).is_file()] == sourced != []
    assert sorted(names) == sorted(row.program for row in all_chapters())


# gdb --------------------------------------------------------------------------------------------


@pytest.mark.skipif(GDB is None or not DEBUGGED_PROGRAM, reason="gdb or its program is not here")
def test_gdb_stops_in_the_thread_that_was_asked_for():
    """The session of docs/debugging.md, in thread 5 of block 2."""
    source = (ROOT / "chapters/01_vector_add/vector_add.cuh").read_text(encoding="utf-8")
    line = source[: source.index("c[i] = a[i] + b[i];")].count("\n") + 1
    commands = [
        "set debuginfod enabled off",
        "set breakpoint pending on",
        f"source {CUDA_THREADS}",
        f"break vector_add.cuh:{line} if $block(2) && $thread(5)",
        "run",
        "print threadIdx",
        "print blockIdx",
        "print blockDim",
        "print gridDim.x",
        "cuda-thread",
        "print $thread(5, 0, 0)",
        "print $thread(6)",
        "backtrace 1",
    ]
    words = [word for command in commands for word in ("-ex", command)]
    program = [DEBUGGED_PROGRAM, "--elements", "1000", "--repeat", "1"]
    result = captured([GDB, "-q", "-batch", "-nx", *words, "--args", *program], timeout=200)
    stopped = result.stdout + result.stderr
    assert re.search(r"hit Breakpoint 1,.*add_one_element", stopped), stopped
    place = "block (2, 0, 0) of (4, 1, 1), thread (5, 0, 0) of (256, 1, 1)"
    assert place in (ROOT / "docs/debugging.md").read_text(encoding="utf-8")
    for text in ("$1 = (5, 0, 0)", "$2 = (2, 0, 0)", "$3 = (256, 1, 1)", "$4 = 4", place):
        assert text in stopped, stopped
    assert re.search(r"^\$5 = (1|true)$", stopped, re.M), stopped
    assert re.search(r"^\$6 = (0|false)$", stopped, re.M), stopped


# The notebook -----------------------------------------------------------------------------------

CELLS = json.loads((ROOT / "docs/anywhere/colab.ipynb").read_text(encoding="utf-8"))["cells"]
# In the clone, by the lab and with the build folder that are here: to build all anew would show nothing
# more, and a build folder belongs to one checkout.
WITH_BUILD_FOLDER = {"run": "", "racecheck": "", "check": " --work work"}


def script():
    """The notebook as one Python script, which says at each cell that it is reached."""
    lines = ["import subprocess"]
    for number, cell in enumerate(CELLS):
        if cell["cell_type"] != "code":
            continue
        lines.append(f"print('=== cell {number}', flush=True)")
        for line in "".join(cell["source"]).splitlines():
            if line.startswith("!"):  # a command, as a notebook has it
                lines.append(f"subprocess.run({command_of(line[1:])!r}, shell=True, check=True)")
            else:
                lines.append(line)
    return "\n".join(lines)


def command_of(line):
    command = line.replace(" --backend cpu", "")
    for verb, options in WITH_BUILD_FOLDER.items():
        here = f"'{sys.executable}' '{ROOT}/lab' {verb} --build '{BUILD}'{options} "
        command = command.replace(f"./lab {verb} ", here)
    return command.replace("./lab ", f"'{sys.executable}' ./lab ")


@needs_racecheck
def test_every_cell_of_the_notebook_comes_to_its_end(tmp_path):
    assert not any(cell.get("outputs") for cell in CELLS)
    finished = printed(
        [sys.executable, "-c", script()],
        cwd=tmp_path,
        env={**os.environ, "COURSE_REPOSITORY": str(ROOT)},
        timeout=900,
    )
    assert finished.returncode == 0, finished.stdout
    for command, words in (
        ("./lab run 04", ["results are right"]),
        ("./lab racecheck", ["race (global memory)", "missing acquire"]),
        ("./lab check", ["results"]),
    ):
        number = next(at for at, cell in enumerate(CELLS) if command in "".join(cell["source"]))
        output = finished.stdout.split(f"=== cell {number}\n")[1].split("=== cell ")[0]
        assert all(each in output for each in words), finished.stdout
