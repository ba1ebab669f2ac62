#include "cli/manual/completions.h"

#include <string_view>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

bool takes_value(const OptionDescription& option) { return !option.positional && option.kind != ArgumentKind::kNone; }

// ---- bash

std::string bash_value(const OptionDescription& option) {
  switch (option.kind) {
    case ArgumentKind::kFile:
      return "_tern_files";
    case ArgumentKind::kFolder:
      return "_tern_folders";
    case ArgumentKind::kChoice:
      return (option.list ? "_tern_list '" : "_tern_words '") + joined(option.choices, " ") + "'";
    default:
      return ":";  // any text
  }
}

std::string bash_command(const CommandDescription& command) {
  std::string names, values, after;
  for (const OptionDescription& option : command.options) {
    if (option.positional) {
      if (option.kind != ArgumentKind::kText) after = bash_value(option);
      continue;
    }
    names += (names.empty() ? "" : " ") + joined(option.names, " ");
    if (takes_value(option)) {
      values += format_text("        {}) {}; return ;;\n", joined(option.names, " | "), bash_value(option));
    }
  }
  std::string text = format_text("    {})\n", command.name);
  if (!values.empty()) text += "      case $previous in\n" + values + "      esac\n";
  text += format_text("      if [[ $current == -* ]]; then _tern_words '{}'; else {}; fi\n      ;;\n", names,
                      after.empty() ? ":" : after);
  return text;
}

constexpr const char* kBashHead =
    R"(# Completions of tern for bash, made from the program's help. Source it, or lay it where bash-completion looks.
_tern_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_tern_list() {  # words apart by commas
  mapfile -t COMPREPLY < <(compgen -P "${current%"${current##*,}"}" -W "$1" -- "${current##*,}")
}
_tern_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); }
_tern_folders() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); }
_tern() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  COMPREPLY=()
  if [[ $current == = ]]; then  # bash takes --backend=cpu for three words
    current=''
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    [[ $word == -* ]] || { command=$word; break; }
  done
  case $command in
)";

// ---- zsh

std::string zsh_quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string zsh_message(std::string text) { return replaced(replaced(std::move(text), "\\", "\\\\"), ":", "\\:"); }

std::string zsh_action(const OptionDescription& option) {
  switch (option.kind) {
    case ArgumentKind::kFile:
      return "_files";
    case ArgumentKind::kFolder:
      return "_files -/";
    case ArgumentKind::kChoice:
      return option.list ? "_values -s , word " + joined(option.choices, " ") : "(" + joined(option.choices, " ") + ")";
    default:
      return " ";  // any text
  }
}

std::string zsh_option(const OptionDescription& option) {
  if (option.positional) {
    const std::string where = option.value.ends_with("...") ? "*" : "";
    return zsh_quoted(format_text("{}:{}:{}", where, zsh_message(option.value), zsh_action(option)));
  }
  std::string about = replaced(replaced(option.description, "[", "("), "]", ")");
  about = "[" + zsh_message(about) + "]";
  if (takes_value(option)) about += ":" + zsh_message(option.value) + ":" + zsh_action(option);
  std::string text;
  for (const std::string& name : option.names) {
    // The value may follow without a space: -n5, --tokens=5.
    const char* joint = !takes_value(option) ? "" : name.starts_with("--") ? "=" : "+";
    const std::string others = option.names.size() > 1 ? "(" + joined(option.names, " ") + ")" : "";
    text += (text.empty() ? "" : " \\\n        ") + zsh_quoted(others + name + joint + about);
  }
  return text;
}

std::string zsh_options(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) text += " \\\n        " + zsh_option(option);
  return text;
}

// ---- fish

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const OptionDescription& option, const std::string& condition) {
  std::string text = "complete -c tern -n " + fish_quoted(condition);
  for (const std::string& name : option.names) {
    if (option.positional) break;
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  switch (option.kind) {
    case ArgumentKind::kFile:
      text += option.positional ? " -F" : " -r -F";
      break;
    case ArgumentKind::kFolder:
      text += " -x -a '(__fish_complete_directories)'";
      break;
    case ArgumentKind::kChoice:
      text += (option.positional ? " -a " : " -x -a ") + fish_quoted(joined(option.choices, " "));
      break;
    case ArgumentKind::kText:
      text += option.positional ? "" : " -x";
      break;
    case ArgumentKind::kNone:
      break;
  }
  return text + " -d " + fish_quoted(option.description) + "\n";
}

}  // namespace

std::string bash_completions(const ProgramDescription& program) {
  std::string text = kBashHead, commands, names;
  for (const CommandDescription& command : program.commands) {
    commands += bash_command(command);
    names += (names.empty() ? "" : " ") + command.name;
  }
  for (const OptionDescription& option : program.program.options) names += " " + joined(option.names, " ");
  text += format_text("    '') _tern_words '{}' ;;\n", names);
  return text + commands + "  esac\n}\ncomplete -F _tern tern\n";
}

std::string zsh_completions(const ProgramDescription& program) {
  std::string text = "#compdef tern\n# Completions of tern for zsh, made from the program's help.\n_tern() {\n";
  text += "  local context state state_descr line\n  local -a commands\n  typeset -A opt_args\n  commands=(\n";
  for (const CommandDescription& command : program.commands) {
    text += "    " + zsh_quoted(command.name + ":" + zsh_message(command.description)) + "\n";
  }
  text += "  )\n  _arguments -C" + zsh_options(program.program) +
          " \\\n        '1:command:->command' \\\n        '*::argument:->arguments'\n";
  text +=
      "  case $state in\n    command) _describe -t commands command commands ;;\n    arguments)\n      case $line[1] "
      "in\n";
  for (const CommandDescription& command : program.commands) {
    text += "      " + command.name + ")\n        _arguments" + zsh_options(command) + "\n        ;;\n";
  }
  return text + "      esac\n      ;;\n  esac\n}\n_tern \"$@\"\n";
}

std::string fish_completions(const ProgramDescription& program) {
  std::string text = "# Completions of tern for fish, made from the program's help.\ncomplete -c tern -f\n";
  for (const OptionDescription& option : program.program.options) text += fish_option(option, "__fish_use_subcommand");
  for (const CommandDescription& command : program.commands) {
    text += "complete -c tern -n __fish_use_subcommand -a " + command.name + " -d " + fish_quoted(command.description) +
            "\n";
  }
  for (const CommandDescription& command : program.commands) {
    for (const OptionDescription& option : command.options) {
      const bool is_free_text = option.positional && option.kind == ArgumentKind::kText;
      if (!is_free_text) text += fish_option(option, "__fish_seen_subcommand_from " + command.name);
    }
  }
  return text;
}

}  // namespace tern::cli
