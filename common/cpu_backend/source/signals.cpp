// SPDX-License-Identifier: MIT
#include "cpu_backend/signals.hpp"

#include <signal.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cpu_backend/context.hpp"
#include "cpu_backend/grid.hpp"
#include "cpu_backend/launch.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/report.hpp"
#ifdef CPU_BACKEND_OBSERVED
#include "cpu_backend/observer.hpp"
#endif

namespace cpu_backend {
namespace {

const int interrupt_signal = SIGRTMIN + 5;
const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE};

// Addresses of this form are never mapped, on x86-64 and on AArch64, so using one always faults;
// x86-64 then does not say which one it was.
constexpr std::uintptr_t unreachable = std::uintptr_t{1} << 62;

struct sigaction previous_action[NSIG];

std::string hexadecimal(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

std::string describe_address(const siginfo_t& info) {
  const auto* address = static_cast<const std::byte*>(info.si_addr);
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (info.si_code == SI_KERNEL || (value & unreachable)) {
    return "used a host pointer: it was given the address of memory that only the host can reach";
  }
  if (value < 4096) return "used a null pointer";
  const std::string start = "accessed " + hexadecimal(address) + ", ";
  constexpr std::ptrdiff_t meant_for_it = 1 << 24;  // farther away, the neighbour is a coincidence
  if (const auto near = nearest_allocation(address)) {
    const auto* begin = static_cast<const std::byte*>(near->begin);
    const auto past_end = address - (begin + near->bytes);
    const std::string of = " an allocation of " + std::to_string(near->bytes) + " bytes";
    if (past_end >= 0 && past_end < meant_for_it) {
      return start + std::to_string(past_end) + " bytes past the end of" + of;
    }
    if (address < begin && begin - address < meant_for_it) {
      return start + std::to_string(begin - address) + " bytes before" + of;
    }
  }
  return start + "which is in no allocation";
}

void end_kernel(multiprocessor& on, int signal_number, const siginfo_t& info) {
  if (signal_number == interrupt_signal) {
#ifdef CPU_BACKEND_OBSERVED
    // Whoever observes may hold a lock of the standard library just now. The next signal comes
    // soon.
    if (!observer::thread_is_in_kernel()) return;
#endif
    on.abandon_running_thread();
  }
  if (signal_number == SIGFPE) {
    on.fail(cudaErrorLaunchFailure,
            [] { return "divided an integer by zero, or overflowed in a division"; });
  }
  if (on.is_stack_overflow(info.si_addr)) {
    on.fail(cudaErrorLaunchFailure,
            [] { return "ran out of stack: its local variables need more than 64 KiB"; });
  }
  on.fail(cudaErrorIllegalAddress, [&] { return describe_address(info); });
}

void handle(int signal_number, siginfo_t* info, void*) {
  if (this_multiprocessor && this_multiprocessor->holds_block()) {
    // The handler is never returned from, so the signal has to be let through again by hand.
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
    end_kernel(*this_multiprocessor, signal_number, *info);
  }
  if (signal_number == interrupt_signal) return;
  // Not a kernel's: what would have happened without us happens when the instruction is tried
  // again.
  sigaction(signal_number, &previous_action[signal_number], nullptr);
}

}  // namespace

const void* as_seen_by_a_kernel(const void* pointer) {
  const auto known = [&](const std::byte* address) { return find_allocation(address).has_value(); };
  const auto* first = static_cast<const std::byte*>(pointer);
  // The end of an array is a pointer that a kernel may compare with.
  if (!pointer || known(first) || known(first - 1)) return pointer;
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(pointer) | unreachable);
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
