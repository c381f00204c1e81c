// SPDX-License-Identifier: MIT
// All that this header of the toolkit brings is there already.
#pragma once

#include "cuda_runtime.h"
