// SPDX-License-Identifier: MIT
#include "cpu_backend/extern_shared_arrays.hpp"

#include <sys/mman.h>

namespace cpu_backend {

extern_array_memory memory_of_extern_arrays;

namespace {

[[maybe_unused]] const bool is_linked = [] {
  extern_array_memory& memory = memory_of_extern_arrays;
  linked_extern_array_memory = &memory;
  return mprotect(memory.before, sizeof memory.before, PROT_NONE) == 0 &&
         mprotect(memory.after, sizeof memory.after, PROT_NONE) == 0;
}();

}  // namespace
}  // namespace cpu_backend
