// SPDX-License-Identifier: MIT
#include "lab/result_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "lab/command_line.hpp"

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

constexpr const char* not_a_file = "it is not a regular file";

// A device, a pipe or a folder: renaming onto a device or a pipe would replace it by a file.
bool is_something_else(const std::filesystem::file_status& status) {
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

// A link is followed now: renaming onto it would replace the link and leave the file it names.
result_file::result_file(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code no_such_file;
  const auto target = std::filesystem::canonical(path_, no_such_file);
  if (!no_such_file) path_ = target;
}

void result_file::require_writable() const {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  if (is_something_else(status)) throw usage_error(sentence(path_, not_a_file));
  if (std::filesystem::exists(status) && ::access(path_.c_str(), W_OK) != 0) {
    throw usage_error(sentence(path_, std::strerror(errno)));
  }
  const temporary_file trial(path_);
  if (trial.descriptor() < 0) throw usage_error(sentence(path_, std::strerror(errno)));
}

void result_file::write(const std::string& text) const {
  // Once more: it may have come about since, and what a rename would do to it cannot be undone.
  std::error_code error;
  if (is_something_else(std::filesystem::status(path_, error))) {
    throw std::runtime_error(sentence(path_, not_a_file));
  }
  temporary_file file(path_);
  if (file.descriptor() < 0 || !file.write(text) || !file.rename_to(path_)) {
    throw std::runtime_error(sentence(path_, std::strerror(errno)));
  }
}

}  // namespace lab
