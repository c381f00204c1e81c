// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/stream_order.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/settings.hpp"

namespace cpu_backend {
namespace {

enum class stream_order { at_the_call, first, last };

stream_order read_order() {
  const char* const text = setting("LAB_STREAM_ORDER");
  if (!text) return stream_order::at_the_call;
  const std::string_view order = text;
  if (order == "first") return stream_order::first;
  if (order == "last") return stream_order::last;
  std::fprintf(stderr, "LAB_STREAM_ORDER must be \"first\" or \"last\", not \"%s\".\n", text);
  std::exit(2);
}

stream_order order() {
  static const stream_order chosen = read_order();
  return chosen;
}

// A launch, or a wait for what another stream was asked for.
struct piece {
  std::function<void()> launch;
  place called_from{};
  std::size_t number = 0;     // of all launches, in the order of their calls
  stream_position awaited{};  // if there is no launch
};

struct held_stream {
  std::vector<piece> pieces;
  std::size_t done = 0;
  bool waits_for_default = true;
};

class held_work {
 public:
  void add(const created_stream& stream, piece what) {
    const std::lock_guard guard(lock_);
    if (what.launch) what.number = ++launches_;
    held_stream& in = streams_[stream.number];
    in.waits_for_default = stream.waits_for_default;
    in.pieces.push_back(std::move(what));
  }

  stream_position position(unsigned long long stream) {
    const std::lock_guard guard(lock_);
    return {stream, streams_[stream].pieces.size()};
  }

  void tell_of(const place& at) {
    const std::lock_guard guard(lock_);
    tell_what_it_overtakes(
        {.launch = nullptr, .called_from = at, .number = ++launches_, .awaited = {}});
  }

  void run_to(const stream_position& position) {
    const std::lock_guard guard(lock_);
    held_stream& stream = streams_[position.stream];
    // No two streams wait for each other: an event lies before the wait for it.
    while (stream.done < position.count) run(stream.pieces[stream.done++]);
  }

  void run_all() {
    const std::lock_guard guard(lock_);
    for (const stream_position& end : ends_in_order()) run_to(end);
  }

  void run_those_that_wait_for_default() {
    const std::lock_guard guard(lock_);
    for (const stream_position& end : ends_in_order()) {
      if (streams_[end.stream].waits_for_default) run_to(end);
    }
  }

  // As run_to(), but streams that go before that one do all of their work.
  void run_in_order_to(const stream_position& position) {
    const std::lock_guard guard(lock_);
    for (const stream_position& end : ends_in_order()) {
      if (!any_left_before(position)) return;
      run_to(end.stream == position.stream ? position : end);
    }
  }

  void run_in_order_to_default() {
    const std::lock_guard guard(lock_);
    for (const stream_position& end : ends_in_order()) {
      if (!any_left_before_default()) return;
      run_to(end);
    }
  }

  bool any_left_before(const stream_position& position) {
    const std::lock_guard guard(lock_);
    return streams_[position.stream].done < position.count;
  }

  bool any_left_before_default() {
    const std::lock_guard guard(lock_);
    for (const auto& [number, stream] : streams_) {
      if (stream.waits_for_default && stream.done < stream.pieces.size()) return true;
    }
    return false;
  }

  bool is_third_question() {
    const std::lock_guard guard(lock_);
    return ++questions_ % 3 == 0;
  }

  void forget() {
    const std::lock_guard guard(lock_);
    streams_.clear();
  }

 private:
  std::vector<stream_position> ends_in_order() const {
    std::vector<stream_position> ends;
    for (const auto& [number, stream] : streams_) ends.push_back({number, stream.pieces.size()});
    if (order() == stream_order::last) ends = {ends.rbegin(), ends.rend()};
    return ends;
  }

  void run(piece& what) {
    if (!what.launch) return run_to(what.awaited);
    tell_what_it_overtakes(what);
    const std::function<void()> launch = std::exchange(what.launch, nullptr);
    launch();
  }

  void tell_what_it_overtakes(const piece& what) {
    const piece* overtaken = nullptr;
    for (const auto& [number, stream] : streams_) {
      for (std::size_t place = stream.done; place < stream.pieces.size(); ++place) {
        const piece& other = stream.pieces[place];
        if (!other.launch || other.number > what.number) continue;
        if (!overtaken || other.number > overtaken->number) overtaken = &other;
      }
    }
    if (!overtaken) return;
    const diagnostic record = diagnostic("stream_order")
                                  .add("at", what.called_from)
                                  .add("overtaken_at", overtaken->called_from);
    if (told_.insert(record.sentence()).second) report(record);
  }

  // Recursive: a stream that waits for another one runs that one's work.
  std::recursive_mutex lock_;
  std::map<unsigned long long, held_stream> streams_;  // also of streams that were destroyed
  std::size_t launches_ = 0;
  std::size_t questions_ = 0;
  std::set<std::string> told_;
};

held_work& held() {
  // Never destroyed: a program's own static objects may wait for the device after main().
  static held_work& the_only = *new held_work;
  return the_only;
}

}  // namespace

bool streams_are_held() { return order() != stream_order::at_the_call; }

void hold_launch(const created_stream& stream, const place& at, std::function<void()> launch) {
  held().add(stream, {.launch = std::move(launch), .called_from = at, .awaited = {}});
}

void launch_now(cudaStream_t stream, const place& at) {
  if (!streams_are_held()) return;
  catch_up(stream);
  held().tell_of(at);
}

stream_position position_of(cudaStream_t stream) {
  if (!streams_are_held()) return {};
  const created_stream created = created_stream_of(stream);
  if (created.number == 0) {
    catch_up(stream);  // the default streams' own work is done at the call
    return {};
  }
  return held().position(created.number);
}

void wait_for_position(cudaStream_t stream, const stream_position& position) {
  if (!streams_are_held() || position.stream == 0) return;
  const created_stream created = created_stream_of(stream);
  if (created.number == 0) return held().run_to(position);
  held().add(created, {.launch = nullptr, .awaited = position});
}

void catch_up(cudaStream_t stream) {
  if (!streams_are_held()) return;
  const created_stream created = created_stream_of(stream);
  if (created.number != 0) return held().run_to(held().position(created.number));
  if (stream != cudaStreamPerThread) held().run_those_that_wait_for_default();
}

void do_held_work() {
  if (streams_are_held()) held().run_all();
}

void do_work_of(cudaStream_t stream) {
  if (!streams_are_held()) return;
  const created_stream created = created_stream_of(stream);
  if (created.number != 0) return do_work_to(held().position(created.number));
  if (stream != cudaStreamPerThread) held().run_in_order_to_default();
}

void do_work_to(const stream_position& position) {
  if (streams_are_held()) held().run_in_order_to(position);
}

bool is_busy(cudaStream_t stream) {
  if (!streams_are_held() || stream == cudaStreamPerThread) return false;
  const created_stream created = created_stream_of(stream);
  if (created.number != 0) return is_busy(held().position(created.number));
  if (!held().any_left_before_default()) return false;
  if (held().is_third_question()) do_work_of(stream);
  return true;
}

bool is_busy(const stream_position& position) {
  if (!streams_are_held() || !held().any_left_before(position)) return false;
  if (held().is_third_question()) do_work_to(position);
  return true;
}

void forget_held_work() {
  if (streams_are_held()) held().forget();
}

}  // namespace cpu_backend
