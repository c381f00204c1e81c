# SPDX-License-Identifier: MIT
"""./lab new mutant: an edited copy of the solution becomes a mutant, rejected as it says, or nothing."""

import pathlib
import shutil
import tempfile
import unittest

from engine.command.build_folder import BuildFolder, settings_of
from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.check import verdict_on
from grader.judging.compile import ExerciseBuild
from lab_runs import lab
from lab_tool.authoring.mutants import Edit, Mutant, edits_between, read_mutants
from lab_tool.authoring.new_mutant import make_mutant, new_mutant
from lab_tool.authoring.trials import deviation, mutants_of, solution, trials_of
from test_setup import temporary_folder
from this_build import BUILD

EXERCISE = chosen_exercise("04.2")
RESET = "      tickets.store(0, cuda::memory_order_relaxed);  // ready for the next launch\n"


class NewMutantTest(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        # A copy of the exercise: the tree stays as it is.
        shutil.copytree(EXERCISE.folder, self.folder / EXERCISE.name)
        self.exercise = EXERCISE._replace(folder=self.folder / EXERCISE.name)
        self.mutants.unlink()
        self.source = EXERCISE.source.read_text(encoding="utf-8")
        self.copy = self.folder / "copy.cu"

    @property
    def mutants(self):
        return self.exercise.folder / "mutants.txt"

    def edit(self, old, new, text=None):
        text = self.source if text is None else text
        self.assertIn(old, text)
        self.copy.write_text(text.replace(old, new), encoding="utf-8")

    def build(self):
        settings = settings_of(BUILD)
        if not settings.get("scheduled_libraries"):
            self.skipTest("this build has no race checker")
        return ExerciseBuild(BuildFolder(BUILD, {}), settings)

    def refuses(self, says, name="a_mistake", code=2, **options):
        with self.assertRaisesRegex(CommandError, says) as problem:
            new_mutant(self.exercise, name, str(self.copy), **options)
        self.assertEqual(problem.exception.code, code)
        self.assertNotIn("\n", str(problem.exception))

    def test_what_it_makes_is_rejected_as_it_says(self):
        build = self.build()
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
            with self.subTest(name):
                self.edit(old, new)
                made = new_mutant(self.exercise, name, str(self.copy), f"without {name[3:]}")
                mutant, _ = make_mutant(build, made)
                self.assertEqual(mutant.fields["Mutant"], f"without {name[3:]}")
                self.assertEqual(mutant.fields["Rejected by"], part)
                self.assertRegex(mutant.fields["Says"], rf"\A{says}")
                self.assertIn(mutant.text(), self.mutants.read_text(encoding="utf-8"))
                trial = next(each for each in trials_of(self.exercise) if each.name == name)
                self.assertEqual(trial.text, made.text)
                verdict = verdict_on(build, self.exercise, trial.text)
                self.assertIsNone(deviation(trial, verdict), "\n".join(verdict.lines))
        self.assertEqual(
            [each.name for each in mutants_of(self.exercise)], ["no_acquire", "no_reset"]
        )

    def test_an_edit_repeats_what_tells_its_place_and_no_more(self):
        old = "a\n{\n}\nb\n{\n}\nc\n"
        for new, lines in (
            ("a\n{\n}\nchanged\n{\n}\nc\n", ("-b", "+changed")),
            ("a\n{\nnew\n}\nb\n{\n}\nc\n", (" a", " {", "+new")),
            ("a\n{\n}\nb\n{\n}\nc\nd\n", (" c", "+d")),
            ("d\na\n{\n}\nb\n{\n}\nc\n", ("+d", " a")),
            ("a\nb\n{\nd\nc\n", ("-{", "-}", " b", " {", "-}", "+d")),
        ):
            with self.subTest(new):
                edits = edits_between(old, new)
                self.assertEqual([edit.lines for edit in edits], [lines])
                self.assertEqual(Mutant("one", {}, edits).applied_to(old), new)

    def test_a_file_that_is_no_list_of_mutants(self):
        for text, says in (
            ("no title\n", ":1: it does not begin with"),
            ("## a: b\nSays: c\n", "a lacks an edit"),
            ("## a: b\n-c\n", "a lacks Says"),
            ("## a: b\nSays: c\n-d\n\n## a: b\nSays: c\n-d\n", ":5: a is there already"),
            ("## a: b\nSays: c\n@@ d\n", ":3: '@@ d' is no line of a mutant"),
        ):
            self.mutants.write_text(text, encoding="utf-8")
            with self.subTest(text), self.assertRaisesRegex(AssertionError, says):
                read_mutants(self.mutants, ("Says",))

    def test_edits_that_do_not_apply(self):
        for edits, says in (
            ([("-c",)], "stand 0 times"),
            ([("-b",)], "stand 2 times"),
            ([("+c",)], "stand 0 times"),
            ([(" a", "-b"), ("-a", "-b")], "two edits change the same line"),
        ):
            mutant = Mutant("one", {}, tuple(Edit(None, lines) for lines in edits))
            with self.subTest(edits), self.assertRaisesRegex(AssertionError, says):
                mutant.applied_to("a\nb\nb\n")

    def test_what_nothing_rejects_makes_no_mutant(self):
        build = self.build()
        for old, new, says in (
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
        ):
            self.edit(old, new)
            made = new_mutant(self.exercise, "a_mistake", str(self.copy))
            with self.subTest(new), self.assertRaisesRegex(CommandError, says) as problem:
                make_mutant(build, made)
            self.assertEqual(problem.exception.code, 1)
            self.assertFalse(self.mutants.exists())

    def test_a_build_without_the_race_checker_can_not_say(self):
        self.edit(RESET, "")
        made = new_mutant(self.exercise, "a_mistake", str(self.copy))
        build = ExerciseBuild(BuildFolder(BUILD, {}), {"scheduled_libraries": ""})
        with self.assertRaisesRegex(CommandError, "has no race checker"):
            make_mutant(build, made)

    def test_a_copy_that_does_not_differ(self):
        says = "does not differ from the solution of 04.2 fullest_bin"
        for text in (
            self.source,
            self.source.replace("\n", "\r\n"),
            solution(self.exercise),
            solution(self.exercise).rstrip("\n"),
        ):
            self.copy.write_bytes(text.encode())
            self.refuses(says)

    def test_a_name_that_is_taken_or_can_be_none(self):
        self.edit(RESET, "")
        self.mutants.write_text("## taken: a\nRejected by: races\nSays: b\n-c\n", encoding="utf-8")
        self.refuses("taken is in .*mutants.txt already", "taken")
        for name in ("", "A", "a-b", "../a", "a.patch", "a" * 61):
            self.refuses("can't be a wrong solution's name", name)
        for mistake in ("", " ", "two\nlines"):
            self.refuses("--mistake: it takes one line", mistake=mistake)

    def test_the_same_mistake_twice(self):
        shutil.copy(EXERCISE.folder / "mutants.txt", self.mutants)
        self.edit(RESET, "")
        self.refuses("copy.cu is a wrong solution already: counter_not_reset")

    def test_a_copy_that_can_not_be_read(self):
        self.refuses("copy.cu can't be read: No such file or directory")
        self.copy.write_bytes(b"\xff\n")
        self.refuses("copy.cu is no text in UTF-8")
        self.edit("  // END SOLUTION\n", "")
        self.refuses("BEGIN SOLUTION without its END", code=1)
        self.copy.unlink()
        self.copy.mkdir()
        self.refuses("copy.cu can't be read: Is a directory")


class CommandTest(unittest.TestCase):
    def test_one_sentence_for_what_is_wrong(self):
        source = str(EXERCISE.source)
        for words, says in (
            (
                ["mutant"],
                "lab new mutant needs an exercise, a name and an edited copy of its solution",
            ),
            (["mutant", "04.9", "a", source], "there is no exercise 04.9; "),
            (["mutant", "fullest_bim", "a", source], "did you mean fullest_bin?"),
            (["mutant", "04.2", "a", source], "does not differ from the solution of 04.2"),
            (["mutant", "04.2", "one_block", source], "fullest_bin/mutants.txt already"),
            (["mutnat", "04.2", "a", source], "did you mean mutant?"),
            (["exercise", "04", "a", "--mistake", "b"], "--mistake goes with ./lab new mutant."),
            (["exercise", "04", "a", "--build", "b"], "--build goes with ./lab new mutant."),
        ):
            with self.subTest(words=words):
                result = lab("new", *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertRegex(result.stderr, r"\Alab: [^\n]+\n\Z")
                self.assertIn(says, result.stderr)

    def test_a_copy_that_nothing_rejects(self):
        if not settings_of(BUILD).get("scheduled_libraries"):
            self.skipTest("this build has no race checker")
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "copy.cu")
            copy.write_text(f"{solution(EXERCISE)}// the end\n", encoding="utf-8")
            result = lab("new", "mutant", "04.2", "a_mistake", str(copy), "--build", str(BUILD))
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        said = result.stderr.splitlines()[-1]
        self.assertIn("lab: nothing rejects it, so no mutant was made", said)
        self.assertNotIn("a_mistake", [mutant.name for mutant in mutants_of(EXERCISE)])
