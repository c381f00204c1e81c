# SPDX-License-Identifier: MIT
"""Draws a recorded run: for each chapter one SVG, with time and bandwidth over the number of elements.

What was measured at one size alone has a bar for each contender instead.

`./lab plot` calls this with a Python that has matplotlib.
"""

import argparse
import collections
import pathlib
import re
import sys

import recorded_run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common/lab"))
import svg_picture  # noqa: E402
from svg_picture import INK  # noqa: E402

# As readable as svg_picture.INK: each has a contrast of 3 or more to white and to a dark page.
COLOURS = [
    *("#2f81c7", "#c76b12", "#2e9455", "#d04a45", "#8f68c9", "#8d7433", "#c04f96", "#1f8f99")
]
# How one tells contenders apart without colours.
MARKERS = "osD^vPX*"
LINES = {"memory": "-", "cache": (0, (4, 2))}

WIDTH = 9.0  # inches; at 900 pixels a point of text is 1.4 pixels.
PANEL_HEIGHT = 3.0

CPU_BLOCK = 256  # Of the CPU backend's rows those of this block size are drawn.

graph = collections.namedtuple("graph", "title unit value logarithmic")

TIME = graph("time", "µs", lambda row: row["median_ms"] * 1e3, True)
BANDWIDTH = graph("bandwidth", "GB/s", recorded_run.bandwidth, False)
ELEMENT = graph("time of an element", "ns", recorded_run.nanoseconds_an_element, True)


def drawn_rows(run):
    """{chapter: {task: {(contender, data): rows by size}}}, in the order of the run."""
    chapters = {}
    for row in run["rows"]:
        if row.get("block", CPU_BLOCK) != CPU_BLOCK:
            continue
        # The CPU backend's tasks have no type.
        kind = f"{row['task']} of {row['type']}" if row["type"] else row["task"]
        tasks = chapters.setdefault(row["chapter"], {})
        tasks.setdefault(kind, {}).setdefault((row["name"], row["data"]), []).append(row)
    for tasks in chapters.values():
        for series in tasks.values():
            for rows in series.values():
                rows.sort(key=size_of)
    return chapters


def size_of(row):
    return row.get("threads", row["elements"])


def series_id(chapter, task, name, data, what):
    """The id of a series in the SVG."""
    return re.sub(r"[^\w-]+", "-", f"{chapter}-{task}-{name}-{data}-{what.title}")


def draw_series(axis, series, what, chapter, task):
    names = list(dict.fromkeys(name for name, _ in series))
    for (name, data), rows in series.items():
        points = [(size_of(row), what.value(row)) for row in rows if what.value(row) is not None]
        if not points:
            continue
        place = names.index(name)
        is_frame = rows[0]["part"] in ("floor", "ceiling")
        colour = INK if is_frame else COLOURS[place % len(COLOURS)]
        (line,) = axis.plot(
            *zip(*points),
            color=colour,
            linestyle=":" if is_frame else LINES[data],
            linewidth=1.4,
            marker="" if is_frame else MARKERS[place % len(MARKERS)],
            markersize=3.5,
            label=name if data == "memory" else f"{name}, cached",
        )
        line.set_gid(series_id(chapter, task, name, data, what))
        if what is TIME:
            low, high = (
                [row[quartile] * 1e3 for row in rows]
                for quartile in ("lower_quartile_ms", "upper_quartile_ms")
            )
            axis.fill_between(
                [size_of(row) for row in rows], low, high, color=colour, alpha=0.25, lw=0
            )


def has_one_size(series):
    return len({size_of(row) for rows in series.values() for row in rows}) == 1


def draw_bars(axis, series, chapter, task):
    """The times of contenders at one size, the first one on top. The empty kernel's would not be seen."""
    shown = {key: rows[0] for key, rows in series.items() if rows[0]["part"] != "floor"}
    names = [name for name, _ in shown]
    times = [row["median_ms"] for row in shown.values()]
    for place, ((name, data), row) in enumerate(shown.items()):
        colour = INK if row["part"] != "variant" else COLOURS[0]
        (bar,) = axis.barh([place], [row["median_ms"]], height=0.7, color=colour)
        bar.set_gid(series_id(chapter, task, name, data, TIME))
        axis.text(row["median_ms"], place, f" {row['median_ms']:.4g}", va="center", fontsize=8)
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.invert_yaxis()
    axis.set_xlim(0, max(times) * 1.12)
    axis.set_xlabel("ms; grey: what the variants are compared with")


def draw_chapter(chapter, tasks, run, path):
    plt = svg_picture.pyplot(font_size=9)
    from matplotlib.ticker import NullFormatter

    graphs = [TIME, BANDWIDTH] if run["backend"] == "cuda" else [ELEMENT]
    figure = plt.figure(
        figsize=(WIDTH, PANEL_HEIGHT * len(tasks) + 0.3),
        layout="constrained",
    )
    grid = figure.add_gridspec(len(tasks), len(graphs))
    for place, (task, series) in enumerate(tasks.items()):
        if run["backend"] == "cuda" and has_one_size(series):
            axis = figure.add_subplot(grid[place, :])
            draw_bars(axis, series, chapter, task)
            axis.set_title(f"{task}: time, ms", loc="left", fontsize=10)
            svg_picture.without_frame(axis)
            continue
        axes_of_task = [figure.add_subplot(grid[place, column]) for column in range(len(graphs))]
        for axis, what in zip(axes_of_task, graphs):
            draw_series(axis, series, what, chapter, task)
            axis.set_xscale("log", base=2)
            if what.logarithmic:
                axis.set_yscale("log")
                axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
                axis.yaxis.set_minor_formatter(NullFormatter())
            else:
                axis.set_ylim(bottom=0)
            axis.grid(True, linewidth=0.5)
            axis.set_title(f"{task}: {what.title}, {what.unit}", loc="left", fontsize=10)
            svg_picture.without_frame(axis)
            axis.set_xlabel("threads" if run["backend"] == "cpu" else "elements")
        # The empty kernel has a time and no bandwidth: the first graph knows all.
        axes_of_task[-1].legend(
            *axes_of_task[0].get_legend_handles_labels(),
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
        )
    figure.suptitle(recorded_run.place_of(run), fontsize=9, x=0.01, ha="left")
    svg_picture.save(figure, path)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path, help="a folder")
    parser.add_argument("run", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        run = recorded_run.load(arguments.run)
    except recorded_run.run_error as error:
        sys.exit(str(error))
    for chapter, tasks in drawn_rows(run).items():
        target = arguments.output / f"{arguments.run.stem}-{chapter}.svg"
        draw_chapter(chapter, tasks, run, target)
        print(target)


if __name__ == "__main__":
    main()
