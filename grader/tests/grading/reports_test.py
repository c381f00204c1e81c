# SPDX-License-Identifier: MIT
"""What is made of marks: the tables, the students' pages and the summary, whatever stands in them."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from grader.reports.marks import write_csv, write_junit
from grader.reports.pages import (
    MEANINGS,
    MOST_CASES,
    REFUSED,
    lines_of_part,
    write_feedback,
    write_summary,
)
from lab_tool.paths import ROOT

LETTER_WIDTH = 6.7  # of the widest digit, in the unit of the plots


def part(lines=(), cases=(), points=0):
    return {
        "part": "results",
        "points": points,
        "of": 6,
        "lines": list(lines),
        "cases": list(cases),
    }


def student(name, result, problems=()):
    row = {
        **{"exercise": "01.1", "file": f"{name}/01_saxpy.cu", "status": "OK", "of": 6},
        **{"points": result["points"], "parts": [result], "diagnoses": [], "picture": None},
    }
    return {
        **{"student": name, "folder": name, "late": False, "problems": list(problems)},
        **{"points": result["points"], "exercises": [row]},
    }


def marks_of(*students):
    exercise = {"number": "01.1", "name": "saxpy", "points": {"results": 6}}
    return {
        **{"exercises": [exercise], "students": list(students), "problems": []},
        **{"sandbox": "bubblewrap"},
    }


class Reports:
    def __init__(self, folder):
        self.folder = folder

    def feedback(self):
        """All that is in the folder now."""
        found = (self.folder / "feedback").rglob("*")
        return {path.relative_to(self.folder / "feedback").as_posix() for path in found}

    def summary(self, *students):
        write_summary(marks_of(*students), {}, {}, self.folder / "summary.html")
        return (self.folder / "summary.html").read_text(encoding="utf-8")


@pytest.fixture
def reports(tmp_path):
    return Reports(tmp_path)


def test_controls_of_a_terminal_do_not_break_the_tables(reports):
    lines = ["\x1b[31m\x00", "]]>", "<&"]
    problems = ['+x,"y" and z', "=1+1"]
    marks = marks_of(student("a\x07", part(lines), problems), student("=b", part(points=6)))
    write_junit(marks, reports.folder / "junit.xml")
    suite, _ = ElementTree.parse(reports.folder / "junit.xml").getroot()
    assert suite.get("name") == "a?"
    assert suite.find("testcase/failure").text == "?[31m?\n]]>\n<&"
    write_csv(marks, reports.folder / "grades.csv")
    with open(reports.folder / "grades.csv", newline="", encoding="utf-8-sig") as file:
        a, b = csv.DictReader(file)
    assert a["problems"] == '\'+x,"y" and z =1+1'  # no formula begins a cell
    assert (a["01.1"], a["01.1 status"], a["01.1 results"]) == ("0", "OK", "0")
    assert (b["student"], b["points"], b["problems"]) == ("'=b", "6", "")


def test_what_to_look_at_is_once_in_the_page_and_the_rarest_kind_first(reports):
    outside, missing = "Not in the roster.", "01.1 saxpy: missing."
    students = [student(name, part(), [outside]) for name in ("ann", "bob", "cid")]
    students += [student("dan", part(), [missing, "a.cu is taken as b.cu: misnamed."])]
    page = reports.summary(*students, student("eve", part(), [missing]))
    to_look_at = page.partition("To look at")[2]
    cells = re.findall(r"<td>(.*?)</td>", to_look_at)
    assert cells == [
        *("a.cu is taken as b.cu: misnamed.", "dan"),
        *(missing, "dan, eve"),
        *(outside, "ann, bob, cid"),
    ]


def test_the_names_of_bars_do_not_overlap(reports):
    for of in (6, 19, 20, 35, 99, 240):
        marks = marks_of(student("a", part(points=of)))
        marks["exercises"][0]["points"]["results"] = of
        write_summary(marks, {}, {}, reports.folder / "summary.html")
        page = (reports.folder / "summary.html").read_text(encoding="utf-8")
        plot = re.search(r'<svg class="plot".*?</svg>', page, re.DOTALL)[0]
        labels = re.findall(r'<text x="([\d.]+)" y="208" [^>]*>([\d-]+)</text>', plot)
        assert labels[-1][1].endswith(str(of)), labels
        for (x, label), (next_x, next_label) in zip(labels, labels[1:]):
            needed = LETTER_WIDTH * (len(label) + len(next_label)) / 2
            assert float(x) + needed < float(next_x), (of, label, next_label)


def test_no_line_of_a_student_ends_the_block_that_it_is_in(reports):
    for line in ("```", "````", "`````", "~~~", "``````` text"):
        write_feedback(marks_of(student("a", part([line, "# Full marks"]))), {}, reports.folder)
        page = (reports.folder / "feedback/a/feedback.md").read_text(encoding="utf-8").splitlines()
        (start,) = (number for number, each in enumerate(page) if each.endswith("`text"))
        fence = page[start].removesuffix("text")
        assert page[start:] == [f"{fence}text", line, "# Full marks", fence]
        assert fence not in line


def test_a_second_run_leaves_nothing_of_the_first(reports):
    picture = "feedback/a/01_saxpy.svg"
    racy = student("a", part())
    racy["exercises"][0]["picture"] = picture
    write_feedback(marks_of(racy, student("b", part())), {picture: "<svg/>"}, reports.folder)
    assert "a/01_saxpy.svg" in reports.feedback()
    write_feedback(marks_of(student("a", part())), {}, reports.folder)
    assert reports.feedback() == {"a", "a/feedback.md", "a/feedback.html"}


def test_pages_and_pictures_of_others_stay_if_one_student_was_graded(reports):
    pictures = {f"feedback/{name}/01_saxpy.svg": f"<svg>{name}</svg>" for name in "ab"}
    students = {name: student(name, part()) for name in "ab"}
    for name, picture in zip("ab", pictures):
        students[name]["exercises"][0]["picture"] = picture
    write_feedback(marks_of(*students.values()), pictures, reports.folder)
    page = reports.folder / "feedback/b/feedback.html"
    before = page.read_bytes()
    write_feedback(marks_of(student("a", part()), students["b"]), {}, reports.folder, "a")
    assert page.read_bytes() == before
    pages = {f"{name}{file}" for name in "ab" for file in ("", "/feedback.md", "/feedback.html")}
    assert reports.feedback() == {*pages, "b/01_saxpy.svg"}


def test_another_persons_files_stay(reports):
    write_feedback(marks_of(*(student(name, part()) for name in "ab")), {}, reports.folder)
    feedback = reports.folder / "feedback"
    outside = reports.folder / "outside"
    (outside / "x").mkdir(parents=True)
    for file in (feedback / "all.txt", feedback / "b/remarks.txt", outside / "x/feedback.md"):
        file.write_text("mine", encoding="utf-8")
    (feedback / "linked").symlink_to(outside / "x")
    (feedback / "b/01_saxpy.svg").symlink_to(outside / "x/feedback.md")
    write_feedback(marks_of(student("A", part())), {}, reports.folder)
    assert (outside / "x/feedback.md").read_text(encoding="utf-8") == "mine"
    left = {"all.txt", "linked", "b", "b/remarks.txt", "b/01_saxpy.svg"}
    # "a" may be the very folder of "A", where a file system makes no difference.
    pages = {f"{name}{page}" for name in "aA" for page in ("", "/feedback.md", "/feedback.html")}
    assert reports.feedback() - pages == left
    assert (feedback / "A/feedback.md").is_file()


def test_only_some_wrong_cases_are_told_in_full():
    cases = [{"name": f"case {n}", "passed": False, "lines": [f"got {n}"]} for n in range(8)]
    passed = {"name": "right", "passed": True, "lines": []}
    lines = lines_of_part(part(cases=[passed, *cases]))
    assert lines[:3] == ["case 0", "  got 0", ""]
    assert f"case {MOST_CASES - 1}" in lines
    assert f"case {MOST_CASES}" not in lines
    assert lines[-1] == f"and {8 - MOST_CASES} more cases"
    assert lines_of_part(part(["one"], cases[:1])) == ["one", "", "case 0", "  got 0"]


def test_every_status_has_a_meaning():
    schema = json.loads((ROOT / "grader/reports/grades_schema.json").read_text("utf-8"))
    text = json.dumps(schema)
    for status in MEANINGS:
        assert f'"{status}"' in text


def test_a_refused_file_has_a_first_line_of_its_own(reports):
    wrong, refused = student("wrong", part()), student("refused", part())
    for each in (wrong, refused):
        each["exercises"][0]["status"] = "CE"
    refused["exercises"][0]["refused"] = True
    write_feedback(marks_of(wrong, refused), {}, reports.folder)
    for name, said in (("wrong", MEANINGS["CE"]), ("refused", REFUSED)):
        for kind in ("md", "html"):
            page = (reports.folder / f"feedback/{name}/feedback.{kind}").read_text("utf-8")
            assert [text in page for text in (MEANINGS["CE"], REFUSED)].count(True) == 1
            assert said in page


def test_the_median(reports):
    for points, median in (((0, 6), "3"), ((0, 1), "0.5"), ((0, 4, 6), "4")):
        marks = marks_of(*(student(f"s{p}", part(points=p)) for p in points))
        write_summary(marks, {}, {}, reports.folder / "summary.html")
        assert f"median {median}.</p>" in (reports.folder / "summary.html").read_text(
            encoding="utf-8"
        )


def test_what_was_not_run_is_not_among_what_fails(reports):
    cases = [{"name": "1 element", "passed": False, "lines": []}]
    limits = {**part(), "part": "limits"}

    def ended(name, status, of_results):
        found = student(name, part(cases=of_results))
        found["exercises"][0].update(status=status, parts=[part(cases=of_results), limits])
        return found

    page = reports.summary(
        ended("a", "OK", cases),
        ended("b", "TO", cases),
        ended("c", "CE", cases),
        ended("d", "XX", []),
    )
    table = page.split("What fails most in those that compile</h3>")[1].split("</table>")[0]
    rows = re.findall(r'<td>([^<]*)</td><td class="number">(\d+)</td>', table)
    assert rows == [("limits", "2"), ("results: 1 element", "2")]
    assert '<td>CE</td><td class="number">1</td>' in page


def test_a_file_that_is_only_listed_is_not_counted_as_graded(reports):
    listed = student("b", part(), ["b/saxpy.cpp may be meant for 01_saxpy.cu"])
    listed["exercises"][0].update(file=None, status="missing", parts=[])
    page = reports.summary(student("a", part()), listed)
    assert "<p>2 students, 1 of them with a file that is graded. " in page
    assert "<p>1 student, 1 of them" in reports.summary(student("a", part()))
