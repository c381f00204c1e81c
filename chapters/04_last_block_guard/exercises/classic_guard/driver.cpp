// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void sum_columns(const int* matrix, unsigned rows, long long* partials, unsigned* counter,
                 long long* sums, unsigned blocks, unsigned columns);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("sum_columns", sum_columns)});
}
