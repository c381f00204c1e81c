// SPDX-License-Identifier: MIT
#include "cpu_backend/scheduled/decisions.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/runtime/allocations.hpp"

namespace cpu_backend {
namespace {

constexpr int exit_unexplored = 3;
constexpr std::size_t most_events = 2000;

char letter_of(observer::access kind, bool changed_memory) {
  switch (kind) {
    case observer::access::load:
      return 'L';
    case observer::access::store:
      return 'S';
    case observer::access::update:
      return changed_memory ? 'U' : 'u';
  }
  return '?';
}

// The linker hands the standard library's memory functions to the observer: what is copied here
// would be the running thread's doing. So byte by byte, which no compiler makes one of them.
std::vector<std::byte> value_at(const std::byte* address, std::size_t bytes) {
  std::vector<std::byte> value(bytes);
  const auto* const from = static_cast<const volatile std::byte*>(address);
  for (std::size_t i = 0; i < bytes; ++i) value[i] = from[i];
  return value;
}

void set_value(const void* address, const std::vector<std::byte>& value) {
  auto* const to = static_cast<volatile std::byte*>(const_cast<void*>(address));
  for (std::size_t i = 0; i < value.size(); ++i) to[i] = value[i];
}

[[noreturn]] void end(const char* sentence, const char* file) {
  std::fprintf(stderr, "%s: %s\n", file, sentence);
  std::exit(2);
}

}  // namespace

decisions* decisions::active() {
  static decisions* const the_decisions = [] {
    return setting("LAB_PROVE_TRACE") ? new decisions : nullptr;
  }();
  return the_decisions;
}

// Not before the first launch: up to there several runs may be one process.
void decisions::open() {
  const char* const list = setting("LAB_PROVE_DECISIONS");
  const char* const trace = setting("LAB_PROVE_TRACE");
  trace_ = std::fopen(trace, "w");
  if (!trace_) end("the trace can't be written.", trace);
  std::setvbuf(trace_, nullptr, _IOLBF, 0);
  if (!list) return;
  std::FILE* const file = std::fopen(list, "r");
  if (!file) end("the decisions can't be read.", list);
  char each[512];
  bool is_right = true;
  while (is_right && std::fscanf(file, "%511s", each) == 1) {
    if (std::strchr(each, ':')) {
      is_right = list_.empty() && started_.empty() && read_started(each);
      continue;
    }
    unsigned long long block = 0;
    unsigned rank = 0, which = 0;
    char rest = 0;
    const int read = std::sscanf(each, "%llu.%u/%u%c", &block, &rank, &which, &rest);
    is_right = read == 3 || (read == 2 && !std::strchr(each, '/'));
    list_.push_back({{block, rank}, read == 3 ? std::optional(which) : std::nullopt});
  }
  std::fclose(file);
  if (!is_right) {
    end("a decision is block.thread or block.thread/write; launch:block,block may come first.",
        list);
  }
}

bool decisions::read_started(const char* word) {
  char* rest = nullptr;
  limited_launch_ = std::strtoull(word, &rest, 10);
  for (char before = ':'; *rest == before; before = ',') {
    started_.insert(std::strtoull(rest + 1, &rest, 10));
  }
  return limited_launch_ != 0 && !started_.empty() && *rest == 0;
}

bool decisions::starts(std::uint64_t block) const {
  return launch_ != limited_launch_ || started_.contains(block);
}

// A kernel's thread has a small stack: lines are looked up when the launch has ended.
void decisions::used(const char* kind, const char* name, const place* at, const void* from) {
  const observer::runtime_access now;
  const std::lock_guard guard(uses_mutex_);
  // What the program does without that launch, as with variables that no copy has written.
  if (launch_was_left_ && !this_multiprocessor) return;
  if (!known_uses_.insert({kind, name}).second) return;
  static const bool with_places = setting("LAB_PROVE_PLACES") != nullptr;
  uses_.push_back({kind, name, {}, {}});
  if (with_places && at) {
    uses_.back().at = *at;
  } else if (with_places && from) {
    uses_.back().calls.instructions[uses_.back().calls.count++] = from;
  } else if (with_places) {
    uses_.back().calls = call_stack::here();
  }
  if (!trace_ && std::strcmp(name, "refused") == 0) open();  // no kernel may ever be launched
  if (!this_multiprocessor) write_uses();
}

void decisions::write_uses() {
  if (!trace_) return;
  for (const use& each : uses_) {
    source_line line;
    if (each.calls.count != 0) line = line_of(each.calls);
    if (each.at.line() != 0) line = make_source_line(each.at.file(), each.at.line());
    const std::string at = line.file.empty() ? "" : line.file + ':' + std::to_string(line.line);
    std::fprintf(trace_, "[\"use\",\"%s\",\"%s\",%s]\n", each.kind, each.name,
                 quoted_in_json(at).c_str());
  }
  uses_.clear();
}

void decisions::launch_begins(std::uint64_t blocks, std::uint64_t threads, bool cooperative) {
  if (!trace_) open();
  ++launch_;
  strong_reads_.clear();
  words_.clear();
  arrived_.clear();
  turns_.clear();
  std::fprintf(trace_, "[\"launch\",%llu,%llu,%s]\n", static_cast<unsigned long long>(blocks),
               static_cast<unsigned long long>(threads), cooperative ? "true" : "false");
}

void decisions::has_waited(thread_name by, const void* word, const void* old, std::size_t bytes,
                           const place& at) {
  const observer::runtime_access now;
  if (chosen_ == 0) return;  // nobody has changed it
  const auto* const begin = static_cast<const std::byte*>(old);
  notified_waits_.push_back({name_of(word, by.first), {begin, begin + bytes}, chosen_, at});
}

void decisions::notifies(thread_name by, const void* word, bool all) {
  const observer::runtime_access now;
  const word_name name = name_of(word, by.first);
  const auto found = words_.find(name);
  if (found == words_.end()) return;
  const std::vector<write>& writes = found->second.writes;
  for (auto made = static_cast<unsigned>(writes.size()); made-- > 1;) {
    if (writes[made].by != by) continue;
    notifications_.push_back({name, made, all});
    return;
  }
}

// Whether the thread would be woken if it slept: whoever wrote what it has seen, or what is later
// in coherence order and not what it waited to see changed, has notified after that.
bool decisions::take_notification(const notified_wait& wait) {
  const auto found = words_.find(wait.of);
  if (found == words_.end()) return false;
  const word& of = found->second;
  const auto seen = std::ranges::find(of.order, wait.seen);
  const auto wakes = [&](const notification& each) {
    return each.of == wait.of && of.writes[each.after].is != wait.old &&
           std::find(seen, of.order.end(), each.after) != of.order.end();
  };
  const auto taken = std::ranges::find_if(notifications_, wakes);
  if (taken == notifications_.end()) return false;
  if (!taken->all) notifications_.erase(taken);
  return true;
}

void decisions::launch_ends(std::uint64_t left) {
  for (const notified_wait& each : notified_waits_) {
    if (!take_notification(each)) used("device", "atomic::wait()", &each.at, nullptr);
  }
  notified_waits_.clear();
  notifications_.clear();
  const std::lock_guard guard(uses_mutex_);
  write_uses();
  std::fprintf(trace_, "[\"left\",\"%016llx\"]\n", static_cast<unsigned long long>(left));
}

decisions::thread_name decisions::next(const std::vector<thread_name>& parked) {
  if (made_ >= most_events) refuse("many_events");
  if (made_ == list_.size()) {
    std::vector<thread_name> able;
    std::copy_if(parked.begin(), parked.end(), std::back_inserter(able),
                 [&](const thread_name& each) { return !waits(each); });
    const auto has_had_fewer = [&](const thread_name& one, const thread_name& other) {
      return turns_[one] < turns_[other];
    };
    list_.push_back({*std::min_element(able.begin(), able.end(), has_had_fewer), std::nullopt});
  }
  const thread_name chosen = list_[made_++].thread;
  if (std::find(parked.begin(), parked.end(), chosen) == parked.end()) refuse("no_such_decision");
  if (waits(chosen)) refuse("waits");
  ++turns_[chosen];
  return chosen;
}

bool decisions::waits(thread_name thread) const {
  const auto found = strong_reads_.find(thread);
  return found != strong_reads_.end() && found->second.waits;
}

void decisions::comes_to(thread_name by, const void* address, std::uint64_t state) {
  const auto found = strong_reads_.find(by);
  if (state == 0 || found == strong_reads_.end()) return;
  strong_reads& mine = found->second;
  const auto before = std::find_if(
      mine.since_change.begin(), mine.since_change.end(),
      [&](const strong_read& each) { return each.address == address && each.state == state; });
  mine.waits = before != mine.since_change.end();
  mine.round_begins = static_cast<std::size_t>(before - mine.since_change.begin());
  if (mine.waits) std::fputs("[\"waits\"]\n", trace_);
}

bool decisions::waits_in_vain(thread_name thread) const {
  const strong_reads& mine = strong_reads_.at(thread);
  return std::all_of(mine.since_change.begin() + static_cast<std::ptrdiff_t>(mine.round_begins),
                     mine.since_change.end(), [&](const strong_read& each) {
                       const auto at = words_.find(each.at);
                       if (at == words_.end()) return false;
                       const word& now = at->second;
                       return now.writes[now.order.back()].same_as == each.seen;
                     });
}

// ---- Values

decisions::word_name decisions::name_of(const void* address, std::uint64_t block) {
  // Shared memory of all blocks may be at one address.
  const bool is_shared = this_multiprocessor && this_multiprocessor->has_shared(address);
  return {is_shared ? static_cast<std::int64_t>(block) : -1,
          static_cast<const std::byte*>(address)};
}

decisions::word& decisions::word_at(const word_name& name, std::size_t bytes) {
  const auto after = words_.lower_bound(name);
  const std::byte* const begin = name.second;
  if (after != words_.end() && after->first == name) {
    if (after->second.bytes != bytes) refuse("mixed_sizes");
    return after->second;
  }
  if (after != words_.end() && after->first.first == name.first &&
      after->first.second < begin + bytes) {
    refuse("mixed_sizes");
  }
  if (after != words_.begin()) {
    const auto& [before, of] = *std::prev(after);
    if (before.first == name.first && begin < before.second + of.bytes) refuse("mixed_sizes");
  }
  word& made = words_[name];
  made.bytes = bytes;
  made.writes.push_back({value_at(begin, bytes), {}, 0});
  made.order.push_back(0);
  return made;
}

void decisions::access_begins(const void* address, std::size_t bytes, std::uint64_t block) {
  const observer::runtime_access now;
  const word& at = word_at(name_of(address, block), bytes);
  const std::optional<unsigned> wanted = list_[made_ - 1].write;
  if (wanted && *wanted >= at.writes.size()) refuse("no_such_decision");
  chosen_ = wanted.value_or(at.order.back());
  if (chosen_ == at.order.back()) return;
  set_value(address, at.writes[chosen_].is);
}

void decisions::written_weakly(const void* address, std::size_t bytes, std::uint64_t block) {
  const observer::runtime_access now;
  const word_name name = name_of(address, block);
  const std::byte* const end = name.second + bytes;
  for (auto each = words_.begin(); each != words_.end();) {
    const auto& [at, of] = *each;
    const bool overlap =
        at.first == name.first && at.second < end && name.second < at.second + of.bytes;
    if (overlap) {
      std::fprintf(trace_, "[\"weak\",%lld,%llu,%zu]\n", static_cast<long long>(at.first),
                   static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(at.second)),
                   of.bytes);
    }
    each = overlap ? words_.erase(each) : std::next(each);
  }
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
  std::fputs("\"]\n", trace_);
}

void decisions::accessed(thread_name by, const void* address, std::size_t bytes,
                         observer::access kind, bool changed_memory, std::uint64_t state,
                         const char* order) {
  const observer::runtime_access now;
  const auto* const begin = static_cast<const std::byte*>(address);
  const word_name name = name_of(address, by.first);
  word& at = word_at(name, bytes);
  const unsigned seen = at.writes[chosen_].same_as;
  std::fprintf(trace_, "[\"event\",%llu,%u,\"%c\",%lld,%llu,%zu,%u,\"%s\",\"",
               static_cast<unsigned long long>(by.first), by.second,
               letter_of(kind, changed_memory), static_cast<long long>(name.first),
               static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)), bytes,
               chosen_, order);
  print_value(begin, bytes);
  if (kind != observer::access::load) {
    const auto made = static_cast<unsigned>(at.writes.size());
    at.writes.push_back({value_at(begin, bytes), by, changed_memory ? made : seen});
    at.order.insert(std::next(std::find(at.order.begin(), at.order.end(), chosen_)), made);
  }
  // A plain read gets the last one in coherence order, as does the launch's end.
  set_value(address, at.writes[at.order.back()].is);
  if (changed_memory) {
    strong_reads_.erase(by);
  } else if (state != 0) {
    strong_reads_[by].since_change.push_back({begin, state, name, seen});
  }
}

void decisions::fenced(thread_name by, observer::fence_kind kind, bool at_block_scope) {
  constexpr char letters[] = {'s', 'f', 'a', 'r'};
  std::fprintf(trace_, "[\"fence\",%llu,%u,\"%c%c\"]\n", static_cast<unsigned long long>(by.first),
               by.second, letters[static_cast<std::size_t>(kind)], at_block_scope ? 'b' : 'd');
}

void decisions::barrier_opened(std::uint64_t block) {
  std::fprintf(trace_, "[\"barrier\",%llu,[", static_cast<unsigned long long>(block));
  const char* between = "";
  for (const unsigned rank : std::exchange(arrived_[block], {})) {
    std::fprintf(trace_, "%s%u", between, rank);
    between = ",";
  }
  std::fputs("]]\n", trace_);
}

void decisions::lanes_met(std::uint64_t block, unsigned first, unsigned lanes, bool orders_memory) {
  std::fprintf(trace_, "[\"lanes\",%llu,%u,%u,%d]\n", static_cast<unsigned long long>(block), first,
               lanes, orders_memory);
}

void decisions::grid_barrier_opened() { std::fputs("[\"grid\"]\n", trace_); }

void decisions::started_ones_ended() {
  launch_was_left_ = true;
  std::fputs("[\"refused\",\"unstarted\"]\n", trace_);
}

void decisions::waits_for_ever(std::uint64_t block) {
  launch_was_left_ = true;
  std::fprintf(trace_, "[\"stuck\",%llu]\n", static_cast<unsigned long long>(block));
}

void decisions::stopped_early() {
  launch_was_left_ = true;
  std::fputs("[\"refused\",\"early\"]\n", trace_);
}

void decisions::refuse(const char* why) {
  std::fprintf(trace_, "[\"refused\",\"%s\"]\n", why);
  std::fflush(nullptr);
  _exit(exit_unexplored);
}

}  // namespace cpu_backend
