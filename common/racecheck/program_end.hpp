// SPDX-License-Identifier: MIT
#pragma once

namespace racecheck {

// Does nothing. A linker takes out of a library only what somebody calls, and the report at the
// program's end registers itself.
void include_program_end();

}  // namespace racecheck
