# SPDX-License-Identifier: MIT
"""The predictions themselves: racecheck agrees with all that they say, and they can be answered."""

import difflib
import re
import shutil

import pytest

from engine.command.race_picture import race_figure
from lab_tool.chapters import all_chapters
from lab_tool.predictions import (
    LETTERS,
    WIDEST_CODE,
    WIDTH,
    Variant,
    all_predictions,
    contradiction,
    findings_of,
    predictions_of,
    question_of,
)
from this_build import BUILD, ROOT

PREDICTIONS = all_predictions()
# What docs/racecheck.md names as a diagnosis.
DIAGNOSES = {
    name.replace("`", "")
    for name in re.findall(
        r"^\| ((?:missing|scope|volatile|plain|no|access|release|write|stride) [^|]+?) \|",
        (ROOT / "docs/racecheck.md").read_text(encoding="utf-8"),
        re.M,
    )
}
MOST_LINES = 18  # a variant
MOST_CHANGED = 14  # lines that a variant lacks or has more than the first one


def each_prediction(check):
    ids = [prediction.label for prediction in PREDICTIONS]
    return pytest.mark.parametrize("prediction", PREDICTIONS, ids=ids)(check)


@each_prediction
def test_racecheck_agrees(prediction, capfd, tmp_path):
    # A copy is always compiled, so that the compiler's warnings show, and beside whatever another
    # test makes of the file itself.
    source = tmp_path / f"copy_of_{prediction.source.name}"
    shutil.copy(prediction.source, source)
    try:
        findings = findings_of(prediction._replace(source=source), str(BUILD))
    finally:
        for made in (BUILD / "files").glob(f"{source.stem}-*"):
            shutil.rmtree(made)
    assert "warning" not in capfd.readouterr().err
    for letter in LETTERS:
        races = [item for item in findings[letter] if item["kind"] == "race"]
        assert bool(races) == (letter not in prediction.answer)
        if races:
            # The first finding is what is shown and drawn.
            assert findings[letter][0]["kind"] == "race"
            assert "<svg" in race_figure([(letter, findings[letter][0])]).svg()


@each_prediction
def test_its_variants(prediction):
    texts = ["\n".join(prediction.variants[letter].code) for letter in LETTERS]
    assert len(set(texts)) == len(LETTERS), "two variants are the same"
    for text in texts:
        lines = text.splitlines()
        assert len(lines) <= MOST_LINES
        assert max(map(len, lines)) <= WIDEST_CODE
        assert "__global__ void " in text
        assert "//" not in text, "a comment gives the answer away, or belongs into the question"
        changes = [line for line in difflib.ndiff(texts[0].splitlines(), lines) if line[0] in "+-"]
        assert len(changes) <= MOST_CHANGED


@each_prediction
def test_it_says_why(prediction):
    assert prediction.title and not prediction.title.endswith(".")
    assert prediction.question.endswith(".") and prediction.misconception.endswith(".")
    for letter in LETTERS:
        variant = prediction.variants[letter]
        assert variant.why.endswith((".", ".)")), letter
        assert 40 <= len(variant.why) <= 400, letter
        assert set(variant.diagnosis) <= DIAGNOSES, letter


@each_prediction
def test_its_question_fits(prediction):
    assert max(map(len, question_of(prediction).splitlines())) <= WIDTH


@pytest.mark.parametrize("chapter", all_chapters(), ids=lambda chapter: chapter.number)
def test_a_chapters_answers_differ(chapter):
    predictions = predictions_of(chapter)
    assert [each.number for each in predictions] == list(range(1, len(predictions) + 1))
    if len(predictions) > 1:
        assert len({each.answer for each in predictions}) > 1


def test_no_answer_is_a_good_guess():
    """Each letter is free of races about as often as not, and no one answer is right often."""
    answers = [each.answer for each in PREDICTIONS]
    for letter in LETTERS:
        share = sum(letter in answer for answer in answers) / len(answers)
        assert 1 / 4 <= share <= 3 / 4, f"{letter} in {share:.2f} of {answers}"
    for answer in set(answers):
        assert answers.count(answer) <= len(answers) / 4, answer


def test_a_name_is_used_once():
    names = [each.name for each in PREDICTIONS]
    assert len(set(names)) == len(names)
    of_chapters = {name for chapter in all_chapters() for name in chapter.names}
    assert not of_chapters & set(names)


def test_every_diagnosis_is_asked_for():
    asked = {
        name
        for each in PREDICTIONS
        for variant in each.variants.values()
        for name in variant.diagnosis
    }
    assert len(DIAGNOSES) > 9
    assert asked == DIAGNOSES


RACE = {"kind": "race", "diagnosis": ["missing acquire"]}
UNWRITTEN = {"kind": "unwritten", "diagnosis": ["unwritten memory"]}


# What findings_of must not let through.


def says(diagnosis, findings, problems=()):
    variant = Variant(1, [], "why", diagnosis, "README.md#the-idea")
    return contradiction(variant, findings, list(problems))


def test_agreement():
    assert says([], []) is None
    assert says(["missing acquire"], [RACE]) is None
    assert says(["missing acquire"], [RACE, UNWRITTEN]) is None


def test_contradiction():
    for diagnosis, findings, sentence in (
        ([], [RACE], "racecheck finds missing acquire, and not nothing"),
        (["missing acquire"], [], "racecheck finds nothing, and not missing acquire"),
        (["missing release"], [RACE], "finds missing acquire, and not missing release"),
        ([], [UNWRITTEN], "racecheck finds unwritten memory, and not nothing"),
    ):
        assert sentence in says(diagnosis, findings)
    assert says([], [], ["it did not end"]) == "it did not end"
