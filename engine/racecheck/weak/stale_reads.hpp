// SPDX-License-Identifier: MIT
// The reads that got an old value: how many, and the first one of each pair of lines.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "racecheck/memory/cell.hpp"
#include "vector_types.h"

namespace racecheck {

// What a read got, and the newest value; an access of more than 8 bytes is shown by 4 of them.
struct stale_values {
  std::uint64_t read = 0;
  std::uint64_t newest = 0;
  unsigned bytes = 0;
};

// Of a launch.
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

class stale_reads {
 public:
  using sites = std::pair<site_number, site_number>;  // of the write and the read

  void begin_launch(const launch_shape& shape) { shape_ = shape; }
  void add(thread_name writer, site_number write, thread_name reader, site_number read,
           const stale_values& values) {
    ++count_;
    const auto [known, is_new] =
        by_sites_.try_emplace({write, read}, stale_read{writer, reader, values, shape_});
    if (!is_new) ++known->second.count;
  }

  std::uint64_t count() const { return count_; }
  const std::map<sites, stale_read>& by_sites() const { return by_sites_; }

 private:
  launch_shape shape_;
  std::map<sites, stale_read> by_sites_;
  std::uint64_t count_ = 0;
};

}  // namespace racecheck
