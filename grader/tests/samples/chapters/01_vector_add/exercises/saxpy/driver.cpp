// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void saxpy(float alpha, const float* x, float* y, std::size_t n);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("saxpy", saxpy)});
}
