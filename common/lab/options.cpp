// SPDX-License-Identifier: MIT
#include "lab/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>
#include <type_traits>

#include "lab/output_files.hpp"

#ifdef LAB_HAS_CLI11
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#endif

namespace lab {

#ifdef LAB_HAS_CLI11

std::map<std::string, std::string> given_options(int argc, const char* const* argv,
                                                 const command_line& known) {
  CLI::App app(known.summary, known.program);
  app.footer(
      "Numbers are decimal, or powers of two such as 2^29.\n"
      "Exit status: 0 all right, 1 a wrong result or a failure at run time, 2 wrong usage,\n"
      "77 no usable device.");
  app.allow_extras();  // So that the sentence about them is ours.

  // All values are read as text: CLI11 would accept a number such as 1e30 or -1 for some types, and
  // its own sentences name neither range nor unit.
  std::vector<const CLI::Option*> options;
  for (const command_line_option& each : known.options) {
    if (each.unit.empty()) {
      options.push_back(app.add_flag(each.name, each.help));
    } else {
      options.push_back(app.add_option(each.name, CLI::callback_t(), each.help)
                            ->type_name(each.unit)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                            ->expected(1)
                            ->allow_extra_args(false));
    }
  }
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
    // lab has started it, and says as what.
    const char* const typed = std::getenv("LAB_TYPED_COMMAND");
    throw usage_error("'" + unknown.front() + "' is not understood; " +
                      (typed ? typed : known.program) + " --help lists the options");
  }
  std::map<std::string, std::string> given;
  for (const CLI::Option* option : options) {
    const std::string& name = option->get_name();
    if (option->count() > 1) throw usage_error(name + " is given more than once");
    if (option->count() == 1) given[name] = option->results().front();
  }
  return given;
}

std::string why_no_options() { return ""; }

#else  // The programs still run as their defaults say.

std::map<std::string, std::string> given_options(int argc, const char* const* argv,
                                                 const command_line&) {
  if (argc <= 1) return {};
  throw usage_error(std::string("'") + argv[1] + "' is not understood: " + why_no_options() +
                    ", and takes no options");
}

std::string why_no_options() { return "this build has no CLI11"; }

#endif

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

// Two options that name one file: the second would overwrite what the first has written.
void require_different_files(const options& chosen) {
  std::map<std::filesystem::path, std::string> option_of;
  const auto place = [](const std::string& path) {
    std::error_code error;  // Then the name has to do; it is refused later.
    const auto whole =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    return error ? std::filesystem::path(path) : whole;
  };
  if (!chosen.json_file.empty()) option_of[place(chosen.json_file)] = "--json";
  for (const auto& [option, path] : chosen.files) {
    if (path.empty()) continue;
    const auto [other, is_new] = option_of.emplace(place(path), option);
    if (!is_new) throw usage_error(option + " and " + other->second + " name the same file");
  }
}

}  // namespace

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

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

std::string parse_file_name(const std::string& option, const std::string& text,
                            const std::string& unavailable) {
  if (!unavailable.empty()) throw usage_error(option + " cannot be used: " + unavailable);
  if (text.empty()) throw usage_error(option + " needs the name of a file");
  return text;
}

options parse_options(int argc, const char* const* argv, const program_description& description) {
  const options& defaults = description.defaults;
  command_line known = {.program = description.name, .summary = description.summary, .options = {}};
  const auto add = [&](const std::string& name, const std::string& help, const std::string& unit,
                       const std::string& by_default) {
    if (!description.has(name)) return;
    known.options.push_back({.name = name, .help = help + " [" + by_default + "]", .unit = unit});
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
  known.options.push_back(
      {.name = "--force", .help = "replace a FILE of another kind as well", .unit = ""});
  known.options.push_back(
      {.name = "--wide", .help = "also show the fastest and the slowest run", .unit = ""});

  const std::map<std::string, std::string> given = given_options(argc, argv, known);
  const auto number = [&](const std::string& name, auto& value, std::uint64_t smallest,
                          std::uint64_t largest) {
    if (!given.contains(name)) return;
    const std::uint64_t parsed = parse_whole_number(name, given.at(name), smallest, largest);
    value = static_cast<std::remove_reference_t<decltype(value)>>(parsed);
  };
  const auto choice = [&](const std::string& name, std::string& value,
                          const std::vector<std::string>& choices) {
    if (!given.contains(name)) return;
    value = given.at(name);
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      throw usage_error(name + " must be one of " + joined(choices) + ", not '" + value + "'");
    }
  };
  const auto file = [&](const std::string& name, std::string& value,
                        const std::string& unavailable) {
    if (given.contains(name)) value = parse_file_name(name, given.at(name), unavailable);
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
    file(each.name, result.files[each.name], each.unavailable);
  }
  file("--json", result.json_file, why_no_json());
  result.force = given.contains("--force");
  result.wide = given.contains("--wide");
  require_different_files(result);
  return result;
}

}  // namespace lab
