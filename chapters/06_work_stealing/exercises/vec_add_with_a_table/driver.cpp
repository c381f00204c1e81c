// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void vec_add_with_a_table(const int* a, const unsigned char* kind, const int* table, int* c,
                          std::size_t n, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv,
                        {exercises::function("vec_add_with_a_table", vec_add_with_a_table)});
}
