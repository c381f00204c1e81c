# SPDX-License-Identifier: MIT
"""What names every chapter, exercise or prediction, made from their own files.

`./lab check-course --write` writes it, and without --write compares it. Of a Markdown file it is what
stands between `<!-- generated: NAME -->` and `<!-- end of generated -->`; the rest is written by hand.
"""

import itertools
import json
import re
from typing import NamedTuple

from engine.command.errors import CommandError, listed
from engine.command.output_files import write_whole
from grader.exercises.catalogue import all_exercises
from lab_tool.authoring.chapter_facts import FILE, PLANS, facts_of, problem_of_cell
from lab_tool.chapters import Chapter, all_chapters, further_pages
from lab_tool.paths import ROOT
from lab_tool.predictions import all_predictions

BLOCK = re.compile(
    r"^<!-- generated: (?P<name>[^\n]*) -->\n(?P<body>.*?)^<!-- end of generated -->$", re.M | re.S
)
# In the head of a lesson, and of each further reading that belongs to it.
TIME = re.compile(r"\*\*Time:\*\* (\d+) minutes to read, (\d+) to run its\s+commands\.")
MARK = re.compile(r"^<!-- (?:generated: .*|end of generated) -->$", re.M)
# The last sessions of a plan, which are about no single chapter.
LAST_SESSIONS = {
    "short": [],
    "medium": ["exam, and what is on the GPU"],
    "long": [
        "a project: [their own code](use/README.md) with a guard or a queue",
        "exam, and the projects",
    ],
}
# Minutes of a session in the module of two weeks: for a prediction, and to show how a program fails.
PREDICTION, SHOWING = 10, 15
SESSIONS_A_WEEK = 2
DEBUGGER_COMMANDS = "engine/cpu_backend/debugger/cuda_threads.py"


class _Course:
    """All that the generated text is made from."""

    def __init__(self, root):
        self.chapters = all_chapters(root)
        self.facts = {chapter: facts_of(root, chapter) for chapter in self.chapters}
        self.titles = {chapter: _title(root, chapter) for chapter in self.chapters}
        known = {chapter.folder for chapter in self.chapters}
        self.exercises = [each for each in all_exercises(root) if each.chapter in known]
        self.audiences = {each.title: _audience(root, each) for each in self.exercises}
        self.predictions = all_predictions(root)
        self.module = _sessions_of_module(root, self)

    def exercises_of(self, chapter):
        return [each for each in self.exercises if each.chapter == chapter.folder]


def generated_files(root=ROOT):
    """{path from the root: the whole text that the file must have}.

    Raises CommandError if a file that it is made from can't be used, or a Markdown file lacks its marks.
    """
    course = _Course(root)
    blocks = {
        "README.md": {"chapters": _chapters(course)},
        "docs/benchmarks/README.md": {"chapters": _benchmarks(course)},
        "docs/teaching.md": {
            "chapters": _outcomes(course),
            "plans": _plans(course),
            "module": _module(course),
            "exercises": _audiences(course),
            "predictions": _beliefs(course),
        },
    }
    for chapter in course.chapters:
        lesson = f"chapters/{chapter.folder}/README.md"
        blocks[lesson] = {"exercises": _exercises_of_lesson(course, chapter)}
    files = {path: _with_blocks(root, path, bodies) for path, bodies in blocks.items()}
    files[".vscode/launch.json"] = _launch_configurations(course)
    return files


def differing_files(root=ROOT):
    """{path: text} of those generated files that are not as they must be. Raises CommandError likewise."""
    return {
        path: text
        for path, text in generated_files(root).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    }


def write_generated_files(root=ROOT):
    """Writes those that differ; returns their paths. Raises CommandError before anything is written."""
    differing = differing_files(root)
    for path, text in differing.items():
        write_whole(root / path, text)
    return list(differing)


def _title(root, chapter):
    lesson = f"chapters/{chapter.folder}/README.md"
    text = (root / lesson).read_text(encoding="utf-8") if (root / lesson).is_file() else ""
    heading = re.search(rf"^# {chapter.number} ([^:|\n]+): ", text, re.M)
    if not heading:
        raise CommandError(
            f"{lesson}: it must have a heading such as '# {chapter.number} Title: subject'."
        )
    return heading[1]


def _audience(root, exercise):
    problem = problem_of_cell(exercise.facts.get("for"))
    if problem:
        file = (exercise.folder / "exercise.json").relative_to(root)
        raise CommandError(f'{file}: "for", which says for whom the exercise is, {problem}.')
    return exercise.facts["for"]


def _with_blocks(root, path, bodies):
    """The text of a Markdown file, with these bodies in its blocks."""
    text = (root / path).read_text(encoding="utf-8")
    names = [match["name"] for match in BLOCK.finditer(text)]
    if sorted(names) != sorted(bodies) or len(MARK.findall(text)) != 2 * len(names):
        marks = listed(f"'<!-- generated: {name} -->'" for name in bodies)
        raise CommandError(
            f"{path}: it must have {marks}, once, and '<!-- end of generated -->' after each."
        )

    def filled(match):
        body = bodies[match["name"]]
        start = f"<!-- generated: {match['name']} -->\n"
        return start + (f"\n{body}\n\n" if body else "") + "<!-- end of generated -->"

    return BLOCK.sub(filled, text)


def _table(head, rows, alignment=None):
    """A Markdown table; nothing without rows."""
    if not rows:
        return ""
    lines = [head, alignment or ["---"] * len(head), *rows]
    return "\n".join(
        "|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in lines
    )


def _chapters(course):
    rows = [
        [
            f"[{chapter.number} {course.titles[chapter]}](chapters/{chapter.folder}/README.md)",
            f"`{chapter.program}`",
            facts.who_finishes,
            facts.channel,
        ]
        for chapter, facts in course.facts.items()
    ]
    return _table(
        ["chapter", "program", "who finishes the job", "the channel between blocks"], rows
    )


def _benchmarks(course):
    rows = [
        [chapter.number, facts.variants, facts.compared_with]
        for chapter, facts in course.facts.items()
    ]
    return _table(["chapter", "variants", "compared with"], rows)


def _outcomes(course):
    rows = []
    for chapter, facts in course.facts.items():
        minutes = sum(each.facts["minutes"] for each in course.exercises_of(chapter))
        link = f"[{chapter.number}](../chapters/{chapter.folder}/README.md)"
        rows.append([link, facts.outcome, str(minutes)])
    return _table(["chapter", "after it, a student can", "exercises, minutes"], rows)


def _plans(course):
    sessions = {
        plan: [each for facts in course.facts.values() for each in facts.sessions[plan]]
        + LAST_SESSIONS[plan]
        for plan in PLANS
    }
    counts = [len(sessions[plan]) for plan in PLANS]
    rows = [
        [str(number), *cells]
        for number, cells in enumerate(itertools.zip_longest(*sessions.values(), fillvalue=""), 1)
    ]
    table = _table(["session", *(f"{count} sessions" for count in counts)], rows)
    return (
        f"{table}\n\nWith {counts[0]} sessions set one exercise per chapter: "
        f"{listed(_exercises_to_set(course))}. With {counts[1]}, set two. With {counts[2]}, set all."
    )


def _exercises_to_set(course):
    found = []
    for chapter, facts in course.facts.items():
        numbers = {each.name: each.number for each in course.exercises_of(chapter)}
        if facts.exercise_to_set is None:
            continue
        if facts.exercise_to_set not in numbers:
            raise CommandError(
                f'chapters/{chapter.folder}/{FILE}: "exercise_to_set" is '
                f"{facts.exercise_to_set}, which is no exercise of this chapter."
            )
        found.append(numbers[facts.exercise_to_set])
    return found


class _Part(NamedTuple):
    """What a chapter has in a session of the module of two weeks."""

    chapter: Chapter
    reading: int  # minutes
    trying: int  # minutes: to run the lesson's commands
    predictions: list
    show: str
    together: list  # exercises
    homework: list  # exercises

    @property
    def in_class(self):
        minutes = sum(each.facts["minutes"] for each in self.together)
        return PREDICTION * len(self.predictions) + SHOWING + minutes


def _sessions_of_module(root, course):
    """The parts of each session, in its order."""
    sessions, numbers = {}, []
    for chapter, facts in course.facts.items():
        if facts.module is not None:
            part = _part_of_module(root, course, chapter, facts.module)
            numbers.append(facts.module["session"])
            sessions.setdefault(numbers[-1], []).append(part)
    if numbers != sorted(numbers) or set(numbers) != set(range(1, len(sessions) + 1)):
        raise CommandError(
            f'chapters/*/{FILE}: the sessions of "module" are {listed(map(str, numbers))}; they must be '
            "1, 2 and so on, in the order of the chapters."
        )
    return list(sessions.values())


def _part_of_module(root, course, chapter, module):
    lesson = f"chapters/{chapter.folder}/README.md"
    if not TIME.search((root / lesson).read_text(encoding="utf-8")):
        raise CommandError(
            f"{lesson}: its head must have '**Time:** 11 minutes to read, 20 to run its commands.'"
        )
    readings = [root / lesson, *further_pages(chapter, root)]
    times = [TIME.search(page.read_text(encoding="utf-8")) for page in readings]
    exercises = {each.name: each for each in course.exercises_of(chapter)}
    predictions = {each.name: each for each in course.predictions if each.chapter == chapter.number}

    def named(key, known, what):
        for name in module[key]:
            if name not in known:
                raise CommandError(
                    f'chapters/{chapter.folder}/{FILE}: "module": "{key}" has {name}, which is no {what} '
                    "of this chapter."
                )
        return [known[name] for name in module[key]]

    return _Part(
        chapter,
        *(sum(int(time[group]) for time in times if time) for group in (1, 2)),
        named("predictions", predictions, "prediction"),
        module["show"],
        named("together", exercises, "exercise"),
        named("homework", exercises, "exercise"),
    )


def _module(course):
    """The sessions, then what is handed out and graded in each week."""
    rows = []
    for number, parts in enumerate(course.module, 1):
        lessons = ", ".join(
            f"[{part.chapter.number}](../chapters/{part.chapter.folder}/README.md)"
            for part in parts
        )
        shown = "; ".join(
            f"[{part.chapter.number}](../chapters/{part.chapter.folder}/README.md#see-it-fail): {part.show}"
            for part in parts
        )
        homework = [each for part in parts for each in part.homework]
        minutes = sum(each.facts["minutes"] for each in homework)
        points = sum(sum(each.points.values()) for each in homework)
        graded = ", ".join(each.title for each in homework)
        rows.append(
            [
                str(number),
                f"{lessons}: {sum(part.reading for part in parts)} minutes, and "
                f"{sum(part.trying for part in parts)} to run the commands",
                ", ".join(
                    f"{each.label} {each.name}" for part in parts for each in part.predictions
                ),
                shown,
                ", ".join(each.title for part in parts for each in part.together),
                str(sum(part.in_class for part in parts)),
                f"{graded}: {minutes} minutes, {points} points" if homework else "",
            ]
        )
    head = [
        "session",
        "read before",
        "predict",
        "show",
        "solve together",
        "minutes",
        "homework, graded",
    ]
    return "\n\n".join([_table(head, rows), *_weeks_of_module(course)]) if rows else ""


def _weeks_of_module(course):
    weeks = [
        [part for parts in course.module[first : first + SESSIONS_A_WEEK] for part in parts]
        for first in range(0, len(course.module), SESSIONS_A_WEEK)
    ]
    lines = ["```sh"]
    for number, parts in enumerate(weeks, 1):
        homework = {each.number for part in parts for each in part.homework}
        handed_out = homework | {each.number for part in parts for each in part.together}
        lines += [
            f"./lab export ../week{number} --exercises {','.join(sorted(handed_out))} "
            f'--title "Week {number}"',
            f"./lab grade week{number}.zip --exercises {','.join(sorted(homework))} "
            f"--output grades{number} --roster roster.csv",
        ]
    return [
        "In each week, the first command is for what you hand out, and the second for what comes "
        "back:",
        "\n".join([*lines, "```"]),
    ]


def _audiences(course):
    rows = [
        [each.title, str(each.facts["minutes"]), course.audiences[each.title]]
        for each in course.exercises
    ]
    return _table(["exercise", "minutes", "for"], rows)


def _beliefs(course):
    rows = [[each.misconception, f"{each.label} {each.name}"] for each in course.predictions]
    return _table(["what is believed", "the prediction that shows otherwise"], rows)


def _exercises_of_lesson(course, chapter):
    rows = [
        [
            f"[{each.number} `{each.name}`](exercises/{each.name}/README.md)",
            each.subject,
            str(each.facts["minutes"]),
        ]
        for each in course.exercises_of(chapter)
    ]
    head = ["exercise", "what it is about", "minutes"]
    return _table(head, rows, alignment=["---", "---", "---:"])


def _launch_configurations(course):
    """Of Visual Studio Code: one for each chapter's program."""
    configurations = [
        {
            "name": f"Debug chapter {chapter.number}, {chapter.program}, on the CPU backend",
            "type": "cppdbg",
            "request": "launch",
            "preLaunchTask": "build for the debugger",
            "program": f"${{workspaceFolder}}/build-debug/{chapter.target}",
            "args": facts.debug_options,
            "cwd": "${workspaceFolder}",
            "MIMode": "gdb",
            "setupCommands": [
                {"text": "-enable-pretty-printing"},
                {"text": f"source ${{workspaceFolder}}/{DEBUGGER_COMMANDS}"},
            ],
        }
        for chapter, facts in course.facts.items()
    ]
    launch = {"version": "0.2.0", "configurations": configurations}
    return json.dumps(launch, indent=2, ensure_ascii=False) + "\n"
