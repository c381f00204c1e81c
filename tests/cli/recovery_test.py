# SPDX-License-Identifier: MIT
"""lab repairs what an interruption, another Meson or a wrong clock has left, or says what to do."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

from engine.command import build_folder
from engine.command.errors import CommandError
from lab_runs import interrupt, started
from lab_tool.builds import build_folders
from lab_tool.setup import packages
from lab_tool.setup.requirements import makes_virtual_environments
from test_setup import captured, temporary_folder
from this_build import BUILD, ROOT

MESON = (1, 7, 0)
NOBODY = 65534


class Scratch(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)


class BuildFolder(Scratch):
    """What is noticed of a build folder; the next class sees that it is made anew."""

    def setUp(self):
        super().setUp()
        self.build = self.folder / "build-cpu"
        (self.build / "meson-info").mkdir(parents=True)
        (self.build / "meson-private").mkdir()
        self.write("meson-info/meson-info.json", json.dumps({"meson_version": {"full": "1.7.0"}}))
        for name in build_folders.INTROSPECTIONS:
            self.write(f"meson-info/intro-{name}.json", "[]")
        self.write("single_file.json", "{}")
        self.ninja_file = (
            f" command = {sys.executable} --internal regenerate . .\n\ndefault all\n\n"
        )
        self.write("build.ninja", self.ninja_file)

    def write(self, name, text):
        (self.build / name).write_text(text, encoding="utf-8")

    def defect(self, meson=MESON):
        return build_folders.defect_of(self.build, meson)

    def test_a_whole_one_and_none(self):
        self.assertIsNone(self.defect())
        self.assertIsNone(self.defect([1, 7, 2]))  # as lab remembers it in a JSON file
        self.assertIsNone(build_folders.defect_of(self.folder / "nothing", MESON))
        (self.folder / "empty").mkdir()
        self.assertIsNone(build_folders.defect_of(self.folder / "empty", MESON))

    def test_this_builds_own(self):
        text = (BUILD / "meson-info/meson-info.json").read_text(encoding="utf-8")
        full = json.loads(text)["meson_version"]["full"]
        self.assertIsNone(build_folders.defect_of(BUILD, tuple(map(int, full.split(".")[:2]))))

    def test_a_build_ninja_that_is_empty_or_cut_off(self):
        for text in ("", self.ninja_file[:30]):
            self.write("build.ninja", text)
            self.assertEqual(self.defect(), "its build.ninja is empty or not whole")

    def test_files_that_are_lost(self):
        for name in ("build.ninja", "single_file.json", "meson-info/intro-tests.json"):
            with self.subTest(name=name):
                text = (self.build / name).read_text(encoding="utf-8")
                (self.build / name).unlink()
                self.assertIn("its configuration was interrupted", self.defect())
                self.write(name, text)

    def test_another_meson(self):
        self.assertEqual(
            self.defect((1, 3, 2)), "Meson 1.7.0 has configured it, and Meson 1.3.2 is here"
        )
        self.write("build.ninja", self.ninja_file.replace(sys.executable, "/nowhere/bin/meson"))
        self.assertEqual(self.defect(), "the Meson that has configured it is no longer there")

    def test_dated_in_the_future(self):
        tomorrow = time.time() + 86400
        self.write(".ninja_log", f"# ninja log v5\n0\t1\t{int(tomorrow * 1e9)}\ta.o\t1f\n")
        self.assertEqual(self.defect(), "files in it are dated in the future")
        (self.build / ".ninja_log").unlink()
        os.utime(self.build / "build.ninja", (tomorrow, tomorrow))
        self.assertEqual(self.defect(), "files in it are dated in the future")

    def test_only_what_meson_has_made_is_removed(self):
        build_folders.make_empty(self.build)
        self.assertEqual(os.listdir(self.build), [])
        self.write("notes.txt", "mine")
        with self.assertRaisesRegex(CommandError, "files that are not of a build: move them away"):
            build_folders.make_empty(self.build)
        self.assertEqual(os.listdir(self.build), ["notes.txt"])

    def test_sources_dated_in_the_future(self):
        source = self.folder / "chapters/one.cu"
        source.parent.mkdir()
        source.write_text("// text\n", encoding="utf-8")
        os.utime(source, (time.time() + 86400,) * 2)
        with mock.patch.object(build_folders, "remark") as said:
            build_folders.date_back_future_sources(self.folder)
            build_folders.date_back_future_sources(self.folder)  # now there is nothing to say
        ((sentence,), _) = said.call_args
        self.assertEqual(said.call_count, 1)
        self.assertIn("one.cu", sentence)
        self.assertLessEqual(source.stat().st_mtime, time.time())


class Checkout(Scratch):
    """A checkout of its own, without a build folder."""

    PARTS = (
        "LICENSE",
        "lab",
        "lab_tool",
        "chapters",
        "common",
        "engine",
        "grader",
        "tests",
        "meson.build",
        "meson.options",
    )

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        for name in self.PARTS:
            if (ROOT / name).is_dir():
                # Without the largest part of the chapters: no test here is about it.
                of_exercises = ("exercises", "predictions") if name == "chapters" else ()
                unwanted = shutil.ignore_patterns("__pycache__", *of_exercises)
                shutil.copytree(ROOT / name, self.folder / name, ignore=unwanted)
            else:
                shutil.copy(ROOT / name, self.folder / name)

    def lab(self, *words, **options):
        command = [sys.executable, self.folder / "lab", *words]
        return captured(command, cwd=self.folder, **options)


class MadeAnew(Checkout):
    def setup(self):
        result = self.lab("setup", "--no-build", "--backend", "cpu")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("All is here, and build-cpu is configured.\n", result.stdout)
        return result.stderr

    def test_an_empty_build_ninja(self):
        ninja_file = self.folder / "build-cpu/build.ninja"
        self.assertNotIn("anew", self.setup())
        ninja_file.write_text("", encoding="utf-8")
        said = self.setup()
        self.assertIn("build-cpu is made anew: its build.ninja is empty or not whole.\n", said)
        self.assertGreater(ninja_file.stat().st_size, 10_000)
        self.assertNotIn("anew", self.setup())

    def test_one_of_the_users_own_is_named_and_left_alone(self):
        self.setup()
        own = (self.folder / "build-cpu").rename(self.folder / "own")
        (own / "build.ninja").write_text("", encoding="utf-8")
        result = self.lab("run", "01", "--build", "own")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(
            result.stderr,
            "lab: own can't be built in: its build.ninja is empty or not whole; delete it, and make "
            "it anew with meson setup.\n",
        )
        self.assertEqual((own / "build.ninja").read_text(encoding="utf-8"), "")

    def test_one_of_another_clone_is_refused(self):
        for words in (["run", "01"], ["racecheck", "01"], ["trace", "05"], ["test"]):
            result = self.lab(*words, "--build", str(BUILD))
            self.assertEqual((result.returncode, result.stdout), (2, ""), result)
            self.assertEqual(
                result.stderr,
                f"lab: --build {BUILD}: that folder builds the course in {ROOT}, and this is "
                f"{self.folder.resolve()}; make one of this course with meson setup.\n",
            )

    def test_interrupted_while_it_configures(self):
        command = [sys.executable, self.folder / "lab", "setup", "--no-build", "--backend", "cpu"]
        with started(command, self.folder) as process:
            private = self.folder / "build-cpu/meson-private"
            while not private.is_dir() and process.poll() is None:
                time.sleep(0.05)
            written, problems = interrupt(process)
        self.assertEqual((process.returncode, written), (130, ""), problems)
        self.assertRegex(problems, r"\AConfiguring build-cpu: interrupted after \d+ s\.\n\Z")
        self.assertIn("build-cpu is made anew: its configuration was interrupted", self.setup())

    def test_two_at_once(self):
        command = [sys.executable, self.folder / "lab", "setup", "--no-build", "--backend", "cpu"]
        with started(command, self.folder) as first:
            private = self.folder / "build-cpu/meson-private"
            while not private.is_dir() and first.poll() is None:
                time.sleep(0.05)
            self.assertNotIn("anew", self.setup())
            _, problems = first.communicate(timeout=300)
        self.assertEqual(first.returncode, 0, problems)


class WithoutRights(Checkout):
    def test_a_checkout_that_is_not_writable(self):
        who = {}
        if os.geteuid() == 0:
            who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        else:
            self.folder.chmod(0o555)
            self.addCleanup(self.folder.chmod, 0o755)
        for words in (["run", "01"], ["test"], ["racecheck", "01"], ["setup"]):
            with self.subTest(words=words):
                result = self.lab(*words, **who)
                self.assertEqual((result.returncode, result.stdout), (1, ""), result)
                last = result.stderr.splitlines()[-1]
                self.assertRegex(
                    last, r"\Alab: lab builds in the folder build-c\w+, and you can't write there: "
                )
                self.assertNotIn("Permission denied", result.stderr)


@unittest.skipUnless(makes_virtual_environments(), "Python's ensurepip is not here")
class VirtualEnvironment(Scratch):
    """The commands that make .venv, in the states that an interruption leaves."""

    def setUp(self):
        super().setUp()
        self.venv = self.folder / ".venv"
        for name, value in (
            ("VENV", self.venv),
            ("VENV_PYTHON", str(self.venv / "bin/python")),
        ):
            patch = mock.patch.object(packages, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def commands(self):
        *creation, install = packages.commands_for(["it>=1"])
        self.assertEqual(install, f"{self.venv}/bin/python -m pip install --quiet 'it>=1'")
        return [command.replace(sys.executable, "python") for command in creation]

    def make(self, *options):
        command = [sys.executable, "-m", "venv", *options, str(self.venv)]
        subprocess.run(command, check=True, capture_output=True)

    def test_none_is_made(self):
        self.assertEqual(self.commands(), [f"python -m venv {self.venv}"])

    def test_one_that_works_is_taken_as_it_is(self):
        self.make()
        self.assertEqual(self.commands(), [])

    def test_without_any_pip_it_gets_one(self):
        self.make("--without-pip")
        self.assertEqual(self.commands(), [f"python -m venv {self.venv}"])

    def test_interrupted_while_pip_was_installed_it_is_made_anew(self):
        self.make("--without-pip")
        (packages,) = self.venv.glob("lib/python*/site-packages")
        (packages / "pip").mkdir()
        (packages / "pip/__init__.py").write_text("", encoding="utf-8")
        (creation,) = self.commands()
        self.assertEqual(creation, f"python -m venv --clear {self.venv}")
        subprocess.run(creation.replace("python", sys.executable, 1), shell=True, check=True)
        self.assertEqual(self.commands(), [])

    def test_its_python_has_gone_it_is_made_anew(self):
        self.make("--without-pip")
        for name in ("python", "python3"):
            (self.venv / "bin" / name).unlink()
        (self.venv / "bin/python").symlink_to("/nowhere/python3")
        self.assertEqual(self.commands(), [f"python -m venv --clear {self.venv}"])

    def test_nothing_but_its_folder(self):
        self.venv.mkdir()
        self.assertEqual(self.commands(), [f"python -m venv --clear {self.venv}"])


def test_who_waits_for_another_lab_says_so_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build_folder, "SILENT_SECONDS", 0)
    (tmp_path / "set_up").mkdir()
    for place in (tmp_path / "set_up", tmp_path):  # while that one sets up, and while it builds
        with contextlib.ExitStack() as another:
            another.enter_context(build_folder.alone_in(tmp_path, place))
            timer = threading.Timer(0.5, another.pop_all().close)
            timer.start()
            with build_folder.alone_in(tmp_path, place):
                timer.join()
    printed = capsys.readouterr().err
    assert printed.count(f" is building in {tmp_path}: waiting for it.\n") == 1, printed
