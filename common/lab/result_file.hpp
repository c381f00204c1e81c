// SPDX-License-Identifier: MIT
// A file that is either written whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace lab {

// Call require_writable() before the work whose result the file is to hold, write() after it.
class result_file {
 public:
  explicit result_file(std::filesystem::path path);

  // Throws usage_error, one sentence, if the file cannot be written. Leaves nothing behind.
  void require_writable() const;

  // Writes a temporary file in the same folder and renames it, so that no reader ever sees half of
  // `text`, and an old file stays as it was if anything fails. Throws std::runtime_error.
  void write(const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace lab
