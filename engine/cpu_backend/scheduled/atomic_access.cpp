// SPDX-License-Identifier: MIT
#include "cpu_backend/atomic_access.hpp"

#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/scheduled.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"

namespace cpu_backend {
namespace {

observer::scope observed_scope(memory_scope scope) {
  return scope == memory_scope::block ? observer::scope::block : observer::scope::device;
}

const char* name_of(memory_scope scope) {
  switch (scope) {
    case memory_scope::system:
      return "system";
    case memory_scope::device:
      return "device";
    case memory_scope::block:
      return "block";
    case memory_scope::thread:
      return "thread";
  }
  return "unknown";
}

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

// As libcu++ does: a sequentially consistent operation is a fence and then the operation.
void begin_atomic(const memory_semantics& how, const place& at, const void* frame) {
  multiprocessor* on = this_multiprocessor;
  if (!on) return;
  on->atomic_begins(at);
  form::used("scope", name_of(how.scope), &at);
  if (how.order == std::memory_order_seq_cst && how.scope != memory_scope::thread) {
    scheduled::sc_fence_begins();
    observer::fenced(
        {observed_scope(how.scope), observer::fence_kind::sequentially_consistent, at});
  }
  if (scheduled::runs_by_decisions()) on->note_state(frame);
}

void observe_atomic(const void* address, unsigned bytes, observer::access kind,
                    const memory_semantics& how, bool changed_memory, const place& at) {
  multiprocessor* on = this_multiprocessor;
  const bool has_thread_scope = how.scope == memory_scope::thread;
  const observer::atomic_operation done{static_cast<const std::byte*>(address),
                                        bytes,
                                        kind,
                                        observed_scope(how.scope),
                                        kind != observer::access::store && acquires(how.order),
                                        kind != observer::access::load && releases(how.order),
                                        at,
                                        has_thread_scope};
  if (!on) return observer::host_atomic_done(done);
  if (!changed_memory) {
    __builtin_unwind_init();
    on->note_state(__builtin_frame_address(0));
  }
  observer::atomic_done(done);
  if (!has_thread_scope) {
    on->accessed_strongly(
        address, bytes, kind, changed_memory,
        scheduled::order_in_words(kind != observer::access::store && acquires(how.order),
                                  kind != observer::access::load && releases(how.order),
                                  observed_scope(how.scope)),
        at);
  }
  if (changed_memory) {
    on->progressed();
  } else {
    on->fruitless(at);
  }
  on->atomic_ends();
  on->switch_point(at);
}

void old_value_is_unused() {
  if (this_multiprocessor) observer::old_value_is_unused();
}

namespace {

template <class Word>
bool replace_word(void* address, std::uint64_t expected, std::uint64_t desired) {
  auto old = static_cast<Word>(expected);
  return __atomic_compare_exchange_n(static_cast<Word*>(address), &old, static_cast<Word>(desired),
                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

}  // namespace

std::uint64_t read_memory(const void* address, unsigned bytes, observer::access kind,
                          const memory_semantics& how) {
  observer::atomic_begins(address, bytes, kind, how.scope == memory_scope::thread);
  switch (bytes) {
    case 1:
      return __atomic_load_n(static_cast<const std::uint8_t*>(address), __ATOMIC_SEQ_CST);
    case 2:
      return __atomic_load_n(static_cast<const std::uint16_t*>(address), __ATOMIC_SEQ_CST);
    case 4:
      return __atomic_load_n(static_cast<const std::uint32_t*>(address), __ATOMIC_SEQ_CST);
    default:
      return __atomic_load_n(static_cast<const std::uint64_t*>(address), __ATOMIC_SEQ_CST);
  }
}

bool replace_memory(void* address, unsigned bytes, std::uint64_t expected, std::uint64_t desired) {
  switch (bytes) {
    case 1:
      return replace_word<std::uint8_t>(address, expected, desired);
    case 2:
      return replace_word<std::uint16_t>(address, expected, desired);
    case 4:
      return replace_word<std::uint32_t>(address, expected, desired);
    default:
      return replace_word<std::uint64_t>(address, expected, desired);
  }
}

namespace {

observer::fence_kind kind_of_fence(std::memory_order order) {
  switch (order) {
    case std::memory_order_seq_cst:
      return observer::fence_kind::sequentially_consistent;
    case std::memory_order_release:
      return observer::fence_kind::release;
    case std::memory_order_acq_rel:
      return observer::fence_kind::acquire_release;
    default:
      return observer::fence_kind::acquire;
  }
}

}  // namespace

void fence(std::memory_order order, memory_scope scope, const place& at) {
  std::atomic_thread_fence(order);
  multiprocessor* on = this_multiprocessor;
  if (on) form::used("scope", name_of(scope), &at);
  if (!on || order == std::memory_order_relaxed || scope == memory_scope::thread) return;
  __builtin_unwind_init();
  on->note_state(__builtin_frame_address(0));
  if (order == std::memory_order_seq_cst) scheduled::sc_fence_begins();
  observer::fenced({observed_scope(scope), kind_of_fence(order), at});
  on->fruitless(at);
  if (order == std::memory_order_seq_cst && scheduler::current().holds_back_after_fences()) {
    on->fenced();
  }
  on->switch_point(at);
}

}  // namespace cpu_backend
