// SPDX-License-Identifier: MIT
#include "racecheck/races/resident_blocks.hpp"

namespace racecheck {

void resident_blocks::end_launch() {
  const auto is_of_launch = [&](const auto& each) {
    return each.second.first_block == first_block_;
  };
  for (auto& each : blocks_) {
    if (is_of_launch(each)) forget_memory(each.second);
  }
  std::erase_if(blocks_, is_of_launch);
  running_ = nullptr;
  memory_.use_shared_memory_of(nullptr);
}

void resident_blocks::begin(const cpu_backend::observer::block& begun) {
  resident_block& block = blocks_[begun.multiprocessor];
  forget_memory(block);
  block.first_block = first_block_;
  clocks_.begin_block(block.clocks, first_block_ + static_cast<std::uint32_t>(begun.number),
                      threads_of_block_);
  // Also one of no bytes: a launch without the size leaves it at its first access.
  region& dynamic = block.shared_memory.emplace_back();
  dynamic.begin = begun.dynamic_shared_memory;
  dynamic.bytes = begun.dynamic_shared_bytes;
  dynamic.what = region::kind::dynamic_shared;
  dynamic.starts_unwritten = true;
  dynamic.surrounding_bytes = std::size_t{227} * 1024;  // the most that a block can have
  if (dynamic.bytes != 0) shadow_memory::give_cells(dynamic);
  memory_.shared_memory_changed();
}

void resident_blocks::end() {
  clocks_.end_block(running_->clocks);
  forget_memory(*running_);
  memory_.use_shared_memory_of(nullptr);
}

void resident_blocks::run(unsigned multiprocessor) {
  running_ = &blocks_[multiprocessor];
  memory_.use_shared_memory_of(&running_->shared_memory);
}

void resident_blocks::forget_memory(resident_block& of) {
  for (region& each : of.shared_memory) {
    for (std::size_t i = 0; each.has_marked_cells && i < each.cell_count; ++i) {
      history_.forget(each.cells[i]);
    }
    weak_.forget(each);
    shadow_memory::take_cells(each);
  }
  of.shared_memory.clear();
  memory_.shared_memory_changed();
}

void resident_blocks::add_shared_variable(const cpu_backend::observer::shared_variable& variable) {
  region& appeared = running_->shared_memory.emplace_back();
  appeared.begin = variable.address;
  appeared.bytes = variable.bytes;
  appeared.what = region::kind::shared;
  appeared.name = variable.name;
  appeared.type = variable.type;
  appeared.is_uncounted = variable.is_at_namespace_scope;
  appeared.starts_unwritten = true;
  appeared.surrounding_bytes = shadow_memory::around_shared_variables;
  shadow_memory::give_cells(appeared);
  memory_.shared_memory_changed();
}

void resident_blocks::barrier_arrives(const thread_state& by, bool orders_memory) {
  running_->clocks.arrived.push_back(by.name.rank);
  running_->barrier_orders_memory = orders_memory;
}

bool resident_blocks::barrier_opens() {
  if (running_->barrier_orders_memory) clocks_.barrier(running_->clocks);
  running_->clocks.arrived.clear();
  return running_->barrier_orders_memory;
}

}  // namespace racecheck
