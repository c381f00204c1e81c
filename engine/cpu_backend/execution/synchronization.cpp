// SPDX-License-Identifier: MIT
// Where the threads of a block wait for each other: the block's barrier, the meetings of its warps,
// and work stealing.
#include <string>
#include <string_view>

#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/execution/failure_message.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend {

// ---- The block's barrier

void block_execution::wait_at_barrier(place at) {
  note_wait(wait_reason::block_barrier, at);
  barrier_.wait(current_);
}

void block_execution::open_barrier() {
  if (stealing_.asks) ask_for_a_block();
  observer::barrier_opens(barrier_.at());
  form::reorder(barrier_.waiting());
  barrier_.open(runnable_);
  count(events_);
  progressed();
}

void block_execution::open_barrier_if_all_wait() {
  if (barrier_.arrived() != 0 && barrier_.arrived() == running_ && all_have_started()) {
    open_barrier();
  }
}

unsigned block_execution::block_barrier_count(const place& at, bool condition,
                                              unsigned* participants) {
  barrier_.count(condition);
  block_barrier(at);
  if (participants) *participants = barrier_.participants_of_last();
  return barrier_.counted_at_last();
}

// The place differs from that of the arrival before: right for the first of a new barrier, and only
// then.
void block_execution::come_to_another_barrier(place at) {
  if (barrier_.arrived() == 0) {
    barrier_.move_to(at);
  } else if (!(at == barrier_.at())) {
    fail(cudaErrorLaunchFailure, [&] {
      const resident_thread& other = *barrier_.waiting().first();
      const std::string here = describe(at), there = describe(other.waits_at);
      const std::string who = describe(threadIdx), whom = describe(other.index);
      const std::string what = "threads of one block wait at different barriers";
      if (here == there)
        return what + " of " + here + ": " + who + " at one, " + whom + " at another";
      return what + ": " + who + " at " + here + ", but " + whom + " at " + there;
    });
  }
}

// ---- The warps' meetings

warp_meeting& block_execution::meet(unsigned mask, std::uint64_t value, const char* operation,
                                    const place& at) {
  const unsigned rank = thread_rank();
  const unsigned warp = rank / warp_size;
  const unsigned lane = rank % warp_size;
  if (!anything_waited()) first_wait();
  if (!(mask >> lane & 1)) {
    fail(cudaErrorLaunchFailure, [&] {
      return std::string(operation) + " at " + describe(at) +
             ": the mask does not name the calling lane " + std::to_string(lane);
    });
  }
  warp_meeting* meeting = warps_.find(warp, mask);
  if (meeting) {
    check_same_operation(*meeting, operation, at);
  } else {
    meeting = &warps_.open(warp, mask, operation, at);
  }
  meeting->arrived |= 1u << lane;
  meeting->value[lane] = value;
  if (!close_if_complete(warp, *meeting)) {
    warps_.wait(*meeting, lane, current_);
    wait(wait_reason::warp, at);
  }
  return *meeting;
}

void block_execution::check_same_operation(const warp_meeting& meeting, const char* operation,
                                           const place& at) {
  if (std::string_view(meeting.operation) == operation) return;
  fail(cudaErrorLaunchFailure, [&] {
    return "lanes of one warp meet in different operations: " + std::string(operation) + " at " +
           describe(at) + ", but " + meeting.operation + " at " + describe(meeting.first_place);
  });
}

bool block_execution::close_if_complete(unsigned warp, warp_meeting& meeting) {
  if (!warps_.close_if_complete(warp, meeting, runnable_)) return false;
  observer::lanes_meet(warp * warp_size, meeting.arrived,
                       std::string_view(meeting.operation) == "__syncwarp()", meeting.first_place);
  count(events_);
  progressed();
  return true;
}

// ---- Work stealing

void block_execution::begin_stealing(int rank, const place& at) {
  if ((rank < 3 && blockDim.z > 1) || (rank < 2 && blockDim.y > 1)) {
    fail(cudaErrorLaunchFailure, [&] {
      return "for_each_canceled_block<" + std::to_string(rank) + "> at " + describe(at) +
             " in a block of more dimensions than that";
    });
  }
  if (thread_rank() != 0) return;
  if (stealing_.begun) {
    fail(cudaErrorLaunchFailure, [&] {
      return "for_each_canceled_block is called a second time by one block, at " + describe(at);
    });
  }
  stealing_.begun = true;
}

// One barrier for each tile, where a second one would double its price. Whoever opens it asks: then
// all threads are done with the tile, and have read the answer of the barrier before.

bool block_execution::steal_block(uint3& index, const place& at) {
  constexpr bool orders_memory = false;  // CUDA promises none, so programs must not rely on it
  stealing_.asks = true;
  block_barrier(at, orders_memory);
  index = stealing_.index;
  return stealing_.found;
}

void block_execution::ask_for_a_block() {
  stealing_.asks = false;
  stealing_.found = grid_->take_block(stealing_.index);
}

}  // namespace cpu_backend
