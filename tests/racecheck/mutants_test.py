#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every claim of a lesson that says "this may not be left out" has a patch that leaves it out, and a
test that rejects it.

A patch in chapters/*/mutants begins with these lines:

    Mutant: what it changes
    Rejected by: the test case that fails
    Diagnosis: what the race checker says is missing, or none
    Results: right, or by chance

The last one stands only where the results stay right, or may, so that the race checker alone is
sure to reject the mutant. The patch is applied to a copy of the chapters. The chapter's test is
built from the copy in its racecheck form, and the one test case is run. It must fail, but for that
case, and the race checker must name that diagnosis and no other kind; without the patch, the same
test case must pass in silence.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import python_test

ROOT = pathlib.Path(os.environ["LAB_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["LAB_BUILD_FOLDER"])
SEEDS = (2, 3)  # both shuffle; one interrupts seldom, one often


class mutant:
    def __init__(self, path):
        self.path = path
        self.chapter = path.parent.parent
        text = path.read_text(encoding="utf-8")
        head = text.split("\n--- ", 1)[0]
        fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        self.what, self.test, self.diagnosis = (
            fields[name] for name in ("Mutant", "Rejected by", "Diagnosis")
        )
        self.results = fields.get("Results", "wrong")


def source_of(chapter, test_case):
    """The file of the chapter, a folder, that has the test case; its name may end in a wildcard."""
    name = f'"{test_case.removesuffix("*")}'
    (source,) = [
        file for file in chapter.glob("*_test.cu") if name in file.read_text(encoding="utf-8")
    ]
    return source


def all_mutants():
    return [mutant(path) for path in sorted(ROOT.glob("chapters/*/mutants/*.patch"))]


def settings():
    return json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))


def link_arguments_of(*names):
    known = json.loads((BUILD / "meson-info/intro-dependencies.json").read_text(encoding="utf-8"))
    return [word for item in known if item["name"] in names for word in item["link_args"]]


def checked(command):
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if result.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))}\n{result.stdout}")


def build(chapters, test_source, program):
    """Builds the racecheck form of a test whose chapters are in the folder `chapters`."""
    known = settings()

    def words(name):
        return known[name].split("\n")

    arguments = [
        f"-I{chapters}" if word == f"-I{ROOT / 'chapters'}" else word
        for word in words("racecheck_preprocessor_arguments")
    ]
    translated = f"{program}.cpp"
    checked(
        [
            sys.executable, known["translate"], "--compiler", shlex.join(words("compiler")),
            "--output", translated, "--observed", str(test_source), "--", *arguments, "-DNDEBUG",
        ]
    )  # fmt: skip
    compiled = f"{program}.o"
    checked(
        [
            *words("compiler"), *words("racecheck_compile_arguments"), "-g0", "-w", "-DNDEBUG",
            "-c", translated, "-o", compiled,
        ]
    )  # fmt: skip
    # Apart, because what instruments the accesses must not be told to the linker.
    checked(
        [
            *words("compiler"), compiled, "-o", str(program), known["racecheck_test_main"],
            *words("racecheck_libraries"), *words("racecheck_link_arguments"),
            *link_arguments_of("boost", "catch2", "libpng"),
        ]
    )  # fmt: skip


def run(program, test_case, seed):
    """Whether the test case itself passed, and the findings' diagnoses."""
    report = pathlib.Path(f"{program}.{seed}.json")
    environment = {
        **os.environ,
        "LAB_RACECHECK_SEED": str(seed),
        "LAB_RACECHECK_REPORT": str(report),
        "LAB_BRIEF_TESTS": "1",
        "LAB_TIMEOUT": "60",
    }
    environment.pop("LAB_TEST_LOG", None)
    name = test_case.replace(",", "\\,")  # Catch2 takes a comma for "or"
    result = subprocess.run(
        [str(program), name, "--rng-seed", "1"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if "No test cases matched" in result.stdout or not report.is_file():
        raise AssertionError(f"{test_case} did not run:\n{result.stdout}")
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    return "All tests passed" in result.stdout, {
        name for item in findings if item["kind"] == "race" for name in item["diagnosis"]
    }


def judge(item, folder):
    """None if the mutant is rejected for the reason that it names, else what happened."""
    copy = folder / f"{item.chapter.name}-{item.path.stem}"
    shutil.copytree(ROOT / "chapters", copy / "chapters")
    applied = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", str(item.path)],
        cwd=copy,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)},
        check=False,
    )
    if applied.returncode != 0:
        return f"the patch does not apply: {applied.stderr}"
    source = source_of(copy / "chapters" / item.chapter.name, item.test)
    program = copy / "mutant"
    build(copy / "chapters", source, program)
    passed_everywhere = True
    diagnoses = set()
    for seed in SEEDS:
        passed, found = run(program, item.test, seed)
        passed_everywhere = passed_everywhere and passed
        diagnoses |= found
    if passed_everywhere and not diagnoses:
        return "it survives"
    if item.results not in ("by chance", "right" if passed_everywhere else "wrong"):
        verb = "passes" if passed_everywhere else "fails"
        return f"{item.test!r} {verb}; the race checker says {sorted(diagnoses)}"
    expected = set() if item.diagnosis == "none" else set(item.diagnosis.split(", "))
    if diagnoses != expected:
        return f"the race checker says {sorted(diagnoses)}, and not {sorted(expected)}"
    return None


class mutants(unittest.TestCase):
    def test_every_mutant_is_rejected_for_the_reason_that_it_names(self):
        every = all_mutants()
        self.assertTrue(every)
        with tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                verdicts = list(pool.map(lambda item: judge(item, pathlib.Path(folder)), every))
        for item, verdict in zip(every, verdicts):
            with self.subTest(mutant=f"{item.chapter.name}/{item.path.stem}"):
                self.assertIsNone(verdict)

    def test_without_a_patch_the_same_test_cases_pass_in_silence(self):
        tests = {(source_of(item.chapter, item.test), item.test) for item in all_mutants()}
        with tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder:
            programs = {}
            for source, test in sorted(tests):
                if source not in programs:
                    programs[source] = pathlib.Path(folder) / source.stem
                    build(ROOT / "chapters", source, programs[source])
                with self.subTest(source=source.name, test=test):
                    self.assertEqual(run(programs[source], test, SEEDS[0]), (True, set()))

    def test_a_patch_that_does_not_apply_is_a_failure(self):
        with tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder:
            stale = pathlib.Path(folder) / "stale.patch"
            text = all_mutants()[0].path.read_text(encoding="utf-8")
            stale.write_text(text.replace("\n-", "\n-never there "), encoding="utf-8")
            item = mutant(all_mutants()[0].path)
            item.path = stale
            self.assertIn("does not apply", judge(item, pathlib.Path(folder)))

    def test_a_mutant_that_changes_nothing_survives(self):
        with tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder:
            harmless = pathlib.Path(folder) / "harmless.patch"
            item = all_mutants()[0]
            lines = item.path.read_text(encoding="utf-8").splitlines(keepends=True)
            # Each line that the patch takes away is put back.
            changed = [line for line in lines if not line.startswith("+") or line[1] == "+"]
            put_back = []
            for line in changed:
                put_back.append(line)
                if line.startswith("-") and not line.startswith("---"):
                    put_back.append("+" + line[1:])
            text = "".join(put_back)
            head = re.search(r"@@ -\d+,(\d+) \+\d+,(\d+) @@", text)
            old, new = head.groups()
            harmless.write_text(text.replace(f",{new} @@", f",{old} @@", 1), encoding="utf-8")
            item.path = harmless
            self.assertEqual(judge(item, pathlib.Path(folder)), "it survives")


if __name__ == "__main__":
    python_test.main()
