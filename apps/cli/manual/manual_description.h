// The parser's commands and options, in the form from which manual pages and completions are made.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tern::cli {

// What a shell completes for an argument.
enum class ArgumentKind { kNone, kText, kFile, kFolder, kChoice };

struct OptionDescription {
  std::vector<std::string> names;  // "-m", "--model"; a positional: its name in the help, "TEXT"
  bool positional = false;
  std::string value;  // "FILE"; empty if it takes no value
  std::string description;
  std::string group;
  ArgumentKind kind = ArgumentKind::kNone;
  std::vector<std::string> choices;  // for kChoice
  bool list = false;                 // several, separated by commas
};

struct CommandDescription {
  std::string name;  // "run"; "tern" for the program itself
  std::string group;
  std::string description;
  std::string usage;
  std::string footer;
  std::vector<OptionDescription> options;  // in the order of the help page, hidden ones left out
};

struct ProgramDescription {
  CommandDescription program;
  std::vector<CommandDescription> commands;  // hidden ones left out
};

ProgramDescription describe_program(const CLI::App& tern);

}  // namespace tern::cli
