# SPDX-License-Identifier: MIT
"""A page of Markdown as rows of a terminal: by rich if it is here, else as plain text."""

import re
import sys
import textwrap

from engine.command.output import has_colour
from engine.command.processes import output_of
from lab_tool.setup.packages import PythonPackage, python_with

RICH = PythonPackage("rich", (13,), "The tasks of exercises are laid out by rich", True)
# no_color leaves bold and italic letters, and no background.
RENDER = """\
import sys
from rich.console import Console
from rich.markdown import Markdown
console = Console(width=int(sys.argv[1]), force_terminal=True, color_system="standard", no_color=True)
console.print(Markdown(sys.stdin.read(), code_theme="bw", hyperlinks=False))
"""
ATTRIBUTES = re.compile(r"\x1b\[([\d;]*)m")
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]*\)")
EMPHASIS = re.compile(r"(`[^`]*`)|(\*{1,2})(\S(?:[^*]*\S)?)\2")
BLOCK = re.compile(r"(?P<fence>```.*?^```$)|(?P<text>(?:(?!```)[^\n]*\S[^\n]*\n?)+)", re.M | re.S)
ITEM = re.compile(r"(?m)^(?=[-*] |\d+\. )")


def task_rows(text, columns):
    """The page's rows, each at most so wide. A link is its words: nobody follows it from here."""
    text = re.sub(r"`[^`]*`|" + LINK.pattern, lambda link: link[1] or link[0], text)
    python = python_with(RICH)
    laid_out = python and output_of([python, "-c", RENDER, str(columns)], text)
    return _rows_of_rich(laid_out) if laid_out else _plain_rows(text, columns)


def _rows_of_rich(laid_out):
    """Rich's lines, with bold letters alone if the terminal shows any, and one empty line for several."""

    def kept(match):
        codes = match[1].split(";")
        return f"\x1b[{'1' if '1' in codes else '0'}m" if has_colour(sys.stdout) else ""

    rows = [ATTRIBUTES.sub(kept, row).rstrip() for row in laid_out.strip("\n").split("\n")]
    return [row for row, before in zip(rows, ["", *rows]) if row or before]


def _plain_rows(text, columns):
    rows = []
    for block in BLOCK.finditer(text):
        rows += [""] if rows else []
        if block["fence"]:
            rows += [f"  {line}".rstrip() for line in block["fence"].split("\n")[1:-1]]
            continue
        words = EMPHASIS.sub(lambda match: match[1] or match[3], block["text"].lstrip("# "))
        for item in filter(None, ITEM.split(words)):
            mark = re.match(r"[-*] |\d+\. |", item)[0]
            joined = " ".join(item.split())
            rows += textwrap.wrap(joined, columns, subsequent_indent=" " * len(mark))
    return rows
