# SPDX-License-Identifier: MIT
"""Pictures as SVG, the course's and the tool's: boxes, lines, arrows and labels, for light and dark
pages.

A Figure collects shapes and gives their SVG as text. One unit is one unit of its view box, whose width
is WIDTH in every figure, so that the same font size is the same everywhere. Figures have a background
of their own: a page may be dark although the browser prefers light, and then lines drawn for white
paper would vanish on it. The browser's preference chooses between the two themes.

A text that does not fit is an error (DrawingError), not a picture with a cut word.
"""

import html
import re

# What each theme has for each colour: what fills a shape, and what draws lines and letters on it.
# "ink" is for words, "quiet" for what is said in passing, "frame" for lines that only divide.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c2329",
    "quiet": "#566069",
    "frame": "#858e97",
    "grid": "#dfe3e7",
    "blue": ("#d8ebfb", "#0b5cad"),
    "orange": ("#fde8d0", "#a64b00"),
    "green": ("#d9f2df", "#17703a"),
    "red": ("#fbdfe0", "#bb1f2f"),
    "grey": ("#eceef1", "#566069"),
    "idle": ("#e3e6ea", "#e3e6ea"),
}
DARK = {
    "paper": "#12171e",
    "ink": "#e8edf2",
    "quiet": "#a3acb6",
    "frame": "#76808b",
    "grid": "#2f363f",
    "blue": ("#12365c", "#74b8f7"),
    "orange": ("#4a2a08", "#f2a45a"),
    "green": ("#123d22", "#62ca83"),
    "red": ("#511a20", "#ff8a8c"),
    "grey": ("#2a313a", "#a3acb6"),
    "idle": ("#2f363f", "#2f363f"),
}
THEMES = {"light": LIGHT, "dark": DARK}
COLOURS = [name for name, value in LIGHT.items() if isinstance(value, tuple)]


def rules(theme, used):
    """The style rules of one theme for the classes that are used."""
    of_classes = {("paper",): f"fill: {theme['paper']}; stroke: {theme['frame']}"}
    for name in ("ink", "quiet", "frame", "grid"):
        of_classes[(f"{name}-text",)] = f"fill: {theme[name]}"
        of_classes[(f"{name}-line",)] = f"stroke: {theme[name]}"
    for name in COLOURS:
        ground, line = theme[name]
        of_classes[(f"{name}-fill",)] = f"fill: {ground}"
        of_classes[(f"{name}-solid", f"{name}-text")] = f"fill: {line}"
        of_classes[(f"{name}-line",)] = f"stroke: {line}"
    selected = {
        ", ".join(f".{name}" for name in names if name in used): rule
        for names, rule in of_classes.items()
    }
    return [f"{names} {{ {rule} }}" for names, rule in selected.items() if names]


def filled_with(colour):
    """The class that fills a shape with the strong form of the colour."""
    return f"{colour}-solid" if colour in COLOURS else f"{colour}-text"


WIDTH = 460
# The width at which a page shows the figure if there is room.
SHOWN_WIDTH = 600
# The smallest: on a telephone, 360 pixels wide, this is 10 pixels.
SMALL = 13
BODY = 14
MARGIN = 8
# The notes below a figure, which begin at NOTE_LEFT.
NOTE_LEFT = 14
NOTE_WIDTH = WIDTH - 2 * NOTE_LEFT

# What every picture begins with, however high it is: it tells our own from others.
BEGINNING = (
    rb'<\?xml version="1\.0" encoding="UTF-8"\?>\n(<!-- SPDX[^\n]* -->\n)?<svg [^\n>]*'
    rb'viewBox="0 0 460 [\d.]+" role="img" aria-labelledby="title description">\n'
)
LICENSE = "<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->"


class DrawingError(ValueError):
    """One sentence on what of a figure does not fit."""


def number(value):
    """A coordinate as SVG has it: at most two decimals, and none without need."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def text_width(text, size, code=False, bold=False):
    """About how wide the text is, by the widths of DejaVu, the widest of the usual fonts."""
    if code:
        return 0.602 * size * len(text)
    total = 0.0
    for letter in text:
        if letter in " .,:;'|!()[]fijlrtI-":
            total += 0.37
        elif letter in "mwMWQ%@":
            total += 0.92
        elif letter.isupper() or letter in "=+<>~≥≤→":
            total += 0.73
        else:
            total += 0.62
    return total * size * (1.09 if bold else 1)


def fitted(text, width=NOTE_WIDTH, size=SMALL, code=False, bold=False, most_lines=None):
    """The text in lines that are at most so wide. A word that is wider alone is divided; what does
    not go into most_lines is left out, and dots say so."""

    def fits(line):
        return text_width(line, size, code, bold) <= width

    lines = []
    for word in filter(None, text.split(" ")):
        if lines and fits(f"{lines[-1]} {word}"):
            lines[-1] += f" {word}"
            continue
        while not fits(word):
            letters = max(1, max(n for n in range(len(word)) if fits(word[:n])))
            lines.append(word[:letters])
            word = word[letters:]
        lines.append(word)
    if most_lines and len(lines) > most_lines:
        last = lines[most_lines - 1]
        while last and not fits(f"{last} ..."):
            last = last[:-1]
        lines[most_lines - 1 :] = [f"{last.rstrip()} ..."]
    return lines


class Figure:
    """A picture of WIDTH x height units. title names it, description says in words what it shows,
    for readers who do not see it; both are needed. The height may be math.inf until it is known:
    end_at() says it. What is drawn from a user's own code has no license."""

    def __init__(self, height, title, description, license_line=LICENSE):
        if not title or not description:
            raise DrawingError("a figure has a title and a description.")
        self.height = height
        self.title = title
        self.description = " ".join(description.split())
        self.license_line = license_line
        self._shapes = []

    def end_at(self, height):
        """The picture's height, from now on. Nothing that is drawn already may lie below it."""
        self.height = height

    def box(
        self, x, y, width, height, colour="grey", text="", size=SMALL, code=False, dashed=False,
        rounded=3,
    ):  # fmt: skip
        """A filled box with its text in the middle; a dashed one is hollow."""
        fill = 'fill="none"' if dashed else ""
        dash = 'stroke-dasharray="4 3"' if dashed else ""
        names = f"{colour}-line" if dashed else f"{colour}-fill {colour}-line"
        self._rectangle(x, y, width, height, names, f'rx="{rounded}"', fill, dash)
        if text:
            if text_width(text, size, code) > width - 2:
                raise DrawingError(f"'{text}' is wider than its box.")
            ink = colour if dashed else "ink"
            self.label(x + width / 2, y + height / 2 + 0.35 * size, text, "middle", size, ink, code)

    def bar(self, x, y, width, height, colour):
        """A box in the strong colour, without text: one of many, in a schedule."""
        self._rectangle(x, y, width, height, filled_with(colour), 'stroke="none"')

    def label(
        self, x, y, text, anchor="start", size=SMALL, colour="ink", code=False, bold=False
    ):  # fmt: skip
        """A line of text whose base line is at y. anchor: start, middle or end."""
        width = text_width(text, size, code, bold)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        if left < 1 or left + width > WIDTH - 1 or y > self.height - 2 or y - 0.75 * size < 1:
            raise DrawingError(f"'{text}' does not fit into the figure.")
        if size < SMALL:
            raise DrawingError(f"'{text}' is too small to be read on a telephone.")
        style = "".join(
            [
                f' text-anchor="{anchor}"' if anchor != "start" else "",
                f' font-size="{number(size)}"' if size != SMALL else "",
                ' font-weight="bold"' if bold else "",
            ]
        )
        names = f"{colour}-text code" if code else f"{colour}-text"
        self._shapes.append(
            f'<text x="{number(x)}" y="{number(y)}" class="{names}"{style}>'
            f"{html.escape(text, quote=False)}</text>"
        )

    def line(self, points, colour="ink", dashed=False, thickness=1.4, name=None):
        """A line through the points; `name` becomes its id."""
        self._require_inside(points)
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        identity = f' id="{html.escape(name)}"' if name else ""
        self._shapes.append(
            f'<polyline{identity} points="{path}" class="{colour}-line" fill="none" '
            f'stroke-width="{number(thickness)}"{dash}/>'
        )

    def arrow(self, points, colour="ink", dashed=False, thickness=1.4):
        """A line through the points with a head at the last one."""
        (x0, y0), (x1, y1) = points[-2:]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        if not length:
            raise DrawingError("an arrow leads from one place to another.")
        along, head = ((x1 - x0) / length, (y1 - y0) / length), 8
        base = (x1 - head * along[0], y1 - head * along[1])
        self.line([*points[:-1], base], colour, dashed, thickness)
        side = (-along[1] * head * 0.45, along[0] * head * 0.45)
        self.area(
            [
                (x1, y1),
                (base[0] + side[0], base[1] + side[1]),
                (base[0] - side[0], base[1] - side[1]),
            ],
            colour,
        )

    def area(self, points, colour, faint=False):
        """A filled area without a line around it; a faint one lets what is below shine through."""
        self._require_inside(points)
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        opacity = ' fill-opacity="0.2"' if faint else ""
        self._shapes.append(
            f'<polygon points="{path}" class="{filled_with(colour)}" stroke="none"{opacity}/>'
        )

    def dots(self, points, colour, radius=2.4):
        """A dot at each of the points."""
        self._require_inside(points)
        path = " ".join(f"M{number(x)},{number(y)}h0" for x, y in points)
        self._shapes.append(
            f'<path d="{path}" class="{colour}-line" stroke-width="{number(2 * radius)}" '
            'fill="none" stroke-linecap="round"/>'
        )

    def numeral(self, x, y, text, colour="ink"):
        """A number in a circle around (x, y), which the words below the figure refer to."""
        self._shapes.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="9" class="paper {colour}-line" '
            'stroke-width="1.4"/>'
        )
        self.label(x, y + 0.35 * SMALL, str(text), "middle", colour=colour, bold=True)

    def svg(self):
        """The whole file."""
        used = {"paper"}
        for names in re.findall('class="([^"]*)"', "".join(self._shapes)):
            used.update(names.split())
        size = f'width="{SHOWN_WIDTH}" height="{number(self.height * SHOWN_WIDTH / WIDTH)}"'
        inner = (WIDTH - 1, self.height - 1)
        return "\n".join(
            [
                '<?xml version="1.0" encoding="UTF-8"?>',
                *([self.license_line] if self.license_line else []),
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
                f'viewBox="0 0 {WIDTH} {number(self.height)}" role="img" '
                'aria-labelledby="title description">',
                f'<title id="title">{html.escape(self.title, quote=False)}</title>',
                f'<desc id="description">{html.escape(self.description, quote=False)}</desc>',
                "<style>",
                f"text {{ font-family: sans-serif; font-size: {SMALL}px; stroke: none }}",
                ".code { font-family: monospace }",
                *rules(LIGHT, used),
                "@media (prefers-color-scheme: dark) {",
                *rules(DARK, used),
                "}",
                "</style>",
                f'<rect x="0.5" y="0.5" width="{number(inner[0])}" height="{number(inner[1])}" '
                'rx="6" class="paper"/>',
                *self._shapes,
                "</svg>",
                "",
            ]
        )

    def _rectangle(self, x, y, width, height, names, *attributes):
        self._require_inside([(x, y), (x + width, y + height)])
        more = "".join(f" {each}" for each in attributes if each)
        self._shapes.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" class="{names}"{more}/>'
        )

    def _require_inside(self, points):
        for x, y in points:
            if not (0 <= x <= WIDTH and 0 <= y <= self.height):
                raise DrawingError(
                    f"({number(x)}, {number(y)}) lies outside of the figure '{self.title}'."
                )
