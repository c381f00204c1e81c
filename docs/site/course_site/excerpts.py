# SPDX-License-Identifier: MIT
"""A line above each block of code: where it comes from, with a link to the source's line.

The language of a block is followed by its source, as in ```cpp last_block.cuh, or by the command that
printed it, as in ```text (part) ./lab racecheck 04. Sphinx drops that, so it is looked up in the file.
"""

import re

from docutils import nodes

from course_site.source_links import source_reference
from lab_tool.paths import ROOT
from lab_tool.site import is_published

COMMAND = re.compile(r"text(?: \(([^)]*)\))?(?: (\./lab .*))?")


def connect(app):
    app.connect("doctree-read", name_the_sources)


def name_the_sources(app, doctree):
    """Handler of doctree-read: wraps each block that has a source into a container, under a line about it."""
    docname = app.env.docname
    lines = (ROOT / f"{docname}.md").read_text(encoding="utf-8").splitlines()
    for block in list(doctree.findall(nodes.literal_block)):
        info = _info_of(block, lines)
        caption = _caption(app, docname, info, block)
        if caption is None:
            continue
        container = nodes.container("", classes=["code-with-source"])
        container += nodes.paragraph("", "", *caption, classes=["code-source"])
        block.replace_self(container)
        container += block


def _info_of(block, lines):
    """The info string of the fenced block, "" if it has none."""
    if not block.line or block.line > len(lines):
        return ""
    match = re.match(r"\s*```+(.*)", lines[block.line - 1])
    return match[1].strip() if match else ""


def _caption(app, docname, info, block):
    words = info.split()
    if len(words) == 2 and words[0] == "cpp" and words[1] != "example":
        file = source_of(docname, words[1])
        if file:
            block["language"] = "cuda"
            line = first_line_of(block.astext(), file)
            return [source_reference(app, docname, file, f"{words[1]}, line {line}", line)]
    printed = COMMAND.fullmatch(info)
    if printed and printed[2]:
        note = f" ({printed[1]})" if printed[1] else ""
        return [nodes.literal("", f"$ {printed[2]}"), nodes.Text(note)]
    return None


def source_of(docname, name):
    """The file that an excerpt or an inline name means: seen from the document, or from the root."""
    for folder in ((ROOT / docname).parent, ROOT):
        if (folder / name).is_file() and is_published(folder / name):
            return (folder / name).resolve()
    return None


def first_line_of(excerpt, file):
    """The number of the line at which an excerpt begins; 1 if it isn't found."""
    wanted = [line.strip() for line in excerpt.splitlines() if line.strip()]
    run = wanted[: next((at for at, line in enumerate(wanted) if line == "// ..."), len(wanted))]
    numbered = [
        (number, line.strip())
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip()
    ]
    for start in range(len(numbered) - len(run) + 1):
        if [line for _, line in numbered[start : start + len(run)]] == run:
            return numbered[start][0]
    return 1
