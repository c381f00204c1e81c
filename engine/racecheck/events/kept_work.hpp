// SPDX-License-Identifier: MIT
// Whose stores a program's results keep, and how much each thread moves: what one thread stores for
// show, another one overwrites, or no result has it.
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

  // This memory is a result. Without one nothing is noted.
  void add_result(const std::byte* begin, std::size_t bytes) {
    std::erase_if(results_, [&](const result& each) {  // of memory that was freed
      return each.begin < begin + bytes && begin < each.begin + each.last.size();
    });
    results_.push_back({begin, std::vector<std::uint32_t>(bytes)});
  }
  bool is_noting() const { return !results_.empty() && kept_.size() < most_threads; }

  // Returns the number of the launch's first thread.
  std::size_t launch_begins(std::size_t threads) {
    const std::size_t first = kept_.size();
    if (!results_.empty()) kept_.resize(std::min(first + threads, most_threads));
    moved_.resize(kept_.size());
    return first;
  }
  void moved(std::size_t thread, std::size_t bytes) {
    if (thread < moved_.size()) moved_[thread] += bytes;
  }
  void stored(std::size_t thread, const std::byte* address, std::size_t bytes) {
    if (thread >= kept_.size()) return;
    for (auto& [begin, last] : results_) {
      if (address < begin || address >= begin + last.size()) continue;
      const auto first = static_cast<std::size_t>(address - begin);
      for (std::size_t i = first; i < std::min(first + bytes, last.size()); ++i) {
        if (last[i] != 0) --kept_[last[i] - 1];
        last[i] = static_cast<std::uint32_t>(thread + 1);
        ++kept_[thread];
      }
    }
  }

  // The bytes of results that threads stored last, of so many threads from the first one on.
  share_counts kept(std::size_t first, std::size_t threads, std::size_t per_block) const {
    return shares(first, threads, per_block, [&](std::size_t each) { return kept_[each]; });
  }
  // Those, and the bytes of plain loads and of atomics that write. Other loads may be a loop that
  // waits.
  share_counts work(std::size_t first, std::size_t threads, std::size_t per_block) const {
    return shares(first, threads, per_block,
                  [&](std::size_t each) { return kept_[each] + moved_[each]; });
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

  struct result {
    const std::byte* begin;
    std::vector<std::uint32_t> last;  // who stored a byte last, from 1; 0: nobody
  };
  std::vector<result> results_;
  std::vector<std::uint64_t> kept_, moved_;  // by thread
};

}  // namespace racecheck
