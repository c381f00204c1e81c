# SPDX-License-Identifier: MIT
"""Draws schedules: which multiprocessor worked on which item when, as one SVG.

It reads trace files, which the programs' --trace writes, or one file of recorded schedules, which is
what a picture needs of them: a few multiprocessors, and what is true of all. `./lab trace` calls this.

Recorded schedules are a JSON object:
  about   what the runs ran on: "place", in words; "cores" of the CPU that plays the multiprocessors,
          null for a GPU; "date"; "command"
  panels  for each variant: variant, multiprocessors, slots, makespan_ms, busy_fraction, blocks (how
          many worked on items), items, shown (the numbers of the multiprocessors that are drawn), and
          bars: [place of the row in the panel, begin and length in ms, block]
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from engine.command import drawing  # noqa: E402
from engine.command.errors import CommandError  # noqa: E402
from engine.command.output_files import NamedOutputs, add_force  # noqa: E402

BEGINNING = rb'\{\n  "about": \{\n'  # of a file of recorded schedules

# Of more multiprocessors than MOST_SHOWN a panel has FEW: those that end first and last, and others
# between.
MOST_SHOWN, FEW = 6, 4

LEFT, RIGHT = 64, 448
BUSY = (
    "Busy is slot time: the part of the slots' time in which they hold an item, whether it computes "
    "or waits."
)
# In a picture a bar is at least so wide; bars that are narrower become one with their neighbours.
NARROW = 1.5


def panels_of(trace):
    """The panels of a trace, which --trace has written, with a few multiprocessors each."""
    found = []
    for pid, run in enumerate(trace["otherData"]["schedules"]):
        slots = run["rows_a_multiprocessor"]
        bars = sorted(
            [event["tid"], event["ts"] / 1000, event["dur"] / 1000, event["args"]["block"]]
            for event in trace["traceEvents"]
            if event["ph"] == "X" and event["pid"] == pid
        )
        shown = few_of(bars, run["multiprocessors"], slots)
        place_of = {
            sm * slots + slot: place * slots + slot
            for place, sm in enumerate(shown)
            for slot in range(slots)
        }
        found.append(
            {
                "variant": run["variant"],
                "multiprocessors": run["multiprocessors"],
                "slots": slots,
                "makespan_ms": run["makespan_ms"],
                "busy_fraction": run["busy_fraction"],
                "blocks": len({block for _, _, _, block in bars}),
                "items": len(bars),
                "shown": shown,
                "bars": [
                    [place_of[row], begin, length, block]
                    for row, begin, length, block in bars
                    if row in place_of
                ],
            }
        )
    return found


def few_of(bars, multiprocessors, slots):
    """The numbers of the multiprocessors to draw."""
    if multiprocessors <= MOST_SHOWN:
        return list(range(multiprocessors))
    ends = dict.fromkeys(range(multiprocessors), 0)
    for row, begin, length, _ in bars:
        ends[row // slots] = max(ends[row // slots], begin + length)
    in_order = sorted(ends, key=lambda sm: (ends[sm], sm))
    return [in_order[place * (multiprocessors - 1) // (FEW - 1)] for place in range(FEW)]


def starts_of(bars):
    """The bars that are the first of their block, as their places in the list."""
    first = {}
    for place, (_, begin, _, block) in enumerate(bars):
        if block not in first or begin < bars[first[block]][1]:
            first[block] = place
    return set(first.values())


def shapes_of(bars, scale):
    """[(row, x, width, colour)] from the left edge of the panel on: a bar each, but for narrow ones of
    one colour that follow each other, which are one."""
    first = starts_of(bars)
    shapes = []
    order = sorted(range(len(bars)), key=lambda place: (bars[place][0], bars[place][1]))
    for place in order:
        row, begin, length, _ = bars[place]
        x, width = begin * scale, length * scale
        colour = "blue" if place in first else "orange"
        if shapes and width < NARROW:
            last_row, last_x, last_width, last_colour = shapes[-1]
            touches = x - (last_x + last_width) < NARROW
            if last_row == row and last_colour == colour and last_width < 40 and touches:
                shapes[-1] = (row, last_x, x + width - last_x, colour)
                continue
        shapes.append((row, x, width, colour))
    return shapes


def ticks(longest):
    """Round numbers of ms from 0 to `longest`, some five of them."""
    step = 10.0 ** len(str(int(longest)))
    while longest / step < 3:
        step /= 2 if str(step).lstrip("0.")[0] in "12" else 2.5
    return [number * step for number in range(int(longest / step) + 1)]


def figure_of(schedules):
    """The picture of recorded schedules."""
    panels = schedules["panels"]
    about = schedules["about"]
    longest = max(1e-6, *(each["makespan_ms"] for each in panels))
    scale = (RIGHT - LEFT - 8) / longest
    heights = [panel_height(each) for each in panels]
    top = 10
    axis = top + sum(height + 40 for height in heights)
    has_few = any(len(each["shown"]) < each["multiprocessors"] for each in panels)
    notes = [
        *([few_words(panels)] if has_few else []),
        *drawing.fitted(BUSY),
        *(drawing.fitted(sharing_words(about)) if shares_cores(schedules) else []),
        *drawing.fitted(f"{about['place']}; {about['date'][:10]}."),
    ]
    legend = axis + 36
    below = legend + 22 * (len(legend_of(panels)) // 2) + 4
    figure = drawing.Figure(
        below + 19 * len(notes) - 8,
        "Schedules: " + ", ".join(each["variant"] for each in panels),
        "A panel for each way to hand out the items, a row for each slot of a multiprocessor, a bar "
        "for each item. "
        + " ".join(
            f"{each['variant']}: {each['items']} items by {each['blocks']} blocks in "
            f"{each['makespan_ms']:.4g} ms, slots busy {100 * each['busy_fraction']:.0f} % of the time."
            for each in panels
        )
        + f" Drawn from a run of {about['command']} on {about['place']}, {about['date'][:10]}.",
    )
    y = top
    for each, height in zip(panels, heights):
        draw_panel(figure, each, y + 26, scale)
        y += height + 40
    *others, last = ticks(longest)
    for value in (*others, last):
        x = LEFT + value * scale
        figure.line([(x, axis - 8), (x, axis - 3)], "frame")
        text = f"{value:g} ms" if value == last else f"{value:g}"
        if x < RIGHT - 20:
            figure.label(x, axis + 11, text, "middle", colour="quiet")
        else:
            figure.label(RIGHT + 4, axis + 11, text, "end", colour="quiet")
    draw_legend(figure, legend, panels)
    for place, text in enumerate(notes):
        figure.label(drawing.NOTE_LEFT, below + 19 * place, text, colour="quiet")
    return figure


def shares_cores(schedules):
    """Whether a CPU with fewer cores played the multiprocessors: then they slow each other down."""
    cores = schedules["about"]["cores"]
    return cores and any(each["multiprocessors"] > cores for each in schedules["panels"])


def sharing_words(about):
    return f"The SMs share {about['cores']} cores: compare idle slots, not milliseconds."


def few_words(panels):
    most = max(each["multiprocessors"] for each in panels)
    return f"{FEW} of {most} SMs: the first and last to end, and two between."


def row_height(panel):
    return 15 if panel["slots"] == 1 else 7 if panel["slots"] <= 4 else 5


def top_of(panel, row):
    """Where a row of the panel begins, below the panel's top. Multiprocessors of several rows stand
    a little apart."""
    apart = 0 if panel["slots"] == 1 else 5
    return row * row_height(panel) + row // panel["slots"] * apart


def panel_height(panel):
    return top_of(panel, len(panel["shown"]) * panel["slots"] - 1) + row_height(panel)


def draw_panel(figure, panel, top, scale):
    height = row_height(panel)
    slots = panel["slots"]
    figure.label(14, top - 8, panel["variant"], code=True, bold=True)
    facts = f"{panel['makespan_ms']:.4g} ms, busy {100 * panel['busy_fraction']:.0f} %"
    figure.label(RIGHT, top - 8, facts, "end")
    for place, sm in enumerate(panel["shown"]):
        y = top + top_of(panel, place * slots)
        figure.label(11, y + slots * height / 2 + 5, f"SM {sm}", colour="quiet")
        # What no bar covers is idle.
        for slot in range(slots):
            figure.bar(LEFT, y + slot * height + 1, RIGHT - 8 - LEFT, height - 2, "idle")
    for row, x, width, colour in shapes_of(panel["bars"], scale):
        y = top + top_of(panel, row) + 1
        gap = 0.7 if width > 2 * NARROW else 0
        figure.bar(LEFT + x, y, max(width - gap, 0.4), height - 2, colour)
    marked = set()
    for place in sorted(starts_of(panel["bars"])):
        row, begin, _, _ = panel["bars"][place]
        x = round(LEFT + begin * scale, 1)
        if (row, round(x)) not in marked:
            marked.add((row, round(x)))
            figure.bar(x - 1, top + top_of(panel, row) - 1, 2, height + 2, "ink")
    end = LEFT + panel["makespan_ms"] * scale
    bottom = top + panel_height(panel)
    figure.line([(end, top - 4), (end, bottom + 3)], "red", dashed=True)


def legend_of(panels):
    """[(what is drawn, its meaning)]; two of them share a line."""
    takes_over = any("canceled" in each["variant"] for each in panels)
    most = max(each["slots"] for each in panels)
    up_to = "up to " if any(each["slots"] < most for each in panels) else ""
    return [
        ("blue", "first item of a block"),
        ("orange", "later item of the block"),
        *([(None, "with canceling: its own"), (None, "with canceling: taken over")] * takes_over),
        ("start", "a block starts: prologue"),
        ("idle", "nothing in this slot"),
        ("end", "the last item ends"),
        (None, "1 slot per SM" if most == 1 else f"{up_to}{most} slots (rows) per SM"),
    ]


def draw_legend(figure, top, panels):
    for place, (what, meaning) in enumerate(legend_of(panels)):
        x, y = (14, 226)[place % 2], top + 22 * (place // 2)
        if what == "start":
            figure.bar(x + 11, y - 12, 2, 15, "ink")
        elif what == "end":
            figure.line([(x, y - 5), (x + 24, y - 5)], "red", dashed=True)
        elif what:
            figure.bar(x, y - 11, 24, 13, what)
        figure.label(x + 30, y, meaning, colour="ink" if what else "quiet")


def recorded(schedules):
    """Recorded schedules as text: a line for each bar, so that a change shows as such."""
    lines = []
    for each in schedules["panels"]:
        bars = ",\n      ".join(
            json.dumps([row, round(begin, 4), round(length, 4), block])
            for row, begin, length, block in each["bars"]
        )
        facts = ",\n      ".join(
            f"{json.dumps(key)}: {json.dumps(value)}"
            for key, value in each.items()
            if key != "bars"
        )
        lines.append(f'    {{\n      {facts},\n      "bars": [\n      {bars}\n      ]\n    }}')
    about = json.dumps(schedules["about"], indent=4)[:-2]
    panels = ",\n".join(lines)
    return f'{{\n  "about": {about}\n  }},\n  "panels": [\n{panels}\n  ]\n}}\n'


def load(path):
    """Recorded schedules from their file."""
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the SVG")
    parser.add_argument("--json", type=pathlib.Path, help="also record the schedules here")
    parser.add_argument(
        "--about",
        required=True,
        help="place, cores, date and command of the runs, as a JSON object",
    )
    add_force(parser)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    outputs = NamedOutputs(arguments.force, arguments.traces)
    try:
        record = outputs.add("--json", arguments.json, BEGINNING)
        picture = outputs.add("--output", arguments.output, drawing.BEGINNING)
    except CommandError as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.code)
    panels = [
        panel
        for path in arguments.traces
        for panel in panels_of(json.loads(path.read_text(encoding="utf-8")))
    ]
    if not any(each["items"] for each in panels):
        sys.exit("these traces have no items, so there is nothing to draw")
    schedules = {"about": json.loads(arguments.about), "panels": panels}
    # As it will be read: a picture is the same, whether it is drawn now or from the file.
    text = recorded(schedules)
    figure = figure_of(json.loads(text))
    try:
        if record:
            record.write(text)
        picture.write(figure.svg())
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
