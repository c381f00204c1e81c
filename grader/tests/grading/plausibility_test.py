# SPDX-License-Identifier: MIT
"""Whether kernels do the work is judged by global memory alone: how much is done in shared memory is a
solution's own affair."""

import unittest

import pytest
from grading_runs import CAN_GRADE, judged, real_sandboxes, solution_text, words_of

from grader.exercises.catalogue import chosen_exercise
from grader.judging.submission import objections_to_work, work_of
from lab_tool.authoring.trials import trials_of


def launch(loaded, stored, atomics=0):
    return {
        "global_bytes_loaded": {"total": loaded},
        "global_bytes_stored": {"total": stored},
        "global_atomics": {"total": atomics},
    }


class WorkTest(unittest.TestCase):
    def test_a_quarter_of_what_the_solution_loads_and_stores_is_enough(self):
        ours = work_of({"accesses": 9000, "launch_counts": [launch(3000, 1000)]})
        enough = work_of({"accesses": 10, "launch_counts": [launch(600, 0), launch(0, 400)]})
        self.assertEqual(objections_to_work(enough, ours), [])
        (sentence,) = objections_to_work({**enough, "moved": 999}, ours)
        self.assertIn("your kernels do too little for it", sentence)
        self.assertNotRegex(sentence, r"\d")  # else it says how much would do

    def test_what_atomics_load_counts_for_a_submission_and_is_not_asked_of_it(self):
        ours = work_of({"launch_counts": [launch(3000, 1000, 90000)]})
        by_atomics = work_of({"launch_counts": [launch(0, 0, 250)]})
        self.assertEqual(objections_to_work(by_atomics, ours), [])
        too_few = work_of({"launch_counts": [launch(0, 0, 249)]})
        self.assertEqual(len(objections_to_work(too_few, ours)), 1)

    def test_without_a_report_no_kernel_was_seen(self):
        ours = work_of({"accesses": 9000, "launch_counts": [launch(3000, 1000)]})
        for report in (None, {}, {"launch_counts": [{}]}, {"launch_counts": 7}):
            (sentence,) = objections_to_work(work_of(report), ours)
            self.assertIn("no kernel of yours was seen to run", sentence)


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class GlobalMemoryTest(unittest.TestCase):
    def test_blocks_without_elements_may_skip_their_shared_memory(self):
        """33 values for 8 blocks: almost all that our solution does is to clear bins of blocks."""
        text = solution_text("04.2")
        begin = text.index("  for (unsigned bin = threadIdx.x; bin < 256")
        end = text.index("  __syncthreads();\n  if (threadIdx.x == 0) {")
        counting = text[begin:end]
        has_elements = "std::size_t{blockIdx.x} * blockDim.x < count"
        skipping = text.replace(counting, f"  if ({has_elements}) {{\n{counting}  }}\n")
        found = judged("04.2", skipping)
        self.assertEqual((found.status, found.points), ("OK", 12), words_of(found))

    def test_the_last_block_may_look_by_atomic_loads(self):
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
        self.assertEqual((found.status, found.points), ("OK", 12), words_of(found))

    def test_counting_in_global_memory_fails_the_limits_alone(self):
        trials = trials_of(chosen_exercise("04.2"))
        text = next(each.text for each in trials if each.name == "counts_in_global_memory")
        found = judged("04.2", text)
        points = {part["part"]: part["points"] for part in found.parts}
        self.assertEqual(points, {"results": 5, "races": 5, "limits": 0}, words_of(found))


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
