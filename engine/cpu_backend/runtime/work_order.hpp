// SPDX-License-Identifier: MIT
// The order that CUDA promises for the work of the host and of its streams, whenever the backend
// does it. Each stream is a timeline, and so is each host thread: what is on one comes one after
// another. How far each work knows the others to be done is a vector clock (Mattern, "Virtual time
// and global states of distributed systems", 1989).
//
// The rules are those of CUDA's documentation (programming guide, "Streams"; runtime API, "API
// synchronization behavior" and "Stream synchronization behavior"): an action in the legacy default
// stream waits for all streams that are not non-blocking, and they wait for it.
//
// May be called from any host thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/observer.hpp"
#include "driver_types.h"

namespace cpu_backend {

struct work_position {
  std::uint32_t timeline = 0;
  std::uint32_t number = 0;  // on it, from 1

  bool operator==(const work_position&) const = default;
};

class work_clock {
 public:
  bool covers(const work_position& of) const {
    return of.timeline < reached_.size() && of.number <= reached_[of.timeline];
  }
  bool covers(const work_clock& other) const;
  void reach(const work_position& of);
  void join(const work_clock& other);

 private:
  std::vector<std::uint32_t> reached_;  // by timeline; what is missing at the end is 0
};

inline constexpr unsigned stream_of_thread = ~0u;  // the default stream of a host thread

enum class work_kind { kernel, copy, fill, allocation, release, callback, host };

// A launch, an asynchronous copy, fill, allocation or release, a function of the host in a stream;
// or what the host does itself between two calls.
struct work {
  work_kind kind = work_kind::host;
  work_position is;
  work_clock after;     // what is before it
  unsigned stream = 0;  // from 1: the streams that were created; 0: a default stream, or the host
  call_stack called_from;  // but of a kernel and of the host
};

namespace work_order {

// Called for each stream once. `stream` is its id (cudaStreamGetId).
void stream_is_made(unsigned long long id, bool waits_for_default);
// Where the stream of that number was made.
call_stack maker_of_stream(unsigned number);
unsigned streams_made();

// Gives the stream work, from here.
work give(cudaStream_t stream, work_kind kind);

// What has been asked of the stream so far, where the host waits for it, and where it is recorded,
// which is work of the stream like any other; and that it waits for as much.
work_clock position_of(cudaStream_t stream);
work_clock record(cudaStream_t stream);
void stream_waits(cudaStream_t stream, const work_clock& position);

// Whether it is done, for a host thread that asks and does not wait. What it does not know to be is
// done at every third question, so that a loop that asks has an end.
bool is_done(const work_clock& position);

// Whether the calling host thread has waited for it.
bool host_knows(const work_clock& position);

// The calling host thread waits, until it is done (work_queue::finish).
void host_waits_for(const work_clock& position);
void host_waits_for(const work& done);
void host_waits_for_all();
// All work is done, and the host does not know of it.
void finish_all();

// How many host threads there are, as far as it was told.
int host_threads();
// Where the calling host thread is.
work host();
// The same, of a call that does something itself.
work host_call();
// Two host threads meet at `object`: a mutex, an atomic, a thread that ends. What the one did
// before it releases is before what the other one does after it acquires.
void host_releases(const void* object);
void host_acquires(const void* object);
// One makes another one, which comes after what it did: it begins, and then starts, which it says
// itself, or it can't be made.
void host_thread_begins(const void* name);
void host_thread_starts(const void* name);
void host_thread_does_not_begin(const void* name);
void host_thread_ends();
// Whether some work of the device need not be done yet, for all that some host thread knows.
extern constinit bool host_is_ahead;
// As long as one lives, no other host thread does work of the device.
class alone_with_device {
 public:
  alone_with_device();
  ~alone_with_device();
  alone_with_device(const alone_with_device&) = delete;
  alone_with_device& operator=(const alone_with_device&) = delete;

 private:
  // The backend's own mutexes order nothing of the program's.
  [[maybe_unused]] const observer::runtime_access now_;
};

// The same, empty if another one does.
std::unique_lock<std::recursive_mutex> lock_device_without_work();

// A function of the host that runs in a stream: as long as this lives, host() is that work.
class callback {
 public:
  explicit callback(const work& given);
  ~callback();
  callback(const callback&) = delete;
  callback& operator=(const callback&) = delete;

 private:
  work is_;
  [[maybe_unused]] const observer::host_function now_;
};

// Whether one runs on the calling thread, and whether that is a variable of it.
bool is_in_callback();
bool is_on_stack_of_callback(const void* address);

}  // namespace work_order
}  // namespace cpu_backend
