// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void keep_large(const unsigned* values, unsigned n, unsigned least, unsigned* kept, unsigned* count,
                unsigned long long* status, unsigned long long* counter, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("keep_large", keep_large)});
}
