// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/kernel_fault.hpp"

#include <cstdio>

#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/execution/failure_message.hpp"
#include "cpu_backend/runtime/allocation_table.hpp"
#include "cpu_backend/runtime/freed_memory.hpp"

namespace cpu_backend {
namespace {

using kind = kernel_fault::kind;

std::string hexadecimal(std::uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string bytes_text(std::size_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// ", which main.cu:12 allocated"
std::string because_of(const char* what, const call_stack& calls) {
  if (calls.count == 0) return "";
  const source_line line = line_of(calls);
  return line.file.empty() ? "" : std::string(what) + line.file + ":" + std::to_string(line.line);
}

std::string describe_freed(const freed_block& freed, std::ptrdiff_t offset) {
  const auto size = static_cast<std::ptrdiff_t>(freed.block.bytes);
  std::string text = "it used freed memory: ";
  if (offset < 0) {
    text += bytes_text(static_cast<std::size_t>(-offset)) + " before";
  } else if (offset >= size) {
    text += bytes_text(static_cast<std::size_t>(offset - size)) + " past the end of";
  } else {
    text += "byte " + std::to_string(offset) + " of";
  }
  return text + " an allocation of " + bytes_text(freed.block.bytes) +
         because_of(" that was freed at ", freed.freed_at) +
         because_of(" and allocated at ", freed.allocated_at);
}

std::string describe_near(const allocation_record& record, const std::byte* address) {
  const auto* begin = static_cast<const std::byte*>(record.block.begin);
  const auto past_end = address - (begin + record.block.bytes);
  const std::string of = " an allocation of " + bytes_text(record.block.bytes) +
                         because_of(", made at ", record.allocated_at);
  if (past_end >= 0) {
    return bytes_text(static_cast<std::size_t>(past_end)) + " past the end of" + of;
  }
  if (address < begin)
    return bytes_text(static_cast<std::size_t>(begin - address)) + " before" + of;
  return "byte " + std::to_string(address - begin) + " of" + of;
}

std::string describe_address(const memory_operand& operand) {
  if (!operand.has_address) return "at an address that no memory can have";
  std::uintptr_t value = operand.address;
  constexpr std::uintptr_t first_page = 4096;
  if (value < first_page) {
    return "it used a null pointer" +
           (value == 0 ? "" : ", and " + bytes_text(value) + " more: " + hexadecimal(value));
  }
  if (is_unreachable_for_kernels(value)) {
    return "it used a host pointer: " + hexadecimal(value & ~unreachable_for_kernels) +
           " is memory that only the host can reach; allocate it by cudaMalloc or "
           "cudaMallocManaged";
  }
  const auto* address = reinterpret_cast<const std::byte*>(value);
  if (const auto freed = find_freed(address)) {
    return describe_freed(*freed, address - static_cast<const std::byte*>(freed->block.begin));
  }
  const std::string start = "it accessed " + hexadecimal(value) + ", ";
  if (const auto around = allocations().at(address)) return start + describe_near(*around, address);
  constexpr std::ptrdiff_t meant_for_it = 1 << 24;  // farther away, the neighbour is a coincidence
  if (const auto near = allocations().nearest(address)) {
    const auto distance = address - static_cast<const std::byte*>(near->block.begin);
    const auto size = static_cast<std::ptrdiff_t>(near->block.bytes);
    if (distance > -meant_for_it && distance < size + meant_for_it) {
      return start + describe_near(*near, address);
    }
  }
  return start + "which is in no allocation";
}

const char* describe_kind(access_kind kind) {
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

std::string describe_access(const memory_operand& operand, const char* memory = "__global__") {
  std::string text = "Invalid ";
  text += memory;
  text += ' ';
  text += describe_kind(operand.kind);
  if (operand.bytes != 0) text += " of size " + bytes_text(operand.bytes);
  return text;
}

std::string describe_misaligned(const memory_operand& operand) {
  std::string text = "misaligned address: " + hexadecimal(operand.address) + " is no multiple of " +
                     std::to_string(operand.bytes);
  const auto* address = reinterpret_cast<const std::byte*>(operand.address);
  if (const auto in = allocations().at(address)) {
    text += "; it is ";
    text += describe_near(*in, address);
  }
  return text;
}

// Where the address is next to the block's dynamic shared memory, and so meant for that.
std::string describe_shared(const kernel_fault& fault) {
  if (fault.is_behind_shared_variables) {
    return "it ran past the end of a __shared__ variable; ./lab racecheck FILE names the variable "
           "and the index";
  }
  constexpr auto around = static_cast<std::ptrdiff_t>(block_execution::around_shared_memory);
  const auto offset =
      reinterpret_cast<const std::byte*>(fault.operand.address) - fault.shared_memory;
  const auto size = static_cast<std::ptrdiff_t>(fault.shared_bytes);
  if (!fault.shared_memory || !fault.operand.has_address || offset < -around ||
      offset >= 2 * around) {
    return "";
  }
  const auto distance = static_cast<std::size_t>(offset < 0 ? -offset : offset - size);
  return "it is " + bytes_text(distance) + (offset < 0 ? " before" : " past the end of") +
         " the dynamic shared memory of its block, which has " + bytes_text(fault.shared_bytes);
}

struct words {
  std::string what;  // before the place
  std::string why;   // after it
};

words words_of(const kernel_fault& fault) {
  switch (fault.what) {
    case kind::access:
      if (const std::string shared = describe_shared(fault); !shared.empty()) {
        return {describe_access(fault.operand, "__shared__"), shared};
      }
      return {describe_access(fault.operand), describe_address(fault.operand)};
    case kind::misaligned:
      return {describe_access(fault.operand), describe_misaligned(fault.operand)};
    case kind::shared_memory:
      return {
          describe_access(fault.operand, "__shared__"),
          "it is out of its variable, and the launch ends here, because what lies there belongs "
          "to the CPU backend"};
    case kind::call:
      return {"Invalid program counter",
              "it called what is no function of the device: a null pointer, a function of "
              "the host's, or a virtual function of an object that was made elsewhere"};
    case kind::stack_overflow:
      return {"Stack overflow", "it ran out of stack: a thread's local variables have 64 KiB"};
    case kind::division_by_zero:
      return {"Division by zero",
              "it divided an integer by zero; a GPU would not stop there, and go on with a "
              "meaningless number"};
    case kind::division_overflow:
      return {"Overflow in a division",
              "the quotient of the smallest negative number and -1 does not fit; a GPU would not "
              "stop there, and go on with a meaningless number"};
    case kind::illegal_instruction:
      return {"Illegal instruction",
              "it came to a place that the compiler takes for unreachable, such as the end of a "
              "function that returns nothing where it should return a value"};
    case kind::abort:
      return {"abort()",
              "the kernel called abort(), or the C++ library did for it; that is a function of "
              "the host's, which nvcc refuses: use __trap() or assert()"};
    case kind::exit:
      return {"exit()",
              "the kernel called exit(); that is a function of the host's, which nvcc refuses: "
              "use return to end a thread, and __trap() to end the launch"};
    case kind::stopped:
      return {"Stopped", "it ran there when the time was over"};
    default:
      return {};
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

std::string describe(const kernel_fault& fault) {
  const source_line line = fault.at.line() != 0 ? make_source_line(fault.at.file(), fault.at.line())
                                                : line_of(fault.calls);
  const words said = words_of(fault);
  std::string text = describe_block(fault.block) + ", " + describe(fault.thread) + ": " + said.what;
  if (!line.file.empty()) text += " at " + line.file + ":" + std::to_string(line.line);
  text += ": " + said.why + '\n';
  if (!line.text.empty()) text += "      " + line.text + '\n';
  return text;
}

}  // namespace cpu_backend
