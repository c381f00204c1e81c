# SPDX-License-Identifier: MIT
"""What a run reports to the judge: how it is read, and whether its kernels do the work."""

import json
import os
import re

import pytest
from grading_runs import CAN_GRADE, can_grade, judged, real_sandboxes, solution_text, words_of

from grader.exercises.catalogue import chosen_exercise
from grader.judging.limits import objections_to_work, work_of
from grader.judging.runner import MOST_REPORT, TIME, Limits, report_in
from grader.sandbox.sandbox import Sandbox, interpreter
from grader.sandbox.sandboxed_run import Access
from lab_tool.authoring.trials import trials_of

WRONG = {
    int: (-1, True, None, 1.5, 1 << 64, "1"),
    bool: (0, None, "true"),
    str: (1, None, []),
    list: ({}, None, 1),
    dict: ({}, [], 1, {"total": 1}),
}


def genuine():
    """A report of the checker's, as it is sent."""
    number = {"total": 4, "most_per_block": 2, "most_per_thread": 1}
    of_threads = [
        f"{space}_{what}"
        for space in ("global", "shared")
        for what in ("loads", "stores", "atomics")
    ] + ["fences"]
    of_blocks = (
        "global_bytes_loaded",
        "global_bytes_stored",
        "block_barriers",
        "warp_barriers",
        "grid_barriers",
    )
    launch = {
        "kernel": "add", "file": "a.cu", "line": 7, "blocks": [2, 1, 1], "threads": [2, 1, 1],
        "completed": True, "blocks_begun": 2, "static_shared_bytes": 0, "dynamic_shared_bytes": 0,
        "unseen_bytes_stored": 0,
        **dict.fromkeys(of_threads, number),
        **{name: {"total": 4, "most_per_block": 2} for name in of_blocks},
    }  # fmt: skip
    return {
        "seed": 3, "launches": 1, "failed_launches": 0, "ended_in_kernel": False,
        "ended_by_time": False, "accesses": 12, "forgotten_reads": 0, "why_lines_are_missing": "",
        "findings": [], "launch_counts": [launch], "runtime_calls": ["cudaMalloc", "launch"],
        "number_of_runtime_calls": 2, "unfreed_allocations": 0,
    }  # fmt: skip


def sent(report):
    return json.dumps(report, indent=1).encode() + b"\n"


def assert_none(name, *value):
    changed = genuine()
    place = changed if name in changed else changed["launch_counts"][0]
    place.pop(name, None)
    if value:
        place[name] = value[0]
    assert report_in(sent(changed)) is None


def test_what_the_checker_writes_is_one():
    assert report_in(sent(genuine())) == genuine()


def test_what_it_would_not_write_is_none():
    whole = sent(genuine())
    for content in (b"", whole[:-1], whole[:-3] + b"\n", whole + whole, whole + b"\n", b" " + whole,
                    whole + b"x\n", whole.replace(b"a.cu", b"\xff"), b"[" * 99999 + b"]}\n",
                    whole[:-2] + b" " * MOST_REPORT + b"}\n"):  # fmt: skip
        assert report_in(content) is None, content[:40]


def test_one_that_a_submission_has_sent_something_before_and_after_is_none():
    """A program that prints can send half a report from a destructor, and the other half after the
    checker's own, which then stands in a value that JSON does not keep, or in one that is not read."""
    own, forged = sent(genuine()), sent(genuine())
    for before, after in (
        (b'{"findings": [', b"], "),
        (b'{\n "seed": 3, "findings": [', b"], "),
        (b'{\n "findings": [{"chain": {}, "other": ', b"}], "),
    ):
        assert report_in(before + own + after + forged[1:]) is None, before


def test_some_runs_have_what_others_have_not():
    """With much memory nothing is compared; what was loaded is asked for at the secret size alone."""
    report = genuine()
    launch = report["launch_counts"][0]
    launch["loaded"] = [0, 0, 4, 1, 8, 1 << 62]
    assert report_in(sent(report)) == report
    del launch["unseen_bytes_stored"]
    assert report_in(sent(report)) == report
    for wrong in (None, {}, "1", [-1], [1.5], [True], [1 << 63], [[1]]):
        launch["loaded"] = wrong
        assert report_in(sent(report)) is None, wrong


def test_each_value_is_of_its_kind_and_none_is_missing_or_new():
    for place in (genuine(), genuine()["launch_counts"][0]):
        for name, value in place.items():
            for wrong in WRONG[type(value)]:
                assert_none(name, wrong)
            if name != "unseen_bytes_stored":
                assert_none(name)
    assert_none("launch_counts", [1, 2])
    assert_none("runtime_calls", [1])
    assert_none("runtime_calls", ["launch"] * 1001)
    assert_none("blocks", [1, 2])
    assert_none("findings", [1])
    assert_none("findings", [{"chain": {"events": [0] * 101}}])
    assert_none("other", 1)


def run_python(kind, text, given=b"", **options):
    python, readable = interpreter()
    with Sandbox.folder() as work:
        return Sandbox(kind).run([python, "-c", text], Access(work, readable), given=given,
                                 **options)  # fmt: skip


@pytest.mark.skipif(not (real_sandboxes()), reason="no sandbox works here")
def test_what_is_given_is_read_once_and_what_is_written_comes_back():
    text = "import os; a = os.read(0, 99); b = os.read(0, 99); os.write(0, a + b + b'.')"
    for kind in real_sandboxes():
        assert run_python(kind, text, b"A=1\0").report == b"A=1\0."


@pytest.mark.skipif(not (real_sandboxes()), reason="no sandbox works here")
def test_a_long_report_is_read_while_the_program_writes_it():
    text = "import os\nfor _ in range(99): os.write(0, b'x' * 10000)"
    for kind in real_sandboxes():
        assert len(run_python(kind, text).report) == 990000


@pytest.mark.skipif(not (real_sandboxes()), reason="no sandbox works here")
def test_of_a_report_without_end_no_more_is_kept_than_shows_that():
    text = "import os\nwhile True: os.write(0, b'x' * 100000)"
    for kind in real_sandboxes():
        run = run_python(kind, text, limits=Limits(seconds=1))
        assert (run.limit, len(run.report)) == (TIME, MOST_REPORT + 1)


@pytest.mark.skipif(not (real_sandboxes()), reason="no sandbox works here")
def test_a_descriptor_that_is_handed_back_is_not_taken():
    """A socket can carry descriptors: they are closed, and are not waited for."""
    text = (
        "import array, socket\n"
        "s = socket.socket(fileno=0)\n"
        "s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [1]))])"
    )
    before = len(os.listdir("/proc/self/fd"))
    for kind in real_sandboxes():
        assert run_python(kind, text).report == b"x"
    assert len(os.listdir("/proc/self/fd")) == before


def launch(loaded, stored, atomics=0):
    return {
        "global_bytes_loaded": {"total": loaded},
        "global_bytes_stored": {"total": stored},
        "global_atomics": {"total": atomics},
    }


def test_a_quarter_of_what_the_solution_loads_and_stores_is_enough():
    ours = work_of({"accesses": 9000, "launch_counts": [launch(3000, 1000)]})
    enough = work_of({"accesses": 10, "launch_counts": [launch(600, 0), launch(0, 400)]})
    assert objections_to_work(enough, ours) == []
    (sentence,) = objections_to_work({**enough, "moved": 999}, ours)
    assert "your kernels do too little for it" in sentence
    assert not re.search(r"\d", sentence)  # else it says how much would do


def test_what_atomics_load_counts_for_a_submission_and_is_not_asked_of_it():
    ours = work_of({"launch_counts": [launch(3000, 1000, 90000)]})
    by_atomics = work_of({"launch_counts": [launch(0, 0, 250)]})
    assert objections_to_work(by_atomics, ours) == []
    too_few = work_of({"launch_counts": [launch(0, 0, 249)]})
    assert len(objections_to_work(too_few, ours)) == 1


def test_without_a_report_no_kernel_was_seen():
    ours = work_of({"accesses": 9000, "launch_counts": [launch(3000, 1000)]})
    for report in (None, {}, {"launch_counts": [{}]}, {"launch_counts": 7}):
        (sentence,) = objections_to_work(work_of(report), ours)
        assert "no kernel of yours was seen to run" in sentence


@can_grade
def test_blocks_without_elements_may_skip_their_shared_memory():
    """33 values for 8 blocks: almost all that our solution does is to clear bins of blocks."""
    text = solution_text("04.2")
    begin = text.index("  for (unsigned bin = threadIdx.x; bin < 256")
    end = text.index("  __syncthreads();\n  if (threadIdx.x == 0) {")
    counting = text[begin:end]
    has_elements = "std::size_t{blockIdx.x} * blockDim.x < count"
    skipping = text.replace(counting, f"  if ({has_elements}) {{\n{counting}  }}\n")
    found = judged("04.2", skipping)
    assert (found.status, found.points) == ("OK", 12), words_of(found)


@can_grade
def test_the_last_block_may_look_by_atomic_loads():
    """The advice of the limit says so, and with few values that is almost all there is to do."""
    text = solution_text("04.2")
    for name in ("bin", "best"):
        text = text.replace(f"bins[{name}]", f"at(bins, {name})")
    text = text.replace("atomicAdd(&at(bins, bin)", "atomicAdd(&bins[bin]")
    function = (
        "__device__ unsigned at(unsigned* bins, unsigned bin) {\n"
        "  cuda::atomic_ref<unsigned, cuda::thread_scope_device> counts(bins[bin]);\n"
        "  return counts.load(cuda::memory_order_relaxed);\n}\n"
    )
    found = judged("04.2", text.replace("__global__", f"{function}\n__global__", 1))
    assert (found.status, found.points) == ("OK", 12), words_of(found)


@can_grade
def test_counting_in_global_memory_fails_the_limits_alone():
    trials = trials_of(chosen_exercise("04.2"))
    text = next(each.text for each in trials if each.name == "counts_in_global_memory")
    found = judged("04.2", text)
    points = {part["part"]: part["points"] for part in found.parts}
    assert points == {"results": 5, "races": 5, "limits": 0}, words_of(found)


# Each thread has two elements, as one structure.
BY_VALUE = """
#include <cstddef>
struct two { float a, b; };
struct step {
  float alpha;
  __device__ virtual two of(two x, two y) const {
    return {alpha * x.a + y.a, alpha * x.b + y.b};
  }
};
struct plain : step {
  __device__ two of(two x, two y) const override { return {x.a + y.a, x.b + y.b}; }
};
__device__ two scaled(const step& by, two x, two y) { return by.step::of(x, y); }
__device__ two added(const step&, two x, two y) { return {x.a + y.a, x.b + y.b}; }
__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  step scales{};
  plain adds;
  scales.alpha = alpha;
  const step& by = alpha == 1 ? adds : scales;
  two (*const combine)(const step&, two, two) = alpha == 1 ? added : scaled;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    two* const to = reinterpret_cast<two*>(y) + i;
    *to = CALL(reinterpret_cast<const two*>(x)[i], *to);
  } else if (2 * i < n) {
    y[2 * i] += alpha * x[2 * i];
  }
}
void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_scaled<<<((n + 1) / 2 + 127) / 128, 128>>>(alpha, x, y, n);
}
"""


@pytest.mark.skipif(not (CAN_GRADE and real_sandboxes()), reason="grading takes a sandbox")
@pytest.mark.parametrize("call", ["by.of(", "combine(by, "], ids=["virtual", "by_pointer"])
def test_structures_by_value_get_all_points(call):
    found = judged("01.1", BY_VALUE.replace("CALL(", call))
    assert (found.status, found.points) == ("OK", 11), words_of(found)
