# SPDX-License-Identifier: MIT
"""An exercise's hints, folded, at the end of its page: one level after the other."""

import re

from lab_tool.paths import ROOT


def connect(app):
    app.connect("source-read", append_hints)


def append_hints(app, docname, source):
    """Handler of source-read."""
    file = (ROOT / docname).parent / "hints.md"
    if "/exercises/" not in docname or not docname.endswith("/README") or not file.is_file():
        return
    levels = hints_of(file.read_text(encoding="utf-8"))
    if levels:
        folded = [
            f"<details><summary>Hint {number} of {len(levels)}</summary>\n\n{text}\n\n</details>\n"
            for number, text in enumerate(levels, 1)
        ]
        source[0] += "\n\n## Hints\n\n" + "\n".join(folded)


def hints_of(text):
    """The levels of a file of hints: what stands under its headings of the second level."""
    return [piece.partition("\n")[2].strip() for piece in re.split(r"(?m)^## ", text)[1:]]
