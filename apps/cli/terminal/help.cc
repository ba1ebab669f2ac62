#include "cli/terminal/help.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "cli/terminal/layout.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr size_t kMaxWidth = 100;      // longer lines are hard to read
constexpr size_t kMaxLeftColumn = 26;  // a wider entry has its description on the next line

struct Entry {
  std::string left;
  std::string description;
};

struct Page {
  Style style = Style::of(STDOUT_FILENO);
  size_t width = std::clamp<size_t>(static_cast<size_t>(terminal_width(STDOUT_FILENO)), 40, kMaxWidth);
  size_t left_width = 0;
  std::string text;

  void paragraph(std::string_view words) {
    for (const std::string& line : wrap_words(words, width)) text += line + "\n";
  }

  void group(const std::string& title, const std::vector<Entry>& entries) {
    text += "\n" + style.bold(title) + "\n";
    for (const Entry& entry : entries) {
      std::string margin = pad(entry.left, left_width);
      if (display_width(entry.left) + 2 > left_width) {
        text += entry.left + "\n";
        margin = std::string(left_width, ' ');
      }
      for (const std::string& line : wrap_words(entry.description, width - left_width)) {
        text += margin + line + "\n";
        margin = std::string(left_width, ' ');
      }
    }
  }
};

std::string option_left(const CLI::Option& option) {
  if (option.get_positional()) {
    return "  " + (option.get_option_text().empty() ? option.get_name(true) : option.get_option_text());
  }
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  if (names.empty()) names = "    ";  // align long names below those with a short one
  for (const std::string& name : option.get_lnames()) names += (names == "    " ? "--" : ", --") + name;
  const std::string value = option.get_type_size() == 0 ? "" : " " + option.get_type_name();
  return "  " + names + value;
}

struct Group {
  std::string title;
  std::vector<Entry> entries;
};

std::vector<Group> groups_of(const CLI::App& app) {
  std::vector<Group> groups;
  const auto add = [&](const std::string& title, Entry entry) {
    if (title.empty()) return;  // hidden
    auto found = std::ranges::find(groups, title, &Group::title);
    if (found == groups.end()) found = groups.insert(groups.end(), {.title = title, .entries = {}});
    found->entries.push_back(std::move(entry));
  };
  for (const CLI::App* command : app.get_subcommands({})) {
    add(command->get_group(), {"  " + command->get_name(), command->get_description()});
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr()) add(option->get_group(), {option_left(*option), option->get_description()});
  }
  if (const CLI::Option* help = app.get_help_ptr()) {  // CLI11 creates it first, but it is shown last
    add(groups.empty() ? "Other" : groups.back().title, {option_left(*help), help->get_description()});
  }
  return groups;
}

// Prints 2147483647 rather than 2.147483647e+09.
std::string shown_bound(double bound) {
  return bound == std::floor(bound) ? format_text("{:.0f}", bound) : format_text("{}", bound);
}

// Headings of the footer are the lines without indentation.
std::string styled_footer(const std::string& footer, const Style& style) {
  std::string text;
  size_t start = 0;
  while (start < footer.size()) {
    const size_t end = std::min(footer.find('\n', start), footer.size());
    const std::string line = footer.substr(start, end - start);
    text += (line.empty() || line.front() == ' ' ? line : style.bold(line)) + "\n";
    start = end + 1;
  }
  return text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  Page page;
  page.paragraph(app->get_description());
  page.text += "\n" + page.style.bold("Usage") + "  " + app->get_usage() + "\n";
  const std::vector<Group> groups = groups_of(*app);
  for (const Group& group : groups) {
    for (const Entry& entry : group.entries) {
      const size_t wanted = display_width(entry.left) + 2;
      if (wanted <= kMaxLeftColumn) page.left_width = std::max(page.left_width, wanted);
    }
  }
  for (const Group& group : groups) page.group(group.title, group.entries);
  if (!app->get_footer().empty()) page.text += "\n" + styled_footer(app->get_footer(), page.style);
  return page.text;
}

CLI::Validator in_range(double low, double high, bool whole) {
  return CLI::Validator(
      [low, high, whole](const std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool is_number = error == std::errc() && end == text.data() + text.size();
        if (is_number && value >= low && value <= high && (!whole || value == std::floor(value))) return "";
        return format_text("'{}' is not a {}number from {} to {}", shorten(one_line(text), 40), whole ? "whole " : "",
                           shown_bound(low), shown_bound(high));
      },
      "", "");
}

CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "the value is empty" : ""; }, "", "");
}

constexpr std::string_view kOneOf = "one of ";  // prefix of such a validator's name; the words follow

CLI::Validator one_of(std::vector<std::string> words) {
  std::string name(kOneOf);
  for (const std::string& word : words) name += word + " ";
  return CLI::Validator(
      [words = std::move(words)](const std::string& text) -> std::string {
        if (std::ranges::contains(words, text)) return "";
        std::string list;
        for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
        return format_text("there is no '{}'; choose one of {}", text, list);
      },
      "", name);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  std::vector<std::string> words;
  try {
    for (int i = 0;; ++i) {  // CLI11 has no public count of validators: read until it throws
      const std::string name = const_cast<CLI::Option&>(option).get_validator(i)->get_name();
      if (!name.starts_with(kOneOf)) continue;
      for (size_t start = kOneOf.size(); start < name.size();) {
        const size_t end = name.find(' ', start);
        words.push_back(name.substr(start, end - start));
        start = end + 1;
      }
    }
  } catch (const CLI::OptionNotFound&) {
    return words;
  }
}

}  // namespace tern::cli
