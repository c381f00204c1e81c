# SPDX-License-Identifier: MIT
"""What `--executor slurm` does with tasks that are lost, by a Slurm that is played."""

import argparse
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from unittest import mock

import pytest

from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.submission import Judgement, part_row
from grader.judging.verdict import OK
from grader.submissions import slurm
from grader.submissions.run_folder import course_digest, opened_run
from this_build import ROOT

EXERCISE = chosen_exercise("01.1")
ARGUMENTS = argparse.Namespace(jobs=2, backend="cpu", build=None, require_sandbox=False)
RIGHT = Judgement(OK, [part_row(EXERCISE, "results", 6)], "", [])


class PlayedSlurm:
    """Its tasks judge at once whatever `does` says, and are gone."""

    def __init__(self, run, does):
        self.run, self.does = run, does
        self.rounds, self.options, self.canceled = [], [], []

    def submit(self, script, tasks, at_once, minutes, folder, options=()):
        batches = []
        for number in range(tasks):
            rows = json.loads((folder / f"batch_{number}.json").read_text("utf-8"))["units"]
            batches.append([row["name"] for row in rows])
            failed = {}
            for name in batches[-1]:
                outcome = self.does(len(self.rounds) + 1, name)
                if outcome == "judged":
                    self.run.keep(self.units[name], RIGHT, 1.0)
                elif outcome.startswith("says "):
                    (folder / f"task_{number}.txt").write_text(f"{outcome[5:]}\n\n", "utf-8")
                elif outcome == "failed":
                    failed[name] = RIGHT._replace(status="XX")._asdict()
            if failed:
                (folder / f"failed_{number}.json").write_text(json.dumps(failed), "utf-8")
        self.rounds.append(batches)
        self.options.append(options)
        assert script.read_text("utf-8").startswith("#!/bin/sh\n")
        return str(len(self.rounds))

    def tasks(self, array):
        return []

    def cancel(self, array):
        self.canceled.append(array)
        return True


class Rounds:
    def __init__(self, folder):
        self.run_folder = opened_run(folder / "out", "seed", ("none", "cpu"))
        self.units = [self.run_folder.take(EXERCISE, b"%d" % number) for number in range(100)]

    def judged(self, does, played=PlayedSlurm):
        self.played = played(self.run_folder, does)
        self.played.units = {unit.name: unit for unit in self.units}
        with (
            mock.patch.object(slurm, "Slurm", lambda: self.played),
            mock.patch("sys.stderr", new_callable=io.StringIO) as self.said,
        ):
            return slurm.judge_on_cluster(
                ARGUMENTS, self.run_folder, self.units, "lab_tool.grading.slurm_batch"
            )


@pytest.fixture
def rounds(tmp_path, monkeypatch):
    for name in ("POLL_SECONDS", "GRACE_SECONDS"):
        monkeypatch.setattr(slurm, name, 0)
    return Rounds(tmp_path)


def test_one_round_if_nothing_is_lost(rounds):
    assert rounds.judged(lambda number, name: "judged") == {}
    assert len(rounds.played.rounds) == 1
    assert sum(map(len, rounds.played.rounds[0])) == 100
    assert rounds.judged(lambda number, name: "judged") == {}
    assert rounds.played.rounds == [], "what is kept was judged once more"


def test_each_task_has_a_gpu_of_its_own_if_there_is_to_be_one(rounds):
    rounds.judged(lambda number, name: "judged")
    rounds.run_folder.conditions = ("none", "cuda")
    before = rounds.played.options
    rounds.judged(lambda number, name: "judged")
    assert (before, rounds.played.options) == ([[]], [["--gres=gpu:1"]])


def test_what_is_lost_is_tried_again_in_smaller_batches(rounds):
    lost = {unit.name for unit in rounds.units[:40]}
    failed = rounds.judged(
        lambda number, name: "judged" if number == 3 or name not in lost else "lost"
    )
    assert failed == {}
    sizes = [max(map(len, batches)) for batches in rounds.played.rounds]
    assert sizes == [13, 3, 1]
    for batches in rounds.played.rounds[1:]:
        assert {name for batch in batches for name in batch} == lost


def test_what_no_round_judges_is_named_and_the_rest_is_kept(rounds):
    bad = rounds.units[7].name
    failed = rounds.judged(lambda number, name: "lost" if name == bad else "judged")
    assert list(failed) == [bad]
    assert failed[bad].status == "XX"
    assert "no task of Slurm came to its end" in failed[bad].parts[0]["lines"][0]
    assert "1 submission was not judged in 3 rounds" in rounds.said.getvalue()
    assert len(rounds.played.rounds) == 3
    assert rounds.judged(lambda number, name: "judged") == {}


def test_what_the_last_task_said_is_told(rounds):
    """Else the grader looks for the one sentence in a folder of a thousand files."""
    bad = rounds.units[7].name
    rounds.judged(lambda number, name: f"says {number}: no" if name == bad else "judged")
    assert "The last task said: 3: no\n" in rounds.said.getvalue()
    rounds.judged(lambda number, name: "judged")
    assert "said" not in rounds.said.getvalue()


def test_tasks_that_ask_for_more_time_than_they_may_have_end_the_run(rounds):
    class Waiting(PlayedSlurm):
        polls = 0

        def tasks(self, array):
            self.polls += 1
            return [slurm.Task("PENDING", reason)] if self.polls < 9 else []

    for reason in ("PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit"):
        with pytest.raises(
            CommandError,
            match=f"will not start .*\\({reason}\\).* asks for 49 minutes, .* larger --jobs",
        ):
            rounds.judged(lambda number, name: "lost", Waiting)
        assert rounds.played.canceled[-1:] == ["1"]


def test_what_breaks_the_grader_is_not_tried_again(rounds):
    bad = rounds.units[7].name
    failed = rounds.judged(lambda number, name: "failed" if name == bad else "judged")
    assert (list(failed), failed[bad].status) == ([bad], "XX")
    assert len(rounds.played.rounds) == 1


def test_a_slurm_that_is_silent_for_long(rounds):
    class Silent(PlayedSlurm):
        def tasks(self, array):
            return None

    with (
        mock.patch.object(slurm, "PATIENCE_SECONDS", 0),
        pytest.raises(CommandError, match=r"has not answered .* what is finished is kept"),
    ):
        rounds.judged(lambda number, name: "lost", Silent)
    assert rounds.played.canceled == ["1"]


def test_tasks_that_do_not_start_are_told_once(rounds):
    class Waiting(PlayedSlurm):
        polls = 0

        def tasks(self, array):
            self.polls += 1
            waits = slurm.Task("PENDING", "Resources")
            return [waits] if self.polls < 9 else []

    with mock.patch.object(slurm, "IDLE_SECONDS", -1):
        rounds.judged(lambda number, name: "judged" if number > 1 else "lost", Waiting)
    assert rounds.said.getvalue().count("Slurm says: Resources.") == 1


def test_an_array_of_a_call_that_was_killed_is_ended(rounds):
    (rounds.run_folder.folder / "slurm").mkdir()
    (rounds.run_folder.folder / "slurm/array").write_text("4711", "utf-8")
    rounds.judged(lambda number, name: "judged")
    assert rounds.played.canceled == ["4711", "1"]
    rounds.judged(lambda number, name: "judged")
    assert rounds.played.canceled == [], "an array was ended that is none of ours by now"


def test_an_array_that_could_not_be_ended_is_remembered(rounds):
    class Silent(PlayedSlurm):
        def cancel(self, array):
            return False

    rounds.judged(lambda number, name: "judged", Silent)
    assert (rounds.run_folder.folder / "slurm/array").read_text("utf-8") == "1"


def test_tasks_get_the_build_folder_wherever_they_begin(rounds):
    arguments = argparse.Namespace(**{**vars(ARGUMENTS), "build": "build-mine"})
    with mock.patch(f"{__name__}.ARGUMENTS", arguments):
        rounds.judged(lambda number, name: "judged")
    file = next((rounds.run_folder.folder / "slurm").glob("*/batch_0.json"))
    build = json.loads(file.read_text("utf-8"))["build"]
    assert build == str(pathlib.Path("build-mine").absolute())


@pytest.mark.parametrize("count", [1, 19, 1000, 1001, 50_000])
def test_arrays_stay_within_slurms_limit(count):
    for number in (1, 2, 3):
        size = slurm.batch_size(count, 64, number)
        assert -(-count // size) <= slurm.MOST_TASKS
        assert size >= 1


class Commands:
    """The real commands' answers, played by scripts."""

    def __init__(self, folder):
        self.folder = folder
        for name in slurm.COMMANDS:
            self.plays(name, "exit 0")

    def plays(self, name, script):
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)

    def submit(self, *options):
        return slurm.Slurm().submit(self.folder / "s", 3, 2, 9, self.folder, options)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return Commands(tmp_path)


def test_an_array_gets_its_number(commands):
    commands.plays("sbatch", "echo '12;cluster'")
    assert commands.submit() == "12"


def test_options_come_before_the_script(commands):
    commands.plays(
        "sbatch", 'for word; do before=$last; last=$word; done; test "$before" = -x && echo 7'
    )
    assert commands.submit("-x") == "7"


def test_a_folder_with_a_percent_sign_is_no_pattern(commands):
    """Slurm puts the number of the task in the place of %a."""
    commands.plays("sbatch", f'echo "$@" > {commands.folder}/words; echo 7')
    slurm.Slurm().submit(commands.folder / "s", 3, 2, 9, pathlib.Path("/x/100%a b"))
    assert "--output=/x/100%%a b/task_%a.txt" in (commands.folder / "words").read_text("utf-8")


def test_an_array_that_is_refused(commands):
    commands.plays("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
    with pytest.raises(CommandError, match=r"has not taken the job: .*invalid account"):
        commands.submit()


def test_tasks(commands):
    commands.plays("squeue", "echo 'RUNNING|None'; echo 'PENDING|Resources'")
    tasks = slurm.Slurm().tasks("12")
    assert [task.is_running for task in tasks] == [True, False]
    commands.plays("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert slurm.Slurm().tasks("12") == []
    commands.plays("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1")
    assert slurm.Slurm().tasks("12") is None


def test_whether_slurm_has_heard_of_an_end(commands):
    commands.plays("scancel", "exit 0")
    assert slurm.Slurm().cancel("12")
    commands.plays("scancel", "echo 'Unable to contact slurm controller' >&2; exit 1")
    assert not slurm.Slurm().cancel("12")


def test_without_slurm_one_sentence(commands):
    (commands.folder / "squeue").unlink()
    with pytest.raises(CommandError, match="there is no squeue here") as caught:
        slurm.Slurm()
    assert caught.value.code == 2


def judged_by_task(conditions, course):
    """What a task says of a batch of one submission, which it must not judge."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = opened_run(folder / "out", "seed", conditions)
        unit = run.take(EXERCISE, b"text")
        batch = {
            **{"output": str(run.folder), "conditions": list(run.conditions)},
            **{"backend": "cpu", "require_sandbox": False, "course": course},
            "build": os.environ.get("LAB_BUILD_FOLDER"),
            "units": [{"name": unit.name, "exercise": EXERCISE.number}],
        }
        (folder / "batch_0.json").write_text(json.dumps(batch), encoding="utf-8")
        words = ["-m", "lab_tool.grading.slurm_batch", str(folder / "batch_0.json")]
        result = subprocess.run(
            [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert result.returncode == 1, result.stderr
        assert run.judgement_of(unit) is None
        return result.stderr


def test_a_node_that_is_another_judges_nothing():
    said = judged_by_task(("nothing like it", "cpu"), course_digest(ROOT))
    assert "and the run was begun with nothing like it and cpu" in said


def test_a_course_that_has_changed_judges_nothing():
    """What it finds would count as not judged, round after round."""
    said = judged_by_task(("none", "cpu"), "another")
    assert "the course's files are not those that the run was begun with" in said
