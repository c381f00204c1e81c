// SPDX-License-Identifier: MIT
#include "lab/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <system_error>
#include <type_traits>

namespace lab {

namespace {

constexpr std::uint64_t largest_seed = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t largest_repeat = 1'000'000;

// The number that all of `text` is, if it is one and fits in 64 bits.
std::optional<std::uint64_t> decimal(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> decimal_or_power_of_two(const std::string& text) {
  if (text.rfind("2^", 0) != 0) return decimal(text);
  const std::optional<std::uint64_t> exponent = decimal(text.substr(2));
  if (!exponent || *exponent > 63) return std::nullopt;
  return std::uint64_t{1} << *exponent;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Two options that name one file: the second would overwrite what the first has written.
void require_different_files(const options& chosen) {
  std::map<std::string, std::string> option_of;
  if (!chosen.json_file.empty()) option_of[chosen.json_file] = "--json";
  for (const auto& [option, path] : chosen.files) {
    if (path.empty()) continue;
    const auto [other, is_new] = option_of.emplace(path, option);
    if (!is_new) throw usage_error(option + " and " + other->second + " name the same file");
  }
}

}  // namespace

bool program_description::has(const std::string& shared_option) const {
  return std::find(without.begin(), without.end(), shared_option) == without.end();
}

std::uint64_t parse_whole_number(const std::string& option, const std::string& text,
                                 std::uint64_t smallest, std::uint64_t largest) {
  const std::optional<std::uint64_t> value = decimal_or_power_of_two(text);
  if (!value || *value < smallest || *value > largest) {
    throw usage_error(option + " must be a whole number from " + std::to_string(smallest) + " to " +
                      std::to_string(largest) + ", not '" + text + "'");
  }
  return *value;
}

options parse_options(int argc, const char* const* argv, const program_description& description) {
  const options& defaults = description.defaults;
  CLI::App app(description.summary, description.name);
  app.footer(
      "Numbers are decimal, or powers of two such as 2^29.\n"
      "Exit status: 0 all right, 1 a wrong result or a failure at run time, 2 wrong usage,\n"
      "77 no usable device.");

  app.allow_extras();  // So that the sentence about them is ours.

  // All values are read as text: CLI11 would accept a number such as 1e30 or -1 for some types, and
  // its own sentences name neither range nor unit.
  std::map<std::string, std::string> text;
  std::vector<const CLI::Option*> all;
  const auto add = [&](const std::string& name, const std::string& help, const std::string& unit,
                       const std::string& by_default) {
    if (!description.has(name)) return;
    all.push_back(app.add_option(name, text[name], help + " [" + by_default + "]")
                      ->type_name(unit)
                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                      ->expected(1)
                      ->allow_extra_args(false));
  };
  add("--elements", "elements of each vector", "N", std::to_string(defaults.elements));
  for (const number_option& each : description.numbers) {
    add(each.name, each.help, "N", std::to_string(each.by_default));
  }
  for (const choice_option& each : description.choices) {
    add(each.name, each.help + ": " + joined(each.choices), "NAME", each.choices.front());
  }
  add("--threads", "threads of a block", "N", std::to_string(defaults.threads));
  add("--blocks", "blocks of the grid, where a variant can choose", "N",
      defaults.blocks ? std::to_string(*defaults.blocks) : "each variant's own");
  add("--repeat", "timed runs of each variant", "N", std::to_string(defaults.repeat));
  add("--seed", "seed of the random data", "N", std::to_string(defaults.seed));
  add("--variant", "run one variant only: " + joined(description.variants), "NAME", "all");
  for (const file_option& each : description.files) add(each.name, each.help, "FILE", "no file");
  add("--json", "also write the report to FILE", "FILE", "no file");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw help_request{app.help()};
  } catch (const CLI::ArgumentMismatch& error) {
    // "--seed: 1 required N missing": only the name is fit for print.
    const std::string words = error.what();
    throw usage_error(words.substr(0, words.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    throw usage_error(error.what());
  }
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty()) {
    throw usage_error("'" + unknown.front() + "' is not understood; " + description.name +
                      " --help lists the options");
  }

  std::set<std::string> given;
  for (const CLI::Option* option : all) {
    if (option->count() > 1) throw usage_error(option->get_name() + " is given more than once");
    if (option->count() == 1) given.insert(option->get_name());
  }
  const auto number = [&](const std::string& name, auto& value, std::uint64_t smallest,
                          std::uint64_t largest) {
    if (!given.contains(name)) return;
    const std::uint64_t parsed = parse_whole_number(name, text[name], smallest, largest);
    value = static_cast<std::remove_reference_t<decltype(value)>>(parsed);
  };
  const auto choice = [&](const std::string& name, std::string& value,
                          const std::vector<std::string>& choices) {
    if (!given.contains(name)) return;
    if (std::find(choices.begin(), choices.end(), text[name]) == choices.end()) {
      throw usage_error(name + " must be one of " + joined(choices) + ", not '" + text[name] + "'");
    }
    value = text[name];
  };
  const auto file = [&](const std::string& name, std::string& value) {
    if (!given.contains(name)) return;
    if (text[name].empty()) throw usage_error(name + " needs the name of a file");
    value = text[name];
  };

  options result = defaults;
  number("--elements", result.elements, 0, largest_element_count);
  for (const number_option& each : description.numbers) {
    std::uint64_t& value = result.numbers[each.name] = each.by_default;
    number(each.name, value, each.smallest, each.largest);
  }
  for (const choice_option& each : description.choices) {
    std::string& value = result.choices[each.name] = each.choices.front();
    choice(each.name, value, each.choices);
  }
  number("--threads", result.threads, 1, largest_block);
  if (given.contains("--blocks")) number("--blocks", result.blocks.emplace(), 1, largest_grid);
  number("--repeat", result.repeat, 1, largest_repeat);
  number("--seed", result.seed, 0, largest_seed);
  choice("--variant", result.variant, description.variants);
  for (const file_option& each : description.files) {
    file(each.name, result.files[each.name]);
    if (given.contains(each.name) && !each.unavailable.empty()) {
      throw usage_error(each.name + " cannot be used: " + each.unavailable);
    }
  }
  file("--json", result.json_file);
  require_different_files(result);
  return result;
}

}  // namespace lab
