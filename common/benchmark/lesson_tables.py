#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills the tables of measurements in Markdown files from recorded runs of `./lab bench`.

What stands between two comments is replaced. The first one names a recorded run and chooses rows of it:

  <!-- table: docs/benchmarks/h200.json chapter=04 task=sum elements=2^16,2^20 show=time,copy -->
  <!-- end of table -->

  chapter, task, type, data, block   rows that have these values; `|` stands between several tasks
  elements                           sizes, one after the other
  names                              cases, in this order; else all, in the run's order
  show                               columns for each size: time, spread, bandwidth, copy, peak,
                                     element, ratio:NAME; else time,bandwidth

  cell      one of these cells within a line, or with show=run what was run where
  goals     a row for each line of the comment: the best of the cases is to take at_most of the time of
            another one (to). It does if the lower quartile of the rounds' ratios is not above that.
  picture   fills nothing: what draw_run.py draws, of the cases `names`, divided by the fastest of `to`

Files are seen from the repository's root. Values with spaces stand in quotes.

--from RUN takes one run in the place of all recorded runs of GPUs: docs/benchmarks keeps what pages show of
it, every marker names it, and the old runs and their pictures are removed."""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

import recorded_run
from recorded_run import RunError, caption, duration, size_of, size_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)  # examples are filled by no run
FILLED = re.compile(
    r"<!-- (?P<kind>table|cell|goals): (?P<spec>.*?)\s*-->(?P<body>.*?)<!-- end of (?P=kind) -->",
    re.DOTALL,
)
BEGIN = re.compile(r"<!-- (table|cell|goals|picture): (.*?)\s*-->", re.DOTALL)
END = re.compile(r"<!-- end of (?:table|cell|goals) -->")

FILTERS = ("chapter", "task", "type", "data", "block")
KEYS = {*FILTERS, "elements", "names", "show", "to", "at_most", "title", "labels"}

COLUMNS = {  # {show: (its heading, its cell)}
    "time": ("median", lambda run, row: duration(row["median_ms"])),
    "spread": ("quartiles", lambda run, row: duration(*recorded_run.quartiles(row))),
    "element": ("an element", lambda run, row: duration(row["median_ms"] / row["elements"])),
    "bandwidth": ("bandwidth", lambda run, row: recorded_run.bandwidth_text(row)),
    "copy": ("of a copy", lambda run, row: recorded_run.share_of_copy(run, row)),
    "peak": ("of the memory's peak", lambda run, row: recorded_run.share_of_peak(run, row)),
    "run": ("", lambda run, row: caption(run)),
}
INPUTS = {  # {data of a GPU's rows: what is said about it}; pictures have no input
    "memory": "Here each call finds its input in device memory, and not in the cache.",
    "cache": "Here the cache holds the input.",
}
GOALS = ["chapter", "task", "elements", "input from", "variant", "time", "goal", ""]


def column(show):
    """(The heading of a column, the function of run and row that gives its cells)."""
    other = show.removeprefix("ratio:")
    if other == show and show not in COLUMNS:
        raise RunError(f"show={show}: there is no such column.")

    def ratio(run, row):
        found = recorded_run.ratio_to(row, other)
        return f"{found['median']:.2f}" if found else ""

    return COLUMNS[show] if other == show else (f"time of `{other}`", ratio)


def markdown(rows):
    """Rows of cells, the first one the heading; all columns but the first are numbers."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "| --- |" + " ---: |" * (len(rows[0]) - 1))
    return "\n".join(re.sub(r"  +", " ", line) for line in lines)


def number_of(size):
    if not re.fullmatch(r"(2\^)?\d+", size):
        raise RunError(f"'{size}' is no number of elements.")
    return 2 ** int(size[2:]) if size.startswith("2^") else int(size)


def specification(text):
    """{key: value} of the words, with the sizes as numbers and the names as a list."""
    values = {}
    for key, equals, value in (word.partition("=") for word in shlex.split(text)):
        if not equals or key not in KEYS or key in values:
            raise RunError(f"'{key}{equals}{value}' is no part of a table's specification.")
        values[key] = value.split(",") if key in ("elements", "names", "show", "to") else value
    values["elements"] = [number_of(size) for size in values.get("elements", [])]
    return values


def specifications(text):
    """[(kind, file, [values, a line each])] of the markers in a document."""
    found = []
    for kind, words in BEGIN.findall(FENCE.sub("", text)):
        file, _, rest = re.sub(r"\s", " ", words, count=1).partition(" ")
        found.append((kind, file, [specification(line) for line in rest.splitlines() or [""]]))
    return found


def chosen(run, values):
    """The rows of a run that a specification chooses."""
    return [
        row
        for row in run["rows"]
        if all(str(row.get(key)) in values[key].split("|") for key in FILTERS if key in values)
        and (not values["elements"] or size_of(row) in values["elements"])
        and ("names" not in values or row["name"] in values["names"])
    ]


def by_name_and_size(run, values):
    if not values["elements"]:
        raise RunError("a table's specification names its elements.")
    rows = {}
    for row in chosen(run, values):
        place = row["name"], size_of(row)
        if place in rows:
            raise RunError(f"{place[0]} at {size_text(place[1])} elements is in the run twice.")
        rows[place] = row
    return rows


def table(run, values):
    rows = by_name_and_size(run, values)
    sizes, shows = values["elements"], values.get("show", ["time", "bandwidth"])
    names = values.get("names", list(dict.fromkeys(name for name, _ in rows)))
    heads, cells_of = zip(*map(column, shows))
    if len(sizes) == 1:
        lines = [["", *heads]]
    elif len(shows) == 1 and shows[0].startswith("ratio:"):  # a long heading, said once
        lines = [[heads[0], *map(size_text, sizes)]]
    else:
        lines = [["", *(f"{head}, {size_text(size)}" for size in sizes for head in heads)]]
    for name in names:
        for size in sizes:
            if (name, size) not in rows:
                raise RunError(f"the run has no {name} at {size_text(size)} elements.")
        cells = [cell(run, rows[name, size]) for size in sizes for cell in cells_of]
        lines.append([f"`{name}`", *cells])
    if not names:
        raise RunError("the run has no such rows.")
    inputs = {row["data"] for row in rows.values()} if run["backend"] == "cuda" else set()
    if len(inputs) > 1:
        raise RunError("these rows need data=memory or data=cache.")
    return f"{markdown(lines)}\n\n{caption(run, *(INPUTS[each] for each in inputs & {*INPUTS}))}"


def one_cell(run, values):
    (show,) = values.get("show", ["time"])
    rows = [None] if show == "run" else [*by_name_and_size(run, values).values()]
    if len(rows) != 1:
        raise RunError("a cell is not one row of the run.")
    return column(show)[1](run, rows[0])


def goal_rows(run, specs):
    """(The rows of the table of goals, whether the run reaches every goal that it measured)."""
    lines, is_reached = [], True
    for values in specs:
        (other,), limit = values["to"], float(values["at_most"])
        best = {}
        for row in chosen(run, values):
            ratio = recorded_run.ratio_to(row, other)  # Only variants have any.
            if ratio and ratio["median"] < best.get(row["data"], (2**64, None))[0]:
                best[row["data"]] = ratio["median"], (row, ratio)
        for data, (_, (row, ratio)) in best.items():
            within = ratio["lower_quartile"] <= limit
            is_reached &= within
            spread = f"{ratio['lower_quartile']:.3f} to {ratio['upper_quartile']:.3f}"
            cells = [row["chapter"], f"{row['task']} of {row['type']}", size_text(size_of(row))]
            cells += [data, f"`{row['name']}`", f"{ratio['median']:.3f} ({spread})"]
            cells += [f"{values['at_most']} of `{other}`", "reached" if within else "not reached"]
            lines.append(cells)
    if not lines:
        raise RunError("nothing in the run has a goal.")
    return lines, is_reached


def goals(run, specs):
    """(A table, whether the run reaches every goal that it measured)."""
    lines, is_reached = goal_rows(run, specs)
    return f"{markdown([GOALS, *lines])}\n\n{caption(run)}", is_reached


def filled(text, root=ROOT):
    """The text of a document with all that its markers name filled anew. Throws RunError."""

    def replacement(match):
        head = match[0][: match.start("body") - match.start()]
        ((kind, file, specs),) = specifications(head)
        run = recorded_run.load_course_run(root / file)
        if kind == "cell":
            return f"{head}{one_cell(run, specs[0])}<!-- end of cell -->"
        body = table(run, specs[0]) if kind == "table" else goals(run, specs)[0]
        return f"{head}\n\n{body}\n\n<!-- end of {kind} -->"

    parts = FENCE.split(text)
    for number in range(0, len(parts), 2):
        begun = [kind for kind, _ in BEGIN.findall(parts[number]) if kind != "picture"]
        if not len(begun) == len(END.findall(parts[number])) == len(FILLED.findall(parts[number])):
            raise RunError("a table has no end, or an end has no table.")
        parts[number] = FILLED.sub(replacement, parts[number])
    return "".join(parts)


def documents(root=ROOT):
    patterns = ("README.md", "docs/**/*.md", "chapters/*/**/*.md")
    return [file for pattern in patterns for file in sorted(root.glob(pattern))]


def course_specifications(kind, root=ROOT):
    """[(file, values)] of all markers of this kind in the course."""
    return [
        (file, values)
        for document in documents(root)
        for found, file, specs in specifications(document.read_text(encoding="utf-8"))
        if found == kind
        for values in specs
    ]


def shown_rows(file, run, root=ROOT):
    """The rows that a page shows, as a number or in a picture."""
    shown = set()
    for kind in ("table", "cell", "goals", "picture"):
        for of_file, values in course_specifications(kind, root):
            if file != root / of_file or values.get("show") == ["run"]:
                continue
            if "to" in values and kind == "picture":
                values = {**values, "names": values["names"] + values["to"]}
            shown |= {id(row) for row in chosen(run, values)}
    return [row for row in run["rows"] if id(row) in shown]


def take_run(new, root=ROOT):
    """Has all pages show the run in the file `new`. If it lacks a row, RunError, and nothing is changed."""
    run = recorded_run.load(new)
    text = pathlib.Path(new).read_text(encoding="utf-8")
    head, rows_begin, _ = text.partition('  "rows": [\n')
    if not rows_begin:
        raise RunError(f"{new} is not laid out as ./lab bench --json writes it.")
    folder = root / "docs/benchmarks"
    target = folder / f"{'-'.join(run['device']['name'].lower().split()[:2])}.json"
    old = [
        file
        for file in folder.rglob("*.json")
        if recorded_run.load_course_run(file)["backend"] == "cuda"
    ]
    stems = {re.sub(r"-\d\d$", "", file.stem) for file in old}
    pictures = [svg for stem in stems for svg in folder.glob(f"{stem}-*.svg")]
    before = {file: file.read_bytes() for file in [*old, *pictures, *documents(root)]}
    try:
        for file in [*old, *pictures]:
            file.unlink()
        target.write_text(text, encoding="utf-8")
        names = "|".join(re.escape(file.relative_to(root).as_posix()) for file in old)
        drawn = "|".join(map(re.escape, stems))
        for document in documents(root):
            page = document.read_text(encoding="utf-8")
            page = re.sub(rf"(<!-- \w+:\s+)(?:{names})", rf"\1docs/benchmarks/{target.name}", page)
            page = re.sub(rf"\b(?:{drawn})-(\d\d\.svg)", rf"{target.stem}-\1", page)
            document.write_text(filled(page, root), encoding="utf-8")
        run = recorded_run.load_course_run(target)
        rows = ",\n".join(f"    {json.dumps(row)}" for row in shown_rows(target, run, root))
        target.write_text(f"{head}{rows_begin}{rows}\n  ]\n}}\n", encoding="utf-8")
    except (OSError, RunError):
        target.unlink(missing_ok=True)
        for file, content in before.items():
            file.write_bytes(content)
        raise


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--goals", metavar="RUN", help="print a run's goals; 1: it misses one")
    parser.add_argument("--from", metavar="RUN", dest="new", help="show this run on all pages")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="[the course's documents]")
    arguments = parser.parse_args()
    file = arguments.goals or arguments.new
    try:
        if arguments.new:
            take_run(arguments.new)
            return subprocess.call([sys.executable, ROOT / "common/figures/draw_all.py"])
        if arguments.goals:
            specs = [values for _, values in course_specifications("goals")]
            run = recorded_run.load(file)
            lines, is_reached = goal_rows(run, specs)
            for chapter, task, size, data, name, time, goal, verdict in lines:
                print(f"{verdict}: chapter {chapter}, {task}, {size} from {data}")
                print(f"  {name} {time}, goal {goal}".replace("`", ""))
            print(textwrap.fill(caption(run).replace("`", ""), 79))
            return 0 if is_reached else 1
        for file in arguments.files or documents():
            old = file.read_text(encoding="utf-8")
            new = filled(old)
            if new != old:
                file.write_text(new, encoding="utf-8")
                print(f"{file}: filled anew")
    except OSError as error:
        sys.exit(f"{file}: {error.strerror}.")
    except (RunError, ValueError) as error:
        sys.exit(str(error) if arguments.goals or arguments.new else f"{file}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
