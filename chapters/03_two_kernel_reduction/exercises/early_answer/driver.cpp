// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void sum_both_ways(const int* numbers, unsigned pairs, unsigned threads, unsigned* flags,
                   long long* sums, long long* answers);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("sum_both_ways", sum_both_ways)});
}
