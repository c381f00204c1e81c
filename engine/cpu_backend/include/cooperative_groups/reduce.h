// SPDX-License-Identifier: MIT
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

// What reduce() takes for the well-known operations.
template <class T>
struct plus {
  T operator()(T left, T right) const { return left + right; }
};
template <class T>
struct less {
  T operator()(T left, T right) const { return right < left ? right : left; }
};
template <class T>
struct greater {
  T operator()(T left, T right) const { return left < right ? right : left; }
};
template <class T>
struct bit_and {
  T operator()(T left, T right) const { return left & right; }
};
template <class T>
struct bit_or {
  T operator()(T left, T right) const { return left | right; }
};
template <class T>
struct bit_xor {
  T operator()(T left, T right) const { return left ^ right; }
};

// Every thread of the tile gets the reduction of all their values. Called by all of them.
template <unsigned Size, class Parent, class T, class Operation>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation,
         place at = CPU_BACKEND_HERE) {
  return cpu_backend::reduce_lanes(tile.mask(), value, "cooperative_groups::reduce()", at,
                                   operation);
}

template <class T, class Operation>
T reduce(const coalesced_group& group, T value, Operation operation, place at = CPU_BACKEND_HERE) {
  return cpu_backend::reduce_lanes(group.mask(), value, "cooperative_groups::reduce()", at,
                                   operation);
}

}  // namespace cooperative_groups
