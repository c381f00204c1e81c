// SPDX-License-Identifier: MIT
// A kernel's plain accesses on their way to the race test.
//
// They wait in a log until a thread does anything that changes clocks (an atomic, a fence, a
// barrier that opens), or another block runs: until then it is all the same when they are checked,
// as long as their order stays. Meanwhile their cells come into the cache. The threads of a
// grid-stride loop find nearly none of them there, and would wait for each.
//
// Only the OS thread that runs the kernels uses it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "racecheck/places.hpp"
#include "racecheck/running_thread.hpp"
#include "racecheck/shadow.hpp"

namespace racecheck {

struct logged_access {
  thread_state* by = nullptr;
  const std::byte* address = nullptr;
  region* in = nullptr;
  std::size_t bytes = 0;  // all of them in the region
  site_number site = 0;
  bool writes = false;
};

// An instruction that accesses memory, and what it found last: mostly it finds that again.
struct access_site {
  const void* from = nullptr;  // its return address
  stretch last;                // a region, or addresses in none
  region* in = nullptr;
  const std::uint32_t* changes = nullptr;  // the shadow memory's count on which that depends,
  std::uint32_t changes_then = 0;          // and what it was then
  site_number number = 0;
};

class access_log {
 public:
  constexpr access_log() = default;

  // Called by the running thread.
  void add(const std::byte* address, std::size_t bytes, const void* from, bool writes) {
    access_site& site = sites_[reinterpret_cast<std::uintptr_t>(from) / 2 % sites_.size()];
    const auto offset = static_cast<std::size_t>(address - site.last.begin);
    if (site.from != from || offset >= site.last.bytes || site.changes_then != *site.changes)
        [[unlikely]] {
      find(site, address, bytes, from, writes);
    }
    if (!site.in) return;
    const std::size_t left = site.last.bytes - static_cast<std::size_t>(address - site.last.begin);
    if (bytes > left) [[unlikely]]
      bytes = leaves_its_region(address, bytes, left, from, writes);
    __builtin_prefetch(&site.in->cell_at(address), 1);
    logged_[count_] = {running_thread, address, site.in, bytes, site.number, writes};
    if (++count_ == logged_.size()) [[unlikely]]
      check();
  }

  // Checks all that waits.
  void flush() {
    if (count_ != 0) check();
  }

  // The number of a place that accesses memory, and the place of one with this number; 0 if
  // unknown.
  site_number number_of(place_number place);
  site_number number_of(const void* from) { return number_of(racecheck::place_of(from)); }
  place_number place_of(site_number number) const;

 private:
  void check();
  void find(access_site& site, const std::byte* address, std::size_t bytes, const void* from,
            bool writes);
  std::size_t leaves_its_region(const std::byte* address, std::size_t bytes, std::size_t left,
                                const void* from, bool writes);

  unsigned count_ = 0;
  std::array<logged_access, 64> logged_{};
  std::array<access_site, 4096> sites_{};
};

extern constinit access_log plain_accesses;

// While the checker itself works, what it does to memory is not the thread's doing.
class checker_works {
 public:
  checker_works() : thread_(running_thread) { running_thread = nullptr; }
  ~checker_works() { running_thread = thread_; }
  checker_works(const checker_works&) = delete;
  checker_works& operator=(const checker_works&) = delete;
  thread_state& thread() const { return *thread_; }

 private:
  thread_state* const thread_;
};

// The same where clocks may change: all that threads did before is checked first.
class checker_synchronizes : public checker_works {
 public:
  checker_synchronizes() { plain_accesses.flush(); }
};

}  // namespace racecheck
