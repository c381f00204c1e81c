// SPDX-License-Identifier: MIT
// The backend's observer: hands what the backend tells to the checker, and keeps track of the
// thread whose accesses the instrumentation reports.
#include "cpu_backend/observer.hpp"

#include "racecheck/access_log.hpp"
#include "racecheck/checker.hpp"
#include "racecheck/places.hpp"
#include "racecheck/program_end.hpp"

namespace racecheck {

constinit __thread thread_state* running_thread = nullptr;

}  // namespace racecheck

namespace cpu_backend::observer {

using racecheck::checker;
using racecheck::checker_synchronizes;
using racecheck::checker_works;
using racecheck::plain_accesses;
using racecheck::running_thread;

void launch_begins(const launch& now) {
  racecheck::include_program_end();
  checker::instance().launch_begins(now);
}
void launch_ends(bool failed) {
  plain_accesses.flush();
  running_thread = nullptr;
  checker::instance().launch_ends(failed);
}
void block_begins(const block& begun) { checker::instance().block_begins(begun); }
void block_ends() {
  plain_accesses.flush();
  running_thread = nullptr;
  checker::instance().block_ends();
}
void block_runs(unsigned multiprocessor) { checker::instance().block_runs(multiprocessor); }
void block_pauses() {
  plain_accesses.flush();
  running_thread = nullptr;
  checker::instance().block_pauses();
}
void thread_runs(unsigned rank) { running_thread = checker::instance().thread_runs(rank); }
void thread_pauses() { running_thread = nullptr; }
bool thread_is_in_kernel() { return running_thread != nullptr; }
void shared_variable_appears(const shared_variable& variable) {
  const checker_synchronizes now;
  checker::instance().shared_variable_appears(variable);
}
void barrier_arrives(bool orders_memory) {
  const checker_works now;
  checker::instance().barrier_arrives(now.thread(), orders_memory);
}
void barrier_opens() {
  const checker_synchronizes now;
  checker::instance().barrier_opens();
}
void lanes_meet(unsigned first_rank, unsigned lanes, bool orders_memory) {
  if (!orders_memory) return;
  const checker_synchronizes now;
  checker::instance().lanes_meet(first_rank, lanes);
}
void grid_barrier_arrives() {
  const checker_synchronizes now;
  checker::instance().grid_barrier_arrives(now.thread());
}
void grid_barrier_passes() {
  const checker_synchronizes now;
  checker::instance().grid_barrier_passes(now.thread());
}
void fenced(const fence& done) {
  const checker_synchronizes now;
  checker::instance().fenced(now.thread(), done.within, done.sequentially_consistent);
}
void atomic_done(const atomic_operation& operation) {
  const checker_synchronizes now;
  checker::instance().atomic_done(now.thread(), operation, racecheck::place_of(operation.at));
}
void memory_appears(const allocation& block, const std::byte* surroundings,
                    std::size_t surrounding_bytes) {
  checker::instance().memory().add_allocation(block, surroundings, surrounding_bytes);
}
void memory_disappears(const void* begin) { checker::instance().memory().remove_allocation(begin); }
void memory_written(const void* begin, std::size_t bytes) {
  checker::instance().memory().written_by_host(begin, bytes);
}

}  // namespace cpu_backend::observer
