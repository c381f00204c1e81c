// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void reverse_in_place(int* values, std::size_t n);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("reverse_in_place", reverse_in_place)});
}
