// SPDX-License-Identifier: MIT
// What happened: the interface between the events and the race test.
//
// No two calls overlap. Those with a thread_state are of a thread of the running block.
#pragma once

#include <cstddef>
#include <span>

#include "cpu_backend/observer.hpp"
#include "racecheck/events/places.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/synchronization.hpp"

namespace racecheck {

// A plain access as it waits in the log.
struct logged_access {
  thread_state* thread = nullptr;
  const std::byte* address = nullptr;
  region* in = nullptr;
  std::size_t bytes = 0;  // all of them in the region
  place_index place = 0;
  bool writes = false;
  bool is_copy = false;  // what nothing has written may be copied
};

// By host code.
struct host_access {
  const std::byte* address = nullptr;
  std::size_t bytes = 0;
  const void* from = nullptr;
  bool writes = false;
  bool is_volatile = false, is_atomic = false;
  bool acquires = false, releases = false;
  bool is_update = false;                  // an atomic that reads, whether it writes or not
  const cpu_backend::place* at = nullptr;  // instead of `from`

  bool is_strong() const { return is_volatile || is_atomic; }
};

class event_consumer {
 public:
  // ---- Launches, blocks, threads: as cpu_backend::observer has them.
  virtual void launch_begins(const cpu_backend::observer::launch& now) = 0;
  virtual void launch_waits(const cpu_backend::work& given) = 0;
  virtual void launch_goes_on(const cpu_backend::work& given) = 0;
  virtual void launch_ends(bool failed) = 0;
  virtual void block_begins(const cpu_backend::observer::block& begun) = 0;
  virtual void block_ends() = 0;
  virtual void block_runs(unsigned multiprocessor) = 0;
  virtual void block_pauses() = 0;
  // Returns whose accesses come from here on.
  virtual thread_state* thread_runs(unsigned rank) = 0;
  virtual void shared_variable_appears(const cpu_backend::observer::shared_variable& variable) = 0;

  // ---- Synchronisation.
  virtual void barrier_arrives(thread_state& by, bool orders_memory) = 0;
  virtual void barrier_opens(place_number place) = 0;
  // Two threads come to a barrier by two instructions.
  virtual void barrier_reached_elsewhere(const thread_state& by, place_number place,
                                         unsigned first_rank, place_number first_place) = 0;
  // By __syncwarp().
  virtual void lanes_converge(unsigned first_rank, unsigned lanes, place_number place) = 0;
  virtual void grid_barrier_arrives(thread_state& by) = 0;
  virtual void grid_barrier_passes(thread_state& by) = 0;
  virtual void fenced(thread_state& by, scope within, fence_kind kind, place_number place) = 0;
  // Only where some loads get older values: see older_loads.
  virtual void atomic_begins(thread_state& by, const std::byte* address, std::size_t bytes,
                             cpu_backend::observer::access kind) = 0;
  virtual void atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                           place_number place) = 0;

  // What the last atomic of this thread has read is not used.
  virtual void old_value_is_unused(thread_state& by) = 0;

  // ---- Accesses.
  // Plain ones, all of one block, in their order. Returns whether one of them writes.
  virtual bool check(std::span<const logged_access> logged) = 0;
  // Returns whether it was a write to memory that other threads can reach.
  virtual bool volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                               place_index place, bool writes) = 0;
  // A plain one that begins in no region. Returns whether it is next to one, which is a mistake.
  virtual bool access_in_no_region(thread_state& by, const std::byte* address, std::size_t bytes,
                                   place_number place, bool writes) = 0;
  // A plain one that begins in a region and ends past it.
  virtual void access_leaves_region(thread_state& by, const std::byte* address, std::size_t bytes,
                                    place_number place, bool writes) = 0;
  // A plain write to a variable of the program in `in`, which may be a __constant__ one.
  virtual void variable_written(const thread_state& by, const region& in, const std::byte* address,
                                std::size_t bytes, place_number place) = 0;

  // A shuffle reads this lane of its warp, which has returned.
  virtual void lane_has_ended(const thread_state& by, unsigned lane, place_number place) = 0;
  // A load that promises that no thread writes there in this launch. It comes as a plain one, too.
  virtual void read_only_load(const thread_state& by, const std::byte* address, std::size_t bytes,
                              place_number place) = 0;
  // So promises the launch's parameter of this name for what is read by it.
  virtual void parameter_is_read_only(const std::byte* pointer, const char* name) = 0;

  // ---- The host's calls.
  virtual void runtime_called(const char* function) = 0;
  // The accesses of a copy or fill, of the given work.
  virtual void range_accessed(const cpu_backend::work& by, const std::byte* begin,
                              std::size_t bytes, bool writes) = 0;
  // By the host itself, while work of the device need not be done.
  virtual void host_accesses(const host_access& by) = 0;
  // It uses bytes that a copy has brought, and that nothing had written.
  virtual void host_uses_unwritten(place_number place) = 0;
  virtual void all_work_is_done() = 0;
  // Whether what runs now may run beside other work.
  virtual bool has_several_works() const = 0;
  // Memory: the regions that kernels can reach, which these calls change.
  virtual shadow_memory& memory() = 0;

 protected:
  ~event_consumer() = default;
};

// The program's only one. report/program_end.cpp says which it is.
event_consumer& consumer();

// Called after the consumer was told of a launch's end, if it is set: report/program_end.cpp does.
extern void (*launch_has_ended)();

}  // namespace racecheck
