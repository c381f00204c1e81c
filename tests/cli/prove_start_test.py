# SPDX-License-Identifier: MIT
"""`./lab prove`: whether a launch ends even if some of its blocks never start."""

import pytest

from lab_runs import lab, needs_racecheck
from this_build import BUILD

pytestmark = needs_racecheck

# All in one file, so that it is compiled once. Options: the kernel, the blocks, how it is launched.
PROGRAM = """\
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <string>

using word_of_device = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed, acquire = cuda::memory_order_acquire;
constexpr auto release = cuda::memory_order_release, acq_rel = cuda::memory_order_acq_rel;

__device__ void wait_for(unsigned& word, unsigned least) {
  while (word_of_device(word).load(acquire) < least) {
  }
}

// Every block waits for all others.
__global__ void barrier(unsigned* word, unsigned*) {
  word_of_device(*word).fetch_add(1, acq_rel);
  wait_for(*word, gridDim.x);
}

__global__ void last_block(unsigned* word, unsigned*) {
  if (blockIdx.x == 0) wait_for(*word, 1);
  if (blockIdx.x == gridDim.x - 1) word_of_device(*word).store(1, release);
}

__global__ void any_other(unsigned* word, unsigned*) {
  if (blockIdx.x == 0) {
    wait_for(*word, 1);
  } else {
    word_of_device(*word).store(1, release);
  }
}

__global__ void lock(unsigned* word, unsigned* out) {
  while (atomicCAS(word, 0, 1) != 0) {
  }
  __threadfence();
  ++*out;
  __threadfence();
  atomicExch(word, 0);
}

__device__ void add_after_the_one_before(unsigned tile, unsigned* word, unsigned* out) {
  if (tile > 0) wait_for(word[tile], 1);
  *out += tile;
  word_of_device(word[tile + 1]).store(1, release);
}

__global__ void tiles_by_ticket(unsigned* word, unsigned* out) {
  add_after_the_one_before(word_of_device(word[7]).fetch_add(1, relaxed), word, out);
}

__global__ void tiles_by_block(unsigned* word, unsigned* out) {
  add_after_the_one_before(blockIdx.x, word, out);
}

// What all have added before the barrier, all read after it.
__global__ void grid_sync(unsigned* word, unsigned* out) {
  word_of_device(*word).fetch_add(1, relaxed);
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = word_of_device(*word).load(relaxed);
}

__global__ void grid_sync_of_some(unsigned*, unsigned*) {
  if (blockIdx.x == 0) cooperative_groups::this_grid().sync();
}

__global__ void grid_sync_too_late(unsigned* word, unsigned*) {
  if (blockIdx.x == 0) wait_for(*word, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 1) word_of_device(*word).store(1, release);
}

// Who takes the last one is what it leaves.
__global__ void ticket(unsigned* word, unsigned*) {
  if (word_of_device(*word).fetch_add(1, relaxed) == gridDim.x - 1) word[6] = blockIdx.x;
}

// In one state alone, and in some orders of the tickets.
__global__ void last_block_after_block_0(unsigned* word, unsigned*) {
  const bool is_second = word_of_device(word[7]).fetch_add(1, relaxed) == 1;
  if (word[6] == 0 && blockIdx.x == 0 && is_second) wait_for(*word, 1);
  if (blockIdx.x == gridDim.x - 1) word_of_device(*word).store(1, release);
}

int main(int, char** words) {
  unsigned *word, *out;
  cudaMallocManaged(&word, 8 * sizeof(unsigned));
  cudaMallocManaged(&out, 8 * sizeof(unsigned));
  word[0] = word[6] = 0;
  const std::string name = words[1], launch = words[3];
  const unsigned blocks = static_cast<unsigned>(std::atoi(words[2]));
  const auto run = [&](auto* kernel, const char* its_name) {
    if (name != its_name) return;
    const unsigned left = word[6];
    for (int i = 0; i < 8; ++i) word[i] = out[i] = 0;
    word[6] = left;
    if (launch == "together") {
      void* arguments[] = {&word, &out};
      cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(blocks), dim3(1), arguments,
                                  0, 0);
    } else {
      kernel<<<blocks, 1>>>(word, out);
    }
  };
  if (launch == "second") {
    ticket<<<blocks, 1>>>(word, out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  }
  run(barrier, "barrier");
  run(last_block, "last_block");
  run(last_block_after_block_0, "last_block_after_block_0");
  run(any_other, "any_other");
  run(lock, "lock");
  run(tiles_by_ticket, "tiles_by_ticket");
  run(tiles_by_block, "tiles_by_block");
  run(grid_sync, "grid_sync");
  run(grid_sync_of_some, "grid_sync_of_some");
  run(grid_sync_too_late, "grid_sync_too_late");
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  std::printf("%u %u %u\\n", out[0], out[1], out[2]);
}
"""
NOT_TOGETHER = "it ends even if not all blocks start together"
TOGETHER = "it ends, as all blocks of a cooperative launch start together"
# Who waits for whom, of a plain launch of 3 blocks.
HANGS = {
    "barrier": "blocks 0 and 1 wait for block 2",
    "last_block": "block 0 waits for block 2",
    "tiles_by_block": "block 2 waits for block 1",
    "any_other": "block 0 waits for one of blocks 1 and 2",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("prove_start")
    (made / "own.cu").write_text(PROGRAM)
    return made


def prove(folder, kernel, blocks=3, launch="plainly", words=()):
    files = ["--build", str(BUILD), "--force", "--decisions", "prove.txt"]
    options = [*files, *words, "--", kernel, str(blocks), launch]
    return lab("prove", "own.cu", *options, folder=folder)


def ends(result, words):
    assert result.returncode == 0, result
    assert f"; no race, no fault; {words}; " in result.stdout
    assert (
        "\nbounds: this grid size and these inputs only, with numbers and times as this machine"
        in result.stdout
    )


@pytest.mark.parametrize("kernel", HANGS)
def test_who_waits_for_a_block_that_need_not_have_started(folder, kernel):
    words = HANGS[kernel]
    result = prove(folder, kernel)
    assert result.returncode == 1, result
    assert f"\nmay hang: {words}, which need not have started\n" in result.stdout
    assert "proved" not in result.stdout
    assert "; need not have started: block (" in result.stdout


@pytest.mark.parametrize("kernel", ("lock", "tiles_by_ticket"))
def test_who_waits_for_blocks_that_have_started_is_fine(folder, kernel):
    ends(prove(folder, kernel, blocks=2), NOT_TOGETHER)


def test_of_a_cooperative_launch_all_start(folder):
    ends(prove(folder, "barrier", blocks=2, launch="together"), TOGETHER)


def test_what_surely_hangs_is_known_before_all_executions_are(folder):
    result = prove(folder, "barrier", blocks=8, words=["--limit", "2"])
    assert "\nmay hang: blocks 0, 1, 2, 3, 4, 5 and 6 wait for block 7, " in result.stdout


def test_the_launch_that_may_hang_is_named(folder):
    result = prove(folder, "last_block", blocks=2, launch="second")
    words = "may hang: in launch 2 block 0 waits for block 1, which need not have started"
    assert words in result.stdout


def test_each_state_that_a_launch_leaves_is_looked_at(folder):
    result = prove(folder, "last_block_after_block_0", launch="second")
    assert "may hang: in launch 2 block 0 waits for block 2, " in result.stdout


def test_an_execution_that_hangs_is_replayed(folder):
    prove(folder, "tiles_by_block")
    assert "\n1:0,2\n" in (folder / "prove.txt").read_text()
    again = prove(folder, "tiles_by_block", words=["--replay", "prove.txt"])
    assert again.returncode == 1, again
    assert "; need not have started: block (1,0,0)" in again.stdout


def test_a_barrier_of_the_grid_orders_and_is_no_choice(folder):
    result = prove(folder, "grid_sync", launch="together")
    ends(result, TOGETHER)
    assert "6 executions of 3 blocks of 1 thread; " in result.stdout
    assert '; one result: "3 3 3"\n' in result.stdout


def test_a_barrier_of_the_grid_that_never_opens(folder):
    result = prove(folder, "grid_sync_of_some", blocks=2, launch="together")
    assert result.returncode == 1, result
    assert "a block has ended without coming there" in result.stdout
    result = prove(folder, "grid_sync_too_late", blocks=2, launch="together")
    assert result.returncode == 1, result
    assert "deadlock: " in result.stdout


@pytest.mark.parametrize("chapter, words", {"05": NOT_TOGETHER, "07": TOGETHER}.items())
def test_chapters(folder, chapter, words):
    result = lab("prove", chapter, "--build", str(BUILD), folder=folder)
    ends(result, words)
    assert "; one result: " in result.stdout
