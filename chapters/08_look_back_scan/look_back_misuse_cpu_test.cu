// SPDX-License-Identifier: MIT
// What a broken precondition of the look-back does on the CPU backend. On a GPU some of it hangs,
// or ends the process's use of the device.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/look_back.cuh"
#include "08_look_back_scan/look_back_memory.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace {

using course::look_back;
using course::plus;
using course::tile_ticket;

// epochs[k] becomes the epoch of the ticket for tile k.
__global__ void take_tickets(look_back<int> tiles, unsigned tickets, unsigned* epochs) {
  const tile_ticket mine = tiles.take_tile(tickets);
  if (threadIdx.x == 0) epochs[mine.tile] = mine.epoch;
}

// Takes one ticket of two. The other tile never comes, and tile 1 waits for tile 0.
__global__ void wait_for_a_tile_that_never_comes(look_back<int> tiles) {
  const tile_ticket mine = tiles.take_tile(2);
  int before = 0;
  if (mine.tile == 1 && threadIdx.x < 32) tiles.exclusive_prefix(mine, 1, plus{}, &before);
}

// Sums of ones: the tiles whose number's last bit is `fixed` take the fixed order.
__global__ void look_back_in_two_orders(look_back<int> tiles, unsigned fixed, bool by_one_thread) {
  const tile_ticket mine = tiles.take_tile(gridDim.x);
  int before = 0;
  if (mine.tile % 2 == fixed) {
    tiles.exclusive_prefix_in_fixed_order(mine, 1, plus{}, &before);
  } else if (!by_one_thread) {
    tiles.exclusive_prefix(mine, 1, plus{}, &before);
  } else if (threadIdx.x == 0) {
    tiles.exclusive_prefix_by_one_thread(mine, 1, plus{}, &before);
  }
}

__global__ void half_of_a_warp_looks_back(look_back<int> tiles) {
  const tile_ticket mine = tiles.take_tile(gridDim.x);
  int before = 0;
  if (threadIdx.x < 16) {
    tiles.exclusive_prefix(mine, 1, plus{}, &before);
  } else {
    __syncwarp();
  }
}

template <class Launch>
void check_launch_fails(cudaError_t expected, Launch launch) {
  course::look_back_memory<int> memory(10);
  launch(memory.access(10));
  CHECK(cudaDeviceSynchronize() == expected);
  CHECK(cudaDeviceReset() == cudaSuccess);
}

}  // namespace

TEST_CASE("after a launch with a ticket too few the next one goes wrong, without an error") {
  course::look_back_memory<int> memory(3);
  lab::device_buffer<unsigned> epochs(std::vector<unsigned>(3, 0));
  take_tickets<<<2, 32>>>(memory.access(3), 3, epochs.data());
  // The next one's blocks, one after the other: a block that asks between the last ticket and the
  // store that begins the next launch is stopped, which happens now and then.
  for (int block = 0; block < 3; ++block) {
    take_tickets<<<1, 32>>>(memory.access(3), 3, epochs.data());
  }
  // Its first block got the ticket that was left, and is of another launch than the two others.
  CHECK(epochs.to_host() == std::vector<unsigned>{2, 2, 1});
  memory.reset();
  take_tickets<<<3, 32>>>(memory.access(3), 3, epochs.data());
  CHECK(epochs.to_host() == std::vector<unsigned>{1, 1, 1});
}

TEST_CASE("a tile that waits for one that never comes is a deadlock that is reported") {
  check_launch_fails(cudaErrorLaunchTimeout, [](look_back<int> tiles) {
    wait_for_a_tile_that_never_comes<<<2, 32>>>(tiles);
  });
}

TEST_CASE("tiles in fixed order and others in one launch stop the kernel") {
  for (const unsigned fixed : {0U, 1U}) {
    for (const bool by_one_thread : {false, true}) {
      CAPTURE(fixed, by_one_thread);
      check_launch_fails(cudaErrorLaunchFailure, [=](look_back<int> tiles) {
        look_back_in_two_orders<<<6, 32>>>(tiles, fixed, by_one_thread);
      });
    }
  }
}

TEST_CASE("a look-back by some lanes of a warp is reported") {
  check_launch_fails(cudaErrorLaunchFailure,
                     [](look_back<int> tiles) { half_of_a_warp_looks_back<<<2, 32>>>(tiles); });
}
