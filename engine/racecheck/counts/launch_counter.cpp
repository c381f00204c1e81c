// SPDX-License-Identifier: MIT
#include "racecheck/counts/launch_counter.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace racecheck {
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

}  // namespace racecheck
