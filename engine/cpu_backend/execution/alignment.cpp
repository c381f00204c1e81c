// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/alignment.hpp"

#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

void misaligned_atomic(const volatile void* address, unsigned bytes, const place& at) {
  if (!this_multiprocessor) return;
  kernel_fault fault;
  fault.what = kernel_fault::kind::misaligned;
  fault.operand = {true, reinterpret_cast<std::uintptr_t>(address), bytes, access_kind::atomic};
  fault.called_from = at;
  this_multiprocessor->fail(fault);
}

}  // namespace cpu_backend
