# SPDX-License-Identifier: MIT
"""index.html: what is special about the course, in ten seconds, out of lesson 04's own blocks."""

import re

from course_site.excerpts import COMMAND
from lab_tool.chapters import all_chapters
from lab_tool.paths import ROOT

LESSON = ROOT / "chapters/04_last_block_guard/README.md"
PROGRAM = ROOT / "chapters/04_last_block_guard/naive_last_block_guard.cu"

PICTURE = "chapters/04_last_block_guard/figures/race.svg"


def connect(app):
    app.connect("html-collect-pages", landing_page)


def block_of(text, info):
    """The fenced block whose info string contains `info`: the command that printed it, and its lines."""
    fence = r"^```([^\n]*" + re.escape(info) + r"[^\n]*)\n(.*?)^```$"
    found = re.findall(fence, text, re.M | re.S)
    if len(found) != 1:
        raise ValueError(f"{len(found)} blocks of the lesson on the landing page have {info!r}.")
    ((head, lines),) = found
    return {"command": COMMAND.fullmatch(head)[2], "lines": lines.rstrip("\n")}


def kernel_of(text):
    """The kernel of the naive program, from __global__ to its closing brace."""
    return re.search(r"^__global__.*?^}$", text, re.M | re.S)[0]


def landing_page(app):
    """Handler of html-collect-pages."""
    lesson = LESSON.read_text(encoding="utf-8")
    highlighter = app.builder.highlighter
    context = {
        "title": "Start",
        "furo_hide_toc": True,
        "kernel": highlighter.highlight_block(
            kernel_of(PROGRAM.read_text(encoding="utf-8")), "cuda"
        ),
        "on_a_gpu": block_of(lesson, "(H200) ./lab run chapters/04"),
        "picture": app.env.images[PICTURE][1],
        "racecheck": block_of(lesson, "./lab racecheck chapters/04"),
        "chapters": [
            (f"chapters/{chapter.folder}/README", _title(chapter)) for chapter in all_chapters()
        ],
    }
    yield "index", context, "landing.html"


def _title(chapter):
    text = (ROOT / "chapters" / chapter.folder / "README.md").read_text(encoding="utf-8")
    return re.search(r"^# (.*)$", text, re.M)[1]
