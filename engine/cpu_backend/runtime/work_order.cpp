// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/work_order.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/work_queue.hpp"
#include "driver_types.h"

namespace cpu_backend {

bool work_clock::covers(const work_clock& other) const {
  for (std::uint32_t i = 0; i < other.reached_.size(); ++i) {
    if (other.reached_[i] != 0 && !covers({i, other.reached_[i]})) return false;
  }
  return true;
}

void work_clock::reach(const work_position& of) {
  if (of.timeline >= reached_.size()) reached_.resize(of.timeline + 1);
  reached_[of.timeline] = std::max(reached_[of.timeline], of.number);
}

void work_clock::join(const work_clock& other) {
  for (std::uint32_t i = 0; i < other.reached_.size(); ++i) {
    if (other.reached_[i] != 0) reach({i, other.reached_[i]});
  }
}

namespace work_order {

constinit bool host_is_ahead = false;

namespace {

struct stream_line {
  work_position last;      // of its timeline
  work_clock done;         // when all of it is
  work_position given_by;  // where the host thread was that has given it the last one
  bool waits_for_default = true;
  unsigned number = 0;
};

CPU_BACKEND_BEFORE_SHARED constinit __thread work* host_thread = nullptr;
CPU_BACKEND_BEFORE_SHARED constinit __thread work* in_callback = nullptr;

struct order {
  std::mutex mutex;
  std::uint32_t next_timeline = 0;
  std::map<unsigned long long, stream_line> lines;
  std::vector<call_stack> makers;
  std::list<work> hosts;                       // of the threads that have not ended
  std::map<const void*, work*> beginning;      // of `hosts`
  std::map<const void*, work_clock> released;  // by what host threads meet at
  unsigned questions = 0;
  int threads = 1;
  bool has_had_threads = false;  // besides the first
  work_clock given;

  // In a callback, that.
  work& host() {
    if (in_callback) return *in_callback;
    if (!host_thread) host_thread = &begin_host();
    return *host_thread;
  }
  work& begin_host() {
    work& begun = hosts.emplace_back();
    begun.is = {next_timeline++, 1};
    return begun;
  }
  void end_host(const work* thread) {
    --threads;
    hosts.remove_if([&](const work& each) { return &each == thread; });
    forget_what_is_done();
  }
  // nullptr if the one that has made it is not known.
  work* take_beginning(const void* name) {
    const auto found = beginning.extract(name);
    return found ? found.mapped() : nullptr;
  }

  // What the calling host thread has come to; and what it does from here on is later.
  work_clock now() {
    work& thread = host();
    thread.after.reach(thread.is);
    if (!in_callback) ++thread.is.number;
    return thread.after;
  }
  bool knows(const work_clock& position) { return !host_is_ahead || host().after.covers(position); }
  void host_waits(const work_clock& position) {
    host().after.join(position);
    (void)now();  // What it does from here on knows more.
    forget_what_is_done();
  }
  // Where each host thread knows that all is done, all that was is before all that comes.
  void forget_what_is_done() {
    if (!host_is_ahead || in_callback) return;
    for (const work& each : hosts) {
      if (!each.after.covers(given)) return;
    }
    host_is_ahead = false;
    for (auto& [id, each] : lines) each.done = {};
    given = {};
    if (hosts.size() == 1 && !has_had_threads) hosts.front().after = {};
    observer::all_work_is_done();
  }

  stream_line& line(unsigned long long id) {
    constexpr unsigned long long of_thread = 2, of_first_thread = 1ULL << 32;
    if (id == of_thread) id = of_first_thread + host().is.timeline;
    const auto [found, is_new] = lines.try_emplace(id);
    if (is_new) {
      found->second.last.timeline = next_timeline++;
      if (id >= of_first_thread) found->second.number = stream_of_thread;
    }
    return found->second;
  }
  // Of what another host thread has given the stream, no more than what was before this call for
  // sure: else it is left to chance which of the two comes first.
  work_clock past(unsigned long long id) {
    constexpr unsigned long long of_default = 1;
    const work& thread = host();
    work_clock past;
    const auto add = [&](const stream_line& of) {
      const bool is_own = of.given_by.timeline == thread.is.timeline;
      if (is_own || thread.after.covers(of.given_by)) past.join(of.done);
    };
    add(line(id));
    if (id == of_default) {
      for (const auto& [other, each] : lines) {
        if (each.waits_for_default) add(each);
      }
    } else if (line(id).waits_for_default) {
      add(line(of_default));
    }
    return past;
  }
  const work_clock& wait(unsigned long long id, const work_clock& position) {
    stream_line& in = line(id);
    in.done.join(past(id));
    in.done.join(position);
    return in.done;
  }
};

order& the_order() {
  // Never destroyed: a program's own static objects may wait for the device after main().
  static order& the_only = *new order;
  return the_only;
}

// A process is made while another thread may be here: in the copy there is no such thread.
[[gnu::constructor]] void hold_order_in_forks() {
  const auto release = [] {
    [[maybe_unused]] const observer::runtime_access now;
    the_order().mutex.unlock();
  };
  const auto hold = [] {
    [[maybe_unused]] const observer::runtime_access now;
    the_order().mutex.lock();
  };
  pthread_atfork(hold, release, release);
}

// The order, in which no other thread is as long as this lives.
class alone_in_order {
 public:
  order* operator->() const { return &all_; }

 private:
  [[maybe_unused]] const observer::runtime_access now_{};
  order& all_ = the_order();
  const std::lock_guard<std::mutex> guard_{all_.mutex};
};

}  // namespace

void stream_is_made(unsigned long long id, bool waits_for_default) {
  const alone_in_order all;
  all->makers.push_back(call_stack::here());
  stream_line& made = all->line(id);
  made.waits_for_default = waits_for_default;
  made.number = static_cast<unsigned>(all->makers.size());
}

call_stack maker_of_stream(unsigned number) { return alone_in_order()->makers.at(number - 1); }

unsigned streams_made() { return static_cast<unsigned>(alone_in_order()->makers.size()); }

work give(cudaStream_t stream, work_kind kind) {
  const alone_in_order all;
  const unsigned long long id = stream_id(stream);
  stream_line& in = all->line(id);
  work given;
  given.kind = kind;
  given.stream = in.number;
  given.after = all->past(id);
  in.given_by = all->host().is;
  given.after.join(all->now());
  ++in.last.number;
  given.is = in.last;
  if (kind != work_kind::kernel) given.called_from = call_stack::here();
  in.done.join(given.after);
  in.done.reach(given.is);
  all->given.reach(given.is);
  host_is_ahead = true;
  return given;
}

work_clock position_of(cudaStream_t stream) { return alone_in_order()->past(stream_id(stream)); }

work_clock record(cudaStream_t stream) { return alone_in_order()->wait(stream_id(stream), {}); }

void stream_waits(cudaStream_t stream, const work_clock& position) {
  (void)alone_in_order()->wait(stream_id(stream), position);
}

bool is_done(const work_clock& position) {
  if (work_queue::is_left_of(position)) return false;
  const alone_in_order all;
  return all->knows(position) || ++all->questions % 3 == 0;
}

bool host_knows(const work_clock& position) { return alone_in_order()->knows(position); }

void host_waits_for(const work_clock& position) {
  work_queue::finish(position);
  alone_in_order()->host_waits(position);
}

void host_waits_for(const work& done) {
  work_clock position = done.after;
  position.reach(done.is);
  host_waits_for(position);
}

namespace {

work_clock all_given() { return alone_in_order()->given; }

}  // namespace

void host_waits_for_all() { host_waits_for(all_given()); }

void finish_all() { work_queue::finish(all_given()); }

int host_threads() { return alone_in_order()->threads; }

work host() { return alone_in_order()->host(); }

work host_call() {
  const alone_in_order all;
  (void)all->now();
  work made = all->host();
  made.called_from = call_stack::here();
  return made;
}

void host_releases(const void* object) {
  // Which of the two comes first at a mutex or an atomic may be otherwise.
  if (in_callback) form::used("host", "function_in_stream");
  const alone_in_order all;
  all->released[object].join(all->now());
}

void host_acquires(const void* object) {
  const alone_in_order all;
  const auto found = all->released.find(object);
  if (found != all->released.end()) all->host_waits(found->second);
}

void host_thread_begins(const void* name) {
  const alone_in_order all;
  ++all->threads;
  all->has_had_threads = true;
  // Of what is not done, a thread that has not run yet may come to use memory as well.
  work& begun = all->begin_host();
  begun.after = all->now();
  all->beginning[name] = &begun;
}

void host_thread_starts(const void* name) { host_thread = alone_in_order()->take_beginning(name); }

void host_thread_does_not_begin(const void* name) {
  const alone_in_order all;
  all->end_host(all->take_beginning(name));
}

void host_thread_ends() { alone_in_order()->end_host(std::exchange(host_thread, nullptr)); }

namespace {

std::atomic<unsigned> works_at_once = 0;  // of one thread, whose calls lead to others

std::recursive_mutex& device_mutex() {
  static auto& the_only = *new std::recursive_mutex;
  return the_only;
}

}  // namespace

alone_with_device::alone_with_device() {
  device_mutex().lock();
  ++works_at_once;
}
alone_with_device::~alone_with_device() {
  --works_at_once;
  device_mutex().unlock();
}
std::unique_lock<std::recursive_mutex> lock_device_without_work() {
  std::unique_lock lock(device_mutex(), std::defer_lock);
  // Who has it without working goes on at once.
  while (!lock.try_lock() && works_at_once == 0) std::this_thread::yield();
  return lock;
}

callback::callback(const work& given) : is_(given) { in_callback = &is_; }
callback::~callback() { in_callback = nullptr; }

bool is_in_callback() { return in_callback != nullptr; }

// The stack grows down, from what has called the function.
bool is_on_stack_of_callback(const void* address) {
  const std::less<const void*> is_below;
  return in_callback && is_below(address, in_callback) &&
         is_below(__builtin_frame_address(0), address);
}

}  // namespace work_order
}  // namespace cpu_backend
