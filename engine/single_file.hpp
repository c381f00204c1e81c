// SPDX-License-Identifier: MIT
// What `cudacheck run FILE.cu` includes before the file itself, as nvcc does; compiled beforehand.
#include <cuda_runtime.h>
