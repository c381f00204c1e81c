// SPDX-License-Identifier: MIT
#include "cpu_backend/scheduled/decisions.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/runtime/allocation_table.hpp"

namespace cpu_backend {
namespace {

constexpr int exit_unexplored = 3;
constexpr std::size_t most_events = 2000;

char letter_of(observer::access kind) {
  switch (kind) {
    case observer::access::load:
      return 'L';
    case observer::access::store:
      return 'S';
    case observer::access::update:
      return 'U';
  }
  return '?';
}

[[noreturn]] void end(const char* sentence, const char* file) {
  std::fprintf(stderr, "%s: %s\n", file, sentence);
  std::exit(2);
}

}  // namespace

decisions* decisions::active() {
  static decisions* const the_decisions = [] {
    const char* const trace = setting("LAB_PROVE_TRACE");
    return trace ? new decisions(setting("LAB_PROVE_DECISIONS"), trace) : nullptr;
  }();
  return the_decisions;
}

decisions::decisions(const char* list, const char* trace) {
  trace_ = std::fopen(trace, "w");
  if (!trace_) end("the trace can't be written.", trace);
  std::setvbuf(trace_, nullptr, _IOLBF, 0);
  if (!list) return;
  std::FILE* const file = std::fopen(list, "r");
  if (!file) end("the decisions can't be read.", list);
  unsigned long long block = 0;
  unsigned rank = 0;
  while (std::fscanf(file, "%llu.%u", &block, &rank) == 2) list_.emplace_back(block, rank);
  const bool ended = std::feof(file);
  std::fclose(file);
  if (!ended) end("a decision is block.thread, as in 2.0.", list);
}

void decisions::launch_begins(std::uint64_t blocks, std::uint64_t threads) {
  looks_.clear();
  std::fprintf(trace_, "launch %llu %llu\n", static_cast<unsigned long long>(blocks),
               static_cast<unsigned long long>(threads));
}

decisions::thread_name decisions::next(const std::vector<thread_name>& parked) {
  if (made_ >= most_events) refuse("many_events");
  if (made_ == list_.size()) {
    list_.push_back(*std::find_if(parked.begin(), parked.end(),
                                  [&](const thread_name& each) { return !waits(each); }));
  }
  const thread_name chosen = list_[made_++];
  if (std::find(parked.begin(), parked.end(), chosen) == parked.end()) refuse("no_such_decision");
  if (waits(chosen)) refuse("waits");
  return chosen;
}

bool decisions::waits(thread_name thread) const {
  const auto found = looks_.find(thread);
  return found != looks_.end() && found->second.waits;
}

// By it two runs are known to differ. A pointer is another number in each.
void decisions::print_value(const std::byte* begin, std::size_t bytes) {
  std::uintptr_t pointer = 0;
  if (bytes == sizeof pointer) std::memcpy(&pointer, begin, bytes);
  if (pointer != 0 && allocations().find(reinterpret_cast<const void*>(pointer))) {
    std::fputc('p', trace_);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) {
      std::fprintf(trace_, "%02x", std::to_integer<unsigned>(begin[i]));
    }
  }
  std::fputc('\n', trace_);
}

void decisions::accessed(thread_name by, const void* address, std::size_t bytes,
                         observer::access kind, bool changed_memory, std::uint64_t state) {
  const auto* const begin = static_cast<const std::byte*>(address);
  // Shared memory of all blocks may be at one address.
  const bool is_global = allocations().find(address).has_value();
  std::fprintf(trace_, "event %llu %u %c %lld %llu %zu ", static_cast<unsigned long long>(by.first),
               by.second, letter_of(kind), is_global ? -1LL : static_cast<long long>(by.first),
               static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)), bytes);
  print_value(begin, bytes);
  if (changed_memory) {
    looks_.erase(by);
    for (auto& [thread, seen] : looks_) {
      if (!is_global && thread.first != by.first) continue;
      const bool overlap =
          std::any_of(seen.since_change.begin(), seen.since_change.end(), [&](const look& each) {
            return each.address < begin + bytes && begin < each.address + each.bytes;
          });
      if (overlap) seen = {};
    }
  } else if (state != 0) {
    looks& mine = looks_[by];
    mine.waits =
        std::any_of(mine.since_change.begin(), mine.since_change.end(),
                    [&](const look& each) { return each.address == begin && each.state == state; });
    if (!mine.waits) mine.since_change.push_back({begin, bytes, state});
  }
}

void decisions::barrier_opened(std::uint64_t block) {
  std::fprintf(trace_, "barrier %llu\n", static_cast<unsigned long long>(block));
}

void decisions::lanes_met(std::uint64_t block, unsigned first, unsigned lanes) {
  std::fprintf(trace_, "lanes %llu %u %u\n", static_cast<unsigned long long>(block), first, lanes);
}

void decisions::refuse(const char* why) {
  std::fprintf(trace_, "refused %s\n", why);
  std::fflush(nullptr);
  _exit(exit_unexplored);
}

}  // namespace cpu_backend
