// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

struct moments {
  double count;
  double mean;
  double squares;
};

void mean_and_variance(const double* values, std::size_t count, moments* of_blocks, double* mean,
                       double* variance, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("mean_and_variance", mean_and_variance)});
}
