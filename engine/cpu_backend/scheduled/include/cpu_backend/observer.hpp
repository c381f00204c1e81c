// SPDX-License-Identifier: MIT
// What the scheduled form of the backend tells its observer. The functions are declared here
// and defined by the observer that is linked with the program; in the concurrent form they are
// empty, or never called.
//
// One OS thread runs all blocks of a launch in turn, so no two of these calls ever overlap, but
// for those about memory, which come from host threads while no launch runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "vector_types.h"

namespace cpu_backend {
struct work;  // runtime/work_order.hpp
}

namespace cpu_backend::observer {

// ---- Launches, blocks, threads.

struct launch {
  dim3 blocks;
  dim3 threads;
  place called_from;
  const void* kernel = nullptr;  // its address, if the launch knows it
  const work* given = nullptr;
};
void launch_begins(const launch& now);
// It waits for work that is not its own; from the second call on it is its turn again.
void launch_waits(const work& given);
void launch_goes_on(const work& given);
// `failed`: the kernel died, or was stopped; the backend has said why.
void launch_ends(bool failed);

struct block {
  unsigned multiprocessor = 0;  // which holds it; it holds one at a time
  std::uint64_t number = 0;     // in the grid
  uint3 index{};
  std::byte* dynamic_shared_memory = nullptr;
  std::size_t dynamic_shared_bytes = 0;
};
void block_begins(const block& begun);
void block_ends();
// From here on it is the block on `multiprocessor` that runs.
void block_runs(unsigned multiprocessor);
// From here on no block runs: what happens is the backend's own business.
void block_pauses();

// From here on it is the thread with this rank within its block that runs.
void thread_runs(unsigned rank);
// It waits, or has returned: until the next call of thread_runs, no thread runs.
void thread_pauses();
// For a signal handler: whether it is the kernel's own code that runs on this OS thread.
bool thread_is_in_kernel();

// A __shared__ variable of the running block, at its first use there; one at namespace scope, which
// the block need not use, when it begins. `type` is the compiler's text "... [with Type = int
// [32]]".
struct shared_variable {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  const char* name = "";
  const char* type = "";
  bool is_at_namespace_scope = false;
};
void shared_variable_appears(const shared_variable& variable);

// ---- Synchronisation, by the running thread.

// It comes to the block's barrier. Later barrier_opens() says that all have come, to the place
// where they all wait. A barrier that does not order memory is one inside the backend that CUDA
// does not promise.
void barrier_arrives(bool orders_memory);
void barrier_opens(const place& at);
// It comes to the barrier by another instruction than the first thread, of this rank: by another
// call of a function, or by the compiler's copy of the same call.
void barrier_reached_elsewhere(const void* from, unsigned first_rank, const void* first_from);

// The lanes `lanes` of the warp whose first thread has this rank have met, and the first of them
// came to `at`. Only __syncwarp() orders memory.
void lanes_converge(unsigned first_rank, unsigned lanes, bool orders_memory, const place& at);

// A shuffle reads the lane `source`, which does not take part: it has returned, or isn't named.
// Returns what it gets.
std::uint64_t lane_is_absent(const char* operation, unsigned source, bool has_returned,
                             const place& at, std::uint64_t value);

// The barrier of a cooperative launch: every block's first thread arrives, and passes when all
// have.
void grid_barrier_arrives();
void grid_barrier_passes();

enum class scope { block, device };  // system is device here: there is one, and the host waits

// One of acquire order publishes nothing, and one of release order receives nothing, as in C++.
enum class fence_kind { sequentially_consistent, acquire_release, acquire, release };

struct fence {
  scope within = scope::device;
  fence_kind kind = fence_kind::sequentially_consistent;
  place called_from;
};
void fenced(const fence& done);

enum class access { load, store, update };

// The running thread is about to read memory for an atomic operation, and may then change it, but
// for a load. At most 16 bytes. What is there now is what a load reads.
void atomic_begins(const void* address, std::size_t bytes, access kind,
                   bool has_thread_scope = false);

// One atomic operation, which has just happened. A compare-and-swap that fails is a load. A
// sequentially consistent operation comes as a fence and an operation that acquires and releases.
struct atomic_operation {
  const std::byte* address = nullptr;
  unsigned bytes = 0;
  access kind = access::update;
  scope within = scope::device;
  bool acquires = false;
  bool releases = false;
  place called_from;
  bool has_thread_scope = false;  // to all other threads it is a plain access
};
void atomic_done(const atomic_operation& operation);
// The same in code of the host.
void host_atomic_done(const atomic_operation& operation);
// The program does not use what the running thread's last atomic has read.
void old_value_is_unused();

// __ldg() loads it next.
void read_only_load(const void* address, std::size_t bytes, const place& at);

// A kernel's parameter promises that what is read by it is not written in this launch.
void parameter_is_read_only(const void* pointer, const char* name);

// ---- Memory. All of it comes from the host, between launches, in the order of the stream.

void memory_appears(const allocation& block, const std::byte* surroundings,
                    std::size_t surrounding_bytes);
void memory_disappears(const void* begin);
// By a copy, which may write it elsewhere.
void memory_read(const work& by, const void* begin, std::size_t bytes);
// By a copy or a fill; or it is released in the order of a stream.
void memory_written(const work& by, const void* begin, std::size_t bytes);
// The same by a copy from memory of the host.
void bytes_of_host_arrive(const void* begin, std::size_t bytes);
// A copy has taken these bytes to memory of the host.
void bytes_come_to_host(const void* to, const void* from, std::size_t bytes);
// The host has waited for all that it has given to streams.
void all_work_is_done();
// The host calls this function of the runtime, which asks something of the device; a launch is
// "launch". The name lives as long as the program.
void runtime_called(const char* function);
// As long as one lives, what is read and written on this OS thread is the backend's own doing.
class runtime_access {
 public:
  runtime_access();
  ~runtime_access();
  runtime_access(const runtime_access&) = delete;
  runtime_access& operator=(const runtime_access&) = delete;

 private:
  void* const paused_;  // the thread of a kernel that runs here
};

// As long as one lives, it is a function of the host that runs, though it was called by the
// runtime.
class host_function {
 public:
  host_function();
  ~host_function();
  host_function(const host_function&) = delete;
  host_function& operator=(const host_function&) = delete;

 private:
  const unsigned calls_of_runtime_;
};

}  // namespace cpu_backend::observer
