# SPDX-License-Identifier: MIT
"""A kernel that waits by plain reads, and for ever: `lab racecheck` and `lab run --weak` name the line
of the read, and say that the loop polls without an atomic."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

from test_setup import printed
from this_build import BUILD, ROOT

SINGLE_FILE = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
HAS_RACECHECK = SINGLE_FILE.get("racecheck_libraries")
# clang takes it that a loop without side effects ends, and leaves it out.
LOOPS_MAY_VANISH = "clang" in SINGLE_FILE["compiler"]

# The kernel's body begins at line 4. Nobody writes the flag.
PROGRAM = """\
#include <cuda_runtime.h>

__global__ void wait(int* flag, int* looks) {
BODY
}

int main() {
  int *flag, *looks;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMallocManaged(&looks, sizeof(int));
  *flag = *looks = 0;
  wait<<<2, 1>>>(flag, looks);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""
READ_ONCE = """\
  while (*flag == 0) {
  }"""
READ_BEFORE_THE_LOOP = """\
  const int seen = *flag;
  while (seen == 0) {
  }"""
READ_AGAIN_AND_AGAIN = """\
  while (*flag == 0) {
    ++*looks;
  }"""
ATOMIC = """\
  int all = looks[0];
  while (atomicAdd(flag, 0) == 0) {
  }
  looks[0] = all;"""
# Known by the time alone, since the thread changes what it holds.
ATOMIC_AND_COUNTS = """\
  int all = looks[0];
  while (atomicAdd(flag, 0) == 0) {
    ++all;
  }
  looks[0] = all;"""
VOLATILE = """\
  int all = looks[0];
  while (*static_cast<volatile int*>(flag) == 0) {
    ++all;
  }
  looks[0] = all;"""
BARRIER = """\
  using one = cuda::NAME<cuda::thread_scope_block>;
  __shared__ alignas(one) char bytes[sizeof(one)];
  one& meeting = *new (bytes) one(3);
  WAIT
  looks[0] = flag[0];"""

BY_RACECHECK = (["racecheck", "--seeds", "1"], ["run", "--weak"])
WITHOUT_AN_ATOMIC = "polls without an atomic, so it need never see what another thread writes"


@unittest.skipUnless(HAS_RACECHECK, "this build has no racecheck")
class PlainPoll(unittest.TestCase):
    def outputs(self, body, ways=BY_RACECHECK, header="cuda_runtime.h", seconds=1):
        """What is printed, each of these ways, of a kernel with this body that does not end."""
        with tempfile.TemporaryDirectory() as folder:
            text = PROGRAM.replace("BODY", body).replace("cuda_runtime.h", header)
            pathlib.Path(folder, "own.cu").write_text(text, encoding="utf-8")
            for words in ways:
                result = printed(
                    [sys.executable, ROOT / "lab", *words, "--build", str(BUILD), "own.cu"],
                    cwd=folder,
                    timeout=300,
                    env={**os.environ, "LAB_TIMEOUT": str(seconds)},
                )
                self.assertEqual(result.returncode, 1, result.stdout)
                yield "\n".join(line.strip() for line in result.stdout.splitlines())

    @unittest.skipIf(LOOPS_MAY_VANISH, "with clang there is no such loop")
    def test_the_loop_does_not_read_again(self):
        for output in self.outputs(READ_ONCE):
            self.assertRegex(
                output,
                r"block [01] thread 0 loops at own\.cu:4, and the loop does not read memory again\n"
                r"while \(\*flag == 0\) \{\n"
                rf"the loop {WITHOUT_AN_ATOMIC}: .*cuda::atomic_ref.*volatile",
            )

    @unittest.skipIf(LOOPS_MAY_VANISH, "with clang there is no such loop")
    def test_the_read_is_on_another_line(self):
        for output in self.outputs(READ_BEFORE_THE_LOOP):
            self.assertRegex(
                output,
                r"the last read of block [01] thread 0 was a plain one, at own\.cu:4\n"
                r"const int seen = \*flag;\n"
                rf"if it waits for that value, its loop {WITHOUT_AN_ATOMIC}",
            )
            self.assertIn("thread (0,0,0): Stopped at own.cu:5: it ran there when", output)

    def test_an_ordinary_run_names_the_loop(self):
        for output in self.outputs(READ_AGAIN_AND_AGAIN, [["run"]]):
            self.assertRegex(
                output, r"thread \(0,0,0\): Stopped at own\.cu:[45]: it ran there when"
            )

    def test_the_loop_reads_again_and_again(self):
        for output in self.outputs(READ_AGAIN_AND_AGAIN):
            self.assertRegex(
                output,
                r"block [01] thread 0 reads one place in memory again and again, "
                r"by plain reads at own\.cu:4\n"
                r"while \(\*flag == 0\) \{\n"
                rf"the loop {WITHOUT_AN_ATOMIC}",
            )

    def test_the_line_of_the_read_that_waits(self):
        for output in self.outputs(VOLATILE.replace("++all;", ""), seconds=60):
            self.assertRegex(output, r"\nthread \(0,0,0\) for a value in memory, own\.cu:5\n")

    def test_a_barrier_that_expects_too_many_is_the_line_that_waits(self):
        for name, wait in (
            ("barrier", "meeting.arrive_and_wait();"),
            ("barrier", "meeting.wait(meeting.arrive());"),
            ("latch", "meeting.arrive_and_wait();"),
        ):
            text = BARRIER.replace("NAME", name).replace("WAIT", wait)
            ways = [["run"], ["racecheck", "--seeds", "1"]]
            for output in self.outputs(text, ways, f"cuda/{name}", 60):
                with self.subTest(name, wait=wait):
                    self.assertRegex(
                        output, r"\nthread \(0,0,0\) for a value in memory, own\.cu:7\n"
                    )

    def test_not_where_it_polls_by_atomics_or_volatile_reads(self):
        for body in (ATOMIC, ATOMIC_AND_COUNTS, VOLATILE):
            for output in self.outputs(body):
                with self.subTest(body=body):
                    self.assertIn("deadlock", output)
                    self.assertNotIn("without an atomic", output)
