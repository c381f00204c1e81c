# SPDX-License-Identifier: MIT
"""An exam sheet and its answers, out of the chapters' predictions."""

from engine.command.errors import WRONG_USE, CommandError, listed
from lab_tool.chapters import all_chapters
from lab_tool.predictions import LETTERS, all_predictions, chosen_prediction

SHEET, ANSWERS = "exam.md", "exam_answers.md"
LICENCE = "<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->"
POINTS = 4  # a question: one for each variant
TASK = (
    "Each question shows four variants of a kernel. Mark those that are free of races, whatever order "
    "the blocks and threads run in, and say in one sentence for each other one which two accesses race. "
    f"A variant that is judged rightly gives one point, so a question gives {POINTS}."
)


def chosen_predictions(words):
    """Those of a list such as 04,05.1, or of all. Raises CommandError."""
    everything = all_predictions()
    if words == "all":
        return everything
    numbers = [chapter.number for chapter in all_chapters()]
    found = []
    for word in words.split(","):
        word = word.strip()
        if word.zfill(2) in numbers:
            found += [each for each in everything if each.chapter == word.zfill(2)]
        elif word:
            found.append(chosen_prediction(word))
    labels = [each.label for each in found]
    if not found or len(set(labels)) < len(labels):
        raise CommandError(
            f"--exam {words}: chapters and predictions are expected, each once, as in 04,05.1.",
            WRONG_USE,
        )
    return sorted(found, key=lambda each: each.label)


def exam_files(predictions, title):
    """{path: bytes} of the sheet and of its answers."""
    sheet, answers = [LICENCE, f"# {title}", "", TASK, ""], [LICENCE, f"# {title}: answers", ""]
    for number, each in enumerate(predictions, 1):
        sheet += ["", f"## {number}. {each.title}", "", each.question, ""]
        for letter in LETTERS:
            sheet += [f"**{letter}**", "", "```cpp", *each.variants[letter].code, "```", ""]
        sheet.append("Free of races: &emsp; a &emsp; b &emsp; c &emsp; d &emsp; none")
        answers += _answer(number, each)
    return {
        SHEET: ("\n".join(sheet) + "\n").encode(),
        ANSWERS: ("\n".join(answers) + "\n").encode(),
    }


def _answer(number, prediction):
    free = listed(prediction.answer) or "none"
    lines = [f"## {number}. {prediction.title}", "", f"Free of races: **{free}**.", ""]
    for letter in LETTERS:
        variant = prediction.variants[letter]
        found = f" Racecheck says: {', '.join(variant.diagnosis)}." if variant.diagnosis else ""
        lines.append(f"- **{letter}**: {variant.why}{found}")
    lines += ["", f"What it brings out: *{prediction.misconception}*"]
    lines += [f"`./lab predict {prediction.label}` runs it.", ""]
    return lines
