// SPDX-License-Identifier: MIT
// Accesses that atomics, locks and barriers were meant to order.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "racecheck/report/atomics_in_source.hpp"
#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/naming.hpp"
#include "racecheck/report/source_structure.hpp"

namespace racecheck {
namespace {

// Whether a barrier of the block stands between an access and an atomic, by their lines or, if they
// share one, by its text.
bool is_barrier_between(const source_line& access, const source_line& barrier,
                        const source_line& atomic) {
  if (access.file != barrier.file || barrier.file != atomic.file) return false;
  if (access.line < barrier.line && barrier.line < atomic.line) return true;
  const std::size_t at = access.text.find("__syncthreads");
  const std::size_t last = last_atomic_of(access.text);
  return access.line == barrier.line && barrier.line == atomic.line && at != std::string::npos &&
         last != std::string_view::npos && at < last;
}

// The barrier that two threads of one block lack.
diagnosis barrier_between(const finding& of) {
  return same_warp(of.first, of.second) ? diagnosis::missing_syncwarp
                                        : diagnosis::missing_syncthreads;
}

// The next line after this one, of the same branch, that has the word, without its comment; empty
// if there is none near.
std::string next_line_with(std::string_view word, const source_line& after) {
  constexpr unsigned most_lines = 16;
  const source_structure& source = source_structure::of(after.file);
  for (unsigned number = after.line + 1; number <= after.line + most_lines; ++number) {
    std::string line(source.line_text(number));
    line.resize(std::min(line.size(), line.find("//")));
    if (has_name(line, "else") || line.starts_with('}')) break;  // and the function's end
    if (line.find(word) != line.npos) return line;
  }
  return "";
}

// Whether the word that has signalled is written once more after the one access, and read once
// more after the other one, as that of a seqlock is.
bool is_in_a_seqlock(const source_line& published, const source_line& observed,
                     const source_line& signal) {
  const std::string_view word = operand_of_atomic(signal.text);
  if (word.empty()) return false;
  const std::string again = next_line_with(word, published);
  return operand_of_atomic(again) == word && !takes_a_lock(again) &&
         !next_line_with(word, observed).empty();
}

// Where a thread signals, in order of the lines of the function that accesses: the release's own
// line, or calls of the functions around it.
std::vector<unsigned> lines_of_signal(const source_line& access, const source_line& release) {
  using kind = source_structure::span::kind;
  const source_structure& source = source_structure::of(access.file);
  const auto* const function = source.around(access.line, kind::function);
  const bool is_near = release.file == access.file;
  if (is_near && (!function || function->holds(release.line))) return {release.line};
  const auto* const other = source_structure::of(release.file).around(release.line, kind::function);
  if (!function || !other) return {};
  return source.calls_of(other->name, *function);
}

// Whether a loop comes round between the two: the access is before the signal in its round. (A loop
// around one compare-and-swap ends with it.)
bool comes_round(const source_line& access, const source_line& signal) {
  const source_structure& source = source_structure::of(access.file);
  const auto* const loop = source.around(access.line, source_structure::span::kind::loop);
  const std::vector<unsigned> lines = lines_of_signal(access, signal);
  return loop && !lines.empty() && std::ranges::all_of(lines, [&](unsigned each) {
           const bool ends_loop = source.around(each, source_structure::span::kind::loop) == loop &&
                                  compares_and_swaps(source.line_text(each));
           return each > access.line && loop->holds(each) && !ends_loop;
         });
}

// Whether the signal only claims its word, which the same thread changes again when it has done
// what it claimed.
bool is_claim(const source_line& signal) {
  const std::string_view word = operand_of_atomic(signal.text);
  if (word.empty() || takes_a_lock(signal.text) || !compares_and_swaps(signal.text)) return false;
  const std::string again = next_line_with(word, signal);
  return operand_of_atomic(again) == word &&
         (drops_its_result(again) || again.find(".store(") != again.npos);
}

// Of a release in another function its call is what has to be moved.
void place_release(finding& of, const std::vector<unsigned>& signals) {
  of.cause.reset();
  for (const unsigned each : signals) {
    if (of.releaser.known && each <= of.publisher().at.line) of.releaser.at.line = each;
  }
  if (of.releaser.known) of.releaser.at.file = of.publisher().at.file;
}

// Whether what the atomic has changed is looked at on another line that the same thread comes to.
bool is_looked_at_elsewhere(const source_line& atomic) {
  using kind = source_structure::span::kind;
  const std::string_view word = operand_of_atomic(atomic.text);
  const source_structure& source = source_structure::of(atomic.file);
  const auto* const function = source.around(atomic.line, kind::function);
  if (!function || word.empty()) return true;
  for (unsigned line = function->begin; line <= function->end; ++line) {
    const std::string_view text = source.line_text(line);
    if (line != atomic.line && text.find(word) != text.npos && !drops_its_result(text) &&
        !source.exclude_each_other(line, atomic.line)) {
      return true;
    }
  }
  return false;
}

// Whether a barrier between the two lines of the one race may stand between those of the other one
// as well.
bool may_share_a_barrier(const finding& one, const finding& other) {
  const std::string& file = one.first.at.file;
  for (const source_line* each : {&one.second.at, &other.first.at, &other.second.at}) {
    if (each->file != file) return false;
  }
  const auto [from, to] = std::minmax(one.first.at.line, one.second.at.line);
  const auto [begin, end] = std::minmax(other.first.at.line, other.second.at.line);
  const source_structure& source = source_structure::of(file);
  return from < to && begin < end && from <= end && begin <= to &&
         source.are_side_by_side(from, begin) && source.are_side_by_side(to, end);
}

}  // namespace

void widen_barriers(std::vector<finding>& all) {
  constexpr diagnosis_set of_warp = {diagnosis::missing_syncwarp};
  constexpr diagnosis_set of_block = {diagnosis::missing_syncthreads};
  for (finding& each : all) {
    if (each.lacks.common_with(of_warp).empty()) continue;
    const bool is_shared = std::ranges::any_of(all, [&](const finding& other) {
      return other.lacks.has(diagnosis::missing_syncthreads) && may_share_a_barrier(each, other);
    });
    if (!is_shared) continue;
    each.lacks = each.lacks.without(of_warp);
    each.lacks.add(of_block);
  }
}

void forget_idle_way(finding& of) {
  constexpr diagnosis_set of_way = {diagnosis::missing_release, diagnosis::missing_acquire,
                                    diagnosis::access_after_release, diagnosis::write_after_signal};
  if (of.what != mistake::race || of.lacks.common_with(of_way).empty()) return;
  const bool only_looks = of.releaser.known && changes_nothing(of.releaser.at.text);
  const bool drops = of.acquirer.known && !of.acquirer.is_volatile &&
                     drops_its_result(of.acquirer.at.text) &&
                     !is_looked_at_elsewhere(of.acquirer.at);
  if (!only_looks && !drops) return;
  const diagnosis_set rest =
      of.lacks.without(lacks_of_ways).without(of_way).without({diagnosis::only_a_fence_acquires});
  of.forget_way();
  of.signals_early = false;
  of.lacks = rest;
  if (!of.is_between_blocks() && rest.without(of_volatile).empty()) {
    of.lacks.add(barrier_between(of));
  }
}

void name_late_access(finding& of) {
  constexpr diagnosis_set late = {diagnosis::write_after_signal, diagnosis::access_after_release};
  if (of.lacks.common_with(late).empty()) return;
  const source_line& published = of.publisher().at;
  const source_line& observed = of.observer().at;
  // A loop that comes round does its release before the next round's accesses.
  std::vector<unsigned> signals = lines_of_signal(published, of.releaser.at);
  const bool is_later_in_source = std::ranges::any_of(signals, [&](unsigned each) {
    return each < published.line ||
           (each == published.line && goes_on_after_its_atomic(published.text));
  });
  if (of.lacks.has(diagnosis::plain_mixed_with_atomic)) {
    const std::string& atomic = of.atomic_one().at.text;
    // An atomic that waits for the plain access, or that is the signal itself, is none that would
    // come after it.
    const bool is_late = is_later_in_source && !takes_a_lock(atomic) &&
                         !has_name(atomic, "while") &&
                         operand_of_atomic(atomic) != operand_of_atomic(of.releaser.at.text);
    if (!is_late) {
      of.forget_way();
      signals.clear();
    }
    of.lacks = {is_late ? diagnosis::access_after_release : diagnosis::plain_mixed_with_atomic};
    place_release(of, signals);
    return;
  }
  const bool observer_comes_round = comes_round(observed, of.acquirer.at);
  const bool is_of_next_round = of.lacks.has(diagnosis::access_after_release) &&
                                (observer_comes_round || comes_round(published, of.releaser.at));
  // A thread that fetches by an atomic has not asked for what another one has fetched.
  const std::string& acquiring = of.acquirer.at.text;
  const std::string_view condition = condition_after("while", acquiring);
  const bool waits_for_it = !condition.empty() && variables_changed_by(condition).assigned.empty();
  const bool only_loads =
      of.cause && (of.cause->does == operation::atomic_load || of.cause->does == operation::read ||
                   waits_for_it || acquiring.find(", 0)") != std::string::npos);
  const bool is_asked_for =
      of.cause && observed.file == of.acquirer.at.file && observed.line >= of.acquirer.at.line &&
      (only_loads || has_the_same_index(of.releaser.at.text, published.text) ||
       takes_back(acquiring, of.releaser.at.text));
  // Who comes before the write reads too early; a lock says which of the two is first.
  if (of.signals_early && writes(of.publisher().what) && !writes(of.observer().what) &&
      !takes_a_lock(acquiring)) {
    of.lacks = {diagnosis::write_after_signal};
  }
  const std::vector<unsigned> taken = lines_of_signal(observed, of.acquirer.at);
  const bool is_given_back = published.file == observed.file && takes_a_lock(acquiring) &&
                             !takes_a_lock(of.releaser.at.text) &&
                             std::ranges::find_first_of(signals, taken) != signals.end() &&
                             is_later_in_source;
  if (is_given_back) {
    of.lacks = {diagnosis::lock_given_back};
  } else if (is_of_next_round && !is_in_a_seqlock(published, observed, of.releaser.at)) {
    of.forget_way();
    of.lacks = {diagnosis::missing_meeting};
    // The one that comes round is the one that has to wait.
    if (observer_comes_round) of.signals_early = !of.signals_early;
  } else if ((!is_later_in_source && !is_of_next_round) ||
             (of.lacks.has(diagnosis::write_after_signal) && !is_asked_for)) {
    of.forget_way();
    of.signals_early = false;
  } else if (is_in_a_seqlock(published, observed, of.releaser.at)) {
    of.lacks = {diagnosis::read_between_two_signals};
    of.older_load.reset();
  } else if (writes(of.publisher().what) && !writes(of.observer().what) &&
             is_claim(of.releaser.at)) {
    of.lacks = {diagnosis::observed_too_early};
  } else if (!writes(of.publisher().what) || writes(of.observer().what)) {
    of.lacks = {diagnosis::access_after_release};
  }
  place_release(of, signals);
}

void name_race_in_block(finding& of) {
  if (of.what != mistake::race || of.is_between_blocks()) return;
  constexpr diagnosis_set signal = {diagnosis::missing_release, diagnosis::missing_acquire};
  constexpr diagnosis_set before = {diagnosis::missing_barrier_before};
  const std::string& acquiring = of.acquirer.at.text;
  if (of.lacks.common_with(signal) == signal &&
      of.lacks.without(signal).without(of_volatile).empty() &&
      (!of.acquirer.known || drops_its_result(acquiring))) {
    // Such an atomic only happened to lie between the two.
    of.forget_way();
    of.lacks.add(barrier_between(of));
  } else if (of.first.is_volatile && of.second.is_volatile && waits_plainly(of.reader().at.text) &&
             !source_structure::of(of.reader().at.file).loop_has_barrier(of.reader().at.line)) {
    of.lacks = {diagnosis::volatile_is_no_synchronisation};
  } else if (!of.lacks.common_with(missing_barriers).empty() && of.acquirer.known) {
    if (waits_at_a_barrier(acquiring)) {
      of.lacks = {diagnosis::missing_arrival};
    } else if (of.in_two_branches && has_name(acquiring, "while") && !takes_a_lock(acquiring)) {
      of.lacks = before;
    } else {
      of.releaser = of.acquirer = {};
    }
  }
}

void name_cause(finding& of) {
  if (!of.cause) return;
  const bool has_barrier = of.cause->what == chain_step::kind::barrier &&
                           is_barrier_between(of.publisher().at, of.cause->at, of.releaser.at);
  if (has_barrier && of.lacks.has(diagnosis::missing_barrier_before)) {
    // Then what has signalled belongs to the round before, and its reader has not waited.
    of.forget_way();
    return;
  }
  const racing_access& other = of.cause->in_observers_block ? of.first : of.second;
  const diagnosis_set rest = of.lacks.without(lost_update).without(of_volatile);
  // In a block a barrier may be what is missing, before all that the lock is for or after it.
  const bool may_lack_the_lock =
      rest.empty() || (rest.without(missing_barriers).empty() && writes(other.what) &&
                       (of.in_two_branches || only_updates(other.at.text)));
  if (!may_lack_the_lock) return;
  const bool second_locks = of.cause_of_second && takes_a_lock(of.cause_of_second->at.text);
  if (takes_a_lock(of.cause->at.text)) {
    of.lacks = {second_locks ? diagnosis::different_locks : diagnosis::lock_on_one_side};
  } else if (second_locks) {
    of.lacks = {diagnosis::lock_on_one_side};
    of.cause = of.cause_of_second;
  } else {
    of.cause.reset();
  }
  of.cause_of_second.reset();
}

void name_overtaking(finding& of) {
  using kind = source_structure::span::kind;
  const source_line &read = of.first.at, &write = of.second.at;
  if (of.what != mistake::race || !of.lacks.empty() || !of.is_between_blocks() ||
      of.first.what != operation::read || of.second.what != operation::write ||
      read.file != write.file || !of.in_two_branches) {
    return;
  }
  const source_structure& source = source_structure::of(read.file);
  const auto* const reads = source.around(read.line, kind::loop);
  const auto* const writes = source.around(write.line, kind::loop);
  if (!reads || !writes) return;
  for (unsigned line = write.line + 1; line <= writes->end; ++line) {
    const std::string_view word = operand_of_atomic(source.line_text(line));
    for (unsigned wait = reads->begin; !word.empty() && wait < read.line; ++wait) {
      const std::string_view text = source.line_text(wait);
      // Of one thread alone: `while (t == 0 && ...)`.
      if (!has_name(text, "while") || text.find(word) == text.npos ||
          text.find("&&") != text.npos || !source.decides_more(wait, read.line)) {
        continue;
      }
      of.lacks = {diagnosis::missing_meeting};
      of.signals_early = true;
      return;
    }
  }
}

}  // namespace racecheck
