// SPDX-License-Identifier: MIT
#include "racecheck/races/finding_collection.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "racecheck/events/places.hpp"

namespace racecheck {

namespace {

// "... [with Type = int [32]]" by g++, "... [Type = int[32]]" by clang.
std::string element_type(std::string text) {
  const auto equals = text.find("Type = ");
  if (equals == std::string::npos) return "";
  text = text.substr(equals + 7);
  if (const auto end = text.find_first_of(";"); end != std::string::npos) text.resize(end);
  if (!text.empty() && text.back() == ']') text.pop_back();
  return text;
}

// The number of elements in the first dimension, and what one has in bytes.
std::size_t elements_of(const std::string& type) {
  const auto open = type.find('[');
  return open == std::string::npos ? 0 : std::stoul(type.substr(open + 1));
}

// "bins[17]"; the offset may be outside of the array.
std::string element_text(const std::string& name, std::ptrdiff_t offset,
                         std::size_t element_bytes) {
  const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
  return name + '[' + std::to_string((offset - (offset < 0 ? bytes - 1 : 0)) / bytes) + ']';
}

// "file.cu:12". To ask the compiler takes a while, so each place is asked for once.
const std::string& line_in_words(place_number place) {
  static auto& known = *new std::map<place_number, std::string>;
  std::string& text = known[place];
  if (text.empty()) {
    const source_line at = source_lines({place}).front();
    text = at.file.empty() ? "a place that the compiler does not name"
                           : at.file + ':' + std::to_string(at.line);
  }
  return text;
}

// "values[64]" and "(int [64])"; the offset may be outside of the variable.
described_object describe_element(const region& in, std::ptrdiff_t offset) {
  const std::string type = element_type(in.type);
  const std::size_t elements = elements_of(type);
  const std::string text =
      elements == 0 ? in.name : element_text(in.name, offset, in.bytes / elements);
  return {text + " (" + type + ')', {text, std::nullopt}};
}

std::string name_of_kernels(const region& in) {
  return "a kernel's allocation at " + line_in_words(in.allocated_at);
}

}  // namespace

std::string describe_memory(const region& in) {
  switch (in.what) {
    case region::kind::shared:
    case region::kind::dynamic_shared:
      return "shared memory";
    case region::kind::managed:
      return "managed memory";
    case region::kind::pinned:
      return "pinned host memory";
    default:
      return "global memory";
  }
}

described_object describe_object(const region& in, const std::byte* address,
                                 std::size_t access_bytes) {
  const auto offset = static_cast<std::size_t>(address - in.begin);
  const auto whole = [](const std::string& text) {
    return described_object{text, {text, std::nullopt}};
  };
  const auto part_of = [&](const std::string& object, std::size_t at, std::size_t of) {
    if (access_bytes <= 1 || at % access_bytes != 0) {
      return whole(object + ", byte " + std::to_string(at) + " of " + std::to_string(of));
    }
    const std::size_t element = at / access_bytes;
    const std::string name = object + ", element " + std::to_string(element);
    const bool is_dynamic = in.what == region::kind::dynamic_shared;
    return described_object{
        name + " (" + std::to_string(access_bytes) + " bytes each) of " + std::to_string(of) +
            " bytes",
        {name, is_dynamic ? std::optional<std::uint64_t>(element) : std::nullopt}};
  };
  switch (in.what) {
    case region::kind::shared:
      return describe_element(in, static_cast<std::ptrdiff_t>(offset));
    case region::kind::dynamic_shared:
      return part_of("the launch's dynamic shared memory", offset, in.bytes);
    case region::kind::variable: {
      const variable_name variable = find_variable(address);
      if (variable.name.empty()) return whole("a variable of the program");
      if (variable.bytes <= access_bytes) return whole(variable.name);
      return part_of(variable.name, variable.offset, variable.bytes);
    }
    default:
      if (!in.name.empty())
        return whole(element_text(in.name, static_cast<std::ptrdiff_t>(offset), in.element_bytes));
      if (in.allocated_at != 0) return part_of(name_of_kernels(in), offset, in.bytes);
      return part_of("allocation " + std::to_string(in.number), offset, in.bytes);
  }
}

std::string describe_outside(const region& near, const std::byte* address,
                             std::size_t access_bytes) {
  const auto offset = address - near.begin;
  const auto size = static_cast<std::ptrdiff_t>(near.bytes);
  std::string text;
  if (near.what == region::kind::shared) {
    text = describe_element(near, offset).text;
  } else if (near.what == region::kind::dynamic_shared) {
    text = "the launch's dynamic shared memory";
  } else if (!near.name.empty()) {
    text = element_text(near.name, offset, near.element_bytes) + ", where " + near.name +
           " is an array";
  } else if (near.allocated_at != 0) {
    text = name_of_kernels(near);
  } else {
    text = "allocation " + std::to_string(near.number);
  }
  text += " of " + std::to_string(near.bytes);
  if (near.freed_at != 0) return text + " bytes, freed at " + line_in_words(near.freed_at);
  text += " bytes: ";
  const std::ptrdiff_t past_end = offset + static_cast<std::ptrdiff_t>(access_bytes) - size;
  text += std::to_string(offset < 0 ? -offset : past_end);
  text += offset < 0 ? " bytes before its begin" : " bytes past its end";
  return text;
}

namespace {

bool mixes_with_atomic(const racing_access& one, const racing_access& other) {
  return is_atomic(one.what) != is_atomic(other.what);
}

bool is_late_access(const synchronization_log::way& of) {
  return of.lacks.has(diagnosis::access_after_release);
}

}  // namespace

void name_object(finding& of, described_object as) {
  of.object = std::move(as.text);
  of.element = std::move(as.element);
}

uint3 finding_collection::index_of_thread(std::uint32_t block, std::uint32_t rank) const {
  const noted_work* const in = clocks_.works().of_block(block);
  return in ? index_of(rank, in->threads) : uint3{};
}

racing_access finding_collection::describe(thread_name thread, place_number place,
                                           operation what) const {
  racing_access made;
  made.what = what;
  made.thread = thread;
  if (const noted_work* in = clocks_.works().of_block(thread.block); in && in->threads.x != 0) {
    made.block_index = index_of(thread.block - in->first_block, in->blocks);
    made.thread_index = index_of(thread.rank, in->threads);
  }
  made.place = place;
  made.has_thread_scope = of_thread_scope_.contains(place);
  return made;
}

racing_access finding_collection::describe(cell_record of, operation what) const {
  racing_access made =
      describe({clocks_.block_of(of.access_epoch()), of.rank()}, place_at(of.place()), what);
  if (is_atomic(what)) {
    made.within = of.within();
    made.bytes = of.shape().bytes();
  }
  made.is_volatile = of.was_volatile();
  return made;
}

void finding_collection::add_race(const thread_state& by, const cell_access& now, operation now_is,
                                  cell_record earlier_record, operation earlier_is) {
  ++races_;
  const auto works = clocks_.works_of(by, earlier_record.access_epoch());
  if (works.earlier && works.later && works.earlier != works.later) {
    const bool are_kernels = works.earlier->is_kernel() && works.later->is_kernel();
    // No event and no wait orders what waits for the other one.
    const bool has_waited = works.earlier->has_waited || works.later->has_waited;
    const bool tells = (are_kernels || has_waited) &&
                       earlier_record.access_epoch() >= clocks_.launch_start() &&
                       ((are_kernels && has_waited) ||
                        tells_by_atomics(by, now, now_is, earlier_record, earlier_is));
    if (!tells) return add_race_of_works(now, now_is, earlier_record, earlier_is, works);
  }
  const racing_access earlier = describe(earlier_record, earlier_is);
  const racing_access later = describe(now.record, now_is);
  findings_at& here = findings_[{mistake::race, earlier.place, later.place}];
  const race_key key{earlier_record, later.thread, now.record.marks(), clocks_.operations()};
  // A plain access and an atomic one are told by the log.
  const bool is_mixed = mixes_with_atomic(earlier, later);
  const std::uint32_t word =
      is_mixed ? location_of(now, is_atomic(now_is) ? now.record : earlier_record, later)
      : earlier.is_volatile && later.is_volatile
          ? synchronization_log::location_of(now.in, now.begin, later.thread.block)
          : 0;
  finding* known = here.latest == key ? &here.all[here.of_latest] : nullptr;
  if (!known && !is_told_apart(here, later.thread.block, is_mixed)) {
    known = find_untold(here, by, earlier, earlier_record.access_epoch());
  }
  diagnosis_set lacks;
  std::optional<synchronization_log::way> early, other;
  if (!known) {
    ++here.diagnosed;
    lacks = diagnose(clocks_, log_, blocks_.running(), by, earlier, earlier_record.access_epoch(),
                     later, word);
    if (is_no_signal(lacks))
      lacks = lacks.without(lacks_of_ways).without({diagnosis::only_a_fence_acquires});
    // That both are volatile is no reason for what is found here.
    const diagnosis_set of_order = lacks.without(of_volatile);
    constexpr diagnosis_set of_a_signal = {diagnosis::missing_release, diagnosis::missing_acquire};
    // Relaxed volatile accesses on the way carry what they are, and tell nothing.
    const bool is_relaxed = of_order == of_a_signal && earlier.is_volatile && later.is_volatile;
    if ((of_order.empty() || is_relaxed) && earlier.thread.block != later.thread.block) {
      early = find_early_way(here, earlier, earlier_record.access_epoch(), by);
      if (is_relaxed && early && !is_late_access(*early)) early.reset();
      if (early) lacks = early->lacks;
    }
    if ((!early || !is_late_access(*early)) && of_order.without(of_a_signal).empty()) {
      other = find_other_way(earlier, earlier_record.access_epoch(), later,
                             of_order.empty() || is_relaxed);
      if (other && is_relaxed && !is_late_access(*other)) other.reset();
      if (other && early && !is_late_access(*other)) other.reset();
      if (other) {
        early.reset();
        lacks = other->lacks;
      }
    }
    constexpr diagnosis_set mixed = {diagnosis::plain_mixed_with_atomic};
    if (is_mixed && !is_atomic(earlier.what) && earlier.thread.block != later.thread.block &&
        of_order.without(of_a_signal) == mixed) {
      other = log_.find_release_before(earlier.thread, earlier_record.access_epoch(), later.thread);
      if (other && !is_late_access(*other)) other.reset();
      if (other) lacks = {diagnosis::access_after_release, diagnosis::plain_mixed_with_atomic};
    }
    known = find_same(here, lacks, earlier, later);
  }
  if (known) {
    ++known->count;
  } else {
    finding found;
    found.first = earlier;
    found.second = later;
    found.memory = describe_memory(now.in);
    name_object(found, is_of_one_element(now.bytes)
                           ? describe_object(now.in, now.begin, now.bytes)
                           : describe_object(now.in, now.address, bytes_of_cell));
    found.lacks = lacks;
    if (works.earlier && works.later && works.earlier != works.later) {
      found.first.work = name_of(*works.earlier);
      found.second.work = name_of(*works.later);
    }
    found.signals_early = early.has_value();
    found.older_load = log_.find_older_load(by.name, by.current_epoch);
    if (found.older_load) {
      found.older_load->in_observers_block = true;
    } else {
      found.older_load = log_.find_older_load(earlier.thread, earlier_record.access_epoch());
    }
    auto way = early   ? early
               : other ? other
                       : log_.find_way(earlier.thread, earlier_record.access_epoch(), later.thread,
                                       lacks, word);
    if (!way && !lacks.common_with(missing_barriers).empty()) {
      way = log_.find_way_of_others(earlier.thread, earlier_record.access_epoch(), later.thread);
    }
    if (way) name_way(found, *way);
    if (!early && !other && !found.acquirer.known && !is_mixed && !is_atomic(now_is))
      name_lock(found, earlier_record.access_epoch(), by);
    if (!found.between.has_signal() && !found.is_between_blocks()) {
      const auto barrier =
          log_.find_common_barrier(earlier.thread, earlier_record.access_epoch(), later.thread);
      found.between = {};
      if (barrier) found.between.steps.push_back(*barrier);
    }
    known = &here.all.emplace_back(std::move(found));
    ++changes_;
  }
  known->ranks.add(earlier.thread, later.thread);
  here.latest = key;
  here.of_latest = static_cast<std::size_t>(known - here.all.data());
}

// `atomic`: the access of the two that is one.
std::uint32_t finding_collection::location_of(const cell_access& now, cell_record atomic,
                                              const racing_access& by) const {
  const std::size_t bytes = std::max(atomic.shape().bytes(), bytes_of_cell);
  const std::byte* const begin =
      now.address - reinterpret_cast<std::uintptr_t>(now.address) % bytes;
  return synchronization_log::location_of(now.in, begin, by.thread.block);
}

// The lines that the diagnosis names, and the chain if the way is just what was diagnosed.
void finding_collection::name_way(finding& of, const synchronization_log::way& by) const {
  of.releaser = by.released;
  of.acquirer = by.acquired;
  of.cause = by.cause;
  for (synchronizing_operation* each : {&of.releaser, &of.acquirer}) {
    each->thread_index = index_of_thread(
        (each == &of.releaser ? of.publisher() : of.observer()).thread.block, each->rank);
  }
  const diagnosis_set& lacks = by.lacks;
  if (lacks.empty() || lacks != of.lacks.common_with(lacks_of_ways) ||
      lacks_scope_by_kind(of.first, of.second)) {
    return;
  }
  // Where nothing is missing between the two atomics, the clocks must say so as well.
  constexpr diagnosis_set of_a_signal = {diagnosis::missing_acquire, diagnosis::missing_release,
                                         diagnosis::scope_too_narrow};
  const bool signals = lacks.common_with(of_a_signal).empty();
  const block_state& running = blocks_.running();
  const bool is_confirmed =
      of.signals_early ? by.is_certain
                       : !signals || clocks_.before(running, running.threads[by.acquired_by],
                                                    by.released_by, by.released_at);
  if (is_confirmed) of.between = by.steps;
}

// A way on which no more is missing than that the access came too late for its release, or that a
// store ended what the release had begun.
std::optional<synchronization_log::way> finding_collection::find_other_way(
    const racing_access& earlier, epoch earlier_at, const racing_access& later,
    bool may_be_late) const {
  if (earlier.thread.block == later.thread.block) return std::nullopt;
  auto found = log_.find_ended_sequence(earlier.thread, earlier_at, later.thread);
  if (found) {
    found->lacks = {diagnosis::release_sequence_ended};
  } else if (may_be_late) {
    found = log_.find_release_before(earlier.thread, earlier_at, later.thread);
  }
  return found;
}

// If one of the two threads alone may hold a lock, or each another one: what would have taken it.
void finding_collection::name_lock(finding& of, epoch earlier_at, const thread_state& by) const {
  const auto of_first = log_.find_held(of.first.thread, earlier_at);
  const auto of_second = log_.find_held(by.name, by.current_epoch);
  if (!of_first && !of_second) return;
  if (of_first && of_second) {
    if (of_first->where == of_second->where) return;
    of.cause_of_second = of_second->taken;
    of.cause_of_second->in_observers_block = true;
  }
  of.cause = (of_first ? of_first : of_second)->taken;
  of.cause->in_observers_block = !of_first;
}

// It takes a search of the log: after some of them, the others count like the last one.
std::optional<synchronization_log::way> finding_collection::find_early_way(
    findings_at& in, const racing_access& earlier, epoch earlier_at, const thread_state& by) {
  if (in.searched < few_diagnosed ||
      (in.searched < most_blocks && in.blocks_searched.insert(earlier.thread.block).second)) {
    ++in.searched;
    in.early = log_.find_early_way(earlier.thread, earlier_at, by.name, by.current_epoch);
  }
  return in.early;
}

// One of the findings with this diagnosis, if there is one.
finding* finding_collection::find_same(findings_at& in, const diagnosis_set& lacks,
                                       const racing_access& earlier, const racing_access& later) {
  const bool same_block = earlier.thread.block == later.thread.block;
  const auto found = std::find_if(in.all.begin(), in.all.end(), [&](const finding& each) {
    return each.lacks == lacks && each.is_between_blocks() != same_block;
  });
  return found == in.all.end() ? nullptr : &*found;
}

// For two lines that race very often it is only worked out whether a race is worse than what is
// known already; if not, it counts as the known one that lacks most, since it was not seen that it
// lacks less. nullptr: it is worse.
finding* finding_collection::find_untold(findings_at& in, const thread_state& by,
                                         const racing_access& earlier, epoch earlier_at) {
  const auto most = std::ranges::max_element(in.all, {}, [](const finding& each) {
    return std::pair(!each.is_strict(), each.lacks.size());
  });
  if (!most->is_strict() || !clocks_.knows_all_assumptions()) return &*most;
  for (unsigned assumption = 1; assumption < assumed_repairs.size(); ++assumption) {
    if (!clocks_.before_under(assumption, blocks_.running(), by, earlier.thread, earlier_at))
      continue;
    return assumed_repairs[assumption].only_acquires() ? &*most : nullptr;
  }
  return nullptr;
}

// Each diagnosis may take all assumptions, or a search of the log. With the log, what one block has
// done stands for all of it.
bool finding_collection::is_told_apart(findings_at& in, std::uint32_t later_block, bool by_log) {
  if (!by_log && clocks_.knows_all_assumptions()) return in.diagnosed < most_diagnosed;
  return in.diagnosed < few_diagnosed ||
         (in.later_blocks.size() < most_blocks && in.later_blocks.insert(later_block).second);
}

void finding_collection::take_back_unwritten_read(place_number place) {
  const auto known = findings_.find({mistake::unwritten_read, place_number{}, place});
  if (known != findings_.end() && --known->second.all.front().count == 0) {
    findings_.erase(known);
    ++changes_;
  }
}

void finding_collection::add_unwritten_use(place_number place) {
  finding found;
  found.what = mistake::unwritten_use;
  found.second.place = place;
  found.second.work.emplace();  // the host
  found.memory = "memory of the host";
  name_object(found, {"bytes of a copy", {"bytes of a copy", {}}});
  add(std::move(found));
}

void finding_collection::add_two_barriers(thread_name first, place_number first_place,
                                          thread_name second, place_number place) {
  finding found;
  found.what = mistake::two_barriers;
  found.first = describe(first, first_place, operation::read);
  found.second = describe(second, place, operation::read);
  found.memory = "the block";
  name_object(found, {"the block's barrier", {"the block's barrier", {}}});
  add(std::move(found));
}

void finding_collection::add_misuse(mistake what, thread_name by, place_number place, operation how,
                                    const misused& of, const cell_record* write) {
  finding found;
  found.what = what;
  if (write) found.first = describe(*write, operation::write);
  if (write) found.parameter = of.name;
  found.second = describe(by, place, how);
  found.memory = of.in ? describe_memory(*of.in) : "memory of one thread";
  if (what == mistake::outside) {
    name_object(found, {describe_outside(*of.in, of.address, of.bytes), {}});
  } else if (of.in) {
    name_object(found, describe_object(*of.in, of.address, std::min<std::size_t>(of.bytes, 8)));
  } else {
    name_object(found, {of.name, {of.name, {}}});
  }
  add(std::move(found));
}

void finding_collection::add(finding found) {
  findings_at& here = findings_[{found.what, found.first.place, found.second.place}];
  if (here.all.empty()) {
    here.all.push_back(std::move(found));
    ++changes_;
  } else {
    ++here.all.front().count;
  }
}

std::vector<finding> finding_collection::all() const {
  std::vector<finding> all;
  for (const auto& [key, here] : findings_) {
    all.insert(all.end(), here.all.begin(), here.all.end());
  }
  return all;
}

}  // namespace racecheck
