# SPDX-License-Identifier: MIT
"""Which submissions resemble one another: what renaming can't hide, what is left out, how long it takes."""

import contextlib
import html
import io
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from handed_class import BIN, EXERCISES, SAXPY, HandedClass

from grader.exercises.markers import solution_of
from grader.exercises.work_folder import starter
from grader.reports.similar import write_similar
from grader.submissions.similarity import MOST_PAIRS, WINDOW, K, Pair, similar_pairs
from lab_tool.command_line import main
from lab_tool.paths import ROOT

OPERATORS = "+ - * / % & | ^ << >>".split()
OWN = """
int mean_of_three(int first, int second, int third)
{
    int sum = first + second * 2 - third / 3;
    for (int i = 0; i < sum; ++i) {
        if (sum % 7 == first) { sum -= second << 2; }
        else { third ^= sum & 5; first |= third; }
    }
    return sum > third ? sum - first : third / (second + 1);
}
"""
# The same, with other names, numbers, comments and spaces.
RENAMED = OWN
for was, now in (("first", "a"), ("second", "b"), ("third", "c"), ("sum", "s"), ("7", "9.5f")):
    RENAMED = RENAMED.replace(was, now)
RENAMED = "// mine\n\n\n" + RENAMED.replace(";", "; /* mine; { */").replace("    ", "\t")


def other_text(number, statements=60):
    """A text that no other one shares twelve tokens with."""
    chance = random.Random(number)

    def statement():
        calls = [f"__f{chance.randrange(10**9)}(x)" for _ in range(chance.randrange(2, 6))]
        return f"y = {f' {chance.choice(OPERATORS)} '.join(calls)};"

    return "void g() {\n" + "\n".join(statement() for _ in range(statements)) + "\n}\n"


class SimilarityTest(HandedClass):
    def pairs(self):
        pairs, self.more = similar_pairs(self.found_students().students, EXERCISES)
        return pairs

    def test_renaming_hides_nothing_and_the_lines_are_right(self):
        self.write(f"ann/{SAXPY}", other_text(1) + OWN)
        self.write(f"bob/{SAXPY}", RENAMED + other_text(2))
        self.write(f"cy/{SAXPY}", other_text(3))
        (pair,) = self.pairs()
        self.assertEqual(pair.students, ("ann", "bob"))
        self.assertEqual(pair.files, (f"ann/{SAXPY}", f"bob/{SAXPY}"))
        ((first, last),), ((other_first, other_last),) = pair.lines
        start = other_text(1).count("\n") + OWN[: OWN.index("int")].count("\n") + 1
        end = start + OWN.strip().count("\n")
        self.assertTrue(start <= first <= start + 1 and end - 1 <= last <= end, pair.lines)
        self.assertTrue(5 <= other_first <= 6 and 12 <= other_last <= 13, pair.lines)
        self.assertTrue(4 < pair.overlap < 12, pair.overlap)

    def test_the_most_alike_come_first(self):
        self.write(f"ann/{SAXPY}", OWN)
        self.write(f"bob/{SAXPY}", RENAMED)
        self.write(f"cy/{SAXPY}", OWN[: len(OWN) * 2 // 3] + other_text(1, 9))
        self.write(f"ann/{BIN}", OWN)  # another exercise's files are not compared with these
        found = [(pair.overlap, pair.students) for pair in self.pairs()]
        self.assertEqual(found[0], (100, ("ann", "bob")))
        self.assertEqual([names for _, names in found[1:]], [("ann", "cy"), ("bob", "cy")])
        self.assertTrue(all(overlap < 100 for overlap, _ in found[1:]), found)

    def test_starter_and_solution_are_left_out(self):
        exercise = EXERCISES[1]
        solution = solution_of(exercise.source.read_text(encoding="utf-8"))
        for number, text in enumerate((starter(exercise), solution)):
            self.write(f"a{number}/{BIN}", text)
            self.write(f"b{number}/{BIN}", f"{text}// mine\n")
        self.write(f"short/{BIN}", "int x;")
        self.write(f"void/{BIN}", "")
        self.assertEqual(self.pairs(), [])
        self.write(f"ann/{BIN}", solution + OWN)
        self.write(f"bob/{BIN}", RENAMED + solution)
        (pair,) = self.pairs()
        self.assertEqual((pair.overlap > 80, pair.students), (True, ("ann", "bob")))
        for lines, own in zip(pair.lines, (solution + OWN, RENAMED)):
            self.assertLessEqual(lines[-1][1], own.count("\n") + 1)

    def test_what_is_long_enough_is_always_seen(self):
        copied = other_text(99, 20)
        for number in range(20):
            self.write(f"ann{number:02}/{SAXPY}", other_text(number) + copied)
            self.write(f"bob{number:02}/{SAXPY}", copied + other_text(100 + number))
        found = {pair.students for pair in self.pairs()}
        self.assertEqual(len(found), MOST_PAIRS)
        self.assertEqual(self.more, 40 * 39 // 2 - MOST_PAIRS)
        self.assertEqual((K, WINDOW), (12, 9))  # as docs/grading.md says

    def test_the_page_says_what_it_is_and_is_the_same_in_each_run(self):
        self.write(f"ann <b>/{SAXPY}", OWN)
        self.write(f"bob/{SAXPY}", RENAMED)
        self.write(f"cy/{SAXPY}", OWN[: len(OWN) * 2 // 3] + other_text(1, 9))
        pages = [self.folder / "one.html", self.folder / "two.html"]
        for page, seed in zip(pages, ("1", "4")):
            program = (
                "import pathlib, sys\n"
                "from grader.exercises.catalogue import chosen_exercise\n"
                "from grader.reports.similar import write_similar\n"
                "from grader.submissions.similarity import similar_pairs\n"
                "from grader.submissions.submissions import submissions_of\n"
                "exercises = [chosen_exercise('01.1')]\n"
                "found = submissions_of(pathlib.Path(sys.argv[1]), exercises)\n"
                "write_similar(*similar_pairs(found.students, exercises), pathlib.Path(sys.argv[2]))\n"
            )
            subprocess.run(
                [sys.executable, "-c", program, self.folder / "class", page],
                check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            )  # fmt: skip
        text = pages[0].read_text(encoding="utf-8")
        self.assertEqual(pages[1].read_text(encoding="utf-8"), text)
        self.assertIn("This is a list to look at, and no proof.", text)
        cells = [html.unescape(cell) for cell in re.findall("<td>(.*?)</td>", text)]
        self.assertEqual(cells[:4], ["100 %", EXERCISES[0].title, "ann <b>", f"ann <b>/{SAXPY}"])
        self.assertEqual(cells[5:7], ["bob", f"bob/{SAXPY}"])
        self.assertRegex(cells[4], r"^\d+-\d+$")
        write_similar([], 0, self.folder / "none.html")
        text = (self.folder / "none.html").read_text(encoding="utf-8")
        self.assertIn("No two files share", text)
        self.assertIn("no proof", text)

    def test_names_of_students_and_files_are_text_and_no_markup(self):
        script = "<script>alert('1')</script>"
        student, file = f'{script}&"', f"<img src=x onerror=alert(2)>/{SAXPY}"
        pair = Pair(50, EXERCISES[0], (student, "bob"), (file, SAXPY), ([(1, 2)], [(3, 3)]))
        write_similar([pair], 0, self.folder / "hostile.html")
        text = (self.folder / "hostile.html").read_text(encoding="utf-8")
        for tag in ("<script", "<img"):
            self.assertNotIn(tag, text)
        cells = [html.unescape(cell) for cell in re.findall("<td>(.*?)</td>", text)]
        self.assertEqual((cells[2], cells[3]), (student, file))

    def test_a_class_of_300_takes_seconds(self):
        for number in range(300):
            self.write(f"s{number:03}/{SAXPY}", other_text(number) + (OWN if number < 150 else ""))
        found = self.found_students().students
        start = time.process_time()
        pairs, more = similar_pairs(found, EXERCISES)
        self.assertLess(time.process_time() - start, 30)
        self.assertEqual(len(pairs) + more, 150 * 149 // 2)

    def test_one_student_has_nobody_to_be_compared_with(self):
        self.write(f"ann/{SAXPY}")
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "output")
            words = ["grade", str(self.folder / "class"), "--exercises", "01.1", "--output"]
            with contextlib.redirect_stderr(io.StringIO()) as said:
                code = main([*words, str(output), "--student", "ann", "--similar"])
            self.assertEqual((code, output.exists()), (2, False))
            self.assertIn("--similar compares the whole class", said.getvalue())
