// SPDX-License-Identifier: MIT
// Files that a program writes: each whole or not at all. A new file replaces no file of another
// kind, follows no link, and is no input of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

// JSON files: program_results::json() and chrome_trace(). Both need nlohmann_json when lab is
// built.

// What they begin with.
inline const file_kind report_file = {.mark = "{\n  \"program\": \""};
inline const file_kind trace_file = {.mark =
                                         "{\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": ["};

// Why this build cannot write JSON, one sentence; empty if it can. For file_option::unavailable.
std::string why_no_json();

// Pictures as PNG files, where libpng was there when lab was built.

// A picture that png() has made says so: a chunk of text with its checksum (PNG specification,
// sections 5.3 and 11.3.4.3), after the signature and the header, which take 33 bytes.
inline const file_kind image_file = {
    .mark = std::string("\0\0\0\x0ctEXtSoftware\0lab\x8b\x0b\x5d\x91", 24), .place = 33};

// Three bytes a pixel, red, green and blue, row by row from the top.
struct image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> pixels;  // 3 * width * height
};

// Why png() cannot be used, one sentence; empty where it can. For file_option::unavailable.
std::string why_no_png();

// The contents of a PNG file. Width and height are at least 1. Throws std::runtime_error where
// libpng fails or is not there.
std::string png(const image& picture);

}  // namespace lab
