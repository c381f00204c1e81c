// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

struct hit {
  float distance;
  int triangle;
  int surface;
};

template <class T>
struct candidate {
  T value;
  std::size_t index;
};

void arg_min_of_ints(const int* values, std::size_t count, candidate<int>* of_blocks,
                     unsigned* arrived, std::size_t* place, unsigned blocks, unsigned threads);
void arg_min_of_doubles(const double* values, std::size_t count, candidate<double>* of_blocks,
                        unsigned* arrived, std::size_t* place, unsigned blocks, unsigned threads);
void arg_min_of_hits(const hit* values, std::size_t count, candidate<hit>* of_blocks,
                     unsigned* arrived, std::size_t* place, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv,
                        {exercises::function("arg_min_of_ints", arg_min_of_ints),
                         exercises::function("arg_min_of_doubles", arg_min_of_doubles),
                         exercises::function("arg_min_of_hits", arg_min_of_hits)});
}
