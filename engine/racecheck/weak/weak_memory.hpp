// SPDX-License-Identifier: MIT
// The weak form: a plain read gets an old value, as far as CUDA's memory model lets it.
//
// The compiler's instrumentation calls us just before each access. Before a read we put into memory
// what the read is to get, and take it away again before anything else looks at memory. That works
// because one OS thread runs all threads of a launch in turn.
//
// What a read may get: the value of the newest write that happens before it, and those of all
// writes after that one that do not happen before it. Which executions that makes, and why they are
// some of those that PTX allows: docs/internals/weak.md.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/weak/earlier_values.hpp"
#include "racecheck/weak/stale_reads.hpp"

namespace racecheck {

class weak_memory {
 public:
  explicit weak_memory(const launch_clocks& clocks) : clocks_(clocks) {}

  // The process's one, once it is turned on; until then all reads get the newest value.
  static inline constinit weak_memory* active = nullptr;
  void turn_on() { active = this; }
  // From here on what a read gets is drawn from all the values that it may get. Until then it is
  // the oldest of them and the newest in turn.
  void draw_values(std::uint64_t seed);

  void begin_launch(shadow_memory& memory, const launch_shape& shape);
  void block_runs(const block_state& block) { block_ = &block; }
  // Shared memory of a block is gone.
  void forget(region& of) { earlier_.forget(of); }

  // ---- Accesses of `by`, a thread of the running block, to memory in `in`. To be called after
  // put_back() and just before the access, and read() last of all.
  void read(const thread_state& by, region& in, const std::byte* address, std::size_t bytes,
            site_number site);
  void write(const thread_state& by, region& in, const std::byte* address, std::size_t bytes,
             site_number site);
  // An atomic or volatile access takes the newest value. First, before it is made, with at most
  // 16 bytes:
  void strong_access_begins(const std::byte* address, std::size_t bytes);
  // And then, when it was made or is just about to be: what it means for plain reads.
  void strong_access(const thread_state& by, region& in, const std::byte* address,
                     std::size_t bytes, site_number site, bool writes);

  // Takes away what read() has put into memory; before anybody else looks at it.
  void put_back() {
    if (!replaced_.empty()) [[unlikely]]
      put_newest_values_back();
  }

  const stale_reads& stale() const { return stale_; }

 private:
  struct thread_and_word {
    std::uint64_t thread;
    const std::byte* word;
    bool operator==(const thread_and_word&) const = default;
  };
  struct hash_of_thread_and_word {
    std::size_t operator()(const thread_and_word& of) const {
      return (of.thread * 0x9e3779b97f4a7c15u) ^ reinterpret_cast<std::uintptr_t>(of.word) / 4;
    }
  };
  struct replaced_word {
    std::byte* address;
    std::uint32_t newest;
    std::uint32_t bits;  // those that were replaced
  };
  struct old_value {
    std::uint32_t value;
    object_number first_passed = 0;  // the newest write that the value is older than; 0: none
    unsigned passed = 0;             // how many there are
    object_number reached = 0;       // the newest write that it is not older than; 0: none
  };

  old_value look_back(const thread_state& by, const word_access& at, unsigned most) const;
  object_number seen_by(const thread_state& by, const word_access& at) const;
  bool note_seen(const thread_state& by, const word_access& at, object_number write);
  old_value drawn_value(const thread_state& by, const word_access& at, std::uint32_t draw);
  stale_values shown_values(const std::byte* address, std::size_t bytes,
                            const std::byte* old_word) const;
  bool takes_newest_value(const thread_state& by, region& in, const std::byte* address,
                          std::size_t bytes, site_number site);
  void put_newest_values_back();

  const launch_clocks& clocks_;
  const block_state* block_ = nullptr;
  earlier_values earlier_;
  stale_reads stale_;
  std::vector<replaced_word> replaced_;
  std::array<std::byte, 16> before_strong_access_{};
  // The newest write that a thread has seen of a word without happening after it.
  std::unordered_map<thread_and_word, object_number, hash_of_thread_and_word> seen_;
  std::uint64_t random_ = 1;
  bool draws_ = false;
  std::bitset<std::size_t{cell_record::most_sites} + 1> next_takes_newest_;
};

}  // namespace racecheck
