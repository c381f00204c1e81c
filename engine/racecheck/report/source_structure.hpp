// SPDX-License-Identifier: MIT
// What stands around a line of a source, as far as its text tells: the arms of an `if`, loops, and
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace racecheck {

class source_structure {
 public:
  struct span {  // of lines, its first and its last one included
    enum class kind { arm, loop, function };
    kind what = kind::arm;
    unsigned begin = 0, end = 0;
    std::size_t choice = 0;  // of an arm: the number of its `if`
    std::string name;        // of a function

    bool holds(unsigned line) const { return begin <= line && line <= end; }
  };

  // Each file is read once.
  static const source_structure& of(const std::string& path);

  explicit source_structure(std::string source);

  // Whether one `if` decides which of the two lines a thread comes to.
  bool exclude_each_other(unsigned one, unsigned other) const;
  // The innermost one around the line; nullptr if there is none.
  const span* around(unsigned line, span::kind what) const;
  // The first function of this name; nullptr if the file has none.
  const span* function_named(std::string_view name) const;
  std::string text_of(const span& of) const;
  // Nothing where the file has no such line.
  std::string_view line_text(unsigned line) const;
  // The `if`s of its function that decide whether a thread comes to the line, the innermost first.
  struct condition {
    unsigned line = 0;
    std::string text;
  };
  std::vector<condition> conditions_of(unsigned line) const;
  // The text, and what its names are made of, by the last `name = ...` of each in the line's
  // function: "seen < best", and "atomicMax(word, best)".
  std::string with_values(std::string_view text, unsigned line) const;
  // Whether each `if` that decides whether a thread comes to the one line decides it of the other.
  bool decides_more(unsigned one, unsigned other) const;
  // Whether the same loops and arms are around the two lines.
  bool are_side_by_side(unsigned one, unsigned other) const;
  // Whether a barrier of the block or the grid, or a call with such a name, stands there.
  bool has_barrier(const span& in) const;
  // The same of the innermost loop around the line; true where there is none.
  bool loop_has_barrier(unsigned line) const;
  // The lines of the span's function on which a function, or one that calls it, is called.
  std::vector<unsigned> calls_of(std::string name, const span& in) const;

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  unsigned line() const;
  void skip_space();
  bool take(std::string_view word);
  void skip_brackets();
  void read_statement();
  void read_rest();
  bool returns(std::size_t begin) const;
  std::string_view value_of(std::string_view name, unsigned line) const;
  void add(span::kind what, unsigned begin, std::size_t choice, std::string name = "");

  std::string text_;  // without comments, strings and directives
  std::size_t at_ = 0;
  std::vector<std::size_t> line_begins_;
  std::vector<span> spans_;
  std::size_t choices_ = 0;
  std::vector<condition> conditions_;  // by the number of their `if`, from 1 on
};

}  // namespace racecheck
