# SPDX-License-Identifier: MIT
"""`./lab new chapter` and `./lab check-course`, in a copy of the tree."""

import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import draw_all
from engine.driver.errors import LabError
from lab_tool.authoring.course_check import HEADINGS, missing_from_course, words_of_core
from lab_tool.authoring.new_chapter import make_chapter
from lab_tool.chapters import all_chapters
from this_build import BUILD, ROOT

SPDX = "SPDX-License-Identifier: CC-BY-SA-4.0"
NAME = "97_a_new_one"
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
        return subprocess.run(
            [sys.executable, self.tree / "lab", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.tree,
        )


class NewChapter(CopyOfTheTree):
    def test_outside_its_folder_only_the_table_and_the_readme_change(self):
        before = files_in(self.tree)
        result = self.lab("new", "chapter", NAME)
        self.assertEqual((result.returncode, result.stderr), (0, "Next: ./lab test 97\n"))
        after = files_in(self.tree)
        changed = {
            path
            for path in {*before, *after}
            if before.get(path) != after.get(path) and not path.startswith(f"chapters/{NAME}/")
        }
        self.assertEqual(changed, {"README.md", "chapters/meson.build"})
        for path in changed:
            old, new = (text[path].decode().splitlines() for text in (before, after))
            self.assertEqual(len(new), len(old) + 1)
            self.assertEqual([line for line in new if line in old], old)
        self.assertEqual(all_chapters(self.tree)[-1].program, "a_new_one")

    def test_it_lacks_its_rows_words_and_its_predictions_alone(self):
        make_chapter(NAME, self.tree)
        result = self.lab("check-course")
        readme, teaching, words, predictions, closing = result.stdout.splitlines()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            readme,
            f"README.md: the row for {NAME} does not say who finishes the job, nor the channel "
            "between its blocks",
        )
        self.assertEqual(
            teaching,
            f"docs/teaching.md: no row for {NAME} in its table 'What each chapter is for'",
        )
        self.assertRegex(
            words, rf"\Achapters/{NAME}/README.md: \d+ words of prose before 'Making it fast'; "
        )
        self.assertEqual(
            predictions,
            f"chapters/{NAME}/predictions: 0 of 3 predictions, for ./lab predict 97; each is a "
            "NAME.cu and a NAME.json",
        )
        self.assertEqual(closing, "4 things are missing")

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
        def words(name):
            return settings[name].split("\n")

        compiler = words("compiler")
        chapters = f"-I{self.tree / 'chapters'}"
        if settings["backend"] == "cpu":
            translated = str(self.tree / "translated.cpp")
            steps = [
                [sys.executable, settings["translate"], "--compiler", shlex.join(compiler),
                 "--output", translated, str(source), "--",
                 *words("preprocessor_arguments"), chapters],
                [*compiler, *words("compile_arguments"), "-Werror", "-fsyntax-only", translated],
            ]  # fmt: skip
        else:
            steps = [
                [*compiler, *words("compile_arguments"), chapters, "-c", str(source),
                 "-o", str(self.tree / "compiled.o")],
            ]  # fmt: skip
        for step in steps:
            result = subprocess.run(step, capture_output=True, text=True, check=False)
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
        result = subprocess.run(
            [sys.executable, ROOT / "lab", *words], capture_output=True, text=True, check=False
        )
        if result.returncode == 77:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stdout, r"\none_element_per_thread .* right\n")

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
        ):
            with self.subTest(name=name), self.assertRaisesRegex(LabError, sentence) as problem:
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
            ("vector_add.cuh", "the kernels"),
            ("vector_add.cu", "the program"),
            ("vector_add_test.cu", "its Catch2 tests"),
            ("benchmark.cu", "its cases of chapter_benchmark"),
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
        words = words_of_core(text)
        core, heading, rest = text.partition("\n## Making it fast\n")

        def finds(count, core):
            lesson.write_text(core + heading + rest, encoding="utf-8")
            sentence = f"{count} words of prose before 'Making it fast'; a lesson has 700 to 1,000"
            self.finds(f"chapters/01_vector_add/README.md: {sentence}")

        finds("1,001", f"{core}\n{'word ' * (1001 - words)}\n")
        headings = "\n\n".join(line for line in core.split("\n") if line.startswith("#"))
        finds("699", f"<!-- {SPDX} -->\n{headings}\n{'word ' * 699}\n")
        lesson.write_text(f"{core}\n{'word ' * (1000 - words)}\n{heading}{rest}", encoding="utf-8")
        self.finds()

    def test_only_prose_counts(self):
        self.assertIsNone(words_of_core("# A lesson\n\nWithout that heading.\n"))
        lesson = """# A title

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

## Making it fast

Not counted.
"""
        self.assertEqual(words_of_core(lesson), 4 + 4 + 2)

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
        for patch in (folder / "mutants").glob("*.patch"):
            patch.unlink()
        (folder / "packet.cuh").write_text("#pragma once\n", encoding="utf-8")
        self.finds(
            "chapters/01_vector_add/goals.json: not a list in JSON",
            "chapters/01_vector_add/mutants: a folder without a patch",
            "chapters/01_vector_add/packet.cuh: no SPDX line at its top",
        )
        self.assertEqual(self.lab("check-course").returncode, 1)

    def test_predictions(self):
        folder = self.tree / "chapters/04_last_block_guard/predictions"
        (folder / "fences.json").unlink()
        self.finds(
            "chapters/04_last_block_guard/predictions: 2 of 3 predictions, for ./lab predict 04; each "
            "is a NAME.cu and a NAME.json"
        )
        (folder / "orders.cu").unlink()
        (sentence,) = missing_from_course(self.tree)
        self.assertIn(
            "04_last_block_guard/predictions/orders: its .json and .cu make no ", sentence
        )

    def test_table_and_readme(self):
        shutil.copytree(self.tree / "chapters/01_vector_add", self.tree / "chapters/96_lost")
        readme = self.tree / "README.md"
        lines = readme.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if "](chapters/05_work_queue" not in line]
        readme.write_text("".join(kept), encoding="utf-8")
        self.finds(
            "chapters/meson.build: no row for the folder chapters/96_lost",
            "README.md: no row for 05_work_queue in its table",
        )
