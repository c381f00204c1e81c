// SPDX-License-Identifier: MIT
// The launches, copies, fills and functions of the host that need not be done yet, for all that the
// host knows; and what the host itself did meanwhile. CUDA's order between them is that of
// cpu_backend/runtime/work_order.hpp.
//
// Each is a work with epochs and blocks of its own: a copy or a stretch of the host's is one block
// of one thread. Works of which one was not known to be done when another one began are of one
// group: the clocks go on from one to the other (see checker::begin_work), so that what their
// threads tell each other counts. Of a work of an earlier group, only the last of its accesses to
// each word is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/runtime/work_order.hpp"
#include "racecheck/order/knowledge.hpp"
#include "vector_types.h"

namespace racecheck {

// A work as the checker has seen it.
struct noted_work {
  cpu_backend::work given;
  epoch first_epoch = 0;          // it has those up to the next one's, if it has not waited
  std::uint32_t first_block = 0;  // the same, in its group
  // Of a kernel.
  dim3 blocks{}, threads{};
  cpu_backend::place launched_at{};
  const void* kernel = nullptr;
  bool has_waited = false;  // for other work

  bool is_kernel() const { return given.kind == cpu_backend::work_kind::kernel; }
};

class device_works {
 public:
  bool empty() const { return works_.empty(); }
  void clear() { *this = {}; }
  // It has begun; all works of before were noted with smaller epochs.
  void add(noted_work begun, bool begins_group) {
    if (begins_group) group_begins_ = works_.size();
    works_.push_back(std::move(begun));
  }
  // Whether the group has a work of the device that is not before this one.
  bool runs_beside_group(const cpu_backend::work& given) const;
  bool has_several() const { return works_.size() - group_begins_ > 1; }
  // The first epoch of a work that is not before this one; `otherwise` if there is none.
  epoch first_unordered(const cpu_backend::work& given, epoch otherwise) const;

  // Of one of an earlier group, whose works have not waited for each other: see work_of().
  const noted_work* of_epoch(epoch at) const;
  // Of the group.
  const noted_work* of_block(std::uint32_t block) const;
  // From 1 on; 0: of none.
  std::size_t number_of(std::uint32_t block) const {
    const noted_work* const in = of_block(block);
    return in ? static_cast<std::size_t>(in - works_.data()) + 1 : 0;
  }
  const noted_work* numbered(std::size_t number) const {
    return number == 0 || number > works_.size() ? nullptr : &works_[number - 1];
  }
  // That launch, which has begun.
  noted_work& of_kernel(const cpu_backend::work& given);
  const noted_work* latest() const { return works_.empty() ? nullptr : &works_.back(); }

  // Whether `earlier` is before `later`, or before a work of which `knows` has heard.
  bool is_before(const noted_work& earlier, const noted_work& later, const clock& knows) const;

 private:
  // The blocks of the group's work of this number.
  std::uint32_t end_of(std::size_t number) const;

  std::vector<noted_work> works_;
  std::size_t group_begins_ = 0;
};

}  // namespace racecheck
