# SPDX-License-Identifier: MIT
"""similar.html: which submissions resemble one another, for somebody to look at."""

import html

from engine.command.output import counted
from engine.command.output_files import write_whole
from grader.reports.feedback import page
from grader.submissions.similarity import LEAST_SHARED, MOST_PAIRS, WINDOW, K

WHAT_IT_IS = """This is a list to look at, and no proof. Two right solutions of a short exercise often \
resemble one another because there are few ways to write it, and two students may have had the same help. \
Whoever is in this list has done nothing wrong until somebody has read both files and heard both students."""
HOW_IT_IS_MADE = f"""Comments, spaces and names make no difference, and what stands in the starter or in the \
course's solution is left out. Of the rest the overlap says how much of the shorter file the other one \
shares: in fingerprints, as winnowing chooses them (Schleimer, Wilkerson and Aiken, 2003). What two files \
share over {K + WINDOW - 1} tokens is always seen, and what is shorter than {K} tokens never."""
HEADS = ("overlap", "exercise", "student", "file", "lines", "student", "file", "lines")


def write_similar(pairs, more, file):
    """The page of these Pairs, of which there are so many more."""
    body = [f"<p>{html.escape(text)}</p>" for text in (WHAT_IT_IS, HOW_IT_IS_MADE)]
    if not pairs:
        body.append(f"<p>No two files share {LEAST_SHARED} fingerprints or more.</p>")
    else:
        heads = "".join(f"<th>{head}</th>" for head in HEADS)
        body += [f"<table><tr>{heads}</tr>", *map(_row, pairs), "</table>"]
    if more:
        body.append(
            f"<p>{counted(more, 'more pair')} with less in common: only {MOST_PAIRS} are listed.</p>"
        )
    write_whole(file, page("Submissions that resemble one another", "\n".join(body)))


def _row(pair):
    cells = [f"{pair.overlap} %", pair.exercise.title]
    for student, file, lines in zip(pair.students, pair.files, pair.lines):
        cells += [student, file, ", ".join(map(_range, lines))]
    return f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"


def _range(lines):
    first, last = lines
    return f"{first}" if first == last else f"{first}-{last}"
