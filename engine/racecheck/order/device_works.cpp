// SPDX-License-Identifier: MIT
#include "racecheck/order/device_works.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace racecheck {

using cpu_backend::work;
using cpu_backend::work_kind;

bool device_works::runs_beside_group(const work& given) const {
  for (std::size_t i = group_begins_; i < works_.size(); ++i) {
    const work& each = works_[i].given;
    if (each.kind != work_kind::host && !given.after.covers(each.is)) return true;
  }
  return false;
}

epoch device_works::first_unordered(const work& given, epoch otherwise) const {
  for (const noted_work& each : works_) {
    if (each.first_epoch >= otherwise) break;
    if (!given.after.covers(each.given.is)) return each.first_epoch;
  }
  return otherwise;
}

const noted_work* device_works::of_epoch(epoch at) const {
  const auto after = std::ranges::upper_bound(
      works_, at, {}, [](const noted_work& each) { return each.first_epoch; });
  return after == works_.begin() ? nullptr : &*std::prev(after);
}

noted_work& device_works::of_kernel(const work& given) {
  return *std::ranges::find(works_, given.is, [](const noted_work& each) { return each.given.is; });
}

const noted_work* device_works::of_block(std::uint32_t block) const {
  const auto group = works_.begin() + static_cast<std::ptrdiff_t>(group_begins_);
  const auto after = std::ranges::upper_bound(
      group, works_.end(), block, {}, [](const noted_work& each) { return each.first_block; });
  return after == group ? nullptr : &*std::prev(after);
}

std::uint32_t device_works::end_of(std::size_t number) const {
  return number + 1 < works_.size() ? works_[number + 1].first_block
                                    : std::numeric_limits<std::uint32_t>::max();
}

bool device_works::is_before(const noted_work& earlier, const noted_work& later,
                             const clock& knows) const {
  if (later.given.after.covers(earlier.given.is)) return true;
  for (std::size_t i = group_begins_; i < works_.size(); ++i) {
    if (!works_[i].given.after.covers(earlier.given.is)) continue;
    if (knows.has_any_block(works_[i].first_block, end_of(i))) return true;
  }
  return false;
}

}  // namespace racecheck
