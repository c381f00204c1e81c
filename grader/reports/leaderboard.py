# SPDX-License-Identifier: MIT
"""leaderboard.html: whose code is how fast next to the course's solution, of those that are right and
free of races."""

import html

from engine.command.output_files import write_whole
from grader.exercises.catalogue import SPEED
from grader.reports.feedback import page

WHAT = (
    "A time is a part of the course's solution's, measured next to it on the same GPU: 1.00 is as fast, "
    "and less is faster. Half of the rounds were between the two numbers of the last column. Of two times "
    "whose ranges overlap nobody can say which code is faster. Who has a wrong result or a race is not here."
)


def write_leaderboard(marks, file):
    """The page of the marks; names are aliases where the roster has them."""
    body = [f"<p>{html.escape(WHAT)}</p>"]
    for exercise in marks["exercises"]:
        if SPEED not in exercise["points"]:
            continue
        body.append(f"<h2>{exercise['number']} {html.escape(exercise['name'])}</h2>")
        rows = ranked(marks["students"], exercise["number"])
        body += _table(rows) if rows else ["<p>Nobody yet.</p>"]
    write_whole(file, page("Leaderboard", "\n".join(body)))


def ranked(students, number):
    """[(ratio, low, high, name)], the fastest first, of those that stand on the page."""
    found = []
    for student in students:
        row = next(each for each in student["exercises"] if each["exercise"] == number)
        speed = speed_in(row)
        if speed:
            name = student.get("alias", student["student"])
            found.append((speed["ratio"], speed["low"], speed["high"], name))
    return sorted(found)


def speed_in(row):
    """The speed in the row of one exercise; None if there is none, or another part lacks points."""
    parts = {part["part"]: part for part in row["parts"]}
    speed = parts.pop(SPEED, {}).get("speed")
    return speed if all(part["points"] == part["of"] for part in parts.values()) else None


def _table(rows):
    lines = ['<table><tr><th class="number">rank</th><th>name</th>']
    lines.append('<th class="number">time</th><th class="number">half of the rounds</th></tr>')
    for place, (ratio, low, high, name) in enumerate(rows, 1):
        lines.append(
            f'<tr><td class="number">{place}</td><td>{html.escape(name)}</td>'
            f'<td class="number">{ratio:.2f}</td><td class="number">{low:.2f} to {high:.2f}</td></tr>'
        )
    return [*lines, "</table>"]
