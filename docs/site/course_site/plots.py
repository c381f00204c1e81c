# SPDX-License-Identifier: MIT
"""All recorded times of a chapter, folded: a picture and a table for each task, next to what the page
itself shows of them."""

import functools
import html
import pathlib
import re

from docutils import nodes

import draw_run
import recorded_run
from lab_tool.paths import ROOT
from recorded_run import caption, duration, size_text

RUNS = ROOT / "docs/benchmarks"
# In a lesson: the run of which it shows times.
TABLE = re.compile(r"^<!-- table: docs/benchmarks/([\w-]+)\.json ", re.M)
PICTURES = "_static/plots"


def connect(app):
    app.connect("doctree-read", add_plots, priority=400)
    app.connect("build-finished", write_pictures)


@functools.cache
def plots_of_runs():
    """{name: (the run, its plots)} for each chapter of the recorded runs of GPUs."""
    found = {}
    for file in sorted(RUNS.glob("*.json")):
        run = recorded_run.load_course_run(file)
        if run["backend"] == "cuda":
            for chapter in sorted({row["chapter"] for row in run["rows"]}):
                plots = draw_run.times_plots(run, chapter)
                if plots:
                    found[draw_run.picture_name(file.stem, chapter)] = (run, plots)
    return found


def plots_on(docname):
    """[(name of the plots, how their place is found in the page)] of a page."""
    known = plots_of_runs()
    if docname == "docs/benchmarks/README":
        return [(name, f"{name}.svg") for name in known]
    lesson = re.fullmatch(r"chapters/(\d\d)_\w+/README", docname)
    table = lesson and TABLE.search((ROOT / f"{docname}.md").read_text(encoding="utf-8"))
    name = draw_run.picture_name(table[1], lesson[1]) if table else ""
    return [(name, "what-it-costs")] if name in known else []


def add_plots(app, doctree):
    """Handler of doctree-read: after a static picture, or at the end of a lesson's section of times."""
    for name, place in plots_on(app.env.docname):
        plots = nodes.raw("", _folded(name, app.env.docname), format="html")
        if place.endswith(".svg"):
            for image in doctree.findall(nodes.image):
                if pathlib.PurePosixPath(image["uri"]).name == place:
                    around = image.parent
                    around.parent.insert(around.parent.index(around) + 1, plots)
                    break
        else:
            section = next(
                (one for one in doctree.findall(nodes.section) if place in one["ids"]), None
            )
            if section is not None:
                section += plots


def _folded(name, docname):
    run, plots = plots_of_runs()[name]
    root = "../" * docname.count("/")
    parts = []
    for number, plot in enumerate(plots):
        title = html.escape(plot.title)
        # A picture is loaded when it is unfolded: a lesson stays light.
        parts.append(
            f'<img src="{root}{PICTURES}/{name}-{number}.svg" loading="lazy" '
            f'alt="The times of {title}: a line for each case">'
            f"<details><summary>The medians of {title}, as a table</summary>{_table(plot)}</details>"
        )
    about = re.sub("`(.*?)`", r"<code>\1</code>", html.escape(caption(run)))
    return (
        f'<details class="plot"><summary>All recorded times of chapter {html.escape(name[-2:])}</summary>'
        f"{''.join(parts)}<p>{about}</p></details>"
    )


def _table(plot):
    """The medians, a row for each size and a column for each case. The keyboard can scroll it."""
    medians = {
        name: {each.place: each.value for each in points} for name, points in plot.lines.items()
    }
    heads = "".join(f'<th scope="col"><code>{html.escape(name)}</code></th>' for name in medians)
    rows = []
    for size in plot.places:
        cells = (
            duration(points[size] / 1000) if size in points else "" for points in medians.values()
        )
        rows.append(
            f'<tr><th scope="row">{size_text(size)}</th>'
            f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        )
    return (
        '<table class="docutils" tabindex="0">'
        f'<thead><tr><th scope="col">{plot.axis}</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def write_pictures(app, error):
    """Handler of build-finished."""
    if error:
        return
    folder = pathlib.Path(app.outdir) / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for name, (run, plots) in plots_of_runs().items():
        for number, plot in enumerate(plots):
            svg = draw_run.figure_of(name[-2:], plot, run).svg()
            (folder / f"{name}-{number}.svg").write_text(svg, encoding="utf-8")
