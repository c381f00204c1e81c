// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void sum_in_two_streams(const int* values, std::size_t count, long long* partials, long long* sum,
                        unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv,
                        {exercises::function("sum_in_two_streams", sum_in_two_streams)});
}
