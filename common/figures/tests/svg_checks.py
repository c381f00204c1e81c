# SPDX-License-Identifier: MIT
"""What must be true of every picture of the course, to be used by the tests of all of them."""

import re
import xml.etree.ElementTree

from engine.command import drawing

SVG = "{http://www.w3.org/2000/svg}"
TELEPHONE = 360
LEAST_PIXELS = 10


def luminance(colour):
    """Relative luminance, by the Web Content Accessibility Guidelines 2.1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def colours_of(style, prefix=""):
    """{class: {property: colour}} of the style rules."""
    found = {}
    for names, body in re.findall(r"([^{}]+)\{([^{}]*)\}", style):
        for name in re.findall(r"\.([\w-]+)", names):
            found.setdefault(name, {}).update(re.findall(r"(fill|stroke): (#\w{6})", body))
    return found


def words_of(svg):
    return " ".join(each.text for each in xml.etree.ElementTree.fromstring(svg).iter(f"{SVG}text"))


def problems_of(svg):
    """A sentence for each thing that makes this SVG unreadable for a reader."""
    found = []
    lines = svg.split("\n")
    if lines[1] != "<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->":
        found.append("the second line is not the license")
    root = xml.etree.ElementTree.fromstring(svg)
    for name in ("title", "desc"):
        element = root.find(f"{SVG}{name}")
        if element is None or not (element.text or "").strip():
            found.append(f"it has no {name}")
    style = root.find(f"{SVG}style").text
    light, dark = style.split("@media (prefers-color-scheme: dark) {")
    themes = {"light": colours_of(light), "dark": colours_of(dark)}
    width = float(root.get("viewBox").split()[2])
    size = re.search(r"text \{[^}]*font-size: (\d+)px", light)[1]
    used = set()
    for each in root.iter(f"{SVG}text"):
        pixels = float(each.get("font-size", size)) * TELEPHONE / width
        if pixels < LEAST_PIXELS:
            found.append(f"'{each.text}' has {pixels:.1f} pixels on a telephone")
        used |= set(each.get("class").split()) - {"code"}
    if not used:
        found.append("it has no text")
    for theme, rules in themes.items():
        paper = rules["paper"]["fill"]
        for name in used:
            if name not in rules or contrast(rules[name]["fill"], paper) < 4.5:
                found.append(f"{name} cannot be read on the {theme} paper")
    return found


def all_grounds_are_readable():
    """Words stand in "ink" on the ground of a box, too: (theme, colour) where they can't be read."""
    return [
        (theme, colour)
        for theme, colours in drawing.THEMES.items()
        for colour in drawing.COLOURS
        if contrast(colours["ink"], colours[colour][0]) < 4.5
    ]
