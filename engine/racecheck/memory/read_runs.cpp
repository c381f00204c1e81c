// SPDX-License-Identifier: MIT
#include "racecheck/memory/read_runs.hpp"

#include <algorithm>
#include <array>

namespace racecheck {
namespace {

// From the last threads to the first, and then by what the reads have in common.
void sort_by_threads(std::vector<read_group>& reads) {
  const auto rank = [](const read_group& of) { return of.first.rank(); };
  std::sort(reads.begin(), reads.end(), [&](const read_group& left, const read_group& right) {
    return rank(left) != rank(right) ? rank(left) > rank(right)
                                     : left.first.bits() < right.first.bits();
  });
  std::size_t kept = 0;
  for (const read_group& each : reads) {
    if (kept != 0 && reads[kept - 1].first == each.first) {
      reads[kept - 1].ranks |= each.ranks;
    } else {
      reads[kept++] = each;
    }
  }
  reads.resize(kept);
}

}  // namespace

void leave_last(std::vector<read_group>& reads) {
  struct readers {
    unsigned marks;
    std::array<std::uint64_t, groups_of_block> ranks;
  };
  std::vector<readers> later;
  for (auto each = reads.rbegin(); each != reads.rend(); ++each) {
    const unsigned marks = each->first.marks();
    auto known = std::find_if(later.begin(), later.end(),
                              [&](const readers& kind) { return kind.marks == marks; });
    if (known == later.end()) known = later.insert(known, {marks, {}});
    std::uint64_t& ranks = known->ranks[each->first.rank() / 64];
    each->ranks &= ~ranks;
    ranks |= each->ranks;
  }
  std::erase_if(reads, [](const read_group& each) { return each.ranks == 0; });
}

std::vector<read_run> runs_of(std::vector<read_group> reads) {
  sort_by_threads(reads);
  std::vector<read_run> runs;
  for (auto each = reads.rbegin(); each != reads.rend(); ++each) {
    read_run run(*each);
    if (!runs.empty() && run.add_below(runs.back())) runs.pop_back();
    runs.push_back(run);
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

}  // namespace racecheck
