// SPDX-License-Identifier: MIT
// What the processor says about an instruction that a signal interrupted. `context` is the third
// parameter of a signal's handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_backend {

enum class access_kind { unknown, read, write, atomic };

const void* instruction_of(const void* context);

// After a call to an address where no code is: where that call would have returned to. nullptr if
// that can't be known.
const void* return_address_of_bad_call(const void* context);

// What an instruction that faulted did to memory, as far as it can be worked out.
struct memory_operand {
  bool has_address = false;
  std::uintptr_t address = 0;
  unsigned bytes = 0;  // 0: unknown
  access_kind kind = access_kind::unknown;
};
memory_operand operand_of(const void* context);

// Of a division that faulted: whether it was by zero. Otherwise its result did not fit.
bool divisor_is_zero(const void* context);

}  // namespace cpu_backend
