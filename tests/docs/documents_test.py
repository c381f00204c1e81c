# SPDX-License-Identifier: MIT
"""Holds the README, the lessons and docs/ to the sources: links, excerpts, commands and paths.

A fenced block of C++ names where it comes from, after its language: ```cpp block_reduce.cuh, as seen
from the document's folder or from the repository's root. Its lines then stand in that file in this
order and without gaps, but for their indentation; a line `// ...` stands for lines left out. Code
that is in no file says so: ```cpp example.
"""

import json
import re
import shlex
import unittest

from grader.exercises.catalogue import chosen_exercise
from lab_tool.chapters import all_chapters, chosen_chapters
from lab_tool.command_line import parsed
from lab_tool.predictions import all_predictions, chosen_prediction
from this_build import BUILD, ROOT

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob(".github/*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("chapters/*/**/*.md")),
]

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MESON_OPTIONS = {"buildtype", "b_lundef", "b_pch", "b_sanitize", "debug", "optimization"}


def text_of(document):
    return document.read_text(encoding="utf-8")


def prose_of(document):
    return FENCE.sub("", text_of(document))


def commands_of(document):
    """The command lines of the document: fenced ones after `$ ` or in a sh block, and inline code."""
    commands = re.findall(r"`([^`\n]+)`", prose_of(document))
    for info, body in FENCE.findall(text_of(document)):
        language = info.split()[0] if info.split() else ""
        for line in re.sub(r"\\\n\s*", "", body).splitlines():
            if line.startswith("$ "):
                commands.append(line[2:])
            elif language in ("sh", "bash"):
                commands.append(line)
    # Less a remark, and what a shell makes of the output.
    return [re.sub(r"\s+(?:#|\||>).*", "", command) for command in commands]


def anchors_of(document):
    """The anchors that GitHub gives to a document's headings."""
    headings = re.findall(r"^#+ (.*)$", prose_of(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pieces(excerpt):
    """The excerpt's runs of lines between `// ...`, stripped and without blank ones."""
    runs = [[]]
    for line in map(str.strip, excerpt.splitlines()):
        if line == "// ...":
            runs.append([])
        elif line:
            runs[-1].append(line)
    return [run for run in runs if run]


def stands_in(excerpt, source):
    """Whether the excerpt's runs of lines are in the source, one after the other."""
    lines = [line for line in map(str.strip, source.splitlines()) if line]
    position = 0
    for run in pieces(excerpt):
        starts = range(position, len(lines) - len(run) + 1)
        found = [start for start in starts if lines[start : start + len(run)] == run]
        if not found:
            return False
        position = found[0] + len(run)
    return True


def for_each_document(check):
    """Makes check(self, document) a test of all documents, each of which can fail on its own."""

    def test(self):
        for document in DOCUMENTS:
            with self.subTest(document=str(document.relative_to(ROOT))):
                check(self, document)

    return test


class DocumentsTest(unittest.TestCase):
    def test_every_chapter_has_a_lesson(self):
        for row in all_chapters():
            self.assertIn(ROOT / "chapters" / row.folder / "README.md", DOCUMENTS)

    @for_each_document
    def test_license_line(self, document):
        self.assertIn("SPDX-License-Identifier: CC-BY-SA-4.0", text_of(document).split("\n")[0])

    @for_each_document
    def test_fences_are_closed(self, document):
        self.assertEqual(len(re.findall(r"^```", text_of(document), re.MULTILINE)) % 2, 0)

    @for_each_document
    def test_relative_links(self, document):
        for link in re.findall(r'\]\(([^)\s]+)(?:\s"[^"]*")?\)', prose_of(document)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            self.assertTrue(target.exists(), f"{link} leads nowhere")
            if anchor:
                self.assertIn(anchor, anchors_of(target), f"{link} leads to no heading")

    @for_each_document
    def test_excerpts(self, document):
        for info, excerpt in FENCE.findall(text_of(document)):
            language, *source = info.split() or [""]
            if language not in ("cpp", "c++", "cuda", "cu"):
                continue
            self.assertEqual(len(source), 1, f"this block names no source:\n{excerpt}")
            if source == ["example"]:
                continue
            paths = [folder / source[0] for folder in (document.parent, ROOT)]
            path = next((path for path in paths if path.is_file()), None)
            self.assertIsNotNone(path, f"there is no file {source[0]}")
            self.assertTrue(pieces(excerpt), f"this excerpt of {source[0]} is empty")
            self.assertTrue(stands_in(excerpt, text_of(path)), f"not in {source[0]}:\n{excerpt}")

    @for_each_document
    def test_commands_of_lab(self, document):
        tests = json.loads((BUILD / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
        names = [test["name"] for test in tests]
        suites = {suite.split(":")[-1] for test in tests for suite in test["suite"]}
        if not json.loads((BUILD / "single_file.json").read_text(encoding="utf-8")).get(
            "racecheck_libraries"
        ):  # This build has no racecheck; that of the README has.
            names += ["causes_test", "mutants_test", "teaching_page_test"]
            suites |= {"racecheck", "mutants"}
        for command in commands_of(document):
            of_lab = re.split(r" [|>] ", command)[0]  # what the shell hands to lab
            words = shlex.split(of_lab, comments=False) if command.startswith("./lab") else []
            if not words or words == ["./lab"] or "[" in command:  # the name alone, or a synopsis
                continue
            with self.subTest(command=command):
                verb, arguments = parsed(words[1:])
                target = getattr(arguments, "target", "")
                if verb in ("run", "racecheck") and target.endswith(".cu"):
                    if "/" in target:
                        self.assertTrue((ROOT / target).is_file(), "there is no such file")
                elif verb in ("run", "racecheck", "bench"):
                    chosen_chapters(target)
                elif verb == "predict":
                    chosen_prediction(arguments.target)
                elif verb in ("learn", "check", "hint", "reset", "solution") and target:
                    chosen_exercise(target)
                elif verb == "trace":
                    (chapter,) = chosen_chapters(target)
                    source = ROOT / "chapters" / chapter.folder / f"{chapter.program}.cu"
                    for panel in (arguments.panels or "").split(","):
                        self.assertIn(f'"{panel}"' if panel else "", text_of(source), "no variant")
                elif verb == "test":
                    for wanted in arguments.names:
                        is_known = wanted in ("all", "quick") or wanted in suites
                        is_known = is_known or any(wanted in name for name in names)
                        self.assertTrue(is_known, f"no test {wanted}")
                    self.assertLessEqual({*arguments.suite, *arguments.without}, suites)

    @for_each_document
    def test_options_of_meson(self, document):
        ours = re.findall(r"^  '(\w+)',", text_of(ROOT / "meson.options"), re.MULTILINE)
        for command in commands_of(document):
            words = command.split()
            if words[:1] == ["meson"] and len(words) > 1:
                self.assertIn(
                    words[1], ("setup", "compile", "test", "configure", "install", "wrap"), command
                )
            for option in re.findall(r"-D(\w+)=", command):
                self.assertIn(option, {*ours, *MESON_OPTIONS}, command)

    @for_each_document
    def test_paths(self, document):
        programs = {row.program for row in all_chapters()}
        for command in commands_of(document):
            for path in re.findall(
                r"(?<![\w/.-])((?:chapters|common|docs|tests)/[\w/.-]+)", command
            ):
                self.assertTrue((ROOT / path).exists(), f"there is no {path}")
            for path in re.findall(r"(?<![\w/.-])build[\w-]*/chapters/(\w+)", command):
                self.assertIn(path.removesuffix("_test"), programs, f"no program {path} is built")

    def test_paragraphs_of_predictions(self):
        """Each prediction sends whoever errs to a paragraph that exists."""
        for prediction in all_predictions():
            for letter, variant in prediction.variants.items():
                with self.subTest(prediction=prediction.label, letter=letter):
                    file, _, heading = variant.paragraph.partition("#")
                    self.assertIn(ROOT / file, DOCUMENTS)
                    self.assertIn(heading, anchors_of(ROOT / file))

    def test_tests_that_lessons_name(self):
        """A link to a file of tests has the name of one of its test cases as its title, and few words of
        its own, since a whole name reads like a part of the sentence. None stands in italics."""
        names = {}
        for file in ROOT.glob("**/*_test.cu"):
            if file.is_relative_to(ROOT / "chapters") or file.is_relative_to(ROOT / "engine"):
                names[file] = re.findall(r'TEST_CASE\(\s*"([^"]+)"', text_of(file))
        all_names = {name for of_file in names.values() for name in of_file}
        found = 0
        for lesson in ROOT.glob("chapters/*/*.md"):
            prose = prose_of(lesson)
            with self.subTest(lesson=str(lesson.relative_to(ROOT))):
                links = re.findall(r'\[([^\]]+)\]\(([^)\s]+_test\.cu)(?:\s"([^"]*)")?\)', prose)
                for text, link, title in links:
                    file = (lesson.parent / link).resolve()
                    self.assertIn(" ".join(title.split()), names[file], link)
                    self.assertLessEqual(len(text.split()), 2, text)
                    found += 1
                for text in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", prose):
                    name = " ".join(text.split())
                    self.assertFalse(name in all_names, f"{name}: a test without its link")
        self.assertGreater(found, 20)

    def test_coverage_table(self):
        """Each row of the CPU backend's coverage has tests, all of which exist."""

        def rows_of(document, after):
            lines = text_of(ROOT / document).partition(after)[2].splitlines()
            return [line for line in lines if line.startswith("| ")][2:]

        features = [row.split(" | ")[0] for row in rows_of("docs/cpu-backend.md", "## Coverage")]
        tests = rows_of("docs/internals/cpu-backend-coverage.md", "\n\n")
        self.assertTrue(features)
        self.assertEqual([row.split(" | ")[0] for row in tests], features)
        for row in tests:
            shown_by = re.findall(r"`(\w+\.cu)`: `([^`]+)`", row)
            self.assertTrue(shown_by, f"this row names no test: {row}")
            for file, name in shown_by:
                test_case = re.compile(r'TEST_CASE\(\s*"' + re.escape(name) + '"')
                self.assertRegex(text_of(ROOT / "engine/cpu_backend/tests" / file), test_case)

    def test_verdicts_of_the_memory_model(self):
        """Each verdict of docs/memory-model.md names, up to the next one, a test that exists."""
        prose = prose_of(ROOT / "docs/memory-model.md").partition("\n## ")[2]
        tests = "".join(map(text_of, ROOT.glob("engine/prove/tests/*_test.py")))
        defined = re.findall(r"def (test_\w+)\(self", tests)
        named = re.findall(r"`(test_\w+)`", prose)
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertIn(name, defined)
        verdicts = re.split(r"\*\*(?:race|clean|may\s+be\s+stale)\*\*", prose, flags=re.IGNORECASE)
        for after in verdicts[1:]:
            same_sentence = re.fullmatch(r", and ", after)
            self.assertTrue(same_sentence or "`test_" in after, f"no test is named: {after[:60]}")

    def test_readme_lists_the_chapters(self):
        table_row = re.compile(r"^\|.*\]\(chapters/([^)/]+)/?(?:README\.md)?\)", re.MULTILINE)
        linked = table_row.findall(text_of(ROOT / "README.md"))
        self.assertEqual(linked, [row.folder for row in all_chapters()])


class ExcerptsTest(unittest.TestCase):
    """The checker itself: what it must not let through."""

    SOURCE = "int a;\n\n  int b;\nint c;\nint d;\n"

    def test_accepts(self):
        for excerpt in ("int a;\nint b;\n", "  int b;\n\nint c;", "int a;\n// ...\nint d;"):
            self.assertTrue(stands_in(excerpt, self.SOURCE), excerpt)

    def test_refuses(self):
        for excerpt in ("int e;", "int a;\nint c;", "int d;\n// ...\nint a;", "int a; // a"):
            self.assertFalse(stands_in(excerpt, self.SOURCE), excerpt)
