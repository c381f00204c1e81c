# SPDX-License-Identifier: MIT
"""The notebook's cells, run one after the other as scripts, in a clone of this checkout."""

import json
import os
import sys

import pytest

from test_setup import captured, printed
from this_build import BUILD, ROOT

NOTEBOOK = ROOT / "docs/anywhere/colab.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]

# Beginnings of lines as a notebook has them; a Python script gets a call in their place.
SHELL = "!"
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
            if line.startswith(SHELL):
                command = command_of(line)
                lines.append(f"subprocess.run({command!r}, shell=True, check=True)")
            else:
                lines.append(line)
    return "\n".join(lines)


def command_of(line):
    command = line[len(SHELL) :].replace(" --backend cpu", "")
    for verb, options in WITH_BUILD_FOLDER.items():
        here = f"'{sys.executable}' '{ROOT}/lab' {verb} --build '{BUILD}'{options} "
        command = command.replace(f"./lab {verb} ", here)
    return command.replace("./lab ", f"'{sys.executable}' ./lab ")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return printed(
        [sys.executable, "-c", script()],
        cwd=tmp_path_factory.mktemp("notebook"),
        env={**os.environ, "COURSE_REPOSITORY": str(ROOT)},
        timeout=900,
    )


def output_of_cell(finished, text):
    """What the cell printed whose source contains the text."""
    number = next(at for at, cell in enumerate(CELLS) if text in "".join(cell["source"]))
    return finished.stdout.split(f"=== cell {number}\n")[1].split("=== cell ")[0]


def test_ten_cells_without_output():
    assert len(CELLS) == 10
    assert not any(cell.get("outputs") for cell in CELLS)


def test_every_cell_comes_to_its_end(finished):
    assert finished.returncode == 0, finished.stdout


def test_chapter_04_is_right(finished):
    assert "results are right" in output_of_cell(finished, "./lab run 04"), finished.stdout


def test_the_race_is_found(finished):
    text = output_of_cell(finished, "./lab racecheck")
    assert "race (global memory)" in text and "missing acquire" in text, finished.stdout


def test_an_exercise_is_checked(finished):
    if not (ROOT / "lab_tool/verbs/exercises.py").exists():
        pytest.skip("the exercises are not here")
    assert "results" in output_of_cell(finished, "./lab check"), finished.stdout


def test_without_an_address_one_sentence_says_so():
    environment = {**os.environ, "COURSE_REPOSITORY": ""}
    source = "".join(CELLS[1]["source"])
    result = captured([sys.executable, "-c", source], env=environment)
    assert result.returncode == 1
    assert "Write the repository's address" in result.stderr
