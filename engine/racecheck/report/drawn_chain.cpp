// SPDX-License-Identifier: MIT
#include "racecheck/report/drawn_chain.hpp"

#include <algorithm>

#include "racecheck/report/finding_text.hpp"

namespace racecheck {
namespace {

using names_and_remedies = std::vector<std::pair<std::string, std::string>>;

std::string action_of(operation what, bool is_volatile, scope within) {
  const std::string verb = what == operation::atomic_update ? "updates"
                           : writes(what)                   ? "writes"
                                                            : "reads";
  if (is_volatile) return verb + " (volatile)";
  if (!is_atomic(what)) return verb;
  return verb + (within == scope::block ? " atomically at block scope" : " atomically");
}

bool is_barrier(const chain_step& step) {
  return step.what == chain_step::kind::barrier || step.what == chain_step::kind::warp_barrier;
}

bool is_same(const uint3& left, const uint3& right) {
  return left.x == right.x && left.y == right.y && left.z == right.z;
}

class drawing {
 public:
  explicit drawing(const located_finding& of) : of_(of), found_(of.found) {}

  drawn_chain made() {
    if (found_.between.has_signal()) {
      draw_way();
    } else {
      draw_without_way();
    }
    return std::move(made_);
  }

 private:
  void draw_way();
  void draw_without_way();

  std::size_t lane_of(const uint3& block, const uint3& thread, const std::string& role);
  std::size_t lane_of(const party& of) {
    return lane_of(of.block_index, of.thread_index, writes(of.what) ? "writes" : "reads");
  }
  std::size_t add_event(std::size_t lane, const char* kind, const std::string& does,
                        const source_line& at) {
    made_.events.push_back({lane, kind, does, at});
    return made_.events.size() - 1;
  }
  std::size_t add_access(std::size_t lane, const party& of, const source_line& at) {
    return add_event(lane, "access", action_of(of.what, of.is_volatile, of.within), at);
  }
  std::size_t add_fence_or_atomic(std::size_t lane, const chain_step& step, const source_line& at);
  void add_barrier(std::size_t from_lane, std::size_t to_lane, const chain_step& step,
                   const source_line& at);
  void add_arrow(const char* kind, std::size_t from, std::size_t to,
                 const names_and_remedies& lacks, std::uint32_t updates_between = 0) {
    made_.arrows.push_back({kind, from, to, updates_between, lacks});
  }
  // Those of a way's ends that the program lacks.
  names_and_remedies lacking(const missing& lacks, const source_line& published,
                             const source_line& released, const source_line& observed) const;

  const located_finding& of_;
  const finding& found_;
  drawn_chain made_;
};

std::size_t drawing::lane_of(const uint3& block, const uint3& thread, const std::string& role) {
  auto lane = std::find_if(made_.lanes.begin(), made_.lanes.end(), [&](const auto& each) {
    return is_same(each.block, block) && is_same(each.thread, thread);
  });
  if (lane == made_.lanes.end()) lane = made_.lanes.insert(lane, {{}, block, thread});
  if (std::find(lane->roles.begin(), lane->roles.end(), role) == lane->roles.end()) {
    lane->roles.push_back(role);
  }
  return static_cast<std::size_t>(lane - made_.lanes.begin());
}

std::size_t drawing::add_fence_or_atomic(std::size_t lane, const chain_step& step,
                                         const source_line& at) {
  if (step.what == chain_step::kind::fence) {
    return add_event(lane, "fence",
                     step.within == scope::block ? "fences at block scope" : "fences", at);
  }
  return add_event(lane, "atomic", action_of(step.does, step.is_volatile, step.within), at);
}

void drawing::add_barrier(std::size_t from_lane, std::size_t to_lane, const chain_step& step,
                          const source_line& at) {
  const char* const does = step.what == chain_step::kind::barrier ? "meets its block's threads"
                                                                  : "meets its warp's lanes";
  const std::size_t from = add_event(from_lane, "barrier", does, at);
  const std::size_t to = add_event(to_lane, "barrier", does, at);
  add_arrow("barrier", from, to, {});
}

names_and_remedies drawing::lacking(const missing& lacks, const source_line& published,
                                    const source_line& released,
                                    const source_line& observed) const {
  const std::string signal =
      found_.releaser.known ? "the atomic at " + line_text(of_.releaser) : "the atomic";
  const std::string seen =
      found_.acquirer.known ? "the atomic at " + line_text(of_.acquirer) : "the atomic";
  const std::string not_enough =
      of_.also_between_blocks ? "; not enough, different blocks race here as well" : "";
  const std::pair<bool missing::*, std::string> remedies[] = {
      {&missing::wider_scope, "use device scope: the two threads are in two blocks"},
      {&missing::barrier_before,
       "put __syncthreads() between " + line_text(published) + " and " + line_text(released)},
      {&missing::release, "put __threadfence() before " + signal},
      {&missing::acquire, "put __threadfence() after " + seen},
      {&missing::barrier_after,
       "put __syncthreads() between " + seen + " and " + line_text(observed)},
      {&missing::syncwarp, "put __syncwarp() between the two accesses" + not_enough},
      {&missing::syncthreads, "put __syncthreads() between the two accesses" + not_enough},
      {&missing::update, "use atomicAdd(), or the atomic function that fits"},
      {&missing::volatile_is_no_atomic, "use cuda::atomic_ref"},
      {&missing::atomicity, "make both accesses atomic, or order them"},
      {&missing::unknown, "the launch has too many atomics: try it with fewer threads"},
  };
  names_and_remedies made;
  for (const auto& [member, remedy] : remedies) {
    if (!(lacks.*member)) continue;
    missing only;
    only.*member = true;
    made.emplace_back(names_of(only).front(), remedy);
  }
  return made;
}

void drawing::draw_way() {
  const missing& lacks = found_.lacks;
  const party& publisher = found_.publisher();
  const party& observer = found_.observer();
  const source_line& published_at = found_.is_hasty ? of_.second : of_.first;
  const source_line& observed_at = found_.is_hasty ? of_.first : of_.second;
  const std::size_t writer = lane_of(publisher);
  const std::size_t signaller =
      lane_of(publisher.block_index, found_.releaser.thread_index, "signals");
  const std::size_t witness =
      lane_of(observer.block_index, found_.acquirer.thread_index, "observes");
  const std::size_t reader = lane_of(observer);

  const std::size_t published = add_access(writer, publisher, published_at);
  std::size_t released = 0, signal = 0, seen = 0, acquired = 0;
  for (std::size_t i = 0; i < of_.steps.size(); ++i) {
    const chain_step& step = found_.between.steps[i];
    const source_line& at = of_.steps[i];
    if (is_barrier(step)) {
      add_barrier(step.in_observers_block ? witness : writer,
                  step.in_observers_block ? reader : signaller, step, at);
      continue;
    }
    const std::size_t lane = step.in_observers_block
                                 ? (step.rank == found_.acquirer.rank ? witness : reader)
                                 : (step.rank == found_.releaser.rank ? signaller : writer);
    const std::size_t event = add_fence_or_atomic(lane, step, at);
    if (!step.in_observers_block && released == 0) released = event;
    if (step.in_observers_block) acquired = event;
    if (step.what == chain_step::kind::atomic) (step.in_observers_block ? seen : signal) = event;
  }
  const std::size_t observed = add_access(reader, observer, observed_at);

  const source_line& released_at = made_.events[released].at;
  const auto lacking_of = [&](const missing& part) {
    return lacking(part, published_at, released_at, observed_at);
  };
  if (lacks.barrier_before) {
    add_arrow("barrier", published, released, lacking_of({.barrier_before = true}));
  }
  // Only what comes before the release is published, and only what comes after the acquire relies
  // on it, so the arrow that exists is between these two and not between the two atomics.
  const names_and_remedies lack = lacking_of(
      {.acquire = lacks.acquire, .release = lacks.release, .wider_scope = lacks.wider_scope});
  add_arrow("signal", lack.empty() ? released : signal, lack.empty() ? acquired : seen, lack,
            found_.between.updates_between);
  if (lacks.barrier_after) {
    add_arrow("barrier", acquired, observed, lacking_of({.barrier_after = true}));
  }
  missing rest = lacks;
  rest.acquire = rest.release = rest.wider_scope = rest.barrier_before = rest.barrier_after = false;
  if (rest.anything()) add_arrow("order", published, observed, lacking_of(rest));
}

void drawing::draw_without_way() {
  const std::size_t first = lane_of(found_.first);
  const std::size_t second = lane_of(found_.second);
  if (!found_.between.steps.empty()) {
    add_barrier(first, second, found_.between.steps.front(), of_.steps.front());
  }
  const std::size_t from = add_access(first, found_.first, of_.first);
  const std::size_t to = add_access(second, found_.second, of_.second);
  names_and_remedies lacks = lacking(found_.lacks, of_.first, of_.releaser, of_.second);
  if (lacks.empty()) {
    lacks.emplace_back(diagnosis_of(found_).front(),
                       found_.is_between_blocks()
                           ? "nothing tells the one block what the other one has done"
                           : "nothing orders the two accesses");
  }
  add_arrow("order", from, to, lacks);
}

}  // namespace

drawn_chain chain_of(const located_finding& of) { return drawing(of).made(); }

}  // namespace racecheck
