// SPDX-License-Identifier: MIT
#include "racecheck/synchronization.hpp"

#include <algorithm>

namespace racecheck {
namespace {

const knowledge nothing{};

scope wider(scope of, const world& in) { return in.widens ? scope::device : of; }

bool morally_strong(const message& at, const thread_state& by, scope within, const world& in) {
  if (!at.written) return false;
  if (at.writer == by.name) return true;
  if (!at.strong) return false;
  return at.writer.block == by.name.block ||
         (wider(at.within, in) == scope::device && wider(within, in) == scope::device);
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

// Many threads' fences meet at a barrier of `block`, each of which knew little: all at once.
void join_all(fences& into, const std::vector<const fences*>& of_threads, std::uint32_t block) {
  std::vector<const clock*> device;
  std::vector<const clock*> own;
  for (const fences* each : of_threads) {
    device.push_back(&each->device.order);
    into.device.observed.join(each->device.observed);
    for (const auto& [number, part] : each->of_block) {
      if (number != block) {
        into.part(number).join(part);
      } else if (!into.part(number).contains(part)) {
        own.push_back(&part.get().order);
        into.part(number).change().observed.join(part.get().observed);
      }
    }
  }
  into.device.order.join(device);
  if (!own.empty()) into.part(block).change().order.join(own);
}

}  // namespace

void synchronization::begin_launch(epoch start) {
  counter_ = start - 1;
  blocks_of_epochs_ = std::vector<std::uint32_t>();  // A long launch has made it large.
  launch_start_ = next(0);
  std::fill(given_up_.begin(), given_up_.end(), false);
  std::fill(at_grid_barrier_.begin(), at_grid_barrier_.end(), knowledge{});
  barriers_.clear();
}

void synchronization::begin_block(block_state& block, std::uint32_t number, unsigned threads) {
  block.number = number;
  block.floor = 0;
  block.base.assign(worlds_.size(), nullptr);
  block.arrived.clear();
  block.threads.resize(threads);
  const epoch now = next(number);
  for (unsigned rank = 0; rank < threads; ++rank) {
    thread_state& thread = block.threads[rank];
    thread.name = {number, rank};
    thread.now = now;
    thread.own_state = nullptr;
  }
}

// A counterfactual world only serves the diagnosis. Where its clocks grow large (thousands of
// threads that release to one word), it is left alone, and the diagnosis says less.
void synchronization::watch_size(unsigned in, std::size_t size) {
  constexpr std::size_t too_large = 2048;
  if (size > too_large && worlds_[in] != world{}) given_up_[in] = true;
}

const knowledge& synchronization::current(const block_state& block, const thread_state& by,
                                          unsigned in) const {
  if (const knowledge* fork = by.fork(in)) return *fork;
  return block.base[in] ? *block.base[in] : nothing;
}

knowledge& synchronization::change(const block_state& block, thread_state& by, unsigned in) {
  auto& own = state_of(by, in).own;
  if (!own || own.use_count() != 1) own = std::make_shared<knowledge>(current(block, by, in));
  return const_cast<knowledge&>(*own);  // made above as a knowledge, and nobody else holds it
}

known synchronization::with_itself(const block_state& block, const thread_state& by,
                                   unsigned in) const {
  known result = current(block, by, in).now;
  if (block.floor != 0) result.order.add_block(block.number, block.floor);
  result.order.add_thread(by.name, by.now);
  // As if all of the block had come to a barrier first. before() takes the epoch for the end of the
  // stretch between two barriers in which it lies.
  if (worlds_[in].block_arrives) result.order.add_block(block.number, by.now);
  return result;
}

void synchronization::fence(block_state& block, thread_state& by, scope within,
                            bool sequentially_consistent) {
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (!in_use(in)) continue;
    auto& state = state_of(by, in);
    const scope at = wider(within, worlds_[in]);
    if (!state.pending_block.empty()) {
      change(block, by, in).join(state.pending_block);
      state.pending_block = {};
    }
    if (at == scope::device && !state.pending_device.empty()) {
      change(block, by, in).join(state.pending_device);
      state.pending_device = {};
    }
    state.last_seen = nullptr;
    if (sequentially_consistent) {
      if (!current(block, by, in).pending.empty()) {
        knowledge& mine = change(block, by, in);
        const fences& pending = mine.pending.get();
        if (at == scope::device) mine.now.join(pending.device);
        if (const auto* own = pending.find(block.number)) mine.now.join(own->get());
        mine.published.join(mine.pending);
      }
    }
    const known now = with_itself(block, by, in);
    if (sequentially_consistent) {
      change(block, by, in).published.change().add(now, at, block.number);
    }
    const knowledge& mine = current(block, by, in);
    auto fenced = std::make_shared<knowledge>(knowledge{now, mine.published, mine.pending});
    watch_size(in, fenced->size());
    (at == scope::device ? state.fenced_device : state.fenced_block) = std::move(fenced);
  }
  by.now = next(block.number);
}

// A thread has a state of its own, and a message something to hand over, only once there is
// something to keep: most atomics neither follow a fence nor release.
void synchronization::strong_read(block_state& block, thread_state& by, const message& at,
                                  scope within, bool acquires, bool updates) {
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (!in_use(in)) continue;
    const message::in_world* there = at.in ? &at.in[in] : nullptr;
    if (there) {
      const auto& seen_fences = updates ? there->fences_of_chain : there->fences_of_write;
      if (!current(block, by, in).pending.contains(seen_fences)) {
        change(block, by, in).pending.join(seen_fences);
      }
    }
    const scope mine = wider(within, worlds_[in]);
    if (morally_strong(at, by, within, worlds_[in])) {
      if (!current(block, by, in).now.observed.has_observed(at.last_write())) {
        change(block, by, in).now.observed.observe(at.last_write());
      }
      if (there && there->released) see(block, state_of(by, in), at.location, there->released);
    }
    if (!by.own_state || !(acquires || worlds_[in].acquires)) continue;
    auto* seen = find_entry(state_of(by, in).seen, at.location);
    if (!seen) continue;
    if (seen->block && !seen->block_is_joined) {
      change(block, by, in).join(*seen->block);
      seen->block_is_joined = true;
    }
    if (seen->device && mine == scope::device && !seen->device_is_joined) {
      change(block, by, in).join(*seen->device);
      seen->device_is_joined = true;
      watch_size(in, current(block, by, in).size());
    }
  }
}

// PEND: what a strong read has seen waits for a fence, or for an acquire at the same location.
void synchronization::see(const block_state& block, thread_state::in_world& state,
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
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (!in_use(in)) continue;
    const scope mine = wider(within, worlds_[in]);
    const bool continues = updates && morally_strong(at, by, within, worlds_[in]);
    const knowledge& known_now = current(block, by, in);

    if (releases || worlds_[in].releases) {
      const knowledge head{with_itself(block, by, in), known_now.published, known_now.pending};
      auto& released = entry_of(state_of(by, in).released, at.location);
      join(mine == scope::device ? released.device : released.block, head);
    }
    const shared<heads> mine_too =
        by.own_state ? handed_over(block, state_of(by, in), at.location,
                                   continues && at.in ? at.in[in].released : nullptr)
                     : nullptr;
    if (!at.in) {
      if (!mine_too && known_now.published.empty()) continue;
      at.in = std::make_unique<message::in_world[]>(worlds_.size());
    }
    auto& there = at.in[in];
    if (mine_too) {
      watch_size(in, mine_too->size());
      there.released = mine_too;
    } else if (!continues) {
      there.released = nullptr;
    }
    there.fences_of_write = known_now.published;
    if (!updates) there.fences_of_chain = {};
    there.fences_of_chain.join(known_now.published);
    watch_size(in, there.fences_of_chain.size());
  }
  if (updates && morally_strong(at, by, within, world{})) {
    ++at.position;
  } else {
    ++at.chain;
    at.position = 0;
  }
  at.written = at.strong = true;
  at.within = within;
  at.writer = by.name;
  by.now = next(block.number);
}

// What a strong write hands over: PUB, what the thread has released at the location before, and
// what the write continues. Nothing, if only that.
shared<heads> synchronization::handed_over(const block_state& block,
                                           const thread_state::in_world& state,
                                           std::uint32_t location,
                                           const shared<heads>& continued) const {
  const thread_state::handed_on* earlier = find_entry(state.released, location);
  if (!state.fenced_device && !state.fenced_block && !earlier) return nullptr;
  auto all = continued ? std::make_shared<heads>(*continued) : std::make_shared<heads>();
  const auto add = [&](const shared<knowledge>& head, scope of) {
    if (head) all->add(*head, of, block.number);
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
  at.in = nullptr;
}

// Joins VC, SCPUB, SCPEND and OBS of all participants; PUB and PEND stay with their threads.
void synchronization::barrier(block_state& block) {
  const epoch now = next(block.number);
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (!in_use(in)) continue;
    std::vector<const knowledge*> forks;
    for (const unsigned rank : block.arrived) {
      if (const knowledge* fork = block.threads[rank].fork(in)) forks.push_back(fork);
    }
    if (forks.empty()) continue;
    std::sort(forks.begin(), forks.end());
    forks.erase(std::unique(forks.begin(), forks.end()), forks.end());
    auto joined = std::make_shared<knowledge>(block.base[in] ? *block.base[in] : nothing);
    std::vector<const clock*> orders;
    std::vector<const fences*> published;
    for (const knowledge* each : forks) {
      orders.push_back(&each->now.order);
      joined->now.observed.join(each->now.observed);
      if (!each->published.empty() && !joined->published.contains(each->published)) {
        published.push_back(&each->published.get());
      }
      joined->pending.join(each->pending);
    }
    joined->now.order.join(orders);
    if (!published.empty()) join_all(joined->published.change(), published, block.number);
    joined->now.observed.settle();
    watch_size(in, joined->size());
    block.base[in] = std::move(joined);
    for (const unsigned rank : block.arrived) {
      if (block.threads[rank].own_state) state_of(block.threads[rank], in).own = nullptr;
    }
  }
  block.floor = now - 1;
  if (worlds_.size() > 1) barriers_[block.number].push_back(block.floor);
  for (const unsigned rank : block.arrived) block.threads[rank].now = now;
}

void synchronization::warp_barrier(block_state& block, unsigned first_rank, unsigned lanes) {
  const auto each_lane = [&](auto visit) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lanes >> lane & 1) visit(block.threads[first_rank + lane]);
    }
  };
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (!in_use(in)) continue;
    auto joined = std::make_shared<knowledge>();
    each_lane([&](thread_state& lane) {
      joined->join(current(block, lane, in));
      joined->now.order.add_thread(lane.name, lane.now);
    });
    watch_size(in, joined->size());
    each_lane([&](thread_state& lane) { state_of(lane, in).own = joined; });
  }
  const epoch now = next(block.number);
  each_lane([&](thread_state& lane) { lane.now = now; });
}

void synchronization::grid_barrier_arrives(block_state& block, thread_state& by) {
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (!in_use(in)) continue;
    const knowledge& mine = current(block, by, in);
    at_grid_barrier_[in].join({with_itself(block, by, in), mine.published, mine.pending});
  }
  by.now = next(block.number);
}

void synchronization::grid_barrier_passes(block_state& block, thread_state& by) {
  for (unsigned in = 0; in < worlds_.size(); ++in) {
    if (in_use(in)) change(block, by, in).join(at_grid_barrier_[in]);
  }
}

bool synchronization::before_in(unsigned world, const block_state& block, const thread_state& by,
                                thread_name thread, epoch at) const {
  if (!in_use(world)) return false;
  const clock& order = current(block, by, world).now.order;
  if (order.covers(thread, at)) return true;
  if (!worlds_[world].block_arrives) return false;
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

}  // namespace racecheck
