#include "cli/terminal/usage_error.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

// Names of commands in other programs.
constexpr auto kOtherNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"generate", "run"},      {"complete", "run"},     {"cli", "run"},      {"ask", "chat"},
    {"repl", "chat"},         {"download", "pull"},    {"get", "pull"},     {"fetch", "pull"},
    {"ls", "list"},           {"models", "list"},      {"remove", "rm"},    {"delete", "rm"},
    {"uninstall", "rm"},      {"show", "inspect"},     {"info", "inspect"}, {"perplexity", "eval"},
    {"ppl", "eval"},          {"quantize", "convert"}, {"server", "serve"}, {"encode", "tokenize"},
    {"decode", "detokenize"}, {"benchmark", "bench"},  {"gpus", "devices"},
});

std::string with_suggestion(std::string message, const std::string& suggestion) {
  if (!suggestion.empty()) message += format_text("; did you mean '{}'?", suggestion);
  return message;
}

std::string unknown_command(const CLI::App& tern, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : tern.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  names.emplace_back("help");
  std::string meant = nearest(word, names);
  for (const auto& [other, own] : kOtherNames) {
    if (word == other) meant = own;
  }
  return with_suggestion(format_text("unknown command '{}'", one_line(word)), meant);
}

std::string unknown_option(const CLI::App& command, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  const std::string meant = nearest(name.substr(std::min(name.find_first_not_of('-'), name.size())), names);
  return with_suggestion(format_text("unknown option '{}'", one_line(name)), meant.empty() ? "" : "--" + meant);
}

std::string unexpected_argument(const CLI::App& command, const std::string& argument) {
  if (argument.starts_with('-') && argument.size() > 1) return unknown_option(command, argument);
  return format_text("there is no use for '{}'; the usage is '{}'", one_line(argument), command.get_usage());
}

// Returns an option's name as on the help page ("--prompt", "TEXT"), given its name in the parser's message.
std::string shown_name(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->check_name(name) && option->get_name() != name) continue;
    if (option->get_positional()) return option->get_option_text().empty() ? name : option->get_option_text();
    return "--" + (option->get_lnames().empty() ? name : option->get_lnames().front());
  }
  return name;
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->check_name(name) || option->get_name() == name) return option;
  }
  return nullptr;
}

struct TwoParts {
  std::string before, after;
};

std::optional<TwoParts> split_at(std::string_view text, std::string_view separator) {
  const size_t at = text.find(separator);
  if (at == text.npos) return std::nullopt;
  return TwoParts{std::string(text.substr(0, at)), std::string(text.substr(at + separator.size()))};
}

// The parser's messages are "NAME: what it expected", in words for programmers.
std::string wrong_number_of_values(const CLI::App& command, const std::string& message) {
  const std::optional<TwoParts> parts = split_at(message, ": ");
  if (!parts) return message;
  const std::string name = shown_name(command, parts->before);
  if (parts->after.starts_with("At most") || parts->after.starts_with("At Most"))
    return format_text("{} may be given only once", name);
  const CLI::Option* option = find_option(command, parts->before);
  const std::string type = option ? option->get_type_name() : "VALUE";
  return format_text("{} needs a value: {} {}", name, name, type.empty() ? "VALUE" : type);
}

std::string parser_sentence(const CLI::App& command, const CLI::ParseError& error) {
  std::string message = one_line(error.what());
  if (dynamic_cast<const CLI::ExcludesError*>(&error)) {
    if (const auto names = split_at(message, " excludes ")) {
      return format_text("give either {} or {}, not both", shown_name(command, names->before),
                         shown_name(command, names->after));
    }
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error)) {
    if (const auto name = split_at(message, " is required")) {
      return format_text("{} is missing; the usage is '{}'", shown_name(command, name->before), command.get_usage());
    }
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error)) {
    if (const auto start = split_at(message, ": ")) {
      if (const auto parts = split_at(start->after, " = "))
        return format_text("{}: '{}' is not a whole number from 0 up", shown_name(command, parts->before),
                           parts->after);
    }
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return wrong_number_of_values(command, message);
  if (const auto parts = split_at(message, ": ")) {  // from our own validators
    if (find_option(command, parts->before)) return shown_name(command, parts->before) + ": " + parts->after;
  }
  return message;
}

}  // namespace

std::string usage_error(const CLI::App& tern, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = tern.get_subcommands();
  const CLI::App& command = parsed.empty() ? tern : *parsed.front();
  const std::string path = parsed.empty() ? "tern" : "tern " + command.get_name();
  std::string message;
  const std::vector<std::string> extras = tern.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !extras.empty()) {
    const bool is_word = !extras.front().starts_with('-');
    message = parsed.empty() && is_word ? unknown_command(tern, extras.front())
                                        : unexpected_argument(command, extras.front());
  } else {
    message = parser_sentence(command, error);
  }
  if (!parsed.empty()) message = command.get_name() + ": " + message;
  return format_text("{} (see '{} --help')", message, path);
}

}  // namespace tern::cli
