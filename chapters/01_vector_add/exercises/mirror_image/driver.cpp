// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void mirror_image(const int* image, unsigned width, unsigned height, int* mirrored,
                  unsigned threads_x, unsigned threads_y);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("mirror_image", mirror_image)});
}
