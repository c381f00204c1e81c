// SPDX-License-Identifier: MIT
// Ways from one thread's access to another's, looked up in the log.
#include <algorithm>
#include <unordered_map>

#include "racecheck/races/synchronization_log.hpp"

namespace racecheck {

using way = synchronization_log::way;

// The events of two threads' blocks, as far as a race between the two may depend on them.
struct synchronization_log::search {
  static constexpr std::size_t most_reads = 64;
  static constexpr std::size_t none = ~std::size_t{0};

  const synchronization_log& log;
  thread_name earlier, later;
  std::uint32_t earlier_at;
  std::uint32_t read_until;               // what comes later does not count
  std::uint32_t excluded = 0;             // a location
  bool by_others = false;                 // in one block: over what its other threads have written
  std::uint32_t begin_of_stretch = 0;     // the earlier block's last barrier before that
  std::size_t barrier_of_stretch = none;  // and its number
  bool same_block = earlier.block == later.block;
  // Numbers of events.
  std::vector<std::size_t> fences_of_earlier, barriers_of_earlier;
  std::vector<std::size_t> fences_of_later, barriers_of_later;
  // By location; those of every block, since a store that is no update ends a chain.
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> writes, stores;
  std::vector<std::size_t> reads;  // of the later block; of each thread the last at each location

  // Finds nothing in a log that is not whole: what is missing may be there.
  search(const synchronization_log& in, thread_name earlier_one, epoch at, thread_name later_one,
         std::uint32_t until = ~std::uint32_t{0})
      : log(in),
        earlier(earlier_one),
        later(later_one),
        earlier_at(in.since_start(at)),
        read_until(until) {
    if (log.is_whole()) collect();
  }

  const event& event_of(std::size_t number) const { return log.events_[number]; }

  void collect();
  std::optional<way> best(const diagnosis_set& wanted) const;
  std::optional<way> ended() const;
  std::optional<way> signal_before(std::uint32_t accessed_at) const;
  // Calls use(write, read) with the first writes of the earlier block's threads since the access,
  // and the reads of their locations by the later block; until it returns true.
  template <class Use>
  void each_pair(Use use) const;
  void note_narrow(way& made, std::size_t number) const;
  way over(std::size_t write, std::size_t read) const;
  // The first event that comes too late for the read to have seen it.
  std::size_t end_of_seen(std::size_t read) const;
  // The first store to the write's location after it that is no update.
  std::size_t next_store(std::size_t write) const;
  // Whether the read has seen the write, or what continues its chain.
  bool has_seen(std::size_t write, std::size_t read) const {
    return next_store(write) >= end_of_seen(read);
  }
  // How many updates are between, and whether one of them is too narrow to hand the value on.
  void check_chain(way& made, std::size_t write, std::size_t read) const;
  void check_release(way& made, std::size_t write) const;
  void check_acquire(way& made, std::size_t read) const;
  bool is_too_narrow(const event& of) const { return of.at_block_scope && !same_block; }
  // The first of these barriers to which both threads come, after the event with that number.
  std::size_t first_common(const std::vector<std::size_t>& barriers, std::size_t after,
                           std::uint32_t one_rank, std::uint32_t other_rank) const;
  void add_steps(way& to, std::vector<std::size_t> numbers, bool in_observers_block) const;
};

void synchronization_log::search::collect() {
  std::unordered_map<std::uint64_t, std::size_t> last_reads;
  for (std::size_t number = 0; number < log.events_.size(); ++number) {
    const event& each = event_of(number);
    const std::uint32_t block = log.block_of(each);
    const bool of_earlier = block == earlier.block && each.epoch_since_start >= begin_of_stretch;
    const bool of_later = block == later.block;
    switch (each.what) {
      case kind::atomic:
        if (each.writes) writes[each.where].push_back(number);
        if (each.writes && !each.reads) stores[each.where].push_back(number);
        if (of_later && each.reads && each.epoch_since_start <= read_until) {
          last_reads[std::uint64_t{each.where} << rank_bits | each.rank] = number;
        }
        break;
      case kind::plain_write:
        stores[each.where].push_back(number);
        break;
      case kind::fence:
        if (of_earlier) fences_of_earlier.push_back(number);
        if (of_later && each.epoch_since_start < read_until) fences_of_later.push_back(number);
        break;
      case kind::barrier:
      case kind::warp_barrier:
        if (block == earlier.block) {
          if (each.epoch_since_start <= earlier_at && each.what == kind::barrier) {
            begin_of_stretch = each.epoch_since_start;
            barrier_of_stretch = number;
          }
          if (each.epoch_since_start > earlier_at) barriers_of_earlier.push_back(number);
        }
        if (of_later && each.epoch_since_start <= read_until) barriers_of_later.push_back(number);
        break;
    }
  }
  for (const auto& [key, number] : last_reads) reads.push_back(number);
  // The thread's own first, and the latest of them.
  std::sort(reads.begin(), reads.end(), [&](std::size_t left, std::size_t right) {
    const bool own_left = event_of(left).rank == later.rank;
    const bool own_right = event_of(right).rank == later.rank;
    return own_left != own_right ? own_left : left > right;
  });
  if (reads.size() > most_reads) reads.resize(most_reads);
}

std::size_t synchronization_log::search::end_of_seen(std::size_t read) const {
  const event& seen = event_of(read);
  if (seen.passed == 0) return read;
  const auto& all = writes.at(seen.where);
  const auto next = std::ranges::lower_bound(all, read) - all.begin();
  return all[static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - seen.passed, 0))];
}

std::size_t synchronization_log::search::next_store(std::size_t write) const {
  const auto found = stores.find(event_of(write).where);
  if (found == stores.end()) return none;
  const auto next = std::ranges::upper_bound(found->second, write);
  return next == found->second.end() ? none : *next;
}

void synchronization_log::search::check_chain(way& made, std::size_t write,
                                              std::size_t read) const {
  const auto is_handed_on = [&](std::size_t from, std::size_t to) {
    return log.block_of(event_of(from)) == log.block_of(event_of(to)) ||
           (!event_of(from).at_block_scope && !event_of(to).at_block_scope);
  };
  const auto& all = writes.at(event_of(write).where);
  const std::size_t end = end_of_seen(read);
  std::size_t last = write;
  for (auto next = std::upper_bound(all.begin(), all.end(), write);
       next != all.end() && *next < end; ++next) {
    if (!is_handed_on(last, *next)) {
      note_narrow(made, event_of(last).at_block_scope ? last : *next);
    }
    last = *next;
    ++made.steps.updates_between;
  }
  if (!is_handed_on(last, read)) {
    note_narrow(made, event_of(last).at_block_scope ? last : read);
  }
}

void synchronization_log::search::note_narrow(way& made, std::size_t number) const {
  made.lacks.add(diagnosis::scope_too_narrow);
  if (!made.cause) {
    const event& narrow = event_of(number);
    made.cause = log.step_of(narrow, log.block_of(narrow) == later.block);
  }
}

std::size_t synchronization_log::search::first_common(const std::vector<std::size_t>& barriers,
                                                      std::size_t after, std::uint32_t one_rank,
                                                      std::uint32_t other_rank) const {
  const auto found = std::find_if(
      std::ranges::lower_bound(barriers, after), barriers.end(),
      [&](std::size_t number) { return event_of(number).joins(one_rank, other_rank); });
  return found == barriers.end() ? none : *found;
}

void synchronization_log::search::add_steps(way& to, std::vector<std::size_t> numbers,
                                            bool in_observers_block) const {
  std::erase(numbers, none);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const std::size_t number : numbers) {
    to.steps.steps.push_back(log.step_of(event_of(number), in_observers_block));
  }
}

void synchronization_log::search::check_release(way& made, std::size_t write) const {
  diagnosis_set& lacks = made.lacks;
  const event& written = event_of(write);
  if (is_too_narrow(written)) note_narrow(made, write);
  const bool by_itself = written.rank == earlier.rank;
  // What is published must be after a barrier that the two threads share.
  std::size_t barrier = first_common(barriers_of_earlier, 0, earlier.rank, written.rank);
  if (by_itself || barrier > write) barrier = none;
  if (!by_itself && barrier == none) lacks.add(diagnosis::missing_barrier_before);
  const std::size_t from = barrier == none ? 0 : barrier;

  std::size_t released = written.releases ? write : none, narrow = none, early = none;
  for (const std::size_t each : fences_of_earlier) {
    if (each > write || released != none) break;
    const event& fence = event_of(each);
    if (fence.epoch_since_start < begin_of_stretch || !fence.writes) continue;
    // A fence by the earlier thread itself does as well, where the other side has one, too.
    const bool is_own = fence.rank == earlier.rank && fence.epoch_since_start >= earlier_at;
    const bool is_writers = fence.rank == written.rank;
    const bool publishes =
        by_itself ? is_own
                  : (is_writers && each >= from) ||
                        (is_own && fence.acquires && !lacks.has(diagnosis::missing_barrier_before));
    if (!publishes) {
      if (!by_itself && is_writers && !is_too_narrow(fence)) early = each;
    } else if (is_too_narrow(fence)) {
      narrow = each;
    } else {
      released = each;
      made.by_own_fence = !by_itself && !is_writers;
    }
  }
  if (released == none && narrow == none && early != none) {
    // It fences, but before the barrier: the barrier would have to come first.
    lacks.add(diagnosis::missing_barrier_before);
    released = early;
  } else if (released == none) {
    if (narrow == none) lacks.add(diagnosis::missing_release);
    if (narrow != none) note_narrow(made, narrow);
    released = narrow;
  }
  if (lacks.has(diagnosis::missing_barrier_before) && barrier_of_stretch != none && !made.cause) {
    made.cause = log.step_of(event_of(barrier_of_stretch), false);
  }
  add_steps(made, {barrier, released, write}, false);
  if (released != none) {
    made.released_by = {earlier.block, event_of(released).rank};
    made.released_at = log.clocks_.launch_start() + event_of(released).epoch_since_start;
  }
}

void synchronization_log::search::check_acquire(way& made, std::size_t read) const {
  diagnosis_set& lacks = made.lacks;
  const event& seen = event_of(read);
  if (is_too_narrow(seen)) note_narrow(made, read);
  made.acquired_by = seen.rank;
  // A fence of the later thread itself does as well, after a barrier that both have come to.
  const std::size_t met = first_common(barriers_of_later, read, seen.rank, later.rank);
  for (const std::size_t each : fences_of_later) {
    const event& fence = event_of(each);
    if (fence.rank == later.rank && fence.rank != seen.rank && fence.acquires &&
        !is_too_narrow(fence) && met != none && each > met) {
      made.acquired_by = later.rank;
      add_steps(made, {read, met, each}, true);
      return;
    }
  }
  // What another thread's own fence has published, a sequentially consistent fence alone acquires.
  std::size_t acquired = seen.acquires && !made.by_own_fence ? read : none, narrow = none;
  for (const std::size_t each : fences_of_later) {
    if (acquired != none) break;
    if (each < read || event_of(each).rank != seen.rank || !event_of(each).reads) continue;
    if (made.by_own_fence && !event_of(each).acquires) continue;
    if (is_too_narrow(event_of(each))) {
      if (narrow == none) narrow = each;
    } else {
      acquired = each;
    }
  }
  if (acquired == none) {
    if (narrow == none) lacks.add(diagnosis::missing_acquire);
    if (narrow != none) note_narrow(made, narrow);
    acquired = narrow;
  }
  std::size_t barrier = none;
  if (seen.rank != later.rank) {
    barrier =
        first_common(barriers_of_later, acquired == none ? read : acquired, seen.rank, later.rank);
    if (barrier == none) lacks.add(diagnosis::missing_barrier_after);
  }
  add_steps(made, {read, acquired, barrier}, true);
}

way synchronization_log::search::over(std::size_t write, std::size_t read) const {
  const auto named = [&](std::size_t number) {
    const event& of = event_of(number);
    return synchronizing_operation{true, static_cast<bool>(of.is_volatile), of.rank, {}, of.place,
                                   {}};
  };
  way made;
  made.released = named(write);
  made.acquired = named(read);
  made.is_certain = event_of(read).epoch_since_start < read_until;
  check_release(made, write);
  check_acquire(made, read);
  check_chain(made, write, read);
  return made;
}

template <class Use>
void synchronization_log::search::each_pair(Use use) const {
  for (const std::size_t read : reads) {
    const event& seen = event_of(read);
    if (seen.where == excluded || (same_block && seen.rank != later.rank)) continue;
    const auto found = writes.find(seen.where);
    if (found == writes.end()) continue;
    const std::size_t end = end_of_seen(read);
    for (const std::size_t write : found->second) {
      if (write >= end) break;
      const event& written = event_of(write);
      if (written.epoch_since_start < begin_of_stretch || log.block_of(written) != earlier.block)
        continue;
      const bool by_itself = written.rank == earlier.rank;
      if (by_itself ? written.epoch_since_start < earlier_at : same_block && !by_others) continue;
      if (by_others && (by_itself || written.rank == later.rank)) continue;
      if (use(write, read)) return;
    }
  }
}

std::optional<way> synchronization_log::search::best(const diagnosis_set& wanted) const {
  std::optional<way> least;
  int least_count = 0;
  // The first writes of each location by another thread, and by the earlier one itself: up to one
  // that releases.
  constexpr int most_tried = 8;
  std::size_t of_read = none;
  int left[2] = {};
  each_pair([&](std::size_t write, std::size_t read) {
    if (of_read != read) left[0] = left[1] = most_tried;
    of_read = read;
    int& tries = left[event_of(write).rank == earlier.rank];
    if (left[1] == 0 || tries == 0 || !has_seen(write, read)) return false;
    way made = over(write, read);
    const bool is_wanted = made.lacks == wanted;
    const int count = made.lacks.size();
    if (!least || is_wanted || count < least_count) {
      least = made;
      least_count = count;
    }
    tries = made.lacks.has(diagnosis::missing_release) ? tries - 1 : 0;
    return is_wanted;
  });
  return least;
}

std::optional<way> synchronization_log::search::ended() const {
  std::optional<way> found;
  each_pair([&](std::size_t write, std::size_t read) {
    if (has_seen(write, read)) return false;
    const event& store = event_of(next_store(write));
    if (store.what != kind::atomic || store.releases || log.block_of(store) == earlier.block) {
      return false;
    }
    way made = over(write, read);
    if (!made.lacks.empty()) return false;
    made.cause = log.step_of(store, log.block_of(store) == later.block);
    found = made;
    return true;
  });
  return found;
}

// By atomics of the two threads themselves: the one does its own before its access, and that one is
// seen by the other.
std::optional<way> synchronization_log::search::signal_before(std::uint32_t accessed_at) const {
  constexpr diagnosis_set of_relaxed_atomics = {diagnosis::missing_release,
                                                diagnosis::missing_acquire};
  std::optional<way> found;
  each_pair([&](std::size_t write, std::size_t read) {
    const event& written = event_of(write);
    if (written.rank != earlier.rank || written.epoch_since_start >= accessed_at ||
        event_of(read).rank != later.rank || !has_seen(write, read)) {
      return false;
    }
    way made = over(write, read);
    if (!made.lacks.without(of_relaxed_atomics).empty()) return false;
    made.lacks = {made.lacks.empty() ? diagnosis::access_after_release
                                     : diagnosis::write_after_signal};
    made.cause = log.step_of(event_of(read), true);
    const bool is_released = made.lacks.has(diagnosis::access_after_release);
    if (!found || is_released) found = made;
    return is_released;
  });
  return found;
}

std::optional<way> synchronization_log::find_way(thread_name earlier, epoch earlier_at,
                                                 thread_name later, const diagnosis_set& wanted,
                                                 std::uint32_t excluded) const {
  search here(*this, earlier, earlier_at, later);
  here.excluded = excluded;
  return here.best(wanted.common_with(lacks_of_ways));
}

std::optional<way> synchronization_log::find_way_of_others(thread_name earlier, epoch earlier_at,
                                                           thread_name later) const {
  search here(*this, earlier, earlier_at, later);
  here.by_others = true;
  const diagnosis_set wanted = {diagnosis::missing_barrier_before};
  const auto found = here.best(wanted);
  return found && found->lacks == wanted ? found : std::nullopt;
}

std::optional<way> synchronization_log::find_early_way(thread_name earlier, epoch earlier_at,
                                                       thread_name later, epoch now) const {
  search here(*this, later, now, earlier, since_start(earlier_at));
  const auto found = here.best({diagnosis::missing_barrier_before});
  if (found && found->lacks.has(diagnosis::missing_barrier_before) && !is_no_signal(found->lacks))
    return found;
  here.earlier_at = here.begin_of_stretch;
  return here.signal_before(since_start(now));
}

std::optional<way> synchronization_log::find_release_before(thread_name earlier, epoch earlier_at,
                                                            thread_name later) const {
  search here(*this, earlier, earlier_at, later);
  here.earlier_at = here.begin_of_stretch;
  auto found = here.best({});
  if (found && found->lacks.empty() && found->released.rank == earlier.rank) {
    found->lacks = {diagnosis::access_after_release};
    return found;
  }
  return here.signal_before(since_start(earlier_at));
}

std::optional<way> synchronization_log::find_ended_sequence(thread_name earlier, epoch earlier_at,
                                                            thread_name later) const {
  return search(*this, earlier, earlier_at, later).ended();
}

}  // namespace racecheck
