# SPDX-License-Identifier: MIT
"""Where a class stands: points, the cases that fail most, the diagnoses, and what took longest."""

import collections
import html
import statistics

from engine.command.output import counted
from engine.command.output_files import write_whole
from grader.judging.submission import INTERNAL
from grader.judging.verdict import COMPILE_ERROR
from grader.reports.feedback import page

MOST_ROWS = 10
PLOT_WIDTH, PLOT_HEIGHT, MARGIN = 640, 220, 30
MOST_BARS = 20
MOST_RANGES = 12  # bars for several points each, which have longer names


def write_summary(marks, timings, lengths, file):
    """summary.html; `timings` and `lengths` are {(student, exercise): seconds, lines}."""
    students = marks["students"]
    of = sum(sum(each["points"].values()) for each in marks["exercises"])
    points = [student["points"] for student in students]
    graded = sum(any(row["file"] for row in student["exercises"]) for student in students)
    body = [
        f"<p>{counted(len(students), 'student')}, {graded} of them with a file that is graded. "
        f"Sandbox: {html.escape(marks['sandbox'])}.</p>"
    ]
    if points:
        middle = statistics.median(points)
        mean = sum(points) / len(points)
        body.append(f"<p>Of {of} points: mean {mean:.1f}, median {middle:g}.</p>")
        body += ["<h2>Points of all exercises</h2>", _histogram(points, of)]
    for place, exercise in enumerate(marks["exercises"]):
        rows = [student["exercises"][place] for student in students]
        body += _exercise(exercise, rows)
    body += _table(
        "Slowest to grade", ("student", "exercise", "seconds"), _largest(timings, "{:.1f}")
    )
    body += _table("Longest", ("student", "exercise", "lines"), _largest(lengths, "{:,}"))
    problems = [(student["student"], each) for student in students for each in student["problems"]]
    problems += [("", each) for each in marks["problems"]]
    body += _table("To look at", ("student", "what"), problems, everything=True)
    write_whole(file, page("Summary of the class", "\n".join(body)))


def _exercise(exercise, rows):
    of = sum(exercise["points"].values())
    body = [f"<h2>{exercise['number']} {html.escape(exercise['name'])}</h2>"]
    body.append(_histogram([row["points"] for row in rows], of))
    statuses = collections.Counter(row["status"] for row in rows)
    body += _table("How they ended", ("status", "students"), _counted(statuses))
    failing, diagnoses = collections.Counter(), collections.Counter()
    for row in rows:
        if row["status"] in (COMPILE_ERROR, INTERNAL):
            continue  # no case of theirs was run
        diagnoses.update(row["diagnoses"])
        for part in row["parts"]:
            names = [case["name"] for case in part["cases"] if not case["passed"]]
            failing.update(f"{part['part']}: {name}" for name in names)
            if not part["cases"] and part["points"] < part["of"]:
                failing[part["part"]] += 1
    body += _table(
        "What fails most in those that compile", ("case or part", "students"), _counted(failing)
    )
    body += _table("Diagnoses of races", ("diagnosis", "students"), _counted(diagnoses))
    return body


def _counted(counter):
    rows = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return [(name, f"{count}") for name, count in rows]


def _largest(values, form):
    rows = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return [(*key, form.format(value)) for key, value in rows]


def _table(title, heads, rows, everything=False):
    if not rows:
        return []
    shown = rows if everything else rows[:MOST_ROWS]
    numbers = not everything
    lines = [f"<h3>{html.escape(title)}</h3>", "<table><tr>"]
    for place, head in enumerate(heads):
        lines.append(f"<th{_class(numbers and place == len(heads) - 1)}>{html.escape(head)}</th>")
    lines.append("</tr>")
    for row in shown:
        cells = [
            f"<td{_class(numbers and place == len(row) - 1)}>{html.escape(cell)}</td>"
            for place, cell in enumerate(row)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return [*lines, "</table>"]


def _class(is_number):
    return ' class="number"' if is_number else ""


def _histogram(points, of):
    """How many have so many points, as bars, in an SVG of our own."""
    width = 1 if of < MOST_BARS else -(-(of + 1) // MOST_RANGES)  # points per bar
    counts = [0] * (of // width + 1)
    for value in points:
        counts[value // width] += 1
    most = max(counts, default=0) or 1
    step = (PLOT_WIDTH - 2 * MARGIN) / len(counts)
    bottom = PLOT_HEIGHT - MARGIN
    high = bottom - MARGIN
    shapes = [f'<line x1="{MARGIN}" y1="{bottom}" x2="{PLOT_WIDTH - MARGIN}" y2="{bottom}"/>']
    for place, count in enumerate(counts):
        x, height = MARGIN + place * step, high * count / most
        first, last = place * width, min(of, (place + 1) * width - 1)
        label = f"{first}" if first == last else f"{first}-{last}"
        if count:
            shapes.append(
                f'<rect x="{x + step * 0.1:.1f}" y="{bottom - height:.1f}" width="{step * 0.8:.1f}" '
                f'height="{height:.1f}"/>'
            )
            shapes.append(
                f'<text x="{x + step / 2:.1f}" y="{bottom - height - 5:.1f}" '
                f'text-anchor="middle">{count}</text>'
            )
        shapes.append(
            f'<text x="{x + step / 2:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>'
        )
    title = f"How many students have how many of {of} points"
    return (
        f'<svg class="plot" viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" width="{PLOT_WIDTH}" '
        f'role="img"><title>{title}</title>{"".join(shapes)}</svg>'
    )
