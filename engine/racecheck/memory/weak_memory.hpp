// SPDX-License-Identifier: MIT
// The weak form: a read gets an old value, as far as CUDA's memory model lets it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "vector_types.h"

namespace racecheck {

// An access, as far as one aligned word takes part in it.
struct word_access {
  region& in;
  std::byte* address;  // of the word, some of which may lie outside of the region
  unsigned mask;       // the bytes of it that are accessed
};

// The bits of the bytes of a word in a mask.
inline std::uint32_t bits_of(unsigned mask) {
  std::uint32_t bits = 0;
  for (unsigned byte = 0; byte < bytes_of_cell; ++byte) {
    if (mask >> byte & 1) bits |= 0xffu << 8 * byte;
  }
  return bits;
}

// Calls what(word_access) for each word of memory in `in`.
template <class What>
void each_word(region& in, const std::byte* address, std::size_t bytes, What what) {
  const std::byte* const end = address + bytes;
  while (address < end) {
    const unsigned offset = offset_in_cell(address);
    const std::byte* const word = address - offset;
    const auto left = static_cast<std::size_t>(end - address);
    const std::size_t here = left < bytes_of_cell - offset ? left : bytes_of_cell - offset;
    const unsigned mask = ((1u << here) - 1) << offset;
    what(word_access{in, const_cast<std::byte*>(word), mask});
    address += here;
  }
}

// What was in memory before the last writes: for each aligned 4 bytes a short list of the writes of
// this launch, from the newest one, each with what was there before it.
class earlier_values {
 public:
  // For each word. Beyond that the oldest write is forgotten, and with it what was there before it.
  static constexpr unsigned most_writes = 8;

  struct write {
    cell_record record;        // its marks: the bytes that it wrote, and how many writes are older
    std::uint32_t before = 0;  // the word
    object_number older = 0;   // 0: none that is remembered

    unsigned mask() const { return record.marks() & whole_cell; }
  };

  // Forgets all writes. `memory`: whose regions name them.
  void begin_launch(shadow_memory& memory);
  // The region's memory is gone.
  void forget(region& of);

  // The newest write of the word; 0: none.
  object_number newest(const word_access& at) const {
    if (!at.in.last_writes) return 0;
    const object_number number = at.in.last_writes[at.in.index_of(at.address)];
    return writes_.has(number) ? number : 0;
  }
  const write& operator[](object_number number) const { return writes_[number]; }

  // To be called before a write. No thread can see what was there before a write whose epoch is at
  // most `known_to_all`.
  void add(const word_access& at, std::uint64_t stamp, place_index place, std::uint32_t before,
           epoch known_to_all);

 private:
  static constexpr unsigned count_shift = 4;  // in the marks
  static constexpr unsigned largest_count = most_writes - 1;
  static unsigned older_writes(const write& of) { return of.record.marks() >> count_shift; }
  static_assert((largest_count << count_shift | whole_cell) >> cell_record::mark_bits == 0);

  void remove_from(object_number first);
  void remove_oldest(object_number newest);

  numbered_table<write> writes_;
};

// What a read got, and the newest value; an access of more than 8 bytes is shown by 4 of them.
struct stale_values {
  std::uint64_t read = 0;
  std::uint64_t newest = 0;
  unsigned bytes = 0;
};

// The sizes of a launch.
struct launch_shape {
  dim3 blocks;
  dim3 threads;
};

struct stale_read {
  thread_name writer;  // of the newest write that the read does not see
  thread_name reader;
  stale_values values;
  launch_shape shape;
  std::uint64_t count = 1;  // of these two lines
};

// The reads that got an old value: how many, and the first one of each pair of lines.
class stale_reads {
 public:
  using two_places = std::pair<place_index, place_index>;  // of the write and the read

  void begin_launch(const launch_shape& shape) { shape_ = shape; }
  void add(thread_name writer, place_index write, thread_name reader, place_index read,
           const stale_values& values) {
    ++count_;
    const auto [known, is_new] =
        by_places_.try_emplace({write, read}, stale_read{writer, reader, values, shape_});
    if (!is_new) ++known->second.count;
  }

  std::uint64_t count() const { return count_; }
  const std::map<two_places, stale_read>& by_places() const { return by_places_; }

 private:
  launch_shape shape_;
  std::map<two_places, stale_read> by_places_;
  std::uint64_t count_ = 0;
};

// The weak form: a plain read gets an old value, as far as CUDA's memory model lets it.
//
// The compiler's instrumentation calls us just before each access. Before a read we put into memory
// what the read is to get, and take it away again before anything else reads memory. That works
// because one OS thread runs all threads of a launch in turn.
//
// What a read may get: the value of the newest write that happens before it, and those of all
// writes after that one that do not happen before it. Which executions that makes, and why they are
// some of those that PTX allows: docs/internals/weak.md.
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
            place_index place);
  void write(const thread_state& by, region& in, const std::byte* address, std::size_t bytes,
             place_index place);
  // An atomic or volatile access takes the newest value. First, before it is made, with at most
  // 16 bytes:
  void strong_access_begins(const std::byte* address, std::size_t bytes);
  // And then, when it was made or is just about to be: what it means for plain reads.
  void strong_access(const thread_state& by, region& in, const std::byte* address,
                     std::size_t bytes, place_index place, bool writes);

  // Takes away what read() has put into memory; before anything else reads it.
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
  std::uint32_t drawn();
  old_value drawn_value(const thread_state& by, const word_access& at, std::uint32_t draw);
  stale_values shown_values(const std::byte* address, std::size_t bytes,
                            const std::byte* old_word) const;
  bool takes_newest_value(const thread_state& by, region& in, const std::byte* address,
                          std::size_t bytes, place_index place);
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
  std::bitset<std::size_t{cell_record::most_places} + 1> next_takes_newest_;
};

// An atomic or volatile load gets an older value, as far as CUDA's memory model lets it: no write
// that is later in its word's order happens before the load, or before a strong read of that write
// that happens before it. A word's order is that in which its writes are executed. Why the
// executions are some of those that PTX allows: docs/internals/weak.md.
//
// Before the load the value is put into memory, and is taken away again before anything else reads
// memory, as weak_memory does for plain reads.
class older_loads {
 public:
  explicit older_loads(const launch_clocks& clocks) : clocks_(clocks) {}

  // The process's one, once it is turned on; until then all loads get the newest value.
  static inline constinit older_loads* active = nullptr;
  void turn_on() { active = this; }
  // From here on what a load gets is drawn. Until then the first load of a word that may get an
  // older value gets the oldest one, the next such load the newest one, and so on.
  void draw_values(std::uint64_t seed);

  void begin_launch();
  // First, before an atomic or volatile access is made, with at most 16 bytes.
  void access_begins(const std::byte* address, std::size_t bytes);
  // That was a write, whose location hands `last` over now.
  void written(const message& last, cell_record made);
  // A plain write: no load gets what was there before.
  void forget(std::uint32_t location) {
    if (const auto found = words_.find(location); found != words_.end()) found->second = {};
  }
  // How many writes the load that comes now passes. `last` is what its location hands over.
  unsigned pass_writes(const block_state& block, const thread_state& by, const message& last,
                       std::byte* address, std::size_t bytes);
  // Takes away what pass_writes() has put into memory.
  void put_back();

  // How many loads have got an older value.
  std::uint64_t count() const { return count_; }

 private:
  using value = std::array<std::byte, sizeof(std::uint64_t)>;
  struct write {
    cell_record made;
    observation seen;  // by each thread that reads it
    value before{};
  };
  struct word {
    std::vector<write> writes;  // the last ones: of no more than the clocks keep the messages
    std::uint64_t count = 0;    // of all
    bool next_is_newest = false;
  };

  const launch_clocks& clocks_;
  std::unordered_map<std::uint32_t, word> words_;  // by location; the same as the clocks have
  // How many writes of a location there were when a thread got an older value of it. From then on
  // it passes none of these: a loop that waits goes on.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> looked_;
  value before_access_{};
  std::byte* replaced_ = nullptr;
  std::size_t replaced_bytes_ = 0;
  value newest_{};  // what was there
  std::uint64_t random_ = 1;
  bool draws_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace racecheck
