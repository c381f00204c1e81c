// SPDX-License-Identifier: MIT
#include "racecheck/races/checker.hpp"

#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/places.hpp"
#include "racecheck/races/access_checks.hpp"

namespace racecheck {

checker& checker::instance() {
  // Never destroyed: it reports after main().
  static checker& the_checker = *new checker;
  return the_checker;
}

// One run is one execution: there its fences have one order, which all reads have to respect.
void checker::begin_weak_form(bool looks_for_races) {
  looks_for_races_ = looks_for_races;
  if (!looks_for_races) clocks_.stop_diagnosing();
  clocks_.order_sc_fences();
  cpu_backend::scheduled::hold_back_after_fences();
  weak_.turn_on();
  begin_older_loads();
}

void checker::begin_older_loads() {
  clocks_.keep_earlier_messages();
  older_.turn_on();
}

// ---- Launches

void checker::launch_begins(const cpu_backend::observer::launch& now) {
  ++launches_;
  findings_.begin_launch(now);
  blocks_.begin_launch(now.threads.x * now.threads.y * now.threads.z);
  const bool epochs_start_over = clocks_.begin_launch();
  log_.begin_launch();
  unwritten_reads_.clear();
  atomics_.begin_launch();
  const bool numbers_start_over = history_.begin_launch(memory_.bytes());
  if (epochs_start_over || numbers_start_over) memory_.forget_accesses();
  memory_.shared_memory_changed();
  weak_.begin_launch(memory_, {now.blocks, now.threads});
  older_.begin_launch();
}

void checker::launch_ends(bool failed) {
  failed_launches_ += failed;
  blocks_.end_launch();
}

// ---- Synchronisation

void checker::barrier_opens(place_number place) {
  if (blocks_.barrier_opens()) log_.note_barrier(blocks_.running(), place);
}

void checker::lanes_converge(unsigned first_rank, unsigned lanes, place_number place) {
  clocks_.warp_barrier(blocks_.running(), first_rank, lanes);
  log_.note_warp_barrier(blocks_.running(), first_rank, lanes, place);
}

void checker::grid_barrier_arrives(thread_state& by) {
  clocks_.grid_barrier_arrives(blocks_.running(), by);
}

void checker::grid_barrier_passes(thread_state& by) {
  clocks_.grid_barrier_passes(blocks_.running(), by);
}

void checker::fenced(thread_state& by, scope within, bool sequentially_consistent,
                     place_number place) {
  log_.note_fence(by, within, sequentially_consistent, place);
  clocks_.fence(blocks_.running(), by, within, sequentially_consistent);
}

// ---- Accesses

bool checker::check(std::span<const logged_access> logged) {
  accesses_ += logged.size();
  return looks_for_races_ ? plain_.check(logged) : plain_.carry_writes(logged);
}

// For the race test a volatile access is like any other.
bool checker::volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                              place_index place, bool writes) {
  const operation what = writes ? operation::write : operation::read;
  region* in = memory_.find(address);
  if (!in) {
    in_no_region(by, address, bytes, place_at(place), what);
    return false;
  }
  ++accesses_;
  const auto left = in->bytes - static_cast<std::size_t>(address - in->begin);
  if (bytes > left) {
    outside(by, address, bytes, place_at(place), what);
    bytes = left;
  }
  if (weak_memory::active) weak_.strong_access(by, *in, address, bytes, place, writes);
  if (looks_for_races_) {
    plain_.check_cells({&by, address, in, bytes, place, writes}, cell_record::is_volatile);
  }
  if (!writes) atomics_.begin_load(by, *in, address, bytes);
  log_.note_volatile(by, *in, address, writes, place_at(place), atomics_.passed());
  atomics_.carry_volatile(by, *in, address, bytes, place, writes);
  return writes;
}

void checker::atomic_begins(thread_state& by, const std::byte* address, std::size_t bytes,
                            cpu_backend::observer::access kind) {
  if (weak_memory::active) weak_.strong_access_begins(address, bytes);
  older_.access_begins(address, bytes);
  if (kind != cpu_backend::observer::access::load) return;
  if (region* in = memory_.find(address)) atomics_.begin_load(by, *in, address, bytes);
}

void checker::atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                          place_number place) {
  const operation what = operation_of(done.kind);
  region* in = memory_.find(done.address);
  if (!in) {
    in_no_region(by, done.address, done.bytes, place, what);
    return;
  }
  const place_index index = index_of_place(place);
  if (weak_memory::active) {
    weak_.strong_access(by, *in, done.address, done.bytes, index, writes(what));
  }
  if (done.has_thread_scope) {
    using cpu_backend::observer::access;
    findings_.note_thread_scope(place_at(index));
    const logged_access read{&by, done.address, in, done.bytes, index, false};
    const logged_access write{&by, done.address, in, done.bytes, index, true};
    if (done.kind != access::store) check({&read, 1});
    if (done.kind != access::load) check({&write, 1});
    return;
  }
  ++accesses_;
  if (!unwritten_reads_.empty()) unwritten_reads_.erase(by.name.key());
  if (looks_for_races_ && done.kind != cpu_backend::observer::access::store &&
      in->starts_unwritten &&
      check_initialization(findings_, by, *in, done.address, done.bytes, place)) {
    unwritten_reads_[by.name.key()] = place;
  }
  log_.note_atomic(by, *in, done, place, atomics_.passed());
  atomics_.check(by, *in, done, index);
}

// An exchange only writes then: it may be what initialises the memory.
void checker::old_value_is_unused(thread_state& by) {
  const auto found = unwritten_reads_.find(by.name.key());
  if (found == unwritten_reads_.end()) return;
  findings_.take_back_unwritten_read(found->second);
  unwritten_reads_.erase(found);
}

// ---- Accesses outside of what was allocated

bool checker::access_in_no_region(thread_state& by, const std::byte* address, std::size_t bytes,
                                  place_number place, bool writes) {
  return in_no_region(by, address, bytes, place, writes ? operation::write : operation::read);
}

void checker::access_leaves_region(thread_state& by, const std::byte* address, std::size_t bytes,
                                   place_number place, bool writes) {
  outside(by, address, bytes, place, writes ? operation::write : operation::read);
}

bool checker::in_no_region(const thread_state& by, const std::byte* address, std::size_t bytes,
                           place_number place, operation what) {
  const region* near = memory_.find_surrounding(address);
  if (!near) return false;
  if (!near->holds(address) || near->freed_at != 0) outside(by, address, bytes, place, what);
  return true;
}

void checker::outside(const thread_state& by, const std::byte* address, std::size_t bytes,
                      place_number place, operation what) {
  ++accesses_;
  const region* near = memory_.find(address);
  if (!near) near = memory_.find_surrounding(address);
  if (!near) return;
  findings_.add_outside(by, *near, address, bytes, place, what);
  // What lies there is the backend's own: after this access nothing could be relied on.
  if (near->what == region::kind::shared && writes(what)) {
    cpu_backend::scheduled::end_at_access_out_of_shared_memory(address, bytes,
                                                               instruction_at(place));
  }
}

}  // namespace racecheck
