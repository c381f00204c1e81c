// SPDX-License-Identifier: MIT
// What threads join that meet: of a block, of a warp, of the grid.
#include <algorithm>
#include <limits>

#include "racecheck/order/synchronization.hpp"

namespace racecheck {

namespace {

// The threads that have not arrived have returned, and come to no barrier any more: what they did
// since the last one to which they came is not ordered by this one either.
void leave_out_returned(block_state& block) {
  constexpr epoch not_left = std::numeric_limits<epoch>::max();
  std::vector<bool> has_arrived(block.threads.size());
  for (const unsigned rank : block.arrived) has_arrived[rank] = true;
  block.last_floor.resize(block.threads.size(), not_left);
  for (std::size_t rank = 0; rank < has_arrived.size(); ++rank) {
    if (!has_arrived[rank]) block.last_floor[rank] = std::min(block.last_floor[rank], block.floor);
  }
}

}  // namespace

// Joins VC, SCPUB, SCPEND and OBS of all participants; PUB and PEND stay with their threads.
void synchronization::barrier(block_state& block) {
  const epoch now = next(block.number);
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (!in_use(assumption)) continue;
    std::vector<const knowledge*> forks;
    for (const unsigned rank : block.arrived) {
      if (const knowledge* fork = block.threads[rank].fork(assumption)) forks.push_back(fork);
    }
    if (forks.empty()) continue;
    std::sort(forks.begin(), forks.end());
    forks.erase(std::unique(forks.begin(), forks.end()), forks.end());
    auto joined =
        std::make_shared<knowledge>(block.base[assumption] ? *block.base[assumption] : nothing);
    for (const knowledge* each : forks) joined->join(*each);
    if (!joined->happened_before.observed.empty())
      joined->happened_before.observed.change().settle();
    if (may_give_up(assumption)) watch_size(assumption, joined->size());
    block.base[assumption] = std::move(joined);
    for (const unsigned rank : block.arrived) {
      if (block.threads[rank].own_state) state_of(block.threads[rank], assumption).own = nullptr;
    }
  }
  if (block.arrived.size() != block.threads.size()) leave_out_returned(block);
  block.floor = now - 1;
  if (assumptions_.size() > 1) barriers_[block.number].push_back(block.floor);
  for (const unsigned rank : block.arrived) block.threads[rank].current_epoch = now;
}

void synchronization::warp_barrier(block_state& block, unsigned first_rank, unsigned lanes) {
  const auto each_lane = [&](auto visit) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lanes >> lane & 1) visit(block.threads[first_rank + lane]);
    }
  };
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (!in_use(assumption)) continue;
    auto joined = std::make_shared<knowledge>();
    each_lane([&](thread_state& lane) {
      joined->join(current(block, lane, assumption));
      joined->happened_before.order.add_thread(lane.name, lane.current_epoch,
                                               assumptions_[assumption].block_arrives);
    });
    if (may_give_up(assumption)) watch_size(assumption, joined->size());
    each_lane([&](thread_state& lane) { state_of(lane, assumption).own = joined; });
  }
  const epoch now = next(block.number);
  each_lane([&](thread_state& lane) { lane.current_epoch = now; });
}

void synchronization::grid_barrier_arrives(block_state& block, thread_state& by) {
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (!in_use(assumption)) continue;
    const knowledge& mine = current(block, by, assumption);
    at_grid_barrier_[block.grid_barriers % 2][assumption].join(
        {with_itself(block, by, assumption), mine.published, mine.pending});
  }
  by.current_epoch = next(block.number);
}

void synchronization::grid_barrier_passes(block_state& block, thread_state& by) {
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (in_use(assumption))
      change(block, by, assumption).join(at_grid_barrier_[block.grid_barriers % 2][assumption]);
  }
  ++block.grid_barriers;
}

}  // namespace racecheck
