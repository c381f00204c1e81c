# SPDX-License-Identifier: MIT
"""The exam sheet: the questions without the answers, and the answers with everything that is known."""

import pathlib
import tempfile

from lab_runs import lab
from lab_tool.export.exam import ANSWERS, SHEET, chosen_predictions, exam_files
from lab_tool.predictions import LETTERS, all_predictions


def test_the_sheet_asks_and_does_not_answer():
    predictions = all_predictions()
    assert len(predictions) > 10
    sheet = exam_files(predictions, "Final")[SHEET].decode()
    assert "# Final\n" in sheet
    for each in predictions:
        assert each.question in sheet
        assert each.misconception not in sheet
        for letter in LETTERS:
            variant = each.variants[letter]
            assert "\n".join(variant.code) in sheet
            assert variant.why not in sheet
            for name in variant.diagnosis:
                assert f"{name}." not in sheet


def test_the_answers():
    for each in all_predictions():
        answers = exam_files([each], "Final")[ANSWERS].decode()
        free = " ".join(letter for letter in LETTERS if not each.variants[letter].diagnosis)
        told = answers.split("Free of races: **")[1].split("**")[0]
        assert told.replace(",", "").replace(" and", "") == (free or "none"), each.label
        for letter in LETTERS:
            assert f"- **{letter}**: {each.variants[letter].why}" in answers
        assert each.misconception in answers


def test_what_is_chosen():
    labels = [each.label for each in chosen_predictions("5.1,04")]
    assert labels == [*(f"04.{number}" for number in range(1, 8)), "05.1"]
    assert len(chosen_predictions("all")) == len(all_predictions())


def test_wrong_use_gets_a_sentence():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "exam")
        for words, says in [
            (["--exam", "09"], "there is no prediction 09"),
            (["--exam", "04,04.1"], "each once, as in 04,05.1"),
            (["--exam", ","], "chapters and predictions are expected"),
            (["--exam", "04", "--exercises", "04.1"], "give one of them"),
            (["--exam", "04", "--for", "gradescope"], "--for is for an export of exercises"),
            (["--exam", "04", "--for", "plain"], "--for is for an export of exercises"),
            (["--exam", "04", "--due", "Friday"], "--due is for an export of exercises"),
            (["--exam", "04", "--hints"], "--hints is for an export of exercises"),
            (["--exam", "04", "--build", name], "--build is for an export of exercises"),
        ]:
            run = lab("export", folder, *words)
            assert (run.returncode, run.stdout) == (2, ""), words
            assert says in run.stderr
            assert not folder.exists()
