// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/signals.hpp"

#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/execution/launch.hpp"
#include "cpu_backend/fibers/fiber.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/allocations.hpp"

namespace cpu_backend {
namespace {

const int interrupt_signal = SIGRTMIN + 5;
// A trap of the compiler's is SIGILL on x86-64 and SIGTRAP on AArch64.
const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

struct sigaction previous_action[NSIG];

const mcontext_t& machine(const void* context) {
  return static_cast<const ucontext_t*>(context)->uc_mcontext;
}

#if defined(__x86_64__)
bool is_page_fault(const mcontext_t& at) {
  constexpr greg_t page_fault = 14;
  return at.gregs[REG_TRAPNO] == page_fault;
}

access_kind kind_of(const mcontext_t& at) {
  constexpr greg_t write_access = 2;
  if (!is_page_fault(at)) return access_kind::unknown;
  return at.gregs[REG_ERR] & write_access ? access_kind::write : access_kind::read;
}
#else
// Linux hands over the processor's word about the fault in a record after the registers, which says
// whether it was a write.
access_kind kind_of(const mcontext_t& at) {
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
#endif

// Of an address that no memory can have x86-64 does not say which it was, and no more of a vector
// instruction that wants an aligned address. The first is hardly ever meant: host pointers are
// named. (With AddressSanitizer it may be the address of a shadow.)
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
constexpr bool nameless_is_misaligned = false;
#else
constexpr bool nameless_is_misaligned = true;
#endif

kernel_fault fault_of(const multiprocessor& on, int signal_number, const siginfo_t& info,
                      const void* context) {
  kernel_fault fault;
  fault.calls = call_stack::interrupted(context);
  switch (signal_number) {
    case SIGFPE:
      fault.what = kernel_fault::kind::division;
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
    const bool is_named = info.si_code != SI_KERNEL;
    fault.operand = {is_named, reinterpret_cast<std::uintptr_t>(info.si_addr), 0,
                     kind_of(machine(context))};
    const bool misaligned =
        is_named ? signal_number == SIGBUS && info.si_code == BUS_ADRALN : nameless_is_misaligned;
    fault.what = misaligned ? kernel_fault::kind::misaligned : kernel_fault::kind::access;
  }
  return fault;
}

void end_kernel(multiprocessor& on, int signal_number, const siginfo_t& info, const void* context) {
  if (signal_number == interrupt_signal) {
    // The observer may hold a lock of the standard library just now. The next signal comes
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

#if defined(__x86_64__)
const void* instruction_of(const void* context) {
  return reinterpret_cast<const void*>(machine(context).gregs[REG_RIP]);
}

const void* return_address_of_bad_call(const void* context) {
  const mcontext_t& at = machine(context);
  // The fetch of an instruction, and not an access by one.
  if (!is_page_fault(at) || at.gregs[REG_CR2] != at.gregs[REG_RIP]) return nullptr;
  return *reinterpret_cast<const void* const*>(at.gregs[REG_RSP]);
}
#else
const void* instruction_of(const void* context) {
  return reinterpret_cast<const void*>(machine(context).pc);
}

const void* return_address_of_bad_call(const void* context) {
  constexpr unsigned link_register = 30;
  const mcontext_t& at = machine(context);
  const bool could_not_fetch = at.fault_address == at.pc;
  return could_not_fetch ? reinterpret_cast<const void*>(at.regs[link_register]) : nullptr;
}
#endif

const void* as_seen_by_a_kernel(const void* pointer) {
  const auto* address = static_cast<const std::byte*>(pointer);
  const auto is_of_device = [](const std::byte* at) {
    return allocations().find(at).has_value() || find_freed(at).has_value();
  };
  // The end of an array is a pointer that a kernel may compare with. (So is a pointer before its
  // begin, for programs that count from 1: around what was allocated nothing of the host's lies.)
  if (!address || is_of_device(address) || is_of_device(address - 1)) return pointer;
  return reinterpret_cast<const void*>(
      hidden_from_kernels(reinterpret_cast<std::uintptr_t>(pointer)));
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
