# SPDX-License-Identifier: MIT
"""What a command writes for its user: no file of theirs is lost, no link is followed, and a full disk
leaves all as it was."""

import errno
import json
import os
import re
import subprocess
import sys
from unittest import mock

import pytest

from engine.command.checking import RESULTS
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.drawing import Figure
from engine.command.errors import CommandError
from engine.command.output_files import NamedOutputs, make_own_folder, write_new, write_whole
from lab_runs import needs_racecheck
from lab_tool.authoring.new_exercise import TEMPLATES, make_folder
from lab_tool.builds.recorded_runs import BEGINNING as RECORDED_RUN
from lab_tool.builds.recorded_runs import recorded
from lab_tool.verbs.exercises import VERDICTS
from test_setup import captured
from this_build import BUILD, ROOT

FULL = OSError(errno.ENOSPC, "No space left on device")
MINE = b"my thesis\n"


class Scratch:
    def __init__(self, folder):
        self.folder = folder
        self.thesis = self.folder / "thesis.txt"
        self.thesis.write_bytes(MINE)

    def link(self, name="link"):
        """A link to the thesis."""
        path = self.folder / name
        path.symlink_to(self.thesis)
        return path

    def assert_nothing_is_lost(self, *others):
        assert self.thesis.read_bytes() == MINE
        assert set(os.listdir(self.folder)) == {"thesis.txt", *others}


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path)


def test_a_link_is_replaced_and_not_followed(scratch):
    link = scratch.link()
    write_whole(link, "new")
    assert not link.is_symlink()
    assert link.read_text(encoding="utf-8") == "new"
    scratch.assert_nothing_is_lost("link")


def test_a_new_file_takes_no_links_place(scratch):
    with pytest.raises(FileExistsError):
        write_new(scratch.link(), "new")
    with pytest.raises(FileExistsError):
        write_new(scratch.thesis, "new")
    scratch.assert_nothing_is_lost("link")


@pytest.mark.parametrize("call", ["os.fsync", "os.chmod", "tempfile.mkstemp"])
@pytest.mark.parametrize("write", [write_whole, write_new])
def test_a_full_disk_leaves_the_old_file_and_names_it(scratch, call, write):
    with mock.patch(call, side_effect=FULL), pytest.raises(OSError) as raised:
        write(scratch.thesis, "new")
    assert os.path.basename(raised.value.filename) == "thesis.txt"
    scratch.assert_nothing_is_lost()


def test_the_mode_is_the_old_files_or_what_the_umask_leaves(scratch):
    scratch.thesis.chmod(0o640)
    write_whole(scratch.thesis, MINE)
    old = os.umask(0o077)
    try:
        write_whole(scratch.folder / "new", "")
    finally:
        os.umask(old)
    modes = [os.stat(scratch.folder / name).st_mode & 0o777 for name in ("thesis.txt", "new")]
    assert modes == [0o640, 0o600]


def test_a_name_as_long_as_a_name_may_be(scratch):
    path = scratch.folder / ("n" * 255)
    write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "new"


def test_a_folder_of_labs_own_is_no_link(scratch):
    other = scratch.folder / "other"
    other.mkdir()
    (scratch.folder / "own").symlink_to(other)
    with pytest.raises(CommandError, match=r"is a link to .*other, and nothing is written"):
        make_own_folder(scratch.folder / "own")
    make_own_folder(other)


class Naming(Scratch):
    """What an option may name."""

    def refuses(self, path, says, force=False, inputs=(), beginning=PICTURE):
        with pytest.raises(CommandError, match=says) as raised:
            NamedOutputs(force, inputs).add("--picture", str(path), beginning)
        assert raised.value.code == 2
        assert "\n" not in str(raised.value)


@pytest.fixture
def named(tmp_path):
    return Naming(tmp_path)


def test_a_file_of_another_kind(named):
    named.refuses(named.thesis, "--picture .*thesis.txt: a file of another kind .* add --force")
    named.thesis.write_bytes(b'<?xml version="1.0" encoding="UTF-8"?>\n<svg width="600">')
    named.refuses(named.thesis, "a file of another kind is there")
    NamedOutputs(True).add("--picture", str(named.thesis), PICTURE).write("new")
    assert named.thesis.read_text(encoding="utf-8") == "new"


def test_an_input_whatever_its_name_and_with_force_too(named):
    os.link(named.thesis, named.folder / "same")
    for path in (named.thesis, named.folder / "same"):
        named.refuses(path, "reads or writes that file itself", True, [str(named.thesis)])


def test_a_link_a_folder_a_pipe_a_device(named):
    os.mkfifo(named.folder / "pipe")
    named.refuses(named.link(), "is a link to .*thesis.txt, and nothing is written", force=True)
    named.refuses(named.link("other"), "is a link to", inputs=[str(named.thesis)])
    (named.folder / "nowhere").symlink_to("not_there")
    named.refuses(named.folder / "nowhere", "is a link to not_there")
    for path in (named.folder, named.folder / "pipe", "/dev/full", "/dev/stdout"):
        named.refuses(path, "no regular file|is a link")
    named.refuses(named.folder / "no/such/file", "there is no folder")
    named.refuses(named.folder / ("n" * 300), "File name too long")
    named.refuses(named.thesis / "below", "Not a directory|there is no folder")


def test_two_options_that_name_one_file(named):
    outputs = NamedOutputs(False)
    outputs.add("--json", str(named.folder / "a"), RESULTS)
    with pytest.raises(CommandError, match="--picture and --json name the same file"):
        outputs.add("--picture", str(named.folder / "../") + f"/{named.folder.name}/a", PICTURE)


def test_a_file_that_comes_up_meanwhile(named):
    file = NamedOutputs(False).add("--json", str(named.folder / "new"), RESULTS)
    (named.folder / "new").write_bytes(MINE)
    with pytest.raises(CommandError, match="a file of another kind is there"):
        file.write("new")
    assert file.remove() is not None
    assert (named.folder / "new").read_bytes() == MINE


def test_what_lab_writes_is_known_again(named):
    made = {
        PICTURE: Figure(100, "title", "description").svg(),
        RESULTS: json.dumps([{"program": "a"}], indent=2),
        VERDICTS: json.dumps([{"exercise": "04.2"}], indent=2),
        RECORDED_RUN: recorded({"not_run": [], "rows": []}, {"format": 1, "backend": "cpu"}),
    }
    for beginning, content in made.items():
        named.thesis.write_text(content, encoding="utf-8")
        NamedOutputs(False).add("--json", str(named.thesis), beginning).require_writable()
        for other in set(made) - {beginning}:
            named.refuses(named.thesis, "of another kind", beginning=other)
    named.thesis.write_bytes(b"")  # as mktemp makes it
    NamedOutputs(False).add("--json", str(named.thesis), RESULTS).require_writable()


class Verbs(Scratch):
    """Refused before anything is built or run."""

    def __init__(self, folder):
        super().__init__(folder)
        self.source = self.folder / "keep.cu"
        self.source.write_text("int main() {}\n", encoding="utf-8")
        self.before = self.source.read_bytes()

    def refuses(self, *words, says, code=2):
        result = captured(
            [sys.executable, ROOT / "lab", *map(str, words)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        assert (result.returncode, result.stdout) == (code, ""), result.stderr
        assert re.search(r"\Alab: [^\n]+\n\Z", result.stderr)
        assert re.search(says, result.stderr)
        assert self.source.read_bytes() == self.before
        assert self.thesis.read_bytes() == MINE


@pytest.fixture
def verbs(tmp_path):
    return Verbs(tmp_path)


def test_an_input_of_the_command(verbs):
    for force in ((), ("--force",)):
        verbs.refuses("racecheck", "keep.cu", "--json", "keep.cu", *force, says="that file itself")
    verbs.source.chmod(0o755)
    verbs.refuses("racecheck", "--program", "keep.cu", "--json", "keep.cu", says="that file itself")
    verbs.source.chmod(0o644)
    chapter = ROOT / "chapters/04_last_block_guard/last_block.cuh"
    verbs.refuses("racecheck", "04", "--json", chapter, "--force", says="that file itself")
    verbs.source = verbs.source.rename(verbs.folder / "04_fullest_bin.cu")
    words = ["check", "04_fullest_bin.cu", "--json", "04_fullest_bin.cu"]
    verbs.refuses(*words, says="that file itself")


def test_a_file_of_the_users(verbs):
    kept = "a file of another kind is there, and would be lost"
    picture = verbs.thesis.with_suffix(".svg")
    verbs.thesis.rename(picture)
    verbs.thesis = picture
    verbs.refuses("racecheck", "keep.cu", "--picture", picture, says=kept)
    verbs.refuses("trace", "05", "--output", picture, says=kept)
    for words in (["racecheck", "keep.cu"], ["trace", "05"], ["bench", "--backend", "cpu"]):
        verbs.refuses(*words, "--json", picture, says=kept)
    verbs.source = verbs.source.rename(verbs.folder / "04_fullest_bin.cu")
    verbs.refuses("check", "04_fullest_bin.cu", "--json", picture, says=kept)
    words = ["exercises", "--write-cases", "04.2", picture]
    verbs.refuses(*words, says=f"{kept}: choose another name\\.$")


def test_a_link(verbs):
    link = verbs.link("link.svg")
    verbs.refuses("racecheck", "keep.cu", "--json", link, says="is a link to .*thesis.txt")
    verbs.refuses("trace", "05", "--output", link, "--force", says="is a link to")
    verbs.refuses("site", "--output", link, says="is a link to")
    work = verbs.folder / "work"
    work.mkdir()
    (work / "04_fullest_bin.cu").symlink_to(verbs.thesis)
    verbs.refuses("reset", "04.2", "--work", work, says="is a link to .*thesis.txt, and lab wr")
    (work / "01_saxpy.cu").symlink_to("not_there")
    verbs.refuses("reset", "01.1", "--work", work, says="is a link to not_there")
    (work / ".checked").symlink_to(verbs.folder)
    verbs.refuses("hint", "01.1", "--work", work, says="is a link to", code=1)
    verbs.refuses("export", link, "--exercises", "04.2", says="that is no folder")


def test_two_options_and_one_file(verbs):
    words = ["racecheck", "keep.cu", "--json", "a.svg", "--picture", "./a.svg"]
    verbs.refuses(*words, says="--picture and --json name the same file")
    words = ["trace", "05", "--json", "a.svg", "--output", "a.svg"]
    verbs.refuses(*words, says="--json and --output name the same file")


def test_a_program_that_is_built_and_something_to_build(verbs):
    verbs.refuses("racecheck", "04", "--program", "/bin/true", says="leave 04 out")
    verbs.refuses("racecheck", "keep.cu", "--program", "x", says="leave keep.cu out")
    verbs.refuses("racecheck", "--program", "x", "-DN=4", says="leave -DN=4 out")
    verbs.refuses("racecheck", "--program", verbs.folder, says="is a folder, and a file is needed")
    verbs.refuses("racecheck", "--program", "keep.cu", says="is no program that can be started")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk to be had")
def test_a_full_disk_below_standard_output():
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [sys.executable, ROOT / "lab", "exercises"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    said = "lab: standard output: No space left on device.\n"
    assert (result.returncode, result.stderr) == (1, said)


@needs_racecheck
def test_its_own_files_are_written_again(verbs):
    verbs.source.write_text(
        "__global__ void all(int* p) { *p = threadIdx.x; }\n"
        "int main() { int* p; cudaMalloc(&p, 4); all<<<2, 32>>>(p); cudaDeviceSynchronize(); }\n",
        encoding="utf-8",
    )
    words = ["racecheck", "--build", str(BUILD), "keep.cu", "--seeds", "1"]
    words += ["--json", "found.json", "--picture", "race.svg"]
    for _ in range(2):
        result = captured([sys.executable, ROOT / "lab", *words], cwd=verbs.folder)
        assert result.returncode == 1, result
        assert "drawn in race.svg" in result.stdout
        verbs.assert_nothing_is_lost("keep.cu", "found.json", "race.svg")


# ./lab new: all of a folder or nothing.


def test_a_full_disk_at_each_moment(scratch):
    folder = scratch.folder / "exercises/new"
    number = 0
    while True:
        number += 1
        calls = iter([None] * (number - 1) + [FULL])

        def fsync(handle, calls=calls):
            problem = next(calls, None)
            if problem:
                raise problem

        with mock.patch("os.fsync", fsync):
            try:
                made = make_folder(folder, TEMPLATES / "exercise", {})
                break
            except OSError as error:
                assert error.filename, "the file has no name"
        assert os.listdir(folder.parent) == []
    assert number > 3  # files, and at each of them the disk was full once
    assert all(file.is_file() for file in made)
