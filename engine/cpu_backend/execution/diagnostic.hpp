// SPDX-License-Identifier: MIT
// What went wrong, as a record for programs. What people read is made from the same record, by the
// rows of words.inc.
#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "vector_types.h"

namespace cpu_backend {

struct grid;
struct source_line;

// The command that names a place that the backend alone can't name: the race checker's, as the
// build files say how the user types it.
extern const char* const check_command;

// Bytes that are no UTF-8 stay as they are: the reader knows what a source may hold.
std::string quoted_in_json(std::string_view text);

class diagnostic {
 public:
  // `kind` is the row of the table that says what happened; a text that lives as long as the
  // program, as the names of the fields do.
  explicit diagnostic(const char* kind);

  diagnostic& add(const char* name, std::string_view text);
  diagnostic& add(const char* name, const char* text) { return add(name, std::string_view(text)); }
  template <std::integral Number>
  diagnostic& add(const char* name, Number number) {
    return add_number(name, std::to_string(number));
  }
  diagnostic& add(const char* name, double number);
  diagnostic& add(const char* name, const uint3& index);
  diagnostic& add(const char* name, const place& at);
  // Nothing is added if its file is unknown.
  diagnostic& add(const char* name, const source_line& at);

  // What is said of it, in one line without its end.
  std::string sentence() const { return sentence(kind_); }
  // The same by another row of the table.
  std::string sentence(std::string_view code) const;
  // A JSON object in one line, without its end.
  std::string json() const;

 private:
  struct field {
    std::string_view name;
    std::string words;
    std::string json;
  };

  diagnostic& add_number(const char* name, std::string digits);
  const field* find(std::string_view name) const;
  std::string word(std::string_view name, std::string_view form) const;

  const char* kind_;
  std::vector<field> fields_;
};

// Appends the record as a line, by one write(), to the file that the environment variable
// LAB_DIAGNOSTICS names; without it nothing is written. A file that can't be written is said once
// on stderr, and changes nothing else. Any thread may call it. It allocates, so a signal's handler
// may call it only if it has interrupted a kernel, as the watch's does.
void write_record(const diagnostic& of);

// Writes the record, and prints its sentence to stderr with a line feed, as one piece.
void report(const diagnostic& of);

// The same for the failure of a launch, which the record then names: "kernel launched at FILE:LINE:
// ...". `more`: lines that are printed below it.
void report_failure(const grid& about, diagnostic of, const std::string& more = "");

// The record of a launch in which no thread can go on, with the blocks that found no place.
diagnostic deadlock_of(const grid& of);

// "  block (3,0,0):" and "  SENTENCE" of each, with their line feeds.
std::string heading_of(const uint3& block);
std::string lines_of(const std::vector<diagnostic>& all);

// Text for a terminal: a name, or a line of somebody's code, must not move the cursor or hide a
// word. engine/command/output.py does the same for all that commands write.

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
