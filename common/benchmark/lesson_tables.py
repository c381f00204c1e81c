#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of measurements in Markdown files anew, from recorded runs of `./lab bench`.

A table stands between two comments, and whatever was between them is replaced:

  <!-- table: docs/benchmarks/h200.json chapter=04 task=sum elements=2^16,2^20 show=time,copy -->
  <!-- end of table -->

  chapter, task, type, data, block   which rows: those that have these values
  elements                           sizes, one after the other; needed
  names                              which cases, in this order; else all, in the run's order
  show                               columns for each size: time, spread, bandwidth, copy, peak,
                                     element, ratio:NAME; else time,bandwidth

`<!-- table to come: FILE ... -->`, without an end, becomes such a table as soon as its file is there.

`<!-- goals: FILE -->` is replaced in the same way, by what the course wants to reach and what the run
did reach; with chapter=07 after it, by that chapter's goals. `<!-- channels: chapters -->` is replaced by
a row for each chapter: its channel between blocks, and what that costs. Each `chapter.json` says which
cells of recorded runs those are. Files are named as seen from the repository's root. Values with spaces
stand in quotes.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import sys

import recorded_run
from recorded_run import RunError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from engine.command.output_files import write_whole  # noqa: E402

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(
    r"^<!-- (?P<kind>table|goals|channels): (?P<spec>.*?) -->\n(?P<body>.*?)^<!-- end of table -->$",
    re.MULTILINE | re.DOTALL,
)
TO_COME = re.compile(r"^<!-- table to come: (?P<spec>.*?) -->$", re.MULTILINE)
MARKER = re.compile(r"^<!-- (?:table|goals|channels): .*-->$|^<!-- end of table -->$", re.MULTILINE)

FILTERS = ("chapter", "task", "type", "data", "block")
KEYS = {*FILTERS, "elements", "names", "show"}


def number_of(text):
    """'2^20' and '1048576' are the same number."""
    match = re.fullmatch(r"2\^(\d+)|(\d+)", text)
    if not match:
        raise RunError(f"'{text}' is no number of elements.")
    return 2 ** int(match[1]) if match[1] else int(match[2])


def size_text(elements):
    is_power = elements >= 1024 and elements & (elements - 1) == 0
    return f"2^{elements.bit_length() - 1}" if is_power else f"{elements:,}"


# Cells --------------------------------------------------------------------------------------------


def duration(*milliseconds):
    """'4.02 µs' or '3.99 to 4.10 µs': three digits, in the last one's unit."""
    unit, factor = next(
        (unit, factor)
        for unit, factor in (("ms", 1), ("µs", 1e3), ("ns", 1e6))
        if milliseconds[-1] * factor >= 1 or unit == "ns"
    )
    return f"{' to '.join(three_digits(value * factor) for value in milliseconds)} {unit}"


def three_digits(value):
    if value < 0.995:
        return f"{value:.2g}"
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f}"


def percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def cell(run, row, show):
    if show == "time":
        return duration(row["median_ms"])
    if show == "spread":
        return duration(row["lower_quartile_ms"], row["upper_quartile_ms"])
    if show == "element":
        return duration(row["median_ms"] / row["elements"])
    if show == "bandwidth":
        value = recorded_run.bandwidth(row)
        return "" if value is None else f"{three_digits(value)} GB/s"
    if show == "copy":
        return percent(recorded_run.share_of_copy(run, row))
    if show == "peak":
        return percent(recorded_run.share_of_peak(run, row))
    if show.startswith("ratio:"):
        ratio = recorded_run.ratio_to(row, show.removeprefix("ratio:"))
        return "" if ratio is None else f"{ratio['median']:.2f}"
    raise RunError(f"show={show}: there is no such column.")


HEADINGS = {
    "time": "median",
    "spread": "quartiles",
    "element": "an element",
    "bandwidth": "bandwidth",
    "copy": "of a copy",
    "peak": "of the memory's peak",
}


# Of a GPU's rows; pictures have no input.
PLACES = {
    "memory": "Here each call finds its input in device memory, and not in the cache.",
    "cache": "Here the cache holds the input.",
}


def heading(show, size, sizes):
    text = HEADINGS.get(show) or f"time of `{show.removeprefix('ratio:')}`"
    return f"{text}, {size_text(size)}" if len(sizes) > 1 else text


# Tables -------------------------------------------------------------------------------------------


def markdown(rows, alignment="---:"):
    """Rows of cells, the first one the heading; all columns but the first are numbers, unless another
    alignment says so."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "| --- |" + f" {alignment} |" * (len(rows[0]) - 1))
    return "\n".join(re.sub(r"  +", " ", line) for line in lines)


def caption(run, *remarks):
    source = f"{recorded_run.place_of(run)}; {run['date'][:10]}, {recorded_run.commit_of(run)}"
    return " ".join(
        [f"Medians of {run['rounds']} rounds on {source}: `{run['command']}`.", *remarks]
    )


def specification(text):
    """The words after the colon of a marker: the recorded run's file, and {key: value}."""
    try:
        file, *pairs = shlex.split(text)
    except ValueError as error:
        raise RunError(f"'{text}' is no specification: {error}.") from error
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in KEYS or key in values:
            raise RunError(f"'{pair}' is no part of a table's specification.")
        values[key] = value
    return file, values


def rows_of(run, values):
    """The sizes of a specification, and {(name, size): row} of the rows that have its values."""
    if "elements" not in values:
        raise RunError("a table's specification names its elements.")
    sizes = [number_of(size) for size in values["elements"].split(",")]
    wanted = {key: values[key] for key in FILTERS if key in values}
    rows = {}
    for row in run["rows"]:
        size = row.get("threads", row["elements"])
        if size not in sizes or any(str(row.get(key)) != wanted[key] for key in wanted):
            continue
        if (row["name"], size) in rows:
            raise RunError(f"{row['name']} at {size_text(size)} elements is in the run twice.")
        rows[row["name"], size] = row
    return sizes, rows


def table(run, values):
    """The table of a specification, as Markdown."""
    sizes, rows = rows_of(run, values)
    shows = values.get("show", "time,bandwidth").split(",")
    names = values["names"].split(",") if "names" in values else [name for name, _ in rows]
    names = list(dict.fromkeys(names))
    if len(shows) == 1 < len(sizes) and shows[0].startswith("ratio:"):  # a long heading, said once
        lines = [[heading(shows[0], sizes[0], sizes[:1]), *map(size_text, sizes)]]
    else:
        lines = [["", *(heading(show, size, sizes) for size in sizes for show in shows)]]
    for name in names:
        cells = [f"`{name}`"]
        for size in sizes:
            if (name, size) not in rows:
                raise RunError(f"the run has no {name} at {size_text(size)} elements.")
            cells += [cell(run, rows[name, size], show) for show in shows]
        lines.append(cells)
    if not names:
        raise RunError("the run has no such rows.")
    remarks = []
    if run["backend"] == "cuda":
        places = {row["data"] for row in rows.values()}
        if len(places) > 1:
            raise RunError("these rows need data=memory or data=cache.")
        remarks = [PLACES[place] for place in places if place in PLACES]
    return f"{markdown(lines)}\n\n{caption(run, *remarks)}"


# Goals --------------------------------------------------------------------------------------------


def all_goals():
    """What the course wants to reach, in one run on one GPU, as (chapter, goal): the best of the
    goal's variants (of all, if it names none) takes at most so much of that other case's time."""
    return [
        (file.parent.name[:2], goal)
        for file in sorted(ROOT.glob("chapters/*/goals.json"))
        for goal in json.loads(file.read_text(encoding="utf-8"))
    ]


def goals(run, only=None):
    """What was to be reached and what was, as Markdown; `only` is the number of a chapter.

    A goal counts as reached where it lies within the spread of the run: the lower quartile of the
    rounds' ratios is not above it.
    """
    lines = [["chapter", "task", "elements", "input from", "variant", "time", "goal", ""]]
    for chapter, aim in all_goals():
        if only not in (None, chapter):
            continue
        task, kind, elements = aim["task"], aim["type"], number_of(aim["elements"])
        names, other, limit = aim.get("variants"), aim["compared_with"], aim["at_most"]
        found = {}
        for row in run["rows"]:
            same = (row["chapter"], row["task"], row["type"]) == (chapter, task, kind)
            wanted = names is None or row["name"] in names
            ratio = recorded_run.ratio_to(row, other)  # Only variants have any.
            if same and wanted and row["elements"] == elements and ratio:
                best = found.get(row["data"])
                if best is None or ratio["median"] < best[1]["median"]:
                    found[row["data"]] = (row["name"], ratio)
        start = [chapter, f"{task} of {kind}", size_text(elements)]
        goal = f"{limit:.2f} of `{other}`"
        if not found:
            lines.append([*start, "", "", "", goal, "not measured"])
        for data, (name, ratio) in found.items():
            spread = f"{ratio['lower_quartile']:.3f} to {ratio['upper_quartile']:.3f}"
            verdict = "reached" if ratio["lower_quartile"] <= limit else "not reached"
            lines.append(
                [*start, data, f"`{name}`", f"{ratio['median']:.3f} ({spread})", goal, verdict]
            )
    if len(lines) == 1:
        raise RunError(f"chapter {only} has no goals.")
    return f"{markdown(lines)}\n\n{caption(run)}"


# Channels -----------------------------------------------------------------------------------------


def channels(folder, directory, root):
    """What each chapter of the folder says of its channel between blocks, and what that costs, as
    Markdown for a document in `directory`. Each machine has a column of its own."""
    columns, lines, captions = [], [], []
    for file in sorted((root / folder).glob("*/chapter.json")):
        facts = json.loads(file.read_text(encoding="utf-8"))
        lesson = os.path.relpath(file.with_name("README.md"), directory)
        words = [facts["channel"], f"[{file.parent.name[:2]}]({lesson})"]
        words += [facts["right_when"], facts["who_waits"]]
        costs = {}
        for cost in facts["costs"]:
            run, text = measured(cost["measured"], root)
            machine = run["device"]["name"]
            costs.setdefault(machine, []).append(f"{cost['of']}: {text}")
            columns += [] if machine in columns else [machine]
            captions += [] if caption(run) in captions else [caption(run)]
        lines.append((words, costs))
    head = ["channel", "lesson", "right when", "who waits for whom"]
    head += [f"measured on {machine}" for machine in columns]
    rows = [
        [*words, *("; ".join(costs.get(machine, [])) for machine in columns)]
        for words, costs in lines
    ]
    return "\n\n".join(
        [markdown([head, *rows], "---"), "\n".join(f"- {each}" for each in captions)]
    )


def measured(text, root):
    """The recorded run that a specification of one cell names, and that cell."""
    file, values = specification(text)
    run = recorded_run.load_course_run(root / file)
    sizes, rows = rows_of(run, values)
    found = rows.get((values.get("names"), sizes[0]))
    if found is None or len(sizes) > 1:
        raise RunError(f"'{text}' is not one row of the run.")
    return run, cell(run, found, values.get("show", "time"))


# Documents ----------------------------------------------------------------------------------------


def fences_of(text):
    """[(start, end)] of the document's code, which holds examples and no tables."""
    return [match.span() for match in FENCE.finditer(text)]


def rewritten(text, root=ROOT, directory=ROOT):
    """The text of a document in `directory` with all its tables written anew. Throws RunError."""

    def begun(match):
        """Two markers with nothing between them, if the run has been recorded."""
        if any(first <= match.start() < last for first, last in fences_of(text)):
            return match[0]
        file, _ = specification(match["spec"])
        if not (root / file).is_file():
            return match[0]
        return f"<!-- table: {match['spec']} -->\n<!-- end of table -->"

    text = TO_COME.sub(begun, text)
    fenced = fences_of(text)

    def is_fenced(match):
        return any(first <= match.start() < last for first, last in fenced)

    def replacement(match):
        if is_fenced(match):
            return match[0]
        body = body_of(match["kind"], *specification(match["spec"]))
        start = match[0].split("\n", 1)[0]
        return f"{start}\n\n{body}\n\n<!-- end of table -->"

    def body_of(kind, file, values):
        if kind == "channels":
            return channels(file, directory, root)
        run = recorded_run.load_course_run(root / file)
        if kind == "table":
            return table(run, values)
        if set(values) - {"chapter"}:
            raise RunError("goals take no further words but a chapter.")
        return goals(run, values.get("chapter"))

    markers = [match for match in MARKER.finditer(text) if not is_fenced(match)]
    tables = [match for match in TABLE.finditer(text) if not is_fenced(match)]
    if len(markers) != 2 * len(tables):
        raise RunError("a table has no end, or an end has no table.")
    return TABLE.sub(replacement, text)


def documents(root=ROOT):
    return [
        root / "README.md",
        *sorted(root.glob("docs/**/*.md")),
        *sorted(root.glob("chapters/*/**/*.md")),
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 where a table differs"
    )
    parser.add_argument(
        "--goals", metavar="RUN", help="print what this recorded run reached, and change nothing"
    )
    parser.add_argument(
        "files", nargs="*", type=pathlib.Path, help="[all of the course's documents]"
    )
    arguments = parser.parse_args()
    if arguments.goals:
        try:
            print(goals(recorded_run.load(arguments.goals)))
        except RunError as error:
            sys.exit(str(error))
        return
    differ = []
    for file in arguments.files or documents():
        try:
            old = file.read_text(encoding="utf-8")
            new = rewritten(old, directory=file.resolve().parent)
        except OSError as error:
            sys.exit(f"{file}: {error.strerror}.")
        except RunError as error:
            sys.exit(f"{file}: {error}")
        if new != old:
            differ.append(file)
            if not arguments.check:
                write_whole(file, new)
                print(f"{file}: written anew")
    if arguments.check and differ:
        sys.exit(f"these tables differ from the recorded runs: {', '.join(map(str, differ))}.")


if __name__ == "__main__":
    main()
