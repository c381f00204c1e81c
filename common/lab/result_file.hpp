// SPDX-License-Identifier: MIT
// A file of the user's that is either written whole or not at all. It replaces no file of another
// kind, follows no link, and is no input of the program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace lab {

// How the files of a kind begin, so that a file of the user's is known for another one: with `mark`
// at this place.
struct file_kind {
  std::string mark;
  std::size_t place = 0;
};

// Call require_writable() before the work whose result the file is to hold, write() after it.
class result_file {
 public:
  // With `force` it replaces a file of another kind as well.
  result_file(std::filesystem::path path, file_kind kind, bool force = false);

  // Throws usage_error, one sentence, if the file cannot be written. Leaves nothing behind.
  void require_writable() const;

  // Writes a temporary file in the same folder and renames it, so that no reader ever sees half of
  // `text`, and an old file stays as it was if anything fails. Throws std::runtime_error.
  void write(const std::string& text) const;

 private:
  // Why it must not be written, if it must not.
  std::string refusal() const;

  std::filesystem::path path_;
  file_kind kind_;
  bool force_;
};

}  // namespace lab
