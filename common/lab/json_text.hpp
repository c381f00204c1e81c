// SPDX-License-Identifier: MIT
// The one part of writing JSON that is easy to get wrong.
#pragma once

#include <cstdio>
#include <string>

namespace lab {

// A JSON string literal (RFC 8259, section 7). Bytes from 0x80 on pass as they are: names here are
// UTF-8.
inline std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      literal += '\\';
      literal += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(character));
      literal += escape;
    } else {
      literal += character;
    }
  }
  return literal + "\"";
}

}  // namespace lab
