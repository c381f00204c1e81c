// SPDX-License-Identifier: MIT
#include "racecheck/races/checker.hpp"

#include <algorithm>

#include "cpu_backend/form.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/places.hpp"
#include "racecheck/races/access_checks.hpp"

namespace racecheck {

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
  weak_.put_back();
  const cpu_backend::work& given = *now.given;
  // Where one has waited, the epochs of two works are mixed, and only their blocks tell them apart.
  const bool begins_group =
      !has_group_ || (!has_waited_ && !clocks_.works().runs_beside_group(given));
  if (begins_group) begin_group({now.blocks, now.threads});
  atomics_.begin_launch();  // in which the decisions number the writes of a word anew
  put_ranges_into_cells(given);
  clocks_.note_work({given, 0, next_block_, now.blocks, now.threads, now.called_from, now.kernel},
                    begins_group);
  note_earlier_group(&now.called_from);
  blocks_.begin_launch(now.threads.x * now.threads.y * now.threads.z, next_block_);
  next_block_ += now.blocks.x * now.blocks.y * now.blocks.z;
}

void checker::begin_group(const launch_shape& shape) {
  has_group_ = true;
  next_block_ = 0;
  alone_ = {};
  blocks_.forget_alone();
  const bool epochs_start_over = clocks_.begin_launch();
  log_.begin_launch();
  unwritten_reads_.clear();
  const bool numbers_start_over = history_.begin_launch(memory_.bytes());
  if (epochs_start_over || numbers_start_over) memory_.forget_accesses();
  memory_.shared_memory_changed();
  weak_.begin_launch(memory_, shape);
  older_.begin_launch();
}

void checker::launch_waits(const cpu_backend::work& given) {
  has_waited_ = true;
  clocks_.note_waiting(given);
  blocks_.pause();
}

void checker::launch_goes_on(const cpu_backend::work& given) {
  put_ranges_into_cells(given);
  const noted_work& now = clocks_.kernel_goes_on(given);
  alone_ = {};
  blocks_.begin_launch(now.threads.x * now.threads.y * now.threads.z, now.first_block);
}

void checker::launch_ends(bool failed) {
  misuses_.end_launch();
  failed_launches_ += failed;
  blocks_.end_launch();
}

// ---- Copies, fills and the host

void checker::note_strong_access(const thread_state& by, const region& in,
                                 const std::byte* address) {
  if (!cpu_backend::scheduled::runs_by_decisions() || in.is_shared_memory()) return;
  const noted_work* const now = clocks_.works().of_block(by.name.block);
  if (!now) return;
  const cpu_backend::work& given = now->given;
  auto& users = strong_users_[reinterpret_cast<std::uintptr_t>(address) / 16];
  for (const cpu_backend::work_position& each : users) {
    if (each != given.is && !given.after.covers(each)) {
      cpu_backend::scheduled::used("order", "atomics", nullptr);
    }
  }
  if (users.empty() || users.back() != given.is) users.push_back(given.is);
}

void checker::note_earlier_group(const cpu_backend::place* at) const {
  if (clocks_.known_start() < clocks_.launch_start()) {
    cpu_backend::form::used("order", "earlier_works", at);
  }
}

void checker::all_work_is_done() {
  host_memory_.all_work_is_done();
  weak_.put_back();
  strong_users_.clear();
  clocks_.all_work_is_done();
  ranges_.clear();
  has_group_ = has_waited_ = false;
}

// The only thread of what is no kernel's.
thread_state& checker::run_alone(const cpu_backend::work& given) {
  if (!has_group_) begin_group({});
  if (alone_ != given.is) {
    put_ranges_into_cells(given);
    clocks_.note_work({.given = given, .first_block = next_block_}, false);
    note_earlier_group(nullptr);
    blocks_.begin_alone(given, next_block_++);
    alone_ = given.is;
  }
  return blocks_.run_alone(given);
}

void checker::range_accessed(const cpu_backend::work& by, const std::byte* begin, std::size_t bytes,
                             bool writes) {
  weak_.put_back();
  region* const in = memory_.find(begin);
  if (!in && !writes && cpu_backend::scheduled::runs_by_decisions()) {
    host_memory_.copy_reads(by, begin, bytes);
  }
  if (!in) return;
  bytes = std::min(bytes, in->bytes - static_cast<std::size_t>(begin - in->begin));
  thread_state& thread = run_alone(by);
  // Of the host it is a call that frees the memory.
  const bool frees =
      by.kind == cpu_backend::work_kind::release || by.kind == cpu_backend::work_kind::host;
  if (frees) {
    std::erase_if(ranges_, [&](const range& each) { return each.in == in; });
  } else if (weak_memory::active) {  // or else no line need be found
    access_weakly(thread, *in, begin, bytes, index_of_place(place_of(by.called_from)), writes);
  }
  if (!looks_for_races_) return blocks_.pause();
  const cell_record made(cell_record::stamp_of(thread), 0, 0);
  if (clocks_.known_start() >= made.access_epoch() || clocks_.works().empty()) {
    if (!frees) ranges_.push_back({in, begin, bytes, made, writes});
  } else {
    // Piece by piece, as most of them lie in one row of cells.
    constexpr std::size_t piece = region::cells_of_row * bytes_of_cell;
    for (const std::byte* at = begin; at < begin + bytes;) {
      const std::size_t offset = in->index_of(at) % region::cells_of_row * bytes_of_cell;
      const auto left = static_cast<std::size_t>(begin + bytes - at);
      const std::size_t now = std::min(piece - offset - offset_in_cell(at), left);
      const logged_access access{&thread, at, in, now, 0, writes, true};
      plain_.check({&access, 1});
      at += now;
    }
  }
  ++accesses_by_works_;
  blocks_.pause();
}

// In the weak form: what no kernel does, and is about to be done. Of a copy that is large, which an
// order has nearly always, nothing is kept.
void checker::access_weakly(const thread_state& by, region& in, const std::byte* begin,
                            std::size_t bytes, place_index place, bool writes) {
  constexpr std::size_t most = std::size_t{1} << 20;
  if (bytes > most) return;
  weak_.block_runs(blocks_.running());
  if (writes) {
    weak_.write(by, in, begin, bytes, place);
  } else if (clocks_.known_start() < by.current_epoch) {
    weak_.read(by, in, begin, bytes, place);  // Not all of before is known to be done.
  }
}

void checker::host_accesses(const host_access& by) {
  weak_.put_back();
  region* const in = memory_.find(by.address);
  if (!in) {
    if (!cpu_backend::scheduled::runs_by_decisions()) return;
    const bool is_function = cpu_backend::work_order::is_in_callback();
    host_memory_.access(by, is_function ? "function_in_stream" : nullptr);
    return;
  }
  // The program's variables are managed ones, and the host's own: no kernel comes to those, but
  // functions in streams may.
  const cell& there = in->cell_at(by.address);
  const bool is_used = there.write.marks() != 0 || there.read != cell_record{};
  if (in->what == region::kind::variable && !is_used && ranges_.empty() &&
      !cpu_backend::work_order::is_in_callback()) {
    return;
  }
  if (by.is_strong()) cpu_backend::scheduled::used("host", "early_access", nullptr);
  thread_state& thread = run_alone(cpu_backend::work_order::host());
  const std::size_t bytes =
      std::min(by.bytes, in->bytes - static_cast<std::size_t>(by.address - in->begin));
  if (by.is_strong()) {
    using cpu_backend::observer::access;
    const access kind = by.is_update ? access::update : by.writes ? access::store : access::load;
    const place_number place = by.at ? place_of(*by.at) : place_of(by.from);
    const cpu_backend::observer::atomic_operation done{
        by.address, static_cast<unsigned>(bytes), kind, scope::device, by.acquires, by.releases,
        {}};
    log_.note_atomic(thread, *in, done, place, 0);
    atomics_.host_accesses(thread, *in, done, by.is_volatile, index_of_place(place));
  } else {
    const place_index place = index_of_place(by.from);
    if (weak_memory::active) access_weakly(thread, *in, by.address, bytes, place, by.writes);
    if (looks_for_races_) {
      plain_.check_cells({&thread, by.address, in, bytes, place, by.writes, true}, 0);
    }
  }
  blocks_.pause();
}

// Those that may run beside `before`, so that what it does is compared with them.
void checker::put_ranges_into_cells(const cpu_backend::work& before) {
  std::erase_if(ranges_, [&](const range& each) {
    const noted_work* const of = clocks_.work_of(each.made.access_epoch());
    if (of && before.after.covers(of->given.is)) return false;
    // The host can't come to it.
    if (before.kind == cpu_backend::work_kind::host && each.in->what == region::kind::global) {
      return false;
    }
    put_into_cells(each);
    return true;
  });
}

// What was done to a cell later comes after this, or it would have been there already.
void checker::put_into_cells(const range& accessed) {
  each_word(*accessed.in, accessed.begin, accessed.bytes, [&](const word_access& word) {
    cell& at = accessed.in->cell_at(word.address);
    history_.forget_earlier_launch(at, true);
    if (word.mask == whole_cell && !at.write.has(cell::is_split)) {
      put_before(history_.weak_write_of(at), at.read, accessed);
    } else {
      split_cell& bytes = history_.split(*accessed.in, at);
      for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
        if (!(word.mask >> byte & 1)) continue;
        cell one = history_.records_of_byte(bytes, byte);
        put_before(one.write, one.read, accessed);
        history_.set_records_of_byte(bytes, byte, one, accessed.writes);
      }
    }
    if (accessed.writes) at.write.mark(word.mask);
  });
}

void checker::put_before(cell_record& write, cell_record& read, const range& accessed) {
  const auto is_older = [&](cell_record record) {
    return record.access_epoch() < accessed.made.access_epoch();
  };
  if (!is_older(write) || read.has(cell::has_reads) || !is_older(read)) return;
  read = accessed.writes ? cell_record() : accessed.made;
  if (!accessed.writes) return;
  const unsigned written = write.marks() & cell::written_bytes;
  write = accessed.made;
  write.mark(written);
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

void checker::fenced(thread_state& by, scope within, fence_kind kind, place_number place) {
  log_.note_fence(by, within, kind, place);
  clocks_.fence(blocks_.running(), by, within, kind);
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
  note_strong_access(by, *in, address);
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
  in->was_written |= writes(what);
  misuses_.check_variable(by, *in, done.address, done.bytes, place, what);
  const place_index index = index_of_place(place);
  if (!done.has_thread_scope) note_strong_access(by, *in, done.address);
  if (weak_memory::active) {
    weak_.strong_access(by, *in, done.address, done.bytes, index, writes(what));
  }
  if (done.has_thread_scope) {
    using cpu_backend::observer::access;
    findings_.note_thread_scope(place_at(index));
    const logged_access read{&by, done.address, in, done.bytes, index, false};
    const logged_access write{&by, done.address, in, done.bytes, index, true};
    if (done.kind != access::store) checker::check({&read, 1});
    if (done.kind != access::load) checker::check({&write, 1});
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

void checker::variable_written(const thread_state& by, const region& in, const std::byte* address,
                               std::size_t bytes, place_number place) {
  misuses_.check_variable(by, in, address, bytes, place, operation::write);
}

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
  if (!near) return misuses_.check_local(by, address, place, what);
  if (!near->holds(address) || near->freed_at != 0) outside(by, address, bytes, place, what);
  return true;
}

void checker::outside(const thread_state& by, const std::byte* address, std::size_t bytes,
                      place_number place, operation what) {
  ++accesses_;
  const region* near = memory_.find(address);
  if (!near) near = memory_.find_surrounding(address);
  if (!near) return;
  findings_.add_misuse(mistake::outside, by.name, place, what, {near, address, bytes, {}});
  // What lies there is the backend's own: after this access nothing could be relied on.
  if (near->what == region::kind::shared && writes(what)) {
    cpu_backend::scheduled::end_at_access_out_of_shared_memory(address, bytes,
                                                               instruction_at(place));
  }
}

}  // namespace racecheck
