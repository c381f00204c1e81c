// SPDX-License-Identifier: MIT
// What __global__ means in the concurrent form: nothing.
#pragma once

#define __cpu_backend_kernel__
