# SPDX-License-Identifier: MIT
"""What a student is told: of a file that does not compile, and the same in a check as in a grade."""

import pathlib
import tempfile
from unittest import mock

import pytest
from grading_runs import (
    BUILDS,
    can_grade,
    cases_with_work,
    judged,
    real_sandboxes,
    solution_text,
    words_of,
    written,
)

from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.check import check
from grader.judging.compile import (
    CONCURRENT,
    NO_MAIN,
    SCHEDULED,
    UTF16,
    objections_before_compiling,
)
from grader.judging.judge import Asked, CaseRuns, ExerciseCases, verdict_of
from grader.judging.results import cases_of
from grader.judging.runner import LocalRunner, NotCompiled
from grader.judging.sandboxed import (
    LIMITS,
    TOO_MUCH_TEXT,
    SandboxRunner,
    compiled_alone,
    readable_for_compilers,
)
from grader.judging.submission import judge, judgement_of, require_nvcc
from grader.judging.verdict import FAILED
from grader.paths import ROOT
from grader.sandbox.sandbox import Sandbox
from lab_tool.authoring.trials import solution, trials_of
from lab_tool.builds.backends import put_nvcc_on_path, usable_nvcc


def test_the_first_errors_are_told_whatever_the_folders_are_called():
    first = solution_text("01.1").count("\n") + 1
    wrong = "".join(f"int f{n}(int a) {{ return a + undeclared_{n:03}; }}\n" for n in range(150))
    exercise = chosen_exercise("01.1")
    said = []
    for name in ("short", "a_folder_with_a_name_that_is_quite_a_bit_longer"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary).resolve() / name
            folder.mkdir()
            source = folder / exercise.file_name
            source.write_text(solution_text("01.1") + wrong, encoding="utf-8")
            work = folder / "work"
            work.mkdir()
            sandbox = Sandbox(real_sandboxes()[0])
            with pytest.raises(NotCompiled) as caught:
                compiled_alone(sandbox, BUILDS.cpu, exercise, source, work, SCHEDULED)
        said.append(caught.value.lines)
    one, other = said
    assert one == other
    assert f"01_saxpy.cu:{first}:" in "\n".join(said[0][:2])
    assert "undeclared_000" in "\n".join(said[0][:3])


pytestmark = can_grade
put_nvcc_on_path()


def test_a_text_that_takes_too_much_to_read_is_refused_and_the_grader_goes_on():
    """It is read in the sandbox, under the compiler's limits."""
    cases_with_work("01.1")  # the solution has the usual reader
    with tempfile.TemporaryDirectory() as folder:
        reader = pathlib.Path(folder).resolve() / "reader.py"
        reader.write_text("taken = [bytes(1 << 20) for _ in range(1 << 20)]\n", encoding="utf-8")
        reader_of_all = mock.patch("grader.judging.sandboxed.INSPECTION", reader)
        readable = (*readable_for_compilers(BUILDS.cpu, chosen_exercise("01.1")), reader)
        with (
            reader_of_all,
            mock.patch("grader.judging.sandboxed.readable_for_compilers", lambda *_: readable),
            mock.patch("grader.judging.sandboxed.LIMITS", LIMITS._replace(memory=256 << 20)),
        ):
            found = judged("01.1", solution_text("01.1"))
    assert (found.status, words_of(found)) == ("CE", TOO_MUCH_TEXT)


def test_an_object_file_beyond_the_limit_is_no_fault_of_the_compilers():
    """g++ asks to have it reported as a bug of its own."""
    found = judged("01.1", solution_text("01.1") + "int many[1 << 25] = {1};\n")
    assert (found.status, words_of(found)) == ("CE", "The compiler wrote more than 64 MiB.")


def test_utf16_is_one_sentence_in_a_grade_and_in_a_check():
    exercise = chosen_exercise("01.1")
    text = solution_text("01.1")
    sandbox = Sandbox(real_sandboxes()[0])
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        with written("01.1", "") as file:
            file.write_bytes(text.encode(encoding))
            of_grade = judge(sandbox, BUILDS, cases_with_work("01.1"), file)
            of_check = check(BUILDS.cpu, exercise, file)
        assert (of_grade.status, words_of(of_grade)) == ("CE", UTF16)
        assert (of_check.compiles, of_check.lines) == (False, [UTF16])
    assert "save it as UTF-8" in UTF16


@pytest.mark.skipif(not usable_nvcc(), reason="no nvcc is here")
def test_what_nvcc_refuses_does_not_compile_if_it_is_asked():
    throws = "__device__ int thrown(int a) { if (a > 0) throw a; return a; }\n"
    asked = BUILDS._replace(nvcc=usable_nvcc())
    sandbox, cases = Sandbox(real_sandboxes()[0]), cases_with_work("01.1")
    require_nvcc(sandbox, asked, cases.exercise)
    statuses = []
    for text in (solution_text("01.1"), solution_text("01.1") + throws):
        for builds in (BUILDS, asked):
            with written("01.1", text) as file:
                found = judge(sandbox, builds, cases, file)
            statuses.append(found.status)
    assert statuses == ["OK", "OK", "OK", "CE"]
    assert words_of(found).startswith(
        "nvcc, which compiles for a GPU, refuses the file:\n01_saxpy.cu:"
    )
    with (
        mock.patch("grader.judging.submission.starter", lambda _: throws),
        pytest.raises(CommandError, match="its own starter: nvcc, which compiles for a GPU"),
    ):
        require_nvcc(sandbox, asked, cases.exercise)


def test_a_file_that_is_refused_is_told_from_one_that_does_not_compile():
    """Both have the same status; what the student reads first is not the same."""
    text = solution_text("01.1")
    for more, is_refused in (
        ("#include <cstdlib>\nint number() { return rand(); }\n", True),
        ('void call() { asm(""); }\n', True),
        ("int number() { return undeclared; }\n", False),
    ):
        found = judged("01.1", text + more)
        assert (found.status, found.is_refused) == ("CE", is_refused), words_of(found)


def test_a_whole_program_without_main_is_told_so_in_both():
    text = "__global__ void unused() {}\n"
    with written("01.5", text) as file, tempfile.TemporaryDirectory() as folder:
        cpu = BUILDS.cpu._replace(files=pathlib.Path(folder))
        of_check = check(cpu, chosen_exercise("01.5"), file)
    of_grade = judged("01.5", text)
    assert (of_check.compiles, of_check.lines) == (False, [NO_MAIN])
    assert (of_grade.status, words_of(of_grade)) == ("CE", NO_MAIN)


def test_the_mark_of_utf8_and_other_bytes_are_no_utf16():
    text = "\ufeff" + solution_text("01.1")
    found = judged("01.1", text)
    assert (found.status, found.points) == ("OK", 11), words_of(found)
    for content in (b"", b"\0", b"\0" * 99, b"int f();\0", b"// \xe9\xff\n", text.encode()):
        with written("01.1", "") as file:
            file.write_bytes(content)
            assert objections_before_compiling(chosen_exercise("01.1"), file) == [], content


def test_of_the_grader_a_compiler_may_read_the_runners_headers_alone():
    may_read = readable_for_compilers(BUILDS.cpu, chosen_exercise("01.1"))
    of_grader = [path for path in may_read if path.is_relative_to(ROOT / "grader")]
    assert ROOT / "grader/runner/runner.hpp" in of_grader
    assert {path.suffix for path in of_grader} == {".hpp"}


# Each limit, race and wrong result once, as both say it in the same words in each run.
TRIALS = {
    "02.1": """starter solution all_threads_write_the_maximum begins_with_0 last_thread_looks_at_all
        partner_past_the_end reads_global_memory_only returns_before_the_barrier""".split(),
    "04.2": """starter solution counter_not_reset counts_in_global_memory fence_on_one_side_only
        index_of_16_bits no_barrier_before_the_ticket one_block one_thread
        ticket_of_block_scope""".split(),
}
OF_A_PROGRAM = (
    "solution", "starter", "no_copy_back", "freed_twice", "end_not_checked_in_small_blocks",
    "sums_not_freed", "launch_not_checked", "copied_in_pieces", "copied_one_by_one",
)  # fmt: skip


# Mistakes that none of the 20 schedules shows, since they are made in the small case alone:
# {what: (exercise, a piece of the solution, what stands there instead, what is said)}.
IN_SMALL_CASE = {
    "no release": (
        "04.1",
        "__threadfence();\n    last",
        "if (gridDim.x != 3 || blockDim.x != 2) __threadfence();\n    last",
        "two threads race, in one order of the atomic operations (6 rows, 2 columns, 3 blocks)",
    ),
    "two steps in place of one": (
        "04.1",
        "last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;",
        "if (gridDim.x != 3 || blockDim.x != 2) {\n"
        "      last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;\n"
        "    } else {\n"
        "      const unsigned before = atomicAdd(counter, 0);\n"
        "      last = before == gridDim.x - 1;\n"
        "      atomicExch(counter, last ? 0 : before + 1);\n"
        "    }",
        "orders of the atomic operations a result is wrong (6 rows, 2 columns, 3 blocks):",
    ),
}


# What can't be explored: {what: (what 04.1's solution does first, besides its own; what is said)}. No
# schedule shows a mistake.
NOT_EXPLORED = {
    "too many executions": (
        "__shared__ unsigned busy;\n  if (threadIdx.x == 0) busy = 0;\n  __syncthreads();\n"
        "  for (int i = 0; i < (blockIdx.x == 0 ? 2 : 1); ++i) atomicAdd(&busy, 1);\n",
        "There are more than 200. Leave out atomics that change nothing",
    ),
    "too many accesses": (
        "__shared__ unsigned busy;\n"
        "  for (int i = 0; i < 200 && threadIdx.x == 0; ++i) atomicExch(&busy, i);\n",
        "There are too many atomic accesses. Leave out",
    ),
    "assigned to and then used by atomics": (
        "__shared__ unsigned busy;\n  if (threadIdx.x == 0) {\n    atomicExch(&busy, 0);\n"
        "    busy = 1;\n    atomicAdd(&busy, 1);\n  }\n",
        "One word is assigned to and then used by atomics: store to it by an atomic.",
    ),
    "what the exploration refuses": (
        "__shared__ unsigned long long busy;\n  if (threadIdx.x == 0) {\n    atomicExch(&busy, 0);\n"
        "    atomicAdd(reinterpret_cast<unsigned*>(&busy), 1);\n  }\n",
        "two sizes to the same bytes are not explored yet. Use atomics and fences as the lesson does.",
    ),
}

# Other files that can be no solution: {name: text}.
WRONG_FILES = {
    "empty": "",
    "no such function": "int unrelated;\n",
    "another signature": "void fullest_bin(int) {}\n",
    "a main of its own": "int main() {}\n",
    "no C++": "this is no C++\n",
}


def both_verdicts(number, text, results_form=CONCURRENT, every_case=False):
    """What is said of a text at home, with its results judged in this form, and in the sandbox."""
    exercise = chosen_exercise(number)
    cases = ExerciseCases(exercise, cases_of(exercise))
    sandbox = Sandbox(real_sandboxes()[0])
    with (
        written(number, text) as file,
        tempfile.TemporaryDirectory() as programs,
        sandbox.folder() as folder,
    ):
        build = BUILDS.cpu._replace(files=pathlib.Path(programs))
        with LocalRunner(build, exercise, file) as runner:
            runner.results_form = results_form
            at_home = verdict_of(CaseRuns(cases, runner), Asked(every_case))
        runner = SandboxRunner(sandbox, BUILDS, exercise, file, folder)
        return at_home, verdict_of(CaseRuns(cases, runner), Asked(every_case))


def same_verdict(*words, **names):
    at_home, in_sandbox = both_verdicts(*words, **names)
    assert in_sandbox.parts == at_home.parts
    assert in_sandbox.lines == at_home.lines
    assert in_sandbox.lines_of == at_home.lines_of
    assert in_sandbox.cases == at_home.cases
    assert in_sandbox.proved_for == at_home.proved_for
    return at_home


def test_every_wrong_solution():
    rejected_by = set()
    for number, names in TRIALS.items():
        for trial in trials_of(chosen_exercise(number)):
            if trial.name not in names:
                continue
            # What a wrong result is may depend on memory without a value: then it is the
            # same for the same bytes and the same schedule only.
            may_be_wrong = trial.part and "results" in trial.part
            form = SCHEDULED if may_be_wrong else CONCURRENT
            verdict = same_verdict(number, trial.text, form)
            assert verdict.is_solved == (trial.name == "solution")
            rejected_by |= {part for part, each in verdict.parts.items() if each == FAILED}
    assert rejected_by == {"results", "races", "limits"}


def test_some_wrong_solutions_of_a_whole_program():
    """Those in which no address is told, which is another one at home each time."""
    trials = {each.name: each for each in trials_of(chosen_exercise("01.5"))}
    for name in OF_A_PROGRAM:
        verdict = same_verdict("01.5", trials[name].text)
        assert verdict.is_solved == (name == "solution")
        assert verdict.lines


def test_every_case_of_some():
    trials = {each.name: each for each in trials_of(chosen_exercise("04.2"))}
    for name in ("counter_not_reset", "fence_on_one_side_only", "counts_in_global_memory"):
        verdict = same_verdict("04.2", trials[name].text, SCHEDULED, every_case=True)
        assert any(verdict.lines_of.values())
        assert len(verdict.cases) == len(cases_of(chosen_exercise("04.2")))


@pytest.mark.parametrize("name", IN_SMALL_CASE)
def test_a_mistake_that_only_all_executions_of_the_small_case_show(name):
    number, right, wrong, said = IN_SMALL_CASE[name]
    text = solution(chosen_exercise(number))
    assert text.count(right) == 1
    verdict = same_verdict(number, text.replace(right, wrong))
    assert verdict.parts["races"] == FAILED
    assert said in " ".join(verdict.lines)
    assert verdict.proved_for == ""


def test_what_can_not_be_explored_gets_no_points_for_races():
    exercise = chosen_exercise("04.1")
    begins = "  bool last = false;\n"
    for more, said in NOT_EXPLORED.values():
        text = solution(exercise).replace(begins, f"  {more}{begins}")
        verdict = same_verdict("04.1", text, SCHEDULED, every_case=True)
        assert verdict.parts["races"] == FAILED
        words = " ".join(verdict.lines_of["races"])
        assert "No mistake was found, but not all executions of one case" in words
        assert said in words
        assert verdict.diagnoses == ("not all executions explored",)
        rows = {part["part"]: part for part in judgement_of(verdict, exercise).parts}
        assert rows["races"]["points"] == 0


def test_what_is_proved_is_said():
    exercise = chosen_exercise("04.1")
    verdict = same_verdict("04.1", solution(exercise), SCHEDULED, every_case=True)
    assert verdict.proved_for == "proved for 3 blocks of 2 threads"
    rows = {part["part"]: part["lines"] for part in judgement_of(verdict, exercise).parts}
    assert rows["races"] == ["Proved for 3 blocks of 2 threads."]


@pytest.mark.parametrize(("name", "text"), WRONG_FILES.items())
def test_files_that_can_be_no_solution(name, text):
    verdict = same_verdict("04.2", text)
    assert not verdict.compiles
    assert verdict.lines
