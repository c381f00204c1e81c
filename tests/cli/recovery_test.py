# SPDX-License-Identifier: MIT
"""lab repairs what an interruption, another Meson or a wrong clock has left, or says what to do."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

import pytest

from engine.command import build_folder
from engine.command.errors import CommandError
from lab_runs import interrupt, started
from lab_tool.builds import build_folders
from lab_tool.setup import packages
from lab_tool.setup.requirements import makes_virtual_environments
from test_setup import captured
from this_build import BUILD, ROOT

MESON = (1, 7, 0)
NOBODY = 65534


class BuildFolder:
    """What is noticed of a build folder; the next class sees that it is made anew."""

    def __init__(self, folder):
        self.folder = folder
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


@pytest.fixture
def build(tmp_path):
    return BuildFolder(tmp_path)


def test_a_whole_one_and_none(build):
    assert build.defect() is None
    assert build.defect([1, 7, 2]) is None  # as lab remembers it in a JSON file
    assert build_folders.defect_of(build.folder / "nothing", MESON) is None
    (build.folder / "empty").mkdir()
    assert build_folders.defect_of(build.folder / "empty", MESON) is None


def test_this_builds_own():
    text = (BUILD / "meson-info/meson-info.json").read_text(encoding="utf-8")
    full = json.loads(text)["meson_version"]["full"]
    assert build_folders.defect_of(BUILD, tuple(map(int, full.split(".")[:2]))) is None


@pytest.mark.parametrize("kept", [0, 30], ids=["empty", "cut_off"])
def test_a_build_ninja_that_is_empty_or_cut_off(build, kept):
    build.write("build.ninja", build.ninja_file[:kept])
    assert build.defect() == "its build.ninja is empty or not whole"


@pytest.mark.parametrize("name", ("build.ninja", "single_file.json", "meson-info/intro-tests.json"))
def test_files_that_are_lost(build, name):
    text = (build.build / name).read_text(encoding="utf-8")
    (build.build / name).unlink()
    assert "its configuration was interrupted" in build.defect()
    build.write(name, text)


def test_another_meson(build):
    assert build.defect((1, 3, 2)) == "Meson 1.7.0 has configured it, and Meson 1.3.2 is here"
    build.write("build.ninja", build.ninja_file.replace(sys.executable, "/nowhere/bin/meson"))
    assert build.defect() == "the Meson that has configured it is no longer there"


def test_dated_in_the_future(build):
    tomorrow = time.time() + 86400
    build.write(".ninja_log", f"# ninja log v5\n0\t1\t{int(tomorrow * 1e9)}\ta.o\t1f\n")
    assert build.defect() == "files in it are dated in the future"
    (build.build / ".ninja_log").unlink()
    os.utime(build.build / "build.ninja", (tomorrow, tomorrow))
    assert build.defect() == "files in it are dated in the future"


def test_only_what_meson_has_made_is_removed(build):
    build_folders.make_empty(build.build)
    assert os.listdir(build.build) == []
    build.write("notes.txt", "mine")
    with pytest.raises(CommandError, match="files that are not of a build: move them away"):
        build_folders.make_empty(build.build)
    assert os.listdir(build.build) == ["notes.txt"]


def test_sources_dated_in_the_future(build):
    source = build.folder / "chapters/one.cu"
    source.parent.mkdir()
    source.write_text("// text\n", encoding="utf-8")
    os.utime(source, (time.time() + 86400,) * 2)
    with mock.patch.object(build_folders, "remark") as said:
        build_folders.date_back_future_sources(build.folder)
        build_folders.date_back_future_sources(build.folder)  # now there is nothing to say
    ((sentence,), _) = said.call_args
    assert said.call_count == 1
    assert "one.cu" in sentence
    assert source.stat().st_mtime <= time.time()


class Checkout:
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

    def __init__(self, folder):
        self.folder = folder
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

    def setup(self):
        result = self.lab("setup", "--no-build", "--backend", "cpu")
        assert result.returncode == 0, result
        assert "All is here, and build-cpu is configured.\n" in result.stdout
        return result.stderr


@pytest.fixture
def checkout():
    with tempfile.TemporaryDirectory() as folder:  # no other user gets into pytest's own folder
        yield Checkout(pathlib.Path(folder))


def test_an_empty_build_ninja(checkout):
    ninja_file = checkout.folder / "build-cpu/build.ninja"
    assert "anew" not in checkout.setup()
    ninja_file.write_text("", encoding="utf-8")
    said = checkout.setup()
    assert "build-cpu is made anew: its build.ninja is empty or not whole.\n" in said
    assert ninja_file.stat().st_size > 10_000
    assert "anew" not in checkout.setup()


def test_one_of_the_users_own_is_named_and_left_alone(checkout):
    checkout.setup()
    own = (checkout.folder / "build-cpu").rename(checkout.folder / "own")
    (own / "build.ninja").write_text("", encoding="utf-8")
    result = checkout.lab("run", "01", "--build", "own")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "lab: own can't be built in: its build.ninja is empty or not whole; delete it, and make "
        "it anew with meson setup.\n"
    )
    assert (own / "build.ninja").read_text(encoding="utf-8") == ""


def test_one_of_another_clone_is_refused(checkout):
    for words in (["run", "01"], ["racecheck", "01"], ["trace", "05"], ["test"]):
        result = checkout.lab(*words, "--build", str(BUILD))
        assert (result.returncode, result.stdout) == (2, ""), result
        assert result.stderr == (
            f"lab: --build {BUILD}: that folder builds the course in {ROOT}, and this is "
            f"{checkout.folder.resolve()}; make one of this course with meson setup.\n"
        )


@contextlib.contextmanager
def configuring(checkout):
    """A setup of the checkout that has begun to configure its build folder."""
    command = [sys.executable, checkout.folder / "lab", "setup", "--no-build", "--backend", "cpu"]
    with started(command, checkout.folder) as process:
        private = checkout.folder / "build-cpu/meson-private"
        while not private.is_dir() and process.poll() is None:
            time.sleep(0.05)
        yield process


def test_interrupted_while_it_configures(checkout):
    with configuring(checkout) as process:
        written, problems = interrupt(process)
    assert (process.returncode, written) == (130, ""), problems
    assert re.search(r"\AConfiguring build-cpu: interrupted after \d+ s\.\n\Z", problems)
    assert "build-cpu is made anew: its configuration was interrupted" in checkout.setup()


def test_two_at_once(checkout):
    with configuring(checkout) as first:
        assert "anew" not in checkout.setup()
        _, problems = first.communicate(timeout=300)
    assert first.returncode == 0, problems


@pytest.mark.parametrize(
    "words",
    (["run", "01"], ["test"], ["racecheck", "01"], ["setup"]),
    ids=["run", "test", "racecheck", "setup"],
)
def test_a_checkout_that_is_not_writable(checkout, words):
    who = {}
    if os.geteuid() == 0:
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    else:
        checkout.folder.chmod(0o555)
    result = checkout.lab(*words, **who)
    assert (result.returncode, result.stdout) == (1, ""), result
    last = result.stderr.splitlines()[-1]
    assert re.search(
        r"\Alab: lab builds in the folder build-c\w+, and you can't write there: ", last
    )
    assert "Permission denied" not in result.stderr


class VirtualEnvironment:
    """The commands that make .venv, in the states that an interruption leaves."""

    def __init__(self, folder):
        self.venv = folder / ".venv"

    def commands(self):
        *creation, install = packages.commands_for(["it>=1"])
        assert install == f"{self.venv}/bin/python -m pip install --quiet 'it>=1'"
        return [command.replace(sys.executable, "python") for command in creation]

    def make(self, *options):
        command = [sys.executable, "-m", "venv", *options, str(self.venv)]
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def environment(tmp_path, monkeypatch):
    if not makes_virtual_environments():
        pytest.skip("Python's ensurepip is not here")
    made = VirtualEnvironment(tmp_path)
    monkeypatch.setattr(packages, "VENV", made.venv)
    monkeypatch.setattr(packages, "VENV_PYTHON", str(made.venv / "bin/python"))
    return made


def test_none_is_made(environment):
    assert environment.commands() == [f"python -m venv {environment.venv}"]


def test_one_that_works_is_taken_as_it_is(environment):
    environment.make()
    assert environment.commands() == []


def test_without_any_pip_it_gets_one(environment):
    environment.make("--without-pip")
    assert environment.commands() == [f"python -m venv {environment.venv}"]


def test_interrupted_while_pip_was_installed_it_is_made_anew(environment):
    environment.make("--without-pip")
    (packages,) = environment.venv.glob("lib/python*/site-packages")
    (packages / "pip").mkdir()
    (packages / "pip/__init__.py").write_text("", encoding="utf-8")
    (creation,) = environment.commands()
    assert creation == f"python -m venv --clear {environment.venv}"
    subprocess.run(creation.replace("python", sys.executable, 1), shell=True, check=True)
    assert environment.commands() == []


def test_its_python_has_gone_it_is_made_anew(environment):
    environment.make("--without-pip")
    for name in ("python", "python3"):
        (environment.venv / "bin" / name).unlink()
    (environment.venv / "bin/python").symlink_to("/nowhere/python3")
    assert environment.commands() == [f"python -m venv --clear {environment.venv}"]


def test_nothing_but_its_folder(environment):
    environment.venv.mkdir()
    assert environment.commands() == [f"python -m venv --clear {environment.venv}"]


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
