// SPDX-License-Identifier: MIT
#include "racecheck/report/source_structure.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "racecheck/report/changed_variables.hpp"

namespace racecheck {
namespace {

// Spaces take the place of comments, strings and directives; lines stay where they are.
void blank_what_is_no_code(std::string& text) {
  const auto blank = [&](std::size_t begin, std::size_t end) {
    end = std::min(end, text.size());
    for (std::size_t at = begin; at < end; ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
    return end;
  };
  bool begins_line = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char now = text[at];
    if (text.compare(at, 2, "//") == 0 || (now == '#' && begins_line)) {
      at = blank(at, text.find('\n', at)) - 1;
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at + 2);
      at = blank(at, end == text.npos ? end : end + 2) - 1;
    } else if (now == '"' || (now == '\'' && (at == 0 || !std::isdigit(text[at - 1])))) {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != now && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      at = blank(at, end + 1) - 1;
    }
    begins_line = now == '\n' || (begins_line && now == ' ');
  }
}

std::string name_before(std::string_view text, std::size_t bracket) {
  const std::size_t last = text.find_last_not_of(" \n", bracket == 0 ? 0 : bracket - 1);
  std::size_t begin = last == text.npos ? 0 : last + 1;
  const std::size_t end = begin;
  while (begin > 0 && is_of_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

}  // namespace

const source_structure& source_structure::of(const std::string& path) {
  static auto& known = *new std::map<std::string, source_structure>;
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  return known.emplace(path, source_structure(std::move(text))).first->second;
}

source_structure::source_structure(std::string source) : text_(std::move(source)) {
  blank_what_is_no_code(text_);
  line_begins_.push_back(0);
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') line_begins_.push_back(at + 1);
  }
  while (skip_space(), at_ < text_.size()) {
    const std::size_t before = at_;
    read_statement();
    if (at_ == before) ++at_;
  }
}

unsigned source_structure::line() const {
  const auto next = std::ranges::upper_bound(line_begins_, std::min(at_, text_.size() - 1));
  return static_cast<unsigned>(next - line_begins_.begin());
}

void source_structure::skip_space() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
}

bool source_structure::take(std::string_view word) {
  skip_space();
  if (text_.compare(at_, word.size(), word) != 0) return false;
  const std::size_t end = at_ + word.size();
  if (end < text_.size() && is_of_name(text_[end])) return false;
  at_ = end;
  return true;
}

void source_structure::skip_brackets() {
  skip_space();
  if (peek() != '(') return;
  int depth = 0;
  do {
    depth += (peek() == '(') - (peek() == ')');
  } while (++at_ < text_.size() && depth > 0);
}

void source_structure::add(span::kind what, unsigned begin, std::size_t choice, std::string name) {
  if (at_ > 0) --at_;  // what has been read ends before it
  const unsigned end = line();
  ++at_;
  spans_.push_back({what, begin, end, choice, std::move(name)});
}

void source_structure::read_statement() {
  skip_space();
  const unsigned begin = line();
  if (peek() == '{') {
    ++at_;
    std::vector<std::pair<std::size_t, unsigned>>
        left;  // by what returns: its `if`, and from where
    while (skip_space(), at_ < text_.size() && peek() != '}') {
      const std::size_t before = at_, known = spans_.size();
      read_statement();
      if (at_ == before) ++at_;
      const bool is_if = spans_.size() > known && text_.compare(before, 2, "if") == 0;
      if (is_if && returns(before)) left.emplace_back(spans_.back().choice, spans_.back().end + 1);
    }
    ++at_;
    for (const auto& [choice, from] : left) add(span::kind::arm, from, choice);
  } else if (take("if")) {
    const std::size_t choice = ++choices_;
    take("constexpr");
    skip_space();
    const std::size_t open = at_;
    skip_brackets();
    conditions_.push_back({begin, text_.substr(open, at_ - open)});
    do {
      skip_space();
      const unsigned begin_of_arm = line();
      read_statement();
      add(span::kind::arm, begin_of_arm, choice);
    } while (take("else"));
  } else if (take("for") || take("while")) {
    skip_brackets();
    read_statement();
    add(span::kind::loop, begin, 0);
  } else if (take("do")) {
    read_statement();
    if (take("while")) skip_brackets();
    add(span::kind::loop, begin, 0);
  } else {
    read_rest();
  }
}

// Whether what begins there, and has just been read, ends by `return`.
bool source_structure::returns(std::size_t begin) const {
  const std::string_view text = std::string_view(text_).substr(begin, at_ - begin);
  const std::size_t end = text.rfind(';');
  const std::size_t before = text.find_last_of(";{})", end == 0 || end == text.npos ? 0 : end - 1);
  const std::size_t last = text.find_first_not_of(" \n", before + 1);
  return last != text.npos && text.substr(last).starts_with("return");
}

// Up to the end of a simple statement or of a definition.
void source_structure::read_rest() {
  const unsigned begin = line();
  std::size_t bracket = 0;   // of the parameters
  bool are_members = false;  // what a constructor initialises
  for (; at_ < text_.size() && peek() != ';' && peek() != '}'; ++at_) {
    const bool is_scope = text_.compare(at_, 2, "::") == 0 || (at_ > 0 && text_[at_ - 1] == ':');
    are_members |= bracket != 0 && peek() == ':' && !is_scope;
    if (peek() == '(') {
      if (!are_members) bracket = at_;
      skip_brackets();
      --at_;
    }
    if (peek() != '{') continue;
    read_statement();
    if (bracket != 0) add(span::kind::function, begin, 0, name_before(text_, bracket));
    return;
  }
  if (peek() == ';') ++at_;
}

bool source_structure::exclude_each_other(unsigned one, unsigned other) const {
  return std::ranges::any_of(spans_, [&](const span& arm) {
    return arm.what == span::kind::arm && arm.holds(one) && !arm.holds(other) &&
           std::ranges::any_of(spans_, [&](const span& next) {
             return next.what == span::kind::arm && next.choice == arm.choice &&
                    next.holds(other) && !next.holds(one);
           });
  });
}

const source_structure::span* source_structure::around(unsigned line, span::kind what) const {
  // The inner ones are added before the outer ones.
  const auto found = std::ranges::find_if(
      spans_, [&](const span& each) { return each.what == what && each.holds(line); });
  return found == spans_.end() ? nullptr : &*found;
}

const source_structure::span* source_structure::function_named(std::string_view name) const {
  const auto found = std::ranges::find_if(spans_, [&](const span& each) {
    return each.what == span::kind::function && each.name == name;
  });
  return found == spans_.end() ? nullptr : &*found;
}

std::string source_structure::text_of(const span& of) const {
  const std::size_t begin = line_begins_[of.begin - 1];
  const std::size_t end = of.end < line_begins_.size() ? line_begins_[of.end] : text_.size();
  return text_.substr(begin, end - begin);
}

std::string_view source_structure::line_text(unsigned line) const {
  if (line == 0 || line > line_begins_.size()) return "";
  const std::size_t begin = line_begins_[line - 1];
  return std::string_view(text_).substr(begin, text_.find('\n', begin) - begin);
}

std::vector<source_structure::condition> source_structure::conditions_of(unsigned line) const {
  std::vector<condition> conditions;
  for (const span& each : spans_) {
    if (each.what == span::kind::arm && each.holds(line))
      conditions.push_back(conditions_[each.choice - 1]);
  }
  return conditions;
}

std::string_view source_structure::value_of(std::string_view name, unsigned line) const {
  const span* const function = around(line, span::kind::function);
  for (unsigned number = line; function && number >= function->begin; --number) {
    const std::string_view text = line_text(number);
    for (std::size_t at = text.rfind(name); at != text.npos && at != 0;
         at = text.rfind(name, at - 1)) {
      const std::size_t end = at + name.size();
      const std::size_t sign = text.find_first_not_of(' ', end);
      if (is_of_name(text[at - 1]) || sign == text.npos || text[sign] != '=' ||
          text.substr(sign).starts_with("==")) {
        continue;
      }
      int depth = 0;
      std::size_t last = sign + 1;
      for (; last < text.size() && text[last] != ';' && (depth > 0 || text[last] != ','); ++last) {
        depth +=
            (text[last] == '(' || text[last] == '[') - (text[last] == ')' || text[last] == ']');
      }
      return text.substr(sign + 1, last - sign - 1);
    }
  }
  return "";
}

std::string source_structure::with_values(std::string_view text, unsigned line) const {
  std::string with(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_of_name(text[at]) || (at > 0 && is_of_name(text[at - 1]))) continue;
    const auto* const end = std::find_if_not(text.begin() + at, text.end(), is_of_name);
    with.append("  ").append(value_of({text.begin() + at, end}, line));
  }
  return with;
}

bool source_structure::decides_more(unsigned one, unsigned other) const {
  return std::ranges::all_of(spans_, [&](const span& each) {
    return each.what != span::kind::arm || !each.holds(one) || each.holds(other);
  });
}

bool source_structure::are_side_by_side(unsigned one, unsigned other) const {
  return std::ranges::all_of(
      spans_, [&](const span& each) { return each.holds(one) == each.holds(other); });
}

bool source_structure::has_barrier(const span& in) const {
  const std::string body = text_of(in);
  return body.find("sync") != body.npos || body.find("barrier") != body.npos;
}

bool source_structure::loop_has_barrier(unsigned line) const {
  const span* const loop = around(line, span::kind::loop);
  return !loop || has_barrier(*loop);
}

std::vector<unsigned> source_structure::calls_of(std::string name, const span& in) const {
  std::set<std::string> names = {std::move(name)};
  for (std::size_t known = 0; known != names.size();) {
    known = names.size();
    std::vector<unsigned> lines;
    for (unsigned number = 1; number <= line_begins_.size(); ++number) {
      const std::string_view text = line_text(number);
      const bool calls = std::ranges::any_of(
          names, [&](const auto& each) { return !each.empty() && has_name(text, each); });
      const span* const caller = calls ? around(number, span::kind::function) : nullptr;
      if (!caller || caller->begin == number) continue;
      if (in.holds(number)) lines.push_back(number);
      names.insert(caller->name);
    }
    if (!lines.empty()) return lines;
  }
  return {};
}

}  // namespace racecheck
