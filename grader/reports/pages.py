# SPDX-License-Identifier: MIT
"""What people read of a grade: a page per student, as Markdown and as HTML, the summary of the class, and
leaderboard.html, whose code is how fast next to the course's solution."""

import collections
import html
import re
import statistics

from engine.command.output import counted
from engine.command.output_files import make_own_folder, write_whole
from grader.exercises.catalogue import SPEED, all_exercises
from grader.judging.submission import INTERNAL
from grader.judging.verdict import COMPILE_ERROR, OK, RUNTIME_ERROR, SIGNAL, TIMED_OUT
from grader.reports.marks import FEEDBACK, MISSING

STYLE = """
:root { color-scheme: light dark; --line: #8888; --full: #1a7f37; --less: #b35900; --bar: #4a78b5; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { font: 14px/1.45 ui-monospace, monospace; border: 1px solid var(--line); padding: .7rem;
  overflow-x: auto; }
h3 { margin-bottom: .3rem; } .full { color: var(--full); } .less { color: var(--less); }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid var(--line);
  padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
svg.plot text { font: 13px system-ui, sans-serif; fill: currentColor; }
svg.plot rect { fill: var(--bar); } svg.plot line { stroke: var(--line); }
"""
MEANINGS = {
    OK: "",
    COMPILE_ERROR: "It does not compile.",
    RUNTIME_ERROR: "The program ended with an error.",
    SIGNAL: "The program was ended by a signal.",
    TIMED_OUT: "The program did not end in time.",
    INTERNAL: "The grader itself failed. This is not your fault: tell your instructor.",
    MISSING: "There is no file.",
}
REFUSED = "It is refused, because it uses something that no solution needs."
MOST_CASES = 5  # that are told in full
PAGES = ("feedback.md", "feedback.html")
MOST_ROWS = 10
PLOT_WIDTH, PLOT_HEIGHT, MARGIN = 640, 220, 30
MOST_BARS = 20
MOST_RANGES = 12  # bars for several points each, which have longer names
WHAT = (
    "A time is a part of the course's solution's, measured next to it on the same GPU: 1.00 is as fast, "
    "and less is faster. Half of the rounds were between the two numbers of the last column. Of two times "
    "whose ranges overlap nobody can say which code is faster. Who has a wrong result or a race is not here."
)


def page(title, body):
    """The page; `body` is HTML, `title` plain text."""
    title = html.escape(title)
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{title}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def meaning_of(row):
    """One sentence on how an exercise ended; "" if it was judged to its end."""
    return REFUSED if row.get("refused") else MEANINGS[row["status"]]


def lines_of_part(part):
    """A part's own lines, and those of its cases that say why they failed."""
    lines = list(part["lines"])
    wrong = [case for case in part["cases"] if not case["passed"] and case["lines"]]
    for case in wrong[:MOST_CASES]:
        lines += ["", case["name"], *(f"  {line}" for line in case["lines"])]
    if len(wrong) > MOST_CASES:
        lines += ["", f"and {len(wrong) - MOST_CASES} more cases"]
    return lines if part["lines"] else lines[1:]


def write_feedback(marks, pictures, folder, graded=None):
    """The pages of all students; `pictures` is {a picture's path in the folder: its SVG}.

    What an earlier run wrote and this one does not is removed. If only one student was `graded`, the
    pages of all others stay as they are.
    """
    for path, svg in pictures.items():
        make_own_folder(folder / FEEDBACK)
        make_own_folder((folder / path).parent)
        write_whole(folder / path, svg)
    titles = {each["number"]: f"{each['number']} {each['name']}" for each in marks["exercises"]}
    for student in marks["students"]:
        if graded not in (None, student["student"]):
            continue
        place = folder / FEEDBACK / student["folder"]
        make_own_folder(folder / FEEDBACK)
        make_own_folder(place)
        markdown, html_page = (place / name for name in PAGES)
        write_whole(markdown, _markdown(student, titles))
        write_whole(html_page, _html(student, titles, pictures))
    written = [
        f"{FEEDBACK}/{each['folder']}/{name}" for each in marks["students"] for name in PAGES
    ]
    rows = [row for student in marks["students"] for row in student["exercises"]]
    _remove_others([*written, *(row["picture"] for row in rows if row["picture"])], folder)


def remove_page(file):
    """Removes an earlier run's page, which tells of files that may have changed since; no link."""
    if file.is_file() and not file.is_symlink():
        file.unlink()


def _remove_others(written, folder):
    """Removes pages and pictures of an earlier run, and nothing that has another name or is a link."""
    kept = {path.lower() for path in written}  # some file systems keep the case of an older name
    names = {*PAGES, *(f"{each.file_name[:-3]}.svg" for each in all_exercises())}
    for place in (folder / FEEDBACK).iterdir():
        if place.is_symlink() or not place.is_dir():
            continue
        for file in [place / name for name in names]:
            if file.relative_to(folder).as_posix().lower() not in kept:
                remove_page(file)
        if not any(place.iterdir()):
            place.rmdir()


def _told(row):
    """[(a heading, lines below it, whether it has all of its points)] of one exercise."""
    return [
        (
            f"{part['part']}: {part['points']} of {part['of']} points",
            lines_of_part(part),
            part["points"] == part["of"],
        )
        for part in row["parts"]
    ]


def _fenced(lines):
    """The lines as a block of Markdown that none of them can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence, ""]


def _plain(text):
    """The text without what Markdown or HTML would take for a mark."""
    return re.sub(r"([\\`*_<>\[\]&])", r"\\\1", text)


def _of(student):
    return sum(row["of"] for row in student["exercises"])


def _markdown(student, titles):
    lines = [f"# {student['student']}: {student['points']} of {_of(student)} points", ""]
    lines += [f"- {problem}" for problem in student["problems"]]
    for row in student["exercises"]:
        lines += ["", f"## {titles[row['exercise']]}: {row['points']} of {row['of']} points", ""]
        lines += [meaning_of(row), ""] if meaning_of(row) else []
        for head, told, _ in _told(row):
            lines += [f"**{_plain(head)}**", ""]
            if told:
                lines += _fenced(told)
        if row["picture"]:
            lines += [f"![The race]({row['picture'].rpartition('/')[2]})", ""]
    return "\n".join(lines).rstrip() + "\n"


def _html(student, titles, pictures):
    body = []
    if student["problems"]:
        items = "".join(f"<li>{html.escape(each)}</li>" for each in student["problems"])
        body.append(f"<ul>{items}</ul>")
    for row in student["exercises"]:
        title = html.escape(titles[row["exercise"]])
        body.append(f"<h2>{title}: {row['points']} of {row['of']} points</h2>")
        body += [f"<p>{html.escape(meaning_of(row))}</p>"] if meaning_of(row) else []
        for head, told, is_full in _told(row):
            mark = "full" if is_full else "less"
            body.append(f'<h3 class="{mark}">{html.escape(head)}</h3>')
            if told:
                body.append(f"<pre>{html.escape(chr(10).join(told).strip(chr(10)))}</pre>")
        if row["picture"]:
            body.append(f"<figure>{pictures[row['picture']]}</figure>")
    heading = f"{student['student']}: {student['points']} of {_of(student)} points"
    return page(heading, "\n".join(body))


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
    body += _table("To look at", ("what", "whose"), _by_kind(problems), everything=True)
    write_whole(file, page("Summary of the class", "\n".join(body)))


def _by_kind(problems):
    """[(sentence, whose)] of [(student, sentence)]: sentences that end alike together, the rarest first."""
    whose, sizes = collections.defaultdict(list), collections.Counter()
    for student, sentence in problems:
        whose[sentence].append(student)
        sizes[_kind(sentence)] += 1
    sentences = sorted(whose, key=lambda each: (sizes[_kind(each)], _kind(each), each))
    return [(each, ", ".join(filter(None, whose[each]))) for each in sentences]


def _kind(sentence):
    return sentence.rpartition(": ")[2]


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


def write_leaderboard(marks, file):
    """The page of the marks; names are aliases where the roster has them."""
    body = [f"<p>{html.escape(WHAT)}</p>"]
    for exercise in marks["exercises"]:
        if SPEED not in exercise["points"]:
            continue
        body.append(f"<h2>{exercise['number']} {html.escape(exercise['name'])}</h2>")
        rows = ranked(marks["students"], exercise["number"])
        body += _ranking(rows) if rows else ["<p>Nobody yet.</p>"]
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


def _ranking(rows):
    lines = ['<table><tr><th class="number">rank</th><th>name</th>']
    lines.append('<th class="number">time</th><th class="number">half of the rounds</th></tr>')
    for place, (ratio, low, high, name) in enumerate(rows, 1):
        lines.append(
            f'<tr><td class="number">{place}</td><td>{html.escape(name)}</td>'
            f'<td class="number">{ratio:.2f}</td><td class="number">{low:.2f} to {high:.2f}</td></tr>'
        )
    return [*lines, "</table>"]
