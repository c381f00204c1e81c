# SPDX-License-Identifier: MIT
"""The figures in the repository: each is what its script draws today, and every reader can read it. Those
of races show what stands in the sources."""

import json
import re
import shutil
import sys

import pytest

import draw_all
from engine.command.race_picture import race_figure, races_of
from lab_tool.chapters import all_chapters
from svg_checks import problems_of, words_of
from this_build import ROOT

FIGURES = draw_all.all_figures(ROOT)
RACES = sorted(ROOT.glob("chapters/*/figures/race.json"))

for_each_figure = pytest.mark.parametrize(
    "path", FIGURES, ids=lambda path: str(path.relative_to(ROOT))
)
for_each_race = pytest.mark.parametrize("path", RACES, ids=lambda path: path.parts[-3])


def test_every_chapter_has_a_drawn_one():
    for chapter in all_chapters():
        folder = ROOT / "chapters" / chapter.folder / "figures"
        assert folder in {path.parent for path in FIGURES}, "no script draws a figure here"


@for_each_figure
def test_every_one_is_what_its_script_draws(path):
    assert draw_all.is_as_drawn(path, FIGURES[path]), "python3 common/figures/draw_all.py"


def test_no_picture_without_a_script():
    folders = (*draw_all.FOLDERS, "docs/benchmarks")
    kept = {path for folder in folders for path in ROOT.glob(f"{folder}/*.svg")}
    assert kept == set(FIGURES)
    assert list(ROOT.glob("chapters/*/*.svg")) == []


@for_each_figure
def test_every_reader_can_read_it(path):
    assert problems_of(FIGURES[path].svg()) == []


@for_each_figure
def test_none_is_large(path):
    assert len(FIGURES[path].svg()) < 64 * 1024


def test_what_they_say():
    words = {path.name: words_of(figure.svg()) for path, figure in FIGURES.items()}
    for name, said in {
        "array.svg": "= 1 * 4 + 2 = 6",
        "halving_tree.svg": "31",
        "two_kernels.svg": "kernel 2",
        "ticket_chain.svg": "old copy of A's data",
        "queue.svg": "adds 1, gets 8",
        "taken_over.svg": "canceled: never starts",
        "parts.svg": "command/: the recipe of a .cu file, and its runs",
        "nvidia-h200-01.svg": "time divided by that of thrust_transform",
    }.items():
        assert said in words[name], name


# Races.


def test_three_lessons_have_a_race():
    assert [path.parts[-3][:2] for path in RACES] == ["02", "04", "05"]
    assert {path.with_suffix(".svg") for path in RACES} <= set(FIGURES)


def races_in(path):
    return races_of(json.loads(path.read_text(encoding="utf-8")))


@for_each_race
def test_the_lines_are_those_of_the_sources(path):
    for _, finding in races_in(path):
        for event in finding["chain"]["events"]:
            lines = (ROOT / event["file"]).read_text(encoding="utf-8").splitlines()
            assert lines[event["line"] - 1].strip() == event["text"], event["line"]


@for_each_race
def test_any_names_and_lines_can_be_drawn(path):
    for program, finding in races_in(path):
        finding["object"] = "a_very_long_name" * 30
        for event in finding["chain"]["events"]:
            event["file"] = "folder/" * 40 + "a.cu"
            event["text"] = "a\x07b <&> " + "f(" * 200 + " \N{SNOWMAN}\n"
        svg = race_figure([(program, finding)]).svg()
        words = words_of(svg)
        assert "a b <&>" in words
        assert "..." in words
        assert "SPDX" not in svg


@for_each_race
def test_the_data_names_no_machine(path):
    (result,) = json.loads(path.read_text(encoding="utf-8"))
    assert not result["program"].startswith("/"), result["program"]


# The command, in a copy of one chapter's figures.


@pytest.fixture
def svg(tmp_path):
    folder = tmp_path / "chapters/02_shared_memory_dot_product/figures"
    shutil.copytree(ROOT / "chapters/02_shared_memory_dot_product/figures", folder)
    return folder / "halving_tree.svg"


@pytest.fixture
def run_it(tmp_path, svg, monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["draw_all.py", "--root", str(tmp_path), *words])
        return draw_all.main(), capsys.readouterr().out

    return run


def test_nothing_to_do(run_it):
    assert run_it("--check") == (0, "")
    assert run_it() == (0, "")


def test_a_changed_one_is_named_and_drawn_anew(run_it, svg):
    right = svg.read_text(encoding="utf-8")
    svg.write_text(right.replace("barrier", "fence"), encoding="utf-8")
    code, out = run_it("--check")
    assert code == 1
    assert re.fullmatch(r"chapters/02_\w+/figures/halving_tree.svg is not what [^\n]+\n", out)
    assert svg.read_text(encoding="utf-8") != right
    assert run_it()[0] == 0
    assert svg.read_text(encoding="utf-8") == right


def test_a_missing_one_too(run_it, svg):
    svg.unlink()
    assert run_it("--check")[0] == 1
