// SPDX-License-Identifier: MIT
#include "racecheck/events/counts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace racecheck {

namespace {

// Numbers of which nobody can tell one from the last: Vigna's splitmix64.
class drawn_bytes {
 public:
  explicit drawn_bytes(std::uint64_t from) : state_(from) {}

  // Any byte but 0.
  std::byte next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return static_cast<std::byte>(1 + (mixed ^ mixed >> 31) % 255);
  }

 private:
  std::uint64_t state_;
};

// As in stored_bytes: of the program's variables some are the runtime's.
// What a kernel has allocated itself may be gone before the launch ends.
bool is_changed_at_all(const region& each) {
  if (each.allocated_at != 0) return false;
  return each.what == region::kind::global || each.what == region::kind::managed ||
         each.what == region::kind::pinned;
}

// The allocation's memory, which is its program's: only what looks at it is const.
std::byte* bytes_of(const region& of) { return const_cast<std::byte*>(of.begin); }

}  // namespace

void loaded_bytes::change_others(loaded_pieces but, std::uint64_t drawn_from) {
  changes_.push_back({std::move(but), drawn_from});
}

void loaded_bytes::launch_begins(shadow_memory& memory) {
  regions_.clear();
  if (!is_watching_ || memory.bytes() > most_bytes) return;
  memory.each_region([&](const region& each) {
    if (!is_changed_at_all(each)) return;
    bytes_of_region& made = regions_[&each];
    made.is_loaded.resize(each.bytes);
    made.is_stored.resize(each.bytes);
    if (!changes_.empty()) change(each, made, changes_.front());
  });
  if (!changes_.empty()) changes_.pop_front();
}

void loaded_bytes::change(const region& of, bytes_of_region& bytes, const wanted_change& wanted) {
  bytes.before.assign(of.begin, of.begin + of.bytes);
  bytes.is_changed.assign(of.bytes, true);
  for (std::size_t i = 0; i + 2 < wanted.but.size(); i += 3) {
    if (wanted.but[i] != of.number) continue;
    const auto first = std::min<std::uint64_t>(wanted.but[i + 1], of.bytes);
    const auto end = std::clamp<std::uint64_t>(wanted.but[i + 2], first, of.bytes);
    std::fill(bytes.is_changed.begin() + static_cast<std::ptrdiff_t>(first),
              bytes.is_changed.begin() + static_cast<std::ptrdiff_t>(end), false);
  }
  drawn_bytes drawn(wanted.drawn_from + of.number);
  for (std::size_t i = 0; i < of.bytes; ++i) {
    if (bytes.is_changed[i]) bytes_of(of)[i] ^= drawn.next();
  }
}

void loaded_bytes::note(const region& in, const std::byte* address, std::size_t bytes,
                        std::vector<bool> bytes_of_region::*what) {
  const auto found = regions_.find(&in);
  if (found == regions_.end()) return;
  const auto first = (found->second.*what).begin() + (address - in.begin);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), true);
}

loaded_pieces loaded_bytes::launch_ends() {
  std::vector<std::pair<const region*, const bytes_of_region*>> in_order;
  for (const auto& [each, bytes] : regions_) {
    in_order.emplace_back(each, &bytes);
    for (std::size_t i = 0; i < bytes.is_changed.size(); ++i) {
      if (bytes.is_changed[i] && !bytes.is_stored[i]) bytes_of(*each)[i] = bytes.before[i];
    }
  }
  std::ranges::sort(in_order, {}, [](const auto& each) { return each.first->number; });
  loaded_pieces pieces;
  for (const auto& [each, bytes] : in_order) {
    const std::vector<bool>& is_loaded = bytes->is_loaded;
    for (auto at = is_loaded.begin(); at != is_loaded.end();) {
      const auto first = std::find(at, is_loaded.end(), true);
      at = std::find(first, is_loaded.end(), false);
      if (first == is_loaded.end()) break;
      pieces.insert(pieces.end(),
                    {each->number, static_cast<std::uint64_t>(first - is_loaded.begin()),
                     static_cast<std::uint64_t>(at - is_loaded.begin())});
    }
  }
  regions_.clear();
  return pieces;
}

namespace {

// Allocations: among the variables of a program are those of the runtime, which change by
// themselves.
// What a kernel has allocated itself may be gone before the launch ends.
bool is_compared(const region& each) {
  if (each.allocated_at != 0) return false;
  return each.what == region::kind::global || each.what == region::kind::managed ||
         each.what == region::kind::pinned;
}

std::uint64_t unseen_in(const region& now, const std::vector<std::byte>& before,
                        const std::vector<bool>& is_stored) {
  if (std::memcmp(now.begin, before.data(), now.bytes) == 0) return 0;
  std::uint64_t unseen = 0;
  for (std::size_t i = 0; i < now.bytes; ++i) {
    unseen += now.begin[i] != before[i] && !is_stored[i];
  }
  return unseen;
}

}  // namespace

void stored_bytes::launch_begins(shadow_memory& memory) {
  regions_.clear();
  is_compared_ = memory.bytes() <= most_bytes;
  if (!is_compared_) return;
  memory.each_region([&](const region& each) {
    if (!is_compared(each)) return;
    regions_[&each] = {{each.begin, each.begin + each.bytes}, std::vector<bool>(each.bytes)};
  });
}

void stored_bytes::stored(const region& in, const std::byte* address, std::size_t bytes) {
  const auto found = regions_.find(&in);
  if (found == regions_.end()) return;
  const auto first = found->second.is_stored.begin() + (address - in.begin);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), true);
}

std::optional<std::uint64_t> stored_bytes::unseen() const {
  if (!is_compared_) return std::nullopt;
  std::uint64_t unseen = 0;
  for (const auto& [each, before] : regions_) {
    unseen += unseen_in(*each, before.content, before.is_stored);
  }
  return unseen;
}

void event_counts::add(const event_counts& other) {
  for (std::size_t i = 0; i < kinds_of_events; ++i) counts_[i] += other.counts_[i];
}

void event_counts::raise_to(const event_counts& other) {
  for (std::size_t i = 0; i < kinds_of_events; ++i) {
    counts_[i] = std::max(counts_[i], other.counts_[i]);
  }
}

void group_counts::add(const group_counts& other) {
  events.add(other.events);
  global_bytes_loaded += other.global_bytes_loaded;
  global_bytes_stored += other.global_bytes_stored;
  block_barriers += other.block_barriers;
  warp_barriers += other.warp_barriers;
  grid_barriers += other.grid_barriers;
}

void group_counts::raise_to(const group_counts& other) {
  const auto raise = [](std::uint64_t& most, std::uint64_t to) { most = std::max(most, to); };
  events.raise_to(other.events);
  raise(global_bytes_loaded, other.global_bytes_loaded);
  raise(global_bytes_stored, other.global_bytes_stored);
  raise(block_barriers, other.block_barriers);
  raise(warp_barriers, other.warp_barriers);
  raise(grid_barriers, other.grid_barriers);
}

namespace {

// Bytes that a GPU moves by one instruction at most: a copy of more is several.
constexpr std::size_t widest = 32;

}  // namespace

void launch_counter::launch_begins(const cpu_backend::observer::launch& now) {
  now_ = {};
  now_.launch = now;
  is_in_launch_ = true;
}

void launch_counter::launch_ends(bool failed, std::optional<std::uint64_t> unseen_bytes_stored,
                                 loaded_pieces loaded) {
  for (const auto& [multiprocessor, block] : blocks_) add(block, now_);  // of a launch that failed
  blocks_.clear();
  running_ = nullptr;
  is_in_launch_ = false;
  now_.completed = !failed;
  now_.unseen_bytes_stored = unseen_bytes_stored;
  now_.loaded = std::move(loaded);
  if (done_.size() < most_launches) done_.push_back(now_);
}

void launch_counter::block_begins(const cpu_backend::observer::block& begun) {
  now_.dynamic_shared_bytes = begun.dynamic_shared_bytes;
  const dim3& threads = now_.launch.threads;
  resident_block& block = blocks_[begun.multiprocessor];
  block = {};
  block.threads.resize(std::size_t{threads.x} * threads.y * threads.z);
}

void launch_counter::block_ends() {
  add(*running_, now_);
  std::erase_if(blocks_, [&](const auto& each) { return &each.second == running_; });
  running_ = nullptr;
}

void launch_counter::uses_shared_memory(region& used) {
  if (used.is_uncounted) shared_variable_used(used.bytes);
  used.is_uncounted = false;
}

void launch_counter::accessed(unsigned rank, region& in, std::size_t bytes, bool writes) {
  event_counts& by = running_->threads[rank];
  const std::size_t instructions = std::max<std::size_t>(1, (bytes + widest - 1) / widest);
  if (in.is_shared_memory()) {
    uses_shared_memory(in);
    by[writes ? event::shared_store : event::shared_load] += instructions;
    return;
  }
  by[writes ? event::global_store : event::global_load] += instructions;
  group_counts& block = running_->counts;
  (writes ? block.global_bytes_stored : block.global_bytes_loaded) += bytes;
}

void launch_counter::atomic_done(unsigned rank, region& in) {
  uses_shared_memory(in);
  ++running_->threads[rank][in.is_shared_memory() ? event::shared_atomic : event::global_atomic];
}

void launch_counter::add(const resident_block& done, launch_counts& to) {
  group_counts block = done.counts;
  for (const event_counts& thread : done.threads) {
    block.events.add(thread);
    to.most_per_thread.raise_to(thread);
  }
  // The backend makes a barrier of the grid from one of each block before it, and one after it.
  const std::uint64_t of_grid = std::min(2 * block.grid_barriers, done.barriers_opened);
  block.block_barriers = done.barriers_opened - of_grid;
  ++to.blocks_begun;
  to.static_shared_bytes = std::max(to.static_shared_bytes, done.static_shared_bytes);
  to.total.add(block);
  to.most_per_block.raise_to(block);
}

std::vector<launch_counts> launch_counter::launches() const {
  std::vector<launch_counts> all = done_;
  if (!is_in_launch_ || all.size() == most_launches) return all;
  all.push_back(now_);
  for (const auto& [multiprocessor, block] : blocks_) add(block, all.back());
  return all;
}

void host_call_counter::called(const char* function) {
  const std::lock_guard guard(lock_);
  if (so_far_.runtime_calls.size() < host_counts::most_calls) {
    so_far_.runtime_calls.emplace_back(function);
  }
  ++so_far_.number_of_runtime_calls;
}

host_counts host_call_counter::counts(shadow_memory& memory) const {
  const std::lock_guard guard(lock_);
  host_counts counts = so_far_;
  memory.each_region([&](const region& each) {
    counts.unfreed_allocations += each.what != region::kind::variable;
  });
  return counts;
}

void counting_consumer::stored(const region& in, const std::byte* address, std::size_t bytes) {
  stored_.stored(in, address, bytes);
  loaded_.stored(in, address, bytes);
}

void counting_consumer::plainly_accessed(const region& in, const std::byte* address,
                                         std::size_t bytes, bool writes) {
  if (writes) {
    stored(in, address, bytes);
  } else {
    loaded_.loaded(in, address, bytes);
  }
}

void counting_consumer::launch_begins(const cpu_backend::observer::launch& now) {
  counter_.launch_begins(now);
  loaded_.launch_begins(memory());  // before memory is compared
  stored_.launch_begins(memory());
  next_.launch_begins(now);
}

void counting_consumer::launch_ends(bool failed) {
  const std::optional<std::uint64_t> unseen = stored_.unseen();
  counter_.launch_ends(failed, unseen, loaded_.launch_ends());
  next_.launch_ends(failed);
}

void counting_consumer::block_begins(const cpu_backend::observer::block& begun) {
  counter_.block_begins(begun);
  next_.block_begins(begun);
}

void counting_consumer::block_ends() {
  counter_.block_ends();
  next_.block_ends();
}

void counting_consumer::block_runs(unsigned multiprocessor) {
  counter_.block_runs(multiprocessor);
  next_.block_runs(multiprocessor);
}

void counting_consumer::block_pauses() {
  counter_.block_pauses();
  next_.block_pauses();
}

void counting_consumer::shared_variable_appears(
    const cpu_backend::observer::shared_variable& variable) {
  if (!variable.is_at_namespace_scope) counter_.shared_variable_used(variable.bytes);
  next_.shared_variable_appears(variable);
}

void counting_consumer::barrier_arrives(thread_state& by, bool orders_memory) {
  counter_.barrier_arrives(orders_memory);
  next_.barrier_arrives(by, orders_memory);
}

void counting_consumer::barrier_opens(place_number place) {
  counter_.barrier_opens();
  next_.barrier_opens(place);
}

void counting_consumer::lanes_converge(unsigned first_rank, unsigned lanes, place_number place) {
  counter_.lanes_converge();
  next_.lanes_converge(first_rank, lanes, place);
}

void counting_consumer::grid_barrier_arrives(thread_state& by) {
  counter_.grid_barrier_arrives();
  next_.grid_barrier_arrives(by);
}

void counting_consumer::fenced(thread_state& by, scope within, bool sequentially_consistent,
                               place_number place) {
  counter_.fenced(by.name.rank);
  next_.fenced(by, within, sequentially_consistent, place);
}

void counting_consumer::atomic_done(thread_state& by,
                                    const cpu_backend::observer::atomic_operation& done,
                                    place_number place) {
  if (region* in = memory().find(done.address)) {
    counter_.atomic_done(by.name.rank, *in);
    using cpu_backend::observer::access;
    if (done.kind != access::load) stored(*in, done.address, done.bytes);
    if (done.kind != access::store) loaded_.loaded(*in, done.address, done.bytes);
  }
  next_.atomic_done(by, done, place);
}

bool counting_consumer::check(std::span<const logged_access> logged) {
  for (const logged_access& each : logged) {
    counter_.accessed(each.thread->name.rank, *each.in, each.bytes, each.writes);
    plainly_accessed(*each.in, each.address, each.bytes, each.writes);
  }
  return next_.check(logged);
}

bool counting_consumer::volatile_access(thread_state& by, const std::byte* address,
                                        std::size_t bytes, site_number site, bool writes) {
  if (region* in = memory().find(address)) {
    const auto left = in->bytes - static_cast<std::size_t>(address - in->begin);
    counter_.accessed(by.name.rank, *in, std::min(bytes, left), writes);
    plainly_accessed(*in, address, std::min(bytes, left), writes);
  }
  return next_.volatile_access(by, address, bytes, site, writes);
}

}  // namespace racecheck
