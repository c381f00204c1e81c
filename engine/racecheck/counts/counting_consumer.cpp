// SPDX-License-Identifier: MIT
#include "racecheck/counts/counting_consumer.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace racecheck {

void counting_consumer::stored(const region& in, const std::byte* address, std::size_t bytes) {
  stored_.stored(in, address, bytes);
  loaded_.stored(in, address, bytes);
}

void counting_consumer::plainly_accessed(const region& in, const std::byte* address,
                                         std::size_t bytes, bool writes) {
  if (writes) {
    stored(in, address, bytes);
  } else {
    loaded_.loaded(in, address, bytes);
  }
}

void counting_consumer::launch_begins(const cpu_backend::observer::launch& now) {
  counter_.launch_begins(now);
  loaded_.launch_begins(memory());  // before memory is compared
  stored_.launch_begins(memory());
  next_.launch_begins(now);
}

void counting_consumer::launch_ends(bool failed) {
  const std::optional<std::uint64_t> unseen = stored_.unseen();
  counter_.launch_ends(failed, unseen, loaded_.launch_ends());
  next_.launch_ends(failed);
}

void counting_consumer::block_begins(const cpu_backend::observer::block& begun) {
  counter_.block_begins(begun);
  next_.block_begins(begun);
}

void counting_consumer::block_ends() {
  counter_.block_ends();
  next_.block_ends();
}

void counting_consumer::block_runs(unsigned multiprocessor) {
  counter_.block_runs(multiprocessor);
  next_.block_runs(multiprocessor);
}

void counting_consumer::block_pauses() {
  counter_.block_pauses();
  next_.block_pauses();
}

void counting_consumer::shared_variable_appears(
    const cpu_backend::observer::shared_variable& variable) {
  if (!variable.is_at_namespace_scope) counter_.shared_variable_used(variable.bytes);
  next_.shared_variable_appears(variable);
}

void counting_consumer::barrier_arrives(thread_state& by, bool orders_memory) {
  counter_.barrier_arrives(orders_memory);
  next_.barrier_arrives(by, orders_memory);
}

void counting_consumer::barrier_opens(place_number place) {
  counter_.barrier_opens();
  next_.barrier_opens(place);
}

void counting_consumer::lanes_meet(unsigned first_rank, unsigned lanes, place_number place) {
  counter_.lanes_meet();
  next_.lanes_meet(first_rank, lanes, place);
}

void counting_consumer::grid_barrier_arrives(thread_state& by) {
  counter_.grid_barrier_arrives();
  next_.grid_barrier_arrives(by);
}

void counting_consumer::fenced(thread_state& by, scope within, bool sequentially_consistent,
                               place_number place) {
  counter_.fenced(by.name.rank);
  next_.fenced(by, within, sequentially_consistent, place);
}

void counting_consumer::atomic_done(thread_state& by,
                                    const cpu_backend::observer::atomic_operation& done,
                                    place_number place) {
  if (region* in = memory().find(done.address)) {
    counter_.atomic_done(by.name.rank, *in);
    using cpu_backend::observer::access;
    if (done.kind != access::load) stored(*in, done.address, done.bytes);
    if (done.kind != access::store) loaded_.loaded(*in, done.address, done.bytes);
  }
  next_.atomic_done(by, done, place);
}

bool counting_consumer::check(std::span<const logged_access> logged) {
  for (const logged_access& each : logged) {
    counter_.accessed(each.thread->name.rank, *each.in, each.bytes, each.writes);
    plainly_accessed(*each.in, each.address, each.bytes, each.writes);
  }
  return next_.check(logged);
}

bool counting_consumer::volatile_access(thread_state& by, const std::byte* address,
                                        std::size_t bytes, site_number site, bool writes) {
  if (region* in = memory().find(address)) {
    const auto left = in->bytes - static_cast<std::size_t>(address - in->begin);
    counter_.accessed(by.name.rank, *in, std::min(bytes, left), writes);
    plainly_accessed(*in, address, std::min(bytes, left), writes);
  }
  return next_.volatile_access(by, address, bytes, site, writes);
}

}  // namespace racecheck
