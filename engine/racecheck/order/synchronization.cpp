// SPDX-License-Identifier: MIT
#include "racecheck/order/synchronization.hpp"

#include <algorithm>
#include <limits>

namespace racecheck {

namespace {

scope wider(scope of, const assumptions& assumed) { return assumed.widens ? scope::device : of; }

bool morally_strong(const message& at, const thread_state& by, scope within,
                    const assumptions& assumed) {
  if (!at.written) return false;
  if (at.writer == by.name) return true;
  if (!at.strong) return false;
  return at.writer.block == by.name.block ||
         (wider(at.within, assumed) == scope::device && wider(within, assumed) == scope::device);
}

void join(shared<knowledge>& into, const knowledge& other) {
  auto joined = into ? std::make_shared<knowledge>(*into) : std::make_shared<knowledge>();
  joined->join(other);
  into = std::move(joined);
}

// They are sorted by location: a thread may come to very many.
template <class Entries>
auto place_of(Entries& of, std::uint32_t location) {
  return std::lower_bound(
      of.begin(), of.end(), location,
      [](const thread_state::handed_on& each, std::uint32_t at) { return each.location < at; });
}

// nullptr if there is none.
template <class Entries>
auto find_entry(Entries& of, std::uint32_t location) {
  const auto found = place_of(of, location);
  return found != of.end() && found->location == location ? &*found : nullptr;
}

thread_state::handed_on& entry_of(std::vector<thread_state::handed_on>& of,
                                  std::uint32_t location) {
  if (auto* known = find_entry(of, location)) return *known;
  return *of.insert(place_of(of, location), {location, nullptr, nullptr, false, false});
}

}  // namespace

const knowledge synchronization::nothing{};

void synchronization::begin_launch(epoch start) {
  counter_ = start - 1;
  blocks_of_epochs_ = std::vector<std::uint32_t>();  // A long launch has made it large.
  launch_start_ = next(0);
  std::fill(given_up_.begin(), given_up_.end(), false);
  for (std::vector<knowledge>& each : at_grid_barrier_)
    std::fill(each.begin(), each.end(), knowledge{});
  barriers_.clear();
  earlier_.clear();
  at_sc_fences_ = {};
  at_sc_fences_of_block_.clear();
}

void synchronization::begin_block(block_state& block, std::uint32_t number, unsigned threads,
                                  bool goes_on) {
  block.number = number;
  block.floor = 0;
  block.last_floor.clear();
  block.base.resize(assumptions_.size());
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    const thread_state* const first = goes_on ? &block.threads.front() : nullptr;
    if (!goes_on) {
      block.base[assumption] = nullptr;
    } else if (first->fork(assumption)) {
      block.base[assumption] = first->own_state[assumption].own;
    }
  }
  block.arrived.clear();
  block.grid_barriers = 0;
  block.threads.resize(threads);
  const epoch now = next(number);
  for (unsigned rank = 0; rank < threads; ++rank) {
    thread_state& thread = block.threads[rank];
    thread.name = {number, rank};
    thread.current_epoch = now;
    thread.own_state = nullptr;
  }
}

// An assumption only serves the diagnosis. Where the clocks under it grow large (thousands of
// threads that release to one word), it is given up, and the diagnosis says less.
void synchronization::watch_size(unsigned assumption, std::size_t size) {
  constexpr std::size_t too_large = 2048;
  if (size > too_large) given_up_[assumption] = true;
}

knowledge& synchronization::change(const block_state& block, thread_state& by,
                                   unsigned assumption) {
  auto& own = state_of(by, assumption).own;
  if (!own || own.use_count() != 1)
    own = std::make_shared<knowledge>(current(block, by, assumption));
  return const_cast<knowledge&>(*own);  // made above as a knowledge, and held by nothing else
}

known synchronization::with_itself(const block_state& block, thread_state& by,
                                   unsigned assumption) {
  if (by.fork(assumption) && !by.fork(assumption)->happened_before.observed.get().is_settled()) {
    change(block, by, assumption).happened_before.observed.change().settle();
  }
  known result = current(block, by, assumption).happened_before;
  // before_under() asks which threads have published something themselves.
  const bool keeps_threads = assumptions_[assumption].block_arrives;
  if (block.floor != 0) result.order.add_block(block.number, block.floor, keeps_threads);
  result.order.add_thread(by.name, by.current_epoch, keeps_threads);
  // As if all of the block had come to a barrier first. before() takes the epoch for the end of the
  // stretch between two barriers in which it lies.
  if (assumptions_[assumption].block_arrives)
    result.order.add_block(block.number, by.current_epoch, true);
  return result;
}

void synchronization::fence(block_state& block, thread_state& by, scope within, fence_kind kind) {
  const bool sequentially_consistent = kind == fence_kind::sequentially_consistent;
  const bool acquires = kind != fence_kind::release, releases = kind != fence_kind::acquire;
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (!in_use(assumption)) continue;
    auto& state = state_of(by, assumption);
    const scope at = wider(within, assumptions_[assumption]);
    if (acquires && !state.pending_block.empty()) {
      change(block, by, assumption).join(state.pending_block);
      state.pending_block = {};
    }
    if (acquires && at == scope::device && !state.pending_device.empty()) {
      change(block, by, assumption).join(state.pending_device);
      state.pending_device = {};
    }
    state.last_seen = nullptr;
    if (sequentially_consistent) {
      see_pending_fences(block, by, assumption, at);
      if (orders_sc_fences_under(assumption)) see_earlier_sc_fences(block, by, assumption, at);
    }
    if (!releases) continue;
    const known now = with_itself(block, by, assumption);
    if (sequentially_consistent) {
      if (orders_sc_fences_under(assumption)) note_sc_fence(block, at, now);
      change(block, by, assumption).published.change().add(sharing<known>(now), at, block.number);
    }
    const knowledge& mine = current(block, by, assumption);
    auto fenced = std::make_shared<knowledge>(knowledge{now, mine.published, mine.pending});
    if (may_give_up(assumption)) watch_size(assumption, fenced->size());
    // A fence at device scope is one at block scope, too, and knows all that the last one did.
    if (at == scope::device) state.fenced_device = fenced;
    state.fenced_block = std::move(fenced);
  }
  by.current_epoch = next(block.number);
}

// Those whose blocks this thread has heard of by an atomic: they are before its own.
void synchronization::see_pending_fences(block_state& block, thread_state& by, unsigned assumption,
                                         scope within) {
  if (current(block, by, assumption).pending.empty()) return;
  knowledge& mine = change(block, by, assumption);
  const fences& pending = mine.pending.get();
  if (within == scope::device) mine.happened_before.join(pending.device);
  if (const auto* own = pending.find(block.number)) mine.happened_before.join(own->get());
  mine.published.join(mine.pending);
}

void synchronization::see_earlier_sc_fences(block_state& block, thread_state& by,
                                            unsigned assumption, scope within) {
  knowledge& mine = change(block, by, assumption);
  if (within == scope::device) mine.happened_before.join(at_sc_fences_);
  if (within == scope::block && at_sc_fences_of_block_.empty() && !notes_fences_of_block_) {
    // Most programs never come here, and no block's own fences were noted. So all of them count as
    // this block's: that lets reads see too much, which is allowed, and not too little.
    mine.happened_before.join(at_sc_fences_);
    at_sc_fences_of_block_[block.number];
  }
  const auto of_block = at_sc_fences_of_block_.find(block.number);
  if (of_block != at_sc_fences_of_block_.end()) mine.happened_before.join(of_block->second);
}

void synchronization::note_sc_fence(const block_state& block, scope within, const known& now) {
  if (within == scope::device) at_sc_fences_ = now;  // which is after all of them
  if (notes_fences_of_block_ || !at_sc_fences_of_block_.empty()) {
    at_sc_fences_of_block_[block.number].join(now);
  }
}

// A thread has a state of its own, and a message something to hand over, only once there is
// something to keep: most atomics neither follow a fence nor release.
void synchronization::strong_read(block_state& block, thread_state& by, const message& last,
                                  scope within, bool acquires, bool updates, unsigned older) {
  const message& at = older == 0 ? last : *(earlier_.at(last.location).end() - older);
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (!in_use(assumption)) continue;
    const message::under_assumption* there =
        at.by_assumption ? &at.by_assumption[assumption] : nullptr;
    if (there) {
      const auto& seen_fences = updates ? there->fences_of_chain : there->fences_of_write;
      if (!current(block, by, assumption).pending.contains(seen_fences)) {
        change(block, by, assumption).pending.join(seen_fences);
      }
    }
    const scope mine = wider(within, assumptions_[assumption]);
    if (morally_strong(at, by, within, assumptions_[assumption])) {
      if (at.writer != by.name && !current(block, by, assumption)
                                       .happened_before.observed.get()
                                       .has_observed(at.last_write())) {
        change(block, by, assumption).happened_before.observed.change().observe(at.last_write());
      }
      if (there && there->released)
        see(block, state_of(by, assumption), at.location, there->released);
    }
    if (assumptions_[assumption].fences) see_pending_fences(block, by, assumption, scope::device);
    if (!by.own_state || !(acquires || assumptions_[assumption].acquires)) continue;
    auto* seen = find_entry(state_of(by, assumption).seen, at.location);
    if (!seen) continue;
    if (seen->block && !seen->block_is_joined) {
      change(block, by, assumption).join(*seen->block);
      seen->block_is_joined = true;
    }
    if (seen->device && mine == scope::device && !seen->device_is_joined) {
      change(block, by, assumption).join(*seen->device);
      seen->device_is_joined = true;
      if (may_give_up(assumption)) watch_size(assumption, current(block, by, assumption).size());
    }
  }
  // So that the log can tell what comes after the load from what came before it.
  if (older != 0) by.current_epoch = next(block.number);
}

// PEND: what a strong read has seen waits for a fence, or for an acquire at the same location.
void synchronization::see(const block_state& block, thread_state::under_assumption& state,
                          std::uint32_t location, const shared<heads>& released) {
  if (released == state.last_seen) return;
  auto& seen = entry_of(state.seen, location);
  if (!released->device.empty()) {
    state.pending_device.join(released->device);
    join(seen.device, released->device);
    seen.device_is_joined = false;
  }
  if (const auto* own = released->find(block.number)) {
    state.pending_block.join(own->get());
    join(seen.block, own->get());
    seen.block_is_joined = false;
  }
  state.last_seen = released;
}

void synchronization::strong_write(block_state& block, thread_state& by, message& at, scope within,
                                   bool releases, bool updates) {
  if (keeps_earlier_) keep_earlier(at);
  for (unsigned assumption = 0; assumption < assumptions_.size(); ++assumption) {
    if (!in_use(assumption)) continue;
    const scope mine = wider(within, assumptions_[assumption]);
    const bool continues = updates && morally_strong(at, by, within, assumptions_[assumption]);
    const knowledge& known_now = current(block, by, assumption);

    if (releases || assumptions_[assumption].releases) {
      const knowledge head{with_itself(block, by, assumption), known_now.published,
                           known_now.pending};
      auto& released = entry_of(state_of(by, assumption).released, at.location);
      join(mine == scope::device ? released.device : released.block, head);
    }
    const shared<heads> mine_too =
        by.own_state
            ? handed_over(
                  block, state_of(by, assumption), at.location,
                  continues && at.by_assumption ? at.by_assumption[assumption].released : nullptr)
            : nullptr;
    if (!at.by_assumption) {
      if (!mine_too && known_now.published.empty()) continue;
      at.by_assumption = std::make_unique<message::under_assumption[]>(assumptions_.size());
    }
    auto& there = at.by_assumption[assumption];
    if (mine_too) {
      if (may_give_up(assumption)) watch_size(assumption, mine_too->size());
      there.released = mine_too;
    } else if (!continues) {
      there.released = nullptr;
    }
    there.fences_of_write = known_now.published;
    if (!updates) there.fences_of_chain = {};
    there.fences_of_chain.join(known_now.published);
    if (may_give_up(assumption)) watch_size(assumption, there.fences_of_chain.size());
  }
  if (updates && morally_strong(at, by, within, assumptions{})) {
    ++at.position;
  } else {
    ++at.chain;
    at.position = 0;
  }
  at.written = at.strong = true;
  at.within = within;
  at.writer = by.name;
  by.current_epoch = next(block.number);
}

void synchronization::keep_earlier(const message& last) {
  if (earlier_.size() == most_with_earlier && !earlier_.contains(last.location)) return;
  std::vector<message>& all = earlier_[last.location];
  if (last.chain == 0) all.clear();  // It is the first write, of memory that is new.
  if (all.size() == most_earlier) all.erase(all.begin());
  all.push_back(copy_of(last, assumptions_.size()));
}

// What a strong write hands over: PUB, what the thread has released at the location before, and
// what the write continues. Nothing, if only that.
shared<heads> synchronization::handed_over(const block_state& block,
                                           const thread_state::under_assumption& state,
                                           std::uint32_t location,
                                           const shared<heads>& continued) const {
  const thread_state::handed_on* earlier = find_entry(state.released, location);
  if (!state.fenced_device && !state.fenced_block && !earlier) return nullptr;
  auto all = continued ? std::make_shared<heads>(*continued) : std::make_shared<heads>();
  const auto add = [&](const shared<knowledge>& head, scope of) {
    if (head) all->add(sharing<knowledge>(head), of, block.number);
  };
  add(state.fenced_device, scope::device);
  add(state.fenced_block, scope::block);
  if (earlier) {
    add(earlier->device, scope::device);
    add(earlier->block, scope::block);
  }
  return all;
}

void synchronization::weak_write(const thread_state& by, message& at) {
  at.written = true;
  at.strong = false;
  at.writer = by.name;
  ++at.chain;
  at.position = 0;
  at.by_assumption = nullptr;
}

bool synchronization::before_under(unsigned assumption, const block_state& block,
                                   const thread_state& by, thread_name thread, epoch at) const {
  return in_use(assumption) &&
         covers(assumption, current(block, by, assumption).happened_before.order, thread, at);
}

bool synchronization::before_any_under(unsigned assumption, const block_state& block,
                                       thread_name thread, epoch at) const {
  if (!in_use(assumption)) return false;
  bool shares_base = false;
  for (const thread_state& each : block.threads) {
    const knowledge* own = each.fork(assumption);
    shares_base |= !own;
    if (own && covers(assumption, own->happened_before.order, thread, at)) return true;
  }
  return shares_base && block.base[assumption] &&
         covers(assumption, block.base[assumption]->happened_before.order, thread, at);
}

bool synchronization::covers(unsigned assumption, const clock& order, thread_name thread,
                             epoch at) const {
  if (order.covers(thread, at)) return true;
  if (!assumptions_[assumption].block_arrives) return false;
  // With a barrier before the release, all that the block's other threads did since the last
  // barrier is published, even what one of them does later in this run than the release.
  if (order.of_thread(thread) != 0) return false;
  epoch begin_of_stretch = launch_start_;
  if (const auto floors = barriers_.find(thread.block); floors != barriers_.end()) {
    const auto after = std::lower_bound(floors->second.begin(), floors->second.end(), at);
    if (after != floors->second.begin()) begin_of_stretch = *(after - 1) + 1;
  }
  return order.of_block(thread.block) >= begin_of_stretch;
}

// ---- Barriers: of a block, of a warp, of the grid

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
