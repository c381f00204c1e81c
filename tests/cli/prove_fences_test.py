# SPDX-License-Identifier: MIT
"""`./lab prove`: a guard in which every thread fences has very many orders of its fences, and one verdict."""

import json

import pytest

from lab_runs import lab
from this_build import BUILD

HAS_RACECHECK = json.loads((BUILD / "single_file.json").read_text()).get("racecheck_libraries")
pytestmark = pytest.mark.skipif(not HAS_RACECHECK, reason="this build has no racecheck")

# Options: whether the last block's threads fence after the ticket, and whether all others do; whether
# there is a race in shared memory; and one of two blocks that have nothing to do with the guard.
PROGRAM = """\
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__managed__ unsigned part[9], tickets, result[3], other;

__global__ void sum(bool last_fences, bool all_fence, bool shared_race, bool global_race) {
  __shared__ unsigned ticket, seen[3];
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  seen[threadIdx.x] = threadIdx.x;
  if (global_race && threadIdx.x == 1) other = 1;
  __threadfence();
  if (shared_race) part[blockIdx.x * blockDim.x + threadIdx.x] = seen[2 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1);
  __syncthreads();
  if (all_fence) __threadfence();
  if (ticket != gridDim.x - 1) return;
  if (last_fences) __threadfence();
  for (unsigned block = 0; block < gridDim.x; ++block)
    result[threadIdx.x] += part[block * blockDim.x + threadIdx.x];
}

int main(int, char** words) {
  const auto is_set = [&](int i) { return std::atoi(words[i]) != 0; };
  sum<<<3, 3>>>(is_set(1), is_set(2), is_set(3), is_set(4));
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%u %u %u\\n", result[0], result[1], result[2]);
}
"""
RIGHT = "proved: 6 executions of 3 blocks of 3 threads; no race"
# By the options: what is said.
VERDICTS = {
    "1 0 0 0": [RIGHT, 'one result: "3 3 3"'],
    "1 1 0 0": [RIGHT, 'one result: "3 3 3"'],
    "0 1 0 0": [RIGHT, 'one result: "3 3 3"'],
    "0 0 0 0": ["refuted by execution 1", "race (global memory) on part", "missing acquire"],
    "1 0 1 0": ["refuted by execution 1", "race (shared memory) on seen", "missing __syncwarp()"],
    "1 1 0 1": ["refuted by execution 1", "race (global memory) on other"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("prove")
    (made / "own.cu").write_text(PROGRAM)
    return made


@pytest.mark.parametrize("options", VERDICTS)
def test_a_race_that_no_order_repairs_is_found(folder, options):
    words = ["prove", "own.cu", "--build", str(BUILD), "--", *options.split()]
    result = lab(*words, folder=folder)
    assert result.returncode == (VERDICTS[options][0] != RIGHT), result
    assert [each for each in VERDICTS[options] if each not in result.stdout] == [], result
