// SPDX-License-Identifier: MIT
#include "cpu_backend/fiber_switch.hpp"

#include <boost/context/detail/fcontext.hpp>

namespace cpu_backend {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

thread_local void (*fiber_entry)() = nullptr;

void begin(transfer_t left) {
  static_cast<fiber*>(left.data)->stack_pointer = left.fctx;
  fiber_entry();
}

}  // namespace

// A jump hands over the fiber that was left; only then is it known where that one stopped.
void jump_to_fiber(fiber& from, fiber& to) {
  transfer_t left = boost::context::detail::jump_fcontext(to.stack_pointer, &from);
  static_cast<fiber*>(left.data)->stack_pointer = left.fctx;
}

void begin_fiber_at(fiber& target, std::byte* top, void (*entry)()) {
  fiber_entry = entry;
  const auto bytes = static_cast<std::size_t>(top - target.stack->bottom);
  target.stack_pointer = boost::context::detail::make_fcontext(top, bytes, begin);
}

}  // namespace cpu_backend
