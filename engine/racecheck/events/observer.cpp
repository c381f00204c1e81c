// SPDX-License-Identifier: MIT
// The backend's observer: hands what the backend tells to the consumer, and keeps track of the
// thread whose accesses the instrumentation reports.
#include "cpu_backend/observer.hpp"
#include "cpu_backend/form.hpp"

#include <cstring>
#include <utility>

#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/host_access.hpp"
#include "racecheck/events/places.hpp"

namespace racecheck {

constinit __thread thread_state* running_thread = nullptr;
void (*launch_has_ended)() = nullptr;

}  // namespace racecheck

// CUDA's runtime may not be there before main() and after it. The program's own static objects are
// constructed before the library's, which follows it in the link, and destroyed after it. What
// main() registers for its end comes first of all.
static constinit bool is_in_main = false;
extern "C" {
int __real___cxa_atexit(void (*)(void*), void*, void*);
int __wrap___cxa_atexit(void (*function)(void*), void* argument, void* of) {
  const int status = __real___cxa_atexit(function, argument, of);
  if (is_in_main) __real___cxa_atexit([](void*) { is_in_main = false; }, nullptr, nullptr);
  return status;
}
}
[[gnu::constructor]] static void main_begins() {
  is_in_main = true;
  __real___cxa_atexit([](void*) { is_in_main = false; }, nullptr, nullptr);
}

// For programs that run other people's functions on memory of their own: what findings call
// the allocation that begins at `memory`, of elements of so many bytes. Between launches.
extern "C" void racecheck_name_memory(const void* memory, std::size_t element_bytes,
                                      const char* name) {
  racecheck::consumer().memory().name_allocation(memory, element_bytes, name);
}

// For programs that ask whether blocks wait for more than they need: see cpu_backend/scheduled.hpp.
extern "C" void racecheck_delay_last_block(const unsigned* until, unsigned at_most) {
  cpu_backend::scheduled::delay_last_block(until, at_most);
}

namespace cpu_backend::observer {

using racecheck::checker_synchronizes;
using racecheck::checker_works;
using racecheck::consumer;
using racecheck::plain_accesses;
using racecheck::put_newest_values_back;
using racecheck::running_thread;

runtime_access::runtime_access() : paused_(std::exchange(running_thread, nullptr)) {
  ++racecheck::accesses_by_runtime;
}
runtime_access::~runtime_access() {
  --racecheck::accesses_by_runtime;
  running_thread = static_cast<racecheck::thread_state*>(paused_);
}

host_function::host_function()
    : calls_of_runtime_(std::exchange(racecheck::accesses_by_runtime, 0)) {
  racecheck::note_function_in_stream();
}
host_function::~host_function() { racecheck::accesses_by_runtime = calls_of_runtime_; }

void launch_begins(const launch& now) {
  if (scheduled::runs_by_decisions()) plain_accesses.watch_memory();
  racecheck::launch_prints();
  ++racecheck::accesses_by_runtime;
  racecheck::time_of_program.set_launch_runs(true);
  consumer().launch_begins(now);
}
void launch_waits(const work& given) {
  put_newest_values_back();
  plain_accesses.flush();
  running_thread = nullptr;
  consumer().launch_waits(given);
  racecheck::time_of_program.set_launch_runs(false);
  --racecheck::accesses_by_runtime;
}
void launch_goes_on(const work& given) {
  ++racecheck::accesses_by_runtime;
  racecheck::time_of_program.set_launch_runs(true);
  consumer().launch_goes_on(given);
}
void launch_ends(bool failed) {
  put_newest_values_back();
  plain_accesses.flush();
  running_thread = nullptr;
  consumer().launch_ends(failed);
  if (racecheck::launch_has_ended) racecheck::launch_has_ended();
  racecheck::time_of_program.set_launch_runs(false);
  if (scheduled::runs_by_decisions()) {
    scheduled::launch_leaves(consumer().memory().hash_of_written());
  }
  --racecheck::accesses_by_runtime;
}
void block_begins(const block& begun) {
  if (scheduled::runs_by_decisions()) {
    consumer().memory().note_shared({begun.dynamic_shared_memory, begun.dynamic_shared_bytes});
  }
  consumer().block_begins(begun);
}
void block_ends() {
  put_newest_values_back();
  plain_accesses.flush();
  running_thread = nullptr;
  consumer().block_ends();
}
void block_runs(unsigned multiprocessor) { consumer().block_runs(multiprocessor); }
void block_pauses() {
  put_newest_values_back();
  if (const kernel_fault* stopped = scheduled::stopped_thread(); stopped && running_thread) {
    if (const auto found = racecheck::find_plain_poll(plain_accesses.latest_of(*running_thread))) {
      racecheck::report(*found, *stopped);
    }
  }
  plain_accesses.flush();
  running_thread = nullptr;
  consumer().block_pauses();
}
void thread_runs(unsigned rank) {
  put_newest_values_back();
  running_thread = consumer().thread_runs(rank);
}
void thread_pauses() {
  put_newest_values_back();
  running_thread = nullptr;
}
bool thread_is_in_kernel() { return running_thread != nullptr; }
void shared_variable_appears(const shared_variable& variable) {
  const checker_synchronizes now;
  if (scheduled::runs_by_decisions()) {
    consumer().memory().note_shared({variable.address, variable.bytes});
  }
  consumer().shared_variable_appears(variable);
}
void barrier_arrives(bool orders_memory) {
  const checker_works now;
  consumer().barrier_arrives(now.thread(), orders_memory);
}
void barrier_reached_elsewhere(const void* from, unsigned first_rank, const void* first_from) {
  const checker_works now;
  consumer().barrier_reached_elsewhere(now.thread(), racecheck::place_of(from), first_rank,
                                       racecheck::place_of(first_from));
}
void barrier_opens(const place& at) {
  scheduled::barrier_opened();
  const checker_synchronizes now;
  consumer().barrier_opens(racecheck::place_of(at));
}
void lanes_converge(unsigned first_rank, unsigned lanes, bool orders_memory, const place& at) {
  scheduled::lanes_met(first_rank, lanes, orders_memory);
  if (!orders_memory) return;
  const checker_synchronizes now;
  consumer().lanes_converge(first_rank, lanes, racecheck::place_of(at));
}
std::uint64_t lane_is_absent(const char* operation, unsigned source, bool has_returned,
                             const place& at, std::uint64_t value) {
  if (has_returned) {
    const checker_works now;
    consumer().lane_has_ended(now.thread(), source, racecheck::place_of(at));
  }
  return form::undefined_value(operation, at, value);
}
void read_only_load(const void* address, std::size_t bytes, const place& at) {
  if (!running_thread) return;
  const checker_works now;
  consumer().read_only_load(now.thread(), static_cast<const std::byte*>(address), bytes,
                            racecheck::place_of(at));
}
void parameter_is_read_only(const void* pointer, const char* name) {
  const checker_works now;
  consumer().parameter_is_read_only(static_cast<const std::byte*>(pointer), name);
}
void grid_barrier_arrives() {
  const checker_synchronizes now;
  consumer().grid_barrier_arrives(now.thread());
}
void grid_barrier_passes() {
  const checker_synchronizes now;
  consumer().grid_barrier_passes(now.thread());
}
void fenced(const fence& done) {
  const checker_synchronizes now;
  scheduled::fence_done(done.kind, done.within);
  consumer().fenced(now.thread(), done.within, done.kind, racecheck::place_of(done.called_from));
}
void atomic_begins(const void* address, std::size_t bytes, access kind, bool has_thread_scope) {
  if (!running_thread) return racecheck::host_atomic_begins();
  if (has_thread_scope) kind = access::update;  // It reads the newest value, as an update does.
  if (scheduled::runs_by_decisions()) {
    racecheck::note_memory(static_cast<const std::byte*>(address), kind != access::load, nullptr);
  }
  if (scheduled::runs_by_decisions() && !has_thread_scope) {
    plain_accesses.flush();  // they come before it, also where it is asked what was written plainly
    scheduled::strong_access_begins(address, bytes);
  }
  if (racecheck::older_loads::active) {
    const checker_synchronizes now;  // Plain writes of the word come first.
    consumer().atomic_begins(now.thread(), static_cast<const std::byte*>(address), bytes, kind);
  }
  racecheck::is_in_atomic = true;
}
void host_atomic_done(const atomic_operation& done) {
  racecheck::on_host_atomic(done.address, done.bytes, done.kind, done.acquires, done.releases,
                            nullptr, &done.called_from);
}
void atomic_done(const atomic_operation& operation) {
  const checker_synchronizes now;
  consumer().atomic_done(now.thread(), operation, racecheck::place_of(operation.called_from));
}
void old_value_is_unused() {
  const checker_works now;
  consumer().old_value_is_unused(now.thread());
}
void memory_appears(const allocation& block, const std::byte* surroundings,
                    std::size_t surrounding_bytes) {
  consumer().memory().add_allocation(block, surroundings, surrounding_bytes);
  // A variable that was named to the runtime may be a managed one.
  if (block.kind == memory_kind::device ||
      (block.kind == memory_kind::symbol && scheduled::is_variable_of_device_alone(block.begin))) {
    racecheck::device_memory_appears(static_cast<const std::byte*>(block.begin), block.bytes);
  }
}
void memory_disappears(const void* begin) {
  racecheck::device_memory_disappears(static_cast<const std::byte*>(begin));
  consumer().memory().remove_allocation(begin);
}
void runtime_called(const char* function) {
  if (!is_in_main) scheduled::used("host", "outside_main", nullptr);
  consumer().runtime_called(function);
}
void memory_read(const work& by, const void* begin, std::size_t bytes) {
  consumer().range_accessed(by, static_cast<const std::byte*>(begin), bytes, false);
  const bool uses_values = by.kind != work_kind::allocation;
  if (uses_values && scheduled::runs_by_decisions() &&
      consumer().memory().has_unwritten(begin, bytes)) {
    scheduled::used("memory", "unwritten", nullptr);
  }
}
void memory_written(const work& by, const void* begin, std::size_t bytes) {
  scheduled::others_change_memory();
  consumer().range_accessed(by, static_cast<const std::byte*>(begin), bytes, true);
  consumer().memory().written_by_host(begin, bytes);
}
void bytes_come_to_host(const void* to, const void* from, std::size_t bytes) {
  const auto* const source = static_cast<const std::byte*>(from);
  racecheck::shadow_memory& memory = consumer().memory();
  const bool is_small = bytes <= std::size_t{1} << 20;  // each byte is looked at
  for (std::size_t i = 0; is_small && i < bytes; ++i) {
    const bool is_unwritten = memory.has_unwritten(source + i, 1);
    racecheck::note_copied_byte(static_cast<const std::byte*>(to) + i, is_unwritten);
  }
}
void bytes_of_host_arrive(const void* begin, std::size_t bytes) {
  if (!scheduled::runs_by_decisions()) return;
  const auto* const at = static_cast<const std::byte*>(begin);
  for (std::size_t i = 0; i + sizeof(void*) <= bytes; i += sizeof(void*)) {
    const std::byte* pointer = nullptr;
    std::memcpy(&pointer, at + i, sizeof pointer);
    if (racecheck::shadow_memory::is_read_only(pointer)) {
      scheduled::used("memory", "address_of_host", nullptr);
    }
  }
}
void all_work_is_done() {
  racecheck::output_has_come();
  consumer().all_work_is_done();
}

}  // namespace cpu_backend::observer
