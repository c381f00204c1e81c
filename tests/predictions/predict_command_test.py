# SPDX-License-Identifier: MIT
"""`./lab predict` as a student uses it, and as a script does, right and wrong."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from unittest import mock

import pytest

from engine.command.errors import CommandError
from lab_runs import lab, on_a_terminal
from lab_tool import command_line, predictions
from lab_tool.chapters import Chapter
from lab_tool.predictions import (
    LETTERS,
    all_predictions,
    chosen_prediction,
    letters_of,
    next_prediction,
    predictions_of,
    question_of,
    summary_of,
)
from test_setup import captured
from this_build import BUILD, ROOT

HOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(HOLDER.name)  # and not the developer's own
COMMAND = [sys.executable, str(ROOT / "lab"), "predict", "--build", str(BUILD)]


def predict(*words, environment=None):
    return captured(
        [*COMMAND, *words, *([] if "--list" in words else ["--work", str(WORK)])],
        stdin=subprocess.DEVNULL,
        timeout=300,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
    )


def typed_on_a_terminal(typed, *words):
    """What the command writes on a terminal at which this is typed, and its exit code."""
    text, code = on_a_terminal([*COMMAND, *words, "--work", str(WORK)], typed=typed)
    return text.replace("\r\n", "\n"), code


def refuses(*words, says):
    result = predict(*words)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert re.search(r"\Alab: [^\n]+\n\Z", result.stderr), result.stderr
    assert says in result.stderr


def test_no_terminal():
    refuses("04", says="lab predict asks on a terminal, and this is none: give your answer")


def test_no_such_prediction():
    refuses("fencs", "--answer", "a", says="no prediction fencs; did you mean fences?")
    refuses("04.9", "--answer", "a", says="no prediction 04.9; ")
    refuses("99", "--answer", "a", says="no prediction 99; ")
    refuses("x.cu", "--answer", "a", says="no prediction x.cu; ./lab predict --list")


def test_no_answer():
    for answer in ("ae", "x", "a-b", "no", ","):
        refuses("04", "--answer", answer, says=f"{answer} is no answer: it takes the letters")
    refuses("04", "--answer", "", says="the value of --answer is empty")


def test_list_goes_alone():
    refuses("04", "--list", says="--list goes alone")
    refuses("04", "--", "a", says="options of a program, after --, go with")


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        ("", "01.1"),
        ("04", "04.1"),
        ("4", "04.1"),
        ("last_block_guard", "04.1"),
        ("chapters/04_last_block_guard/", "04.1"),
        ("04.2", "04.2"),
        ("4.2", "04.2"),
        ("fences", "04.1"),
    ],
)
def test_by_number_name_and_chapter(wanted, label):
    assert chosen_prediction(wanted).label == label


def test_what_was_answered_right_is_not_asked_again_unless_it_is_named():
    answered = {"fences"}
    assert chosen_prediction("04", answered).label == "04.2"
    assert chosen_prediction("04.1", answered).label == "04.1"
    assert chosen_prediction("fences", answered).label == "04.1"
    of_chapter = {each.name for each in all_predictions() if each.chapter == "04"}
    assert chosen_prediction("04", of_chapter).label == "04.1"
    assert chosen_prediction("", of_chapter).label == "01.1"
    first = chosen_prediction("01.1")
    assert chosen_prediction("", {first.name}).label == "01.2"
    last_of_03 = [each for each in all_predictions() if each.chapter == "03"][-1]
    assert next_prediction(last_of_03, answered).label == "04.2"
    every_name = {each.name for each in all_predictions()}
    assert next_prediction(last_of_03, every_name).label == "04.1"


def test_a_chapter_without_predictions():
    others = [each for each in all_predictions() if each.chapter != "04"]
    with (
        mock.patch.object(predictions, "all_predictions", lambda: others),
        pytest.raises(CommandError, match="there is no prediction 04; "),
    ):
        chosen_prediction("04")


@pytest.mark.parametrize(
    "answer, letters",
    [
        ("ac", "ac"),
        (" C, a ", "ac"),
        ("a c", "ac"),
        ("aa", "a"),
        ("NONE", ""),
        ("all", "abcd"),
    ],
)
def test_answers(answer, letters):
    assert letters_of(answer) == letters


def test_list():
    result = predict("--list")
    assert (result.returncode, result.stderr) == (0, "Next: ./lab predict\n")
    labels = [line.split()[0] for line in result.stdout.splitlines()]
    assert labels == [each.label for each in all_predictions()]


def test_right():
    result = predict("04.1", "--answer", "a d")
    assert result.returncode == 0, result
    assert "Which of the four are free of races, and why?" in result.stdout
    assert "\na  right: free of races\n" in result.stdout
    assert "\nb  right: a race\n" in result.stdout
    assert "\n4 of 4 right: a and d are free of races.\n" in result.stdout
    assert "Read again" not in result.stdout
    assert "A common mistake" not in result.stdout
    assert result.stderr.endswith(f"Next: ./lab predict 04.2 --work {WORK}\n"), result


def test_wrong():
    picture = WORK / "04.1_fences.svg"
    picture.unlink(missing_ok=True)
    result = predict("04.1", "--answer", "ab")
    assert result.returncode == 1, result
    for text in (
        "\na  right: free of races\n",
        "\nb  WRONG: a race\n",
        "\nc  right: a race\n",
        "\nd  WRONG: free of races\n",
        "\n     written by block 0 thread",
        " at line 3\n         words[blockIdx.x * 64 + threadIdx.x] = 1;\n",
        "\n     missing barrier before the atomic: block 0 signals",
        "README.md#why-it-is-correct\n",
        "\n2 of 4 right: a and d are free of races.\nA common mistake: ",
        "/04.1_fences.svg, one below the other.\n",
    ):
        assert text in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 80
    drawn = picture.read_text(encoding="utf-8")
    assert "b: race" in drawn
    assert "c: race" in drawn
    assert re.search(r"Next: ./lab racecheck \S+fences.cu -- b  \(all that", result.stderr), (
        result.stderr
    )


@pytest.mark.parametrize(
    ("label", "answer", "is_named"),
    [("04.1", "a", False), ("07.1", "a", False), ("07.1", "acd", True), ("08.1", "a", True)],
)
def test_a_common_mistake_is_named_only_if_the_answer_made_it(label, answer, is_named):
    said = summary_of(chosen_prediction(label), answer)
    assert said.startswith("3 of 4 right: ")
    assert ("A common mistake" in said) == is_named


def test_each_variant_is_shown_whole_and_the_question_last():
    """So a new line's place is seen, and a terminal of 24 lines still shows what is asked."""
    for each in all_predictions():
        text = question_of(each)
        for letter in LETTERS:
            code = each.variants[letter].code
            shown = text.split(f"\n{letter}\n")[1].splitlines()[: len(code)]
            assert [line[6:] for line in shown] == code, each.label
        tail = text.splitlines()[-22:]
        assert " ".join(each.question.split()[:3]) in "\n".join(tail), each.label
        assert tail[-1] == "Which of the four are free of races, and why?"
    with_a_moved_line = question_of(chosen_prediction("04.1")).split("\nb\n")[1]
    assert "  4 >   __threadfence();\n" in with_a_moved_line


def test_a_chapter_goes_on_after_a_right_answer_and_not_after_a_wrong_one():
    with tempfile.TemporaryDirectory() as folder:

        def asked_in(folder, answer):
            words = [*COMMAND, "04", "--answer", answer, "--work", folder]
            return captured(words)

        for answer, label in (("ab", "04.1"), ("ad", "04.1"), ("none", "04.2")):
            assert asked_in(folder, answer).stdout.startswith(label), answer
        remembered = pathlib.Path(folder, ".checked/predictions.json")
        assert json.loads(remembered.read_text(encoding="utf-8")) == ["fences"]
        for content in ("", "[1, 2", '{"fences": 1}', "[[]]"):
            remembered.write_text(content, encoding="utf-8")
            assert asked_in(folder, "ab").stdout.startswith("04.1"), content


def test_all_four_race():
    result = predict("same_kernel", "--answer", "none")
    assert result.returncode == 0, result
    assert "\n4 of 4 right: none is free of races.\n" in result.stdout


def test_after_the_last_one_comes_the_first():
    last = all_predictions()[-1]
    result = predict(last.name, "--answer", last.answer)
    assert result.stderr.endswith(f"Next: ./lab predict 01.1 --work {WORK}\n"), result


def test_the_users_number_of_multiprocessors_does_not_count():
    """On one of them, one block would take over all tiles, and no two threads would race."""
    result = predict("06.3", "--answer", "abd", environment={"LAB_SMS": "1"})
    assert result.returncode == 0, result


def test_until_there_is_an_answer():
    text, code = typed_on_a_terminal("?\nxy\n\nd, a\n", "04.1")
    assert code == 0, text
    assert text.count("Free of races are (letters, none, ? or q): ") == 4, text
    assert "Type the letters of the variants that are free of races" in text
    assert "xy is no answer: " in text
    assert "nothing is no answer: " in text
    assert "4 of 4 right" in text


@pytest.mark.parametrize("typed", ["q\n", "\x04"])
def test_without_an_answer(typed):
    text, code = typed_on_a_terminal(typed, "04.1")
    assert code == 1, text
    assert "right" not in text
    assert "./lab predict 04.1" in text.splitlines()[-1]


# A prediction's program by itself: `./lab run` takes it as it takes any file.


def run_with(*words):
    source = chosen_prediction("01.1").source
    return lab("run", "--build", str(BUILD), source, "--", *words)


def test_its_argument():
    assert run_with("d").returncode == 0
    for words in ((), ("e",), ("A",), ("ab",), ("a", "b")):
        result = run_with(*words)
        sentence = "the one argument is the letter of a variant, from a to d\n"
        assert (result.returncode, result.stdout) == (2, sentence), words


def test_racecheck_contradicts_the_course():
    right = chosen_prediction("04.1")
    wrong = right._replace(
        variants={**right.variants, "c": right.variants["c"]._replace(diagnosis=[])}
    )
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        mock.patch("lab_tool.verbs.predict.chosen_prediction", lambda *_: wrong),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        words = ["predict", "04.1", "--answer", "acd", "--build", str(BUILD)]
        code = command_line.main(words)
    assert code == 3, stderr.getvalue()
    assert (
        "lab: internal error: 04.1 (fences), c: racecheck finds missing acquire, and not nothing."
        in stderr.getvalue()
    )
    assert "right" not in stdout.getvalue()


def test_files_that_make_no_prediction():
    chapter = Chapter("04_last_block_guard", "last_block_guard")
    ours = ROOT / "chapters/04_last_block_guard/predictions"
    code = (ours / "fences.cu").read_text(encoding="utf-8")
    for old, new, says in (
        (code, "", "no comment as a prediction's"),
        ("Prediction ", "A prediction ", "no comment as a prediction's"),
        ("// A common mistake (b): ", "// ", "no comment as a prediction's"),
        ("// END b\n", "", "one line '// BEGIN b' and one"),
        ("// BEGIN d", "// BEGIN c", "one line '// BEGIN c' and one"),
        ("// No race\n", "// Right\n", "is not that of a variant"),
        ("// See ", "// Read ", "the comment before '// BEGIN a' is not"),
        (code, "\udcff", "can't decode byte"),
    ):
        assert old in code
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root, "chapters", chapter.folder, "predictions")
            folder.mkdir(parents=True)
            changed = code.replace(old, new).encode("utf-8", "surrogateescape")
            (folder / "fences.cu").write_bytes(changed)
            with pytest.raises(CommandError) as problem:
                predictions_of(chapter, pathlib.Path(root))
            assert "predictions/fences.cu is no prediction: " in str(problem.value)
            assert says in str(problem.value)
