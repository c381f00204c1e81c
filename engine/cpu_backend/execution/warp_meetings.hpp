// SPDX-License-Identifier: MIT
// Where the lanes of the resident block's warps meet: for __syncwarp(), votes, shuffles,
// reductions.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/resident_thread.hpp"

namespace cpu_backend {

// Lanes of one warp that wait for each other. A warp can have several, for different masks.
struct warp_meeting {
  unsigned mask = 0;
  unsigned arrived = 0;
  unsigned left = 0;
  const char* operation = nullptr;  // "__shfl_sync()", ...
  place first_place{};
  std::uint64_t value[warp_size]{};
  resident_thread* waiter[warp_size]{};
};

class warp_meetings {
 public:
  // A block of `threads` threads, of which those with a rank below `first_present` have returned.
  void begin_block(unsigned first_present, unsigned threads);

  // The open meeting of these lanes of a warp; nullptr if the first of them is still to come.
  warp_meeting* find(unsigned warp, unsigned mask) const {
    for (warp_meeting* candidate : warps_[warp].open) {
      if (candidate->mask == mask) return candidate;
    }
    return nullptr;
  }
  warp_meeting& open(unsigned warp, unsigned mask, const char* operation, const place& at);
  // Notes that `thread` waits in the meeting for the others.
  void wait(warp_meeting& meeting, unsigned lane, resident_thread* thread) {
    meeting.waiter[lane] = thread;
    ++waiting_;
  }
  // Whether all lanes have come that have not returned. Then the meeting is no longer open, and
  // those that wait go on: at the end of `runnable`, or before all others if the warp runs ahead.
  bool close_if_complete(unsigned warp, warp_meeting& meeting, thread_queue& runnable) {
    if (meeting.mask & ~(meeting.arrived | warps_[warp].returned)) return false;
    close(warp, meeting, runnable);
    return true;
  }
  // The lane has read what it wanted from a closed meeting; the last one to do so ends it.
  void leave(warp_meeting& meeting, unsigned lane) {
    meeting.left |= 1u << lane;
    if (meeting.left == meeting.arrived) free_.push_back(&meeting);
  }

  void lane_returned(unsigned warp, unsigned lane) { warps_[warp].returned |= 1u << lane; }
  const std::vector<warp_meeting*>& open_in(unsigned warp) const { return warps_[warp].open; }
  // Threads that wait for other lanes.
  unsigned waiting() const { return waiting_; }

  // Whether that is part of what leave() accesses.
  bool hold(const void* address) const;
  // Forgets the threads of a block that has failed.
  void clear();

 private:
  // Not inline: g++ would instantiate what it uses for every file that includes this. (leave() is
  // inlined into kernels, and a submission may call nothing here.)
  void close(unsigned warp, warp_meeting& meeting, thread_queue& runnable);

  struct warp {
    unsigned returned = 0;  // lanes that are gone, and lanes that the block never had
    std::vector<warp_meeting*> open;
  };
  warp warps_[max_threads_per_block / warp_size];
  std::deque<warp_meeting> meetings_;
  std::vector<warp_meeting*> free_;
  unsigned waiting_ = 0;
};

}  // namespace cpu_backend
