// SPDX-License-Identifier: MIT
// threadIdx and its like, which every .cu file has already.
#pragma once

#include "cuda_runtime.h"
