// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/resident_threads.hpp"

#include <algorithm>
#include <iterator>

#include "cpu_backend/form.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend {

void warp_meetings::begin_block(unsigned first_present, unsigned threads) {
  waiting_ = 0;
  for (unsigned first = 0, index = 0; first < threads; first += warp_size, ++index) {
    const auto lanes_below = [&](unsigned end) {
      return end <= first ? 0u : end >= first + warp_size ? ~0u : (1u << (end - first)) - 1;
    };
    warps_[index].returned = lanes_below(first_present) | ~lanes_below(threads);
  }
}

warp_meeting& warp_meetings::open(unsigned warp, unsigned mask, const char* operation,
                                  const place& at) {
  [[maybe_unused]] const observer::runtime_access now;
  if (free_.empty()) free_.push_back(&meetings_.emplace_back());
  free_.reserve(meetings_.size());  // leave(), which is inlined into kernels, takes no memory
  warp_meeting& meeting = *free_.back();
  free_.pop_back();
  meeting.mask = mask;
  meeting.arrived = meeting.left = 0;
  meeting.operation = operation;
  meeting.first_place = at;
  warps_[warp].open.push_back(&meeting);
  return meeting;
}

void warp_meetings::close(unsigned warp, warp_meeting& meeting, thread_queue& runnable) {
  [[maybe_unused]] const observer::runtime_access now;
  std::erase(warps_[warp].open, &meeting);
  thread_queue met;
  for (resident_thread*& waiter : meeting.waiter) {
    if (!waiter) continue;
    met.push(waiter);
    waiter = nullptr;
    --waiting_;
  }
  if (form::lets_warp_run_ahead()) {
    runnable.prepend(met);
  } else {
    runnable.append(met);
  }
}

void warp_meetings::clear() {
  waiting_ = 0;
  for (auto& of : warps_) of.open.clear();
  free_.clear();
  for (auto& meeting : meetings_) {
    std::fill(std::begin(meeting.waiter), std::end(meeting.waiter), nullptr);
    free_.push_back(&meeting);
  }
}

bool warp_meetings::hold(const void* address) const {
  const auto holds = [&](const auto* begin, std::size_t count) {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto offset = static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(begin));
    return offset < count * sizeof *begin;
  };
  return holds(free_.data(), free_.capacity()) ||
         std::any_of(meetings_.begin(), meetings_.end(),
                     [&](const warp_meeting& each) { return holds(&each, 1); });
}

fiber_pool::fiber_pool(void (*entry)()) : entry_(entry) {}

resident_thread* fiber_pool::make() {
  const auto number = static_cast<unsigned>(fibers_.size());
  resident_thread& made = fibers_.emplace_back();
  create_fiber(made.own, stacks_.emplace_back(), entry_, number);
  return &made;
}

void fiber_pool::restart_all() {
  idle_.clear();
  for (resident_thread& each : fibers_) {
    restart_fiber(each.own, entry_);
    each.reason = wait_reason::none;
    idle_.push_front(&each);
  }
}

}  // namespace cpu_backend
