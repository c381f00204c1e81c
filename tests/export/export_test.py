# SPDX-License-Identifier: MIT
"""What an instructor hands out: complete for students, and without a line of a solution anywhere."""

import errno
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from unittest import mock

import pytest

from engine.command.arguments import parse
from engine.command.errors import CommandError
from grader.exercises.catalogue import FILE, all_exercises, chosen_exercise
from grader.exercises.solutions import solution_lines, starter
from lab_runs import lab
from lab_tool.command_line import MODULES
from lab_tool.export.writing import write_folder
from lab_tool.verbs.export import EXPORT
from lab_tool.verbs.grade import GRADE
from this_build import BUILD, ROOT

NUMBERS = ["01.1", "01.5", "02.2", "04.2"]
OF_GRADERS = ["01.1"]  # fewer, since a grader takes a run of each solution
LEAST_LENGTH = 25  # a line that can be told from others: `__syncthreads();` stands everywhere
# Folders of what no student may see before the exercise is solved.
SECRET_FOLDERS = {"exercises", "predictions", "templates"}
LINK = re.compile(r'\]\(([^)\s]+)(?:\s"[^"]*")?\)')


def export(folder, *words):
    return lab("export", str(folder), *words)


def contents(folder):
    """{path: bytes} of all files below the folder, and of those in its archives."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            found[name] = path.read_bytes()
            found.update({f"{name}/{inner}": text for inner, text in members(found[name])})
    return found


def members(content):
    file = io.BytesIO(content)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            yield from [(name, archive.read(name)) for name in archive.namelist()]
    elif content[257:262] == b"ustar":
        with tarfile.open(fileobj=file) as archive:
            yield from [(each.name, archive.extractfile(each).read()) for each in archive]


def public_lines():
    """Lines of the course's own lessons, headers and tools: they teach, and are no secret."""
    found = set()
    for top in ("chapters", "common", "docs", "engine", "grader"):
        for path in (ROOT / top).rglob("*"):
            inner = path.relative_to(ROOT).parts[2:]
            if path.suffix in (".cu", ".cuh", ".hpp", ".cpp", ".md") and not (
                SECRET_FOLDERS & set(inner)
            ):
                found |= {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
    return found


def secret_lines():
    """The lines of the solutions of all exercises that stand nowhere else."""
    found = set()
    for exercise in all_exercises():
        found |= {line.strip() for line in solution_lines(exercise.source.read_text("utf-8"))}
    return {line for line in found if len(line) >= LEAST_LENGTH} - public_lines()


def lines_that_leak(files, secrets):
    """[(path, line)] of the secret lines that stand in a file, as they are or as a comment or a patch."""
    wanted = {bare(line.encode()) for line in secrets}
    seen = {}  # the same bytes are in several exports
    for path, text in files.items():
        seen.setdefault(text, path)
    return [
        (path, line.decode())
        for text, path in seen.items()
        for line in {bare(line) for line in text.split(b"\n")} & wanted
    ]


def bare(line):
    return line.strip(b" \t\r/*+-|>#\"',")


class ExportTest:
    def __init__(self, folder):
        self.folder = folder
        self.exports, self.said = {}, {}
        for system in ("plain", "gradescope", "classroom50", "autolab"):
            numbers = NUMBERS if system == "plain" else OF_GRADERS
            words = ["--exercises", ",".join(numbers), "--for", system, "--due", "Friday, 12:00"]
            words += ["--title", "Week 4"]
            if system != "plain":
                words += ["--build", str(BUILD)]
            result = export(self.folder / system, *words)
            assert result.returncode == 0, result.stderr
            self.exports[system] = contents(self.folder / system)
            self.said[system] = result.stderr
        self.plain = self.exports["plain"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return ExportTest(tmp_path_factory.mktemp("exported"))


def test_there_are_secrets_to_look_for():
    secrets = secret_lines()
    assert len(secrets) > 50
    leaky = {"a.md": b"  // " + next(iter(secrets)).encode() + b"\n"}
    assert len(lines_that_leak(leaky, secrets)) == 1


def test_no_line_of_a_solution_is_anywhere(exported):
    secrets = secret_lines()
    every = {}
    for system, files in exported.exports.items():
        assert len(files) > 300
        every.update({f"{system}/{path}": content for path, content in files.items()})
    assert lines_that_leak(every, secrets) == []


def test_no_wrong_solution_prediction_or_history(exported):
    for system, files in exported.exports.items():
        for path in files:
            parts = set(pathlib.PurePosixPath(path).parts)
            shown = f"{system}: {path}"
            assert not {"mutants.txt", "predictions", ".git", "templates"} & parts, shown
            assert not path.endswith((".patch", ".pyc")), shown
        markers = [p for p, t in files.items() if re.search(rb"// (BEGIN|END) (SOL|HID)", t)]
        assert [path for path in markers if not path.endswith(("solutions.py", ".tar"))] == []


def test_each_chosen_exercise_is_complete_and_no_other_is_there(exported):
    folders = {path.rpartition("/")[0] for path in exported.plain if "/exercises/" in path}
    folders = {folder for folder in folders if folder.startswith("chapters/")}
    wanted = set()
    for number in NUMBERS:
        exercise = chosen_exercise(number)
        folder = exercise.path
        wanted.add(folder)
        assert exported.plain[f"{folder}/starter.cu"].decode() == starter(exercise)
        for name in ("README.md", "exercise.py"):
            assert f"{folder}/{name}" in exported.plain
        has_driver = f"{folder}/driver.cpp" in exported.plain
        assert has_driver == (exercise.folder / "driver.cpp").is_file()
        assert f"{folder}/{exercise.name}.cu" not in exported.plain
    assert folders == wanted


def test_nothing_of_an_authors_tables_is_there_but_the_tables(exported):
    row = "| [01.1 `saxpy`](exercises/saxpy/README.md) | alpha times x plus y, for any n | 15 |"
    assert row in exported.plain["chapters/01_vector_add/README.md"].decode()


def test_no_module_is_there_that_nothing_uses(exported):
    python = {path: text for path, text in exported.plain.items() if path.endswith(".py")}
    imported = set(re.findall(rb"(?:from|import) ([\w.]+)", b"\n".join(python.values())))
    members = rb"from ([\w.]+) import \(?([^()]*?)(?:\)|\n(?! ))"
    for package, names in re.findall(members, b"\n".join(python.values())):
        imported |= {package + b"." + name for name in re.findall(rb"\w+", names)}
    of_lab = [path for path in python if path.startswith(("grader/", "lab_tool/"))]
    assert len(of_lab) > 30
    for path in of_lab:
        module = path.removesuffix(".py").replace("/", ".").encode()
        if not path.endswith("/__init__.py") and "/verbs/" not in path:
            by_meson = path.encode() in exported.plain["chapters/meson.build"]
            assert module in imported or by_meson, path


def test_what_the_page_about_macos_builds_is_there(exported):
    page = exported.plain["docs/anywhere/macos.md"].decode()
    assert "docker build" in page
    assert "docs/anywhere/macos.md" in exported.plain["README.md"].decode()
    container = json.loads(exported.plain[".devcontainer/devcontainer.json"])
    named = [f".devcontainer/{container['build'][each]}" for each in ("dockerfile", "context")]
    assert [os.path.normpath(path) for path in named] == ["Dockerfile", "."]
    # What the image is made of takes nothing that is not in the copy.
    recipe = exported.plain["Dockerfile"].decode()
    assert re.findall(r"^COPY (.*)$", recipe, re.MULTILINE) == [". /course"]
    assert "work" in exported.plain[".dockerignore"].decode().split("\n")


def test_hints_come_along_if_they_are_asked_for(exported):
    result = export(exported.folder / "hints", "--exercises", "01.1", "--hints")
    assert result.returncode == 0, result.stderr
    (file,) = (exported.folder / "hints").rglob("chapters/*/exercises/*/exercise.py")
    assert file.read_bytes() == chosen_exercise("01.1").file.read_bytes()


def test_no_line_of_a_hint_is_anywhere_else(exported):
    hints = {
        line.strip()
        for exercise in all_exercises()
        for line in "\n".join(exercise.facts["hints"]).splitlines()
        if len(line.strip()) >= LEAST_LENGTH
    }
    assert len(hints) > 100
    every = {
        f"{name}/{path}": text for name, of in exported.exports.items() for path, text in of.items()
    }
    assert lines_that_leak(every, hints) == []
    for number in NUMBERS:
        exercise = chosen_exercise(number)
        text = exported.plain[f"{exercise.path}/{FILE}"].decode()
        assert "hints=[]," in text
        ours, theirs = (
            [line.strip() for line in each.splitlines()]
            for each in (exercise.file.read_text(encoding="utf-8"), text)
        )
        assert [line for line in theirs if line not in ours] == ["hints=[],"]


def test_every_link_leads_somewhere(exported):
    folder = exported.folder / "plain"
    links = 0
    for path, content in exported.plain.items():
        if not path.endswith(".md"):
            continue
        text = re.sub(r"^```.*?^```$", "", content.decode(), flags=re.M | re.S)
        for link in LINK.findall(text):
            target = link.partition("#")[0]
            if target and not re.match(r"[a-z]+:", target):
                links += 1
                place = (folder / path).parent / target
                assert place.exists(), f"{path}: {link}"
    assert links > 50


def test_no_document_speaks_of_a_command_that_is_not_there(exported):
    missing = {
        verb for verb, name in MODULES.items() if f"lab_tool/verbs/{name}.py" not in exported.plain
    }
    assert {"export", "new"} < missing
    for path, content in exported.plain.items():
        if path.endswith(".md"):
            said = set(re.findall(r"\./lab ([a-z][a-z-]*)", content.decode()))
            assert not said & missing, f"{path}: {said & missing}"
            assert content.count(b"```") % 2 == 0, path


def test_no_document_answers_an_exercise_or_speaks_of_mutants_to_run(exported):
    not_here = ("the answer to exercise", "./lab test mutants", "--suite mutants")
    lessons = [path for path in exported.plain if re.fullmatch(r"chapters/\w+/\w+\.md", path)]
    originals = "".join((ROOT / path).read_text(encoding="utf-8") for path in lessons)
    assert not_here[0] in originals
    assert not_here[1] in originals
    for path, content in exported.plain.items():
        if path.endswith(".md"):
            for words in not_here:
                assert words not in content.decode(), path
            assert content.count(b"<details>") == content.count(b"</details>"), path


def test_what_comes_next_is_a_commit_and_no_attempt_that_would_be_in_it(exported):
    for system, said in exported.said.items():
        assert "./lab learn" not in said, system
        assert "git init && git add . && git commit" in said, system
        assert "in a clone" in said, system
    page = (ROOT / "docs/teaching.md").read_text(encoding="utf-8")
    order = [page.index(words) for words in ("git init &&", "git clone .", "\n./lab learn\n")]
    assert order == sorted(order)


def test_the_readme_says_what_to_do_and_what_to_hand_in(exported):
    text = exported.plain["README.md"].decode()
    for words in ("# Week 4\n", "Friday, 12:00", "./lab learn", "./lab check"):
        assert words in text
    for number in NUMBERS:
        assert f"- `work/{chosen_exercise(number).file_name}`" in text
    points = sum(sum(chosen_exercise(number).points.values()) for number in NUMBERS)
    assert f"| together | | | {points} |" in text
    assert "EXPORT_" not in text


def test_students_have_their_verbs_and_no_others(exported):
    lab = [sys.executable, exported.folder / "plain/lab"]
    text = subprocess.run([*lab, "--help"], capture_output=True, text=True, check=True).stdout
    for verb in ("learn", "check", "run", "racecheck", "exercises"):
        assert re.search(rf"(?m)^(\w+)? +{verb} ", text)
    for verb in ("export", "grade", "new", "check-course"):
        assert not re.search(rf"(?m)^(\w+)? +{verb} ", text)
    listed = subprocess.run([*lab, "exercises"], capture_output=True, text=True, check=True)
    assert f"0 of {len(NUMBERS)} done" in listed.stdout


def test_a_copy_has_starters_no_solutions_and_no_hints(exported):
    lab = [sys.executable, str(exported.folder / "plain/lab")]
    with tempfile.TemporaryDirectory() as work:
        run = subprocess.run(
            [*lab, "reset", "04.2", "--work", work], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert pathlib.Path(work, "04_fullest_bin.cu").read_text("utf-8") == starter(
            chosen_exercise("04.2")
        )
        words = ["solution", "04.2", "--give-up", "--work", work]
        run = subprocess.run([*lab, *words], capture_output=True, text=True, check=False)
        assert run.returncode == 2
        assert "this copy of the course has no solutions" in run.stderr
        words = ["hint", "04.2", "--work", work]
        run = subprocess.run([*lab, *words], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, "")
        assert re.search(r"\AThis copy of the course has no hints: [^\n]*\n\Z", run.stdout)


def test_the_same_bytes_each_time(exported):
    words = ["--title", "Week 4", "--due", "Friday, 12:00"]
    build = ["--build", str(BUILD)]
    for system, numbers, more in (
        ("plain", "04.2,01.5,01.1,02.2", []),
        ("gradescope", "01.1", build),
    ):
        folder = exported.folder / f"{system}_again"
        run = export(folder, "--for", system, "--exercises", numbers, *words, *more)
        assert run.returncode == 0, run.stderr
        assert contents(folder) == exported.exports[system]


def test_what_each_system_gets(exported):
    with zipfile.ZipFile(exported.folder / "gradescope/autograder.zip") as archive:
        names = archive.namelist()
        assert "course/chapters/01_vector_add/exercises/saxpy/work.json" in names
        for name in ("setup.sh", "run_autograder"):
            assert name in names  # at the root
            mode = archive.getinfo(name).external_attr >> 16
            assert mode & 0o111, f"{name} can't be run"
    assert "autograder/autograder.py" in exported.exports["classroom50"]
    assert "autograder/course.tar" in exported.exports["classroom50"]
    assert "autograde-Makefile" in exported.exports["autolab"]
    assert "autograde.tar" in exported.exports["autolab"]
    for path in exported.exports["gradescope"]:
        if path.startswith("students/"):
            assert "grading" not in path


@pytest.mark.parametrize(
    "folder, words, says",
    [
        ("plain", ["--exercises", "01.1"], "is not empty"),
        ("plain/lab", ["--exercises", "01.1"], "that is no folder"),
        (ROOT / "docs/handout", ["--exercises", "01.1"], "is within the course itself"),
        ("none", ["--exercises", "01.9"], "there is no exercise 01.9"),
        ("none", ["--exercises", "01.1,,01.2"], "nothing between two commas"),
        ("none", ["--exercises", "01.1,saxpy"], "01.1 is there twice"),
        ("none", [], "lab export needs --exercises"),
        ("none", ["--exercises", "01.1", "--for", "gradescop"], "did you mean gradescope?"),
        ("none", ["--exercises", "01.1", "--title", "a\nb"], "--title must be one line"),
        ("none", ["--exercises", "01.1", "--build", BUILD], "--build is for a grader's export"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_wrong_use_gets_a_sentence(exported, folder, words, says):
    result = export(exported.folder / folder, *map(str, words))
    assert result.returncode == 2, result.stdout
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (exported.folder / "none").exists()


def test_a_disk_that_is_full_leaves_nothing_behind(exported):
    folder = exported.folder / "full"
    real = pathlib.Path.write_bytes

    def write(path, content):
        if path.name == "README.md":
            real(path, content[:2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, content)

    def fails(folder):
        with (
            mock.patch.object(pathlib.Path, "write_bytes", write),
            pytest.raises(CommandError, match="No space left on device; nothing is left"),
        ):
            write_folder(folder, {"lab": b"lab", "docs/README.md": b"whole"})

    fails(folder)
    assert not folder.exists()
    fails(exported.folder / "new/within/full")
    assert not (exported.folder / "new").exists()
    folder.mkdir()
    fails(folder)
    assert list(folder.iterdir()) == []
    folder.rmdir()


@pytest.mark.parametrize("full", ("README.md", "autograder.zip"))
def test_a_grader_that_can_t_be_written_takes_the_students_part_along(exported, full):
    real = pathlib.Path.write_bytes
    words = ["--exercises", "01.1", "--for", "gradescope"]
    folder = exported.folder / "too_much"

    def write(path, content, full=full):
        if path.name == full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, content)

    with (
        mock.patch.object(pathlib.Path, "write_bytes", write),
        mock.patch("lab_tool.verbs.export.recorded_files", lambda *_: {}),
        pytest.raises(CommandError, match="nothing is left of the export"),
    ):
        EXPORT.act(parse("export", EXPORT, [str(folder), *words], None))
    assert not folder.exists(), full


def test_examples_are_exercises_for_marks():
    for verb in (EXPORT, GRADE):
        for command, _ in verb.examples:
            assert "04.1" not in command
