// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/signal_context.hpp"

#include <ucontext.h>

#include <algorithm>
#include <cstring>

#include "cpu_backend/execution/processor/aarch64/instruction.hpp"

namespace cpu_backend {
namespace {

const mcontext_t& machine(const void* context) {
  return static_cast<const ucontext_t*>(context)->uc_mcontext;
}

bool could_not_fetch(const mcontext_t& at) { return at.fault_address == at.pc; }

// Linux hands over the processor's word about the fault in a record after the registers, which says
// whether it was a write; for instructions that the decoder does not know, such as SVE's.
access_kind kind_in_syndrome(const mcontext_t& at) {
  constexpr std::uint32_t syndrome_record = 0x45535201;
  constexpr std::uint64_t is_write = 1u << 6;
  const std::uint8_t* record = at.__reserved;
  for (;;) {
    std::uint32_t header[2];  // what it is, and its length
    std::memcpy(header, record, sizeof header);
    if (header[0] == 0 || header[1] == 0) return access_kind::unknown;
    if (header[0] == syndrome_record) {
      std::uint64_t syndrome;
      std::memcpy(&syndrome, record + sizeof header, sizeof syndrome);
      return syndrome & is_write ? access_kind::write : access_kind::read;
    }
    record += header[1];
  }
}

}  // namespace

const void* instruction_of(const void* context) {
  return reinterpret_cast<const void*>(machine(context).pc);
}

const void* return_address_of_bad_call(const void* context) {
  constexpr unsigned link_register = 30;
  const mcontext_t& at = machine(context);
  return could_not_fetch(at) ? reinterpret_cast<const void*>(at.regs[link_register]) : nullptr;
}

memory_operand operand_of(const void* context) {
  const mcontext_t& at = machine(context);
  memory_operand found;
  if (could_not_fetch(at)) return found;
  std::uint32_t instruction;
  std::memcpy(&instruction, instruction_of(context), sizeof instruction);
  aarch64_registers registers;
  std::copy(at.regs, at.regs + registers.general.size(), registers.general.begin());
  registers.stack_pointer = at.sp;
  found = decode_aarch64(instruction, registers);
  if (found.kind == access_kind::unknown) found.kind = kind_in_syndrome(at);
  return found;
}

bool divisor_is_zero(const void*) { return true; }  // no division faults there

}  // namespace cpu_backend
