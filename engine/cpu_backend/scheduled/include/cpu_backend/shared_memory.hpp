// SPDX-License-Identifier: MIT
// The shared memory of the scheduled form's blocks, which is lent to one block at a time.
#pragma once

#include <cstddef>
#include <vector>

namespace cpu_backend {

// `extern __shared__ T name[];` at namespace scope is one name for the dynamic shared memory of
// every block: so that of all blocks is at one address, which is lent to one block at a time, as
// that of its __shared__ variables is.
struct alignas(4096) extern_array_memory {
  std::byte before[std::size_t{1} << 20];  // not to be touched
  std::byte usable[228 * 1024];
  std::byte after[std::size_t{1} << 20];  // nor this

  bool holds(const void* address) const {
    const auto offset = static_cast<const std::byte*>(address) - before;
    return static_cast<std::size_t>(offset) < sizeof(*this);
  }
};

// Translated files name it: at a constant address, so that to use the array's name is no access to
// memory.
extern extern_array_memory memory_of_extern_arrays;

template <class T>
using array_without_size = T[];

// What a GPU leaves in shared memory is unknown; here it is the same in every run.
inline constexpr int unknown_byte = 0xCD;

// The __shared__ variables of one multiprocessor's block. To the compiler they are one set of
// thread-local variables, which is lent to one block at a time.
class shared_variables {
 public:
  // Forgets those of the block before.
  void clear();
  // True if the running block has not used it before. Until it is saved, its bytes are unknown
  // ones.
  bool add(void* address, std::size_t bytes, bool is_used = true);
  bool hold(const void* address) const;
  // Of all that the kernel surely uses; those at namespace scope may be another one's.
  std::size_t bytes_in_use() const { return bytes_in_use_; }

  // The block gets its turn, or its turn ends.
  void restore();
  void save();
  // The variables hold nothing that restore() could count on.
  void give_up();

 private:
  struct variable {
    void* address;
    std::vector<std::byte> image;  // its bytes while another block is resident
  };
  std::vector<variable> variables_;
  std::size_t bytes_in_use_ = 0;
};

}  // namespace cpu_backend
