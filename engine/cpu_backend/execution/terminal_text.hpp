// SPDX-License-Identifier: MIT
// Text for a terminal: a name, or a line of a program, must not move the cursor or hide a
// word. engine/command/output.py does the same for all that commands write.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace cpu_backend {

// Whether it is a control character or an invisible one; not a line feed or a tab, which our own
// texts have.
inline bool is_control(unsigned letter) {
  const auto is_from = [letter](unsigned first, unsigned last) {
    return first <= letter && letter <= last;
  };
  return (letter < 0x20 && letter != '\n' && letter != '\t') || is_from(0x7f, 0x9f) ||
         letter == 0xad || letter == 0x61c || is_from(0x200b, 0x200f) || is_from(0x2028, 0x202e) ||
         is_from(0x2060, 0x206f) || letter == 0xfeff;
}

// The UTF-8 text with each of these characters as its number: \x1b, \u202e.
inline std::string without_controls(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const auto byte = [text](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const auto goes_on = [byte](std::size_t at) { return (byte(at) & 0xc0) == 0x80; };
    std::size_t size = 1;
    unsigned letter = byte(0) < 0x80 ? byte(0) : ' ';
    if ((byte(0) & 0xe0) == 0xc0 && goes_on(1)) {
      size = 2;
      letter = (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    } else if ((byte(0) & 0xf0) == 0xe0 && goes_on(1) && goes_on(2)) {
      size = 3;
      letter = (byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    }
    if (is_control(letter)) {
      char number[8];
      std::snprintf(number, sizeof number, letter < 0x100 ? "\\x%02x" : "\\u%04x", letter);
      made += number;
    } else {
      made += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return made;
}

inline void write_to_stderr(std::string_view text) {
  std::fputs(without_controls(text).c_str(), stderr);
}

}  // namespace cpu_backend
