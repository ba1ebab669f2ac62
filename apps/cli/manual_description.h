// The commands and options as the parser knows them, in the form that manual pages and completions are made from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tern::cli {

// What a shell offers for an argument.
enum class ArgumentKind { kNone, kText, kFile, kFolder, kChoice };

struct OptionDescription {
  std::vector<std::string> names;  // "-m", "--model"; of a positional what the help calls it: "TEXT"
  bool positional = false;
  std::string value;  // "FILE"; empty where it takes none
  std::string description;
  std::string group;
  ArgumentKind kind = ArgumentKind::kNone;
  std::vector<std::string> choices;  // of kChoice
  bool list = false;                 // several, apart by commas
};

struct CommandDescription {
  std::string name;  // "run"; of the program itself "tern"
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
