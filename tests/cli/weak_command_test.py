# SPDX-License-Identifier: MIT
"""`./lab run --weak`: a program with a race goes wrong, and is told why; one without behaves as ever."""

import json
import os
import unittest

from lab_runs import lab
from test_setup import captured, temporary_folder
from this_build import BUILD

HAS_RACECHECK = json.loads((BUILD / "single_file.json").read_text()).get("racecheck_libraries")

# Block 0 sends 17; FENCE is what both sides do between the data and the flag. Prints what arrived.
MESSAGE = """\
#include <cuda_runtime.h>

#include <cstdio>

__global__ void pass_on(int* data, int* flag, int* arrived) {
  if (blockIdx.x == 0) {
    *data = 17;  // the write
    FENCE;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    FENCE;
    *arrived = *data;  // the read
  }
}

int main() {
  int *data, *flag, *arrived;
  cudaMallocManaged(&data, sizeof(int));
  cudaMallocManaged(&flag, sizeof(int));
  cudaMallocManaged(&arrived, sizeof(int));
  *data = *flag = *arrived = 0;
  pass_on<<<2, 1>>>(data, flag, arrived);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  std::printf("%d\\n", *arrived);
  return *arrived == 17 ? 0 : 1;
}
"""
# Of copies of 16 bytes, and of parts of a word.
COPIES = """\
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

struct quad {
  int part[4];
};

__global__ void pass_on(quad* data, int* flag, quad* arrived, unsigned char* bytes, int* sum) {
  if (blockIdx.x == 0) {
    *data = quad{{1, 2, 3, 4}};
    bytes[1] = 5;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    arrived[0] = *data;
    memcpy(&arrived[1], data, sizeof(quad));
    *sum = bytes[0] + bytes[1];
  }
}

int main() {
  quad *data, *arrived;
  int *flag, *sum;
  unsigned char* bytes;
  cudaMallocManaged(&data, sizeof(quad));
  cudaMallocManaged(&arrived, 2 * sizeof(quad));
  cudaMallocManaged(&flag, sizeof(int));
  cudaMallocManaged(&sum, sizeof(int));
  cudaMallocManaged(&bytes, 4);
  std::memset(data, 0, sizeof(quad));
  std::memset(bytes, 7, 4);
  *flag = 0;
  pass_on<<<2, 1>>>(data, flag, arrived, bytes, sum);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int i = 0; i < 2; ++i) {
    for (const int part : arrived[i].part) std::printf("%d ", part);
  }
  for (const int part : data->part) std::printf("%d ", part);
  std::printf("%d %d\\n", *sum, bytes[1]);
}
"""
# The waiting thread looks at memory again and again, by plain reads.
WAITS = """\
#include <cuda_runtime.h>

#include <cstdio>

__global__ void wait(int* flag, int* looks) {
  if (blockIdx.x == 0) {
    *flag = 1;
  } else {
    for (int i = 0; *flag == 0; ++i) *looks = i;
  }
}

int main() {
  int *flag, *looks;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMallocManaged(&looks, sizeof(int));
  *flag = 0;
  wait<<<2, 1>>>(flag, looks);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""


# Two blocks raise their flags and look at the other one's. If neither has seen it, both count.
FLAGS = """#include <cuda/atomic>
#include <cstdio>
__global__ void look(int* words) {
  cuda::atomic_ref<int, cuda::thread_scope_device> own(words[blockIdx.x]), other(words[1 - blockIdx.x]);
  own.store(1, cuda::memory_order_relaxed);
  cuda::atomic_thread_fence(cuda::memory_order_ORDER, cuda::thread_scope_device);
  if (other.load(cuda::memory_order_relaxed) == 0) atomicAdd(&words[2], 1);
}
int main() {
  int* words;
  cudaMallocManaged(&words, 3 * sizeof(int));
  words[0] = words[1] = words[2] = 0;
  look<<<2, 1>>>(words);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%d\\n", words[2]);
}
"""


@unittest.skipUnless(HAS_RACECHECK, "this build has no racecheck")
class WeakRun(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)

    def run_lab(self, *words, **variables):
        words = ("run", "--build", str(BUILD), *words)
        return lab(*words, folder=self.folder, **variables)

    def file(self, text, name="own.cu"):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def message(self, fence):
        return self.file(MESSAGE.replace("FENCE", fence))

    def test_a_race_gives_a_wrong_result(self):
        file = self.message("")
        self.assertEqual(self.run_lab(file).returncode, 0)
        result = self.run_lab("--weak", file)
        self.assertEqual((result.returncode, result.stdout), (1, "0\n"), result.stderr)
        self.assertIn("\nweak: 1 read got an old value, on 1 line\n", "\n" + result.stderr)
        self.assertTrue(result.stderr.endswith("\nNext: ./lab racecheck own.cu\n"))

    def test_no_race_no_old_value(self):
        result = self.run_lab("--weak", self.message("__threadfence()"))
        self.assertEqual((result.returncode, result.stdout), (0, "17\n"), result.stderr)
        self.assertIn("\nweak: no read got an old value\n", "\n" + result.stderr)

    def test_an_atomic_load_gets_an_older_value(self):
        file = self.file(FLAGS.replace("ORDER", "acq_rel"))
        result = self.run_lab("--weak", file)
        self.assertEqual((result.returncode, result.stdout), (0, "2\n"), result.stderr)
        self.assertIn(
            "\nweak: 1 atomic or volatile load got an older value, as it may\n"
            "weak: no read got an old value\n",
            "\n" + result.stderr,
        )

    def test_two_sequentially_consistent_fences_have_one_order(self):
        file = self.file(FLAGS.replace("ORDER", "seq_cst"))
        for seed in ((), *(("--seed", str(seed)) for seed in range(8))):
            result = self.run_lab("--weak", *seed, file)
            self.assertIn(result.stdout, ("0\n", "1\n"), (seed, result.stderr))

    def test_explain(self):
        result = self.run_lab("--weak", "--explain", self.message("__threadfence_block()"))
        self.assertEqual((result.returncode, result.stdout), (1, "0\n"), result.stderr)
        self.assertRegex(
            result.stderr,
            r"(?s)race \(managed memory\) on .*written by block 0 thread 0 at own\.cu:7\n"
            r".*read by block 1 thread 0 at own\.cu:14\n.*scope too narrow.*"
            r"\n  block 1 thread 0 read 0, though block 0 thread 0 had written 17\n",
        )

    def test_a_seed_draws_the_values_and_can_be_run_again(self):
        file = self.message("")
        results = [self.run_lab("--weak", "--seed", str(seed), file).stdout for seed in range(8)]
        again = [self.run_lab("--weak", "--seed", str(seed), file).stdout for seed in range(8)]
        self.assertEqual(results, again)
        self.assertEqual(set(results), {"0\n", "17\n"})

    def test_copies_and_parts_of_words(self):
        result = self.run_lab("--weak", self.file(COPIES))
        self.assertEqual(result.stdout, "0 0 0 0 0 0 0 0 1 2 3 4 14 5\n", result.stderr)

    def test_waiting_for_a_plain_write(self):
        result = self.run_lab("--weak", self.file(WAITS))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"weak: [\d,]+ reads? got an old value")

    def test_a_chapter(self):
        result = self.run_lab("--weak", "04")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\nweak: no read got an old value\n", "\n" + result.stderr)

    def test_wrong_use(self):
        for words, says in (
            (("01", "--seed", "3"), "--seed goes with --weak"),
            (("01", "--explain"), "--explain goes with --weak"),
            (("01", "--weak", "--seed", "-1"), "--seed"),
            (("nothing.cu", "--weak"), "no file nothing.cu"),
        ):
            with self.subTest(words=words):
                result = self.run_lab(*words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertRegex(result.stderr, r"\Alab: [^\n]+\n\Z")
                self.assertIn(says, result.stderr)

    def test_a_bad_seed_in_the_environment(self):
        # Other tests build an own.cu at the same time.
        self.run_lab("--weak", self.file(MESSAGE.replace("FENCE", ""), "bad_seed.cu"))
        programs = (BUILD / "files").glob("bad_seed-*/bad_seed")
        program = max(programs, key=lambda path: path.stat().st_mtime)
        result = captured([program], env={**os.environ, "LAB_WEAK_SEED": "many"})
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("LAB_WEAK_SEED must be a whole number", result.stderr)
