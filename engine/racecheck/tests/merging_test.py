# SPDX-License-Identifier: MIT
"""merge_reports: one run is told as the program itself tells it, and nobody else's report is believed."""

import copy
import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from engine.command.racecheck_runs import CheckedRun, MalformedReport, MergeReports, merged_findings
from mistakes_test import OTHER_FINDINGS, RACES, SOURCES
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
    return merged_findings(checked, MergeReports(MERGE_REPORTS, **reader))


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


@pytest.mark.parametrize("case", (*RACES, *OTHER_FINDINGS, *OF_DIAGNOSES))
def test_it_is_told_as_the_program_tells_it(case):
    program = DIAGNOSES if case in OF_DIAGNOSES else MISTAKES
    findings = merged(checked_run(program, case, 0)[2])
    assert findings
    text = "".join(
        item["text"] + "".join(f"  {note}\n" for note in item["notes"]) for item in findings
    )
    printed = printed_by(program, case)
    if case in OTHER_FINDINGS:  # the backend has said something before that
        printed = printed[-len(text.replace(", and in 1 of 1 schedule", "")) :]
    assert text.replace(", and in 1 of 1 schedule", "") == printed


def test_the_advice_is_the_text_s():
    for case in RACES:
        for item in merged(checked_run(MISTAKES, case, 0)[2]):
            parties = [item[name] for name in ("first", "second") if name in item]
            lines = [item["heading"]]
            lines += [part for party in parties for part in (party["sentence"], party["text"])]
            lines += [advice["text"] for advice in item["advice"]]
            assert [line.strip() for line in item["text"].splitlines()] == lines


def test_counts_and_seeds_are_added():
    reports = [checked_run(MISTAKES, "guard_classic", seed)[2] for seed in range(3)]
    (found,) = merged(*reports)
    assert (found["seed"], found["seeds"]) == (0, 3)
    counts = [item["count"] for report in reports for item in report["findings"]]
    assert found["count"] == sum(counts)
    assert [each["codes"] for each in found["lesser"]] == [["missing_acquire"]]


def test_a_run_without_a_report_is_a_schedule_too():
    report = checked_run(MISTAKES, "guard_classic", 0)[2]
    (found,) = merged(None, report)
    assert (found["seed"], found["seeds"]) == (1, 1)
    assert "seed 1, and in 1 of 2 schedules; " in found["notes"][-1]


def test_what_one_run_shows_is_said_of_the_others():
    report = checked_run(DIAGNOSES, "chosen_for_all", 0)[2]
    parts = [
        {**report, "findings": [item]}
        for item in sorted(report["findings"], key=lambda item: item["codes"])
    ]
    assert len(parts) == 2
    of_a_block = next(item for item in merged(*parts) if item["codes"] == ["missing_syncthreads"])
    advice = [each["code"] for each in of_a_block["advice"]]
    assert "barrier_is_not_enough" in advice
    (lack,) = of_a_block["chain"]["arrows"][-1]["lacks"]
    assert "not enough, different blocks race here as well" in lack["remedy"]
    (alone,) = merged(*(part for part in parts if part["findings"][0]["codes"] != NOTHING))
    assert "barrier_is_not_enough" not in [each["code"] for each in alone["advice"]]


def test_its_lines_are_told_by_their_numbers():
    report = checked_run(MISTAKES, "guard_classic", 0)[2]
    (found,) = merged(report, own_file=str(SOURCES[0]))
    assert "mistakes.cu" not in found["text"]
    line = found["second"]["line"]
    assert f"read by block 3 thread 42 at line {line}\n" in found["text"]
    assert "mistakes.cu" in found["second"]["file"]


def test_they_may_be_counted_from_another_line_on():
    report = checked_run(MISTAKES, "guard_classic", 0)[2]
    (found,) = merged(report, own_file=str(SOURCES[0]), first_line=101)
    numbers = {int(number) for number in re.findall(r"\bline (\d+)", found["text"])}
    assert found["second"]["line"] - 100 in numbers
    assert max(numbers) < 100


def test_another_file_of_that_name_is_not_the_own_one():
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder, SOURCES[0].name)
        other.write_text("")
        report = checked_run(MISTAKES, "guard_classic", 0)[2]
        (found,) = merged(report, own_file=str(other))
    assert "mistakes.cu:" in found["text"]


@pytest.fixture(scope="module")
def finding():
    (found,) = checked_run(MISTAKES, "guard_without_barrier", 0)[2]["findings"]
    return found


def refused(findings, *words):
    with pytest.raises(MalformedReport) as caught:
        merged({"findings": findings})
    message = str(caught.value)
    for word in ("none of the checker's", *words):
        assert word in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    "wrong", (None, 1, -1, 1.5, "x", [], {}, [1], [[]], True, float("nan"), 10**30)
)
def test_wrong_types_are_refused(wrong):
    if wrong != []:
        refused(wrong)
    refused([wrong])


def test_each_field_of_a_wrong_type_is_refused(finding):
    made_anew = {  # texts, which are not read
        "severity", "diagnosis", "heading", "advice", "text",
    }  # fmt: skip
    for key in finding:
        if key in made_anew:
            continue
        for wrong in (None, -1, 1.5, [[]], {"a": 1}, "no such word"):
            if wrong is None and key in ("releaser", "acquirer"):
                continue  # it is not known
            if wrong == "no such word" and key in ("memory", "object", "element"):
                continue  # a text
            refused([{**finding, key: wrong}])
        left = {name: value for name, value in finding.items() if name != key}
        refused([left], f'there is no "{key}"')


def test_the_load_of_an_older_value_is_kept_and_a_wrong_one_is_refused():
    (right,) = checked_run(MISTAKES, "two_flags", 3)[2]["findings"]
    (found,) = merged({"findings": [right]})
    assert [found["older_load"], found["advice"]] == [right["older_load"], right["advice"]]
    for wrong in (
        None,
        [],
        {},
        *({**right["older_load"], key: -1} for key in right["older_load"]),
    ):
        refused([{**right, "older_load": wrong}])


OUT_OF_RANGE = {
    "count": lambda item: item.update(count=0),
    "line": lambda item: item["second"].update(line=2**32),
    "block": lambda item: item["first"].update(block=[0, 0]),
    "lane": lambda item: item["chain"]["events"][0].update(lane=99),
    "arrow": lambda item: item["chain"]["arrows"][0].update(to=10**6),
    "code": lambda item: item["codes"].append("missing_food"),
    "lacks": lambda item: item["chain"]["arrows"][-1]["lacks"].append({"code": "x"}),
    "kind": lambda item: item.update(kind="outside"),
}


@pytest.mark.parametrize("change", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused(finding, change):
    forged = copy.deepcopy(finding)
    change(forged)
    refused([forged])


def test_a_refinement_of_nothing_is_no_crash(finding):
    forged = copy.deepcopy(finding)
    forged["chain"]["arrows"][-1]["lacks"] = [{"code": "only_a_fence_acquires"}]
    (found,) = merged({"findings": [forged]})
    assert found["chain"]["arrows"][-1]["lacks"] == []


def test_what_is_no_json_is_refused(finding):
    whole = json.dumps({"seed": 0, "findings": [finding]})
    for text in (
        "x",
        "{",
        whole[:-5],
        "[" * 500_000,
        '{"seed": 0}',
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        "",
    ):
        result = merge(text + "\n")
        assert result.returncode == 2, result.stderr
        assert result.stderr.count(b"\n") == 1
        assert result.stdout == b""


def test_very_many_findings_take_seconds(finding):
    forged = []
    for number in range(20_000):
        item = {**finding, "object": f"element {number}", "count": 1}
        item["first"] = {**item["first"], "line": number % 1000}
        item["chain"] = {"lanes": [], "events": [], "arrows": []}
        forged.append(item)
    found = merged({"findings": forged})
    assert len(found) == 1000


@pytest.mark.parametrize(
    "options", (["--own-file"], ["--first-line", "0"], ["--first-line", "x"], ["--more"])
)
def test_wrong_use(options):
    result = merge("", *options)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.count(b"\n") == 1
