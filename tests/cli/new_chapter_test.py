# SPDX-License-Identifier: MIT
"""`./lab new chapter` and `./lab check-course`, in a copy of the tree."""

import contextlib
import io
import json
import pathlib
import re
import shutil
import tempfile
import unittest
from unittest import mock

import draw_all
from engine.command.arguments import run_command
from engine.command.build_folder import lines_of
from engine.command.errors import CommandError
from engine.command.recipe import translate_step
from grader.judging.verdict import PASSED, Verdict
from lab_runs import lab
from lab_tool.authoring.chapter_facts import ChapterFacts
from lab_tool.authoring.course_check import HEADINGS, missing_from_course, words_of
from lab_tool.authoring.generated_files import (
    differing_files,
    generated_files,
    write_generated_files,
)
from lab_tool.authoring.new_chapter import make_chapter
from lab_tool.authoring.trials import Trial
from lab_tool.chapters import all_chapters
from lab_tool.command_line import LAB
from lab_tool.verbs import authoring
from test_setup import captured
from this_build import BUILD, ROOT

SPDX = "SPDX-License-Identifier: CC-BY-SA-4.0"
NAME = "97_a_new_one"
RIGHT = Verdict({"results": PASSED}, ["Done."])
LEFT_OUT = shutil.ignore_patterns(
    "build", "build-*", ".git", ".venv", ".lab", "__pycache__", "shared"
)


def paths_in(folder):
    """All files and folders in it, what is in a folder before the folder itself."""
    found = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return sorted(found, reverse=True)


def files_in(folder):
    """{path within the folder: content} of all its files."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in paths_in(folder)
        if path.is_file()
    }


def state_of(path):
    """What changes when a file is written to; None for a folder."""
    state = path.lstat()
    return None if path.is_dir() else (state.st_ino, state.st_size, state.st_mtime_ns)


def differs_from_generated(path):
    return f"{path}: it differs from what is generated; ./lab check-course --write writes it"


def shortened(text, left):
    """The text of a lesson with its headings and links, and this number of words."""
    kept = [line for line in text.split("\n") if line.startswith("#")]
    further = "[more](fast.md) "
    blocks = re.findall(r"<!-- generated.*?<!-- end of generated -->", text, re.S)
    time = re.search(r"\*\*Time:.*?commands\.", text, re.S)[0]
    rest = "\n\n".join([f"<!-- {SPDX} -->", *kept, further, time, *blocks])
    return f"{rest}\n{'word ' * (left - words_of(rest))}\n"


class CopyOfTheTree(unittest.TestCase):
    """One copy for all tests of a class; what a test has changed in it is put back after the test."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.tree = pathlib.Path(holder.name, "tree")
        shutil.copytree(ROOT, cls.tree, ignore=LEFT_OUT, symlinks=True)
        cls.states = {path: state_of(path) for path in paths_in(cls.tree)}

    def tearDown(self):
        for path in paths_in(self.tree):
            if path not in self.states:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path, state in self.states.items():
            if not path.exists() or state_of(path) != state:
                shutil.copy2(ROOT / path.relative_to(self.tree), path)
                self.states[path] = state_of(path)

    def lab(self, *words):
        return lab(*words, folder=self.tree, checkout=self.tree)


class NewChapter(CopyOfTheTree):
    def test_outside_its_folder_only_the_table_and_what_is_generated_change(self):
        before = files_in(self.tree)
        result = self.lab("new", "chapter", NAME)
        self.assertEqual((result.returncode, result.stderr), (0, "Next: ./lab test 97\n"))
        after = files_in(self.tree)
        changed = {
            path
            for path in {*before, *after}
            if before.get(path) != after.get(path) and not path.startswith(f"chapters/{NAME}/")
        }
        generated = {".vscode/launch.json", "docs/benchmarks/README.md", "docs/teaching.md"}
        self.assertEqual(changed, {"README.md", "chapters/meson.build", *generated})
        self.assertEqual(differing_files(self.tree), {})
        for path in changed - {".vscode/launch.json", "docs/teaching.md"}:
            old, new = (text[path].decode().splitlines() for text in (before, after))
            self.assertEqual(len(new), len(old) + 1)
            self.assertEqual([line for line in new if line in old], old)
        self.assertEqual(all_chapters(self.tree)[-1].program, "a_new_one")

    def test_it_lacks_its_words_and_its_predictions_alone(self):
        make_chapter(NAME, self.tree)
        result = self.lab("check-course")
        words, facts, predictions, closing = result.stdout.splitlines()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            facts,
            f"chapters/{NAME}/chapter.json: the template's words still stand in who_finishes, "
            "channel, right_when, who_waits, outcome, variants and compared_with",
        )
        self.assertRegex(
            words,
            rf"\Achapters/{NAME}/README.md: \d+ words of prose; such a page has 700 to 900\Z",
        )
        self.assertEqual(
            predictions,
            f"chapters/{NAME}/predictions: 0 of 3 predictions, for ./lab predict 97; each is a "
            "NAME.cu",
        )
        self.assertEqual(closing, "3 things are missing")

    def test_a_number_in_between_goes_in_between(self):
        table = self.tree / "chapters/meson.build"
        text = table.read_text(encoding="utf-8")
        last = all_chapters(self.tree)[-1]
        table.write_text(text.replace(f"'{last.folder}'", "'98_the_last'"), encoding="utf-8")
        make_chapter(NAME, self.tree)
        self.assertEqual(
            [chapter.number for chapter in all_chapters(self.tree)][-2:],
            ["97", "98"],
        )

    def test_its_sources_compile_with_this_builds_backend(self):
        _, made = make_chapter(NAME, self.tree)
        settings = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
        for source in [file for file in made if file.suffix == ".cu"]:
            with self.subTest(source=source.name):
                self.compile(source, settings)

    def compile(self, source, settings):
        compiler = [*lines_of(settings, "compiler"), *lines_of(settings, "compile_arguments")]
        chapters = f"-I{self.tree / 'chapters'}"
        if settings["backend"] == "cpu":
            translated = str(self.tree / "translated.cpp")
            preprocess = [*lines_of(settings, "preprocessor_arguments"), chapters]
            steps = [
                translate_step(settings, str(source), translated, preprocess),
                [*compiler, "-Werror", "-fsyntax-only", translated],
            ]
        else:
            steps = [
                [*compiler, chapters, "-c", str(source), "-o", str(self.tree / "compiled.o")],
            ]
        for step in steps:
            result = captured(step)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_its_figure_is_what_its_script_draws(self):
        make_chapter(NAME, self.tree)
        drawn = self.tree / "chapters" / NAME / "figures/idea.svg"
        figures = draw_all.all_figures(self.tree)
        self.assertIn(drawn, figures)
        self.assertTrue(draw_all.is_as_drawn(drawn, figures[drawn]))

    def test_its_program_runs(self):
        make_chapter(NAME, self.tree)
        program = str(self.tree / "chapters" / NAME / "a_new_one.cu")
        include = ["--include", str(self.tree / "chapters")]
        words = ["run", program, *include, "--build", str(BUILD), "--", "--elements", "1000"]
        result = lab(*words)
        if result.returncode == 77:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stdout, r"\none_element_per_thread .* right\n")

    def test_nothing_is_made_if_the_tables_can_not_be(self):
        (self.tree / "chapters/05_work_queue/chapter.json").write_text("{}", encoding="utf-8")
        before = files_in(self.tree)
        for words in (("chapter", NAME), ("exercise", "04", "a_new_one")):
            result = self.lab("new", *words)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("chapters/05_work_queue/chapter.json: it lacks ", result.stderr)
        self.assertEqual(files_in(self.tree), before)

    def test_an_exercise_stands_in_the_tables_too(self):
        result = self.lab("new", "exercise", "04", "a_new_one")
        self.assertEqual(result.returncode, 0, result.stderr)
        lesson = self.tree / "chapters/04_last_block_guard/README.md"
        row = "| [04.4 `a_new_one`](exercises/a_new_one/README.md) | a new one | 15 |"
        self.assertIn(f"\n{row}\n", lesson.read_text(encoding="utf-8"))
        self.assertEqual(missing_from_course(self.tree), [])

    def test_refused_names(self):
        for name, sentence in (
            ("07", "can't be a chapter's name"),
            ("7_sum", "can't be a chapter's name"),
            ("07_Sum", "can't be a chapter's name"),
            ("07_sum/", "can't be a chapter's name"),
            ("../07_sum", "can't be a chapter's name"),
            ("97_double", "double means something else in C++"),
            ("01_sum", "there is a chapter 01 already"),
            ("97_vector_add", "01_vector_add has a program vector_add already"),
            ("97_test", "Meson keeps the target test for itself"),
            ("97_install", "Meson keeps the target install for itself"),
            ("97_vector_add_test", "the build has a target vector_add_test already"),
            ("97_mandelbrot", "the build has a target mandelbrot_test already"),
            ("97_saxpy_driver", "the build has a target saxpy_driver already"),
            ("97_programs", "the build has a target programs already"),
            ("11_" + "n" * 100, "103 letters, and 60 are the most"),
        ):
            with self.subTest(name=name), self.assertRaisesRegex(CommandError, sentence) as problem:
                make_chapter(name, self.tree)
            self.assertEqual(problem.exception.code, 2)
        self.assertEqual(self.lab("new", "chaptr", NAME).returncode, 2)
        self.assertEqual(self.lab("new", "chapter").returncode, 2)


class CheckCourse(CopyOfTheTree):
    def finds(self, *sentences):
        self.assertEqual(missing_from_course(self.tree), list(sentences))

    def test_nothing_is_missing(self):
        self.assertEqual(missing_from_course(), [])

    def test_each_file(self):
        folder = self.tree / "chapters/01_vector_add"
        for name, purpose in (
            ("README.md", "the lesson"),
            ("fast.md", "how the lesson's kernel is made fast, with its benchmark tables"),
            ("vector_add.cuh", "the kernels"),
            ("vector_add.cu", "the program"),
            ("vector_add_test.cu", "its Catch2 tests"),
            ("benchmark.cu", "its cases of chapter_benchmark"),
            ("chapter.json", "what the course's tables and plans say of it"),
            ("goals.json", "the goals that its benchmark is held to, a list"),
        ):
            with self.subTest(name=name):
                text = (folder / name).read_bytes()
                (folder / name).unlink()
                self.finds(f"chapters/01_vector_add/{name}: missing; it is {purpose}")
                (folder / name).write_bytes(text)
        result = self.lab("check-course")
        sentence = f"{len(all_chapters())} chapters, nothing is missing\n"
        self.assertEqual((result.returncode, result.stdout), (0, sentence))

    def test_a_figure(self):
        (self.tree / "chapters/01_vector_add/figures/array.svg").unlink()
        self.finds(
            "chapters/01_vector_add/figures: no figure; it needs a script, and the SVG that "
            "python3 common/figures/draw_all.py draws by it"
        )

    def test_each_heading(self):
        lesson = self.tree / "chapters/01_vector_add/README.md"
        text = lesson.read_text(encoding="utf-8")
        for heading in HEADINGS:
            with self.subTest(heading=heading):
                lesson.write_text(text.replace(f"## {heading}\n", "\n"), encoding="utf-8")
                self.finds(f"chapters/01_vector_add/README.md: no heading '## {heading}'")

    def test_a_lesson_that_is_too_long_or_too_short(self):
        lesson = self.tree / "chapters/01_vector_add/README.md"
        text = lesson.read_text(encoding="utf-8")
        words = words_of(text)

        def finds(count, text):
            lesson.write_text(text, encoding="utf-8")
            sentence = f"{count} words of prose; such a page has 700 to 900"
            self.finds(f"chapters/01_vector_add/README.md: {sentence}")

        finds(901, f"{text}\n{'word ' * (901 - words)}\n")
        finds(699, shortened(text, 699))
        lesson.write_text(f"{text}\n{'word ' * (900 - words)}\n", encoding="utf-8")
        self.finds()

    def test_a_further_page_that_is_too_long(self):
        page = self.tree / "chapters/01_vector_add/fast.md"
        text = page.read_text(encoding="utf-8")
        words = words_of(text)
        page.write_text(f"{text}\n{'word ' * (901 - words)}\n", encoding="utf-8")
        self.finds(
            "chapters/01_vector_add/fast.md: 901 words of prose; such a page has at most 900"
        )
        page.write_text(f"{text}\n{'word ' * (900 - words)}\n", encoding="utf-8")
        self.finds()

    def test_a_further_page_to_which_nothing_leads(self):
        page = self.tree / "chapters/01_vector_add/more.md"
        page.write_text(f"<!-- {SPDX} -->\n# More\n\n[Itself](more.md)\n", encoding="utf-8")
        self.finds("chapters/01_vector_add/more.md: no link leads to it from the lesson")
        lesson = self.tree / "chapters/01_vector_add/README.md"
        text = lesson.read_text(encoding="utf-8")
        lesson.write_text(text.replace("](fast.md)", "](fast.md) [and](more.md)"), encoding="utf-8")
        self.finds()

    def test_a_second_table_of_benchmarks(self):
        lesson = self.tree / "chapters/01_vector_add/README.md"
        with lesson.open("a", encoding="utf-8") as file:
            file.write("\n<!-- table: docs/benchmarks/nvidia-h200.json chapter=01 -->\n")
        self.finds(
            "chapters/01_vector_add/README.md: 2 tables of benchmarks; a lesson keeps one, and "
            "fast.md has the others"
        )

    def test_only_prose_counts(self):
        text = """# A title

Four words of `some code here`. A [link's words](a/path.md) too, -- and <em>these</em>.

## A heading

![a picture's
caption](a.svg)

```cpp a.cuh
int not_counted;
```

| a table | here |
<!-- table: run.json elements=1 -->

Medians of a run.

<!-- end of table -->
"""
        self.assertEqual(words_of(text), 4 + 4 + 2)

    def test_order_of_the_headings(self):
        lesson = self.tree / "chapters/01_vector_add/README.md"
        text = lesson.read_text(encoding="utf-8")
        for old, new in (("Next", "?"), ("Exercises", "Next"), ("?", "Exercises")):
            text = text.replace(f"## {old}\n", f"## {new}\n")
        lesson.write_text(text, encoding="utf-8")
        self.finds(
            "chapters/01_vector_add/README.md: the headings are not in the order of a lesson"
        )

    def test_contents(self):
        folder = self.tree / "chapters/01_vector_add"
        (folder / "goals.json").write_text("{}", encoding="utf-8")
        (folder / "mutants.txt").write_text("", encoding="utf-8")
        (folder / "packet.cuh").write_text("#pragma once\n", encoding="utf-8")
        self.finds(
            "chapters/01_vector_add/goals.json: not a list in JSON",
            "chapters/01_vector_add/mutants.txt: no mutant",
            "chapters/01_vector_add/packet.cuh: no SPDX line at its top",
        )
        self.assertEqual(self.lab("check-course").returncode, 1)

    def test_predictions(self):
        folder = self.tree / "chapters/04_last_block_guard/predictions"
        (folder / "fences.cu").unlink()
        self.finds(
            "chapters/04_last_block_guard/predictions: 2 of 3 predictions, for ./lab predict 04; each "
            "is a NAME.cu"
        )
        (folder / "orders.cu").write_text("// SPDX-License-Identifier: MIT\n", encoding="utf-8")
        (sentence,) = missing_from_course(self.tree)
        self.assertIn("04_last_block_guard/predictions/orders.cu is no prediction: ", sentence)

    def test_an_exercise_without_one_thread_or_one_block(self):
        file = "chapters/04_last_block_guard/exercises/fullest_bin/mutants.txt"
        text = (ROOT / file).read_text(encoding="utf-8")
        for name, what in (("one_thread", "one thread does"), ("one_block", "one block does")):
            without = text.replace(f"## {name}:", f"## other_{name}:")
            (self.tree / file).write_text(without, encoding="utf-8")
            found = missing_from_course(self.tree)
            self.assertEqual(len(found), 1, found)
            self.assertIn(f"{file}: {name} is missing; it is a wrong solution", found[0])
            self.assertIn(what, found[0])

    def test_table_and_readme(self):
        shutil.copytree(self.tree / "chapters/01_vector_add", self.tree / "chapters/96_lost")
        readme = self.tree / "README.md"
        lines = readme.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if "](chapters/05_work_queue" not in line]
        readme.write_text("".join(kept), encoding="utf-8")
        self.finds(
            "chapters/meson.build: no row for the folder chapters/96_lost",
            differs_from_generated("README.md"),
        )

    def test_each_generated_file(self):
        for path in generated_files(self.tree):
            with self.subTest(path=path):
                file = self.tree / path
                text = file.read_text(encoding="utf-8")
                last_cell = text.rfind(" |", 0, text.rfind("<!-- end of generated -->"))
                place = text.find("cppdbg") if path.endswith(".json") else last_cell
                file.write_text(text[:place] + "x" + text[place:], encoding="utf-8")
                self.finds(differs_from_generated(path))
                result = self.lab("check-course", "--write")
                lines = result.stdout.splitlines()
                self.assertEqual((result.returncode, lines[0]), (0, f"{path}: written"))
                self.assertEqual(file.read_text(encoding="utf-8"), text)

    def test_what_is_written_by_hand_stays(self):
        page = self.tree / "docs/teaching.md"
        text = page.read_text(encoding="utf-8").replace("# Teaching with", "# Lecturing with")
        page.write_text(text, encoding="utf-8")
        self.assertEqual(write_generated_files(self.tree), [])
        self.assertEqual(page.read_text(encoding="utf-8"), text)

    def test_marks_that_are_no_pair(self):
        page = self.tree / "docs/benchmarks/README.md"
        text = page.read_text(encoding="utf-8")
        begin, end = "<!-- generated: chapters -->", "<!-- end of generated -->"
        sentence = (
            f"{page.relative_to(self.tree)}: it must have '{begin}', once, and '{end}' after each."
        )
        for changed in (
            text.replace(begin, ""),
            text.replace(end, ""),
            text.replace(begin, "<!-- generated: chaptres -->"),
            f"{text}\n{begin}\n{end}\n",
        ):
            page.write_text(changed, encoding="utf-8")
            self.finds(sentence)
            result = self.lab("check-course", "--write")
            self.assertEqual((result.returncode, result.stderr), (1, f"lab: {sentence}\n"))
            self.assertEqual(page.read_text(encoding="utf-8"), changed)

    def test_each_way_in_which_chapter_json_can_be_wrong(self):
        file = self.tree / "chapters/05_work_queue/chapter.json"
        facts = json.loads(file.read_text(encoding="utf-8"))
        sessions = facts["sessions"]

        def without(key):
            return {name: value for name, value in facts.items() if name != key}

        def with_module(**changes):
            return {**facts, "module": {**facts["module"], **changes}}

        for value, sentence in (
            ("{", "it can't be read as JSON: Expecting property name enclosed in double quotes"),
            ([], "it holds no object, which is keys and values between braces."),
            (without("channel"), 'it lacks "channel".'),
            (
                {**without("channel"), "chanel": ""},
                'it has no use for a key "chanel"; did you mean channel?',
            ),
            ({**facts, "channel": 7}, '"channel" must be a text.'),
            ({**facts, "channel": " "}, '"channel" is empty.'),
            ({**facts, "channel": "a | b"}, '"channel" has a | or a line break, which '),
            ({**facts, "costs": {}}, '"costs" must be a list.'),
            (
                {**facts, "costs": [{"of": "a sum"}]},
                '"costs" must have costs with the keys "of" and "measured".',
            ),
            (
                {**facts, "costs": [{"of": "a | b", "measured": "x"}]},
                '"costs" has a cost with an "of" that has a | or a line break, which ',
            ),
            ({**facts, "exercise_to_set": 1}, '"exercise_to_set" must be a text or null.'),
            (
                {**facts, "exercise_to_set": "saxpy"},
                '"exercise_to_set" is saxpy, which is no exercise of this chapter.',
            ),
            ({**facts, "debug_options": "--size"}, '"debug_options" must be a list of texts.'),
            ({**facts, "sessions": []}, '"sessions" must have the keys short, medium and long.'),
            (
                {**facts, "sessions": {**sessions, "long": "chapter 05"}},
                '"sessions" must have a list of texts for each plan.',
            ),
            (
                {**facts, "sessions": {**sessions, "long": [""]}},
                '"sessions" has a session that is empty.',
            ),
            (
                {**facts, "module": {"session": 4}},
                '"module" must be null, or have the keys session, predictions, show, together and homework.',
            ),
            (with_module(session=0), '"module" must have the number of a session, from 1 on.'),
            (with_module(session=True), '"module" must have the number of a session, from 1 on.'),
            (with_module(show="a | b"), '"module" has a "show" that has a | or a line break'),
            (
                with_module(together="fetch"),
                '"module" must have a list of names in "together".',
            ),
            (
                with_module(predictions=["fences"]),
                '"module": "predictions" has fences, which is no prediction of this chapter.',
            ),
            (
                with_module(homework=["fetch", "saxpy"]),
                '"module": "homework" has saxpy, which is no exercise of this chapter.',
            ),
        ):
            with self.subTest(sentence=sentence):
                text = value if isinstance(value, str) else json.dumps(value)
                file.write_text(text, encoding="utf-8")
                (found,) = missing_from_course(self.tree)
                start = f"chapters/05_work_queue/chapter.json: {sentence}"
                self.assertEqual(found[: len(start)], start)
                with self.assertRaisesRegex(CommandError, re.escape(found)):
                    write_generated_files(self.tree)

    def test_sessions_of_the_module_that_are_not_in_order(self):
        file = self.tree / "chapters/05_work_queue/chapter.json"
        facts = json.loads(file.read_text(encoding="utf-8"))
        for session, listed in ((5, "1, 1, 2, 3 and 5"), (2, "1, 1, 2, 3 and 2")):
            facts["module"]["session"] = session
            file.write_text(json.dumps(facts), encoding="utf-8")
            self.finds(
                f'chapters/*/chapter.json: the sessions of "module" are {listed}; they must be 1, 2 and '
                "so on, in the order of the chapters."
            )

    def test_a_lesson_of_the_module_that_does_not_say_how_long_it_takes(self):
        lesson = self.tree / "chapters/05_work_queue/README.md"
        text = lesson.read_text(encoding="utf-8")
        lesson.write_text(text.replace("minutes to read", "minutes"), encoding="utf-8")
        (found,) = missing_from_course(self.tree)
        self.assertIn("05_work_queue/README.md: its head must have '**Time:** 11 minutes", found)

    def test_a_course_without_a_module(self):
        for file in self.tree.glob("chapters/*/chapter.json"):
            facts = json.loads(file.read_text(encoding="utf-8"))
            file.write_text(json.dumps({**facts, "module": None}), encoding="utf-8")
        page = generated_files(self.tree)["docs/teaching.md"]
        begin = "<!-- generated: module -->"
        self.assertIn(f"\n{begin}\n<!-- end of generated -->\n", page)

    def test_an_exercise_that_does_not_say_for_whom_it_is(self):
        path = "chapters/05_work_queue/exercises/fetch/exercise.json"
        file = self.tree / path
        facts = json.loads(file.read_text(encoding="utf-8"))
        for key, sentence in (
            ("for", '"for", which says for whom the exercise is, must be a text.'),
            ("minutes", 'it lacks "minutes".'),
        ):
            without = {name: value for name, value in facts.items() if name != key}
            file.write_text(json.dumps(without), encoding="utf-8")
            self.finds(f"{path}: {sentence}")

    def test_a_lesson_without_a_title(self):
        lesson = self.tree / "chapters/05_work_queue/README.md"
        text = lesson.read_text(encoding="utf-8")
        lesson.write_text(text.replace("# 05 Work queue:", "# Work queue:"), encoding="utf-8")
        self.finds(
            "chapters/05_work_queue/README.md: it must have a heading such as '# 05 Title: subject'."
        )

    def test_an_exercise_has_no_tables_to_write(self):
        result = self.lab("check-course", "04.2", "--write")
        sentence = "lab: lab check-course --write is for all chapters; name no exercise.\n"
        self.assertEqual((result.returncode, result.stderr), (2, sentence))

    def test_an_exercise_by_its_name_is_checked_alone(self):
        built, judged = [], []
        instead_of = {
            "configured": lambda arguments: None,
            "exercise_build": lambda place, exercises: built.extend(exercises),
            "trials_of": lambda exercise: [Trial(exercise.title, "", None, "")],
        }

        def verdict_on(build, exercise, text):
            judged.append(exercise)
            return RIGHT

        with (
            contextlib.ExitStack() as replaced,
            contextlib.redirect_stdout(io.StringIO()) as written,
        ):
            replaced.enter_context(mock.patch("grader.judging.check.verdict_on", verdict_on))
            for name, instead in instead_of.items():
                replaced.enter_context(mock.patch.object(authoring, name, instead))
            for name in ("fullest_bin", "04.2", "4.2", "04_fullest_bin.cu"):
                self.assertEqual(run_command(LAB, ["check-course", name]), 0)
        self.assertEqual([each.name for each in [*built, *judged]], ["fullest_bin"] * 8)
        self.assertEqual(written.getvalue().count("all is as it must be\n"), 4)

    def test_close_names_of_an_exercise(self):
        for word, says in (
            ("fullest_bim", "there is no exercise fullest_bim; did you mean fullest_bin?"),
            ("xyzzy", "there is no exercise xyzzy; ./lab exercises lists all of them."),
        ):
            with self.subTest(word=word):
                result = lab("check-course", word)
                self.assertEqual(
                    (result.returncode, result.stdout, result.stderr), (2, "", f"lab: {says}\n")
                )

    def test_the_keys_are_described(self):
        text = (ROOT / "docs/internals/chapters.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", text, re.M), list(ChapterFacts._fields))
