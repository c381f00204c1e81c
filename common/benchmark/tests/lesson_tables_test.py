# SPDX-License-Identifier: MIT
"""Tables of recorded runs: what they say, that a drift is found, and what is refused."""

import copy
import json
import os
import pathlib
import re
import sys

import pytest

import lesson_tables
import recorded_run
from lab_tool.builds.recorded_runs import recorded
from lab_tool.chapters import all_chapters
from test_setup import captured
from this_build import ROOT

BENCHMARKS = ROOT / "common/benchmark"

HERE = pathlib.Path(__file__).resolve().parent
RUN = HERE / "invented_run.json"
PLACE = "Invented GPU, 4 SMs, driver 1.2.3, CUDA 13.0; 2026-01-02, commit 0123456"

MARKER = (
    "<!-- table: invented_run.json chapter=04 task=sum data=memory elements=2^16,2^29 "
    "show=time,ratio:cub_device_reduce_sum -->"
)
TABLE = f"""{MARKER}

| | median, 2^16 | time of `cub_device_reduce_sum`, 2^16 | median, 2^29 | time of `cub_device_reduce_sum`, 2^29 |
| --- | ---: | ---: | ---: | ---: |
| `last_block` | 4.00 µs | 0.49 | 472 µs | 1.00 |
| `cub_device_reduce_sum` | 8.20 µs | | 472 µs | |
| `empty_kernel` | 3.60 µs | | 3.60 µs | |

Medians of 21 rounds on {PLACE}: `./lab bench --json FILE`. \
Here each call finds its input in device memory, and not in the cache.

<!-- end of table -->"""  # noqa: E501


def run_of(**changes):
    run = json.loads(RUN.read_text(encoding="utf-8"))
    return {**run, **changes}


def filled(text):
    return lesson_tables.filled(text, root=HERE)


def refuses(text, says):
    with pytest.raises(recorded_run.RunError, match=says):
        filled(text)


def test_table():
    empty = f"Before.\n\n{MARKER}\n<!-- end of table -->\n\nAfter.\n"
    assert filled(empty) == f"Before.\n\n{TABLE}\n\nAfter.\n"


def test_a_second_time_changes_nothing():
    text = f"Before.\n\n{TABLE}\n\nAfter.\n"
    assert filled(text) == text


@pytest.mark.parametrize(
    "old, new", [("4.00", "3.00"), ("| 0.49", "| 0.48"), ("21 rounds", "9 rounds")]
)
def test_drift_shows(old, new):
    drifted = TABLE.replace(old, new)
    assert drifted != TABLE
    assert filled(drifted) == TABLE


def test_all_columns():
    text = MARKER.replace("2^16,2^29", "2^29").replace(
        "time,ratio:cub_device_reduce_sum", "time,spread,element,bandwidth,copy,peak"
    )
    lines = filled(f"{text}\n<!-- end of table -->").splitlines()
    assert lines[2:5] == (
        [
            "| | median | quartiles | an element | bandwidth | of a copy | of the memory's peak |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            "| `last_block` | 472 µs | 467 to 481 µs | 0.00088 ns | 4,550 GB/s | 106 % | 91 % |",
        ]
    )


def test_names_choose_and_order():
    text = MARKER.replace(" show", " names=empty_kernel,last_block show")
    lines = filled(f"{text}\n<!-- end of table -->").splitlines()
    assert [line.split("|")[1].strip() for line in lines[4:6]] == ["`empty_kernel`", "`last_block`"]
    assert lines[6] == ""


def test_ratios_alone_have_their_heading_once():
    text = MARKER.replace("time,", "").replace(" show", " names=last_block show")
    lines = filled(f"{text}\n<!-- end of table -->").splitlines()
    assert lines[2] == "| time of `cub_device_reduce_sum` | 2^16 | 2^29 |"
    assert lines[4] == "| `last_block` | 0.49 | 1.00 |"


def test_a_fenced_table_is_an_example():
    text = f"```text\n{MARKER}\n<!-- end of table -->\n```\n"
    assert filled(text) == text


def test_refuses():
    end = "\n<!-- end of table -->"
    refuses(MARKER, "no end")
    refuses(end.strip(), "no table")
    refuses(MARKER.replace("invented_run", "nothing") + end, "nothing.json cannot be read")
    refuses(MARKER.replace("task", "tusk") + end, "'tusk=sum' is no part")
    refuses(MARKER.replace("2^29", "2^28") + end, "no last_block at 2\\^28 elements")
    refuses(MARKER.replace("2^29", "many") + end, "'many' is no number")
    refuses(MARKER.replace("=sum", "=product") + end, "no such rows")
    refuses(MARKER.replace(" data=memory", "") + end, "in the run twice")
    refuses(MARKER.replace("show=time", "show=speed") + end, "no such column")
    refuses(MARKER.replace(" elements=2^16,2^29", "") + end, "names its elements")
    refuses(MARKER.replace(" show", " names=bubble_sort show") + end, "no bubble_sort at")


@pytest.mark.parametrize(
    "milliseconds, text",
    [
        (1234.5, "1,234 ms"),
        (12.34, "12.3 ms"),
        (1.0, "1.00 ms"),
        (0.9994, "999 µs"),
        (0.0036, "3.60 µs"),
        (0.00014, "140 ns"),
        (0.0000003, "0.3 ns"),
    ],
)
def test_durations(milliseconds, text):
    assert recorded_run.duration(milliseconds) == text


# Goals.

GOALS = """<!-- goals: invented_run.json
chapter=04 task=sum type=float elements=2^29 to=cub_device_reduce_sum at_most=1.00
chapter=04 task=sum type=float elements=2^20 to=cub_device_reduce_sum at_most=0.60
chapter=04 task=sum type=float elements=2^16 to=cub_device_reduce_sum at_most=0.48
chapter=01 task=nothing type=float elements=2^16 to=cub_device_reduce_sum at_most=0.48
-->
<!-- end of goals -->"""


def goals_of(run):
    ((_, _, specs),) = lesson_tables.specifications(GOALS)
    text, is_reached = lesson_tables.goals(run, specs)
    return text.splitlines(), is_reached


def test_goals_that_are_reached_and_not():
    wanted = [
        "| chapter | task | elements | input from | variant | time | goal | |",
        "| 04 | sum of float | 2^29 | memory | `last_block` | 0.999 (0.989 to 1.009) "
        "| 1.00 of `cub_device_reduce_sum` | reached |",
        "| 04 | sum of float | 2^20 | memory | `last_block` | 0.625 (0.615 to 0.635) "
        "| 0.60 of `cub_device_reduce_sum` | not reached |",
        # Above the goal, but by less than the run's own spread.
        "| 04 | sum of float | 2^16 | memory | `last_block` | 0.488 (0.478 to 0.498) "
        "| 0.48 of `cub_device_reduce_sum` | reached |",
    ]
    assert {*wanted} <= {*filled(GOALS).splitlines()}
    assert not goals_of(run_of())[1]


def test_a_goal_that_was_not_measured_is_not_missed():
    rows = [row for row in run_of()["rows"] if row["elements"] == 2**29]
    lines, is_reached = goals_of(run_of(rows=rows))
    assert (len(lines), is_reached) == (5, True)
    with pytest.raises(recorded_run.RunError, match="nothing in the run has a goal"):
        goals_of(run_of(rows=[row for row in rows if row["part"] != "variant"]))


def test_the_best_variant_counts():
    run = run_of()
    slow = copy.deepcopy([row for row in run["rows"] if row["name"] == "last_block"])
    for row in slow:
        row["name"] = "slow_guard"
        for ratio in row["ratios"]:
            ratio["median"] *= 2
    run["rows"] = slow + run["rows"]
    assert not [line for line in goals_of(run)[0] if "slow_guard" in line]


# Cells within a line.

CELL = "<!-- cell: invented_run.json chapter=04 data=memory elements=2^16 names=last_block -->"
END_OF_CELL = "<!-- end of cell -->"


def test_cells_within_a_line():
    ratio = CELL.replace(" -->", " show=ratio:cub_device_reduce_sum -->")
    run = "<!-- cell: invented_run.json show=run -->"
    assert filled(f"| {CELL}{END_OF_CELL}; {ratio}0.1{END_OF_CELL} |\n{run}{END_OF_CELL}") == (
        f"| {CELL}4.00 µs{END_OF_CELL}; {ratio}0.49{END_OF_CELL} |\n"
        f"{run}Medians of 21 rounds on {PLACE}: `./lab bench --json FILE`.{END_OF_CELL}"
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (" names=last_block", "", "is not one row"),
        ("last_block", "bubble_sort", "is not one row"),
        ("2^16", "2^16,2^20", "is not one row"),
        (" data=memory", "", "in the run twice"),
        ("invented_run", "nothing", "nothing.json cannot be read"),
    ],
)
def test_a_cell_is_one_row(old, new, says):
    refuses(CELL.replace(old, new) + END_OF_CELL, says)


# Recorded runs.


@pytest.fixture
def refuses_run(tmp_path):
    pytest.importorskip("jsonschema")

    def refuse(content, says):
        file = tmp_path / "run.json"
        file.write_text(content, encoding="utf-8")
        with pytest.raises(recorded_run.RunError, match=says):
            recorded_run.load(file)

    return refuse


def test_a_run_is_refused(refuses_run):
    refuses_run("{", "is no JSON")
    refuses_run("[]", "is no recorded run")
    refuses_run(json.dumps(run_of(format=2)), "has format 2")
    refuses_run(json.dumps(run_of(rows=[])), "has no rows")
    refuses_run(
        json.dumps(run_of(rows=[{"name": "x"}])),
        r"rows\[0\] has no bytes, calls_in_a_row, chapter",
    )
    without = run_of()
    del without["machine"]
    refuses_run(json.dumps(without), "it has no machine")


def test_a_run_is_refused_for_what_the_schema_does_not_allow(refuses_run):
    def refuses(says, **changes):
        first, *others = run_of()["rows"]
        refuses_run(json.dumps(run_of(rows=[{**first, **changes}, *others])), says)

    refuses(r"rows\[0\]\.median_ms is no number", median_ms="4")
    refuses(r"rows\[0\]\.bytes is no integer", bytes=True)
    refuses(r"rows\[0\]\.elements is no integer", elements=1024.0)
    refuses(r"rows\[0\]\.inputs is 0, and less than 1", inputs=0)
    refuses(r"rows\[0\]\.part is 'winner', and none of 'variant', ", part="winner")
    refuses(r"rows\[0\]\.ratios\[0\] has no lower_quartile, ", ratios=[{"to": "x"}])
    refuses(r"rows\[0\] has speed, which the format does not know", speed=1)
    refuses_run(json.dumps(run_of(rounds=None)), "rounds is no integer")


def test_every_word_of_the_schema_is_checked():
    """jsonschema says nothing about a word that it does not know."""
    pytest.importorskip("jsonschema")
    from jsonschema import Draft202012Validator

    known = {*Draft202012Validator.VALIDATORS, "$schema", "$defs", "title", "description"}

    def unknown_words(schema):
        inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        inner += [schema["items"]] if "items" in schema else []
        return (set(schema) - known).union(*map(unknown_words, inner))

    Draft202012Validator.check_schema(recorded_run.DEFINITION)
    assert unknown_words(recorded_run.DEFINITION) == set()
    assert unknown_words({"properties": {"date": {"patern": "^2"}}}) == {"patern"}


RUNS = sorted((ROOT / "docs/benchmarks").rglob("*.json"))
IS_WHOLE = (ROOT / "docs/internals").is_dir()  # and no export, which lacks pages and chapters


@pytest.mark.parametrize("file", RUNS, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_recorded_run_of_the_course(file):
    """It is as the schema says, and keeps no row that no page shows."""
    pytest.importorskip("jsonschema")
    run = recorded_run.load(file)
    assert not IS_WHOLE or lesson_tables.shown_rows(file, run) == run["rows"]


@pytest.fixture
def course(tmp_path):
    """Three recorded runs, and a page for each."""
    folder = tmp_path / "docs/benchmarks"
    (folder / "launches").mkdir(parents=True)
    for name in ("old-gpu.json", "launches/old-gpu.json", "other-gpu-04.json"):
        (folder / name).write_text(json.dumps(run_of()), encoding="utf-8")
        marker = MARKER.replace("invented_run.json", f"docs/benchmarks/{name}")
        page = lesson_tables.filled(f"{marker}\n<!-- end of table -->\n", root=tmp_path)
        (folder / f"{name.replace('/', '-')}.md").write_text(page, encoding="utf-8")
    (folder / "cpu.json").write_text(json.dumps(run_of(backend="cpu")), encoding="utf-8")
    for name in ("old-gpu-01.svg", "other-gpu-04.svg", "cpu-backend.svg"):
        (folder / name).write_text("<svg/>", encoding="utf-8")
    (folder / "README.md").write_text("![4](other-gpu-04.svg)\n", encoding="utf-8")
    return tmp_path


def files_of(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def new_run(folder, **changes):
    """As ./lab bench writes it: a line for each row."""
    run = run_of(**changes)
    run["rows"].append({**run["rows"][0], "name": "shown_nowhere"})
    file = folder / "new.txt"
    file.write_text(recorded(run, {}), encoding="utf-8")
    return file


def test_one_run_takes_the_place_of_all(course):
    pytest.importorskip("jsonschema")
    lesson_tables.take_run(new_run(course, commit="fedcba9"), course)
    folder = course / "docs/benchmarks"
    assert {file.name for file in folder.rglob("*.json")} == {"cpu.json", "invented-gpu.json"}
    assert [file.name for file in folder.glob("*.svg")] == ["cpu-backend.svg"]
    assert (folder / "README.md").read_text(encoding="utf-8") == "![4](invented-gpu-04.svg)\n"
    pages = [*folder.glob("*.json.md")]
    assert len(pages) == 3
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "<!-- table: docs/benchmarks/invented-gpu.json chapter" in text
        assert "commit fedcba9: " in text
    kept = recorded_run.load(folder / "invented-gpu.json")
    assert kept["rows"] and "shown_nowhere" not in {row["name"] for row in kept["rows"]}
    assert {row["elements"] for row in kept["rows"]} == {2**16, 2**29}


def test_a_run_that_lacks_a_row_changes_nothing(course):
    pytest.importorskip("jsonschema")
    rows = [row for row in run_of()["rows"] if row["elements"] != 2**29]
    new = new_run(course, rows=rows)
    before = files_of(course)
    with pytest.raises(recorded_run.RunError, match="no last_block at"):
        lesson_tables.take_run(new, course)
    assert files_of(course) == before


# The documents.


@pytest.mark.parametrize(
    "document", lesson_tables.documents(), ids=lambda file: str(file.relative_to(ROOT))
)
def test_no_table_of_the_course_has_drifted(document):
    text = document.read_text(encoding="utf-8")
    assert lesson_tables.filled(text) == text, "common/benchmark/lesson_tables.py fills the tables"


@pytest.mark.skipif(not IS_WHOLE, reason="this course is an export, without some chapters")
def test_the_page_of_channels_has_every_chapter():
    page = (ROOT / "docs/which-channel.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\|[^|]*\| \[\d\d\]\(\.\./chapters/(\w+)/README\.md\) \|", page, re.M)
    assert linked == [chapter.folder for chapter in all_chapters()]


def command(*words):
    return captured([sys.executable, BENCHMARKS / "lesson_tables.py", *words])


def test_the_command_fills_a_table(tmp_path):
    file = tmp_path / "lesson.md"
    right = TABLE.replace("invented_run.json", os.path.relpath(RUN, ROOT))
    file.write_text(right.replace("4.00", "3.00"), encoding="utf-8")
    result = command(file)
    assert (result.returncode, result.stdout) == (0, f"{file}: filled anew\n")
    assert file.read_text(encoding="utf-8") == right
    assert command(file).stdout == ""


def test_versions_of_libraries_are_named():
    run = run_of(cccl="3.5.0", cublas="13.0.2")
    assert "CUDA 13.0, CCCL 3.5.0, cuBLAS 13.0.2; 2026" in recorded_run.caption(run)


def test_the_command_prints_the_goals(tmp_path):
    pytest.importorskip("jsonschema")
    result = command("--goals", RUN)
    assert (result.returncode, result.stderr) == (1, "")
    assert "chapter 04, sum of float, 2^20 from memory\n  last_block 0.625" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 80
    reached = tmp_path / "run.json"
    rows = [row for row in run_of()["rows"] if row["elements"] == 2**29]
    reached.write_text(json.dumps(run_of(rows=rows)), encoding="utf-8")
    assert command("--goals", reached).returncode == 0
    result = command("--goals", "nothing.json")
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch(r"nothing\.json cannot be read: [^\n]+\n", result.stderr)


def test_the_command_names_the_file_with_a_mistake(tmp_path):
    file = tmp_path / "lesson.md"
    file.write_text(MARKER, encoding="utf-8")
    result = command(file)
    assert result.returncode == 1
    assert re.fullmatch(r"\S+lesson\.md: a table has no end[^\n]*\n", result.stderr)
