// SPDX-License-Identifier: MIT
#include "cpu_backend/scheduled.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/scheduled/decisions.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"
#include "cpu_backend/shared_memory.hpp"

namespace cpu_backend {
namespace {

struct announced_variable {
  scheduled::span_of_memory at;
  bool is_constant;
  bool is_managed;
  std::span<const unsigned char> padding;
};
std::vector<announced_variable>& device_variables() {
  static auto& all = *new std::vector<announced_variable>;
  return all;
}

}  // namespace

device_variable_of_file::device_variable_of_file(const volatile void* address, std::size_t bytes,
                                                 bool is_constant, bool is_managed,
                                                 std::span<const unsigned char> padding) {
  const auto* const begin =
      static_cast<const std::byte*>(const_cast<const void*>(address));  // volatile to kernels alone
  device_variables().push_back({{begin, bytes}, is_constant, is_managed, padding});
  if (is_managed) return;
  auto& span = scheduled::variables_of_device;
  const std::byte* const end = span.bytes == 0 ? begin : span.begin + span.bytes;
  if (span.bytes == 0 || begin < span.begin) span.begin = begin;
  span.bytes = static_cast<std::size_t>(std::max(end, begin + bytes) - span.begin);
}

namespace scheduled {

constinit span_of_memory variables_of_device;

bool is_variable_of_device_alone(const void* address) {
  return std::ranges::any_of(device_variables(), [&](const announced_variable& each) {
    return !each.is_managed && each.at.holds(address);
  });
}

device_variable device_variable_at(const void* address) {
  for (const announced_variable& each : device_variables()) {
    if (!each.at.holds(address)) continue;
    const std::size_t offset = each.at.offset_of(address);
    if (!each.padding.empty() && each.padding[offset % each.padding.size()] == 0) {
      return device_variable::padding;
    }
    return each.is_constant ? device_variable::constant : device_variable::variable;
  }
  return device_variable::none;
}

void set_seed(std::uint64_t seed) { scheduler::current().set_seed(seed); }

void hold_back_after_fences() { scheduler::current().hold_back_after_fences(); }

void run_ahead() { scheduler::current().run_ahead(); }

void delay_last_block(const unsigned* until, unsigned at_most) {
  scheduler::current().delay_last_block(until, at_most);
}

void note_state(const void* frame) {
  if (multiprocessor* on = this_multiprocessor) on->note_state(frame);
}

void accessed(bool changed_memory, const void* from) {
  multiprocessor* on = this_multiprocessor;
  if (!on) return;
  const place unknown{};
  if (changed_memory) {
    on->progressed();
  } else {
    on->looks_from(from);
    on->fruitless(unknown);
  }
  on->switch_point(unknown);
}

void progressed() {
  if (multiprocessor* on = this_multiprocessor) on->progressed();
}

void memory_changed() {
  multiprocessor* on = this_multiprocessor;
  if (!on) return;
  on->changed_memory();
  if (decisions* list = decisions::active()) list->changed(on->block());
}

void others_change_memory() {
  if (decisions* list = decisions::active()) list->others_change_memory();
}

bool runs_by_decisions() { return decisions::active() != nullptr; }

// A kernel's compiler gives its threads the stack that its functions need, unless one calls itself.
void function_begins(const void* frame, const void* from) {
  constexpr std::size_t bytes_of_gpu = 1024;  // cudaLimitStackSize, if a program sets no other
  static std::size_t deepest = bytes_of_gpu;
  if (!runs_by_decisions() || !this_multiprocessor ||
      !this_multiprocessor->has_local(static_cast<const std::byte*>(frame) + deepest)) {
    return;
  }
  deepest += sizeof(void*);
  const observer::runtime_access now;
  const call_stack calls = call_stack::here();
  std::set<const void*> known;
  for (unsigned i = 0; i < calls.count; ++i) {
    if (!known.insert(calls.instructions[i]).second) return used("device", "recursion", from);
  }
}

void used(const char* kind, const char* name, const void* from) {
  if (decisions* list = decisions::active()) list->used(kind, name, nullptr, from);
}

bool is_own_local(const void* address) {
  return this_multiprocessor && this_multiprocessor->has_local(address);
}

bool is_local(const void* address) { return is_stack_memory(address); }

void strong_access_begins(const void* address, std::size_t bytes) {
  multiprocessor* on = this_multiprocessor;
  decisions* const list = decisions::active();
  if (!on || !list) return;
  on->wait_for_decision(address);
  list->access_begins(address, bytes, on->block());
}

void strong_access_done(const void* address, std::size_t bytes, observer::access kind,
                        bool changed_memory, const char* order) {
  if (multiprocessor* on = this_multiprocessor) {
    const place unknown{};
    on->accessed_strongly(address, bytes, kind, changed_memory, order, unknown);
  }
}

const char* order_in_words(bool acquires, bool releases, observer::scope within) {
  constexpr const char* words[2][2][2] = {{{"-d", "-b"}, {"rd", "rb"}},
                                          {{"ad", "ab"}, {"xd", "xb"}}};
  return words[acquires][releases][within == observer::scope::block];
}

void sc_fence_begins() {
  multiprocessor* on = this_multiprocessor;
  if (on && decisions::active()) on->wait_for_decision(nullptr);
}

void fence_done(observer::fence_kind kind, observer::scope within) {
  multiprocessor* on = this_multiprocessor;
  decisions* const list = decisions::active();
  if (!on || !list) return;
  list->fenced({on->block(), on->thread_rank()}, kind, within == observer::scope::block);
}

std::optional<unsigned> decided_write() {
  const decisions* const list = decisions::active();
  return list ? std::optional(list->decided_write()) : std::nullopt;
}

void written_weakly(const void* address, std::size_t bytes) {
  decisions* const list = decisions::active();
  // A copy, a fill and the host write global memory.
  const std::uint64_t block = this_multiprocessor ? this_multiprocessor->block() : 0;
  if (list) list->written_weakly(address, bytes, block);
}

void barrier_opened() {
  if (decisions* list = decisions::active()) list->barrier_opened(this_multiprocessor->block());
}

void lanes_met(unsigned first_rank, unsigned lanes, bool orders_memory) {
  decisions* const list = decisions::active();
  if (list) list->lanes_met(this_multiprocessor->block(), first_rank, lanes, orders_memory);
}

void launch_leaves(std::uint64_t hash) { decisions::active()->launch_ends(hash); }

void give_turn_back() {
  multiprocessor* on = this_multiprocessor;
  if (!on) return;
  // The launch was stopped: this thread would never run again.
  if (on->running_grid().failed()) on->stop(call_stack::here());
  if (!on->goes_on()) on->give_turn_back(false);
}

namespace {

kernel_fault fault_of(kernel_fault::kind what, const void* address, std::size_t bytes, bool writes,
                      const void* from) {
  kernel_fault fault;
  fault.what = what;
  fault.operand = {true, reinterpret_cast<std::uintptr_t>(address), static_cast<unsigned>(bytes),
                   writes ? access_kind::write : access_kind::read};
  if (from) fault.calls.instructions[fault.calls.count++] = from;
  return fault;
}

}  // namespace

void end_at_misaligned_access(const void* address, std::size_t bytes, bool writes, const void* from,
                              bool is_known) {
  if (!this_multiprocessor) return;
  kernel_fault fault = fault_of(kernel_fault::kind::misaligned, address, bytes, writes, from);
  if (!is_known) fault.operand.kind = access_kind::unknown;
  if (this_multiprocessor->has_local(address)) fault.space = "local";
  if (this_multiprocessor->has_shared(address)) fault.space = "shared";
  this_multiprocessor->fail(fault);
}

void end_at_unreachable(const void* from) {
  if (this_multiprocessor) {
    this_multiprocessor->fail(
        fault_of(kernel_fault::kind::illegal_instruction, nullptr, 0, false, from));
  }
  __builtin_trap();
}

void end_at_access_out_of_shared_memory(const void* address, std::size_t bytes, const void* from) {
  if (!this_multiprocessor) return;
  constexpr bool writes = true;
  this_multiprocessor->fail(
      fault_of(kernel_fault::kind::shared_memory, address, bytes, writes, from));
}

const kernel_fault* stopped_thread() {
  if (!this_multiprocessor) return nullptr;
  const grid& now = this_multiprocessor->running_grid();
  return now.failed() && now.fault.what == kernel_fault::kind::stopped ? &now.fault : nullptr;
}

bool is_built_in_variable(const void* address) {
  const auto holds = [&](const auto& variable) {
    const auto* begin = reinterpret_cast<const std::byte*>(&variable);
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin) <
           sizeof variable;
  };
  return holds(threadIdx) || holds(blockIdx) || holds(blockDim) || holds(gridDim) ||
         holds(this_multiprocessor);
}

bool is_at_extern_shared_arrays(const void* address) {
  return memory_of_extern_arrays.holds(address);
}

}  // namespace scheduled
}  // namespace cpu_backend
