// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/signals.hpp"

#include <signal.h>

#include <cstdint>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/execution/launch.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/allocations.hpp"

namespace cpu_backend {
namespace {

const int interrupt_signal = SIGRTMIN + 5;
// A trap of the compiler's is SIGILL on x86-64 and SIGTRAP on AArch64.
const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

struct sigaction previous_action[NSIG];

memory_operand accessed(const siginfo_t& info, const void* context) {
  memory_operand operand = operand_of(context);
  // Of an address that no memory can have x86-64 does not say which it was, and QEMU says 0.
  const bool is_named = info.si_code != SI_KERNEL;
  if (!is_named || (operand.has_address && is_unreachable_for_kernels(operand.address))) {
    return operand;
  }
  const auto named = reinterpret_cast<std::uintptr_t>(info.si_addr);
  // Of an access that begins on another page the processor names no more than the bad part.
  const bool begins_before = operand.has_address && named - operand.address < operand.bytes;
  if (!begins_before) operand.address = named;
  operand.has_address = true;
  return operand;
}

// Vector instructions want an aligned address, and say no more about one that isn't than about one
// that can't be.
bool is_misaligned(const siginfo_t& info, const memory_operand& operand) {
  const bool is_in_reach = operand.has_address && operand.address >> 47 == 0;
  return info.si_code == SI_KERNEL && is_in_reach && operand.bytes != 0 &&
         operand.address % operand.bytes != 0;
}

kernel_fault fault_of(const multiprocessor& on, int signal_number, const siginfo_t& info,
                      const void* context) {
  kernel_fault fault;
  fault.calls = call_stack::interrupted(context);
  switch (signal_number) {
    case SIGFPE:
      fault.what = divisor_is_zero(context) ? kernel_fault::kind::division_by_zero
                                            : kernel_fault::kind::division_overflow;
      return fault;
    case SIGILL:
    case SIGTRAP:
      fault.what = kernel_fault::kind::illegal_instruction;
      return fault;
    case SIGABRT:
      fault.what = kernel_fault::kind::abort;
      return fault;
  }
  if (on.is_stack_overflow(info.si_addr)) {
    fault.what = kernel_fault::kind::stack_overflow;
  } else if (return_address_of_bad_call(context)) {
    fault.what = kernel_fault::kind::call;
  } else {
    fault.operand = accessed(info, context);
    const bool misaligned = (signal_number == SIGBUS && info.si_code == BUS_ADRALN) ||
                            is_misaligned(info, fault.operand);
    fault.what = misaligned ? kernel_fault::kind::misaligned : kernel_fault::kind::access;
  }
  return fault;
}

void end_kernel(multiprocessor& on, int signal_number, const siginfo_t& info, const void* context) {
  if (signal_number == interrupt_signal) {
    // Whoever observes may hold a lock of the standard library just now. The next signal comes
    // soon.
    if (!observer::thread_is_in_kernel()) return;
    on.stop(call_stack::interrupted(context));
  }
  on.fail(fault_of(on, signal_number, info, context));
}

void handle(int signal_number, siginfo_t* info, void* context) {
  if (this_multiprocessor && this_multiprocessor->holds_block()) {
    // The handler is never returned from, so the signal has to be let through again by hand.
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
    end_kernel(*this_multiprocessor, signal_number, *info, context);
  }
  if (signal_number == interrupt_signal) return;
  // Not a kernel's: what would have happened without us happens when the instruction is tried
  // again.
  sigaction(signal_number, &previous_action[signal_number], nullptr);
  // After these no instruction is tried again.
  if (signal_number == SIGABRT || signal_number == SIGTRAP) raise(signal_number);
}

}  // namespace

const void* as_seen_by_a_kernel(const void* pointer) {
  const auto* address = static_cast<const std::byte*>(pointer);
  const auto is_of_device = [](const std::byte* at) {
    return allocations().find(at).has_value() || find_freed(at).has_value();
  };
  // The end of an array is a pointer that a kernel may compare with. (So is a pointer before its
  // begin, for whoever counts from 1: around what was allocated nothing of the host's lies.)
  if (!address || is_of_device(address) || is_of_device(address - 1)) return pointer;
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(pointer) |
                                       unreachable_for_kernels);
}

kernel_signal_handlers::kernel_signal_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : fault_signals) sigaction(number, &action, &previous_action[number]);
  // This one stays: it may arrive late, and without a handler it would end the process.
  sigaction(interrupt_signal, &action, nullptr);
}

kernel_signal_handlers::~kernel_signal_handlers() {
  for (const int number : fault_signals) sigaction(number, &previous_action[number], nullptr);
}

void use_signal_stack(std::span<std::byte> memory) {
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, nullptr);
}

void interrupt_kernel(pthread_t thread) { pthread_kill(thread, interrupt_signal); }

}  // namespace cpu_backend
