// SPDX-License-Identifier: MIT
#include "lab/image.hpp"

#include <cstddef>
#include <stdexcept>

#ifdef LAB_HAS_PNG
#include <png.h>
#endif

namespace lab {

#ifdef LAB_HAS_PNG

std::string why_no_png() { return {}; }

// libpng's simplified interface (its manual, section "Simplified API"): no longjmp, and it can
// write to memory, whose size a first call computes.
std::string png(const image& picture) {
  png_image description{};
  description.version = PNG_IMAGE_VERSION;
  description.width = picture.width;
  description.height = picture.height;
  description.format = PNG_FORMAT_RGB;
  const auto write_to = [&](void* memory, png_alloc_size_t& bytes) {
    if (png_image_write_to_memory(&description, memory, &bytes, 0, picture.pixels.data(), 0,
                                  nullptr) == 0) {
      throw std::runtime_error(std::string("libpng cannot write the picture: ") +
                               description.message);
    }
  };
  png_alloc_size_t bytes = 0;
  write_to(nullptr, bytes);
  std::string contents(bytes, '\0');
  write_to(contents.data(), bytes);
  contents.resize(bytes);
  contents.insert(image_file.place, image_file.mark);
  return contents;
}

#else

std::string why_no_png() {
  return "libpng was not there when this was built; install it (Debian and Ubuntu: libpng-dev), "
         "then "
         "run meson setup --reconfigure on the build folder";
}

std::string png(const image&) { throw std::runtime_error(why_no_png()); }

#endif

}  // namespace lab
