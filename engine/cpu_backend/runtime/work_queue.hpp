// SPDX-License-Identifier: MIT
// The work of streams that could not be done when it was given. Mostly none is left: a launch, a
// copy or a fill is done at its call. A kernel that waits for what the host does later, or another
// stream, gives the host thread back what it has taken; what comes after that kernel waits in turn;
// and all of it goes on when work is given that may let it, or when the host waits.
//
// In which order CUDA promises what: runtime/work_order.hpp.
#pragma once

#include <functional>

#include "cpu_backend/runtime/work_order.hpp"

namespace cpu_backend::work_queue {

// What a work is to do in its turn.
enum class turn {
  may_wait,  // as much as it can
  last,      // nothing else can go on: it ends, or fails
  abandon    // it ends without having been done: the device has failed
};
enum class outcome {
  done,
  moved,  // not done, and other work may go on after what it did
  waits
};
using action = std::function<outcome(turn)>;

// Lets go on what can. True if anything moved. Any host thread, alone_with_device.
bool go_on();

// Does a work now, or once all is done that it comes after. To be called once for each work, by the
// host thread that has given it, alone_with_device since before that. `does` must keep what it
// needs; after its first outcome that is not `done` it is called again.
void run(const work& given, action does);

// Gives the stream work that perform(const work&) does at once when it is its turn, and keeps what
// it needs for that; where the device has failed, only if `always`. Any host thread.
template <class Perform>
work give(cudaStream_t stream, work_kind kind, Perform perform, bool always = false) {
  const work_order::alone_with_device now;
  const work given = work_order::give(stream, kind);
  run(given, [=](turn now) {
    if (now != turn::abandon || always) perform(given);
    return outcome::done;
  });
  return given;
}

// Returns once no work is left that `position` covers. What can't end, as no other work is left
// that could go on and no other host thread has moved it for some time (patience_with_waiting),
// fails. Not alone_with_device.
void finish(const work_clock& position);

// Whether some work that it covers is not done, after all has gone on that can. Who asks for long
// is taken to wait, as by finish().
bool is_left_of(const work_clock& position);

}  // namespace cpu_backend::work_queue
