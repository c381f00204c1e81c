# SPDX-License-Identifier: MIT
"""`./lab test --since` and `quick`: which tests a change reaches, and which of them fit into a minute."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

from engine.command.build_folder import introspection
from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises
from lab_tool.testing import quick_gate
from lab_tool.testing.changed_files import (
    Changes,
    changes_of_branch,
    changes_since,
    files_of_checkout,
)
from lab_tool.testing.dependency_graphs import ImportGraph, NinjaGraph
from lab_tool.testing.quick_gate import BuildTimes, plan
from lab_tool.testing.test_history import RunHistory
from lab_tool.testing.test_reach import Reach, Reached
from lab_tool.testing.test_selection import script_of, suites_of
from lab_tool.testing.test_suites import Suite, all_marks, all_suites, suite_of
from test_setup import temporary_folder
from this_build import BUILD, ROOT

NINJA = shutil.which("ninja") or shutil.which("ninja-build")
FILES = {
    "meson.build": "",
    "chapters/01/add.cu": "int add;\n",
    "chapters/04/guard.cuh": "int guard;\n",
    "chapters/05/queue.cu": '#include "../04/guard.cuh"\n',
    "chapters/05/never_built.cu": "int nobody_knows_its_headers;\n",
    "chapters/01/exercises/saxpy/saxpy.cu": "",
    "chapters/01/exercises/saxpy/mutants/no_end.patch": "",
    "chapters/04/exercises/arg_min/arg_min.cu": "",
    "docs/page.md": "",
    "docs/unread.md": "",
    "lab_tool/__init__.py": "",
    "lab_tool/direct.py": "from lab_tool import indirect\n",
    "lab_tool/indirect.py": "",
    "lab_tool/started.py": "",
    "lab_tool/grading/__init__.py": "",
    "lab_tool/grading/judge.py": "",
    "lab": "#!/usr/bin/env python3\nimport lab_tool.started\n",
    "tests/direct_test.py": "def test():\n    from lab_tool.direct import nothing\n",
    "tests/shared_runs.py": "LAB = ROOT / 'lab'\n",
    "tests/starting_test.py": "import shared_runs\n",
    "tests/patching_test.py": "mock.patch('lab_tool.grading.judge.ROOT')\n",
    "tests/exercise_test.py": "",
    "tests/documents_test.py": "",
}
BUILD_NINJA = """\
rule compile
 command = c++ -MD -MF $out.d -E -x c++ $in -o $out
 deps = gcc
 depfile = $out.d
rule join
 command = cat $in > $out
rule regenerate
 command = touch $out
 generator = 1
build build.ninja: regenerate ../meson.build
build add.o: compile ../chapters/01/add.cu
build queue.o: compile ../chapters/05/queue.cu
build never_built.o: compile ../chapters/05/never_built.cu
build add: join add.o
build queue: join queue.o add.o
build never_built: join never_built.o
"""


class Tree(unittest.TestCase):
    """A small tree, its build folder and what its tests have read."""

    def setUp(self):
        self.root = temporary_folder(self).resolve()
        for name, text in FILES.items():
            self.write(name, text)
        self.write("build/build.ninja", BUILD_NINJA)
        self.folder = self.root / "build"
        subprocess.run(
            [NINJA, "-C", self.folder, "add", "queue"], check=True, stdout=subprocess.DEVNULL
        )
        targets = [
            {"id": name, "filename": [str(self.folder / name)]}
            for name in ("add", "queue", "never_built")
        ]
        self.write("build/meson-info/intro-targets.json", json.dumps(targets))
        self.tests = [
            *(self.program_test(name) for name in ("add", "queue", "never_built")),
            *(
                self.python_test(name, f"{name}_test.py")
                for name in ("direct", "starting", "patching", "documents")
            ),
            self.python_test("exercise_saxpy", "exercise_test.py"),
            self.python_test("exercise_arg_min", "exercise_test.py"),
        ]
        for test in self.tests[3:]:
            self.record(test["name"], file="pyproject.toml")
        self.record("documents", file="docs/page.md", folder="docs")
        self.record(
            "exercise_saxpy",
            file="chapters/01/exercises/saxpy/saxpy.cu",
            folder="chapters/01/exercises/saxpy/mutants",
        )
        self.record("exercise_saxpy", file="chapters/01/exercises/saxpy/mutants/no_end.patch")
        self.record("exercise_arg_min", file="chapters/04/exercises/arg_min/arg_min.cu")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def program_test(self, name):
        return {"name": name, "suite": [], "cmd": [str(self.folder / name)], "depends": [name]}

    def python_test(self, name, script):
        command = ["python3", "-m", "run_python_test", str(self.root / "tests" / script)]
        return {"name": name, "suite": [], "cmd": command, "depends": []}

    def record(self, name, **kinds):
        folder = self.folder / "test_inputs"
        folder.mkdir(exist_ok=True)
        with open(folder / name, "a", encoding="utf-8") as file:
            file.writelines(f"{kind}\t{path}\n" for kind, path in kinds.items())

    def reached(self, *edited, come_or_gone=()):
        reach = Reach(self.folder, NINJA, self.tests, self.files(), self.root)
        return reach.reached_by(Changes("HEAD", set(edited), set(come_or_gone)))

    def files(self):
        found = (path for path in self.root.rglob("*") if path.is_file())
        names = {path.relative_to(self.root).as_posix() for path in found}
        return {name for name in names if not name.startswith("build/")}

    def names(self, *edited, come_or_gone=()):
        """Of the tests that are reached, but not because their headers are unknown."""
        reached = self.reached(*edited, come_or_gone=come_or_gone)
        self.assertIsNone(reached.because_of)
        return {test["name"] for test in reached.tests} - {"never_built"}


class Reaching(Tree):
    def test_a_file_of_an_exercise_its_own_test_and_no_others(self):
        self.assertEqual(self.names("chapters/01/exercises/saxpy/saxpy.cu"), {"exercise_saxpy"})
        self.assertEqual(
            self.names("chapters/04/exercises/arg_min/arg_min.cu"), {"exercise_arg_min"}
        )

    def test_a_header_the_chapters_that_include_it(self):
        self.assertEqual(self.names("chapters/04/guard.cuh"), {"queue"})
        self.assertEqual(self.names("chapters/01/add.cu"), {"add", "queue"})

    def test_a_module_the_tests_that_import_it_directly_or_not(self):
        self.assertEqual(self.names("lab_tool/direct.py"), {"direct"})
        self.assertEqual(self.names("lab_tool/indirect.py"), {"direct"})
        self.assertEqual(self.names("lab_tool/__init__.py"), {"direct", "starting", "patching"})
        self.assertEqual(
            self.names("tests/exercise_test.py"), {"exercise_saxpy", "exercise_arg_min"}
        )

    def test_a_module_the_tests_that_start_it_or_name_it(self):
        self.assertEqual(self.names("lab_tool/started.py"), {"starting"})
        self.assertEqual(self.names("lab"), {"starting"})
        self.assertEqual(self.names("lab_tool/grading/judge.py"), {"patching"})

    def test_a_document_the_tests_that_have_read_it(self):
        self.assertEqual(self.names("docs/page.md"), {"documents"})

    def test_several_files_what_any_of_them_reaches(self):
        reached = self.names("docs/page.md", "chapters/04/guard.cuh")
        self.assertEqual(reached, {"documents", "queue"})

    def test_no_change_nothing(self):
        self.assertEqual(self.reached().tests, [])

    def test_a_file_that_no_graph_knows_everything(self):
        for path in ("docs/unread.md", "nowhere/at/all", "lab_tool/templates/x.py"):
            reached = self.reached("docs/page.md", path)
            self.assertEqual((len(reached.tests), reached.because_of), (len(self.tests), path))

    def test_what_the_build_is_configured_by_everything(self):
        self.record("documents", file="meson.build")
        reached = self.reached("meson.build")
        self.assertEqual((len(reached.tests), reached.because_of), (len(self.tests), "meson.build"))

    def test_a_new_file_the_tests_that_list_its_folder(self):
        for path in ("docs/new.md", "docs/of/what.md"):
            self.assertEqual(self.names(come_or_gone=[path]), {"documents"})
        new = "chapters/01/exercises/saxpy/mutants/new.patch"
        self.assertEqual(self.names(come_or_gone=[new]), {"exercise_saxpy"})
        self.assertEqual(self.reached("docs/new.md").because_of, "docs/new.md")

    def test_a_new_file_the_tests_for_which_git_has_listed_its_name(self):
        self.record("direct", names="chapters")
        new = "chapters/01/exercises/saxpy/mutants/new.patch"
        self.assertEqual(self.names(come_or_gone=[new]), {"exercise_saxpy", "direct"})
        edited = "chapters/01/exercises/saxpy/saxpy.cu"
        self.assertEqual(self.names(edited), {"exercise_saxpy"})

    def test_a_new_module_the_tests_that_import_it(self):
        self.write("lab_tool/new.py", "")
        self.write("lab_tool/indirect.py", "import lab_tool.new\n")
        self.assertEqual(self.names(come_or_gone=["lab_tool/new.py"]), {"direct"})

    def test_a_file_that_is_gone_the_tests_that_had_read_it(self):
        (self.root / "docs/page.md").unlink()
        (self.root / "chapters/04/guard.cuh").unlink()
        self.assertEqual(self.names(come_or_gone=["docs/page.md"]), {"documents"})
        self.assertEqual(self.names(come_or_gone=["chapters/04/guard.cuh"]), {"queue"})

    def test_without_a_record_a_test_is_always_reached(self):
        (self.folder / "test_inputs/direct").unlink()
        reached = self.reached("docs/page.md")
        self.assertEqual({test["name"] for test in reached.tests}, {"documents", "direct"})
        self.assertEqual(reached.without_record, {"direct"})

    def test_the_record_of_an_older_form_of_the_test_does_not_count(self):
        later = (self.folder / "test_inputs/direct").stat().st_mtime + 1
        os.utime(self.root / "tests/direct_test.py", (later, later))
        self.assertEqual(self.reached("docs/page.md").without_record, {"direct"})

    def test_headers_of_what_was_never_built_are_unknown(self):
        named = {test["name"] for test in self.reached("chapters/04/guard.cuh").tests}
        self.assertEqual(named, {"queue", "never_built"})
        named = {test["name"] for test in self.reached("docs/page.md").tests}
        self.assertEqual(named, {"documents"})

    def test_folders_that_another_program_was_given(self):
        self.record("documents", tree="chapters/04", headers="chapters/05")
        with_queue = {"documents", "queue"}
        self.assertEqual(self.names("chapters/04/guard.cuh"), with_queue)
        self.assertEqual(self.names("chapters/05/queue.cu"), {"queue"})
        self.write("chapters/05/new.cuh", "")
        self.assertEqual(self.names("chapters/05/new.cuh"), {"documents"})


class Changing(unittest.TestCase):
    def setUp(self):
        self.root = temporary_folder(self).resolve()
        self.git("init", "-q", "-b", "main")
        for name in ("kept", "edited", "deleted", "renamed"):
            (self.root / name).write_text(f"the text of {name}\n", encoding="utf-8")
        (self.root / ".gitignore").write_text("/ignored\n", encoding="utf-8")
        self.commit()

    def git(self, *words):
        who = ["-c", "user.name=A", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=self.root, check=True, capture_output=True)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "-m", "done")

    def test_committed_uncommitted_and_untracked(self):
        self.git("checkout", "-q", "-b", "own")
        (self.root / "edited").write_text("another text\n", encoding="utf-8")
        self.git("mv", "renamed", "under another name")
        self.commit()
        (self.root / "deleted").unlink()
        for name in ("untracked", "ignored"):
            (self.root / name).write_text("", encoding="utf-8")
        expected = {"deleted", "renamed", "under another name", "untracked"}
        for changes in (changes_since("main", self.root), changes_of_branch(self.root)):
            self.assertEqual(changes.edited, {"edited"})
            self.assertEqual(changes.come_or_gone, expected)
        self.assertEqual(changes_since("HEAD", self.root).come_or_gone, {"deleted", "untracked"})
        there = {".gitignore", "kept", "edited", "under another name", "untracked"}
        self.assertEqual(files_of_checkout(self.root), there)

    def test_of_a_branch_what_others_did_to_main_is_left_out(self):
        self.git("checkout", "-q", "-b", "own")
        (self.root / "own").write_text("", encoding="utf-8")
        self.commit()
        self.git("checkout", "-q", "main")
        (self.root / "of others").write_text("", encoding="utf-8")
        self.commit()
        self.git("checkout", "-q", "own")
        self.assertEqual(changes_of_branch(self.root).files, {"own"})

    def test_what_is_no_commit_in_one_sentence(self):
        for commit in ("nonsense", "", "--all", "HEAD:kept"):
            with self.assertRaisesRegex(CommandError, "git knows no commit") as problem:
                changes_since(commit, self.root)
            self.assertEqual(problem.exception.code, 2)

    def test_without_git_or_a_main_branch_in_one_sentence(self):
        self.git("branch", "-m", "neither")
        with self.assertRaisesRegex(CommandError, "none of the branches .*: name the commit"):
            changes_of_branch(self.root)
        shutil.rmtree(self.root / ".git")
        with (
            mock.patch.dict(os.environ, GIT_CEILING_DIRECTORIES=str(self.root.parent)),
            self.assertRaisesRegex(CommandError, "this is no git checkout"),
        ):
            changes_since("HEAD", self.root)


READER = """\
import os, pathlib, subprocess, sys
pathlib.Path("page.md").read_text()
list(pathlib.Path("docs").glob("*.md"))
import module
subprocess.run([sys.executable, "child.py"], check=True)
subprocess.run(["true", "given.txt"], check=True)
subprocess.run(["true", "-Iinclude", "-isystem", "system", "-c", "x"], check=True)
subprocess.run(["true", "-Iknown", "-MD", "-c", "x"], check=True)
subprocess.run(["true", "whole"], check=True)
subprocess.run(["./bwrap", "--ro-bind", "bound", "bound", "--dir", "made"], check=True)
subprocess.run(["git", "init", "--quiet"], cwd="known", check=True)
subprocess.run(["git", "ls-files"], cwd="known", check=True)
subprocess.run(["git", "-C", "known", "status", "--porcelain"], check=True)
subprocess.run(["git", "-C", "known", "diff"], check=True)
pathlib.Path("build/listed.d").read_text()
pathlib.Path("written.txt").write_text("")
pathlib.Path("/etc/passwd").read_text()
"""


class Recording(unittest.TestCase):
    def setUp(self):
        self.root = temporary_folder(self).resolve()
        for folder in "docs include system known whole bound made build".split():
            (self.root / folder).mkdir()
        (self.root / "bwrap").symlink_to(shutil.which("true"))
        texts = {
            "reader.py": READER,
            "child.py": "open('of_child.txt').close()\n",
            "build/listed.d": f"x.o: {self.root}/listed.hpp \\\n given.hpp /usr/include/stdio.h\n",
        }
        others = ["page.md", "module.py", "of_child.txt", "given.txt", "listed.hpp", "given.hpp"]
        for name in (*texts, *others):
            (self.root / name).write_text(texts.get(name, ""), encoding="utf-8")

    def lines(self):
        record = self.root / "build/record"
        variables = {
            "LAB_TEST_INPUTS": str(record),
            "LAB_SOURCE_ROOT": str(self.root),
            "LAB_BUILD_FOLDER": str(self.root / "build"),
            "PYTHONPATH": str(ROOT / "engine/testing"),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        subprocess.run(
            [sys.executable, "reader.py"],
            cwd=self.root,
            env={**os.environ, **variables},
            check=True,
        )
        lines = set(record.read_text(encoding="utf-8").splitlines())
        record.unlink()
        return lines

    def test_what_it_and_its_children_read(self):
        files = ["reader.py", "page.md", "module.py", "child.py", "of_child.txt", "given.txt"]
        files += ["listed.hpp", "given.hpp"]
        expected = {
            *(f"file\t{name}" for name in files),
            "folder\tdocs",
            "headers\tinclude",
            "headers\tsystem",
            "tree\twhole",
            "tree\tbound",
            "names\tknown",
            "tree\tknown",
        }
        self.assertEqual(self.lines(), expected)
        self.assertEqual(self.lines(), expected)  # the module has become a .pyc


class OfThisBuild(unittest.TestCase):
    """The real tree, as far as this test's dependencies are built: the chapters' programs."""

    @classmethod
    def setUpClass(cls):
        cls.files = files_of_checkout() if (ROOT / ".git").exists() else None
        cls.graph = NinjaGraph(BUILD, NINJA, ROOT)

    def programs_with(self, header):
        found = introspection(BUILD, "targets")
        names = [item["name"] for item in found if item["type"] == "executable"]
        programs = {"vector_add", "dot_product", "last_block_guard", "work_queue", "work_stealing"}
        self.assertLessEqual(programs, set(names))
        return {
            name for name in programs if header in self.graph.sources_of([f"chapters/{name}"]).paths
        }

    def test_a_chapters_header_reaches_the_chapters_that_include_it(self):
        header = "chapters/02_shared_memory_dot_product/block_reduce.cuh"
        self.assertEqual(
            self.programs_with(header), {"dot_product", "last_block_guard", "work_stealing"}
        )
        header = "chapters/01_vector_add/vector_add.cuh"
        self.assertIn("vector_add", self.programs_with(header))
        self.assertNotIn("dot_product", self.programs_with(header))

    def test_all_tests_that_are_python_files_are_in_the_import_graph(self):
        if self.files is None:
            self.skipTest("this is no git checkout")
        imports = ImportGraph(str(ROOT), self.files)
        for test in introspection(BUILD, "tests"):
            script = script_of(test)
            if script:
                path = os.path.relpath(os.path.realpath(script), ROOT)
                self.assertIn(path, imports.python)
        own = imports.closure("tests/cli/test_reach_test.py")
        self.assertIn("lab_tool/testing/dependency_graphs.py", own)
        self.assertIn("engine/command/errors.py", own)
        # Not named whole, since a name in a string counts.
        self.assertNotIn("/".join(["lab_tool", "authoring", "new_chapter.py"]), own)

    def test_each_file_of_an_exercise_reaches_the_test_that_judges_it(self):
        if self.files is None:
            self.skipTest("this is no git checkout")
        reach = Reach(BUILD, NINJA, introspection(BUILD, "tests"), self.files)
        for exercise in all_exercises():
            files = [path for path in self.files if path.startswith(f"{exercise.path}/")]
            self.assertGreater(len(files), 5)
            for path in files:
                for changes in (Changes("HEAD", {path}, set()), Changes("HEAD", set(), {path})):
                    names = [test["name"] for test in reach.reached_by(changes).tests]
                    self.assertIn(f"exercise_{exercise.name}", names, path)

    def test_every_test_has_one_suite_and_known_marks(self):
        suites = {suite.name for suite in all_suites()}
        marks = set(all_marks())
        for test in introspection(BUILD, "tests"):
            own = suites_of(test)
            with self.subTest(test=test["name"]):
                self.assertTrue(own & suites)
                self.assertLessEqual(own, suites | marks)


class Planning(Tree):
    SUITES = (Suite("first", ""), Suite("second", ""))

    def setUp(self):
        super().setUp()
        self.history = RunHistory(self.folder, brief=True)
        self.times = BuildTimes(NinjaGraph(self.folder, NINJA, self.root), self.folder)
        patch = mock.patch.object(quick_gate, "processors", lambda: 2)
        patch.start()
        self.addCleanup(patch.stop)

    def ran(self, name, seconds, result="OK"):
        self.history.add([{"name": name, "result": result, "duration": seconds}])

    def suite_test(self, name, suite, depends=()):
        return {"name": name, "suite": [f"p:{suite}"], "cmd": ["x"], "depends": list(depends)}

    def plan(self, tests, seconds, without_record=()):
        targets = introspection(self.folder, "targets")
        reached = Reached(tests, None, set(without_record))
        made = plan(reached, self.history, self.SUITES, self.times, self.folder, targets, seconds)
        return [test["name"] for test in made.tests], [test["name"] for test in made.left_out]

    def test_what_failed_last_then_often_then_by_suite_then_what_is_cheap(self):
        tests = [
            self.suite_test("cheap_of_second", "second"),
            self.suite_test("dear_of_first", "first"),
            self.suite_test("cheap_of_first", "first"),
            self.suite_test("failed_often", "second"),
            self.suite_test("failed", "second"),
        ]
        self.ran("cheap_of_second", 1)
        self.ran("dear_of_first", 9)
        self.ran("cheap_of_first", 1)
        for result in ("FAIL", "FAIL", "OK"):
            self.ran("failed_often", 1, result)
        self.ran("failed", 20, "FAIL")
        chosen, left_out = self.plan(tests, 100)
        expected = ["failed", "failed_often", "cheap_of_first", "dear_of_first", "cheap_of_second"]
        self.assertEqual((chosen, left_out), (expected, []))

    def test_what_is_known_to_be_reached_comes_before_what_failed(self):
        tests = [self.suite_test(name, "first") for name in ("doubtful", "known")]
        self.ran("doubtful", 30, "FAIL")
        self.ran("known", 30)
        # Together they would take 30 s on two processors.
        chosen, _ = self.plan(tests, 31, without_record=["doubtful"])
        self.assertEqual(chosen, ["known", "doubtful"])
        self.assertEqual(self.plan(tests, 31)[0], ["doubtful", "known"])

    def test_what_does_not_fit_is_left_out_and_cheaper_ones_are_not(self):
        tests = [self.suite_test(name, "first") for name in ("long", "short")]
        self.ran("long", 50)
        self.ran("short", 2)
        self.assertEqual(self.plan(tests, 40), (["short"], ["long"]))
        self.assertEqual(self.plan(tests, 51), (["short", "long"], []))

    def test_building_counts(self):
        tests = [self.suite_test("programs", "first", ["add"])]
        self.ran("programs", 1)
        self.assertEqual(self.plan(tests, 3), (["programs"], []))
        os.utime(self.root / "chapters/01/add.cu")  # later than what was made of it
        self.times = BuildTimes(NinjaGraph(self.folder, NINJA, self.root), self.folder)
        self.assertEqual(set(self.times.stale_steps(["add"])), {"add", "add.o"})
        self.times.seconds.update({"add.o": 8.0, "add": 0.0})
        self.assertEqual(self.plan(tests, 3), ([], ["programs"]))
        self.assertEqual(self.plan(tests, 6), (["programs"], []))

    def test_what_was_not_built_yet_is_to_be_built(self):
        self.assertEqual(self.times.stale_steps(["add"]), {})
        never_built = set(self.times.stale_steps(["never_built"]))
        self.assertEqual(never_built, {"never_built", "never_built.o"})

    def test_the_history_outlives_a_process_and_knows_both_forms(self):
        self.ran("a", 3.0)
        whole = RunHistory(self.folder, brief=False)
        whole.add([{"name": "a", "result": "FAIL", "duration": 30.0}])
        whole.add([{"name": "skipped", "result": "SKIP", "duration": 1.0}])
        brief = RunHistory(self.folder, brief=True).past_of("a")
        self.assertEqual((brief.seconds, brief.failures, brief.has_failed_last), (3.0, 1, True))
        self.assertEqual(RunHistory(self.folder, brief=False).past_of("a").seconds, 30.0)
        self.assertIsNone(RunHistory(self.folder, brief=True).past_of("skipped"))

    def test_a_test_belongs_to_the_first_suite_of_the_table(self):
        test = {"name": "a", "suite": ["p:second", "p:first", "p:once"]}
        self.assertEqual(suite_of(test, self.SUITES), 0)


class Documented(unittest.TestCase):
    def test_the_documents_table_is_the_one_of_meson(self):
        text = (ROOT / "docs/internals/testing.md").read_text(encoding="utf-8")
        rows = [
            *(f"| `{suite.name}` | {suite.what} |" for suite in all_suites()),
            *(f"| `{name}` | {what} |" for name, what in all_marks().items()),
        ]
        self.assertGreater(len(rows), 10)
        self.assertIn("\n".join(["| --- | --- |", *rows, "", ""]), text)
