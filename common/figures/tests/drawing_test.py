# SPDX-License-Identifier: MIT
"""The drawing module: what it draws, and what it refuses as unreadable."""

import math
from xml.etree import ElementTree

import pytest

from engine.command import drawing
from svg_checks import SVG, all_grounds_are_readable, contrast, problems_of


def figure(height=100):
    return drawing.Figure(height, "A title", "What is in it.")


def test_the_measure_itself():
    assert contrast("#000000", "#ffffff") == pytest.approx(21, abs=5e-8)
    assert contrast("#ffff00", "#ffffff") < 3


def test_colours_on_their_own_grounds_and_on_paper():
    assert all_grounds_are_readable() == []
    for theme, colours in drawing.THEMES.items():
        for name in set(drawing.COLOURS) - {"idle"}:
            ground, line = colours[name]
            assert contrast(line, colours["paper"]) >= 4.5, (theme, name)
            assert contrast(line, ground) >= 3, (theme, name)


def test_a_figure_with_everything():
    drawn = figure()
    drawn.box(10, 10, 80, 26, "blue", "a < b & c")
    drawn.box(100, 10, 80, 26, "quiet", "hollow", dashed=True)
    drawn.bar(200, 10, 20, 20, "orange")
    drawn.arrow([(10, 50), (60, 50), (60, 80)], "red", dashed=True)
    drawn.area([(100, 60), (120, 60), (120, 80)], "green", faint=True)
    drawn.dots([(150, 60), (160, 60)], "blue")
    drawn.numeral(180, 60, 1)
    drawn.line([(200, 60), (220, 60)], name="a-line")
    drawn.label(14, 95, "some words", code=True)
    svg = drawn.svg()
    assert problems_of(svg) == []
    root = ElementTree.fromstring(svg)
    assert [each.text for each in root.iter(f"{SVG}text")] == [
        "a < b & c",
        "hollow",
        "1",
        "some words",
    ]
    assert [each.get("id") for each in root.iter(f"{SVG}polyline")][-1] == "a-line"


@pytest.mark.parametrize(
    "old, new, problem",
    (
        ("A title</title>", "</title>", "it has no title"),
        ("font-size: 13px", "font-size: 9px", "pixels on a telephone"),
        ("CC-BY-SA-4.0", "MIT", "license"),
        (drawing.DARK["ink"], "#333333", "cannot be read on the dark paper"),
        (drawing.LIGHT["ink"], "#cccccc", "cannot be read on the light paper"),
    ),
    ids="title size license dark light".split(),
)
def test_problems_are_found(old, new, problem):
    drawn = figure()
    drawn.label(14, 40, "some words")
    svg = drawn.svg()
    assert problems_of(svg) == []
    assert old in svg
    found = problems_of(svg.replace(old, new))
    assert any(problem in each for each in found), found


def refuses(words, draw):
    drawn = figure()
    with pytest.raises(drawing.DrawingError, match=words):
        draw(drawn)


def test_what_does_not_fit():
    refuses("wider than its box", lambda f: f.box(10, 10, 40, 26, text="many words"))
    refuses("does not fit", lambda f: f.label(400, 20, "words beyond the edge"))
    refuses("does not fit", lambda f: f.label(10, 120, "below"))
    refuses("outside", lambda f: f.line([(10, 10), (500, 10)]))
    refuses("outside", lambda f: f.box(450, 10, 40, 20))
    refuses("too small", lambda f: f.label(10, 20, "tiny", size=8))


def test_an_arrow_without_a_length():
    refuses("from one place to another", lambda f: f.arrow([(10, 10), (10, 10)]))


def test_a_figure_without_words_for_it():
    with pytest.raises(drawing.DrawingError):
        drawing.Figure(100, "A title", "")


def test_words_that_fill_a_width():
    width = drawing.text_width("one two", drawing.SMALL)
    assert drawing.fitted("one two three", width) == ["one two", "three"]
    assert drawing.fitted("one  two", width) == ["one two"]
    assert drawing.fitted("one two\u00a0three", width)[0] == "one"
    assert drawing.fitted("", width) == []


def test_a_word_that_is_too_wide_is_divided():
    width = drawing.text_width("abcd", drawing.SMALL, code=True)
    lines = drawing.fitted("abcdefghij kl", width, code=True)
    assert lines == ["abcd", "efgh", "ij", "kl"]


def test_too_many_lines_end_in_dots():
    width = drawing.text_width("one two", drawing.SMALL)
    lines = drawing.fitted("one two three four five", width, most_lines=2)
    assert len(lines) == 2
    assert lines[1].endswith(" ..."), lines
    for line in lines:
        assert drawing.text_width(line, drawing.SMALL) <= width


def test_a_height_that_is_known_at_the_end():
    drawn = drawing.Figure(math.inf, "A title", "What is in it.", license_line=None)
    drawn.label(14, 900, "far below")
    drawn.end_at(910)
    svg = drawn.svg()
    assert 'viewBox="0 0 460 910"' in svg
    assert "SPDX" not in svg
