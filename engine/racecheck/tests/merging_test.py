# SPDX-License-Identifier: MIT
"""merge_reports: one run is told as the program itself tells it, and nobody else's report is believed."""

import copy
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from engine.command.racecheck_runs import CheckedRun, MalformedReport, Merging, merged_findings
from mistakes_test import OTHER_FINDINGS, RACES, SOURCE
from test_setup import checked_run

MERGE_REPORTS = os.environ["MERGE_REPORTS"]
MISTAKES, DIAGNOSES = os.environ["MISTAKES_PROGRAM"], os.environ["DIAGNOSES_PROGRAM"]
OF_DIAGNOSES = [
    "one_block_waits", "one_block_waits_volatile", "same_constant", "last_index", "many_lines",
    "fences_of_few_threads", "fences_and_an_acquire", "lock_without_release",
]  # fmt: skip


def merge(text, *options):
    return subprocess.run(
        [MERGE_REPORTS, *options],
        input=text.encode(),
        capture_output=True,
        check=False,
        timeout=60,
    )


def merged(*runs, **reader):
    """What merge_reports makes of the reports of seeds 0, 1, ...; for that reader."""
    checked = [CheckedRun(seed, 1, run, "") for seed, run in enumerate(runs)]
    return merged_findings(checked, Merging(MERGE_REPORTS, **reader))


def printed_by(program, case):
    """What a run at seed 0 prints of its findings, but for the last line, the summary."""
    environment = {**os.environ, "LAB_RACECHECK_SEED": "0"}
    environment.pop("LAB_RACECHECK_REPORT", None)
    environment.pop("LAB_TEST_LOG", None)
    result = subprocess.run(
        [program, case], env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    return result.stderr.rpartition("racecheck: seed 0, ")[0]


NOTHING = ["no_synchronisation"]


class OneRun(unittest.TestCase):
    maxDiff = None

    def test_it_is_told_as_the_program_tells_it(self):
        cases = [(MISTAKES, case) for case in (*RACES, *OTHER_FINDINGS)]
        cases += [(DIAGNOSES, case) for case in OF_DIAGNOSES]
        for program, case in cases:
            with self.subTest(case):
                findings = merged(checked_run(program, case, 0)[2])
                self.assertTrue(findings)
                text = "".join(
                    item["text"] + "".join(f"  {note}\n" for note in item["notes"])
                    for item in findings
                )
                printed = printed_by(program, case)
                if case in OTHER_FINDINGS:  # the backend has said something before that
                    printed = printed[-len(text.replace(", and in 1 of 1 schedule", "")) :]
                self.assertEqual(text.replace(", and in 1 of 1 schedule", ""), printed)

    def test_the_advice_is_the_text_s(self):
        for case in RACES:
            for item in merged(checked_run(MISTAKES, case, 0)[2]):
                parties = [item[name] for name in ("first", "second") if name in item]
                lines = [item["heading"]]
                lines += [part for party in parties for part in (party["sentence"], party["text"])]
                lines += [advice["text"] for advice in item["advice"]]
                self.assertEqual([line.strip() for line in item["text"].splitlines()], lines)


class SeveralRuns(unittest.TestCase):
    def test_counts_and_seeds_are_added(self):
        reports = [checked_run(MISTAKES, "guard_classic", seed)[2] for seed in range(3)]
        (found,) = merged(*reports)
        self.assertEqual((found["seed"], found["seeds"]), (0, 3))
        counts = [item["count"] for report in reports for item in report["findings"]]
        self.assertEqual(found["count"], sum(counts))
        self.assertEqual([each["codes"] for each in found["lesser"]], [["missing_acquire"]])

    def test_a_run_without_a_report_is_a_schedule_too(self):
        report = checked_run(MISTAKES, "guard_classic", 0)[2]
        (found,) = merged(None, report)
        self.assertEqual((found["seed"], found["seeds"]), (1, 1))
        self.assertIn("seed 1, and in 1 of 2 schedules; ", found["notes"][-1])

    def test_what_one_run_shows_is_said_of_the_others(self):
        report = checked_run(DIAGNOSES, "same_constant", 0)[2]
        parts = [
            {**report, "findings": [item]}
            for item in sorted(report["findings"], key=lambda item: item["codes"])
        ]
        self.assertEqual(len(parts), 2)
        of_a_block = next(
            item for item in merged(*parts) if item["codes"] == ["missing_syncthreads"]
        )
        advice = [each["code"] for each in of_a_block["advice"]]
        self.assertIn("barrier_is_not_enough", advice)
        (lack,) = of_a_block["chain"]["arrows"][-1]["lacks"]
        self.assertIn("not enough, different blocks race here as well", lack["remedy"])
        (alone,) = merged(*(part for part in parts if part["findings"][0]["codes"] != NOTHING))
        self.assertNotIn("barrier_is_not_enough", [each["code"] for each in alone["advice"]])


class OwnFile(unittest.TestCase):
    def test_its_lines_are_told_by_their_numbers(self):
        report = checked_run(MISTAKES, "guard_classic", 0)[2]
        (found,) = merged(report, own_file=str(SOURCE))
        self.assertNotIn("mistakes.cu", found["text"])
        line = found["second"]["line"]
        self.assertIn(f"read by block 3 thread 42 at line {line}\n", found["text"])
        self.assertIn("mistakes.cu", found["second"]["file"])

    def test_they_may_be_counted_from_another_line_on(self):
        report = checked_run(MISTAKES, "guard_classic", 0)[2]
        (found,) = merged(report, own_file=str(SOURCE), first_line=101)
        numbers = {int(number) for number in re.findall(r"\bline (\d+)", found["text"])}
        self.assertIn(found["second"]["line"] - 100, numbers)
        self.assertLess(max(numbers), 100)

    def test_another_file_of_that_name_is_not_the_own_one(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, SOURCE.name)
            other.write_text("")
            report = checked_run(MISTAKES, "guard_classic", 0)[2]
            (found,) = merged(report, own_file=str(other))
        self.assertIn("mistakes.cu:", found["text"])


class ForgedReports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (cls.finding,) = checked_run(MISTAKES, "guard_without_barrier", 0)[2]["findings"]

    def refused(self, findings, *words):
        with self.assertRaises(MalformedReport) as caught:
            merged({"findings": findings})
        message = str(caught.exception)
        for word in ("none of the checker's", *words):
            self.assertIn(word, message)
        self.assertEqual(len(message.splitlines()), 1)

    def test_wrong_types_are_refused(self):
        for wrong in (None, 1, -1, 1.5, "x", [], {}, [1], [[]], True, float("nan"), 10**30):
            with self.subTest(wrong=wrong):
                if wrong != []:
                    self.refused(wrong)
                self.refused([wrong])

    def test_each_field_of_a_wrong_type_is_refused(self):
        made_anew = {  # texts, which are not read
            "severity", "diagnosis", "heading", "advice", "text",
        }  # fmt: skip
        for key in self.finding:
            if key in made_anew:
                continue
            for wrong in (None, -1, 1.5, [[]], {"a": 1}, "no such word"):
                if wrong is None and key in ("releaser", "acquirer"):
                    continue  # it is not known
                if wrong == "no such word" and key in ("memory", "object", "element"):
                    continue  # a text
                with self.subTest(key=key, wrong=wrong):
                    self.refused([{**self.finding, key: wrong}])
            with self.subTest(without=key):
                left = {name: value for name, value in self.finding.items() if name != key}
                self.refused([left], f'there is no "{key}"')

    def test_the_load_of_an_older_value_is_kept_and_a_wrong_one_is_refused(self):
        (right,) = checked_run(MISTAKES, "two_flags", 3)[2]["findings"]
        (found,) = merged({"findings": [right]})
        self.assertEqual(
            [found["older_load"], found["advice"]], [right["older_load"], right["advice"]]
        )
        for wrong in (
            None,
            [],
            {},
            *({**right["older_load"], key: -1} for key in right["older_load"]),
        ):
            with self.subTest(wrong=wrong):
                self.refused([{**right, "older_load": wrong}])

    def test_numbers_out_of_range_are_refused(self):
        def changed(change):
            forged = copy.deepcopy(self.finding)
            change(forged)
            return [forged]

        for name, change in {
            "count": lambda item: item.update(count=0),
            "line": lambda item: item["second"].update(line=2**32),
            "block": lambda item: item["first"].update(block=[0, 0]),
            "lane": lambda item: item["chain"]["events"][0].update(lane=99),
            "arrow": lambda item: item["chain"]["arrows"][0].update(to=10**6),
            "code": lambda item: item["codes"].append("missing_food"),
            "lacks": lambda item: item["chain"]["arrows"][-1]["lacks"].append({"code": "x"}),
            "kind": lambda item: item.update(kind="outside"),
        }.items():
            with self.subTest(name):
                self.refused(changed(change))

    def test_a_refinement_of_nothing_is_no_crash(self):
        forged = copy.deepcopy(self.finding)
        forged["chain"]["arrows"][-1]["lacks"] = [{"code": "only_a_fence_acquires"}]
        (found,) = merged({"findings": [forged]})
        self.assertEqual(found["chain"]["arrows"][-1]["lacks"], [])

    def test_what_is_no_json_is_refused(self):
        whole = json.dumps({"seed": 0, "findings": [self.finding]})
        for text in (
            "x",
            "{",
            whole[:-5],
            "[" * 500_000,
            '{"seed": 0}',
            "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
            "",
        ):
            with self.subTest(text[:20]):
                result = merge(text + "\n")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(result.stderr.count(b"\n"), 1)
                self.assertEqual(result.stdout, b"")

    def test_very_many_findings_take_seconds(self):
        forged = []
        for number in range(20_000):
            item = {**self.finding, "object": f"element {number}", "count": 1}
            item["first"] = {**item["first"], "line": number % 1000}
            item["chain"] = {"lanes": [], "events": [], "arrows": []}
            forged.append(item)
        found = merged({"findings": forged})
        self.assertEqual(len(found), 1000)

    def test_wrong_use(self):
        for options in (["--own-file"], ["--first-line", "0"], ["--first-line", "x"], ["--more"]):
            with self.subTest(options):
                result = merge("", *options)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertEqual(result.stderr.count(b"\n"), 1)
