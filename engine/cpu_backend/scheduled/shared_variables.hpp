// SPDX-License-Identifier: MIT
// The __shared__ variables of one multiprocessor's block. To the compiler they are one set of
// thread-local variables, which is lent to one block at a time.
#pragma once

#include <cstddef>
#include <vector>

namespace cpu_backend {

// What a GPU leaves in shared memory is unknown; here it is the same in every run.
inline constexpr int unknown_byte = 0xCD;

class shared_variables {
 public:
  // Forgets those of the block before.
  void clear();
  // True if the running block has not used it before. Until it is saved, its bytes are unknown
  // ones.
  bool add(void* address, std::size_t bytes);
  bool hold(const void* address) const;

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
};

}  // namespace cpu_backend
