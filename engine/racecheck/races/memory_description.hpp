// SPDX-License-Identifier: MIT
// Names for a piece of memory that a finding is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "racecheck/memory/shadow.hpp"

namespace racecheck {

// "global memory", ...
std::string describe_memory(const region& in);
// "element 17 of ..."; `address` lies in the region.
std::string describe_object(const region& in, const std::byte* address, std::size_t access_bytes);
// Its number in the launch's dynamic shared memory; nothing for other memory, and for a byte.
std::optional<std::uint64_t> element_of_dynamic_memory(const region& in, const std::byte* address,
                                                       std::size_t access_bytes);
// How far before its begin or past its end; an access next to the region, or that ends past it.
std::string describe_outside(const region& near, const std::byte* address,
                             std::size_t access_bytes);

}  // namespace racecheck
