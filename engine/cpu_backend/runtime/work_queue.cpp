// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/work_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <list>
#include <thread>
#include <utility>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/context.hpp"

namespace cpu_backend::work_queue {

namespace {

using namespace std::chrono_literals;

constinit std::atomic<bool> is_empty = true;  // any host thread asks

struct left_work {
  work given;
  action does;
  bool has_begun = false;
};

// In the order in which it was given. Never destroyed: it is waited for after main().
std::list<left_work>& all() {
  static auto& the_only = *new std::list<left_work>;
  return the_only;
}

bool comes_after_one(const work& given, std::list<left_work>::iterator end) {
  return std::any_of(all().begin(), end,
                     [&](const left_work& each) { return given.after.covers(each.given.is); });
}

std::list<left_work>::iterator first_of(const work_clock& position) {
  return std::find_if(all().begin(), all().end(),
                      [&](const left_work& each) { return position.covers(each.given.is); });
}

void abandon_all() {
  while (!all().empty()) {
    left_work last = std::move(all().front());
    all().pop_front();
    (void)last.does(turn::abandon);
  }
}

// After turns: what failed in one is the device's end.
void note_turns() {
  if (faulted()) abandon_all();
  is_empty = all().empty();
}

void add(const work& given, action does, bool has_begun) {
  // A kernel that nothing can let go on is not to be left out of what is said of the program.
  [[maybe_unused]] static const int at_the_end = std::atexit(work_order::finish_all);
  all().push_back({given, std::move(does), has_begun});
  is_empty = false;
}

}  // namespace

void run(const work& given, action does) {
  // Both may happen: at once, or, in a run of `lab prove` that others are compared with, only when
  // the host waits.
  static const bool comes_late = setting("LAB_PROVE_FAILS_BY_CHANCE");
  const bool others_wait = !is_empty;
  if (comes_late) return add(given, std::move(does), false);
  if (others_wait && comes_after_one(given, all().end())) {
    return add(given, std::move(does), false);
  }
  if (does(turn::may_wait) != outcome::done) add(given, std::move(does), true);
  if (others_wait) go_on();
}

bool go_on() {
  static bool goes_on = false;  // A function of the host may give work as well.
  if (is_empty || goes_on) return false;
  goes_on = true;
  bool any_moved = false;
  for (auto each = all().begin(); each != all().end() && !faulted();) {
    if (!each->has_begun && comes_after_one(each->given, each)) {
      ++each;
      continue;
    }
    each->has_begun = true;
    const outcome came = each->does(turn::may_wait);
    any_moved |= came != outcome::waits;
    each = came == outcome::done ? all().erase(each) : std::next(each);
  }
  goes_on = false;
  note_turns();
  return any_moved;
}

namespace {

using clock = std::chrono::steady_clock;

std::chrono::duration<double> patience() {
  const bool others_may_come = !form::moves_only_when_told() || work_order::host_threads() > 1;
  return others_may_come ? patience_with_waiting() : std::chrono::duration<double>(0);
}

// Nothing can go on: it ends, or fails. What it comes after is covered, too, so it has begun.
void give_last_turn(std::list<left_work>::iterator first) {
  if (first->does(turn::last) == outcome::done) all().erase(first);
  note_turns();
}

}  // namespace

void finish(const work_clock& position) {
  auto moved = clock::now();
  while (!is_empty) {
    {
      const work_order::alone_with_device now;
      if (first_of(position) == all().end()) return;
      if (go_on()) {
        moved = clock::now();
        continue;
      }
      const auto first = first_of(position);
      if (first != all().end() && clock::now() - moved >= patience()) {
        give_last_turn(first);
        continue;
      }
    }
    std::this_thread::sleep_for(1ms);
  }
}

bool is_left_of(const work_clock& position) {
  static unsigned asked = 0;  // in vain, since then
  static clock::time_point since;
  if (is_empty) return false;
  const work_order::alone_with_device now;
  if (go_on()) asked = 0;
  if (asked++ == 0) since = clock::now();
  const auto first = first_of(position);
  if (first == all().end()) return false;
  // Who asks again and again waits as well, if not for ever.
  constexpr unsigned often = 16;
  constexpr std::chrono::duration<double> while_asking(0.5);
  if (asked < often || clock::now() - since < std::max(patience(), while_asking)) return true;
  asked = 0;
  give_last_turn(first);
  return first_of(position) != all().end();
}

}  // namespace cpu_backend::work_queue
