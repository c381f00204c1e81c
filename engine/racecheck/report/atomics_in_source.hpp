// SPDX-License-Identifier: MIT
// What the text of a line tells of the atomics that stand there.
#pragma once

#include <cstddef>
#include <string_view>

namespace racecheck {

// Whether the line takes a lock, as far as its text tells: it puts a 1 where it expects a 0, until
// that has been the case.
bool takes_a_lock(std::string_view line);
bool compares_and_swaps(std::string_view line);
// Whether no thread looks at what the line's atomic returns, so that none can wait for it.
bool drops_its_result(std::string_view line);
// Whether the line's last atomic changes nothing, as atomicAdd(word, 0) does, which is a load.
bool changes_nothing(std::string_view line);
// Whether the one line's atomic takes back what the other one's adds to the same word: a thread
// that pops asks for what another one has pushed.
bool takes_back(std::string_view one, std::string_view other);
// Whether an atomic of the text updates its word.
bool has_update(std::string_view text);
// Whether the line waits at a cuda::barrier.
bool waits_at_a_barrier(std::string_view line);
// Whether a thread waits at this line, by a loop whose condition has a plain read.
bool waits_plainly(std::string_view line);
// Whether the atomic uses the same index as the element that the other line stores: keys[slot] for
// values[slot].
bool has_the_same_index(std::string_view atomic, std::string_view store);
// Where the line's last atomic begins; npos if it has none.
std::size_t last_atomic_of(std::string_view line);
// What the line's last atomic changes, as it stands there: "ref(*flag)" of ref(*flag).store(1), and
// "flag" of atomicAdd(flag, 1).
std::string_view operand_of_atomic(std::string_view line);
// Whether more accesses stand on the line after its last atomic.
bool goes_on_after_its_atomic(std::string_view line);

bool has_letter(std::string_view text);

}  // namespace racecheck
