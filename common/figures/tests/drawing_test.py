# SPDX-License-Identifier: MIT
"""The drawing module: what it draws, and what it refuses as unreadable."""

import math
import unittest
from xml.etree import ElementTree

from engine.command import drawing
from svg_checks import SVG, all_grounds_are_readable, contrast, problems_of


def figure(height=100):
    return drawing.Figure(height, "A title", "What is in it.")


class Readable(unittest.TestCase):
    def test_the_measure_itself(self):
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)
        self.assertLess(contrast("#ffff00", "#ffffff"), 3)

    def test_colours_on_their_own_grounds_and_on_paper(self):
        self.assertEqual(all_grounds_are_readable(), [])
        for theme, colours in drawing.THEMES.items():
            for name in set(drawing.COLOURS) - {"idle"}:
                ground, line = colours[name]
                self.assertGreaterEqual(contrast(line, colours["paper"]), 4.5, (theme, name))
                self.assertGreaterEqual(contrast(line, ground), 3, (theme, name))

    def test_a_figure_with_everything(self):
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
        self.assertEqual(problems_of(svg), [])
        root = ElementTree.fromstring(svg)
        self.assertEqual(
            [each.text for each in root.iter(f"{SVG}text")],
            ["a < b & c", "hollow", "1", "some words"],
        )
        self.assertEqual([each.get("id") for each in root.iter(f"{SVG}polyline")][-1], "a-line")

    def test_problems_are_found(self):
        drawn = figure()
        drawn.label(14, 40, "some words")
        svg = drawn.svg()
        self.assertEqual(problems_of(svg), [])
        for old, new, problem in (
            ("A title</title>", "</title>", "it has no title"),
            ("font-size: 13px", "font-size: 9px", "pixels on a telephone"),
            ("CC-BY-SA-4.0", "MIT", "license"),
            (drawing.DARK["ink"], "#333333", "cannot be read on the dark paper"),
            (drawing.LIGHT["ink"], "#cccccc", "cannot be read on the light paper"),
        ):
            with self.subTest(new=new):
                self.assertIn(old, svg)
                found = problems_of(svg.replace(old, new))
                self.assertTrue(any(problem in each for each in found), found)


class Refused(unittest.TestCase):
    def refuses(self, words, draw):
        drawn = figure()
        with self.assertRaisesRegex(drawing.DrawingError, words):
            draw(drawn)

    def test_what_does_not_fit(self):
        self.refuses("wider than its box", lambda f: f.box(10, 10, 40, 26, text="many words"))
        self.refuses("does not fit", lambda f: f.label(400, 20, "words beyond the edge"))
        self.refuses("does not fit", lambda f: f.label(10, 120, "below"))
        self.refuses("outside", lambda f: f.line([(10, 10), (500, 10)]))
        self.refuses("outside", lambda f: f.box(450, 10, 40, 20))
        self.refuses("too small", lambda f: f.label(10, 20, "tiny", size=8))

    def test_an_arrow_without_a_length(self):
        self.refuses("from one place to another", lambda f: f.arrow([(10, 10), (10, 10)]))

    def test_a_figure_without_words_for_it(self):
        with self.assertRaises(drawing.DrawingError):
            drawing.Figure(100, "A title", "")


class Text(unittest.TestCase):
    def test_words_that_fill_a_width(self):
        width = drawing.text_width("one two", drawing.SMALL)
        self.assertEqual(drawing.fitted("one two three", width), ["one two", "three"])
        self.assertEqual(drawing.fitted("one  two", width), ["one two"])
        self.assertEqual(drawing.fitted("one two\u00a0three", width)[0], "one")
        self.assertEqual(drawing.fitted("", width), [])

    def test_a_word_that_is_too_wide_is_divided(self):
        width = drawing.text_width("abcd", drawing.SMALL, code=True)
        lines = drawing.fitted("abcdefghij kl", width, code=True)
        self.assertEqual(lines, ["abcd", "efgh", "ij", "kl"])

    def test_too_many_lines_end_in_dots(self):
        width = drawing.text_width("one two", drawing.SMALL)
        lines = drawing.fitted("one two three four five", width, most_lines=2)
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[1].endswith(" ..."), lines)
        for line in lines:
            self.assertLessEqual(drawing.text_width(line, drawing.SMALL), width)

    def test_a_height_that_is_known_at_the_end(self):
        drawn = drawing.Figure(math.inf, "A title", "What is in it.", license_line=None)
        drawn.label(14, 900, "far below")
        drawn.end_at(910)
        svg = drawn.svg()
        self.assertIn('viewBox="0 0 460 910"', svg)
        self.assertNotIn("SPDX", svg)
