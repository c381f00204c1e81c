// SPDX-License-Identifier: MIT
// The driver API's header, for programs that include it and use the runtime API. The driver API
// itself is not here; translate.py says so where a program uses it.
#pragma once

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION
#define __CUDA_API_VERSION CUDART_VERSION
