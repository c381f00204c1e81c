# SPDX-License-Identifier: MIT
"""The repository that students get: the parts of the course that they need, and a README."""

import re

from lab_tool.chapters import all_chapters
from lab_tool.export.contents import course_files
from lab_tool.paths import ROOT

README = ROOT / "lab_tool/templates/export/README.md"
# Their work is handed in, so it is not ignored here.
IGNORED = """\
/build*/
/.lab/
/.venv/
work/.checked/
work/*.svg
__pycache__/
"""


def repository_files(exercises, title, due, hints):
    """{path: bytes} of the repository. `due` is a text for people, or None."""
    files = course_files(exercises, hints=hints)
    files["README.md"] = _readme(exercises, title, due).encode()
    files[".gitignore"] = IGNORED.encode()
    return files


def _readme(exercises, title, due):
    text = README.read_text(encoding="utf-8")
    chapters = [each for each in all_chapters() if each.folder in {e.chapter for e in exercises}]
    words = {
        "EXPORT_TITLE": title,
        "EXPORT_DUE\n\n": f"**Due: {due}**\n\n" if due else "",
        "EXPORT_ROWS": "\n".join(map(_row, exercises)),
        "EXPORT_SUM": str(sum(sum(each.points.values()) for each in exercises)),
        "EXPORT_LESSONS": "\n".join(map(_lesson, chapters)),
        "EXPORT_HAND_IN": "\n".join(f"- `work/{each.file_name}`" for each in exercises),
    }
    for word, instead in words.items():
        text = text.replace(word, instead)
    return text


def _row(exercise):
    facts = [exercise.subject, exercise.facts["minutes"], sum(exercise.points.values())]
    return f"| [{exercise.title}]({exercise.path}/README.md) | {' | '.join(map(str, facts))} |"


def _lesson(chapter):
    path = f"chapters/{chapter.folder}/README.md"
    return f"- [{_first_heading(ROOT / path)}]({path})"


def _first_heading(document):
    match = re.search(r"^# (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else document.parent.name
