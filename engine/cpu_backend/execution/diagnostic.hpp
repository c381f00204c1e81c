// SPDX-License-Identifier: MIT
// What went wrong, as a record for programs. What people read is made from the same record, by the
// rows of words.inc.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/terminal_text.hpp"
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

}  // namespace cpu_backend
