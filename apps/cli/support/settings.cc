#include "cli/support/settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/support/common.h"
#include "cli/terminal/layout.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

using Values = std::vector<std::string>;

// Other options, such as --help, say what to do rather than how.
bool is_setting(const CLI::Option& option) {
  return !option.get_lnames().empty() && !option.check_lname("help") && !option.check_lname("config");
}

const char* variable(const CLI::Option& option) {
  const char* text = std::getenv(variable_of(option).c_str());
  return text && *text ? text : nullptr;
}

// These two are read where they are used: the model in all commands, and API keys together with others.
bool is_read_elsewhere(const CLI::Option& option) {
  return option.check_lname("model") || option.check_lname("api-key");
}

// Removes the option's name from another component's message and makes it one line.
std::string without_name(const std::string& message) {
  const size_t end = message.find(": ");
  return one_line(message.starts_with('-') && end != message.npos ? message.substr(end + 2) : message);
}

// Words that CLI11 accepts for a flag. It throws its own kind of exception for others.
bool is_switch(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::contains(std::vector<std::string>{"true", "false", "on", "off", "yes", "no", "1", "0"}, text);
}

Result<void> give(CLI::Option& option, const Values& values, const std::string& where) {
  try {
    if (option.get_items_expected_max() == 0) {  // a flag: true, false, on, off, 1, 0
      if (values.size() > 1 || (!values.empty() && !is_switch(values.front()))) {
        return fail(ErrorCode::kInvalidArgument, "{}: must be true or false", where);
      }
      option.add_result(option.get_flag_value(option.get_lnames().front(), values.empty() ? "true" : values.front()));
    } else if (std::ssize(values) > option.get_items_expected_max()) {
      return fail(ErrorCode::kInvalidArgument, "{}: takes one value, but has {}", where, values.size());
    } else {
      option.add_result(values);
    }
    option.run_callback();
  } catch (const CLI::Error& error) {
    option.clear();
    return fail(ErrorCode::kInvalidArgument, "{}: {}", where, without_name(error.what()));
  }
  return {};
}

bool is_excluded(const CLI::Option& option) {
  return std::ranges::any_of(option.get_excludes(), [](const CLI::Option* other) { return other->count() > 0; });
}

Result<std::vector<CLI::ConfigItem>> read_items(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return fail(ErrorCode::kIo, "{}: is a folder", file);
  TRY(const std::string text, read_text(file));
  try {
    std::istringstream stream(text);
    return CLI::ConfigBase().from_config(stream);
  } catch (const CLI::Error& parse_error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", file, one_line(parse_error.what()));
  }
}

Result<CLI::Option*> option_of(CLI::App& command, const CLI::ConfigItem& item, const std::string& file) {
  if (!item.parents.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: [{}]: there are no sections; put 'NAME = VALUE' on lines of their own", file,
                one_line(item.parents.front()));
  }
  std::vector<std::string> names;
  for (CLI::Option* option : command.get_options()) {
    if (!is_setting(*option)) continue;
    if (option->check_lname(item.name)) return option;
    if (!option->get_group().empty()) {
      names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
  }
  const std::string meant = nearest(item.name, names);
  return fail(ErrorCode::kInvalidArgument, "{}: there is no setting '{}'{}", file, shorten(one_line(item.name), 40),
              meant.empty() ? "" : format_text("; did you mean '{}'?", meant));
}

// True if its own variable is set, or that of an option that excludes it.
bool is_set_by_variables(const CLI::Option& option) {
  return variable(option) ||
         std::ranges::any_of(option.get_excludes(), [](const CLI::Option* other) { return variable(*other); });
}

enum class Variables : uint8_t { kFirst, kUnseen };

// `where`: the file, or its section, for messages.
Result<void> apply_items(CLI::App& command, const std::vector<CLI::ConfigItem>& items, const std::string& where,
                         Variables variables) {
  std::vector<std::pair<CLI::Option*, const CLI::ConfigItem*>> found;
  for (const CLI::ConfigItem& item : items) {
    TRY(CLI::Option * option, option_of(command, item, where));
    if (std::ranges::contains(found, option, &std::pair<CLI::Option*, const CLI::ConfigItem*>::first)) {
      return fail(ErrorCode::kInvalidArgument, "{}: {} is there twice; leave one of them out", where, item.name);
    }
    found.emplace_back(option, &item);
  }
  for (const auto& [option, item] : found) {
    for (const auto& [other, other_item] : found) {
      if (!option->get_excludes().contains(other)) continue;
      return fail(ErrorCode::kInvalidArgument, "{}: give either {} or {}, not both", where, item->name,
                  other_item->name);
    }
  }
  for (const auto& [option, item] : found) {
    const bool is_set = option->count() > 0 || (variables == Variables::kFirst && is_set_by_variables(*option));
    if (is_set || is_excluded(*option)) continue;
    TRY_STATUS(give(*option, item->inputs, format_text("{}: {}", where, item->name)));
  }
  return {};
}

}  // namespace

std::string variable_of(const CLI::Option& option) {
  if (option.get_lnames().empty()) return "";
  std::string name = "TERN_" + option.get_lnames().front();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return c == '-' ? '_' : std::toupper(c); });
  return name;
}

Result<void> apply_variable(CLI::Option& option) {
  const char* text = option.count() == 0 ? variable(option) : nullptr;
  return text ? give(option, {text}, variable_of(option)) : Result<void>();
}

Result<void> apply_settings(CLI::App& command, const std::string& file) {
  for (CLI::Option* option : command.get_options()) {
    if (!is_setting(*option) || is_read_elsewhere(*option) || is_excluded(*option)) continue;
    TRY_STATUS(apply_variable(*option));
  }
  if (file.empty()) return {};
  TRY(const std::vector<CLI::ConfigItem> items, read_items(file));
  return apply_items(command, items, file, Variables::kFirst);
}

// CLI11 splits [a.b] into parts and emits a begin ("++") and an end ("--") item for each.
Result<std::vector<SettingsSection>> read_sections(const std::string& file) {
  TRY(const std::vector<CLI::ConfigItem> items, read_items(file));
  std::vector<SettingsSection> sections;
  for (size_t i = 0; i < items.size(); ++i) {
    CLI::ConfigItem item = items[i];
    const bool begins = item.name == "++" && (i + 1 == items.size() || items[i + 1].name != "++");
    if (item.name == "--" || (item.name == "++" && !begins)) continue;
    if (item.parents.empty()) {
      return fail(ErrorCode::kInvalidArgument, "{}: '{}' is in no section; put it below a [NAME]", file,
                  shorten(one_line(item.name), 40));
    }
    std::string name;
    for (const std::string& part : item.parents) name += (name.empty() ? "" : ".") + part;
    if (begins) {
      if (std::ranges::contains(sections, name, &SettingsSection::name)) {
        return fail(ErrorCode::kInvalidArgument, "{}: [{}] appears twice", file, one_line(name));
      }
      sections.push_back({.name = std::move(name), .items = {}});
      continue;
    }
    item.parents.clear();
    const auto section = std::ranges::find(sections, name, &SettingsSection::name);
    if (section != sections.end()) section->items.push_back(std::move(item));
  }
  return sections;
}

Result<void> apply_section(CLI::App& options, const SettingsSection& section, const std::string& file) {
  const std::string where = format_text("{}: [{}]", file, one_line(section.name));
  return apply_items(options, section.items, where, Variables::kUnseen);
}

}  // namespace tern::cli
