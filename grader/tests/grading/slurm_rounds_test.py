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
import unittest
from unittest import mock

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


class Rounds(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.run_folder = opened_run(pathlib.Path(holder.name, "out"), "seed", ("none", "cpu"))
        self.units = [self.run_folder.take(EXERCISE, b"%d" % number) for number in range(100)]
        for name in ("POLL_SECONDS", "GRACE_SECONDS"):
            patch = mock.patch.object(slurm, name, 0)
            patch.start()
            self.addCleanup(patch.stop)

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

    def test_one_round_if_nothing_is_lost(self):
        self.assertEqual(self.judged(lambda number, name: "judged"), {})
        self.assertEqual(len(self.played.rounds), 1)
        self.assertEqual(sum(map(len, self.played.rounds[0])), 100)
        self.assertEqual(self.judged(lambda number, name: "judged"), {})
        self.assertEqual(self.played.rounds, [], "what is kept was judged once more")

    def test_each_task_has_a_gpu_of_its_own_if_there_is_to_be_one(self):
        self.judged(lambda number, name: "judged")
        self.run_folder.conditions = ("none", "cuda")
        before = self.played.options
        self.judged(lambda number, name: "judged")
        self.assertEqual((before, self.played.options), ([[]], [["--gres=gpu:1"]]))

    def test_what_is_lost_is_tried_again_in_smaller_batches(self):
        lost = {unit.name for unit in self.units[:40]}
        failed = self.judged(
            lambda number, name: "judged" if number == 3 or name not in lost else "lost"
        )
        self.assertEqual(failed, {})
        sizes = [max(map(len, batches)) for batches in self.played.rounds]
        self.assertEqual(sizes, [13, 3, 1])
        for batches in self.played.rounds[1:]:
            self.assertEqual({name for batch in batches for name in batch}, lost)

    def test_what_no_round_judges_is_named_and_the_rest_is_kept(self):
        bad = self.units[7].name
        failed = self.judged(lambda number, name: "lost" if name == bad else "judged")
        self.assertEqual(list(failed), [bad])
        self.assertEqual(failed[bad].status, "XX")
        self.assertIn("no task of Slurm came to its end", failed[bad].parts[0]["lines"][0])
        self.assertIn("1 submission was not judged in 3 rounds", self.said.getvalue())
        self.assertEqual(len(self.played.rounds), 3)
        self.assertEqual(self.judged(lambda number, name: "judged"), {})

    def test_what_the_last_task_said_is_told(self):
        """Else whoever grades looks for the one sentence in a folder of a thousand files."""
        bad = self.units[7].name
        self.judged(lambda number, name: f"says {number}: no" if name == bad else "judged")
        self.assertIn("The last task said: 3: no\n", self.said.getvalue())
        self.judged(lambda number, name: "judged")
        self.assertNotIn("said", self.said.getvalue())

    def test_tasks_that_ask_for_more_time_than_they_may_have_end_the_run(self):
        class Waiting(PlayedSlurm):
            polls = 0

            def tasks(self, array):
                self.polls += 1
                return [slurm.Task("PENDING", reason)] if self.polls < 9 else []

        for reason in ("PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit"):
            with (
                self.subTest(reason),
                self.assertRaisesRegex(
                    CommandError,
                    rf"will not start .*\({reason}\).* asks for 49 minutes, .* larger --jobs",
                ),
            ):
                self.judged(lambda number, name: "lost", Waiting)
            self.assertEqual(self.played.canceled[-1:], ["1"])

    def test_what_breaks_the_grader_is_not_tried_again(self):
        bad = self.units[7].name
        failed = self.judged(lambda number, name: "failed" if name == bad else "judged")
        self.assertEqual((list(failed), failed[bad].status), ([bad], "XX"))
        self.assertEqual(len(self.played.rounds), 1)

    def test_a_slurm_that_is_silent_for_long(self):
        class Silent(PlayedSlurm):
            def tasks(self, array):
                return None

        with (
            mock.patch.object(slurm, "PATIENCE_SECONDS", 0),
            self.assertRaisesRegex(CommandError, "has not answered .* what is finished is kept"),
        ):
            self.judged(lambda number, name: "lost", Silent)
        self.assertEqual(self.played.canceled, ["1"])

    def test_tasks_that_do_not_start_are_told_once(self):
        class Waiting(PlayedSlurm):
            polls = 0

            def tasks(self, array):
                self.polls += 1
                waits = slurm.Task("PENDING", "Resources")
                return [waits] if self.polls < 9 else []

        with mock.patch.object(slurm, "IDLE_SECONDS", -1):
            self.judged(lambda number, name: "judged" if number > 1 else "lost", Waiting)
        self.assertEqual(self.said.getvalue().count("Slurm says: Resources."), 1)

    def test_an_array_of_a_call_that_was_killed_is_ended(self):
        (self.run_folder.folder / "slurm").mkdir()
        (self.run_folder.folder / "slurm/array").write_text("4711", "utf-8")
        self.judged(lambda number, name: "judged")
        self.assertEqual(self.played.canceled, ["4711", "1"])
        self.judged(lambda number, name: "judged")
        self.assertEqual(self.played.canceled, [], "an array was ended that is none of ours by now")

    def test_an_array_that_could_not_be_ended_is_remembered(self):
        class Silent(PlayedSlurm):
            def cancel(self, array):
                return False

        self.judged(lambda number, name: "judged", Silent)
        self.assertEqual((self.run_folder.folder / "slurm/array").read_text("utf-8"), "1")

    def test_tasks_get_the_build_folder_wherever_they_begin(self):
        arguments = argparse.Namespace(**{**vars(ARGUMENTS), "build": "build-mine"})
        with mock.patch(f"{__name__}.ARGUMENTS", arguments):
            self.judged(lambda number, name: "judged")
        file = next((self.run_folder.folder / "slurm").glob("*/batch_0.json"))
        build = json.loads(file.read_text("utf-8"))["build"]
        self.assertEqual(build, str(pathlib.Path("build-mine").absolute()))

    def test_arrays_stay_within_slurms_limit(self):
        for count in (1, 19, 1000, 1001, 50_000):
            for number in (1, 2, 3):
                size = slurm.batch_size(count, 64, number)
                self.assertLessEqual(-(-count // size), slurm.MOST_TASKS)
                self.assertGreaterEqual(size, 1)


class Commands(unittest.TestCase):
    """The real commands' answers, played by scripts."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        path = mock.patch.dict(os.environ, {"PATH": str(self.folder)})
        path.start()
        self.addCleanup(path.stop)
        for name in slurm.COMMANDS:
            self.plays(name, "exit 0")

    def plays(self, name, script):
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)

    def submit(self, *options):
        return slurm.Slurm().submit(self.folder / "s", 3, 2, 9, self.folder, options)

    def test_an_array_gets_its_number(self):
        self.plays("sbatch", "echo '12;cluster'")
        self.assertEqual(self.submit(), "12")

    def test_options_come_before_the_script(self):
        self.plays(
            "sbatch", 'for word; do before=$last; last=$word; done; test "$before" = -x && echo 7'
        )
        self.assertEqual(self.submit("-x"), "7")

    def test_a_folder_with_a_percent_sign_is_no_pattern(self):
        """Slurm puts the number of the task in the place of %a."""
        self.plays("sbatch", f'echo "$@" > {self.folder}/words; echo 7')
        slurm.Slurm().submit(self.folder / "s", 3, 2, 9, pathlib.Path("/x/100%a b"))
        self.assertIn(
            "--output=/x/100%%a b/task_%a.txt", (self.folder / "words").read_text("utf-8")
        )

    def test_an_array_that_is_refused(self):
        self.plays("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
        with self.assertRaisesRegex(CommandError, "has not taken the job: .*invalid account"):
            self.submit()

    def test_tasks(self):
        self.plays("squeue", "echo 'RUNNING|None'; echo 'PENDING|Resources'")
        tasks = slurm.Slurm().tasks("12")
        self.assertEqual([task.is_running for task in tasks], [True, False])
        self.plays("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
        self.assertEqual(slurm.Slurm().tasks("12"), [])
        self.plays("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1")
        self.assertIsNone(slurm.Slurm().tasks("12"))

    def test_whether_slurm_has_heard_of_an_end(self):
        self.plays("scancel", "exit 0")
        self.assertTrue(slurm.Slurm().cancel("12"))
        self.plays("scancel", "echo 'Unable to contact slurm controller' >&2; exit 1")
        self.assertFalse(slurm.Slurm().cancel("12"))

    def test_without_slurm_one_sentence(self):
        (self.folder / "squeue").unlink()
        with self.assertRaisesRegex(CommandError, "there is no squeue here") as caught:
            slurm.Slurm()
        self.assertEqual(caught.exception.code, 2)


class Batch(unittest.TestCase):
    def judged_by_task(self, conditions, course):
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
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIsNone(run.judgement_of(unit))
            return result.stderr

    def test_a_node_that_is_another_judges_nothing(self):
        said = self.judged_by_task(("nothing like it", "cpu"), course_digest(ROOT))
        self.assertIn("and the run was begun with nothing like it and cpu", said)

    def test_a_course_that_has_changed_judges_nothing(self):
        """What it finds would count as not judged, round after round."""
        said = self.judged_by_task(("none", "cpu"), "another")
        self.assertIn("the course's files are not those that the run was begun with", said)
