// SPDX-License-Identifier: MIT
#include "racecheck/report/changed_variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace racecheck {
namespace {

constexpr auto nowhere = std::string_view::npos;

// Where the bracket at `open` is closed; nowhere if that is on another line.
std::size_t end_of_bracket(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if ((text[at] == ')' || text[at] == ']') && --depth == 0) return at;
  }
  return nowhere;
}

// Where the bracket that is closed at `close` is opened; nowhere if that is on another line.
std::size_t start_of_bracket(std::string_view text, std::size_t close) {
  std::size_t depth = 0;
  for (std::size_t at = close + 1; at-- > 0;) {
    if (text[at] == ')' || text[at] == ']') ++depth;
    if ((text[at] == '(' || text[at] == '[') && --depth == 0) return at;
  }
  return nowhere;
}

// The line less its comment and the heads of `for`, of which it may have only the end.
std::string without_loop_heads(std::string_view line) {
  std::string text(line.substr(0, line.find("//")));
  for (std::size_t at = 0; (at = text.find("for", at)) != nowhere; ++at) {
    const std::size_t open = text.find_first_not_of(' ', at + 3);
    if ((at > 0 && is_of_name(text[at - 1])) || open == nowhere || text[open] != '(') continue;
    const std::size_t close = end_of_bracket(text, open);
    text.replace(at, close == nowhere ? nowhere : close + 1 - at, 1, ';');
  }
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')' && start_of_bracket(text, at) == nowhere) return text.substr(at + 1);
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == nowhere ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// The expression that ends the text: "*bins[k]" of "if (ready) *bins[k]".
std::string_view last_expression(std::string_view text) {
  text = trimmed(text);
  std::size_t begin = text.size();
  while (begin > 0) {
    const char before = text[begin - 1];
    if (before == ')' || before == ']') {
      // "if (ready) x": what is in brackets before a name is not of the expression.
      if (before == ')' && begin < text.size() && is_of_name(text[begin])) break;
      const std::size_t open = start_of_bracket(text, begin - 1);
      if (open == nowhere) break;
      begin = open;
    } else if (is_of_name(before) || before == '.' || before == ':') {
      --begin;
    } else if (before == '>' && begin > 1 && text[begin - 2] == '-') {
      begin -= 2;
    } else {
      break;
    }
  }
  // A star behind a name declares a pointer or multiplies.
  while (begin > 0 && text[begin - 1] == '*') {
    const std::string_view before = trimmed(text.substr(0, begin - 1));
    if (!before.empty() && is_of_name(before.back()) && !before.ends_with("else")) break;
    --begin;
  }
  return text.substr(begin);
}

// The expression that begins the text.
std::string_view first_expression(std::string_view text) {
  text = trimmed(text);
  std::size_t end = std::min(text.find_first_not_of('*'), text.size());
  while (end < text.size()) {
    if (text[end] == '(' || text[end] == '[') {
      const std::size_t close = end_of_bracket(text, end);
      if (close == nowhere) break;
      end = close + 1;
    } else if (is_of_name(text[end]) || text[end] == '.' || text[end] == ':') {
      ++end;
    } else if (text.substr(end).starts_with("->")) {
      end += 2;
    } else {
      break;
    }
  }
  return text.substr(0, end);
}

std::string first_name(std::string_view expression) {
  const auto begin = std::ranges::find_if(expression, is_of_name);
  return {begin, std::find_if_not(begin, expression.end(), is_of_name)};
}

std::size_t place_of_name(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != nowhere; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_of_name(line[at - 1])) && (end == line.size() || !is_of_name(line[end]))) {
      return at;
    }
  }
  return nowhere;
}

bool is_element(std::string_view expression) {
  return expression.find_first_of("[*") != nowhere || expression.find("->") != nowhere;
}

}  // namespace

bool is_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

bool has_name(std::string_view line, std::string_view name) {
  return place_of_name(line, name) != nowhere;
}

std::string_view condition_after(std::string_view keyword, std::string_view line) {
  const std::size_t place = place_of_name(line, keyword);
  const std::size_t open = place == nowhere ? nowhere : line.find('(', place);
  if (open == nowhere) return "";
  const std::size_t close = end_of_bracket(line, open);
  return line.substr(open + 1, close == nowhere ? nowhere : close - open - 1);
}

changed_variables variables_changed_by(std::string_view line) {
  // Not std::regex: its header takes longer to compile than all the rest of the report. What others
  // begin with comes after them.
  static constexpr std::array<std::string_view, 17> operators = {
      "==", "!=", "<<=", ">>=", "<=", ">=", "+=", "-=", "*=",
      "/=", "%=", "&=",  "|=",  "^=", "++", "--", "="};
  const std::string kept = without_loop_heads(line);
  const std::string_view text = kept;
  changed_variables found;
  // To where one can begin: to compare them at every character takes half a second in a long line.
  const auto next_from = [&](std::size_t place) {
    return text.find_first_of("=!<>+-*/%&|^", place);
  };
  for (std::size_t at = next_from(0); at != nowhere; at = next_from(at)) {
    const std::string_view rest = text.substr(at);
    const auto sign = std::ranges::find_if(
        operators, [&](std::string_view each) { return rest.starts_with(each); });
    if (sign == operators.end()) {
      ++at;
      continue;
    }
    const std::string_view before = text.substr(0, at);
    const std::string_view after = text.substr(at + sign->size());
    at += sign->size();
    const bool compares = *sign == "==" || *sign == "!=" || *sign == "<=" || *sign == ">=";
    if (compares) continue;
    std::string_view expression = last_expression(before);
    // In `if (ready) ++count` what is in brackets is not what is changed.
    const bool is_before_its_operand = (*sign == "++" || *sign == "--") && !after.empty() &&
                                       (is_of_name(after[0]) || after[0] == '*' || after[0] == '(');
    if (is_before_its_operand) expression = first_expression(after);
    const std::string name = first_name(expression);
    if (name.empty()) continue;
    if (*sign == "=") {
      (is_element(expression) ? found.stored_elements : found.assigned).insert(name);
      if (is_element(expression)) found.stored_places.emplace(expression);
      continue;
    }
    found.updated.insert(name);
    if (is_element(expression)) found.updated_elements.insert(name);
  }
  return found;
}

}  // namespace racecheck
