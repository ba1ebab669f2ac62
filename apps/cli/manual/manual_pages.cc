#include "cli/manual/manual_pages.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

// Decodes one UTF-8 character and moves `at` behind it. The input is trusted.
uint32_t next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(at);
  const size_t more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
  for (size_t i = 1; i <= more && at + i < text.size(); ++i) code = code << 6 | (byte(at + i) & 0x3Fu);
  at += more + 1;
  return code;
}

// Escapes text for a line of man(7): no character acts as an escape, and hyphens are copied as typed.
std::string escaped(std::string_view text) {
  std::string roff;
  for (size_t at = 0; at < text.size();) {
    const uint32_t c = next_character(text, at);
    switch (c) {
      case '\\':
        roff += "\\e";
        break;
      case '-':
        roff += "\\-";
        break;
      case '~':
        roff += "\\(ti";
        break;
      case '^':
        roff += "\\(ha";
        break;
      case '`':
        roff += "\\(ga";
        break;
      case '\'':
        roff += "\\(aq";
        break;
      case '"':
        roff += "\\(dq";
        break;
      default:
        if (c < 0x80) {
          roff += static_cast<char>(c);
        } else {
          std::string hex;
          for (uint32_t rest = c; rest != 0 || hex.size() < 4; rest >>= 4)
            hex.insert(hex.begin(), "0123456789ABCDEF"[rest & 15]);
          roff += "\\[u" + hex + "]";
        }
    }
  }
  return roff;
}

// Returns a separate line. A period at its start would make it a macro.
std::string line(std::string_view text) {
  const std::string roff = escaped(text);
  return (roff.starts_with('.') ? "\\&" : "") + roff + "\n";
}

// Returns a paragraph with one sentence or clause per line, so that lines stay short.
std::string paragraph(std::string_view words) {
  std::string text;
  for (const std::string& part : wrap_words(words, 72)) text += line(part);
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string full_name(const CommandDescription& command) {
  return command.name == "tern" ? "tern" : "tern-" + command.name;
}

std::string option_text(const OptionDescription& option) {
  std::string text = ".TP\n";
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + std::string("\\fB") + escaped(name) + "\\fR";
  }
  if (!option.positional && !option.value.empty()) names += " \\fI" + escaped(option.value) + "\\fR";
  text += names + "\n" + paragraph(option.description);
  if (!option.choices.empty()) {
    std::string list;
    for (const std::string& word : option.choices) list += (list.empty() ? "" : ", ") + word;
    if (option.description.find(list) == std::string::npos) text += ".br\n" + paragraph("One of: " + list + ".");
  }
  return text;
}

std::string options_text(const CommandDescription& command) {
  std::vector<std::string> groups;
  for (const OptionDescription& option : command.options) {
    if (!std::ranges::contains(groups, option.group)) groups.push_back(option.group);
  }
  std::string text = groups.empty() ? "" : ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    text += ".SS " + escaped(group) + "\n";
    for (const OptionDescription& option : command.options) {
      if (option.group == group) text += option_text(option);
    }
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

// Formats the end of the help page. An unindented line followed by indented ones is a heading, and they are shown
// unchanged. Other unindented lines form paragraphs.
std::string footer_text(const std::string& footer) {
  const std::vector<std::string> lines = lines_of(footer);
  const auto indented = [&](size_t i) { return i < lines.size() && lines[i].starts_with(' '); };
  std::string text, notes;
  for (size_t i = 0; i < lines.size();) {
    if (lines[i].empty()) {
      ++i;
    } else if (indented(i + 1) || indented(i)) {
      if (!indented(i)) text += ".SH " + escaped(upper(lines[i++])) + "\n";
      text += ".nf\n";
      while (indented(i)) text += line(lines[i++].substr(2));
      text += ".fi\n";
    } else {
      std::string words;
      for (; i < lines.size() && !lines[i].empty() && !indented(i); ++i) words += (words.empty() ? "" : " ") + lines[i];
      notes += (notes.empty() ? "" : ".PP\n") + paragraph(words);
    }
  }
  return (notes.empty() ? "" : ".SH NOTES\n" + notes) + text;
}

std::string command_list(const ProgramDescription& program) {
  std::vector<std::string> groups;
  for (const CommandDescription& command : program.commands) {
    if (!std::ranges::contains(groups, command.group)) groups.push_back(command.group);
  }
  std::string text = ".SH COMMANDS\n";
  for (const std::string& group : groups) {
    text += ".SS " + escaped(group) + "\n";
    for (const CommandDescription& command : program.commands) {
      if (command.group != group) continue;
      text += ".TP\n\\fB" + escaped(full_name(command)) + "\\fR(1)\n" + paragraph(command.description);
    }
  }
  return text;
}

std::string see_also(const CommandDescription& command, const ProgramDescription& program) {
  std::vector<std::string> names = {"tern"};
  for (const CommandDescription& other : program.commands) names.push_back(full_name(other));
  std::erase(names, full_name(command));
  std::string text = ".SH SEE ALSO\n";
  for (size_t i = 0; i < names.size(); ++i) {
    text += ".BR " + escaped(names[i]) + " (1)" + (i + 1 < names.size() ? ",\n" : "\n");
  }
  return text;
}

// Formats "tern run [TEXT | -f FILE]" with the words of the command in bold.
std::string synopsis(const CommandDescription& command) {
  const std::string bold = command.name == "tern" ? "tern" : "tern " + command.name;
  const std::string rest = command.usage.starts_with(bold) ? command.usage.substr(bold.size()) : "";
  return ".SH SYNOPSIS\n\\fB" + escaped(bold) + "\\fR" + escaped(rest) + "\n";
}

// The NAME section allows only one sentence without its period.
std::string short_description(const CommandDescription& command) {
  std::string text = command.description.substr(0, command.description.find(". "));
  if (text.ends_with('.')) text.pop_back();
  if (command.name != "tern" && !text.empty())
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string page(const CommandDescription& command, const ProgramDescription& program, const ManualEdition& edition) {
  const bool is_program = command.name == "tern";
  std::string text = ".\\\" Made from the program's help by Tern " + edition.version + ".\n";
  text += ".TH " + escaped(upper(full_name(command))) + " 1 " + edition.date + " \"Tern " + edition.version +
          "\" \"Tern\"\n";
  text += ".SH NAME\n" + escaped(full_name(command)) + " \\- " + escaped(short_description(command)) + "\n";
  text += synopsis(command);
  text += ".SH DESCRIPTION\n" + paragraph(command.description);
  if (is_program) text += command_list(program);
  text += options_text(command);
  text += footer_text(command.footer);
  text +=
      ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nFailed: a file, memory, the network, a device.\n.TP\n2\nWrong usage.\n";
  text += ".TP\n130\nInterrupted with Ctrl\\-C.\n";
  if (is_program) {
    text += ".SH ENVIRONMENT\n.TP\n.B TERN_MODEL\nThe model to use where\n.B \\-m\nnames none.\n";
    text += ".TP\n.B TERN_CPU_TARGET\nThe instruction set to use, one of those that\n.B tern devices\nlists.\n";
  }
  return text + see_also(command, program);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> manual_pages(const ProgramDescription& program,
                                                              const ManualEdition& edition) {
  std::vector<std::pair<std::string, std::string>> pages = {{"tern.1", page(program.program, program, edition)}};
  for (const CommandDescription& command : program.commands) {
    pages.emplace_back(full_name(command) + ".1", page(command, program, edition));
  }
  return pages;
}

}  // namespace tern::cli
