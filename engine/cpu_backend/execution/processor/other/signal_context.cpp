// SPDX-License-Identifier: MIT
// On processors that the backend knows nothing about: a fault has no line and no kind of access.
#include "cpu_backend/execution/signal_context.hpp"

namespace cpu_backend {

const void* instruction_of(const void*) { return nullptr; }

const void* return_address_of_bad_call(const void*) { return nullptr; }

memory_operand operand_of(const void*) { return {}; }

bool divisor_is_zero(const void*) { return true; }

}  // namespace cpu_backend
