// SPDX-License-Identifier: MIT
// The table of words.inc, and how the gaps of a row are filled. translate/words.py does the same.
#pragma once

#include <string>
#include <string_view>

namespace words {

struct row {
  std::string_view code;
  std::string_view text;
};
inline constexpr row table[] = {
#include "cpu_backend/execution/words.inc"
};

// nullptr if there is none.
constexpr const row* find(std::string_view code) {
  for (const row& each : table) {
    if (each.code == code) return &each;
  }
  return nullptr;
}

// The first {name} or {name:form} of a text; without a name if there is none.
struct gap {
  std::size_t begin = 0;
  std::size_t end = 0;  // after its brace
  std::string_view name;
  std::string_view form;
};
constexpr gap first_gap(std::string_view text) {
  for (auto open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const auto close = text.find('}', open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    if (inside.find_first_not_of("abcdefghijklmnopqrstuvwxyz_:") != inside.npos) continue;
    const auto colon = inside.find(':');
    return {open, close + 1, inside.substr(0, colon),
            colon == inside.npos ? "" : inside.substr(colon + 1)};
  }
  return {};
}

// The text without each [...] whose first gap names what is not there, and without the brackets of
// the others.
template <class IsThere>
std::string without_gaps(std::string_view text, IsThere is_there) {
  std::string made;
  for (auto open = text.find('['); open != text.npos; open = text.find('[')) {
    const auto close = text.find(']', open);
    if (close == text.npos) break;
    const std::string_view part = text.substr(open + 1, close - open - 1);
    const gap names = first_gap(part);
    made += text.substr(0, names.name.empty() ? close + 1 : open);
    if (!names.name.empty() && is_there(names.name)) made += part;
    text.remove_prefix(close + 1);
  }
  return made.append(text);
}

// word(name, form) of each gap.
template <class IsThere, class Word>
std::string filled(std::string_view text, IsThere is_there, Word word) {
  const std::string kept = without_gaps(text, is_there);
  std::string_view rest = kept;
  std::string made;
  for (gap next = first_gap(rest); !next.name.empty(); next = first_gap(rest)) {
    made += rest.substr(0, next.begin);
    made += word(next.name, next.form);
    rest.remove_prefix(next.end);
  }
  return made.append(rest);
}

}  // namespace words
