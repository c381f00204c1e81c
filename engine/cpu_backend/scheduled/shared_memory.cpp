// SPDX-License-Identifier: MIT
#include "cpu_backend/shared_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace cpu_backend {

extern_array_memory memory_of_extern_arrays;

namespace {

[[maybe_unused]] const bool is_guarded = [] {
  extern_array_memory& memory = memory_of_extern_arrays;
  return mprotect(memory.before, sizeof memory.before, PROT_NONE) == 0 &&
         mprotect(memory.after, sizeof memory.after, PROT_NONE) == 0;
}();

// Whose the variables are at the moment.
const shared_variables* holder = nullptr;

}  // namespace

void shared_variables::clear() {
  variables_.clear();
  bytes_in_use_ = 0;
}

bool shared_variables::add(void* address, std::size_t bytes, bool is_used) {
  for (const variable& known : variables_) {
    if (known.address == address) return false;
  }
  if (is_used) bytes_in_use_ += bytes;
  variables_.push_back({address, std::vector(bytes, std::byte{unknown_byte})});
  return true;
}

bool shared_variables::hold(const void* address) const {
  return std::any_of(variables_.begin(), variables_.end(), [&](const variable& each) {
    const auto offset =
        static_cast<const std::byte*>(address) - static_cast<std::byte*>(each.address);
    return static_cast<std::size_t>(offset) < each.image.size();
  });
}

void shared_variables::restore() {
  if (holder == this) return;
  for (const variable& each : variables_) {
    std::memcpy(each.address, each.image.data(), each.image.size());
  }
  holder = this;
}

void shared_variables::save() {
  for (variable& each : variables_) {
    std::memcpy(each.image.data(), each.address, each.image.size());
  }
}

void shared_variables::give_up() {
  if (holder == this) holder = nullptr;
}

}  // namespace cpu_backend
