# SPDX-License-Identifier: MIT
"""Draws a recorded run: for each chapter one SVG, with time over the best library's time.

What a chapter's picture shows stands in a marker of docs/benchmarks/README.md, in the words of
lesson_tables.py:
  <!-- picture: FILE chapter=04 task=sum type=float data=memory names=NAME,NAME to=NAME -->
  task           with one task the picture goes over its sizes; with several, of one size each, over the
                 tasks, which `labels` names, and `title` together
  names          the cases that have a line each, three or four
  to             the cases whose fastest, at each size, is 1
Without it, or in a run without those lines, it shows the chapter's first task, divided by its peers,
with the first four variants.
Of the CPU backend's own benchmark the picture has nanoseconds.

`./lab plot` calls this.
"""

import argparse
import collections
import math
import pathlib
import sys

import lesson_tables
import recorded_run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from engine.command import drawing  # noqa: E402
from engine.command.errors import CommandError  # noqa: E402
from engine.command.output_files import NamedOutputs, add_force  # noqa: E402

MOST_LINES = 4
FEWEST_SIZES = 3  # of a plot of all times
TIMES = ("median_ms", "lower_quartile_ms", "upper_quartile_ms")
INPUTS = {"memory": "device memory", "cache": "the cache"}  # where a call finds them
SIZES = {"block": "blocks"}  # what a size counts, by the rows' type; else elements
CPU_BLOCK = 256  # Of the CPU backend's rows those of this block size are drawn.

COLOURS = ("blue", "orange", "green", "red", "grey")  # of further lines, dashed, again
LEFT, RIGHT, TOP, HEIGHT = 46, 448, 60, 220
NARROWEST = 150  # units, from the axis to the names
LABEL_LETTERS, LABEL_LINE = 16, 15  # A longer name takes two lines.
# Numbers that may stand at the vertical axis: those of the first row if there are enough, and so on.
ROUND = [(1, 2, 5), (1.5, 3, 4, 7), (1.1, 1.2, 1.3, 6, 8, 9)]
ENOUGH = 4

# In its chapter's plot: value is drawn, low and high are the quartiles; place is a size, or a task's.
point = collections.namedtuple("point", "place value low high")
# lines: {name: its points}. places: {place: its words below the axis, or ""}.
plot = collections.namedtuple("plot", "title unit lines places axis notes has_one")


# What is drawn -------------------------------------------------------------------------------------


def definitions(root):
    """{chapter: what its picture shows}"""
    found = {}
    for _, values in lesson_tables.course_specifications("picture", root):
        if "chapter" in values:
            tasks = values["task"].split("|")
            found[values["chapter"]] = {
                **values,
                "tasks": dict(zip(tasks, values.get("labels", values["task"]).split("|"))),
                "divided_by": values["to"],
                "lines": values["names"],
            }
    return found


def definition_from(run, chapter):
    """What the picture shows of a chapter that does not say it, or of a run without its lines."""
    rows = [row for row in run["rows"] if row["chapter"] == chapter]
    task, kind = rows[0]["task"], rows[0]["type"]
    same = [row for row in rows if (row["task"], row["type"]) == (task, kind)]
    names = {
        part: list(dict.fromkeys(row["name"] for row in same if row["part"] == part))
        for part in ("variant", "peer", "floor")
    }
    return {
        "tasks": {task: task},
        "type": kind,
        "divided_by": names["peer"] or names["floor"],
        "lines": names["variant"][:MOST_LINES],
    }


def gpu_plot(run, chapter, what):
    """The plot of a chapter by its definition, or None if the run has none of its lines."""
    tasks = what["tasks"]
    cases = {}
    for row in run["rows"]:
        is_wanted = row["chapter"] == chapter and row["task"] in tasks
        if is_wanted and row["type"] == what["type"] and row["data"] in (
            what.get("data", "memory"), "none",
        ):  # fmt: skip
            place = list(tasks).index(row["task"]) if len(tasks) > 1 else row["elements"]
            cases.setdefault(place, {})[row["name"]] = row
    lines = {name: [] for name in what["lines"]}
    for place, rows in sorted(cases.items()):
        others = [rows[name] for name in what["divided_by"] if name in rows]
        if not others:
            continue
        best = min(others, key=lambda row: row["median_ms"])
        for name, points in lines.items():
            if name in rows:
                points.append(point(place, *ratio(rows[name], best)))
    lines = {name: points for name, points in lines.items() if points}
    if not lines:
        return None
    places = sorted({each.place for points in lines.values() for each in points})
    many = len(what["divided_by"]) > 1
    unit = "time divided by " + (
        "the best library's" if many else f"that of {what['divided_by'][0]}"
    )
    notes = ["Below 1 is faster."]
    if many:
        notes[0] += f" The libraries: {', '.join(what['divided_by'])}."
    if len(tasks) > 1:
        words = {place: list(tasks.values())[place] for place in places}
        return plot(what.get("title", "tasks"), unit, lines, words, "", notes, True)
    data = what.get("data", "memory")
    if data in INPUTS:
        notes[0] += f" Each call finds its input in {INPUTS[data]}."
    title = f"{next(iter(tasks.values()))} of {what['type']}"
    axis = SIZES.get(what["type"], "elements")
    return plot(title, unit, lines, words_of_sizes(places), axis, notes, True)


def times_plots(run, chapter):
    """Plots of all times of a chapter: one for each task, type and place of the input that was timed
    over several sizes."""
    groups = {}
    for row in run["rows"]:
        if row["chapter"] == chapter:
            lines = groups.setdefault((row["task"], row["type"], row["data"]), {})
            times = (row[name] * 1000 for name in TIMES)
            lines.setdefault(row["name"], []).append(point(row["elements"], *times))
    found = []
    for (task, kind, data), cases in groups.items():
        lines = {name: sorted(points) for name, points in cases.items()}
        places = sorted({each.place for points in lines.values() for each in points})
        if len(places) >= FEWEST_SIZES:
            title = f"{task} of {kind}" + (f", from {INPUTS[data]}" if data in INPUTS else "")
            unit, axis = "microseconds per call", SIZES.get(kind, "elements")
            found.append(plot(title, unit, lines, words_of_sizes(places), axis, [], False))
    return found


def cpu_plot(run):
    """The plot of the CPU backend's own benchmark."""
    lines = {}
    for row in run["rows"]:
        if row["block"] == CPU_BLOCK:
            each = point(row["threads"], *(row[name] * 1e6 / row["elements"] for name in TIMES))
            lines.setdefault(row["name"], {})[each.place] = each
    lines = {name: [points[place] for place in sorted(points)] for name, points in lines.items()}
    places = sorted({each.place for points in lines.values() for each in points})
    words = words_of_sizes(places)
    notes = ["kernel, serial_loop: an element of a vector add; the others: a thread at a barrier."]
    return plot("CPU backend", "nanoseconds", lines, words, "threads", notes, False)


def words_of_sizes(sizes):
    """{size: its words below the axis, or ""}: every fifth power of two; every second one if those are
    less than two; all sizes if there are no powers of two."""
    for every in (5, 2):
        words = {size: power_of_two(size, every) for size in sizes}
        if sum(map(bool, words.values())) > 1:
            return words
    return words if any(words.values()) else {size: f"{size:,}" for size in sizes}


def power_of_two(value, every):
    """2^10 with a raised exponent, if that is a multiple of `every`; "" for other numbers."""
    exponent = value.bit_length() - 1
    if value != 2**exponent or exponent % every:
        return ""
    return "2" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def ratio(row, other):
    """Median and quartiles of the row's time over the other's: of the rounds, if they were recorded."""
    found = recorded_run.ratio_to(row, other["name"])
    if found:
        return found["median"], found["lower_quartile"], found["upper_quartile"]
    base = other["median_ms"]
    return tuple(row[name] / base for name in TIMES)


def plots_of(run, root=ROOT):
    """{chapter: its plot}, for the chapters of the run that have something to draw."""
    if run["backend"] == "cpu":
        return {chapter: cpu_plot(run) for chapter in {row["chapter"] for row in run["rows"]}}
    chapters = dict.fromkeys(row["chapter"] for row in run["rows"])
    wanted = definitions(root)
    found = {}
    for chapter in chapters:
        found[chapter] = chapter in wanted and gpu_plot(run, chapter, wanted[chapter])
        found[chapter] = found[chapter] or gpu_plot(run, chapter, definition_from(run, chapter))
    return {chapter: each for chapter, each in found.items() if each}


# The drawing ---------------------------------------------------------------------------------------


def split_name(name):
    """The name in one line or two, broken behind an underscore."""
    if len(name) <= LABEL_LETTERS:
        return [name]
    ends = [place + 1 for place, letter in enumerate(name) if letter == "_"]
    fitting = [end for end in ends if end <= LABEL_LETTERS]
    cut = max(fitting) if fitting else LABEL_LETTERS
    return [name[:cut], name[cut:]]


def spread(wanted, heights, low, high):
    """Middles for labels of these heights, near the wanted ones, in [low, high], and none on another."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    found = {}
    edge = low
    for place in order:
        found[place] = max(wanted[place], edge + heights[place] / 2)
        edge = found[place] + heights[place] / 2
    edge = high
    for place in reversed(order):
        found[place] = min(found[place], edge - heights[place] / 2)
        edge = found[place] - heights[place] / 2
    return [found[place] for place in range(len(wanted))]


def values_at_axis(low, high, height_of):
    """Round numbers between, 20 units apart at least; 1 first, so that it is among them."""
    chosen = []
    for digits in ROUND:
        values = [digit * 10.0**power for digit in digits for power in range(-3, 5)]
        for value in sorted(values, key=lambda each: abs(math.log(each))):
            is_apart = all(abs(height_of(value) - height_of(other)) >= 20 for other in chosen)
            if low <= value <= high and is_apart:
                chosen.append(value)
        if len(chosen) >= ENOUGH:
            break
    return sorted(chosen)


def figure_of(chapter, what, run):
    """The figure of a chapter's plot."""
    every = [each for points in what.lines.values() for each in points]
    low = min([each.low for each in every] + [1] * what.has_one) / 1.06
    high = max([each.high for each in every] + [1] * what.has_one) * 1.06
    labels = {name: split_name(name) for name in what.lines}
    heights = [LABEL_LINE * len(lines) + 4 for lines in labels.values()]
    height = max(HEIGHT, sum(heights))
    letters = max(len(line) for lines in labels.values() for line in lines)
    right = RIGHT - drawing.text_width("x" * letters, drawing.SMALL, code=True) - 16
    if right < LEFT + NARROWEST:
        longest = max(what.lines, key=len)
        raise drawing.DrawingError(f"the name '{longest}' leaves no room for the plot.")
    places = sorted(what.places)
    first, last = math.log2(places[0] + 1), math.log2(places[-1] + 1)
    inset = 0 if what.axis else 30

    def x(place):
        share = (math.log2(place + 1) - first) / (last - first) if last > first else 0.5
        return LEFT + inset + share * (right - LEFT - 2 * inset)

    def y(value):
        return TOP + height * math.log(high / value) / math.log(high / low)

    source = (
        f"Medians of {run['rounds']} rounds on {recorded_run.place_of(run)}; {run['date'][:10]}, "
        f"{recorded_run.commit_of(run)}."
    )
    notes = [line for note in [*what.notes, source] for line in drawing.fitted(note)]
    below = TOP + height + (52 if what.axis else 40)
    heading = f"Chapter {chapter}: {what.title}" if chapter.isdigit() else what.title
    ends = " ".join(f"{name}: {points[-1].value:.3g}." for name, points in what.lines.items())
    figure = drawing.Figure(
        below + 18 * len(notes),
        f"{heading}: {what.unit}",
        f"A line for each case. At the right end: {ends} {source}",
    )
    two_lines = [heading, what.unit]
    if drawing.text_width(heading, drawing.SMALL, bold=True) > drawing.NOTE_WIDTH:
        subject, _, rest = heading.partition(", ")
        two_lines = [subject, f"{rest}: {what.unit}"]
    figure.label(14, 22, two_lines[0], bold=True)
    figure.label(14, 42, two_lines[1])
    for value in values_at_axis(low, high, y):
        is_one = what.has_one and value == 1
        figure.line(
            [(LEFT, y(value)), (right, y(value))], "ink" if is_one else "grid", dashed=is_one
        )
        figure.label(LEFT - 6, y(value) + 4.5, f"{value:g}", "end", bold=is_one)
    for place in places:
        if what.places[place]:
            figure.line([(x(place), TOP + height), (x(place), TOP + height + 5)], "frame")
            figure.label(x(place), TOP + height + 20, what.places[place], "middle")
    if what.axis:
        figure.label(RIGHT, TOP + height + 20, what.axis, "end", colour="quiet")
    for number, (name, points) in enumerate(what.lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        upper = [(x(each.place), y(each.high)) for each in points]
        lower = [(x(each.place), y(each.low)) for each in reversed(points)]
        figure.area(upper + lower, colour, faint=True)
        medians = [(x(each.place), y(each.value)) for each in points]
        is_dashed = number >= len(COLOURS)
        figure.line(medians, colour, is_dashed, thickness=2, name=series_id(chapter, name))
        figure.dots(medians, colour)
    ends = [y(points[-1].value) for points in what.lines.values()]
    middles = spread(ends, heights, TOP - 4, TOP + height + 4)
    for number, (name, middle) in enumerate(zip(labels, middles)):
        colour = COLOURS[number % len(COLOURS)]
        end = what.lines[name][-1]
        leader = [(x(end.place) + 4, ends[number]), (right + 10, middle)]
        figure.line(leader, colour, number >= len(COLOURS), thickness=1)
        for place, text in enumerate(labels[name]):
            offset = LABEL_LINE * (place - (len(labels[name]) - 1) / 2)
            figure.label(right + 13, middle + offset + 4.5, text, colour=colour, code=True)
    for place, text in enumerate(notes):
        figure.label(drawing.NOTE_LEFT, below + 18 * place - 2, text, colour="quiet")
    return figure


def picture_name(run_name, chapter):
    """The name of a chapter's picture, without a suffix. A run of one chapter may have its number."""
    return run_name if run_name.endswith(f"-{chapter}") else f"{run_name}-{chapter}"


def series_id(chapter, name):
    """The id of a line in the SVG."""
    return f"line-{chapter}-{name}"


def figures_of(run, root=ROOT):
    """{chapter: its figure}"""
    return {chapter: figure_of(chapter, each, run) for chapter, each in plots_of(run, root).items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", required=True, type=pathlib.Path, help="a folder")
    add_force(parser)
    parser.add_argument("run", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        run = recorded_run.load(arguments.run)
        figures = figures_of(run)
    except (recorded_run.RunError, drawing.DrawingError) as error:
        sys.exit(str(error))
    if not figures:
        sys.exit(
            f"{arguments.run} has nothing to draw: no variant was measured together with a peer."
        )
    outputs = NamedOutputs(arguments.force, [arguments.run])
    try:
        targets = [
            outputs.add("the picture", arguments.output / name, drawing.BEGINNING)
            for name in (f"{picture_name(arguments.run.stem, each)}.svg" for each in figures)
        ]
        for target, figure in zip(targets, figures.values()):
            target.write(figure.svg())
            print(target.path)
    except CommandError as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.code)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
