// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void scale_rows(int* values, const unsigned* begin, const int* factors, unsigned rows,
                unsigned* next, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("scale_rows", scale_rows)});
}
