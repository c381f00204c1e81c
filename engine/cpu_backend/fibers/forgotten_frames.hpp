// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace cpu_backend {

// Tells AddressSanitizer that the frames on this stack are gone, where nobody returned from them.
void forget_frames(std::span<std::byte> stack);

}  // namespace cpu_backend
