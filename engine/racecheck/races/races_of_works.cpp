// SPDX-License-Identifier: MIT
// Races between two works that may run at the same time: see order/device_works.hpp.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding_collection.hpp"

namespace racecheck {

// As far as it is known before the report asks for lines: the name of a kernel that has one, and
// where the stream was made.
racing_work name_of(const noted_work& of) {
  using cpu_backend::work_kind;
  racing_work made;
  made.kind = of.given.kind;
  if (of.kernel) made.name = short_name(find_function(of.kernel));
  if (made.kind == work_kind::host) return made;
  made.at = made.kind == work_kind::kernel
                ? source_lines({racecheck::place_of(of.launched_at)}).front()
                : source_lines({racecheck::place_of(of.given.called_from)}).front();
  made.stream = stream_name(of.given.stream);
  return made;
}

// Whether the one kernel tells the other one by atomics what it has done, and something lacks on
// that way: then no event is meant to order the two.
bool finding_collection::tells_by_atomics(const thread_state& by, const cell_access& now,
                                          operation now_is, cell_record earlier_record,
                                          operation earlier_is) const {
  const racing_access earlier = describe(earlier_record, earlier_is);
  const racing_access later = describe(now.record, now_is);
  if (lacks_scope_by_kind(earlier, later)) return true;
  const diagnosis_set lacks = diagnose(clocks_, log_, blocks_.running(), by, earlier,
                                       earlier_record.access_epoch(), later, 0);
  return !lacks.common_with(lacks_of_ways).empty() && !is_no_signal(lacks);
}

namespace {

diagnosis diagnosis_of_works(const racing_access& earlier, const racing_access& later,
                             bool is_one_stream) {
  using cpu_backend::work_kind;
  if (later.work->kind == work_kind::release) return diagnosis::released_too_early;
  if (earlier.work->is_host() && later.work->is_host()) return diagnosis::racing_host_threads;
  if (!earlier.work->is_host() && !later.work->is_host()) {
    return is_one_stream ? diagnosis::unordered_threads : diagnosis::missing_event;
  }
  return writes(earlier.work->is_host() ? later.what : earlier.what) ? diagnosis::missing_wait
                                                                     : diagnosis::reused_too_early;
}

}  // namespace

void finding_collection::add_race_of_works(const cell_access& now, operation now_is,
                                           cell_record earlier_record, operation earlier_is,
                                           const launch_clocks::two_works& works) {
  racing_access earlier = describe(earlier_record, earlier_is);
  racing_access later = describe(now.record, now_is);
  const auto take_place = [](racing_access& of, const noted_work& in) {
    if (in.given.called_from.count != 0 && of.place == 0) of.place = place_of(in.given.called_from);
  };
  take_place(earlier, *works.earlier);
  take_place(later, *works.later);
  findings_at& here = findings_[{mistake::race, earlier.place, later.place}];
  const auto known =
      std::ranges::find_if(here.all, [](const finding& each) { return each.is_between_works(); });
  if (known != here.all.end()) {
    ++known->count;
    return;
  }
  finding found;
  found.first = std::move(earlier);
  found.second = std::move(later);
  found.first.work = name_of(*works.earlier);
  found.second.work = name_of(*works.later);
  const bool is_one_stream = works.earlier->given.is.timeline == works.later->given.is.timeline;
  if (!is_one_stream && found.first.work->stream == found.second.work->stream) {
    // Two variables of one name.
    found.first.work->stream = "stream " + std::to_string(works.earlier->given.stream);
    found.second.work->stream = "stream " + std::to_string(works.later->given.stream);
  }
  found.memory = describe_memory(now.in);
  name_object(found, now.bytes <= 16 && is_of_one_element(now.bytes)
                         ? describe_object(now.in, now.begin, now.bytes)
                         : describe_object(now.in, now.address, bytes_of_cell));
  // A wait of the host's would have no end.
  const auto awaits = [](const noted_work& kernel, const racing_access& looks,
                         const racing_access& other) {
    return kernel.has_waited && (looks.is_volatile || is_atomic(looks.what)) &&
           other.work->is_host() && writes(other.what);
  };
  const bool is_awaited = awaits(*works.earlier, found.first, found.second) ||
                          awaits(*works.later, found.second, found.first);
  found.lacks.add(is_awaited ? diagnosis::plain_on_the_host
                             : diagnosis_of_works(found.first, found.second, is_one_stream));
  here.latest = {};
  here.all.push_back(std::move(found));
  ++changes_;
}

}  // namespace racecheck
