// SPDX-License-Identifier: MIT
// A run by a list of decisions in place of a seed: before each strong access (an atomic, a volatile
// one) all threads of all blocks have come to their next one or wait, and the list says whose is
// next. What happened is written down, for whoever makes the next list.
//   LAB_PROVE_DECISIONS=FILE  the list: "block.thread", one per strong access; after its end the
//                             first thread that can goes on
//   LAB_PROVE_TRACE=FILE      what happened goes there
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "cpu_backend/observer.hpp"

namespace cpu_backend {

class decisions {
 public:
  using thread_name = std::pair<std::uint64_t, unsigned>;  // the block's number, the thread's rank

  // nullptr unless this process runs by a list.
  static decisions* active();

  void launch_begins(std::uint64_t blocks, std::uint64_t threads);
  // Whose strong access is next. Ends the process if the list names a thread that is not there.
  thread_name next(const std::vector<thread_name>& parked);
  // Whether the thread has looked at memory twice from one state: it waits for what it has seen to
  // change.
  bool waits(thread_name thread) const;
  // A strong access has happened. `state`: what the thread held, if it may be waiting; else 0.
  void accessed(thread_name by, const void* address, std::size_t bytes, observer::access kind,
                bool changed_memory, std::uint64_t state);
  void barrier_opened(std::uint64_t block);
  void lanes_met(std::uint64_t block, unsigned first, unsigned lanes);
  // Ends the process, because of what is not explored.
  [[noreturn]] void refuse(const char* why);

 private:
  struct look {
    const std::byte* address;
    std::size_t bytes;
    std::uint64_t state;
  };
  struct looks {
    std::vector<look> since_change;
    bool waits = false;
  };

  decisions(const char* list, const char* trace);
  void print_value(const std::byte* begin, std::size_t bytes);

  std::vector<thread_name> list_;
  std::size_t made_ = 0;
  std::FILE* trace_ = nullptr;
  std::map<thread_name, looks> looks_;
};

}  // namespace cpu_backend
