// SPDX-License-Identifier: MIT
#include "lab/output_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "lab/options.hpp"

#ifdef LAB_HAS_PNG
#include <png.h>
#endif

namespace lab {

namespace {

// A file of its own beside the one that is to be written; gone at the end unless it was renamed.
class temporary_file {
 public:
  // `descriptor()` is negative, and errno says why, where no file can be made there.
  explicit temporary_file(const std::filesystem::path& beside)
      : name_(beside.string() + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    exists_ = descriptor_ >= 0;
  }
  ~temporary_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (exists_) ::unlink(name_.c_str());
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  int descriptor() const { return descriptor_; }

  bool write(const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t count = ::write(descriptor_, text.data() + written, text.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      written += static_cast<std::size_t>(count);
    }
    // mkstemp makes a file that only its owner may read; a report is an ordinary file.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return ::fchmod(descriptor_, 0666 & ~mask) == 0 && ::fsync(descriptor_) == 0;
  }

  bool rename_to(const std::filesystem::path& path) {
    if (::close(std::exchange(descriptor_, -1)) != 0) return false;
    if (std::rename(name_.c_str(), path.c_str()) != 0) return false;
    exists_ = false;
    return true;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool exists_ = false;
};

std::string sentence(const std::filesystem::path& path, const std::string& reason) {
  return "cannot write '" + path.string() + "': " + reason;
}

// Whether the file is empty, or has the mark of its kind.
bool is_of_kind(const std::filesystem::path& path, const file_kind& kind) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::string content(kind.place + kind.mark.size(), '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  const auto count = static_cast<std::size_t>(file.gcount());
  return count == 0 || (count == content.size() && content.substr(kind.place) == kind.mark);
}

}  // namespace

result_file::result_file(std::filesystem::path path, file_kind kind, bool force)
    : path_(std::move(path)), kind_(std::move(kind)), force_(force) {}

std::string result_file::refusal() const {
  std::error_code error;
  // A device, a pipe or a folder: renaming onto a device or a pipe would replace it by a file.
  const auto status = std::filesystem::status(path_, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return "it is not a regular file";
  }
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path_, error))) {
    return "it is a link, and nothing is written through a link";
  }
  if (!std::filesystem::exists(status)) return "";
  if (::access(path_.c_str(), W_OK) != 0) return std::strerror(errno);
  if (!force_ && !is_of_kind(path_, kind_)) {
    return "a file of another kind is there, and would be lost: choose another name, or add "
           "--force";
  }
  return "";
}

void result_file::require_writable() const {
  if (const std::string why = refusal(); !why.empty()) throw usage_error(sentence(path_, why));
  const temporary_file trial(path_);
  if (trial.descriptor() < 0) throw usage_error(sentence(path_, std::strerror(errno)));
}

void result_file::write(const std::string& text) const {
  // Once more: it may have come about since, and what a rename would do to it cannot be undone.
  if (const std::string why = refusal(); !why.empty()) {
    throw std::runtime_error(sentence(path_, why));
  }
  temporary_file file(path_);
  if (file.descriptor() < 0 || !file.write(text) || !file.rename_to(path_)) {
    throw std::runtime_error(sentence(path_, std::strerror(errno)));
  }
}

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
