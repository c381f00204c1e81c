// SPDX-License-Identifier: MIT
// Whose stores a program's results keep, how much each thread moves, and who loads what was there
// before the launch: what one thread stores for show, another one overwrites, or no result has it;
// and what it loads for show, a thread that loads more loads as well.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace racecheck {

// Numbers of a launch's threads, one after the other by blocks.
struct share_counts {
  std::uint64_t total = 0, most_per_block = 0, most_per_thread = 0;
};

class kept_work {
 public:
  static constexpr std::size_t most_threads = std::size_t{1} << 24;  // of all launches

  // This memory is a result, or an input that is only read. Without one nothing is noted.
  void add_array(const std::byte* begin, std::size_t bytes, bool is_result) {
    std::erase_if(arrays_, [&](const array& each) {  // of memory that was freed
      return each.begin < begin + bytes && begin < each.begin + each.stored.size();
    });
    const std::vector<std::uint32_t> nobody(bytes);
    arrays_.push_back({begin, is_result, nobody, nobody});
  }
  bool is_noting() const { return !arrays_.empty() && kept_.size() < most_threads; }

  bool is_result(const std::byte* address) {
    bool is_in_one = false;
    each_byte(address, 1, [&](const array& in, std::size_t) { is_in_one |= in.is_result; });
    return is_in_one;
  }

  // Returns the number of the launch's first thread.
  std::size_t launch_begins(std::size_t threads) {
    const std::size_t first = kept_.size();
    if (!arrays_.empty()) kept_.resize(std::min(first + threads, most_threads));
    for (auto* each : {&moved_, &loaded_, &read_}) each->resize(kept_.size());
    return first;
  }
  void moved(std::size_t thread, std::size_t bytes) {
    if (thread < moved_.size()) moved_[thread] += bytes;
  }
  // `launch` is the number of its first thread. What the launch has stored itself does not count. A
  // byte that several threads load is that one's which has loaded most so far.
  void loaded(std::size_t launch, std::size_t thread, const std::byte* address, std::size_t bytes,
              bool may_wait) {
    if (thread >= kept_.size()) return;
    each_byte(address, bytes, [&](array& in, std::size_t i) {
      if ((may_wait && in.is_result) || in.stored[i] > launch) return;
      ++read_[thread];
      std::uint32_t& owner = in.loaded[i];
      if (owner > launch && read_[owner - 1] >= read_[thread]) return;
      if (owner > launch) --loaded_[owner - 1];
      owner = static_cast<std::uint32_t>(thread + 1);
      ++loaded_[thread];
    });
  }
  void stored(std::size_t thread, const std::byte* address, std::size_t bytes) {
    if (thread >= kept_.size()) return;
    each_byte(address, bytes, [&](array& in, std::size_t i) {
      if (!in.is_result) return;
      if (in.stored[i] != 0) --kept_[in.stored[i] - 1];
      in.stored[i] = static_cast<std::uint32_t>(thread + 1);
      ++kept_[thread];
    });
  }

  // The bytes of results that threads stored last, of so many threads from the first one on.
  share_counts kept(std::size_t first, std::size_t threads, std::size_t per_block) const {
    return shares(first, threads, per_block, [&](std::size_t each) { return kept_[each]; });
  }
  // Those, and the bytes of plain loads and of atomics that write to results. Other loads may be a
  // loop that waits.
  share_counts work(std::size_t first, std::size_t threads, std::size_t per_block) const {
    return shares(first, threads, per_block,
                  [&](std::size_t each) { return kept_[each] + moved_[each]; });
  }
  // The bytes of inputs that each of them has loaded.
  share_counts loads(std::size_t first, std::size_t threads, std::size_t per_block) const {
    return shares(first, threads, per_block, [&](std::size_t each) { return loaded_[each]; });
  }

 private:
  template <class Number>
  share_counts shares(std::size_t first, std::size_t threads, std::size_t per_block,
                      Number number) const {
    share_counts counts;
    std::uint64_t of_block = 0;
    for (std::size_t i = 0; i < threads && first + i < kept_.size(); ++i) {
      if (i % per_block == 0) of_block = 0;
      const std::uint64_t of_thread = number(first + i);
      of_block += of_thread;
      counts.total += of_thread;
      counts.most_per_block = std::max(counts.most_per_block, of_block);
      counts.most_per_thread = std::max(counts.most_per_thread, of_thread);
    }
    return counts;
  }

  struct array {
    const std::byte* begin;
    bool is_result;
    std::vector<std::uint32_t> stored, loaded;  // by whom last, from 1; 0: nobody
  };

  template <class Function>
  void each_byte(const std::byte* address, std::size_t bytes, Function function) {
    for (array& each : arrays_) {
      if (address < each.begin || address >= each.begin + each.stored.size()) continue;
      const auto first = static_cast<std::size_t>(address - each.begin);
      const std::size_t end = std::min(first + bytes, each.stored.size());
      for (std::size_t i = first; i < end; ++i) function(each, i);
    }
  }

  std::vector<array> arrays_;
  std::vector<std::uint64_t> kept_, moved_, loaded_, read_;  // by thread
};

}  // namespace racecheck
