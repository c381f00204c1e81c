# SPDX-License-Identifier: MIT
"""A student's files: nothing of theirs is lost, and their state is that of the files."""

import os
from unittest import mock

import pytest

from engine.command.errors import CommandError
from grader.exercises import solutions
from grader.exercises.catalogue import all_exercises
from grader.exercises.solutions import starter
from grader.exercises.work_folder import BEGUN, CHECKED, DONE, NOT_BEGUN, WorkFolder

EXERCISE = all_exercises()[0]


@pytest.fixture
def work(tmp_path):
    return WorkFolder(tmp_path / "work")


@pytest.fixture
def file(work):
    return work.file_of(EXERCISE)


def test_a_file_is_begun_once(work, file):
    assert work.begin(EXERCISE)
    assert file.read_text(encoding="utf-8") == starter(EXERCISE)
    file.write_text("mine\n", encoding="utf-8")
    assert not work.begin(EXERCISE)
    assert file.read_text(encoding="utf-8") == "mine\n"


def test_the_state_is_that_of_the_content(work, file):
    assert work.state(EXERCISE) == NOT_BEGUN
    work.begin(EXERCISE)
    assert work.state(EXERCISE) == NOT_BEGUN
    file.write_bytes(b"one\n")
    assert work.state(EXERCISE) == BEGUN
    work.remember_check(EXERCISE, b"one\n", is_solved=False)
    assert work.state(EXERCISE) == CHECKED
    file.write_bytes(b"two\n")
    assert work.state(EXERCISE) == BEGUN
    work.remember_check(EXERCISE, b"two\n", is_solved=True)
    assert work.state(EXERCISE) == DONE
    file.unlink()
    assert work.state(EXERCISE) == NOT_BEGUN
    assert work.was_solved(EXERCISE)


def test_notes_that_are_no_notes_are_none(work):
    work.remember_check(EXERCISE, b"", is_solved=True)
    (note,) = (work.folder / ".checked").iterdir()
    for content in (b"", b"[1]", b"\xff{"):
        note.write_bytes(content)
        assert not work.was_solved(EXERCISE)


def test_reset_keeps_the_text_under_another_name_each_time(work, file):
    texts = {b"first \xff\n", b"second\n"}
    for text in texts:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text)
        backup = work.reset(EXERCISE)
        assert backup.read_bytes() == text
        assert file.read_text(encoding="utf-8") == starter(EXERCISE)
    kept = {path.read_bytes() for path in work.folder.glob("*.cu")}
    assert texts < kept


@pytest.mark.parametrize(
    "call", ("os.fsync", "os.link", "os.chmod", "pathlib.Path.replace", "tempfile.mkstemp")
)
def test_a_reset_that_is_ended_anywhere_loses_nothing(work, file, call):
    """Each call that changes the disk fails once: the text is in some file all the same."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"mine\n")
    full = mock.patch(call, side_effect=OSError(28, "No space left on device"))
    with full, pytest.raises(OSError):
        work.reset(EXERCISE)
    assert file.read_bytes() == b"mine\n"


def test_no_link_is_written_through(work, file):
    work.folder.mkdir(exist_ok=True)
    other = work.folder / "mine.txt"
    other.write_bytes(b"mine\n")
    file.symlink_to(other)
    with pytest.raises(CommandError, match=r"is a link to .*mine\.txt, and lab writes through"):
        work.reset(EXERCISE)
    file.unlink()
    file.symlink_to("not_there")
    for write in (work.begin, work.reset, work.require_place_of):
        with pytest.raises(CommandError, match="is a link to not_there"):
            write(EXERCISE)
    assert other.read_bytes() == b"mine\n"
    assert len(os.listdir(work.folder)) == 2


def test_hints_come_one_by_one_and_the_last_stays(work):
    assert [work.next_hint(EXERCISE, 3) for _ in range(4)] == [0, 1, 2, 2]


def test_a_file_that_comes_up_meanwhile_is_not_overwritten(work, file):
    def appear(text, name="the solution"):
        del name
        file.write_bytes(b"mine\n")
        return text

    work.folder.mkdir()
    with (
        mock.patch.object(solutions, "starter_of", appear),
        pytest.raises(FileExistsError),
    ):
        work.begin(EXERCISE)
    assert file.read_bytes() == b"mine\n"
