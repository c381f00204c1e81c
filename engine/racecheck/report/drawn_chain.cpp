// SPDX-License-Identifier: MIT
#include <algorithm>

#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/merging.hpp"

namespace racecheck {
namespace {

std::string action_of(const racing_access& of) {
  const std::string manner = manner_of(of);
  return doing_of(of) + (manner.empty() ? "" : ' ' + manner);
}

bool is_barrier(const chain_step& step) {
  return step.what == chain_step::kind::barrier || step.what == chain_step::kind::warp_barrier;
}

class drawing {
 public:
  explicit drawing(const finding& of) : found_(of) {}

  drawn_chain draw() {
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
  std::size_t lane_of(const racing_access& of) {
    const char* const role = writes(of.what) ? "writes" : "reads";
    if (!of.work) return lane_of(of.block_index, of.thread_index, role);
    made_.lanes.push_back({{role}, of.block_index, of.thread_index, work_text(*of.work)});
    return made_.lanes.size() - 1;
  }
  std::size_t add_event(std::size_t lane, const char* kind, const std::string& does,
                        const source_line& at) {
    made_.events.push_back({lane, kind, does, at});
    return made_.events.size() - 1;
  }
  std::size_t add_access(std::size_t lane, const racing_access& of) {
    return add_event(lane, "access", action_of(of), of.at);
  }
  std::size_t add_fence_or_atomic(std::size_t lane, const chain_step& step);
  void add_barrier(std::size_t from_lane, std::size_t to_lane, const chain_step& step);
  void add_arrow(const char* kind, std::size_t from, std::size_t to, const diagnosis_set& lacks,
                 std::uint32_t updates_between = 0) {
    made_.arrows.push_back({kind, from, to, updates_between, lacks});
  }

  const finding& found_;
  drawn_chain made_;
};

std::size_t drawing::lane_of(const uint3& block, const uint3& thread, const std::string& role) {
  auto lane = std::find_if(made_.lanes.begin(), made_.lanes.end(), [&](const auto& each) {
    return is_same(each.block, block) && is_same(each.thread, thread);
  });
  if (lane == made_.lanes.end()) lane = made_.lanes.insert(lane, {{}, block, thread, {}});
  if (std::find(lane->roles.begin(), lane->roles.end(), role) == lane->roles.end()) {
    lane->roles.push_back(role);
  }
  return static_cast<std::size_t>(lane - made_.lanes.begin());
}

std::size_t drawing::add_fence_or_atomic(std::size_t lane, const chain_step& step) {
  if (step.what == chain_step::kind::fence) {
    return add_event(lane, "fence",
                     step.within == scope::block ? "fences at block scope" : "fences", step.at);
  }
  racing_access by;
  by.what = step.does;
  by.is_volatile = step.is_volatile;
  by.within = step.within;
  return add_event(lane, "atomic", action_of(by), step.at);
}

void drawing::add_barrier(std::size_t from_lane, std::size_t to_lane, const chain_step& step) {
  const char* const does = step.what == chain_step::kind::barrier ? "meets its block's threads"
                                                                  : "meets its warp's lanes";
  const std::size_t from = add_event(from_lane, "barrier", does, step.at);
  const std::size_t to = add_event(to_lane, "barrier", does, step.at);
  add_arrow("barrier", from, to, {});
}

void drawing::draw_way() {
  const racing_access& publisher = found_.publisher();
  const racing_access& observer = found_.observer();
  const std::size_t writer = lane_of(publisher);
  const std::size_t signaller =
      lane_of(publisher.block_index, found_.releaser.thread_index, "signals");
  const std::size_t waiter =
      lane_of(observer.block_index, found_.acquirer.thread_index, "observes");
  const std::size_t reader = lane_of(observer);

  const std::size_t published = add_access(writer, publisher);
  std::size_t released = 0, signal = 0, seen = 0, acquired = 0;
  for (const chain_step& step : found_.between.steps) {
    if (is_barrier(step)) {
      add_barrier(step.in_observers_block ? waiter : writer,
                  step.in_observers_block ? reader : signaller, step);
      continue;
    }
    const std::size_t lane = step.in_observers_block
                                 ? (step.rank == found_.acquirer.rank ? waiter : reader)
                                 : (step.rank == found_.releaser.rank ? signaller : writer);
    const std::size_t event = add_fence_or_atomic(lane, step);
    if (!step.in_observers_block && released == 0) released = event;
    if (step.in_observers_block) acquired = event;
    if (step.what == chain_step::kind::atomic) (step.in_observers_block ? seen : signal) = event;
  }
  const std::size_t observed = add_access(reader, observer);

  const auto lacking = [&](const diagnosis_set& part) { return found_.lacks.common_with(part); };
  constexpr diagnosis_set barrier_before = {diagnosis::missing_barrier_before};
  constexpr diagnosis_set barrier_after = {diagnosis::missing_barrier_after};
  constexpr diagnosis_set of_a_signal = {diagnosis::missing_acquire,
                                         diagnosis::only_a_fence_acquires,
                                         diagnosis::missing_release, diagnosis::scope_too_narrow};
  if (!lacking(barrier_before).empty()) add_arrow("barrier", published, released, barrier_before);
  // Only what comes before the release is published, and only what comes after the acquire relies
  // on it, so the arrow that exists is between these two and not between the two atomics.
  const diagnosis_set lack = lacking(of_a_signal);
  add_arrow("signal", lack.empty() ? released : signal, lack.empty() ? acquired : seen, lack,
            found_.between.updates_between);
  if (!lacking(barrier_after).empty()) add_arrow("barrier", acquired, observed, barrier_after);
  const diagnosis_set rest =
      found_.lacks.without(of_a_signal).without(barrier_before).without(barrier_after);
  if (!rest.empty()) add_arrow("order", published, observed, rest);
}

void drawing::draw_without_way() {
  const std::size_t first = lane_of(found_.first);
  const std::size_t second = lane_of(found_.second);
  if (!found_.between.steps.empty()) {
    add_barrier(first, second, found_.between.steps.front());
  }
  const std::size_t from = add_access(first, found_.first);
  const std::size_t to = add_access(second, found_.second);
  add_arrow("order", from, to, found_.codes_to_tell());
}

}  // namespace

drawn_chain chain_of(const finding& of) { return drawing(of).draw(); }

}  // namespace racecheck
