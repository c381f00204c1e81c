# SPDX-License-Identifier: MIT
"""Draws the schedules of trace files, which the programs' --trace writes, as one SVG.

A panel for each variant, all on the same time axis: a row for each slot of a multiprocessor, a bar for
each item. `./lab trace` calls this with a Python that has matplotlib.
"""

import argparse
import collections
import json
import pathlib
import sys

import svg_picture
from svg_picture import INK

IDLE = "#7a7f8633"
BARS = (
    "#2f81c7",
    "#d9822b",
)  # Neighbours in a row take turns, so that one sees where an item ends.

# Beyond this many bars an SVG of shapes takes browsers seconds: they become an image inside it.
MOST_SHAPES = 2000

WIDTH = 8.0  # inches; at 800 pixels a point of text is 1.4 pixels.
PANEL_HEIGHT = 1.45

panel = collections.namedtuple("panel", "variant multiprocessors slots makespan_ms busy bars")
bar = collections.namedtuple("bar", "row begin_ms length_ms")


def panels_of(path):
    """The panels of one trace file."""
    trace = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    bars = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            bars[event["pid"]].append(bar(event["tid"], event["ts"] / 1000, event["dur"] / 1000))
    return [
        panel(
            run["variant"],
            run["multiprocessors"],
            run["rows_a_multiprocessor"],
            run["makespan_ms"],
            run["busy_fraction"],
            bars[pid],
        )
        for pid, run in enumerate(trace["otherData"]["schedules"])
    ]


def draw(panels, path):
    plt = svg_picture.pyplot(font_size=10)
    from matplotlib.collections import PolyCollection

    figure, axes = plt.subplots(
        len(panels),
        1,
        sharex=True,
        squeeze=False,
        figsize=(WIDTH, PANEL_HEIGHT * len(panels) + 0.5),
        layout="constrained",
    )
    as_image = sum(len(each.bars) for each in panels) > MOST_SHAPES
    for axis, each in zip(axes[:, 0], panels):
        rows = each.multiprocessors * each.slots
        axis.axhspan(0, rows, color=IDLE, linewidth=0)
        turns = collections.Counter()
        shapes, colours = [], []
        for one in sorted(each.bars, key=lambda item: item.begin_ms):
            end = one.begin_ms + one.length_ms
            low, high = one.row + 0.06, one.row + 0.94
            shapes.append([(one.begin_ms, low), (end, low), (end, high), (one.begin_ms, high)])
            colours.append(BARS[turns[one.row] % 2])
            turns[one.row] += 1
        axis.add_collection(
            PolyCollection(shapes, facecolors=colours, linewidths=0, rasterized=as_image)
        )
        axis.set_ylim(rows, 0)
        steps = max(1, -(-each.multiprocessors // 6))
        shown = range(0, each.multiprocessors, steps)
        axis.set_yticks([(number + 0.5) * each.slots for number in shown], [str(n) for n in shown])
        axis.set_ylabel("SM")
        axis.set_title(
            f"{each.variant}: {each.makespan_ms:.4g} ms, {100 * each.busy:.0f} % busy",
            loc="left",
            fontsize=11,
        )
        axis.axvline(each.makespan_ms, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        svg_picture.without_frame(axis)
    axes[0, 0].set_xlim(0, 1.02 * max(each.makespan_ms for each in panels))
    axes[-1, 0].set_xlabel("milliseconds")
    svg_picture.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("traces", nargs="+")
    arguments = parser.parse_args()
    panels = [each for path in arguments.traces for each in panels_of(path)]
    if not any(each.bars for each in panels):
        sys.exit("these traces have no items, so there is nothing to draw")
    draw(panels, arguments.output)


if __name__ == "__main__":
    main()
