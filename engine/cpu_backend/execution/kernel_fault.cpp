// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/kernel_fault.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/runtime/allocations.hpp"

namespace cpu_backend {
namespace {

using kind = kernel_fault::kind;

std::string hexadecimal(std::uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

bool is_mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char is_resident;
  return mincore(reinterpret_cast<void*>(address / page * page), 1, &is_resident) == 0;
}

void add_line(diagnostic& of, const char* name, const call_stack& calls) {
  if (calls.count != 0) of.add(name, line_of(calls));
}

// "distance" and "size", and "where" the address lies.
void add_distance(diagnostic& of, std::ptrdiff_t offset, std::size_t bytes) {
  const auto size = static_cast<std::ptrdiff_t>(bytes);
  const char* const where = offset >= size ? "past_end_of_allocation"
                            : offset < 0   ? "before_allocation"
                                           : "in_allocation";
  const std::ptrdiff_t distance = offset >= size ? offset - size : offset < 0 ? -offset : offset;
  of.add("where", where).add("distance", distance).add("size", bytes);
}

void add_near(diagnostic& of, const allocation_record& record, const std::byte* address) {
  add_distance(of, address - static_cast<const std::byte*>(record.block.begin), record.block.bytes);
  add_line(of, "allocated_at", record.allocated_at);
}

std::optional<allocation_record> allocation_near(const std::byte* address) {
  if (const auto around = allocations().find(address)) return around;
  constexpr std::ptrdiff_t meant_for_it = 1 << 24;  // farther away, the neighbour is a coincidence
  if (const auto near = allocations().nearest(address)) {
    const auto distance = address - static_cast<const std::byte*>(near->block.begin);
    const auto size = static_cast<std::ptrdiff_t>(near->block.bytes);
    if (distance > -meant_for_it && distance < size + meant_for_it) return near;
  }
  return std::nullopt;
}

void add_address(diagnostic& of, const memory_operand& operand) {
  if (!operand.has_address) {
    of.add("why", "impossible_address");
    return;
  }
  const std::uintptr_t value = operand.address;
  constexpr std::uintptr_t first_page = 4096;
  if (value < first_page) {
    of.add("why", "null_pointer");
    if (value != 0) of.add("distance", value).add("address", hexadecimal(value));
    return;
  }
  // An index that is far too small comes to such an address as well, where no memory is.
  if (is_hidden_from_kernels(value) && is_mapped(value ^ host_pointer_bits)) {
    of.add("why", "host_pointer").add("address", hexadecimal(value ^ host_pointer_bits));
    return;
  }
  const auto* address = reinterpret_cast<const std::byte*>(value);
  if (const auto freed = find_freed(address)) {
    of.add("why", "freed_memory");
    add_distance(of, address - static_cast<const std::byte*>(freed->block.begin),
                 freed->block.bytes);
    add_line(of, "freed_at", freed->freed_at);
    add_line(of, "allocated_at", freed->allocated_at);
    return;
  }
  of.add("why", "accessed_memory").add("accessed", hexadecimal(value));
  if (const auto near = allocation_near(address)) {
    add_near(of, *near, address);
  } else {
    of.add("where", "in_no_allocation");
  }
}

const char* name_of(access_kind kind) {
  switch (kind) {
    case access_kind::read:
      return "read";
    case access_kind::write:
      return "write";
    case access_kind::atomic:
      return "atomic operation";
    default:
      return "access";
  }
}

void add_access(diagnostic& of, const memory_operand& operand, const char* space) {
  of.add("what", operand.bytes == 0 ? "invalid_access" : "invalid_access_of_size");
  of.add("space", space).add("access", name_of(operand.kind));
  if (operand.bytes != 0) of.add("bytes", operand.bytes);
}

void add_misaligned(diagnostic& of, const memory_operand& operand) {
  if (!operand.has_address) {
    of.add("why", "misaligned_vector");
    return;
  }
  of.add("why", operand.bytes == 0 ? "misaligned_access" : "misaligned_address");
  of.add("address", hexadecimal(operand.address));
  const auto* address = reinterpret_cast<const std::byte*>(operand.address);
  if (const auto in = allocations().find(address)) add_near(of, *in, address);
}

// How far the address is from the block's dynamic shared memory, if it is near enough to be meant
// for that.
std::optional<std::ptrdiff_t> offset_in_shared_memory(const kernel_fault& fault) {
  constexpr auto around = static_cast<std::ptrdiff_t>(block_execution::around_shared_memory);
  if (!fault.shared_memory || !fault.operand.has_address) return std::nullopt;
  const auto offset =
      reinterpret_cast<const std::byte*>(fault.operand.address) - fault.shared_memory;
  if (offset < -around || offset >= 2 * around) return std::nullopt;
  return offset;
}

void add_invalid_access(diagnostic& of, const kernel_fault& fault) {
  const auto offset = offset_in_shared_memory(fault);
  if (!fault.is_behind_shared_variables && !offset) {
    add_access(of, fault.operand, "global");
    add_address(of, fault.operand);
    return;
  }
  add_access(of, fault.operand, "shared");
  if (fault.is_behind_shared_variables) {
    of.add("why", "past_end_of_shared_variable").add("command", check_command);
    return;
  }
  const auto size = static_cast<std::ptrdiff_t>(fault.shared_bytes);
  of.add("why", *offset < 0 ? "before_dynamic_shared" : "past_end_of_dynamic_shared");
  of.add("distance", *offset < 0 ? -*offset : *offset - size).add("size", fault.shared_bytes);
}

void add_words(diagnostic& of, const kernel_fault& fault) {
  const auto add = [&](const char* what, const char* why) { of.add("what", what).add("why", why); };
  switch (fault.what) {
    case kind::access:
      return add_invalid_access(of, fault);
    case kind::misaligned:
      add_access(of, fault.operand, fault.space);
      return add_misaligned(of, fault.operand);
    case kind::shared_memory:
      add_access(of, fault.operand, "shared");
      of.add("why", "out_of_shared_variable");
      return;
    case kind::call:
      return add("invalid_program_counter", "called_no_function");
    case kind::stack_overflow:
      return add("stack_overflow", "out_of_stack");
    case kind::division:
      return add("invalid_division", "no_quotient");
    case kind::illegal_instruction:
      return add("illegal_instruction", "unreachable_place");
    case kind::abort:
      return add("abort", "called_abort");
    case kind::exit:
      return add("exit", "called_exit");
    case kind::stopped:
      return add("stopped", "time_was_over");
    case kind::none:
      return;
  }
}

}  // namespace

cudaError_t kernel_fault::error() const {
  switch (what) {
    case kind::access:
    case kind::shared_memory:
      return cudaErrorIllegalAddress;
    case kind::misaligned:
      return cudaErrorMisalignedAddress;
    case kind::call:
      return cudaErrorInvalidPc;
    case kind::illegal_instruction:
      return cudaErrorIllegalInstruction;
    case kind::stopped:
      return cudaErrorLaunchTimeout;
    default:
      return cudaErrorLaunchFailure;
  }
}

diagnostic record_of(const kernel_fault& fault, const source_line& line) {
  diagnostic made("fault");
  made.add("block", fault.block).add("thread", fault.thread);
  add_words(made, fault);
  return made.add("at", line);
}

source_line line_of(const kernel_fault& fault) {
  return fault.called_from.line() != 0
             ? make_source_line(fault.called_from.file(), fault.called_from.line())
             : line_of(fault.calls);
}

}  // namespace cpu_backend
