// SPDX-License-Identifier: CC-BY-SA-4.0
#include <cstddef>

// Each thread moves one pixel: that in column x of row y goes to column width - 1 - x of that row.
__global__ void mirror(const int* image, unsigned width, unsigned height, int* mirrored) {
  // BEGIN SOLUTION
  // STUB: // TODO: two indices instead of one: the column from .x, the row from .y.
  // STUB: const unsigned x = threadIdx.x, y = 0;
  // STUB: if (x < width && y < height) mirrored[width - 1 - x] = image[x];
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const std::size_t row = std::size_t{y} * width;
    mirrored[row + (width - 1 - x)] = image[row + x];
  }
  // END SOLUTION
}

void mirror_image(const int* image, unsigned width, unsigned height, int* mirrored,
                  unsigned threads_x, unsigned threads_y) {
  const dim3 block(threads_x, threads_y);
  // BEGIN SOLUTION
  // STUB: const dim3 grid(1, 1);  // TODO: enough blocks for all columns and all rows.
  const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  // END SOLUTION
  mirror<<<grid, block>>>(image, width, height, mirrored);
}
