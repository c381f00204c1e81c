# SPDX-License-Identifier: MIT
"""What a student is told about a grade: one page per student, as Markdown and as HTML."""

import html
import re

from engine.command.output_files import make_own_folder, write_whole
from grader.exercises.catalogue import all_exercises
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


PAGES = ("feedback.md", "feedback.html")


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
