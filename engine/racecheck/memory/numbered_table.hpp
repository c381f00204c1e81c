// SPDX-License-Identifier: MIT
// Objects of one launch, under numbers that fit into a cell.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "racecheck/order/clock.hpp"

namespace racecheck {

using object_number = std::uint32_t;

// The numbers go on from launch to launch, so one of an earlier launch is known for what it is.
template <class Object>
class numbered_table {
 public:
  // Forgets all objects. Returns whether the numbers start over again, so that whoever keeps some
  // must forget them.
  bool begin_launch() {
    const std::uint64_t next = std::uint64_t{first_} + made_;
    const bool starts_over = next >= std::uint64_t{1} << (epoch_bits - 1);
    first_ = starts_over ? 1 : static_cast<object_number>(next);
    made_ = 0;
    chunks_.clear();
    unused_ = std::vector<object_number>();
    return starts_over;
  }

  // Whether it is a number of this launch. 0 is none.
  bool has(object_number number) const { return number >= first_; }
  object_number add() {
    if (!unused_.empty()) {
      const object_number reused = unused_.back();
      unused_.pop_back();
      return reused;
    }
    if (made_ % objects_of_chunk == 0) {
      chunks_.push_back(std::make_unique<Object[]>(objects_of_chunk));
    }
    return first_ + made_++;
  }
  void remove(object_number number) {
    (*this)[number] = {};
    unused_.push_back(number);
  }
  // They stay where they are.
  Object& operator[](object_number number) { return object_at(number - first_); }
  const Object& operator[](object_number number) const { return object_at(number - first_); }

  // Its place among the numbers of this launch, from 0.
  std::uint32_t index_of(object_number number) const { return number - first_; }
  std::size_t size() const { return made_ - unused_.size(); }

 private:
  static constexpr std::size_t objects_of_chunk =
      std::max<std::size_t>(16, std::bit_floor(std::size_t{4096} / sizeof(Object)));

  Object& object_at(std::uint32_t index) const {
    return chunks_[index / objects_of_chunk][index % objects_of_chunk];
  }

  object_number first_ = 1;
  std::uint32_t made_ = 0;  // in this launch
  std::vector<std::unique_ptr<Object[]>> chunks_;
  std::vector<object_number> unused_;
};

}  // namespace racecheck
