// SPDX-License-Identifier: MIT
// What `./lab run FILE.cu` includes before the file itself, as nvcc does; compiled beforehand.
#include <cuda_runtime.h>
