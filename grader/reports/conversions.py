# SPDX-License-Identifier: MIT
"""From results.json, the neutral form of a grade, to what other systems read.

Each function takes the contents of results.json, as docs/grading.md describes it, and the entry of one
of its students; none of them reads or writes a file.
"""

import json

from grader.judging.verdict import OK
from grader.reports.pages import lines_of_part, meaning_of


def for_gradescope(results, student):
    """What /autograder/results/results.json has to hold."""
    tests = []
    for exercise in student["exercises"]:
        title = _title(results, exercise)
        rows = [
            (
                f": {part['part']}",
                f".{part['part']}",
                part,
                "\n".join(_lines_of_part(exercise, part)),
            )
            for part in exercise["parts"]
        ]
        nothing = ("", "", {"points": 0, "of": exercise["of"]}, meaning_of(exercise))
        for name, number, graded, output in rows or [nothing]:
            tests.append(
                {
                    "name": f"{title}{name}",
                    "number": f"{exercise['exercise']}{number}",
                    "score": graded["points"],
                    "max_score": graded["of"],
                    "status": "passed" if _is_full(graded) else "failed",
                    "output": output,
                    "output_format": "text",
                    "visibility": "visible",
                }
            )
    return {
        "score": student["points"],
        "output": "\n".join(student["problems"]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"schema": results["schema"], "sandbox": results["sandbox"]},
    }


def for_classroom50(results, student, environment, submitted):
    """What result.json has to hold; `submitted` is the time of the graded commit, as in ISO 8601.

    The identity comes from the runner's variables of the environment. Raises KeyError if one is missing.
    """
    tests = []
    for exercise in student["exercises"]:
        title = _title(results, exercise)
        for part in exercise["parts"]:
            tests.append(_test(f"{title}: {part['part']}", part))
        if not exercise["parts"]:
            tests.append(_test(title, {"points": 0, "of": exercise["of"]}))
    return {
        "schema": "classroom50/result/v1",
        "classroom": environment["CLASSROOM"],
        "assignment": environment["ASSIGNMENT"],
        "submission": environment["SUBMISSION_TAG"],
        "commit": environment["COMMIT_URL"],
        "release": environment["RELEASE_URL"],
        "review": environment.get("REVIEW_URL") or environment["COMMIT_URL"],
        "datetime": submitted,
        "score": student["points"],
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def for_autolab(student):
    """The last line of stdout: the problems of the assessment are named like 04.2."""
    scores = {each["exercise"]: each["points"] for each in student["exercises"]}
    return json.dumps({"scores": scores})


def feedback_lines(results, student):
    """All that a student is told, as lines of text. None of them can be taken for an Autolab result."""
    lines = list(student["problems"])
    for exercise in student["exercises"]:
        lines += [
            "",
            f"{_title(results, exercise)}: {exercise['points']} of {exercise['of']} points",
        ]
        lines += [f"  {meaning_of(exercise)}"] if not exercise["parts"] else []
        for part in exercise["parts"]:
            lines.append(f"  {part['part']}: {part['points']} of {part['of']}")
            lines += [f"    {line}" for line in _lines_of_part(exercise, part)]
    return [f"| {line}".rstrip() for line in lines]


def _title(results, exercise):
    """'04.2 fullest_bin'."""
    names = {each["number"]: each["name"] for each in results["exercises"]}
    return f"{exercise['exercise']} {names[exercise['exercise']]}"


def _is_full(part):
    return part["points"] == part["of"]


def _test(name, graded):
    return {
        "test-name": name,
        "passed": _is_full(graded),
        "score": graded["points"],
        "max-score": graded["of"],
    }


def _lines_of_part(exercise, part):
    """What to say about a part."""
    is_explained = _is_full(part) or exercise["status"] == OK
    return [*([] if is_explained else [meaning_of(exercise)]), *lines_of_part(part)]
