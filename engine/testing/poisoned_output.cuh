// SPDX-License-Identifier: MIT
// For tests: an output full of poison, with more of it on both sides, and a misaligned input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "checked_runtime/device_buffer.cuh"

namespace testing {

// `size()` elements of T that a kernel is to write. All bytes are 0xa5 at first, and so are the
// bytes before and behind, which no kernel may touch. data() is `offset` elements past an address
// that cudaMalloc returned: offset sets the alignment. Errors: as device_buffer.
template <class T>
class poisoned_output {
 public:
  explicit poisoned_output(std::size_t size, std::size_t offset = 0)
      : front_(guard + offset), size_(size), memory_(front_ + size + guard) {
    poison();
  }

  T* data() { return memory_.data() + front_; }
  std::size_t size() const { return size_; }

  // All bytes are poison again.
  void poison() { memory_.fill_bytes(poison_byte); }

  std::vector<T> to_host() const { return to_host(0, size_); }
  std::vector<T> to_host(std::size_t first, std::size_t count) const {
    return memory_.to_host(front_ + first, count);
  }

  // A sentence on the first element outside the output that is poison no more; nothing if all are.
  std::optional<std::string> overrun() const {
    for (const std::size_t first : {std::size_t{0}, front_ + size_}) {
      const std::size_t count = first == 0 ? front_ : guard;
      const std::vector<T> around = memory_.to_host(first, count);
      for (std::size_t i = 0; i < count; ++i) {
        if (is_poison(around[i])) continue;
        const auto place =
            static_cast<std::ptrdiff_t>(first + i) - static_cast<std::ptrdiff_t>(front_);
        return "element " + std::to_string(place) + " was written, outside an output of " +
               std::to_string(size_);
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr unsigned char poison_byte = 0xa5;
  // A multiple of 16 bytes for every T, so that the guard does not change the alignment.
  static constexpr std::size_t guard = 64;

  static bool is_poison(const T& element) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &element, sizeof(T));
    return std::all_of(bytes, bytes + sizeof(T),
                       [](unsigned char byte) { return byte == poison_byte; });
  }

  std::size_t front_;
  std::size_t size_;
  checked::device_buffer<T> memory_;
};

// `values` on the device, `offset` elements past an aligned address.
template <class T>
class misaligned_input {
 public:
  misaligned_input(const std::vector<T>& values, std::size_t offset)
      : offset_(offset), memory_(offset + values.size()) {
    memory_.copy_from(values, offset);
  }
  const T* data() const { return memory_.data() + offset_; }

 private:
  std::size_t offset_;
  checked::device_buffer<T> memory_;
};

}  // namespace testing
