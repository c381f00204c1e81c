# SPDX-License-Identifier: MIT
"""What a check judges while files are saved, and where it finds the threads of a launch that does not end."""

import concurrent.futures
import contextlib
import io
import pathlib
import re
import threading
import time
import types
from unittest import mock

import pytest

from engine.command import recipe as single_file
from engine.command.build_folder import BuildFolder, settings_of
from engine.command.diagnostics import records_in
from engine.command.drawing import Figure
from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.work_folder import CHECKED, DONE, WorkFolder
from grader.judging import check as home_check
from grader.judging import judge
from grader.judging.compile import SCHEDULED, ExerciseBuilds
from grader.judging.races import Races
from grader.judging.results import places_of_threads
from grader.judging.runner import LocalRunner, OutOfTime
from grader.judging.verdict import COMPILE_ERROR, FAILED, PASSED, TIMED_OUT, Verdict
from this_build import BUILD

EXERCISE = chosen_exercise("01.1")
BUILDS = ExerciseBuilds(None, None)


class Picture:
    """The picture of a race lies next to the student's file, among files of theirs."""

    def __init__(self, folder):
        self.picture = folder / "01_saxpy.svg"

    def check(self, drawn):
        verdict = Verdict({"races": FAILED}, ["a race"], status=COMPILE_ERROR, race_picture=drawn)
        with (
            mock.patch.object(home_check, "LocalRunner"),
            mock.patch.object(home_check, "verdict_of", return_value=verdict),
            mock.patch.object(home_check, "cases_of"),
            mock.patch.object(home_check, "ExerciseCases"),
        ):
            return home_check.check(None, EXERCISE, pathlib.Path("01_saxpy.cu"), self.picture)


@pytest.fixture
def picture(tmp_path):
    return Picture(tmp_path)


def test_it_replaces_and_removes_that_of_an_earlier_check(picture):
    drawn = Figure(100, "title", "description").svg()
    for _ in range(2):
        assert picture.check(drawn).picture == picture.picture
        assert picture.picture.read_text(encoding="utf-8") == drawn
    picture.check("")
    assert not picture.picture.exists()


def test_it_neither_replaces_nor_removes_a_picture_of_the_students(picture):
    picture.picture.write_text("<svg>mine</svg>", encoding="utf-8")
    for drawn in ("", "<svg/>"):
        verdict = picture.check(drawn)
        assert verdict.picture is None
        assert picture.picture.read_text(encoding="utf-8") == "<svg>mine</svg>"
    assert re.search("01_saxpy.svg: a file of another kind is there", verdict.lines[-1])


class SavedMeanwhile:
    def __init__(self, folder):
        self.work = WorkFolder(folder)
        self.file = self.work.file_of(EXERCISE)

    def checked(self, saves):
        """The Verdict if the file has these texts, one after the other, at each check."""
        texts = iter(saves)
        self.file.write_text(next(texts), encoding="utf-8")

        def check(build, exercise, source, *_):
            is_right = source.read_text(encoding="utf-8") == "right"
            with contextlib.suppress(StopIteration):
                source.write_text(next(texts), encoding="utf-8")
            return Verdict({"results": PASSED if is_right else FAILED}, [])

        with mock.patch.object(home_check, "check", check):
            return home_check.checked(BUILDS, EXERCISE, self.file, self.work)


@pytest.fixture
def saved_meanwhile(tmp_path):
    return SavedMeanwhile(tmp_path)


def test_a_right_text_that_is_gone_does_not_count(saved_meanwhile):
    assert not saved_meanwhile.checked(["right", "wrong"]).is_solved
    assert saved_meanwhile.work.state(EXERCISE) == CHECKED


def test_a_wrong_text_that_is_gone_does_not_count(saved_meanwhile):
    assert saved_meanwhile.checked(["wrong", "right"]).is_solved
    assert saved_meanwhile.work.state(EXERCISE) == DONE


def test_a_file_that_never_rests(saved_meanwhile):
    with pytest.raises(CommandError, match="changes all the time"):
        saved_meanwhile.checked([str(number) for number in range(100)])


def test_all_that_ask_at_once_get_the_form_that_they_ask_for():
    build = mock.Mock(can_observe=True, settings={"backend": "cpu"})
    runs = 20
    all_are_there = threading.Barrier(runs)
    begun = []

    def submit(put, ended, form, *_):
        begun.append(form)
        time.sleep(0.01)  # as the first of them does while it starts its thread
        put(ended, form, lambda: form)

    with (
        LocalRunner(build, EXERCISE, None) as runner,
        mock.patch.object(runner, "pool", mock.Mock(submit=submit)),
    ):

        def ask(_):
            all_are_there.wait()
            return runner.compiled(SCHEDULED)

        with concurrent.futures.ThreadPoolExecutor(runs) as pool:
            assert list(pool.map(ask, range(runs))) == [SCHEDULED] * runs
    assert len(begun) == 2


class CompiledMeanwhile:
    def __init__(self, folder):
        self.source = folder / "saved.cu"
        self.save(0)
        self.recipe = single_file.Recipe(
            BuildFolder(BUILD, {}),
            settings_of(BUILD),
            [str(self.source)],
            single_file.CONCURRENT,
            files=folder,
        )

    def save(self, result):
        self.source.write_text(f"int main() {{ return {result}; }}\n", encoding="utf-8")


@pytest.fixture
def compiled_meanwhile(tmp_path):
    return CompiledMeanwhile(tmp_path)


def test_a_program_of_an_older_text_is_not_current(compiled_meanwhile):
    def watch(step, read_line):
        code = real_watch(step, read_line)
        compiled_meanwhile.save(1)
        return code

    real_watch = single_file.watch
    with contextlib.redirect_stderr(io.StringIO()):
        compiled_meanwhile.recipe.compile()
        assert compiled_meanwhile.recipe.is_current()
        compiled_meanwhile.save(2)
        with mock.patch.object(single_file, "watch", watch):
            compiled_meanwhile.recipe.compile()
    assert not compiled_meanwhile.recipe.is_current()


def test_two_at_once_compile_it_once(compiled_meanwhile):
    steps = []

    def watch(step, read_line):
        steps.append(step)
        return real_watch(step, read_line)

    real_watch = single_file.watch
    with mock.patch.object(single_file, "watch", watch):
        both = [threading.Thread(target=compiled_meanwhile.recipe.compile) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
    assert compiled_meanwhile.recipe.is_current()
    assert len(steps) == len(compiled_meanwhile.recipe._steps())


LOOP = b"""\
{"kind":"never_ends","seconds":5,"launched_at":{"file":"/a b/own.cu","line":29}}
{"kind":"waiting","block":[3,0,0],"thread":[25,0,0],"more":62,"awaits":"the_blocks_barrier",\
"at":{"file":"/a b/own.cu","line":9}}
{"kind":"running","block":[3,0,0],"thread":[15,0,0]}
{"kind":"plain_poll","block":[3,0,0],"thread":[15,0,0],"poll":"loops_without_reading",\
"at":{"file":"/a b/own.cu","line":15}}
{"kind":"fault","block":[3,0,0],"thread":[15,0,0],"what":"stopped","why":"time_was_over",\
"at":{"file":"/a b/own.cu","line":15}}
"""
DEADLOCK = b"""\
{"kind":"deadlock","launched_at":{"file":"own.cu","line":29}}
"""
AT_BARRIER = b"""\
{"kind":"waiting","block":[9,0,0],"thread":[1,0,0],"more":30,"awaits":"the_blocks_barrier",\
"at":{"file":"own.cu","line":17}}
"""
WAITING = """\
{"kind":"waiting","block":[%d,0,0],"thread":[0,0,0],"awaits":"a_value_in_memory",\
"at":{"file":"own.cu","line":15}}
"""


def places(content, width=60):
    return places_of_threads(records_in(content), width)


def waiting(*blocks):
    return "".join(WAITING % block for block in blocks).encode()


def test_a_loop_that_does_not_read_again():
    assert places(LOOP) == [
        "block 3 thread 25 and 62 more wait at the block's barrier    line 9",
        "block 3 thread 15 is in a loop    line 15",
        "The compiler reads what it waits for once, before the loop.",
        "Such a loop polls without an atomic, so it need never see",
        "what another thread writes: read by cuda::atomic_ref, or by",
        "volatile with a fence.",
    ]


def test_many_blocks():
    content = DEADLOCK + waiting(*range(3))
    three = [f"block {n} thread 0 waits for a value in memory    line 15" for n in range(3)]
    assert places(content) == three
    assert places(content + waiting(3)) == [*three, "and 1 more place"]
    content += waiting(3, 4)
    assert places(content) == [*three, "and 2 more places"]


def test_of_many_places_those_that_others_wait_for():
    at_barrier = "block 9 thread 1 and 30 more wait at the block's barrier    line 17"
    loops = [f"block {n} thread 0 waits for a value in memory    line 15" for n in range(3)]
    few = DEADLOCK + AT_BARRIER + waiting(0)
    assert places(few) == [at_barrier, loops[0]]
    many = DEADLOCK + 2 * AT_BARRIER + waiting(*range(3))
    assert places(many) == [*loops, "and 2 more places"]


def test_a_block_that_begins_late():
    late = b'{"kind":"late_block","block":[2,0,0]}\n'
    assert places(DEADLOCK + waiting(0) + late) == [
        "block 0 thread 0 waits for a value in memory    line 15",
        "Block 2 has not begun: it begins late, when another block",
        "has come further.",
    ]


@pytest.mark.parametrize(
    "content", [b"", DEADLOCK, b'{"kind":"running","block":[1,0,0],"thread":[0,0,0]}\n']
)
def test_other_records(content):
    assert places(content) == []


def test_a_race_keeps_its_diagnoses_if_no_time_is_left_for_old_values():
    def out_of_time(*_):
        raise OutOfTime

    exercise = types.SimpleNamespace(is_program=True)
    runs = types.SimpleNamespace(cases=[], race_cases=[], exercise=exercise, scheduled=out_of_time)
    found = Races([{"diagnosis": ["missing_acquire"]}], None, "", (), 1, 20)
    part = judge._racing(runs, judge.Asked(), judge.JudgedPart(), found)
    assert (part.diagnoses, part.lines) == (("missing_acquire",), [judge.OUT_OF_TIME])
    assert part.status == TIMED_OUT
