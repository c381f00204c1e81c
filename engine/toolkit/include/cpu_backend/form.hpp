// SPDX-License-Identifier: MIT
// What __global__ means to C++ of the host: nothing.
#pragma once

#define __cpu_backend_kernel__
