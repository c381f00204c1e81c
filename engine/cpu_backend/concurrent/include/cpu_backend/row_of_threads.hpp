// SPDX-License-Identifier: MIT
// The loop that translate.py puts around the body of a kernel whose threads can't wait: over the
// thread that runs now and those behind it in its row of the block.
#pragma once

#include "cpu_backend/multiprocessor.hpp"
#include "vector_types.h"

namespace cpu_backend {

// Made by the thread with which a row begins. Should a thread give its turn away after all, the
// block's other rows overtake this one.
class row_of_threads {
 public:
  struct sentinel {};
  class iterator {
   public:
    iterator() : index_(threadIdx), end_(blockDim.x) {}
    const uint3& operator*() const {
      threadIdx.x = index_.x;
      // Before what the thread does: whoever handles a fault reads there whose it is.
      asm volatile("" ::: "memory");
      return index_;
    }
    void operator++() { ++index_.x; }
    bool operator!=(sentinel) const { return index_.x != end_; }

   private:
    uint3 index_;
    const unsigned end_;
  };

  row_of_threads() { this_multiprocessor->run_whole_row(); }
  iterator begin() const { return {}; }
  sentinel end() const { return {}; }
};

}  // namespace cpu_backend
