// SPDX-License-Identifier: MIT
// Calls that are recorded once, and then launched together: a CUDA graph.
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace benchmarks {

inline constexpr unsigned calls_of_a_graph = 20;  // Of the rows that are measured in one.

// Throws no_such_peer if this backend has no graphs.
void require_graphs();

// Calls call(stream) once outside of any recording, which loads its kernels and throws what is
// wrong with it. Then records what `calls` (>= 1) further calls enqueue in `stream`, one after the
// other. What is returned launches all of them as one graph in the default stream, and does not
// wait; it keeps a copy of `call`, and so the memory that this owns. Errors: no_such_peer as above,
// lab::cuda_error.
std::function<void()> recorded_graph(unsigned calls, const std::function<void(cudaStream_t)>& call);

}  // namespace benchmarks
