// SPDX-License-Identifier: MIT
#include "cpu_backend/player.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/scheduled/decisions.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"

namespace cpu_backend {

void player::run(grid& of) {
  scheduler& order = scheduler::current();
  const bool goes_on = std::ranges::count(waiting_, &of, &resident_grid::of) != 0;
  const scheduler order_of_next = order;
  resident_grid now = goes_on ? take_waiting(of) : begin(of);
  if (goes_on) order = now.order;
  holds_block_.store(true, std::memory_order_relaxed);
  if (decisions* list = decisions::active()) {
    if (goes_on) {
      list->waiting_launch_goes_on();
    } else {
      list->others_change_memory(!waiting_.empty());
    }
    run_by_decisions(of, now.all, *list, goes_on);
  } else {
    take_turns(now);
  }
  holds_block_.store(false, std::memory_order_relaxed);
  this_multiprocessor = nullptr;
  if (of.waits) {
    now.order = order;
    waiting_.push_back(std::move(now));
    observer::launch_waits(*of.given);
  } else {
    for (multiprocessor* each : now.all) each->end();
    observer::launch_ends(of.failed());
  }
  if (goes_on) order = order_of_next;
}

player::resident_grid player::begin(grid& of) {
  scheduler::current().begin_launch(of.total_blocks);
  observer::launch_begins({of.blocks, of.threads, of.launched_at, of.kernel, of.given});
  resident_grid made;
  made.of = &of;
  const auto wanted =
      std::min<std::uint64_t>(of.total_blocks, static_cast<unsigned>(number_of_sms()));
  for (std::size_t i = 0; made.all.size() < wanted; ++i) {
    if (i == multiprocessors_.size()) {
      multiprocessors_.push_back(std::make_unique<multiprocessor>(static_cast<unsigned>(i)));
    }
    multiprocessor* const each = multiprocessors_[i].get();
    if (each->is_taken()) continue;  // by a launch that waits
    each->begin(of);
    made.all.push_back(each);
  }
  made.taking_part = made.all;
  return made;
}

player::resident_grid player::take_waiting(grid& of) {
  const auto found = std::ranges::find(waiting_, &of, &resident_grid::of);
  resident_grid taken = std::move(*found);
  waiting_.erase(found);
  multiprocessor::go_on_with(of);
  observer::launch_goes_on(*of.given);
  return taken;
}

void player::take_turns(resident_grid& now) {
  scheduler& order = scheduler::current();
  grid& of = *now.of;
  std::vector<multiprocessor*>& taking_part = now.taking_part;
  // Idle turns since anything last moved, for each of `taking_part`.
  std::vector<unsigned> idle_turns(taking_part.size());
  std::vector<std::uint64_t> numbers, held_back;
  while (!taking_part.empty() && !of.failed()) {
    numbers.clear();
    held_back.clear();
    for (const multiprocessor* each : taking_part) {
      numbers.push_back(each->block());
      held_back.push_back(each->held_back());
    }
    std::size_t chosen = order.next(numbers, held_back);
    // A block that waits for memory waits on until another one has changed some.
    if (idle_turns[chosen] != 0) {
      std::vector<std::size_t> least;
      const unsigned few = *std::min_element(idle_turns.begin(), idle_turns.end());
      for (std::size_t i = 0; i < idle_turns.size(); ++i) {
        if (idle_turns[i] == few) least.push_back(i);
      }
      chosen = least[order.any(least.size())];
    }
    multiprocessor& next = *taking_part[chosen];
    const std::uint64_t events_before = next.events();
    if (!next.take_turn()) {
      taking_part.erase(taking_part.begin() + static_cast<std::ptrdiff_t>(chosen));
      idle_turns.assign(taking_part.size(), 0);
      continue;
    }
    if (next.events() != events_before) events_.fetch_add(1, std::memory_order_relaxed);
    of.moved |= next.has_changed_memory() || next.events() != events_before;
    if (!next.was_idle()) {
      std::fill(idle_turns.begin(), idle_turns.end(), 0);
      continue;
    }
    ++idle_turns[chosen];
    constexpr unsigned enough = 3;
    if (*std::min_element(idle_turns.begin(), idle_turns.end()) < enough) continue;
    if (of.may_wait) {
      of.waits = true;
      return;
    }
    fail_as_deadlock(of, taking_part);
  }
}

// All blocks that start are resident. Each runs until all of its threads have come to a strong
// access or wait.
void player::start_by_decisions(grid& of, const std::vector<multiprocessor*>& resident,
                                decisions& list) {
  list.launch_begins(of.total_blocks, std::uint64_t{of.threads.x} * of.threads.y * of.threads.z,
                     of.cooperative);
  if (of.total_blocks > resident.size()) list.refuse("many_blocks");
  unstarted_.clear();
  for (multiprocessor* each : resident) {
    if (of.failed()) return;
    const std::uint64_t block = form::block_at(of.next_block.load());
    if (list.starts(block)) {
      each->take_turn();
    } else {
      ++of.next_block;
      unstarted_.push_back(block);
    }
  }
}

void player::run_by_decisions(grid& of, const std::vector<multiprocessor*>& resident,
                              decisions& list, bool goes_on) {
  if (!goes_on) start_by_decisions(of, resident, list);
  std::vector<decisions::thread_name> parked;
  while (!of.failed()) {
    leave_grid_barriers(of, resident);
    parked.clear();
    bool any_block = false, any_goes_on = false;
    for (const multiprocessor* each : resident) {
      if (!each->has_block()) continue;
      any_block = true;
      for (const unsigned rank : each->parked()) {
        parked.emplace_back(each->block(), rank);
        any_goes_on |= !list.waits(parked.back());
      }
    }
    if (!any_block) {
      if (unstarted_.empty() || of.failed()) return;
      list.started_ones_ended();
      of.fail_first(cudaErrorLaunchTimeout);
      return;
    }
    if (of.failed()) return;
    if (!any_goes_on) {
      const bool in_vain = std::all_of(parked.begin(), parked.end(),
                                       [&](const auto& each) { return list.waits_in_vain(each); });
      if (in_vain && of.may_wait && unstarted_.empty()) {
        of.waits = true;  // for the host, or for other work
        return;
      }
      if (in_vain) {
        for (const multiprocessor* each : resident) {
          if (each->has_block()) list.waits_for_ever(each->block());
        }
        return fail_as_deadlock(of, resident);
      }
      list.stopped_early();
      of.fail_first(cudaErrorLaunchTimeout);
      return;
    }
    const auto [block, rank] = list.next(parked);
    for (multiprocessor* each : resident) {
      if (!each->has_block() || each->block() != block) continue;
      each->decide(rank);
      each->take_turn();
      events_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void player::leave_grid_barriers(const grid& of, const std::vector<multiprocessor*>& resident) {
  const auto leaves = [](const multiprocessor* each) { return each->leaves_grid_barrier(); };
  for (;;) {
    const auto next = std::find_if(resident.begin(), resident.end(), leaves);
    if (next == resident.end() || of.failed()) return;
    (*next)->take_turn();
  }
}

void player::fail_as_deadlock(grid& of, const std::vector<multiprocessor*>& resident) {
  if (!of.fail_first(cudaErrorLaunchTimeout)) return;
  std::string text = ":\n";
  std::vector<diagnostic> waiting;
  for (const multiprocessor* each : resident) {
    if (!each->has_block()) continue;
    const std::vector<diagnostic> in_block =
        each->is_late() ? std::vector{diagnostic("late_block").add("block", each->block_index())}
                        : each->waiting_threads_of_block();
    text += heading_of(each->block_index()) + lines_of(in_block);
    waiting.insert(waiting.end(), in_block.begin(), in_block.end());
  }
  diagnostic deadlock = deadlock_of(of);
  if (!unstarted_.empty()) deadlock.add("unstarted", of.index_of(unstarted_.front()));
  if (unstarted_.size() > 1) deadlock.add("more", unstarted_.size() - 1);
  report_failure(of, deadlock, text);
  for (const diagnostic& each : waiting) write_record(each);
}

}  // namespace cpu_backend
