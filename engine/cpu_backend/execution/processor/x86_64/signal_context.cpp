// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/signal_context.hpp"

#include <ucontext.h>

#include "cpu_backend/execution/processor/x86_64/instruction.hpp"

namespace cpu_backend {
namespace {

const mcontext_t& machine(const void* context) {
  return static_cast<const ucontext_t*>(context)->uc_mcontext;
}

constexpr greg_t page_fault = 14;
constexpr greg_t write_access = 2;

x86_registers registers_of(const mcontext_t& at) {
  constexpr int in_order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};
  x86_registers all;
  for (std::size_t i = 0; i < all.general.size(); ++i) {
    all.general[i] = static_cast<std::uint64_t>(at.gregs[in_order[i]]);
  }
  asm("movq %%fs:0, %0" : "=r"(all.thread_base));
  return all;
}

}  // namespace

const void* instruction_of(const void* context) {
  return reinterpret_cast<const void*>(machine(context).gregs[REG_RIP]);
}

const void* return_address_of_bad_call(const void* context) {
  const mcontext_t& at = machine(context);
  // The fetch of an instruction, and not an access by one.
  if (at.gregs[REG_TRAPNO] != page_fault || at.gregs[REG_CR2] != at.gregs[REG_RIP]) return nullptr;
  return *reinterpret_cast<const void* const*>(at.gregs[REG_RSP]);
}

memory_operand operand_of(const void* context) {
  const mcontext_t& at = machine(context);
  const bool is_page_fault = at.gregs[REG_TRAPNO] == page_fault;
  memory_operand found;
  if (is_page_fault && at.gregs[REG_CR2] == at.gregs[REG_RIP]) return found;
  const auto decoded =
      decode_x86(static_cast<const std::uint8_t*>(instruction_of(context)), registers_of(at));
  found.has_address = decoded.has_address;
  found.address = decoded.address;
  found.bytes = decoded.bytes;
  found.kind = decoded.is_atomic ? access_kind::atomic
               : decoded.writes  ? access_kind::write
               : decoded.bytes   ? access_kind::read
                                 : access_kind::unknown;
  if (is_page_fault && found.kind != access_kind::atomic) {
    found.kind = at.gregs[REG_ERR] & write_access ? access_kind::write : access_kind::read;
  }
  return found;
}

bool divisor_is_zero(const void* context) {
  return decode_x86(static_cast<const std::uint8_t*>(instruction_of(context)),
                    registers_of(machine(context)))
      .divides_by_zero;
}

}  // namespace cpu_backend
