// SPDX-License-Identifier: MIT
// What cudaDeviceReset undoes, one function for each part of the context's state.
#pragma once

namespace cpu_backend {

void clear_fault();
void release_all_memory();
void destroy_all_streams();
void destroy_all_events();
void forget_function_attributes();

}  // namespace cpu_backend
