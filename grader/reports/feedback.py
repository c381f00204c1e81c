# SPDX-License-Identifier: MIT
"""What each student gets to read: one page per student, as Markdown and as HTML."""

import html
import re

from engine.driver.paths import write_whole
from grader.exercises.catalogue import all_exercises
from grader.reports.explanations import MEANINGS, lines_of_part
from grader.reports.marks import FEEDBACK
from grader.reports.pages import page

PAGES = ("feedback.md", "feedback.html")


def write_feedback(marks, pictures, folder):
    """The pages of all students; `pictures` is {a picture's path in the folder: its SVG}.

    What an earlier run wrote and this one does not is removed.
    """
    for path, svg in pictures.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, svg)
    titles = {each["number"]: f"{each['number']} {each['name']}" for each in marks["exercises"]}
    for student in marks["students"]:
        place = folder / FEEDBACK / student["folder"]
        place.mkdir(parents=True, exist_ok=True)
        markdown, html_page = (place / name for name in PAGES)
        write_whole(markdown, _markdown(student, titles))
        write_whole(html_page, _html(student, titles, pictures))
    written = [
        f"{FEEDBACK}/{each['folder']}/{name}" for each in marks["students"] for name in PAGES
    ]
    _remove_others([*written, *pictures], folder)


def _remove_others(written, folder):
    """Removes pages and pictures of an earlier run, and nothing that has another name or is a link."""
    kept = {path.lower() for path in written}  # some file systems keep the case of an older name
    names = {*PAGES, *(f"{each.file_name[:-3]}.svg" for each in all_exercises())}
    for place in (folder / FEEDBACK).iterdir():
        if place.is_symlink() or not place.is_dir():
            continue
        for file in [place / name for name in names]:
            is_ours = file.is_file() and not file.is_symlink()
            if is_ours and file.relative_to(folder).as_posix().lower() not in kept:
                file.unlink()
        if not any(place.iterdir()):
            place.rmdir()


def _told(row):
    """[(a heading, lines below it)] of one exercise."""
    return [
        (f"{part['part']}: {part['points']} of {part['of']} points", lines_of_part(part))
        for part in row["parts"]
    ]


def _fenced(lines):
    """The lines as a block of Markdown that none of them can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence, ""]


def _of(student):
    return sum(row["of"] for row in student["exercises"])


def _markdown(student, titles):
    lines = [f"# {student['student']}: {student['points']} of {_of(student)} points", ""]
    lines += [f"- {problem}" for problem in student["problems"]]
    for row in student["exercises"]:
        lines += ["", f"## {titles[row['exercise']]}: {row['points']} of {row['of']} points", ""]
        if MEANINGS[row["status"]]:
            lines += [MEANINGS[row["status"]], ""]
        for head, told in _told(row):
            lines += [f"**{head}**", ""]
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
        if MEANINGS[row["status"]]:
            body.append(f"<p>{MEANINGS[row['status']]}</p>")
        for head, told in _told(row):
            mark = "full" if head.split(" ")[1] == head.split(" ")[3] else "less"
            body.append(f'<h3 class="{mark}">{html.escape(head)}</h3>')
            if told:
                body.append(f"<pre>{html.escape(chr(10).join(told).strip(chr(10)))}</pre>")
        if row["picture"]:
            body.append(f"<figure>{pictures[row['picture']]}</figure>")
    heading = f"{student['student']}: {student['points']} of {_of(student)} points"
    return page(heading, "\n".join(body))
