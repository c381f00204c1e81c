# SPDX-License-Identifier: MIT
"""Puts the steppers into their lessons, each with a static form for readers without JavaScript."""

import html
import json

from docutils import nodes

from course_site.stepper_states import FIGURES, data_of, key_of


def connect(app):
    # Before Sphinx makes the page's table of contents.
    app.connect("doctree-read", add_stepper, priority=400)
    app.connect("html-page-context", add_script)


def figures_of(docname):
    return [each for each in FIGURES if docname == f"chapters/{each.lesson}/README"]


def add_stepper(app, doctree):
    """Handler of doctree-read: a section at the end of the one that the figure names."""
    for figure in figures_of(app.env.docname):
        parent = next(
            (one for one in doctree.findall(nodes.section) if figure.anchor in _anchors(one)), None
        )
        if parent is None:
            raise ValueError(f"{figure.lesson} has no section {figure.anchor} for its stepper.")
        section = nodes.section("", ids=["play-the-schedule"], names=["play the schedule"])
        section += nodes.title("", figure.title)
        section += nodes.paragraph("", figure.introduction)
        section += nodes.raw("", figure_as_html(figure), format="html")
        parent += section


def _anchors(section):
    return {*section["ids"], section.get("slug")}


def add_script(app, pagename, templatename, context, doctree):
    """Handler of html-page-context: the script is loaded where there is a stepper."""
    if figures_of(pagename):
        app.add_js_file("stepper.js", defer="defer")


def figure_as_html(figure):
    data = data_of(figure)
    start = key_of(figure, {switch.name for switch in figure.switches if switch.starts_on})
    data["start"] = start
    # In a script, "</" would end it.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div class="stepper" role="group" aria-label="{html.escape(figure.title)}">'
        f'<div class="stepper-static">{_columns(data["settings"][start])}{_verdicts(figure, data, start)}'
        f'</div><script type="application/json">{text}</script></div>'
    )


def _columns(setting):
    """The program as the lesson has it: what each thread does, in order."""
    columns = []
    for thread in setting["threads"]:
        items = "".join(f"<li>{html.escape(one['says'])}</li>" for one in thread["operations"])
        columns.append(
            f'<div class="stepper-thread"><h4>{_thread_name(thread["name"])}</h4><ol>{items}</ol></div>'
        )
    return f'<div class="stepper-threads">{"".join(columns)}</div>'


def _thread_name(name):
    if name == "host":
        return "the host"
    return f"block {name[0]}, thread {name[1]}"


def _verdicts(figure, data, start):
    """A table: what the model says about the program, and about it with one switch turned."""
    rows = [_row("as it is", data["settings"][start])]
    for number, switch in enumerate(figure.switches):
        key = start[:number] + ("0" if start[number] == "1" else "1") + start[number + 1 :]
        words = "without" if start[number] == "1" else "with"
        rows.append(_row(f"{words}: {switch.says}", data["settings"][key]))
    return (
        "<table><thead><tr><th>the program</th><th>what races</th><th>reads that may see more than one "
        f"value</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _row(words, setting):
    says = {
        f"{thread['name']}.{number}": f"{thread['name']}: {one['says']}"
        for thread in setting["threads"]
        for number, one in enumerate(thread["operations"])
    }
    races = [f"{says[one]}, and {says[other]}" for one, other in setting["pairs"]]
    reads = [
        f"{says[read]}: {' or '.join(values)}"
        for read, values in setting["reads"].items()
        if len(values) > 1
    ]
    cells = "".join(
        f"<td>{'<br>'.join(map(html.escape, lines)) or 'nothing'}</td>" for lines in (races, reads)
    )
    return f"<tr><th scope='row'>{html.escape(words)}</th>{cells}</tr>"
