// SPDX-License-Identifier: MIT
#include "lab/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

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

}  // namespace

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
  std::string elements, threads, blocks, repeat, seed, variant, json_file;
  const auto add = [&app](const char* name, std::string& value, const std::string& help,
                          const std::string& unit, const std::string& by_default) {
    return app.add_option(name, value, help + " [" + by_default + "]")
        ->type_name(unit)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(1)
        ->allow_extra_args(false);
  };
  const std::string chosen = "each variant's own";
  const CLI::Option* const given_elements = add("--elements", elements, "elements of each vector",
                                                "N", std::to_string(defaults.elements));
  const CLI::Option* const given_threads =
      add("--threads", threads, "threads of a block", "N", std::to_string(defaults.threads));
  const CLI::Option* const given_blocks =
      add("--blocks", blocks, "blocks of the grid, where a variant can choose", "N",
          defaults.blocks ? std::to_string(*defaults.blocks) : chosen);
  const CLI::Option* const given_repeat =
      add("--repeat", repeat, "timed runs of each variant", "N", std::to_string(defaults.repeat));
  const CLI::Option* const given_seed =
      add("--seed", seed, "seed of the random data", "N", std::to_string(defaults.seed));
  const CLI::Option* const given_variant = add(
      "--variant", variant, "run one variant only: " + joined(description.variants), "NAME", "all");
  const CLI::Option* const given_json =
      add("--json", json_file, "also write the report to FILE", "FILE", "no file");

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

  for (const CLI::Option* option : {given_elements, given_threads, given_blocks, given_repeat,
                                    given_seed, given_variant, given_json}) {
    if (option->count() > 1) throw usage_error(option->get_name() + " is given more than once");
  }

  options result = defaults;
  if (*given_elements) {
    result.elements = parse_whole_number("--elements", elements, 0, largest_element_count);
  }
  if (*given_threads) {
    result.threads =
        static_cast<std::uint32_t>(parse_whole_number("--threads", threads, 1, largest_block));
  }
  if (*given_blocks) {
    result.blocks =
        static_cast<std::uint32_t>(parse_whole_number("--blocks", blocks, 1, largest_grid));
  }
  if (*given_repeat) {
    result.repeat =
        static_cast<std::uint32_t>(parse_whole_number("--repeat", repeat, 1, largest_repeat));
  }
  if (*given_seed) result.seed = parse_whole_number("--seed", seed, 0, largest_seed);
  if (*given_variant) {
    const auto& names = description.variants;
    if (std::find(names.begin(), names.end(), variant) == names.end()) {
      throw usage_error("--variant must be one of " + joined(names) + ", not '" + variant + "'");
    }
    result.variant = variant;
  }
  if (*given_json) {
    if (json_file.empty()) throw usage_error("--json needs the name of a file");
    result.json_file = json_file;
  }
  return result;
}

}  // namespace lab
