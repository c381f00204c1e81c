# SPDX-License-Identifier: MIT
"""Recorded benchmark runs as plots that can be zoomed and read off, next to the static pictures.

Each chapter of a recorded run that was timed over several sizes becomes a file of data, which plots.js
loads when the reader opens the plot. The drawing is done by dygraphs, which is part of the site.
"""

import html
import json
import pathlib
import re

from docutils import nodes

from lab_tool.paths import ROOT

RUNS = ROOT / "docs/benchmarks"
# The run of which a lesson shows times.
LESSONS_RUN = "nvidia-h200"
FEWEST_SIZES = 3  # of a line


def connect(app):
    app.connect("doctree-read", add_plots, priority=400)
    app.connect("html-page-context", add_script)
    app.connect("build-finished", write_data)


def groups_of(run, chapter):
    """[{title, names, rows}] of a chapter: rows are [elements, for each name [low, median, high]]."""
    found = {}
    for row in run["rows"]:
        if row["chapter"] == chapter:
            kind = (row["task"], row["type"], row["data"])
            points = found.setdefault(kind, {}).setdefault(row["name"], {})
            points[row["elements"]] = [
                row[name] * 1000 for name in ("lower_quartile_ms", "median_ms", "upper_quartile_ms")
            ]
    groups = []
    for (task, element_type, data), lines in found.items():
        sizes = sorted({size for points in lines.values() for size in points})
        if len(sizes) < FEWEST_SIZES:
            continue
        rows = [
            [size, *(_rounded(points.get(size)) for points in lines.values())] for size in sizes
        ]
        place = {"memory": "input in device memory", "cache": "input in the cache"}.get(data, "")
        title = ", ".join(filter(None, (task, element_type, place)))
        groups.append({"title": title, "names": list(lines), "rows": rows})
    return groups


def _rounded(values):
    return None if values is None else [float(f"{value:.4g}") for value in values]


def plots_of_runs():
    """{name: what the file of data holds}, for all recorded runs of GPUs in docs/benchmarks."""
    made = {}
    for file in sorted(RUNS.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if run.get("backend") != "cuda":
            continue
        for chapter in sorted({row["chapter"] for row in run["rows"]}):
            groups = groups_of(run, chapter)
            if groups:
                about = (
                    f"Recorded on {run['device']['name']}, {run['date'][:10]}, commit "
                    f"{(run['commit'] or 'unknown')[:7]}: {run['command']}"
                )
                made[f"{file.stem}-{chapter}"] = {"about": about, "groups": groups}
    return made


def plots_on(docname):
    """[(name of the plot, how its place is found in the page)] of a page."""
    known = plots_of_runs()
    if docname == "docs/benchmarks/README":
        return [(name, f"{name}.svg") for name in known]
    lesson = re.fullmatch(r"chapters/(\d\d)_\w+/README", docname)
    name = f"{LESSONS_RUN}-{lesson[1]}" if lesson else ""
    return [(name, "what-it-costs")] if name in known else []


def add_plots(app, doctree):
    """Handler of doctree-read: after a static picture, or at the end of a lesson's section of times."""
    for name, place in plots_on(app.env.docname):
        plot = nodes.raw("", _folded(name), format="html")
        if place.endswith(".svg"):
            for image in doctree.findall(nodes.image):
                if pathlib.PurePosixPath(image["uri"]).name == place:
                    around = image.parent
                    around.parent.insert(around.parent.index(around) + 1, plot)
                    break
        else:
            section = next(
                (one for one in doctree.findall(nodes.section) if place in one["ids"]), None
            )
            if section is not None:
                section += plot


def _folded(name):
    return (
        f'<details class="plot" data-plot="{html.escape(name)}"><summary>All recorded times of chapter '
        f'{html.escape(name[-2:])}, as a plot to zoom into</summary><div class="plot-place"><noscript>The '
        "plot needs JavaScript. The tables of this page have its most important values.</noscript></div>"
        "</details>"
    )


def add_script(app, pagename, templatename, context, doctree):
    """Handler of html-page-context."""
    if doctree is not None and plots_on(pagename):
        app.add_js_file("plots.js", defer="defer")


def write_data(app, error):
    """Handler of build-finished: scripts, because a page that is a file can't read other files."""
    if error:
        return
    folder = pathlib.Path(app.outdir) / "_static/plots"
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in plots_of_runs().items():
        text = json.dumps(plot, separators=(",", ":"))
        script = f"(window.coursePlots ??= {{}})[{json.dumps(name)}] = {text};\n"
        (folder / f"{name}.js").write_text(script, encoding="utf-8")
