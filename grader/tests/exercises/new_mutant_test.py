# SPDX-License-Identifier: MIT
"""./lab new mutant: an edited copy of the solution becomes a mutant, rejected as it says, or nothing."""

import pathlib
import re
import shutil
import tempfile

import pytest

from engine.command.build_folder import BuildFolder, settings_of
from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.check import verdict_on
from grader.judging.compile import ExerciseBuild
from lab_runs import lab
from lab_tool.authoring.mutants import Edit, Mutant, edits_between, read_mutants
from lab_tool.authoring.new_mutant import make_mutant, new_mutant
from lab_tool.authoring.trials import deviation, mutants_of, solution, trials_of
from this_build import BUILD

EXERCISE = chosen_exercise("04.2")
RESET = "      tickets.store(0, cuda::memory_order_relaxed);  // ready for the next launch\n"


class Author:
    """A copy of the exercise, because the tree stays as it is, and an edited one of its solution."""

    def __init__(self, folder):
        shutil.copytree(EXERCISE.folder, folder / EXERCISE.name)
        self.exercise = EXERCISE._replace(folder=folder / EXERCISE.name)
        self.mutants.unlink()
        self.source = EXERCISE.source.read_text(encoding="utf-8")
        self.copy = folder / "copy.cu"

    @property
    def mutants(self):
        return self.exercise.folder / "mutants.txt"

    def edit(self, old, new, text=None):
        text = self.source if text is None else text
        assert old in text
        self.copy.write_text(text.replace(old, new), encoding="utf-8")

    def build(self):
        settings = settings_of(BUILD)
        if not settings.get("scheduled_libraries"):
            pytest.skip("this build has no race checker")
        return ExerciseBuild(BuildFolder(BUILD, {}), settings)

    def refuses(self, says, name="a_mistake", code=2, **options):
        with pytest.raises(CommandError, match=says) as problem:
            new_mutant(self.exercise, name, str(self.copy), **options)
        assert problem.value.code == code
        assert "\n" not in str(problem.value)


@pytest.fixture
def author(tmp_path):
    return Author(tmp_path)


def test_what_it_makes_is_rejected_as_it_says(author):
    build = author.build()
    for name, old, new, part, says in (
        ("no_reset", RESET, "", "results", "case "),
        (
            "no_acquire",
            "memory_order_acq_rel",
            "memory_order_release",
            "races",
            "missing acquire",
        ),
    ):
        author.edit(old, new)
        made = new_mutant(author.exercise, name, str(author.copy), f"without {name[3:]}")
        mutant, _ = make_mutant(build, made)
        assert mutant.fields["Mutant"] == f"without {name[3:]}"
        assert mutant.fields["Rejected by"] == part
        assert re.search(rf"\A{says}", mutant.fields["Says"])
        assert mutant.text() in author.mutants.read_text(encoding="utf-8")
        trial = next(each for each in trials_of(author.exercise) if each.name == name)
        assert trial.text == made.text
        verdict = verdict_on(build, author.exercise, trial.text)
        assert deviation(trial, verdict) is None, "\n".join(verdict.lines)
    assert [each.name for each in mutants_of(author.exercise)] == ["no_acquire", "no_reset"]


@pytest.mark.parametrize(
    "new, lines",
    (
        ("a\n{\n}\nchanged\n{\n}\nc\n", ("-b", "+changed")),
        ("a\n{\nnew\n}\nb\n{\n}\nc\n", (" a", " {", "+new")),
        ("a\n{\n}\nb\n{\n}\nc\nd\n", (" c", "+d")),
        ("d\na\n{\n}\nb\n{\n}\nc\n", ("+d", " a")),
        ("a\nb\n{\nd\nc\n", ("-{", "-}", " b", " {", "-}", "+d")),
    ),
    ids="line_changed line_added at_the_end at_the_beginning much".split(),
)
def test_an_edit_repeats_what_tells_its_place_and_no_more(new, lines):
    old = "a\n{\n}\nb\n{\n}\nc\n"
    edits = edits_between(old, new)
    assert [edit.lines for edit in edits] == [lines]
    assert Mutant("one", {}, edits).applied_to(old) == new


@pytest.mark.parametrize(
    "text, says",
    (
        ("no title\n", ":1: it does not begin with"),
        ("## a: b\nSays: c\n", "a lacks an edit"),
        ("## a: b\n-c\n", "a lacks Says"),
        ("## a: b\nSays: c\n-d\n\n## a: b\nSays: c\n-d\n", ":5: a is there already"),
        ("## a: b\nSays: c\n@@ d\n", ":3: '@@ d' is no line of a mutant"),
    ),
    ids="no_title no_edit no_field twice no_line".split(),
)
def test_a_file_that_is_no_list_of_mutants(author, text, says):
    author.mutants.write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=says):
        read_mutants(author.mutants, ("Says",))


@pytest.mark.parametrize(
    "edits, says",
    (
        ([("-c",)], "stand 0 times"),
        ([("-b",)], "stand 2 times"),
        ([("+c",)], "stand 0 times"),
        ([(" a", "-b"), ("-a", "-b")], "two edits change the same line"),
    ),
    ids="not_there twice_there no_place same_line".split(),
)
def test_edits_that_do_not_apply(edits, says):
    mutant = Mutant("one", {}, tuple(Edit(None, lines) for lines in edits))
    with pytest.raises(AssertionError, match=says):
        mutant.applied_to("a\nb\nb\n")


@pytest.mark.parametrize(
    "old, new, says",
    (
        (
            "unsigned best = 0;",
            "unsigned best{0};",
            "nothing rejects it, so no mutant was made",
        ),
        (
            "unsigned best = 0;",
            "unsigned best = 0",
            r"it does not compile, .*\.cu:25:7: error: ",
        ),
    ),
    ids="right no_code".split(),
)
def test_what_nothing_rejects_makes_no_mutant(author, old, new, says):
    build = author.build()
    author.edit(old, new)
    made = new_mutant(author.exercise, "a_mistake", str(author.copy))
    with pytest.raises(CommandError, match=says) as problem:
        make_mutant(build, made)
    assert problem.value.code == 1
    assert not author.mutants.exists()


def test_a_build_without_the_race_checker_can_not_say(author):
    author.edit(RESET, "")
    made = new_mutant(author.exercise, "a_mistake", str(author.copy))
    build = ExerciseBuild(BuildFolder(BUILD, {}), {"scheduled_libraries": ""})
    with pytest.raises(CommandError, match="has no race checker"):
        make_mutant(build, made)


def test_a_copy_that_does_not_differ(author):
    says = "does not differ from the solution of 04.2 fullest_bin"
    for text in (
        author.source,
        author.source.replace("\n", "\r\n"),
        solution(author.exercise),
        solution(author.exercise).rstrip("\n"),
    ):
        author.copy.write_bytes(text.encode())
        author.refuses(says)


def test_a_name_that_is_taken_or_can_be_none(author):
    author.edit(RESET, "")
    author.mutants.write_text("## taken: a\nRejected by: races\nSays: b\n-c\n", encoding="utf-8")
    author.refuses("taken is in .*mutants.txt already", "taken")
    for name in ("", "A", "a-b", "../a", "a.patch", "a" * 61):
        author.refuses("can't be a wrong solution's name", name)
    for mistake in ("", " ", "two\nlines"):
        author.refuses("--mistake: it takes one line", mistake=mistake)


def test_the_same_mistake_twice(author):
    shutil.copy(EXERCISE.folder / "mutants.txt", author.mutants)
    author.edit(RESET, "")
    author.refuses("copy.cu is a wrong solution already: counter_not_reset")


def test_a_copy_that_can_not_be_read(author):
    author.refuses("copy.cu can't be read: No such file or directory")
    author.copy.write_bytes(b"\xff\n")
    author.refuses("copy.cu is no text in UTF-8")
    author.edit("  // END SOLUTION\n", "")
    author.refuses("BEGIN SOLUTION without its END", code=1)
    author.copy.unlink()
    author.copy.mkdir()
    author.refuses("copy.cu can't be read: Is a directory")


@pytest.mark.parametrize(
    "words, says",
    (
        (
            ["mutant"],
            "lab new mutant needs an exercise, a name and an edited copy of its solution",
        ),
        (["mutant", "04.9", "a", str(EXERCISE.source)], "there is no exercise 04.9; "),
        (["mutant", "fullest_bim", "a", str(EXERCISE.source)], "did you mean fullest_bin?"),
        (
            ["mutant", "04.2", "a", str(EXERCISE.source)],
            "does not differ from the solution of 04.2",
        ),
        (["mutant", "04.2", "one_block", str(EXERCISE.source)], "fullest_bin/mutants.txt already"),
        (["mutnat", "04.2", "a", str(EXERCISE.source)], "did you mean mutant?"),
        (["exercise", "04", "a", "--mistake", "b"], "--mistake goes with ./lab new mutant."),
        (["exercise", "04", "a", "--build", "b"], "--build goes with ./lab new mutant."),
    ),
    ids="no_words no_exercise close_exercise no_difference taken close_verb mistake build".split(),
)
def test_one_sentence_for_what_is_wrong(words, says):
    result = lab("new", *words)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert re.search(r"\Alab: [^\n]+\n\Z", result.stderr)
    assert says in result.stderr


def test_a_copy_that_nothing_rejects():
    if not settings_of(BUILD).get("scheduled_libraries"):
        pytest.skip("this build has no race checker")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "copy.cu")
        copy.write_text(f"{solution(EXERCISE)}// the end\n", encoding="utf-8")
        result = lab("new", "mutant", "04.2", "a_mistake", str(copy), "--build", str(BUILD))
    assert (result.returncode, result.stdout) == (1, ""), result
    said = result.stderr.splitlines()[-1]
    assert "lab: nothing rejects it, so no mutant was made" in said
    assert "a_mistake" not in [mutant.name for mutant in mutants_of(EXERCISE)]
