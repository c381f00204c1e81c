# SPDX-License-Identifier: MIT
"""The colours of pictures on light and on dark pages."""

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


def rules(theme):
    """The style rules of one theme."""
    lines = [
        f".paper {{ fill: {theme['paper']}; stroke: {theme['frame']} }}",
    ]
    for name in ("ink", "quiet", "frame", "grid"):
        lines += [
            f".{name}-text {{ fill: {theme[name]} }}",
            f".{name}-line {{ stroke: {theme[name]} }}",
        ]
    for name in COLOURS:
        ground, line = theme[name]
        lines += [
            f".{name}-fill {{ fill: {ground} }}",
            f".{name}-solid, .{name}-text {{ fill: {line} }}",
            f".{name}-line {{ stroke: {line} }}",
        ]
    return lines


def filled_with(colour):
    """The class that fills a shape with the strong form of the colour."""
    return f"{colour}-solid" if colour in COLOURS else f"{colour}-text"
