// SPDX-License-Identifier: MIT
// The checker remembers little of each word: the last write, one read or a shared set of them, the
// end of a chain of atomics. Here random programs run on it and on a shadow that remembers every
// access that there was. Both must find the first race of a program at the same access.
//
// They may differ in one thing. By the rules a thread that has seen the second of two atomic stores
// of a thread is not yet after the first one, and what that had seen; for the checker the second
// one stands for all of that.
#include <cuda_runtime.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "racecheck/races/checker.hpp"

namespace {

using namespace racecheck;
namespace observer = cpu_backend::observer;

constexpr unsigned blocks = 3, threads = 128;
constexpr std::array active = {0u, 1u, 70u, 127u};  // the threads that do something
constexpr std::size_t cells = 4;
alignas(16) std::byte memory[cells * bytes_of_cell];

fence_kind kind_of_fence(bool sequentially_consistent) {
  return sequentially_consistent ? fence_kind::sequentially_consistent
                                 : fence_kind::acquire_release;
}

struct step {
  enum class kind { plain, volatile_access, atomic, fence, barrier, warp_barrier } what{};
  unsigned block = 0, rank = 0;
  const std::byte* address = memory;
  std::size_t bytes = 4;
  bool reads = false, writes = false, acquires = false, releases = false;
  scope within = scope::device;
};

// Remembers everything, and compares all of it each time.
class full_shadow {
 public:
  full_shadow() {
    clocks_.begin_launch();
    for (unsigned block = 0; block < blocks; ++block) {
      clocks_.begin_block(blocks_[block], block, threads);
    }
  }

  // Whether a step races with an earlier one, by the rules; and with one that counts for the
  // checker.
  struct verdict {
    bool by_the_rules = false, surely = false;
  };
  verdict take(const step& now) {
    block_state& block = blocks_[now.block];
    thread_state& by = block.threads[now.rank];
    switch (now.what) {
      case step::kind::fence:
        clocks_.fence(block, by, now.within, kind_of_fence(now.acquires));
        return {};
      case step::kind::barrier:
        block.arrived.clear();
        for (unsigned rank = 0; rank < threads; ++rank) block.arrived.push_back(rank);
        clocks_.barrier(block);
        return {};
      case step::kind::warp_barrier:
        clocks_.warp_barrier(block, 0, 0b11);
        return {};
      case step::kind::atomic:
        return take_atomic(now, block, by);
      default:
        return take_access(now, block, by);
    }
  }
  // The same of a step that does not happen; for an atomic that reads it is only likely.
  bool would_race(const step& now) const {
    const block_state& block = blocks_[now.block];
    return (now.reads || now.writes) && races(now, block, block.threads[now.rank]).by_the_rules;
  }

 private:
  struct earlier {
    step done;
    thread_name thread;
    epoch access_epoch = 0;
    observation seen;
    bool is_superseded = false;
  };

  static bool overlap(const step& left, const step& right) {
    return left.address < right.address + right.bytes && right.address < left.address + left.bytes;
  }
  static bool morally_strong(const step& left, const step& right) {
    return left.what == step::kind::atomic && right.what == step::kind::atomic &&
           left.address == right.address && left.bytes == right.bytes &&
           (left.block == right.block ||
            (left.within == scope::device && right.within == scope::device));
  }
  verdict races(const step& now, const block_state& block, const thread_state& by) const {
    verdict found;
    const observations& observed =
        clocks_.actual_knowledge(block, by).happened_before.observed.get();
    for (const earlier& each : all_) {
      if (!overlap(each.done, now) || !(each.done.writes || now.writes)) continue;
      if (morally_strong(each.done, now) ||
          clocks_.before(block, by, each.thread, each.access_epoch)) {
        continue;
      }
      const bool is_atomic_write = each.done.what == step::kind::atomic && each.done.writes;
      if (is_atomic_write && observed.has_observed(each.seen)) continue;
      found.by_the_rules = true;
      found.surely |= !each.is_superseded;
    }
    return found;
  }
  // What `by` wrote at the same place before, and what that had seen.
  void supersede(const step& now, thread_name by) {
    const auto is_alike = [&](const earlier& each) {
      return each.done.what == step::kind::atomic && each.done.writes &&
             each.done.within == now.within && each.done.address == now.address &&
             each.done.bytes == now.bytes;
    };
    for (const earlier& own : all_) {
      if (!is_alike(own) || own.thread != by) continue;
      for (earlier& each : all_) {
        each.is_superseded |= is_alike(each) && each.seen.chain == own.seen.chain &&
                              each.seen.position <= own.seen.position;
      }
    }
  }
  message& message_of(const step& now) {
    const auto [entry, is_new] = messages_.try_emplace({now.address, now.bytes});
    if (is_new) entry->second.location = static_cast<std::uint32_t>(messages_.size());
    return entry->second;
  }

  verdict take_access(const step& now, block_state& block, thread_state& by) {
    const verdict found = races(now, block, by);
    const epoch at = by.current_epoch;
    if (now.writes) {
      for (auto& [where, carries] : messages_) {
        const auto cell_of = [](const std::byte* address) { return (address - memory) / 4; };
        const auto cell = cell_of(where.first);
        if (cell_of(now.address) <= cell && cell <= cell_of(now.address + now.bytes - 1)) {
          clocks_.weak_write(block, by, carries);
        }
      }
    }
    if (now.what == step::kind::volatile_access) {
      if (now.writes) {
        clocks_.strong_write(block, by, message_of(now), scope::device, false, false);
      } else {
        clocks_.strong_read(block, by, message_of(now), scope::device, false, false);
      }
    }
    all_.push_back({now, by.name, at, {}, false});
    return found;
  }

  verdict take_atomic(const step& now, block_state& block, thread_state& by) {
    message& carries = message_of(now);
    const auto read = [&] {
      clocks_.strong_read(block, by, carries, now.within, now.acquires, now.writes);
    };
    if (now.reads && (now.acquires || now.writes)) read();
    const verdict found = races(now, block, by);
    if (now.reads && !now.acquires && !now.writes) read();
    const epoch at = by.current_epoch;
    if (now.writes) {
      clocks_.strong_write(block, by, carries, now.within, now.releases, now.reads);
    }
    if (now.writes) supersede(now, by.name);
    all_.push_back({now, by.name, at, carries.last_write(), false});
    return found;
  }

  launch_clocks clocks_;
  std::array<block_state, blocks> blocks_;
  std::vector<earlier> all_;
  std::map<std::pair<const std::byte*, std::size_t>, message> messages_;
};

// One for all programs: what an earlier one has left must not count.
class real_checker {
 public:
  real_checker() {
    checker_.memory().add_allocation({memory, sizeof memory, cpu_backend::memory_kind::managed},
                                     nullptr, 0);
  }
  ~real_checker() {
    end_program();
    checker_.memory().remove_allocation(memory);
  }
  real_checker(const real_checker&) = delete;
  real_checker& operator=(const real_checker&) = delete;

  void begin_program() {
    end_program();
    static const cpu_backend::work given;
    checker_.launch_begins({{blocks}, {threads}, {}, nullptr, &given});
    for (unsigned block = 0; block < blocks; ++block) {
      checker_.block_begins({block, block, {block, 0, 0}, nullptr, 0});
    }
  }

  bool take(const step& now) {
    const std::size_t found = checker_.findings().size();
    checker_.block_runs(now.block);
    thread_state& by = *checker_.thread_runs(now.rank);
    const auto address = const_cast<std::byte*>(now.address);
    switch (now.what) {
      case step::kind::fence:
        checker_.fenced(by, now.within, kind_of_fence(now.acquires), 1);
        break;
      case step::kind::barrier:
        for (unsigned rank = 0; rank < threads; ++rank) {
          checker_.barrier_arrives(*checker_.thread_runs(rank), true);
        }
        checker_.barrier_opens(1);
        break;
      case step::kind::warp_barrier:
        checker_.lanes_converge(0, 0b11, 1);
        break;
      case step::kind::atomic:
        checker_.atomic_done(by,
                             {address,
                              static_cast<unsigned>(now.bytes),
                              !now.writes  ? observer::access::load
                              : !now.reads ? observer::access::store
                                           : observer::access::update,
                              now.within,
                              now.acquires,
                              now.releases,
                              {}},
                             1);
        break;
      case step::kind::volatile_access:
        checker_.volatile_access(by, address, now.bytes, 0, now.writes);
        break;
      case step::kind::plain: {
        const logged_access logged{&by,       address, checker_.memory().find(address),
                                   now.bytes, 0,       now.writes};
        checker_.check({&logged, 1});
      }
    }
    return checker_.findings().size() != found;
  }

 private:
  void end_program() {
    checker_.launch_ends(false);
    checker_.all_work_is_done();
    checker_.forget_findings();
  }

  checker& checker_ = checker::instance();
};

step random_step(std::mt19937& random, bool wide_scopes_only, bool one_size) {
  const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  step made;
  made.block = below(blocks);
  made.rank = active[below(active.size())];
  made.within = wide_scopes_only || below(3) != 0 ? scope::device : scope::block;
  made.acquires = below(2) != 0;
  const unsigned what = below(20);
  made.what = what < 8    ? step::kind::plain
              : what < 16 ? step::kind::atomic
              : what < 17 ? step::kind::volatile_access
              : what < 18 ? step::kind::fence
              : what < 19 ? step::kind::barrier
                          : step::kind::warp_barrier;
  made.bytes = one_size ? 4 : std::size_t{1} << below(4);
  made.address = memory + made.bytes * below(static_cast<unsigned>(sizeof memory / made.bytes));
  const unsigned how = below(3);
  const bool is_access = what < 17;
  made.reads = is_access && how != 1;
  made.writes = is_access && how != 0;
  if (made.what != step::kind::atomic && made.writes) made.reads = false;
  made.releases = made.writes && below(2) != 0;
  made.acquires &= made.what != step::kind::atomic || made.reads;
  return made;
}

std::string in_words(const step& of) {
  const std::string who =
      "\nblock " + std::to_string(of.block) + " thread " + std::to_string(of.rank) + ": ";
  const std::string within = of.within == scope::block ? ", block scope" : "";
  if (of.what == step::kind::barrier) return who + "barrier";
  if (of.what == step::kind::warp_barrier) return who + "barrier of threads 0 and 1";
  if (of.what == step::kind::fence) return who + (of.acquires ? "sc fence" : "fence") + within;
  std::string text = of.what == step::kind::plain    ? "plain"
                     : of.what == step::kind::atomic ? "atomic"
                                                     : "volatile";
  if (of.reads) text += " read";
  if (of.writes) text += " write";
  if (of.acquires) text += " acquire";
  if (of.releases) text += " release";
  return who + text + " of " + std::to_string(of.bytes) + " bytes at " +
         std::to_string(of.address - memory) + within;
}

// Returns how many of the programs had a race.
unsigned compare(unsigned programs, bool wide_scopes_only, bool one_size) {
  std::mt19937 random(20251120);
  unsigned with_race = 0;
  real_checker checked;
  for (unsigned program = 0; program < programs; ++program) {
    full_shadow expected;
    checked.begin_program();
    std::string listing;
    for (unsigned i = 0; i < 150; ++i) {
      const step now = random_step(random, wide_scopes_only, one_size);
      // Most races are left out, so that programs become long.
      if (random() % 64 != 0 && expected.would_race(now)) continue;
      listing += in_words(now);
      INFO(listing);
      const full_shadow::verdict expect = expected.take(now);
      const bool races = checked.take(now);
      if (races) {
        REQUIRE(expect.by_the_rules);
        ++with_race;
        break;
      }
      REQUIRE(!expect.surely);
    }
  }
  return with_race;
}

}  // namespace

TEST_CASE("programs with accesses of one size") {
  CHECK(compare(3000, true, true) > 100);
  CHECK(compare(3000, false, true) > 100);
}

TEST_CASE("programs with accesses of all sizes") {
  CHECK(compare(3000, true, false) > 100);
  CHECK(compare(3000, false, false) > 100);
}
