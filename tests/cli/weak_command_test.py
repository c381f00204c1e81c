# SPDX-License-Identifier: MIT
"""`./lab run --weak`: a program with a race goes wrong, and is told why; one without behaves as ever. And of
a kernel that waits by plain reads, and for ever, racecheck and --weak name the line of the read, and say that
the loop polls without an atomic."""

import os
import pathlib
import re
import sys
import tempfile

import pytest

from lab_runs import SETTINGS, lab, needs_racecheck
from test_setup import captured, printed
from this_build import BUILD, ROOT

pytestmark = needs_racecheck

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
# The waiting thread reads memory again and again, by plain reads.
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


# Two blocks raise their flags and read the other one's. If neither has seen it, both count.
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


def run_lab(tmp_path, *words, **variables):
    words = ("run", "--build", str(BUILD), *words)
    return lab(*words, folder=tmp_path, **variables)


def written(tmp_path, text, name="own.cu"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return name


def message(tmp_path, fence):
    return written(tmp_path, MESSAGE.replace("FENCE", fence))


def test_a_race_gives_a_wrong_result(tmp_path):
    file = message(tmp_path, "")
    assert run_lab(tmp_path, file).returncode == 0
    result = run_lab(tmp_path, "--weak", file)
    assert (result.returncode, result.stdout) == (1, "0\n"), result.stderr
    assert "\nweak: 1 read got an old value, on 1 line\n" in "\n" + result.stderr
    assert result.stderr.endswith("\nNext: ./lab racecheck own.cu\n")


def test_no_race_no_old_value(tmp_path):
    result = run_lab(tmp_path, "--weak", message(tmp_path, "__threadfence()"))
    assert (result.returncode, result.stdout) == (0, "17\n"), result.stderr
    assert "\nweak: no read got an old value\n" in "\n" + result.stderr


def test_an_atomic_load_gets_an_older_value(tmp_path):
    file = written(tmp_path, FLAGS.replace("ORDER", "acq_rel"))
    result = run_lab(tmp_path, "--weak", file)
    assert (result.returncode, result.stdout) == (0, "2\n"), result.stderr
    assert (
        "\nweak: 1 atomic or volatile load got an older value, as it may\n"
        "weak: no read got an old value\n"
    ) in "\n" + result.stderr


def test_two_sequentially_consistent_fences_have_one_order(tmp_path):
    file = written(tmp_path, FLAGS.replace("ORDER", "seq_cst"))
    for seed in ((), *(("--seed", str(seed)) for seed in range(8))):
        result = run_lab(tmp_path, "--weak", *seed, file)
        assert result.stdout in ("0\n", "1\n"), (seed, result.stderr)


def test_explain(tmp_path):
    result = run_lab(tmp_path, "--weak", "--explain", message(tmp_path, "__threadfence_block()"))
    assert (result.returncode, result.stdout) == (1, "0\n"), result.stderr
    assert re.search(
        r"(?s)race \(managed memory\) on .*written by block 0 thread 0 at own\.cu:7\n"
        r".*read by block 1 thread 0 at own\.cu:14\n.*scope too narrow.*"
        r"\n  block 1 thread 0 read 0, though block 0 thread 0 had written 17\n",
        result.stderr,
    )


def test_a_seed_draws_the_values_and_can_be_run_again(tmp_path):
    file = message(tmp_path, "")
    results = [run_lab(tmp_path, "--weak", "--seed", str(seed), file).stdout for seed in range(8)]
    again = [run_lab(tmp_path, "--weak", "--seed", str(seed), file).stdout for seed in range(8)]
    assert results == again
    assert set(results) == {"0\n", "17\n"}


def test_copies_and_parts_of_words(tmp_path):
    result = run_lab(tmp_path, "--weak", written(tmp_path, COPIES))
    assert result.stdout == "0 0 0 0 0 0 0 0 1 2 3 4 14 5\n", result.stderr


def test_waiting_for_a_plain_write(tmp_path):
    result = run_lab(tmp_path, "--weak", written(tmp_path, WAITS))
    assert result.returncode == 0, result.stderr
    assert re.search(r"weak: [\d,]+ reads? got an old value", result.stderr)


def test_a_chapter(tmp_path):
    result = run_lab(tmp_path, "--weak", "04")
    assert result.returncode == 0, result.stderr
    assert "\nweak: no read got an old value\n" in "\n" + result.stderr


@pytest.mark.parametrize(
    "words, says",
    (
        (("01", "--seed", "3"), "--seed goes with --weak"),
        (("01", "--explain"), "--explain goes with --weak"),
        (("01", "--weak", "--seed", "-1"), "--seed"),
        (("nothing.cu", "--weak"), "no file nothing.cu"),
    ),
    ids=["seed", "explain", "negative_seed", "no_file"],
)
def test_wrong_use(tmp_path, words, says):
    result = run_lab(tmp_path, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(r"\Alab: [^\n]+\n\Z", result.stderr)
    assert says in result.stderr


def test_a_bad_seed_in_the_environment(tmp_path):
    # Other tests build an own.cu at the same time.
    run_lab(tmp_path, "--weak", written(tmp_path, MESSAGE.replace("FENCE", ""), "bad_seed.cu"))
    programs = (BUILD / "files").glob("bad_seed-*/bad_seed")
    program = max(programs, key=lambda path: path.stat().st_mtime)
    result = captured([program], env={**os.environ, "LAB_WEAK_SEED": "many"})
    assert (result.returncode, result.stdout) == (2, "")
    assert "LAB_WEAK_SEED must be a whole number" in result.stderr


# clang takes it that a loop without side effects ends, and leaves it out.
LOOPS_MAY_VANISH = "clang" in SETTINGS["compiler"]

# The kernel's body begins at line 4. No thread writes the flag.
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


def outputs(body, ways=BY_RACECHECK, header="cuda_runtime.h", seconds=1):
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
            assert result.returncode == 1, result.stdout
            yield "\n".join(line.strip() for line in result.stdout.splitlines())


@pytest.mark.skipif(LOOPS_MAY_VANISH, reason="with clang there is no such loop")
def test_the_loop_of_one_line_reads_again_and_again():
    for output in outputs(READ_ONCE):
        assert re.search(
            r"block [01] thread 0 reads one place in memory again and again, by plain reads at own\.cu:4\n"
            r"while \(\*flag == 0\) \{\n"
            rf"the loop {WITHOUT_AN_ATOMIC}: .*cuda::atomic_ref.*volatile",
            output,
        ), output


@pytest.mark.skipif(LOOPS_MAY_VANISH, reason="with clang there is no such loop")
def test_the_read_is_on_another_line():
    for output in outputs(READ_BEFORE_THE_LOOP):
        assert re.search(
            r"the last read of block [01] thread 0 was a plain one, at own\.cu:4\n"
            r"const int seen = \*flag;\n"
            rf"if it waits for that value, its loop {WITHOUT_AN_ATOMIC}",
            output,
        ), output
        assert "thread (0,0,0): Stopped at own.cu:5: it ran there when" in output


def test_an_ordinary_run_names_the_loop():
    for output in outputs(READ_AGAIN_AND_AGAIN, [["run"]]):
        assert re.search(r"thread \(0,0,0\): Stopped at own\.cu:[45]: it ran there when", output), (
            output
        )


def test_the_loop_reads_again_and_again():
    for output in outputs(READ_AGAIN_AND_AGAIN):
        assert re.search(
            r"block [01] thread 0 reads one place in memory again and again, "
            r"by plain reads at own\.cu:4\n"
            r"while \(\*flag == 0\) \{\n"
            rf"the loop {WITHOUT_AN_ATOMIC}",
            output,
        ), output


def test_the_line_of_the_read_that_waits():
    for output in outputs(VOLATILE.replace("++all;", ""), seconds=60):
        assert re.search(r"\nthread \(0,0,0\) waits for a value in memory, own\.cu:5\n", output), (
            output
        )


def test_a_barrier_that_expects_too_many_is_the_line_that_waits():
    for name, wait in (
        ("barrier", "meeting.arrive_and_wait();"),
        ("barrier", "meeting.wait(meeting.arrive());"),
        ("latch", "meeting.arrive_and_wait();"),
    ):
        text = BARRIER.replace("NAME", name).replace("WAIT", wait)
        ways = [["run"], ["racecheck", "--seeds", "1"]]
        for output in outputs(text, ways, f"cuda/{name}", 60):
            assert re.search(
                r"\nthread \(0,0,0\) waits for a value in memory, own\.cu:7\n", output
            ), output


def test_not_where_it_polls_by_atomics_or_volatile_reads():
    for body in (ATOMIC, ATOMIC_AND_COUNTS, VOLATILE):
        for output in outputs(body):
            assert "deadlock" in output
            assert "without an atomic" not in output
