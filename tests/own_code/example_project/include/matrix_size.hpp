// SPDX-License-Identifier: MIT
#pragma once

inline constexpr unsigned rows = 300;
inline constexpr unsigned columns = 500;
