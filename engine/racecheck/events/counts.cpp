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

// Vigna's splitmix64.
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

// Allocations of the host: some of the program's variables are the runtime's, and change by
// themselves. What a kernel has allocated itself may be gone before the launch ends.
bool is_compared(const region& each) {
  return each.allocated_at == 0 &&
         (each.what == region::kind::global || each.what == region::kind::managed ||
          each.what == region::kind::pinned);
}

// The allocation's memory, which is its program's: it is const only to those who read it.
std::byte* bytes_of(const region& of) { return const_cast<std::byte*>(of.begin); }

}  // namespace

void bytes_of_launch::change_others(loaded_pieces but, std::uint64_t drawn_from) {
  changes_.push_back({std::move(but), drawn_from});
}

void bytes_of_launch::launch_begins(shadow_memory& memory) {
  regions_.clear();
  is_compared_ = memory.bytes() <= most_bytes;
  if (!is_compared_) return;
  const bool changes = is_watching_ && !changes_.empty();
  memory.each_region([&](const region& each) {
    if (!is_compared(each)) return;
    bytes_of_region& made = regions_[&each];
    if (changes) change(each, made, changes_.front());
    made.content.assign(each.begin, each.begin + each.bytes);
    made.is_stored.resize(each.bytes);
    if (is_watching_) made.is_loaded.resize(each.bytes);
  });
  if (changes) changes_.pop_front();
}

void bytes_of_launch::change(const region& of, bytes_of_region& bytes,
                             const wanted_change& wanted) {
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

void bytes_of_launch::note(const region& in, const std::byte* address, std::size_t bytes,
                           std::vector<bool> bytes_of_region::*what) {
  const auto found = regions_.find(&in);
  if (found == regions_.end() || (found->second.*what).empty()) return;
  const auto first = (found->second.*what).begin() + (address - in.begin);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), true);
}

std::optional<std::uint64_t> bytes_of_launch::unseen() const {
  if (!is_compared_) return std::nullopt;
  std::uint64_t unseen = 0;
  for (const auto& [now, bytes] : regions_) {
    if (std::memcmp(now->begin, bytes.content.data(), now->bytes) == 0) continue;
    for (std::size_t i = 0; i < now->bytes; ++i) {
      unseen += now->begin[i] != bytes.content[i] && !bytes.is_stored[i];
    }
  }
  return unseen;
}

void bytes_of_launch::launch_waits() {
  (void)launch_ends();
  is_compared_ = false;
}

loaded_pieces bytes_of_launch::launch_ends() {
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
  for (const auto& [which, key] : block_numbers) this->*which += other.*which;
}

void group_counts::raise_to(const group_counts& other) {
  events.raise_to(other.events);
  for (const auto& [which, key] : block_numbers) {
    this->*which = std::max(this->*which, other.*which);
  }
}

void launch_counter::launch_begins(const cpu_backend::observer::launch& now) {
  now_ = {};
  now_.launch = now;
  is_in_launch_ = true;
  now_.is_noted = kept_.is_noting();
}

void launch_counter::launch_waits() {
  now_.is_noted = false;
  waiting_.push_back({std::move(now_), std::exchange(blocks_, {})});
  running_ = nullptr;
  is_in_launch_ = false;
}

void launch_counter::launch_goes_on(const cpu_backend::work& given) {
  const auto found = std::ranges::find(
      waiting_, &given, [](const waiting_launch& each) { return each.counts.launch.given; });
  now_ = std::move(found->counts);
  blocks_ = std::move(found->blocks);
  waiting_.erase(found);
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
  // Bytes that a GPU moves by one instruction at most: a copy of more is several.
  constexpr std::size_t widest = 32;
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

void launch_counter::atomic_done(unsigned rank, region& in, std::size_t bytes) {
  if (in.is_only_read) return accessed(rank, in, bytes, false);
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
  for (launch_counts& each : all) {
    if (!each.is_noted || !each.first_thread) continue;
    const std::size_t per_block = size_of(each.launch.threads);
    each.kept = kept_.kept(*each.first_thread, threads_of(each.launch), per_block);
    each.work = kept_.work(*each.first_thread, threads_of(each.launch), per_block);
    each.loads = kept_.loads(*each.first_thread, threads_of(each.launch), per_block);
  }
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

}  // namespace racecheck
