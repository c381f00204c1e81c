# SPDX-License-Identifier: MIT
"""`./lab check-course`: what it names in a copy of the chapters, and the exercise that it checks."""

import re
import shutil

import pytest

from engine.command.arguments import run_command
from grader.judging.verdict import PASSED, Verdict
from lab_runs import lab
from lab_tool.authoring.course_check import HEADINGS, files_of, missing_from_course, words_of
from lab_tool.authoring.trials import Trial
from lab_tool.chapters import Chapter, all_chapters
from lab_tool.command_line import LAB
from lab_tool.verbs import authoring
from this_build import ROOT

FIRST = "chapters/01_vector_add"
SPDX = "SPDX-License-Identifier: CC-BY-SA-4.0"
RIGHT = Verdict({"results": PASSED}, ["Done."])


@pytest.fixture
def tree(tmp_path):
    """A copy of the course's chapters."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters", ignore=ignored)
    return tmp_path


@pytest.fixture
def lesson(tree):
    return tree / FIRST / "README.md"


def replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def shortened(text, left):
    """The text of a lesson with its headings and links, and this number of words."""
    kept = [line for line in text.split("\n") if line.startswith("#")]
    rest = "\n\n".join([f"<!-- {SPDX} -->", *kept, "[more](fast.md) "])
    return f"{rest}\n{'word ' * (left - words_of(rest))}\n"


def check_course(tree, monkeypatch, capsys, *words):
    """The exit code of the command on this tree, and what it prints."""
    monkeypatch.setattr(authoring, "missing_from_course", lambda: missing_from_course(tree))
    code = run_command(LAB, ["check-course", *words])
    return code, capsys.readouterr().out


def test_nothing_is_missing(tree, monkeypatch, capsys):
    assert missing_from_course() == []
    sentence = f"{len(all_chapters())} chapters, nothing is missing\n"
    assert check_course(tree, monkeypatch, capsys) == (0, sentence)


@pytest.mark.parametrize("name", files_of(Chapter("01_vector_add", "vector_add")))
def test_each_file(tree, name, monkeypatch, capsys):
    (tree / FIRST / name).unlink()
    purpose = files_of(Chapter("01_vector_add", "vector_add"))[name]
    assert missing_from_course(tree) == [f"{FIRST}/{name}: missing; it is {purpose}"]
    assert check_course(tree, monkeypatch, capsys)[0] == 1


def test_a_figure(tree):
    (tree / FIRST / "figures/array.svg").unlink()
    assert missing_from_course(tree) == [
        f"{FIRST}/figures: no figure; it needs a script, and the SVG that python3 "
        "common/figures/draw_all.py draws by it"
    ]


@pytest.mark.parametrize("heading", HEADINGS)
def test_each_heading(tree, lesson, heading):
    replace(lesson, f"## {heading}\n", "\n")
    assert missing_from_course(tree) == [f"{FIRST}/README.md: no heading '## {heading}'"]


def test_order_of_the_headings(tree, lesson):
    for old, new in (("Next", "?"), ("Exercises", "Next"), ("?", "Exercises")):
        replace(lesson, f"## {old}\n", f"## {new}\n")
    sentence = f"{FIRST}/README.md: the headings are not in the order of a lesson"
    assert missing_from_course(tree) == [sentence]


def test_a_lesson_that_is_too_long_or_too_short(tree, lesson):
    text = lesson.read_text(encoding="utf-8")
    words = words_of(text)
    for count, wrong in (
        (901, f"{text}\n{'word ' * (901 - words)}\n"),
        (699, shortened(text, 699)),
    ):
        lesson.write_text(wrong, encoding="utf-8")
        sentence = f"{FIRST}/README.md: {count} words of prose; such a page has 700 to 900"
        assert missing_from_course(tree) == [sentence]
    lesson.write_text(f"{text}\n{'word ' * (900 - words)}\n", encoding="utf-8")
    assert missing_from_course(tree) == []


def test_a_further_page_that_is_too_long(tree):
    page = tree / FIRST / "fast.md"
    text = page.read_text(encoding="utf-8")
    words = words_of(text)
    page.write_text(f"{text}\n{'word ' * (901 - words)}\n", encoding="utf-8")
    sentence = f"{FIRST}/fast.md: 901 words of prose; such a page has at most 900"
    assert missing_from_course(tree) == [sentence]
    page.write_text(f"{text}\n{'word ' * (900 - words)}\n", encoding="utf-8")
    assert missing_from_course(tree) == []


def test_a_further_page_to_which_nothing_leads(tree, lesson):
    page = tree / FIRST / "more.md"
    page.write_text(f"<!-- {SPDX} -->\n# More\n\n[Itself](more.md)\n", encoding="utf-8")
    assert missing_from_course(tree) == [f"{FIRST}/more.md: no link leads to it from the lesson"]
    replace(lesson, "](fast.md)", "](fast.md) [and](more.md)")
    assert missing_from_course(tree) == []


def test_a_second_table_of_benchmarks(tree, lesson):
    with lesson.open("a", encoding="utf-8") as file:
        file.write("\n<!-- table: docs/benchmarks/nvidia-h200.json chapter=01 -->\n")
    assert missing_from_course(tree) == [
        f"{FIRST}/README.md: 2 tables of benchmarks; a lesson keeps one, and fast.md has the others"
    ]


def test_only_prose_counts():
    text = """# A title

Four words of `some code here`. A [link's words](a/path.md) too, -- and <em>these</em>.

## A heading

![a picture's
caption](a.svg)

```cpp a.cuh
int not_counted;
```

| a table | here |
<!-- table: run.json elements=1 -->

Medians of a run.

<!-- end of table -->
"""
    assert words_of(text) == 4 + 4 + 2


def test_contents(tree, monkeypatch, capsys):
    (tree / FIRST / "mutants.txt").write_text("", encoding="utf-8")
    (tree / FIRST / "packet.cuh").write_text("#pragma once\n", encoding="utf-8")
    assert missing_from_course(tree) == [
        f"{FIRST}/mutants.txt: no mutant",
        f"{FIRST}/packet.cuh: no SPDX line at its top",
    ]
    code, printed = check_course(tree, monkeypatch, capsys)
    assert code == 1
    assert "2 things are missing" in printed


def test_predictions(tree):
    folder = tree / "chapters/05_work_queue/predictions"
    (folder / "broadcast.cu").unlink()
    assert missing_from_course(tree) == [
        "chapters/05_work_queue/predictions: 2 of 3 predictions, for ./lab predict 05; each is a "
        "NAME.cu"
    ]
    (folder / "chunks.cu").write_text("// SPDX-License-Identifier: MIT\n", encoding="utf-8")
    (sentence,) = missing_from_course(tree)
    assert "05_work_queue/predictions/chunks.cu is no prediction: " in sentence


@pytest.mark.parametrize("name", ["one_thread", "one_block"])
def test_an_exercise_without_one_thread_or_one_block(tree, name):
    file = "chapters/04_last_block_guard/exercises/fullest_bin/mutants.txt"
    replace(tree / file, f"## {name}:", f"## other_{name}:")
    (sentence,) = missing_from_course(tree)
    assert f"{file}: {name} is missing; it is a wrong solution" in sentence
    assert f"{name.replace('_', ' ')} does" in sentence


def test_a_folder_without_a_row(tree):
    shutil.copytree(tree / FIRST, tree / "chapters/96_lost")
    sentence = "chapters/meson.build: no row for the folder chapters/96_lost"
    assert missing_from_course(tree) == [sentence]


def test_rows_in_another_order(tree):
    table = tree / "chapters/meson.build"
    row = re.search(r"^  '02_\w+': '\w+',\n", table.read_text(encoding="utf-8"), re.M)[0]
    replace(table, row, "")
    replace(table, "  '08_", f"{row}  '08_")
    sentence = "chapters/meson.build: the rows are not in the order of their numbers"
    assert missing_from_course(tree) == [sentence]


@pytest.mark.parametrize("word", ["fullest_bin", "04.2", "4.2", "04_fullest_bin.cu"])
def test_an_exercise_by_its_name_is_checked_alone(word, monkeypatch, capsys):
    built, judged = [], []

    def verdict_on(build, exercise, text):
        judged.append(exercise)
        return RIGHT

    monkeypatch.setattr("grader.judging.check.verdict_on", verdict_on)
    monkeypatch.setattr(authoring, "configured", lambda arguments: None)
    monkeypatch.setattr(authoring, "exercise_build", lambda place, some: built.extend(some))
    monkeypatch.setattr(
        authoring, "trials_of", lambda exercise: [Trial(exercise.title, "", None, "")]
    )
    assert run_command(LAB, ["check-course", word]) == 0
    assert [each.name for each in [*built, *judged]] == ["fullest_bin"] * 2
    assert "all is as it must be\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "says"),
    [
        pytest.param(
            "fullest_bim", "there is no exercise fullest_bim; did you mean fullest_bin?", id="close"
        ),
        pytest.param(
            "xyzzy", "there is no exercise xyzzy; ./lab exercises lists all of them.", id="far"
        ),
    ],
)
def test_close_names_of_an_exercise(word, says):
    result = lab("check-course", word)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"lab: {says}\n")


@pytest.mark.parametrize("words", [["chaptr"], ["chapter", "11_new"]])
def test_new_makes_no_chapter(words):
    assert lab("new", *words).returncode == 2
