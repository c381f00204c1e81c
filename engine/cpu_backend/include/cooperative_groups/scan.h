// SPDX-License-Identifier: MIT
#pragma once

#include "cooperative_groups.h"
#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

// Every thread gets the reduction of the values of the threads up to itself, in the order of their
// ranks. Called by all threads of the group.
template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, T value, Operation operation, place at = CPU_BACKEND_HERE) {
  const unsigned rank = group.thread_rank();
  T result = value;
  for (unsigned delta = 1; delta < group.num_threads(); delta *= 2) {
    const T before = group.shfl_up(result, delta, at);
    if (rank >= delta) result = static_cast<T>(operation(before, result));
  }
  return result;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value, place at = CPU_BACKEND_HERE) {
  return inclusive_scan(group, value, plus<T>(), at);
}

// The same without the thread's own value; the first one gets T().
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, T value, Operation operation, place at = CPU_BACKEND_HERE) {
  const T result = group.shfl_up(inclusive_scan(group, value, operation, at), 1, at);
  return group.thread_rank() == 0 ? T() : result;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, place at = CPU_BACKEND_HERE) {
  return exclusive_scan(group, value, plus<T>(), at);
}

}  // namespace cooperative_groups
