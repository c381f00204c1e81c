// SPDX-License-Identifier: MIT
// What ended a kernel that the processor, or the C library, would not let go on. It is noted by the
// thread at fault, which may be in a signal's handler, and told once the launch is over.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "driver_types.h"
#include "vector_types.h"

namespace cpu_backend {

class diagnostic;

enum class access_kind { unknown, read, write, atomic };

// What is known of an access to memory.
struct memory_operand {
  bool has_address = false;
  std::uintptr_t address = 0;
  unsigned bytes = 0;  // 0: unknown, as of an access that the processor did not let happen
  access_kind kind = access_kind::unknown;
};

struct kernel_fault {
  enum class kind {
    none,
    access,         // to where no memory is
    misaligned,     // to an address that is no multiple of its size
    shared_memory,  // an access out of the block's shared memory
    call,           // of what is no function
    stack_overflow,
    division,
    illegal_instruction,
    abort,
    exit,
    stopped  // by the watch: the launch did not end
  };

  kind what = kind::none;
  uint3 block{};
  uint3 thread{};
  memory_operand operand;
  const char* space = "global";  // of a misaligned access, if it is known
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

// What a kernel sees of a host pointer: addresses of this form are the operating system's, on
// x86-64 and on AArch64, so that using one always faults, and the processor names it.
inline constexpr std::uintptr_t host_pointer_bits = 0xffff'8000'0000'0000u;
constexpr std::uintptr_t hidden_from_kernels(std::uintptr_t host_address) {
  return host_address >> 48 == 0 ? host_address ^ host_pointer_bits : host_address;
}
constexpr bool is_hidden_from_kernels(std::uintptr_t address) {
  constexpr std::uintptr_t page = 4096;
  return address >> 48 == 0xffff &&
         address <= std::uintptr_t{0} - page;  // not just below a null pointer
}

}  // namespace cpu_backend
