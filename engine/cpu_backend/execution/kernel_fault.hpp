// SPDX-License-Identifier: MIT
// What ended a kernel that the processor, or the C library, would not let go on. It is noted by the
// thread at fault, which may be in a signal's handler, and told once the launch is over.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/signal_context.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "driver_types.h"
#include "vector_types.h"

namespace cpu_backend {

class diagnostic;

struct kernel_fault {
  enum class kind {
    none,
    access,         // to where no memory is
    misaligned,     // to an address that is no multiple of its size
    shared_memory,  // an access out of the block's shared memory
    call,           // of what is no function
    stack_overflow,
    division_by_zero,
    division_overflow,
    illegal_instruction,
    abort,
    exit,
    stopped  // by the watch: the launch did not end
  };

  kind what = kind::none;
  uint3 block{};
  uint3 thread{};
  memory_operand operand;
  place called_from{};  // where the device function was called that found it; else `calls` says it
  const std::byte* shared_memory = nullptr;  // the block's dynamic one
  std::size_t shared_bytes = 0;
  bool is_behind_shared_variables = false;
  call_stack calls;  // where it happened

  cudaError_t error() const;
};

// Where it happened; no file if that is unknown.
source_line line_of(const kernel_fault& fault);

// Its record; `line` is line_of() it. Not for handlers of signals: it asks for lines of the source.
diagnostic record_of(const kernel_fault& fault, const source_line& line);

// Addresses of this form are never mapped, so using one always faults; x86-64 then does not say
// which one it was. (A higher bit would not do: AArch64 takes no notice of the eight highest.)
inline constexpr std::uintptr_t unreachable_for_kernels = std::uintptr_t{1} << 54;
inline constexpr bool is_unreachable_for_kernels(std::uintptr_t address) {
  return address >> 54 == 1;
}

}  // namespace cpu_backend
