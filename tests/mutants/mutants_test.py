# SPDX-License-Identifier: MIT
"""Every claim of a lesson that says "this may not be left out" has a mutant that leaves it out, and a
test that rejects it.

A mutant in chapters/*/mutants.txt has these lines:

    Rejected by: the test case that fails
    Diagnosis: what the race checker says is missing, or none
    Results: right, or by chance
    Weak: right, or by chance, and why

The last but one stands only where the results stay right, or may, so that the race checker alone is
sure to reject the mutant. In the weak form the results of a mutant with a race are wrong, at each
of some seeds, but for those that have the last line.

Its edits are made in a copy of the chapters. The chapter's test is
built from the copy in its racecheck form, and the one test case is run. It must fail, but for that
case, and the race checker must name that diagnosis and no other kind; without the edits, the same
test case must pass in silence. The file's other test cases are left out, since compiling them would
take most of the time.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import tempfile

import pytest

from engine.command.build_folder import lines_of
from engine.command.recipe import link_arguments_of, link_step, translate_step
from lab_tool.authoring.mutants import FILE, Edit, read_mutants
from test_setup import printed
from this_build import BUILD, ROOT

SEEDS = (2, 3)  # both shuffle; one interrupts seldom, one often
MORE_SEEDS = range(4, 40)  # for a race or a wait that few orders of the blocks have
WEAK_SEEDS = range(20)
MOST_RIGHT_IN_WEAK_FORM = 4
NO_SOURCES = shutil.ignore_patterns("exercises", "figures", "predictions", "*.md", "*.txt")


REQUIRED = ("Rejected by", "Diagnosis")


class ChapterMutant:
    def __init__(self, chapter, mutant):
        self.chapter, self.mutant = chapter, mutant  # the chapter is a folder
        fields = mutant.fields
        self.test, self.diagnosis = (fields[name] for name in REQUIRED)
        self.results = fields.get("Results", "wrong")
        self.weak_results = fields.get("Weak", "wrong").partition(",")[0]
        self.has_race = self.diagnosis != "none"


def source_of(chapter, test_case):
    """The file of the chapter, a folder, that has the test case; its name may end in a wildcard."""
    name = f'"{test_case.removesuffix("*")}'
    (source,) = [
        file for file in chapter.glob("*_test.cu") if name in file.read_text(encoding="utf-8")
    ]
    return source


TEST_CASE = re.compile(r"^(?:TEMPLATE_)?TEST_CASE\(.*?^}\n", re.MULTILINE | re.DOTALL)


def only_test_cases(source, names):
    """The text of a test's source without its test cases of other names; each name was found."""
    wanted = [f'"{name.removesuffix("*")}' for name in names]

    def kept(match):
        title = match[0].partition(")")[0]
        return match[0] if any(name in title for name in wanted) else ""

    pruned = TEST_CASE.sub(kept, source)
    missing = [name for name in wanted if name not in pruned]
    if missing:
        raise AssertionError(f"there is no test case {', '.join(missing)}")
    return pruned


def all_mutants():
    return [
        ChapterMutant(path.parent, mutant)
        for path in sorted(ROOT.glob(f"chapters/*/{FILE}"))
        for mutant in read_mutants(path, REQUIRED)
    ]


def settings():
    return json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))


def checked(command):
    result = printed(command)
    if result.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))}\n{result.stdout}")


def build(chapters, test_source, test_cases, program):
    """Builds the racecheck form of some test cases; the folder `chapters` has the chapters."""
    known = settings()
    pruned = pathlib.Path(f"{program}.cu")
    pruned.write_text(
        only_test_cases(test_source.read_text(encoding="utf-8"), test_cases), encoding="utf-8"
    )

    def words(name):
        return lines_of(known, name)

    arguments = [
        f"-I{chapters}" if word == f"-I{ROOT / 'chapters'}" else word
        for word in words("scheduled_test_preprocessor_arguments")
    ]
    translated = f"{program}.cpp"
    checked(translate_step(known, str(pruned), translated, arguments, ["--scheduled"]))
    compiled = f"{program}.o"
    checked(
        [
            *words("compiler"), *words("scheduled_test_compile_arguments"), "-w",
            "-c", translated, "-o", compiled,
        ]
    )  # fmt: skip
    # Apart, because what instruments the accesses must not be told to the linker.
    libraries = [
        known["scheduled_test_main"],
        *words("scheduled_libraries"),
        *words("scheduled_link_arguments"),
        *link_arguments_of(BUILD, ("catch2", "libpng")),
    ]
    checked(link_step(known, [compiled], str(program), libraries))


def run(program, test_case, seed):
    """Whether the test case itself passed, and the findings' diagnoses."""
    report = pathlib.Path(f"{program}.{seed}.json")
    output = output_of(program, [test_case], seed, {"LAB_RACECHECK_REPORT": str(report)})
    if not report.is_file():
        raise AssertionError(f"{test_case} did not run:\n{output}")
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    return "All tests passed" in output, {
        name for item in findings if item["kind"] == "race" for name in item["diagnosis"]
    }


def passes_in_weak_form(program, test_case, seed):
    """Whether the test case passes where plain reads get old values."""
    # The first wrong result says all: nothing is asked of what comes after it.
    output = output_of(program, [test_case, "--abort"], seed, {"LAB_WEAK": "1"})
    if "\nweak: " not in output:
        raise AssertionError(f"{test_case} did not run in the weak form:\n{output}")
    return "All tests passed" in output


def output_of(program, words, seed, variables):
    """What a test program prints; the first word is a test case, and options follow."""
    test_case, *options = words
    environment = {
        **os.environ,
        "LAB_RACECHECK_SEED": str(seed),
        "LAB_BRIEF_TESTS": "1",
        "LAB_TIMEOUT": "60",
        **variables,
    }
    environment.pop("LAB_TEST_LOG", None)
    name = test_case.replace(",", "\\,")  # Catch2 takes a comma for "or"
    result = printed(
        [str(program), name, "--rng-seed", "1", *options], env=environment, timeout=600
    )
    if "No test cases matched" in result.stdout:
        raise AssertionError(f"{test_case} did not run:\n{result.stdout}")
    return result.stdout


def judge(item, folder):
    """None if the mutant is rejected for the reason that it names, else what happened."""
    copy = folder / f"{item.chapter.name}-{item.mutant.name}"
    shutil.copytree(ROOT / "chapters", copy / "chapters", ignore=NO_SOURCES)
    chapter = copy / "chapters" / item.chapter.name
    try:
        for name in {edit.source for edit in item.mutant.edits}:
            text = (chapter / name).read_text(encoding="utf-8")
            (chapter / name).write_text(item.mutant.applied_to(text, name), encoding="utf-8")
    except AssertionError as problem:
        return str(problem)
    source = source_of(chapter, item.test)
    program = copy / "mutant"
    build(copy / "chapters", source, [item.test], program)
    passed_everywhere = True
    diagnoses = set()
    expected = set() if item.diagnosis == "none" else set(item.diagnosis.split(", "))
    for seed in (*SEEDS, *MORE_SEEDS):
        survives = passed_everywhere and not diagnoses
        if seed in MORE_SEEDS and diagnoses >= expected and not survives:
            break
        passed, found = run(program, item.test, seed)
        passed_everywhere = passed_everywhere and passed
        diagnoses |= found
    if passed_everywhere and not diagnoses:
        return "it survives"
    if item.results not in ("by chance", "right" if passed_everywhere else "wrong"):
        verb = "passes" if passed_everywhere else "fails"
        return f"{item.test!r} {verb}; the race checker says {sorted(diagnoses)}"
    if diagnoses != expected:
        return f"the race checker says {sorted(diagnoses)}, and not {sorted(expected)}"
    return judge_in_weak_form(item, program) if item.has_race else None


def judge_in_weak_form(item, program):
    """None if its results are as it says, at all seeds."""
    passed = [seed for seed in WEAK_SEEDS if passes_in_weak_form(program, item.test, seed)]
    if item.weak_results == "by chance" and passed:
        return None
    if len(passed) == (len(WEAK_SEEDS) if item.weak_results == "right" else 0):
        return None
    return f"in the weak form {item.test!r} passes at the seeds {passed}"


def test_every_mutant_is_rejected_for_the_reason_that_it_names():
    every = all_mutants()
    assert every
    with (
        tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        verdicts = list(pool.map(lambda item: judge(item, pathlib.Path(folder)), every))
    assert not {
        f"{item.chapter.name}/{item.mutant.name}": verdict
        for item, verdict in zip(every, verdicts)
        if verdict is not None
    }


def test_the_weak_form_shows_nearly_all_races():
    silent = [item for item in all_mutants() if item.has_race and item.weak_results != "wrong"]
    assert len(silent) <= MOST_RIGHT_IN_WEAK_FORM


def test_without_the_edits_the_same_test_cases_pass_in_silence():
    tests = collections.defaultdict(set)
    for item in all_mutants():
        tests[source_of(item.chapter, item.test)].add(item.test)

    def outcomes(source):
        program = pathlib.Path(folder) / source.stem
        build(ROOT / "chapters", source, sorted(tests[source]), program)
        return [
            (test, run(program, test, SEEDS[0]), passes_in_weak_form(program, test, SEEDS[0]))
            for test in sorted(tests[source])
        ]

    with (
        tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        found = list(pool.map(outcomes, tests))
    for source, results in zip(tests, found):
        for test, result, passes in results:
            assert result == (True, set()), (source, test)
            assert passes, (source, test)


def test_only_the_wanted_test_cases_are_left():
    source = 'int a;\nTEST_CASE("one", "[x]") {\n  f();\n}\n\nTEST_CASE("two") {\n}\nint b;\n'
    assert only_test_cases(source, ["two"]) == 'int a;\n\nTEST_CASE("two") {\n}\nint b;\n'
    with pytest.raises(AssertionError):
        only_test_cases(source, ["three"])


def test_a_mutant_that_does_not_apply_is_a_failure():
    stale = first_with(lambda line: line.replace("-", "-never there ", 1))
    with tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder:
        assert "does not apply" in judge(stale, pathlib.Path(folder))


def test_a_mutant_that_changes_nothing_survives():
    harmless = first_with(lambda line: line.replace("-", " ", 1))
    with tempfile.TemporaryDirectory(prefix="lab-mutants-") as folder:
        assert judge(harmless, pathlib.Path(folder)) == "it survives"


def first_with(changed):
    """The first mutant, whose old lines are changed, and which puts nothing in."""
    item = all_mutants()[0]
    edits = tuple(
        Edit(source, tuple(changed(line) for line in lines if line[0] != "+"))
        for source, lines in item.mutant.edits
    )
    return ChapterMutant(item.chapter, item.mutant._replace(edits=edits))
