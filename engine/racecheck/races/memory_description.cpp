// SPDX-License-Identifier: MIT
#include "racecheck/races/memory_description.hpp"

#include <cstdint>
#include <map>
#include <optional>

#include "racecheck/events/places.hpp"

namespace racecheck {
namespace {

// "... [with Type = int [32]]" by g++, "... [Type = int[32]]" by clang.
std::string element_type(std::string text) {
  const auto equals = text.find("Type = ");
  if (equals == std::string::npos) return "";
  text = text.substr(equals + 7);
  if (const auto end = text.find_first_of(";"); end != std::string::npos) text.resize(end);
  if (!text.empty() && text.back() == ']') text.pop_back();
  return text;
}

// The number of elements in the first dimension, and what one has in bytes.
std::size_t elements_of(const std::string& type) {
  const auto open = type.find('[');
  return open == std::string::npos ? 0 : std::stoul(type.substr(open + 1));
}

// "bins[17]" of an allocation that has a name.
std::string named_element(const region& in, std::ptrdiff_t offset) {
  const auto bytes = static_cast<std::ptrdiff_t>(in.element_bytes);
  std::string text = in.name;
  text += '[';
  text += std::to_string((offset - (offset < 0 ? bytes - 1 : 0)) / bytes);
  text += ']';
  return text;
}

// "file.cu:12". To ask the compiler takes a while, so each place is asked for once.
const std::string& line_in_words(place_number place) {
  static auto& known = *new std::map<place_number, std::string>;
  std::string& text = known[place];
  if (text.empty()) {
    const source_line at = source_lines({place}).front();
    text = at.file.empty() ? "a place that the compiler does not name"
                           : at.file + ':' + std::to_string(at.line);
  }
  return text;
}

// "values[64]" and "(int [64])"; the offset may be outside of the variable.
described_object describe_element(const region& in, std::ptrdiff_t offset) {
  const std::string type = element_type(in.type);
  std::string text = in.name;
  if (const auto elements = static_cast<std::ptrdiff_t>(elements_of(type)); elements != 0) {
    const std::ptrdiff_t element = static_cast<std::ptrdiff_t>(in.bytes) / elements;
    text += '[';
    text += std::to_string((offset - (offset < 0 ? element - 1 : 0)) / element);
    text += ']';
  }
  return {text + " (" + type + ')', {text, std::nullopt}};
}

std::string name_of_kernels(const region& in) {
  return "a kernel's allocation at " + line_in_words(in.allocated_at);
}

}  // namespace

std::string describe_memory(const region& in) {
  switch (in.what) {
    case region::kind::shared:
    case region::kind::dynamic_shared:
      return "shared memory";
    case region::kind::managed:
      return "managed memory";
    case region::kind::pinned:
      return "pinned host memory";
    default:
      return "global memory";
  }
}

described_object describe_object(const region& in, const std::byte* address,
                                 std::size_t access_bytes) {
  const auto offset = static_cast<std::size_t>(address - in.begin);
  const auto whole = [](const std::string& text) {
    return described_object{text, {text, std::nullopt}};
  };
  const auto part_of = [&](const std::string& object, std::size_t at, std::size_t of) {
    if (access_bytes <= 1 || at % access_bytes != 0) {
      return whole(object + ", byte " + std::to_string(at) + " of " + std::to_string(of));
    }
    const std::size_t element = at / access_bytes;
    const std::string name = object + ", element " + std::to_string(element);
    const bool is_dynamic = in.what == region::kind::dynamic_shared;
    return described_object{
        name + " (" + std::to_string(access_bytes) + " bytes each) of " + std::to_string(of) +
            " bytes",
        {name, is_dynamic ? std::optional<std::uint64_t>(element) : std::nullopt}};
  };
  switch (in.what) {
    case region::kind::shared:
      return describe_element(in, static_cast<std::ptrdiff_t>(offset));
    case region::kind::dynamic_shared:
      return part_of("the launch's dynamic shared memory", offset, in.bytes);
    case region::kind::variable: {
      const variable_name variable = find_variable(address);
      if (variable.name.empty()) return whole("a variable of the program");
      if (variable.bytes <= access_bytes) return whole(variable.name);
      return part_of(variable.name, variable.offset, variable.bytes);
    }
    default:
      if (!in.name.empty()) return whole(named_element(in, static_cast<std::ptrdiff_t>(offset)));
      if (in.allocated_at != 0) return part_of(name_of_kernels(in), offset, in.bytes);
      return part_of("allocation " + std::to_string(in.number), offset, in.bytes);
  }
}

std::string describe_outside(const region& near, const std::byte* address,
                             std::size_t access_bytes) {
  const auto offset = address - near.begin;
  const auto size = static_cast<std::ptrdiff_t>(near.bytes);
  std::string text;
  if (near.what == region::kind::shared) {
    text = describe_element(near, offset).text;
  } else if (near.what == region::kind::dynamic_shared) {
    text = "the launch's dynamic shared memory";
  } else if (!near.name.empty()) {
    text = named_element(near, offset) + ", where " + near.name + " is an array";
  } else if (near.allocated_at != 0) {
    text = name_of_kernels(near);
  } else {
    text = "allocation ";
    text += std::to_string(near.number);
  }
  text += " of ";
  text += std::to_string(near.bytes);
  if (near.freed_at != 0) return text + " bytes, freed at " + line_in_words(near.freed_at);
  text += " bytes: ";
  const std::ptrdiff_t past_end = offset + static_cast<std::ptrdiff_t>(access_bytes) - size;
  text += std::to_string(offset < 0 ? -offset : past_end);
  text += offset < 0 ? " bytes before its begin" : " bytes past its end";
  return text;
}

}  // namespace racecheck
