// SPDX-License-Identifier: MIT
// The memory of a look-back, on the host's side.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "08_look_back_scan/look_back.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace course {

// The memory of look_back<T>, on the device: ready for the first launch,
// and again after every launch that took all its tickets. Launches that can overlap, as in two
// streams, need one each. Everything here is called by the host, and throws lab::cuda_error if CUDA
// refuses.
template <class T>
class look_back_memory {
 public:
  // For launches of up to `tiles` tiles. Cleared in `stream`, and waits for that: ready for
  // launches in any stream. Throws std::invalid_argument for more than 2^32 - 1.
  explicit look_back_memory(std::size_t tiles, cudaStream_t stream = nullptr)
      : tiles_(checked(tiles)), memory_(look_back<T>::bytes(tiles_)) {
    reset(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  // For a kernel of `tiles` tiles. It must not outlive this object. Throws std::length_error if
  // that are more than there is memory for.
  look_back<T> access(std::size_t tiles) {
    if (tiles > tiles_) {
      throw std::length_error("memory for " + std::to_string(tiles_) + " tiles, and " +
                              std::to_string(tiles) + " are needed");
    }
    return {memory_.data(), tiles_};
  }

  // Before the next launch in `stream`, after one that died or did not take all its tickets. Does
  // not wait for the device.
  void reset(cudaStream_t stream = nullptr) { CUDA_CHECK(access(0).init(stream)); }

 private:
  static unsigned checked(std::size_t tiles) {
    if (tiles > std::numeric_limits<unsigned>::max()) {
      throw std::invalid_argument("a look-back has fewer than 2^32 tiles, not " +
                                  std::to_string(tiles));
    }
    return static_cast<unsigned>(tiles);
  }

  unsigned tiles_;
  lab::device_buffer<unsigned char> memory_;
};

}  // namespace course
